"""Archives: zip, tar, and what gzip, bzip2 and xz pack. Nothing is ever written under a member's name."""

from __future__ import annotations

import bz2
import lzma
import os
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import BinaryIO, Protocol, TypeVar, cast

from fonte.errors import EncryptedSource, FonteError, InputError, ParseError, SourceTooLarge, SourceUnreadable
from fonte.parsers.containers.limits import MAX_MEMBERS, Entry, check_size, copy_unpacked, entry, link, read_whole
from fonte.parsers.containers.looks import is_tar

_Info = TypeVar("_Info", zipfile.ZipInfo, tarfile.TarInfo)
_DAMAGE = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
    NotImplementedError, ValueError, struct.error, OverflowError,
)  # fmt: skip
"""What the standard library raises of damaged archives, and of compressions that it does not know."""
_IN_MEMORY = 2**26
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_BLOCK = 512
_PIECE = 1 << 17
_LZMA_MEMORY = 2**29
_TAR_NAMES = {".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar"}


class Container(Protocol):
    """A file that holds files."""

    is_document: bool
    """Whether it has text of its own, apart from its members."""
    damage: FonteError | None
    """What kept the rest of it from being listed, once ``entries`` has ended."""

    def entries(self) -> Iterator[Entry]:
        """Its members in order."""

    def read(self, name: str) -> bytes:
        """A member's bytes. Raises FonteError."""

    def close(self) -> None:
        """Let go of the file."""


