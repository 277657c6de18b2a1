"""Files in fsspec's memory store."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from fonte.errors import ConfigError, InputError, SourceTooLarge, SourceUnreadable
from fonte.sources.fetched import Fetched
from fonte.sources.opening import Opener
from fonte.sources.remote import RemoteSource
from fonte.sources.rules import SourceRule
from fonte.sources.taking import Taking
from fonte.types import Contents, Member, Source, sha256_hex

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def store() -> Iterator[object]:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for name, body in (("b.md", "# B"), ("a.txt", "A"), ("sub/c d.md", "# C"), (".hidden", "no"), ("sub/.git/x", "no")):
        memory.pipe(f"/docs/{name}", body.encode())
    yield memory
    memory.store.clear()


@pytest.fixture
def remote(tmp_path: Path):
    def make(spec: str = "memory://docs", *, records: bool = False, unpacking=None, **more) -> RemoteSource:
        return RemoteSource(spec, Fetched(tmp_path / "kept"), Taking(**more), records, unpacking)

    return make


def named(source: RemoteSource) -> dict[str, Source]:
    return {item.name: item for item in source.scan() if isinstance(item, Source)}


def test_every_file_below_an_address_is_a_source(store, remote) -> None:
    found = named(remote())
    assert list(found) == ["a.txt", "b.md", "sub/c d.md"]
    deep = found["sub/c d.md"]
    assert (deep.uri, deep.content_hash) == ("memory://docs/sub/c%20d.md", sha256_hex("# C"))
    assert Path(deep.path or "").read_text() == "# C"
    assert deep.modified_at is not None


def test_one_file_and_a_glob_are_sources(store, remote) -> None:
    assert [(one.name, one.uri) for one in named(remote("memory://docs/b.md")).values()] == [
        ("b.md", "memory://docs/b.md")
    ]
    assert list(named(remote("memory://docs/**/*.md"))) == ["b.md", "sub/c d.md"]
    assert list(named(remote("memory://docs/*.md"))) == ["b.md"]
    assert list(named(remote(include=["*.md"], exclude=["sub"]))) == ["b.md"]


def test_what_did_not_change_is_not_fetched_again(store, remote, monkeypatch: pytest.MonkeyPatch) -> None:
    first = named(remote())
    opened: list[str] = []
    real = type(store).open

    def opening(self, path: str, *args, **named_ones):
        opened.append(path)
        return real(self, path, *args, **named_ones)

    monkeypatch.setattr(type(store), "open", opening)
    assert named(remote()) == first
    assert opened == []
    store.pipe("/docs/b.md", b"# New")
    opened.clear()
    assert named(remote())["b.md"].content_hash == sha256_hex("# New")
    assert opened == ["/docs/b.md"]
    store.rm("/docs/a.txt")
    assert list(named(remote())) == ["b.md", "sub/c d.md"]


def test_what_is_gone_is_not_kept(store, remote, tmp_path: Path) -> None:
    named(remote())
    store.rm("/docs/a.txt")
    named(remote())
    assert sorted(path.name for path in (tmp_path / "kept").glob("*/*")) == ["b.md", "c_d.md"]


def test_sidecars_rules_and_front_matter_hold_here_too(store, remote) -> None:
    store.pipe("/docs/a.txt.fonte.yaml", b"roles: hr\n")
    store.pipe("/docs/b.md", b"---\nroles: boss\n---\n# B")
    source = remote(rules=[SourceRule("sub/**", frozenset())])
    assert {name: one.acl.roles for name, one in named(source).items()} == {
        "a.txt": {"hr"},
        "b.md": {"boss"},
        "sub/c d.md": frozenset(),
    }
    assert source.notes == ("1 document is readable by nobody: the rule for sub/** names no role (sub/c d.md)",)
    assert named(remote("memory://docs/a.txt"))["a.txt"].acl.roles == {"hr"}
    assert source.acl_of("memory://docs/sub/c%20d.md", "sub/c d.md") is not None


def test_records_and_archives_are_opened_as_in_folders(store, remote) -> None:
    store.pipe("/docs/c.jsonl", b'{"_id": "1", "text": "x"}\n{"_id": "2", "text": "y"}\n')
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("in.md", "# In")
    store.pipe("/docs/box.zip", data.getvalue())

    class Unpacking:
        def may_hold(self, head: bytes, name: str) -> bool:
            return head.startswith(b"PK")

        def contents(self, source: Source) -> Contents:
            assert (source.path or "").endswith("/box.zip")
            return Contents((Member(("in.md",), sha256_hex("# In")),), itself=False)

    source = remote(records=True, unpacking=lambda: nullcontext(Unpacking()))
    found = named(source)
    assert list(found) == ["a.txt", "b.md", "box.zip!/in.md", "1", "2", "sub/c d.md"]
    assert found["1"].uri == "memory://docs/c.jsonl#1"
    rules = [SourceRule("c.jsonl", frozenset({"hr"}))]
    assert remote(rules=rules).acl_of("memory://docs/c.jsonl#1", "1").roles == {"hr"}


def test_too_large_files_are_told_and_a_missing_address_ends_the_scan(store, remote, tmp_path: Path) -> None:
    store.pipe("/docs/big.txt", b"x" * 2000)
    told = {item[1]: type(item[2]) for item in remote(max_bytes=1000).scan() if isinstance(item, tuple)}
    assert told == {"big.txt": SourceTooLarge}
    with pytest.raises(SourceUnreadable, match="cannot be read"):
        named(remote("memory://nowhere"))
    with pytest.raises(SourceUnreadable, match="cannot be opened"):
        named(remote("nosuchscheme://x"))
    empty = fsspec.filesystem("memory")
    empty.mkdir("/empty")
    source = remote("memory://empty")
    assert (named(source), source.notes) == ({}, ("memory://empty holds no file to read",))


def test_addresses_that_lead_round_or_hold_secrets_are_refused(tmp_path: Path) -> None:
    opener = Opener(tmp_path)
    with pytest.raises(InputError, match="not read through other stores"):
        opener.open("zip://a.md::https://intern.example/x.zip")
    with pytest.raises(ConfigError, match="password"):
        opener.open("sftp://me:secret@host/docs")  # pragma: allowlist secret
    assert opener.open("memory://docs").root == "memory://docs"
    assert not list(tmp_path.iterdir())


def test_stores_in_stores_are_read(store, remote) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("sub/in.md", "# In")
    store.pipe("/docs/box.zip", data.getvalue())
    (item,) = named(remote("zip://::memory://docs/box.zip")).values()
    assert (item.name, item.uri) == ("sub/in.md", "zip://::memory://docs/box.zip/sub/in.md")
    assert Path(item.path or "").read_text() == "# In"
