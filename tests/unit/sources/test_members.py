"""Containers in folders: members as sources of their own, and who may read them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from fonte.errors import EncryptedSource, ParseError, SourceTooLarge
from fonte.sources.folder import FolderSource
from fonte.sources.rules import SourceRule
from fonte.types import Acl, Contents, Member, Source, sha256_hex

Scanned = list[Source | tuple[str, str, Exception]]


class Listed:
    """Says of files by their name what they hold."""

    def __init__(self, by_name: Mapping[str, Contents | Exception]) -> None:
        self.by_name = by_name
        self.asked: list[str] = []
        self.open = 0

    def may_hold(self, head: bytes, name: str) -> bool:
        return name.endswith((".zip", ".eml"))

    def contents(self, source: Source) -> Contents:
        self.asked.append(source.name)
        found = self.by_name.get(source.name.rsplit("/", 1)[-1], Contents())
        if isinstance(found, Exception):
            raise found
        return found

    @contextmanager
    def opened(self) -> Iterator[Listed]:
        self.open += 1
        yield self
        self.open -= 1


def holds(*inside: tuple[str, ...], itself: bool = False, error: Exception | None = None) -> Contents:
    return Contents(tuple(Member(way, sha256_hex("/".join(way))) for way in inside), itself, error)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "hr").mkdir(parents=True)
    for name in ("a.zip", "hr/m.eml", "plain.md"):
        (root / name).write_text(name)
    return root


LISTED = {
    "a.zip": holds(("x.md",), ("sub/perché!.md",), ("in.zip", "deep.md")),
    "m.eml": holds(("r.pdf",), itself=True),
}


def scan(root: Path, listed: Listed, **options: object) -> Scanned:
    return list(FolderSource(root, unpacking=listed.opened, **options).scan())  # type: ignore[arg-type]  # options by name


def named(scanned: Scanned) -> dict[str, Source]:
    return {item.name: item for item in scanned if isinstance(item, Source)}


def test_members_follow_their_container_and_are_named_by_the_way_to_them(tree: Path) -> None:
    listed = Listed(LISTED)
    scanned = scan(tree, listed)
    assert [item.name for item in scanned if isinstance(item, Source)] == [
        "a.zip!/x.md", "a.zip!/sub/perché!.md", "a.zip!/in.zip!/deep.md", "plain.md", "hr/m.eml", "hr/m.eml!/r.pdf",
    ]  # fmt: skip
    deep = named(scanned)["a.zip!/in.zip!/deep.md"]
    assert deep.uri == (tree / "a.zip").as_uri() + "!/in.zip!/deep.md"
    assert deep.inside == ("in.zip", "deep.md")
    assert deep.path == str(tree / "a.zip")
    assert deep.content_hash == sha256_hex("in.zip/deep.md")
    odd = named(scanned)["a.zip!/sub/perché!.md"]
    assert odd.uri.endswith("a.zip!/sub/perch%C3%A9%21.md")  # its own sign is no step
    assert (listed.asked, listed.open) == (["a.zip", "hr/m.eml"], 0)


def test_without_an_unpacker_they_are_files_like_others(tree: Path) -> None:
    assert [item.name for item in FolderSource(tree).scan()] == ["a.zip", "plain.md", "hr/m.eml"]  # type: ignore[union-attr]  # sources all


def test_an_archive_alone_is_a_source_with_its_root(tree: Path) -> None:
    reader = FolderSource(tree / "a.zip", unpacking=Listed(LISTED).opened)
    assert next(item.name for item in reader.scan() if isinstance(item, Source)) == "a.zip!/x.md"
    assert all(item.uri.startswith(reader.root + "!/") for item in reader.scan() if isinstance(item, Source))


def test_what_cannot_be_opened_is_told_of_the_container_and_of_each_member(tree: Path) -> None:
    members = (Member(("a.md",), sha256_hex("a")), Member(("b.md",), error=EncryptedSource("b.md needs a password")))
    listed = Listed(
        {
            "a.zip": Contents(members, itself=False, error=SourceTooLarge("holds too much")),
            "m.eml": ParseError("broken"),
        }
    )
    scanned = scan(tree, listed)
    told = {item[1]: item[2] for item in scanned if isinstance(item, tuple)}
    assert set(named(scanned)) == {"a.zip!/a.md", "plain.md"}
    assert isinstance(told["a.zip!/b.md"], EncryptedSource)
    assert str(told["a.zip"]) == "a.zip: holds too much"
    assert isinstance(told["hr/m.eml"], ParseError)


def test_a_mail_that_is_read_does_not_hide_that_the_rest_of_it_is_not(tree: Path) -> None:
    listed = Listed({"m.eml": holds(("r.pdf",), itself=True, error=SourceTooLarge("holds too much"))})
    scanned = scan(tree, listed)
    assert {"hr/m.eml", "hr/m.eml!/r.pdf"} <= set(named(scanned))
    told = [item for item in scanned if isinstance(item, tuple)]
    # The first is told, its name being free; by the second what was not listed stays as it is.
    assert [(item[1], str(item[2])) for item in told] == [
        ("hr/m.eml!/…", "hr/m.eml: holds too much"),
        ("hr/m.eml", "hr/m.eml: holds too much"),
    ]
    assert not {item[0] for item in told[:1]} & {item.uri for item in scanned if isinstance(item, Source)}


def test_globs_take_a_container_for_a_folder(tree: Path) -> None:
    assert set(named(scan(tree, Listed(LISTED), exclude=["*.md"]))) == {"hr/m.eml", "hr/m.eml!/r.pdf"}
    assert set(named(scan(tree, Listed(LISTED), exclude=["a.zip/sub/**", "m.eml"]))) == {
        "a.zip!/x.md", "a.zip!/in.zip!/deep.md", "plain.md",
    }  # fmt: skip
    listed = Listed(LISTED)
    assert set(named(scan(tree, listed, include=["*.zip"]))) == {
        "a.zip!/x.md", "a.zip!/sub/perché!.md", "a.zip!/in.zip!/deep.md",
    }  # fmt: skip
    assert listed.asked == ["a.zip"]


# --- who may read


def roles(scanned: Scanned) -> dict[str, frozenset[str]]:
    return {name: item.acl.roles for name, item in named(scanned).items()}


def test_members_have_the_roles_of_their_container(tree: Path) -> None:
    rules = [SourceRule("*.zip", frozenset({"staff"})), SourceRule("hr/**", frozenset({"hr"}))]
    found = roles(scan(tree, Listed(LISTED), rules=rules))
    assert found["a.zip!/x.md"] == found["a.zip!/in.zip!/deep.md"] == {"staff"}
    assert found["hr/m.eml"] == found["hr/m.eml!/r.pdf"] == {"hr"}


def test_a_name_inside_can_never_widen_who_may_read(tree: Path) -> None:
    """Whoever makes an archive chooses the names in it."""
    rules = [SourceRule("**", frozenset({"staff"})), SourceRule("*.md", frozenset({"public"}))]
    found = roles(scan(tree, Listed(LISTED), rules=rules))
    assert found["plain.md"] == {"public"}
    assert found["a.zip!/x.md"] == {"staff"}


def test_a_rule_for_a_member_narrows(tree: Path) -> None:
    rules = [SourceRule("**/sub/**", frozenset({"hr"}))]
    found = roles(scan(tree, Listed(LISTED), rules=rules))
    assert found["a.zip!/sub/perché!.md"] == {"hr"}
    assert found["a.zip!/x.md"] == {"public"}


def test_what_lies_in_an_inner_container_is_no_wider_than_that(tree: Path) -> None:
    listed = Listed({"a.zip": holds(("m.eml",), ("m.eml", "r.pdf"), ("in.zip", "sub.zip", "r.pdf"), ("r.pdf",))})
    rules = [
        SourceRule("*.eml", frozenset({"hr", "boss"})),
        SourceRule("a.zip/in.zip", frozenset({"staff"})),
        SourceRule("*.pdf", frozenset({"public"})),
    ]
    assert roles(scan(tree, listed, rules=rules)) | {"plain.md": frozenset(), "hr/m.eml": frozenset()} == {
        "a.zip!/m.eml": {"hr", "boss"},
        "a.zip!/m.eml!/r.pdf": {"hr", "boss"},
        "a.zip!/in.zip!/sub.zip!/r.pdf": {"staff"},
        "a.zip!/r.pdf": {"public"},
        "plain.md": frozenset(),
        "hr/m.eml": frozenset(),
    }


def test_a_name_alone_gives_the_roles_that_a_scan_gives(tree: Path) -> None:
    (tree / "a!").mkdir()
    (tree / "a!" / "b.md").write_text("not in a container")
    rules = [
        SourceRule("a.zip/in.zip", frozenset({"hr", "boss"})),
        SourceRule("deep.md", frozenset({"boss", "public"})),
        SourceRule("**/sub/**", frozenset({"hr"})),
        SourceRule("a!/**", frozenset({"boss"})),
    ]
    reader = FolderSource(tree, rules=rules, unpacking=Listed(LISTED).opened)
    scanned = [item for item in reader.scan() if isinstance(item, Source)]
    assert {item.name: reader.acl_of(item.uri, item.name) for item in scanned} == {
        item.name: item.acl for item in scanned
    }
    assert reader.acl_of("file:///a%21/b.zip!/c.md", "a!/b.zip!/c.md") is None


def test_a_rule_that_leaves_nobody_is_said(tree: Path) -> None:
    rules = [SourceRule("a.zip", frozenset({"staff"})), SourceRule("**/sub/**", frozenset({"hr"}))]
    reader = FolderSource(tree, rules=rules, unpacking=Listed(LISTED).opened)
    found = roles(list(reader.scan()))
    assert found["a.zip!/sub/perché!.md"] == frozenset()
    (note,) = reader.notes
    assert note.startswith("1 document is readable by nobody: the rules for them name no role that may read a.zip")
    assert note.endswith(" (a.zip!/sub/perché!.md)")
    reader = FolderSource(tree, rules=[SourceRule("a.zip", frozenset())], unpacking=Listed(LISTED).opened)
    list(reader.scan())
    (note,) = reader.notes
    assert note.startswith("3 documents are readable by nobody: the rule for a.zip names no role (a.zip!/")


@pytest.mark.parametrize(
    ("container", "member", "expected"),
    [
        ({"a", "b"}, {"b", "c"}, {"b"}),
        ({"a"}, {"public"}, {"a"}),
        ({"public"}, {"a"}, {"a"}),
        ({"a"}, {"b"}, set()),
        (set(), {"public"}, set()),
        ({"public", "a"}, {"b"}, {"b"}),
    ],
)
def test_both_admit(container: set[str], member: set[str], expected: set[str]) -> None:
    assert Acl(frozenset(container)).narrowed(Acl(frozenset(member))).roles == expected


def test_language_and_title_by_rules(tree: Path) -> None:
    rules = [SourceRule("a.zip", language="it"), SourceRule("x.md", title="Ics")]
    found = named(scan(tree, Listed(LISTED), rules=rules))
    assert (found["a.zip!/x.md"].language, found["a.zip!/x.md"].metadata) == ("it", {"title": "Ics"})
    assert found["a.zip!/in.zip!/deep.md"].metadata == {}


def test_records_are_not_looked_into(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a", "b")
    path.write_text('{"_id": "1", "text": "x"}\n')
    listed = Listed({})
    assert [item.name for item in FolderSource(tmp_path, records=True, unpacking=listed.opened).scan()] == ["1"]  # type: ignore[union-attr]  # sources all
    assert listed.asked == []
