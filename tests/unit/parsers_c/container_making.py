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

_SECTOR = 512
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5


def compound(tree: Mapping[str, object]) -> bytes:
    """A compound file: names to bytes (streams) or to mappings (storages). All streams lie in whole sectors."""
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
    sectors: list[bytes] = []
    chain: list[int] = []

    def store(data: bytes) -> int:
        if not data:
            return _END
        start = len(sectors)
        pieces = [data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR)]
        sectors.extend(pieces)
        chain.extend([*range(start + 1, start + len(pieces)), _END])
        return start

    placed = [(entry, store(bytes(entry[4]))) for entry in entries]  # type: ignore[arg-type]  # bytes by construction
    directory = b"".join(_entry(entry, start) for entry, start in placed)
    directory_at = store(directory.ljust(-(-len(directory) // _SECTOR) * _SECTOR, b"\0"))
    fat_at = len(sectors)
    fats = -(-(len(sectors) + 8) // 127)
    chain.extend([_FAT] * fats)
    fat = struct.pack(f"<{len(chain)}I", *chain).ljust(fats * _SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\0" * 16, 0x3E, 3, 0xFFFE, 9, 6,
        0, fats, directory_at, 0, 0, _END, 0, _END, 0,
    )  # fmt: skip
    listed = struct.pack("<109I", *range(fat_at, fat_at + fats), *[_FREE] * (109 - fats))
    return header + listed + b"".join(sectors) + fat


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
