"""Hostile containers listed by real parser processes: typed answers, limits kept, and the next file is read."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "parsers_c"))
from container_making import tarred, zipped
from fonte.errors import FonteError, ParseError, ParserCrashed, ParseTimeout, SourceTooLarge
from fonte.parsers.pool import ParserPool
from fonte.types import Acl, Contents, Source, sha256_hex

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    with ParserPool(1, timeout_seconds=60, memory_bytes=768 * MEGABYTE) as made:
        yield made


def source(body: bytes, name: str, inside: tuple[str, ...] = ()) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body, inside=inside)


def outcome(pool: ParserPool, body: bytes, name: str) -> Contents | FonteError:
    try:
        return pool.contents(source(body, name))
    except FonteError as error:
        return error


def test_members_are_listed_and_parsed_out_of_their_container(pool: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(tarred({"a.md": "# One", "in.zip": zipped({"b.txt": "two"})}, "w:gz"))
    outer = Source("file:///a.tgz", "a.tgz", sha256_hex(path.read_bytes()), Acl(), path=str(path))
    contents = pool.contents(outer)
    texts = []
    for member in contents.members:
        name, version = f"a.tgz!/{'!/'.join(member.inside)}", member.content_hash
        parsed = pool.parse(Source(f"file:///{name}", name, version, Acl(), path=str(path), inside=member.inside))
        texts.append([block.text for block in parsed.blocks])
    assert texts == [["One"], ["two"]]
    changed = Source("u", "a.tgz!/a.md", "0" * 64, Acl(), path=str(path), inside=("a.md",))
    with pytest.raises(ParseError, match="changed while being read"):
        pool.parse(changed)


def pax_bomb() -> bytes:
    """A tar archive whose extended header says that it has 8 GiB."""
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 2**33
    return info.tobuf(tarfile.PAX_FORMAT)[:512] + b"9" * 4096


def wide_xz() -> bytes:
    return lzma.compress(b"\0" * (40 * MEGABYTE))


HOSTILE = {
    "zeros.gz": lambda: gzip.compress(b"\0" * (48 * MEGABYTE)),
    "zeros.xz": wide_xz,
    "pax.tar": pax_bomb,
    "links.tar": lambda: tarred({}, more=tuple(_link(at) for at in range(200))),
    "junk.zip": lambda: b"PK\x03\x04" + random.Random(3).randbytes(5000),
    "junk.gz": lambda: b"\x1f\x8b\x08" + random.Random(4).randbytes(5000),
    "junk.xz": lambda: b"\xfd7zXZ\0" + random.Random(5).randbytes(5000),
    "junk.msg": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + random.Random(6).randbytes(5000),
    "lying.eml": lambda: b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * 20_000,
    "deep.eml": lambda: b"".join(b"Content-Type: multipart/x; boundary=%d\n\n--%d\n" % (at, at) for at in range(5000)),
    "many.zip": lambda: zipped({f"{at}.md": "" for at in range(10_050)}),
}  # fmt: skip


def _link(at: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(f"l{at}")
    info.type, info.linkname = tarfile.SYMTYPE, f"l{at + 1}"
    return info


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_containers_end_in_typed_answers_and_the_next_one_is_read(pool: ParserPool, name: str) -> None:
    found = outcome(pool, HOSTILE[name](), name)
    if isinstance(found, Contents):
        assert found.members or found.error or found.itself
        assert all(bool(one.content_hash) is (one.error is None) for one in found.members)
    else:
        assert isinstance(found, ParseError | SourceTooLarge)
        assert not isinstance(found, ParserCrashed | ParseTimeout), found.message
        assert found.message
    good = pool.contents(source(zipped({"a.md": "x"}), "good.zip"))
    assert [one.inside for one in good.members] == [("a.md",)]


def test_what_is_told_of_bombs(pool: ParserPool) -> None:
    for name in ("zeros.gz", "zeros.xz"):
        assert isinstance(outcome(pool, HOSTILE[name](), name), SourceTooLarge)
    many = outcome(pool, HOSTILE["many.zip"](), "many.zip")
    assert isinstance(many, Contents)
    assert len(many.members) == 10_000
    assert isinstance(many.error, SourceTooLarge)


def test_an_overlapping_zip_is_refused_or_limited(pool: ParserPool) -> None:
    """Many members that share one compressed kernel: more comes out than went in, and the limits count it."""
    kernel = zipped({"k": b"\0" * (8 * MEGABYTE)})
    data = io.BytesIO(kernel)
    with zipfile.ZipFile(data) as archive:
        info = archive.infolist()[0]
    entry = kernel[kernel.index(b"PK\x01\x02") : kernel.index(b"PK\x05\x06")]
    count = 300
    end = bytearray(kernel[kernel.index(b"PK\x05\x06") :])
    end[8:10] = end[10:12] = count.to_bytes(2, "little")
    end[12:16] = (len(entry) * count).to_bytes(4, "little")
    body = kernel[: kernel.index(b"PK\x01\x02")] + entry * count + bytes(end)
    found = outcome(pool, body, "overlap.zip")
    assert info.file_size == 8 * MEGABYTE
    assert isinstance(found, Contents)
    assert sum(one.error is None for one in found.members) <= 1  # the same name again is refused
