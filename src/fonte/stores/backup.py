"""A home to one file and back, while a server answers and a sync runs.

SQLite files are copied by SQLite itself, each as it is at one moment; tables of generations never change and are
pinned while they are read. The last member of the file is a manifest with the hash of every other.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import uuid
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from fonte.errors import InputError, NotFound, StoreUnavailable
from fonte.stores import pins
from fonte.stores.lance_index import SUFFIX
from fonte.stores.sqlite import sqlite_call

FORM = "fonte-backup 1"
MANIFEST = "manifest.json"
_BEFORE = ("conversations.sqlite", "feedback.sqlite", "jobs.sqlite", "standing.sqlite", "vectors.sqlite")
"""Copied before the catalog: what they name is then in it."""
_PLAIN = ("calibration.json", "labels.jsonl", "erasing.json")
_TRIES = 5
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Backup:
    """What a file holds."""

    files: int
    bytes: int
    tenants: int


def backup(home: Path, file: Path, version: str) -> Backup:
    """Write a home into a new file, readable by its owner only.

    Raises:
        InputError: the file is there already, or there is no home. StoreUnavailable: the disk is full, or what is
            copied is being erased.
    """
    if file.exists():
        raise InputError(f"{file} is there already", hint="name a new file")
    if not (home / "FORMAT").exists():
        raise InputError(f"there is no home at {home}", hint="name it with --home")
    part = file.with_name(f".{file.name}.{uuid.uuid4().hex[:8]}")
    try:
        with _disk(), tempfile.TemporaryDirectory(prefix=".fonte-backup-", dir=file.parent) as beside:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as raw:
                with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=1) as archive:
                    writing = _Writing(home, archive, Path(beside))
                    tenants = writing.everything()
                    writing.manifest(version)
                raw.flush()
                os.fsync(descriptor)
            os.link(part, file)  # unlike a rename it never takes another file's place
    finally:
        part.unlink(missing_ok=True)
    sizes = [size for _, size in writing.hashes.values()]
    return Backup(len(sizes), sum(sizes), tenants)


@dataclass(slots=True)
class _Writing:
    """An archive under way: what is in it, by name, with hash and size."""

    home: Path
    archive: tarfile.TarFile
    beside: Path
    hashes: dict[str, tuple[str, int]] = field(default_factory=dict)

    def everything(self) -> int:
        """Add the home; how many tenants it has."""
        for name in ("FORMAT", "fonte.toml"):
            self._plain(self.home / name)
        for name in ("system.sqlite", "audit.sqlite"):
            self._database(self.home / name)
        tenants = sorted(path.parent for path in self.home.glob("tenants/*/catalog.sqlite"))
        for folder in tenants:
            self._tenant(folder)
        return len(tenants)

    def _tenant(self, folder: Path) -> None:
        for name in _BEFORE:
            self._database(folder / name)
        pinned, copy = self._pinned(folder)
        self._add(folder / "catalog.sqlite", copy)
        for table in pinned.tables:
            for path in _files(folder / "lance" / f"{table}{SUFFIX}"):
                self._add(path, path)
        for name in _PLAIN:
            self._plain(folder / name)
        for path in _files(folder / "fetched"):
            if path.suffix != ".new":
                self._plain(path)
        for about in sorted(folder.glob("uploads/u*/about.json")):
            self._upload(about)

    def _upload(self, about: Path) -> None:
        """An upload as it is now, or as it is a moment later where it is replaced meanwhile."""
        for _ in range(_TRIES):
            try:
                told = about.read_bytes()
                with (about.parent / str(json.loads(told)["sha256"])).open("rb") as body:
                    self._stream(self._name(Path(body.name)), body)
            except FileNotFoundError:
                continue
            with io.BytesIO(told) as said:
                self._stream(self._name(about), said)
            return

    def _pinned(self, folder: Path) -> tuple[_Pins, Path]:
        """A copy of the catalog, and pins on all tables that it names."""
        for _ in range(_TRIES):
            copy = self._copied(folder / "catalog.sqlite")
            with closing(sqlite3.connect(copy)) as connection:
                rows = connection.execute("SELECT table_name FROM generations WHERE sealed AND state <> 'rejected'")
                pinned = _Pins(sorted({row[0] for row in rows}))
            try:
                for table in pinned.tables:
                    pins.hold(folder / "lance" / f"{table}.pin", pinned)
            except StoreUnavailable:
                continue
            if all((folder / "lance" / f"{table}{SUFFIX}").is_dir() for table in pinned.tables):
                return pinned, copy
        raise StoreUnavailable("generations come and go faster than they can be copied", hint="try again in a moment")

    def _copied(self, path: Path) -> Path:
        copy = self.beside / uuid.uuid4().hex
        with (
            sqlite_call(path),
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        return copy

    def _database(self, path: Path) -> None:
        if path.exists():
            copy = self._copied(path)
            self._add(path, copy)
            copy.unlink()

    def _plain(self, path: Path) -> None:
        """A small file, where it is there."""
        try:
            self._add(path, path)
        except FileNotFoundError:
            return

    def _add(self, path: Path, body: Path) -> None:
        with body.open("rb") as file:
            self._stream(self._name(path), file)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.home).as_posix()

    def _stream(self, name: str, body: BinaryIO) -> None:
        if name in self.hashes:  # an upload that was replaced while it was copied
            return
        info = tarfile.TarInfo(name)
        info.size = body.seek(0, io.SEEK_END)
        info.mode = 0o600
        body.seek(0)
        reading = _Hashing(body)
        self.archive.addfile(info, reading)
        self.hashes[name] = (reading.digest.hexdigest(), info.size)

    def manifest(self, version: str) -> None:
        """Add what tells whether the rest is whole."""
        files = {name: {"sha256": digest, "bytes": size} for name, (digest, size) in sorted(self.hashes.items())}
        told = {"form": FORM, "fonte": version, "at": datetime.now(UTC).isoformat(), "files": files}
        body = json.dumps(told, indent=1).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(body), 0o600
        self.archive.addfile(info, io.BytesIO(body))


@dataclass(slots=True, weakref_slot=True)
class _Pins:
    """Tables that are held while this lives."""

    tables: list[str]


class _Hashing(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._inner.read(size)
        self.digest.update(piece)
        return piece


def restore(file: Path, home: Path) -> Backup:
    """Put a home in place that a backup holds, once every hash was verified.

    Raises:
        NotFound: no such file. InputError: the home is there already; or the file is cut, altered, or no backup.
        StoreUnavailable: the disk is full.
    """
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise InputError(f"{home} is there already", hint="name a home that does not exist: --home NEW")
    if not file.is_file():
        raise NotFound(f"there is no file {file}", hint="name what fonte backup wrote")
    draft = home.absolute().with_name(f".{home.name}.{uuid.uuid4().hex[:8]}")
    try:
        with _disk():
            draft.mkdir(mode=0o700, parents=True)
            found = _unpacked(file, draft)
            if home.exists():
                home.rmdir()
            draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return found


def _unpacked(file: Path, draft: Path) -> Backup:
    """Raises InputError."""
    hashes: dict[str, tuple[str, int]] = {}
    told: bytes | None = None
    try:
        with tarfile.open(file, "r:gz") as archive:
            for member in archive:
                body = archive.extractfile(member)
                if told is not None or not member.isreg() or body is None:
                    raise _broken(file, "holds what no backup does")
                if member.name == MANIFEST:
                    told = body.read()
                else:
                    hashes[member.name] = (_written(body, draft / _safe(file, member.name)), member.size)
        with gzip.open(file) as whole:  # to the end: the checksum of the whole stands there
            while whole.read(_PIECE):
                pass
        listed = json.loads(told or b"{}")
        wanted = {name: (one["sha256"], one["bytes"]) for name, one in listed["files"].items()}
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError, KeyError, TypeError) as error:
        raise _broken(file, "is cut, altered, or no backup") from error
    if listed["form"] != FORM:
        raise _broken(file, f"is of another form ({str(listed['form'])[:40]})")
    if wanted != hashes:
        name = min(name for name in wanted.keys() | hashes.keys() if wanted.get(name) != hashes.get(name))
        raise _broken(file, f"does not hold {name} as it was")
    tenants = sum(name.endswith("/catalog.sqlite") for name in hashes)
    return Backup(len(hashes), sum(size for _, size in hashes.values()), tenants)


def _safe(file: Path, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise _broken(file, "holds a name that leads elsewhere")
    return path


def _written(body: IO[bytes], path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while piece := body.read(_PIECE):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(descriptor)
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _broken(file: Path, what: str) -> InputError:
    return InputError(f"{file} {what}", hint="nothing was restored; take another backup")


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"the disk failed: {error.strerror or type(error).__name__}"
        raise StoreUnavailable(message, hint="check the folder's owner, mode and free space") from error
