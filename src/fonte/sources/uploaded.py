"""Uploads of a tenant, kept in its folder, and read as one source.

``uploads/<id>/about.json`` says what one is and names its bytes, which lie beside it under their hash. It is replaced
last and in one step, so that a killed writer leaves the upload as it was. No name that a request gave becomes a path.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from fonte.access.uploads import UPLOADS, Upload
from fonte.errors import ParseError, StoreUnavailable
from fonte.protocols import Scanned, Unpacker
from fonte.sources.members import STEP
from fonte.sources.taking import File, Nobody, Taking
from fonte.text.frontmatter import HEAD_BYTES
from fonte.types import Acl, Source

_ABOUT = "about.json"
_ID = re.compile(r"u[0-9a-f]{24}")
_DRAFT, _GONE = ".draft-", ".gone-"
_PIECE = 1 << 20
_OLD_SECONDS = 3600.0
"""No draft is written for so long."""
_CHANGING = Lock()
"""Held by whoever changes uploads that count: two that came at once would write into each other's ``about.json``."""


@dataclass(slots=True)
class _Draft:
    """Bytes that lie in a folder of their own until they count."""

    upload: Upload
    draft: Path
    folder: Path

    def commit(self) -> None:
        """Put it in the place of what was there. Raises StoreUnavailable."""
        with _CHANGING, _disk():
            self.folder.mkdir(mode=0o700, exist_ok=True)
            (self.draft / "body").replace(self.folder / self.upload.sha256)
            _say(self.folder, self.upload)
            _sweep(self.folder, self.upload.sha256)


@dataclass(frozen=True, slots=True)
class Uploads:
    """Every upload of a tenant, below one folder. The first one makes it; ``prepare`` then makes the folder above."""

    folder: Path
    prepare: Callable[[], None]

    @contextmanager
    def draft(self, upload: Upload, body: BinaryIO) -> Iterator[_Draft]:
        """An upload on the disk that nobody sees yet; what was not committed is gone after the block.

        Raises:
            StoreUnavailable
        """
        draft = self.folder / f"{_DRAFT}{uuid.uuid4().hex}"
        try:
            self.prepare()
            with _disk():
                self.folder.mkdir(mode=0o700, exist_ok=True)
                draft.mkdir(mode=0o700)
                _tidy(self.folder)
                digest = _write(draft / "body", body)
            yield _Draft(replace(upload, sha256=digest), draft, self.folder / upload.id)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def scan(self) -> Iterator[tuple[Upload, str]]:
        """Every upload with the path of its bytes, by id."""
        for folder in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            upload = _said(folder) if _ID.fullmatch(folder.name) else None
            if upload is not None:
                yield upload, str(folder / upload.sha256)

    def path(self, uri: str) -> str | None:
        """Where the bytes of the upload with this URI lie."""
        identity = uri.removeprefix(UPLOADS).split("/", 1)[0]
        upload = _said(self.folder / identity) if _ID.fullmatch(identity) else None
        return str(self.folder / identity / upload.sha256) if upload is not None and upload.uri == uri else None

    def disown(self, user: str) -> None:
        """Forget that a user is the owner of what they uploaded."""
        for upload, path in self.scan():
            if upload.owner == user:
                with _CHANGING, _disk():
                    _say(Path(path).parent, replace(upload, owner=None))

    def forget(self, uri: str) -> bool:
        """Remove the upload with this URI, or a member of one; False where there is none."""
        outer = uri.split(STEP, 1)[0]
        identity = outer.removeprefix(UPLOADS).split("/", 1)[0]
        if not _ID.fullmatch(identity):
            return False
        folder, gone = self.folder / identity, self.folder / f"{_GONE}{identity}"
        with _CHANGING, _disk():
            upload = _said(folder)
            if upload is not None and outer != uri:
                _say(folder, replace(upload, without=tuple(sorted({*upload.without, uri}))))
                return True
            if gone.exists():
                shutil.rmtree(gone)
            if folder.exists() and (upload is None or upload.uri == outer):  # or what a killed writer left of it
                folder.rename(gone)
                shutil.rmtree(gone)
        return upload is not None and upload.uri == outer


