"""Folders, files and globs as sources."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fonte.errors import InputError, SourceTooLarge, SourceUnreadable
from fonte.sources import folder as folder_module
from fonte.sources.files import _moment
from fonte.sources.folder import FolderSource, open_source
from fonte.sources.rules import SourceRule, matches
from fonte.types import PUBLIC_ROLE, Acl, Source, sha256_hex

Scanned = list[Source | tuple[str, str, Exception]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name in ("b.md", "a.txt", "sub/c.md", "sub/deep/d.csv", ".hidden.md", ".git/x.md", "sub/.fonte/y.md"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def names(scanned: Scanned) -> list[str]:
    return [item.name if isinstance(item, Source) else f"!{item[1]}" for item in scanned]


def scan(path: Path | str, **options: object) -> Scanned:
    return list(open_source(str(path), **options).scan())  # type: ignore[arg-type] - options by name


def test_a_folder_gives_every_visible_file_in_a_stable_order(tree: Path) -> None:
    scanned = scan(tree)
    assert names(scanned) == ["a.txt", "b.md", "sub/c.md", "sub/deep/d.csv"]
    assert names(scan(tree)) == names(scanned)
    first = scanned[0]
    assert isinstance(first, Source)
    assert first.uri == (tree / "a.txt").as_uri()
    assert first.content_hash == sha256_hex("a.txt")
    assert (first.body, first.path) == (None, str(tree / "a.txt"))
    assert first.acl == Acl(frozenset({PUBLIC_ROLE}))
    assert first.modified_at is not None
    assert first.modified_at.tzinfo is UTC


def test_the_root_is_above_every_uri(tree: Path) -> None:
    reader = open_source(str(tree))
    assert reader.root == tree.as_uri() + "/"
    assert all(item.uri.startswith(reader.root) for item in reader.scan() if isinstance(item, Source))


def test_a_file_has_the_same_uri_alone_and_in_its_folder(tree: Path) -> None:
    (alone,) = scan(tree / "b.md")
    assert isinstance(alone, Source)
    assert (alone.uri, alone.name) == ((tree / "b.md").as_uri(), "b.md")
    assert open_source(str(tree / "b.md")).root == alone.uri
    assert names(scan((tree / "b.md").as_uri())) == ["b.md"]


def test_globs_of_include_and_exclude(tree: Path) -> None:
    assert names(scan(tree, include=["*.md"])) == ["b.md", "sub/c.md"]
    assert names(scan(tree, include=["*.md"], exclude=["sub"])) == ["b.md"]
    assert names(scan(tree, exclude=["sub/deep", "*.txt"])) == ["b.md", "sub/c.md"]


def test_a_glob_is_a_source_of_its_own(tree: Path) -> None:
    reader = open_source(f"{tree}/**/*.md")
    assert names(list(reader.scan())) == ["b.md", "sub/c.md"]
    assert reader.root != open_source(str(tree)).root
    assert names(scan(f"{tree}/*.md")) == ["b.md"]
    assert names(scan(f"{tree}/*/c.*", include=["*.md"])) == ["sub/c.md"]


@pytest.mark.parametrize(
    ("name", "glob", "expected"),
    [
        ("a/b.md", "*.md", True),
        ("a/b.md", "/*.md", False),
        ("a/b.md", "a/*", True),
        ("a/b/c.md", "a/*", True),
        ("a/b/c.md", "a/*.md", False),
        ("a/b/c.md", "a/**/*.md", True),
        ("a/c.md", "a/**/*.md", True),
        ("a/c.md", "**/c.md", True),
        ("c.md", "**/c.md", True),
        ("a/c.md", "c.[mt]d", True),
        ("a/c.md", "c.[!m]d", False),
        ("a/c.md", "?.md", True),
        ("ab.md", "?.md", False),
        ("a.mdx", "*.md", False),
        ("x/private/y.md", "private", True),
        ("x/private2/y.md", "private", False),
        ("a[1].md", "a[1].md", False),
        ("weird\nname.md", "*.md", True),
    ],
)
def test_how_globs_match(name: str, glob: str, expected: bool) -> None:
    assert matches(name, glob) is expected


def test_rules_give_roles_language_and_title_and_later_ones_win(tree: Path) -> None:
    rules = [
        SourceRule("*", roles=frozenset({"staff"})),
        SourceRule("sub", roles=frozenset({"hr", "legal"}), language="it"),
        SourceRule("*.csv", language="en", title="Numbers"),
    ]
    found = {item.name: item for item in scan(tree, rules=rules) if isinstance(item, Source)}
    assert found["a.txt"].acl == Acl(frozenset({"staff"}))
    assert (found["sub/c.md"].acl.roles, found["sub/c.md"].language) == ({"hr", "legal"}, "it")
    assert found["sub/deep/d.csv"].language == "en"
    assert found["sub/deep/d.csv"].acl.roles == {"hr", "legal"}
    assert found["sub/deep/d.csv"].metadata == {"title": "Numbers"}


def test_a_rule_that_names_roles_and_gives_none_means_nobody_and_says_so(tree: Path) -> None:
    reader = FolderSource(tree, rules=[SourceRule("sub", roles=frozenset())])
    found = {item.name: item.acl.roles for item in reader.scan() if isinstance(item, Source)}
    assert found["sub/c.md"] == frozenset()
    assert found["a.txt"] == {PUBLIC_ROLE}
    assert reader.notes == (
        "2 documents are readable by nobody: the rule for sub names no role (sub/c.md, sub/deep/d.csv)",
    )


def test_no_default_role_means_nobody(tree: Path) -> None:
    reader = FolderSource(tree, default_roles=frozenset())
    assert all(not item.acl.roles for item in reader.scan() if isinstance(item, Source))
    assert reader.notes == ("4 documents are readable by nobody: no role was given (a.txt, b.md, sub/c.md and 1 more)",)


def test_links_that_loop_leave_or_lead_nowhere_are_refused(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    (tree / "loop").symlink_to(tree)
    (tree / "out.md").symlink_to(outside)
    (tree / "gone.md").symlink_to(tree / "nothing")
    (tree / "self.md").symlink_to(tree / "self.md")
    (tree / "inside.md").symlink_to(tree / "b.md")
    scanned = scan(tree)
    assert names(scanned) == [
        "a.txt", "b.md", "!gone.md", "!loop", "!out.md", "!self.md", "sub/c.md", "sub/deep/d.csv"
    ]  # fmt: skip
    assert all(isinstance(item[2], SourceUnreadable) for item in scanned if isinstance(item, tuple))


def test_a_link_inside_the_folder_is_no_second_way_to_what_it_leads_to(tree: Path) -> None:
    (tree / "a.txt.fonte.yaml").write_text("roles: [board]")
    (tree / "open.txt").symlink_to(tree / "a.txt")
    (tree / "open.md").symlink_to(tree / "a.txt")
    reader = FolderSource(tree)
    found = {one.name: one.acl.roles for one in reader.scan() if isinstance(one, Source)}
    assert found["a.txt"] == {"board"}
    assert not {"open.txt", "open.md"} & set(found)
    assert reader.notes == ("links are not followed, what they lead to is read under its own name: open.md, open.txt",)


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tree / "pipe.md")
    (tree / "big.md").write_text("x" * 2000)
    real = folder_module.hash_file

    def hash_file(path: str, *, max_bytes: int) -> object:
        if path.endswith("b.md"):
            raise PermissionError(13, "Permission denied")
        return real(path, max_bytes=max_bytes)

    monkeypatch.setattr(folder_module, "hash_file", hash_file)
    scanned = scan(tree, max_bytes=1000)
    assert names(scanned) == ["a.txt", "!b.md", "!big.md", "!pipe.md", "sub/c.md", "sub/deep/d.csv"]
    errors = [type(item[2]) for item in scanned if isinstance(item, tuple)]
    assert errors == [SourceUnreadable, SourceTooLarge, SourceUnreadable]


def test_a_folder_that_cannot_be_listed_is_told(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(folder_module.os, "scandir", scandir)
    assert names(scan(tree)) == ["a.txt", "b.md", "sub/c.md", "!sub/deep"]


def test_a_fonte_home_inside_the_folder_is_left_out(tree: Path) -> None:
    (tree / "home" / "tenants" / "default").mkdir(parents=True)
    (tree / "home" / "system.sqlite").write_bytes(b"x")
    (tree / "home" / "tenants" / "default" / "note.md").write_text("x")
    assert names(scan(tree)) == ["a.txt", "b.md", "sub/c.md", "sub/deep/d.csv"]


@pytest.mark.parametrize("given", ["nothing", "nothing/*.md", "file:///nothing/at/all"])
def test_a_missing_root_is_said_with_a_hint(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceUnreadable, match="nothing") as caught:
        scan(given)
    assert caught.value.hint


def test_a_root_that_goes_away_before_the_scan_is_said(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    reader = open_source(str(tmp_path / "d"))
    (tmp_path / "d").rmdir()
    with pytest.raises(SourceUnreadable):
        list(reader.scan())


def test_other_schemes_are_not_read_yet() -> None:
    with pytest.raises(InputError, match="s3:// sources are not read yet"):
        open_source("s3://bucket/x")


def test_odd_names_survive(tmp_path: Path) -> None:
    odd = ["caf\udce9.txt", "a b#c?.md", "nuova\nriga.md", "e\u0301.md", "\u00e9.md", "100%.md", "日本.md"]
    for name in odd:
        (tmp_path / name).write_text(ascii(name))
    scanned = [item for item in scan(tmp_path) if isinstance(item, Source)]
    assert len(scanned) == len({item.uri for item in scanned}) == len(odd)
    assert all(item.uri.isascii() and item.name.encode() for item in scanned)
    by_name = {item.name: item for item in scanned}
    assert by_name["caf\\xe9.txt"].uri.endswith("/caf%E9.txt")
    assert by_name["a b#c?.md"].uri.endswith("/a%20b%23c%3F.md")
    assert all(item.path is not None and Path(item.path).exists() for item in scanned)
    assert names(scan(by_name["caf\\xe9.txt"].uri)) == ["caf\\xe9.txt"]


def test_an_absurd_time_of_change_is_no_time() -> None:
    assert _moment(1e20) is None
    assert _moment(0.0) == datetime(1970, 1, 1, tzinfo=UTC)