class ZipContainer:
    """A zip archive."""

    is_document = False

    def __init__(self, archive: zipfile.ZipFile, stream: BinaryIO) -> None:
        self.damage: FonteError | None = None
        self._archive, self._stream = archive, stream
        self._found: dict[str, zipfile.ZipInfo] = {}

    def entries(self) -> Iterator[Entry]:
        """Files in the order of the directory; a name that comes again is an error of the later one."""
        for info in self._archive.infolist():
            found = None if info.is_dir() else entry(_zip_name(info))
            if found is None:
                continue
            if found.error is None and stat.S_ISLNK(info.external_attr >> 16):
                found = Entry(found.name, link(found.name))
            elif found.error is None and found.name in self._found:
                found = _again(found.name)
            elif found.error is None:
                self._found[found.name] = info
            yield found

    def read(self, name: str) -> bytes:
        """A member's bytes.

        Raises:
            EncryptedSource: under a password. SourceTooLarge: past a limit. ParseError: damaged or not there.
        """
        info = _known(self, self._found, name)
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise EncryptedSource(f"{name} needs a password", hint="Unpack it into a folder.")
        check_size(name, info.file_size, info.compress_size)
        try:
            with self._archive.open(info) as stream:
                return read_whole(cast("BinaryIO", stream), name)
        except _DAMAGE as error:
            raise damaged(name, error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._archive.close()
        self._stream.close()


class TarContainer:
    """A tar archive that is not packed."""

    is_document = False

    def __init__(self, stream: BinaryIO, damage: FonteError | None = None) -> None:
        self.damage = damage
        self._stream = stream
        self._archive: tarfile.TarFile | None = None
        self._found: dict[str, tarfile.TarInfo] = {}

    def entries(self) -> Iterator[Entry]:
        """Files in order; links and devices with their refusal. Of two with one name the later is meant, as in tar."""
        last: dict[str, tuple[Entry, tarfile.TarInfo]] = {}
        try:
            self._archive = tarfile.open(fileobj=self._stream, mode="r:")  # noqa: SIM115 - closed with its stream
            for info in self._archive:
                found = None if info.isdir() else entry(info.name)
                if found is None:
                    continue
                last.pop(found.name, None)
                last[found.name] = found, info
                if len(last) > MAX_MEMBERS:  # the limit will be told by whoever counts them
                    break
        except _DAMAGE as error:
            self.damage = self.damage or damaged("the archive", error)
        for found, info in last.values():
            if found.error is not None or info.isreg():
                self._found[found.name] = info
                yield found
            else:
                yield Entry(found.name, link(found.name))

    def read(self, name: str) -> bytes:
        """A member's bytes.

        Raises:
            SourceTooLarge: past a limit. ParseError: damaged or not there.
        """
        info = _known(self, self._found, name)
        check_size(name, info.size, info.size)
        try:
            stream = self._archive.extractfile(info) if self._archive is not None else None
            body = b"" if stream is None else read_whole(cast("BinaryIO", stream), name)
        except _DAMAGE as error:
            raise damaged(name, error) from error
        if len(body) != info.size:
            raise ParseError(f"{name} is damaged: {len(body)} of {info.size} bytes are there")
        return body

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()


class PackedFile:
    """One file packed by gzip, bzip2 or xz."""

    is_document = False

    def __init__(
        self, stream: BinaryIO, name: str, damage: FonteError | None, behind: FonteError | None = None
    ) -> None:
        self.damage = behind
        self._stream, self._damage = stream, damage
        path = PurePosixPath(name.rsplit("/", 1)[-1])
        self._name = path.stem if path.suffix else f"{path.name or 'file'}.unpacked"

    def entries(self) -> Iterator[Entry]:
        """The file."""
        yield Entry(self._name)

    def read(self, name: str) -> bytes:
        """Its bytes. Raises SourceTooLarge, ParseError."""
        if self._damage is not None:
            raise self._damage
        if name != self._name:
            raise _absent(name)
        self._stream.seek(0)
        return read_whole(self._stream, name)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()


def open_zip(stream: BinaryIO, name: str) -> zipfile.ZipFile:
    """The directory of a zip archive. Raises ParseError."""
    try:
        return zipfile.ZipFile(stream)
    except _DAMAGE as error:
        raise damaged(name, error) from error


def open_packed(stream: BinaryIO, name: str, head: bytes) -> Container:
    """What a gzip, bzip2 or xz file holds: a tar archive, or one file.

    Raises:
        SourceTooLarge: it grows beyond the limits.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    unpacked = cast("BinaryIO", tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - lives as long as the container
    damage: FonteError | None = None
    behind: FonteError | None = None
    try:
        copy_unpacked(_unpacked(stream, head), unpacked, size, name)
        behind = _told_behind(stream, name)
    except SourceTooLarge:
        unpacked.close()
        raise
    except _DAMAGE as error:
        damage = damaged(name, error)
    stream.close()
    unpacked.seek(0)
    block = unpacked.read(_BLOCK)
    unpacked.seek(0)
    ending = PurePosixPath(name).suffix.lower()
    if is_tar(block) or (ending in _TAR_NAMES and not block.strip(b"\0")):
        return TarContainer(unpacked, damage or behind)
    return PackedFile(unpacked, name, damage, behind)


def damaged(name: str, error: Exception) -> ParseError:
    """The error for what the standard library could not unpack."""
    return ParseError(f"{name} is damaged or packed in an unknown way: {str(error) or type(error).__name__}")


class _Decoder(Protocol):
    """What the standard library's decompressors have in common."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing comes out without more."""

    @property
    def unused_data(self) -> bytes:
        """What stands behind the end."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most so many bytes."""


class _Gzip:
    """zlib's decompressor with the manners of the others."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self._filled = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._filled and not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        piece = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self._filled = len(piece) == max_length
        return piece


def _decoder(head: bytes) -> _Decoder:
    if head.startswith(b"\x1f\x8b"):
        return _Gzip()
    return bz2.BZ2Decompressor() if head.startswith(b"BZh") else lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)


def _unpacked(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    """What a packed file holds, piece by piece; streams that follow each other are one.

    ``stream`` then stands at what is behind the last of them.

    Raises:
        EOFError: it ends too early. What the decoders raise of damage.
    """
    decoder, rest = _decoder(head), b""
    while True:
        if decoder.eof:
            rest = _behind(decoder.unused_data, stream, len(head[:2]))
            if not rest.startswith(head[:2]):  # nothing more, or something that was added
                stream.seek(-len(rest), os.SEEK_CUR)
                return
            decoder = _decoder(head)
        elif decoder.needs_input:
            rest = stream.read(_PIECE)
            if not rest:
                raise EOFError("it ends too early")
        piece = decoder.decompress(rest, _PIECE)
        rest = b""
        if piece:
            yield piece


def _behind(rest: bytes, stream: BinaryIO, least: int) -> bytes:
    """What stands behind the end of a stream, without padding; at least so many bytes where there are so many."""
    rest = rest.lstrip(b"\0")
    while len(rest) < least and (more := stream.read(_PIECE)):
        rest = (rest + more).lstrip(b"\0")
    return rest


def _told_behind(stream: BinaryIO, name: str) -> InputError | None:
    """What to say of bytes behind the last packed stream: they were not unpacked. All that was packed is there."""
    at = stream.tell()
    count = stream.seek(0, os.SEEK_END) - at
    if not count:
        return None
    return InputError(f"{name}: {count} bytes behind its end were not read", hint="Pack it again, if they matter.")


def _zip_name(info: zipfile.ZipInfo) -> str:
    """A member's name; one that is UTF-8 without saying so is read as that."""
    if info.flag_bits & _UTF8_FLAG:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _known(container: Container, found: Mapping[str, _Info], name: str) -> _Info:
    """A member by its name; the directory is read first where it was not."""
    if not found:
        for _ in container.entries():
            pass
    if name not in found:
        raise _absent(name)
    return found[name]


def _absent(name: str) -> ParseError:
    return ParseError(f"{name} is not in its archive any more", hint="sync again when nothing writes to it")


def _again(name: str) -> Entry:
    # Another name than the first one's, which has its own place.
    return Entry(f"{name} (again)", SourceUnreadable(f"{name} comes twice in its archive; the first one was read"))