@dataclass(slots=True)
class UploadSource:
    """Uploads as a source. Who may read one is what its uploader said; settings' rules by name do not reach it.

    Whoever uploads chooses the name: a rule that gave roles by name would let them choose its readers too.
    """

    uploads: Uploads
    unpacking: Callable[[], AbstractContextManager[Unpacker]] | None = None
    max_bytes: int = Taking().max_bytes
    _nobody: Nobody = field(default_factory=Nobody)

    @property
    def root(self) -> str:
        """``upload://``."""
        return UPLOADS

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last scan found worth saying."""
        return tuple(self._nobody.notes())

    def scan(self) -> Iterator[Scanned]:
        """Every upload, and the members of those that are containers, by id."""
        self._nobody.clear()
        with self.unpacking() if self.unpacking is not None else nullcontext() as unpacker:
            for upload, path in self.uploads.scan():
                yield from self._items(upload, path, unpacker)

    def acl_of(self, uri: str, name: str) -> Acl | None:
        """Who may read an upload, as its uploader said."""
        del name
        outer = uri.split(STEP, 1)[0]
        return next((Acl(frozenset(one.allow)) for one, _ in self.uploads.scan() if one.uri == outer), None)

    def _items(self, upload: Upload, path: str, unpacker: Unpacker | None) -> Iterator[Scanned]:
        try:
            with open(path, "rb") as file:
                head = file.read(HEAD_BYTES)
        except OSError:
            yield upload.uri, upload.name, ParseError("its bytes are gone", hint="upload it again")
            return
        taking = Taking(default_roles=frozenset(upload.allow), max_bytes=self.max_bytes)
        file_ = File(upload.uri, upload.name, path, upload.sha256, head, upload.at)
        for item in taking.sources(file_, unpacker, self._nobody, is_records=False):
            if not isinstance(item, Source):
                if item[0] not in upload.without:
                    yield item
            elif item.uri not in upload.without:
                yield _named(item, upload)


def _named(item: Source, upload: Upload) -> Source:
    """With what its uploader said of the whole; a member of a container has a title of its own."""
    said = dict(item.metadata)
    if upload.title and item.uri == upload.uri:
        said["title"] = upload.title
    return replace(item, language=upload.language or item.language, metadata=said)


def _write(path: Path, body: BinaryIO) -> str:
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while piece := body.read(_PIECE):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(descriptor)
    return digest.hexdigest()


def _say(folder: Path, upload: Upload) -> None:
    told = asdict(upload) | {"at": upload.at.isoformat()}
    beside = folder / f"{_ABOUT}.new"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(told, file)
        file.flush()
        os.fsync(descriptor)
    beside.replace(folder / _ABOUT)


def _said(folder: Path) -> Upload | None:
    """What is said of an upload; None for none, and for what a killed writer left."""
    try:
        told = json.loads((folder / _ABOUT).read_bytes())
        lists = {key: tuple(map(str, told[key])) for key in ("allow", "without")}
        return Upload(**(told | lists | {"at": datetime.fromisoformat(told["at"])}))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _tidy(folder: Path) -> None:
    """Remove drafts of processes that died."""
    for path in folder.glob(f"{_DRAFT}*"):
        with suppress(FileNotFoundError):  # one that counts by now
            if time.time() - path.stat().st_mtime > _OLD_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def _sweep(folder: Path, kept: str) -> None:
    for path in folder.iterdir():
        if path.name not in (kept, _ABOUT):
            path.unlink(missing_ok=True)


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"uploads cannot be written: {error.strerror or type(error).__name__}"
        raise StoreUnavailable(message, hint="check the home and its free space") from error
