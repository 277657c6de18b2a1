"""What containers hold is remembered by their bytes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fonte.errors import EncryptedSource, SourceTooLarge
from fonte.parsers.containers.remembered import remembering
from fonte.types import Acl, Contents, Member, Source, sha256_hex

WHOLE = Contents(
    (Member(("a.md",), sha256_hex("a"), own="roles: hr"), Member(("b",), error=EncryptedSource("b needs")))
)


class Inner:
    def __init__(self, contents: Contents = WHOLE) -> None:
        self.answer, self.asked = contents, 0

    def may_hold(self, head: bytes, name: str) -> bool:
        return True

    def contents(self, source: Source) -> Contents:
        self.asked += 1
        return self.answer

    @contextmanager
    def opened(self):
        yield self


def source(name: str = "a.zip", body: str = "x") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), path=f"/{name}")


def told(contents: Contents) -> list[tuple[tuple[str, ...], str, str, str]]:
    return [(one.inside, one.content_hash, one.own, str(one.error or "")) for one in contents.members]


def test_the_same_bytes_under_the_same_name_are_listed_once(tmp_path: Path) -> None:
    inner = Inner()
    for _ in range(2):
        with remembering(inner.opened(), tmp_path / "kept") as unpacker:
            assert told(unpacker.contents(source())) == told(WHOLE)
    assert inner.asked == 1
    with remembering(inner.opened(), tmp_path / "kept") as unpacker:
        unpacker.contents(source(body="y"))
        unpacker.contents(source("a.eml"))
    assert inner.asked == 3
    with remembering(inner.opened(), tmp_path / "kept") as unpacker:
        unpacker.contents(source())
    assert inner.asked == 4, "what a scan did not ask for was forgotten"


def test_what_ended_early_or_is_damaged_is_listed_again(tmp_path: Path) -> None:
    inner = Inner(replace(WHOLE, error=SourceTooLarge("too much")))
    for _ in range(2):
        with remembering(inner.opened(), tmp_path) as unpacker:
            assert unpacker.contents(source()).error is not None
    assert inner.asked == 2
    inner.answer = WHOLE
    with remembering(inner.opened(), tmp_path) as unpacker:
        unpacker.contents(source())
        (kept,) = tmp_path.iterdir()
        kept.write_bytes(b'{"members": 7}')
        assert told(unpacker.contents(source())) == told(WHOLE)
    assert inner.asked == 4


def test_where_nothing_can_be_kept_all_goes_on(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file in the way")
    inner = Inner()
    with remembering(inner.opened(), tmp_path / "kept") as unpacker:
        assert told(unpacker.contents(source())) == told(WHOLE)
