"""Archives and mails made by hand."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Mapping

Files = Mapping[str, bytes | str]


def plain(body: bytes | str) -> bytes:
    return body.encode() if isinstance(body, str) else body


def zipped(files: Files) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, plain(body))
    return data.getvalue()


def tarred(files: Files, mode: str = "w", *, more: tuple[tarfile.TarInfo, ...] = ()) -> bytes:
    """A tar archive; ``mode`` is tarfile's (``w:gz``…), ``more`` members without bytes."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload]  # one of its modes
        for name, body in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(plain(body))
            archive.addfile(info, io.BytesIO(plain(body)))
        for info in more:
            archive.addfile(info)
    return data.getvalue()


def locked_zip(name: str = "secret.md") -> bytes:
    """A zip archive whose only member says that it is under a password."""
    body = bytearray(zipped({name: "text"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = body.index(mark) + offset
        body[at] |= 1
    return bytes(body)


# --- OLE containers (compound files): enough of [MS-CFB] for a message file

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5


def compound(tree: Mapping[str, object]) -> bytes:
    """A compound file: names to bytes (streams) or to mappings (storages); small streams lie in the mini stream."""
    entries: list[list[object]] = [["Root Entry", _ROOT, _FREE, _FREE, b""]]

    def add(nodes: Mapping[str, object]) -> int:
        """Entries of one storage, each the right sibling of the one before; the first one's number."""
        first, previous = _FREE, None
        for name, node in nodes.items():
            number = len(entries)
            inner = isinstance(node, Mapping)
            entries.append([name, _STORAGE if inner else _STREAM, _FREE, _FREE, b"" if inner else node])
            if previous is None:
                first = number
            else:
                entries[previous][2] = number
            previous = number
            if isinstance(node, Mapping):
                entries[number][3] = add(node)
        return first

    entries[0][3] = add(tree)
    large, small = _Chains(_SECTOR), _Chains(_MINI)
    starts = [_END]
    for entry in entries[1:]:
        body = bytes(entry[4])  # type: ignore[call-overload]  # bytes by construction
        starts.append((small if len(body) < _CUTOFF else large).store(body))
    entries[0][4] = b"".join(small.sectors)
    starts[0] = large.store(bytes(entries[0][4]))  # type: ignore[call-overload]  # as above
    mini_fat = large.store(struct.pack(f"<{len(small.chain)}I", *small.chain))
    directory = large.store(b"".join(_entry(entry, start) for entry, start in zip(entries, starts, strict=True)))
    fat_at = len(large.sectors)
    fats = -(-(fat_at + 8) // 127)
    table = [*large.chain, *[_FAT] * fats]
    fat = struct.pack(f"<{len(table)}I", *table).ljust(fats * _SECTOR, b"\xff")
    minis = -(-4 * len(small.chain) // _SECTOR)
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\0" * 16, 0x3E, 3, 0xFFFE, 9, 6,
        0, fats, directory, 0, _CUTOFF, mini_fat, minis, _END, 0,
    )  # fmt: skip
    listed = struct.pack("<109I", *range(fat_at, fat_at + fats), *[_FREE] * (109 - fats))
    return header + listed + b"".join(large.sectors) + fat


class _Chains:
    """Sectors of one size and which follows which."""

    def __init__(self, size: int) -> None:
        self.size, self.sectors, self.chain = size, list[bytes](), list[int]()

    def store(self, data: bytes) -> int:
        """The first sector of some bytes."""
        if not data:
            return _END
        start = len(self.sectors)
        pieces = [data[at : at + self.size].ljust(self.size, b"\0") for at in range(0, len(data), self.size)]
        self.sectors += pieces
        self.chain += [*range(start + 1, start + len(pieces)), _END]
        return start


def _entry(entry: list[object], start: int) -> bytes:
    name, kind, right, child, body = entry
    wide = str(name).encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sI8s8sIQ", wide, len(wide) + 2, kind, 1, _FREE, right, child, b"\0" * 16, 0, b"", b"", start,
        len(bytes(body)),  # type: ignore[arg-type]  # bytes by construction
    )  # fmt: skip


def strings(**properties: str) -> dict[str, object]:
    """Streams of string properties: ``p0037="subject"``."""
    return {f"__substg1.0_{key[1:].upper()}001F": value.encode("utf-16-le") for key, value in properties.items()}


def outlook(tree: Mapping[str, object]) -> bytes:
    """A message file of these streams and storages."""
    return compound({"__properties_version1.0": b"\0" * 32, "__nameid_version1.0": {}, **tree})
