"""Files on this machine: a folder, a single file, or a glob."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from fonte.errors import InputError, SourceUnreadable
from fonte.protocols import Scanned, SourceReader, Unpacker
from fonte.sources.files import DEFAULT_MAX_BYTES, file_uri, hash_file, shown_name, unreadable
from fonte.sources.members import STEP, acl_by_name
from fonte.sources.record_files import RECORD_SUFFIXES
from fonte.sources.rules import SourceRule, matches_any
from fonte.sources.taking import File, Nobody, Taking, is_sidecar
from fonte.text.frontmatter import HEAD_BYTES, SIDECAR_ENDING, own_text
from fonte.types import PUBLIC_ROLE, Acl

_GLOB = frozenset("*?[")
_LINKS_TOLD = 3
_HOME_MARKS = ("system.sqlite", "tenants")


class FolderSource:
    """Every file below a folder, or one file, in a stable order.

    Hidden files and folders, and fonte's own homes, are left out. Links to folders and links that leave the root are
    refused: each is yielded with its error. ``notes`` says after a scan what an administrator should know.

    Args:
        path: a folder or a file.
        include: globs; when given, a file must match one.
        exclude: globs of what is left out.
        rules: what is said of sources by glob, later rules winning.
        default_roles: who may read where no rule names roles.
        records: take JSON and JSONL files as files of records.
        max_bytes: the largest file, or record, that is taken.
        match: a glob that a file must match as well (a source given as a glob).
        root: the URI that stands for this source, when it is not the path's own.
        unpacking: what opens containers (archives, mails) while a scan runs; without it they are files like others.

    """

    def __init__(  # noqa: PLR0913 - each is one option of a sync
        self,
        path: str | Path,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        rules: Sequence[SourceRule] = (),
        default_roles: frozenset[str] = frozenset({PUBLIC_ROLE}),
        records: bool = False,
        max_bytes: int = DEFAULT_MAX_BYTES,
        match: str | None = None,
        root: str | None = None,
        unpacking: Callable[[], AbstractContextManager[Unpacker]] | None = None,
    ) -> None:
        self._path = os.path.realpath(path)
        self._given = str(path)
        self._taking = Taking(tuple(include), tuple(exclude), tuple(rules), frozenset(default_roles), max_bytes)
        self._records = records
        self._root = root or file_uri(self._path, folder=os.path.isdir(self._path))
        self._match = match
        self._unpacking = unpacking
        self._unpacker: Unpacker | None = None
        self._nobody = Nobody()
        self._alone: list[str] = []
        self._links: list[str] = []
        self._seen = 0

    @property
    def root(self) -> str:
        """URI below which every document of this source lies."""
        return self._root

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last scan found worth saying: no file at all, rules that leave documents readable by nobody."""
        return (
            *self._nobody.notes(),
            *(f"{name} stands beside no document" for name in self._alone),
            *self._linked(),
            *([] if self._seen else [f"{shown_name(self._given)} holds no file to read{self._why_none()}"]),
        )

    def _linked(self) -> list[str]:
        if not self._links:
            return []
        told, more = ", ".join(self._links[:_LINKS_TOLD]), len(self._links) - _LINKS_TOLD
        shown = f"{told} and {more} more" if more > 0 else told
        return [f"links are not followed, what they lead to is read under its own name: {shown}"]

    def _why_none(self) -> str:
        wanted = [f"that matches {self._match}"] if self._match else []
        wanted += [f"that --include admits ({', '.join(self._taking.include)})"] if self._taking.include else []
        wanted += [f"that --exclude leaves ({', '.join(self._taking.exclude)})"] if self._taking.exclude else []
        return f" {' and '.join(wanted)}" if wanted else ""

    def scan(self) -> Iterator[Scanned]:
        """Every source, in the order of its path's bytes; (uri, name, error) for one that could not be read.

        Raises:
            SourceUnreadable: the root itself is missing or may not be read.
        """
        self._nobody.clear()
        self._alone.clear()
        self._links.clear()
        self._seen = 0
        with self._unpacking() if self._unpacking is not None else nullcontext() as unpacker:
            self._unpacker = unpacker
            for item in self._scanned():
                self._seen += 1
                yield item

    def acl_of(self, uri: str, name: str) -> Acl | None:
        """Who may read a document that an earlier scan gave, by the rules of now; None where its name is ambiguous."""
        if "#" in uri:  # a record, called by its id and not by its file's name
            name = self._name_of(uri.split("#", 1)[0])
        if STEP not in uri:
            return self._taking.ruling(name).acl
        told = uri.count(STEP) == name.count(STEP)  # else a folder's own name ends like a container's
        return acl_by_name(name, self._taking.rules, self._taking.default_roles) if told else None

    def _name_of(self, uri: str) -> str:
        """What a file below this source is called, by its URI."""
        path = os.fsdecode(unquote_to_bytes(uri.removeprefix("file://")))
        return shown_name(os.path.basename(path) if path == self._path else os.path.relpath(path, self._path))

    def _scanned(self) -> Iterator[Scanned]:
        try:
            mode = os.stat(self._path).st_mode
            if stat.S_ISDIR(mode):
                os.scandir(self._path).close()
        except OSError as error:
            raise _missing(self._given, error) from error
        if stat.S_ISDIR(mode):
            yield from self._folder()
        else:
            yield from self._file(self._path, shown_name(os.path.basename(self._path)))

    def _folder(self) -> Iterator[Scanned]:
        pending = [self._path]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                yield self._failure(folder, unreadable(folder, error))
                continue
            if folder != self._path and _is_home(entries):
                continue
            folders = []
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if not matches_any(shown_name(os.path.relpath(entry.path, self._path)), self._taking.exclude):
                        folders.append(entry.path)
                else:
                    yield from self._entry(entry)
            pending.extend(reversed(folders))

    def _entry(self, entry: os.DirEntry[str]) -> Iterator[Scanned]:
        name = shown_name(os.path.relpath(entry.path, self._path))
        if is_sidecar(name):
            self._lonely(entry.path, name)
            return
        if not self._wanted(name):
            return
        if entry.is_symlink():
            refusal = self._refused_link(entry.path)
            if refusal is not None:
                yield self._failure(entry.path, SourceUnreadable(f"{name} is {refusal}"))
            else:
                # Its rights would have to be those of everything on the way to what it leads to.
                self._links.append(name)
            return
        yield from self._file(entry.path, name)

    def _lonely(self, sidecar: str, name: str) -> None:
        if not os.path.lexists(sidecar[: -len(SIDECAR_ENDING)]):
            self._alone.append(name)

    def _wanted(self, name: str) -> bool:
        if self._match is not None and not matches_any(name, (self._match,)):
            return False
        return self._taking.wanted(name)

    def _refused_link(self, path: str) -> str | None:
        target = os.path.realpath(path)
        if not os.path.exists(target):
            return "a link to nothing, or to itself"
        if os.path.commonpath((self._path, target)) != self._path:
            return "a link that leaves the folder"
        if os.path.isdir(target):
            return "a link to a folder, which is not followed"
        return None

    def _file(self, path: str, name: str) -> Iterator[Scanned]:
        uri = file_uri(path)
        try:
            limit = self._taking.max_bytes
            is_records = self._records and (Path(name).suffix.lower() in RECORD_SUFFIXES or path == self._path)
            if is_records:
                limit = max(limit, os.stat(path).st_size + 1)
            looked = hash_file(path, max_bytes=limit)
            beside = _beside(path)
        except OSError as error:
            yield uri, name, unreadable(path, error)
            return
        except InputError as error:
            yield uri, name, error
            return
        file = File(uri, name, path, looked.content_hash, looked.head, looked.modified_at, beside)
        yield from self._taking.sources(file, self._unpacker, self._nobody, is_records=is_records)

    def _failure(self, path: str, error: Exception) -> tuple[str, str, Exception]:
        return file_uri(path), shown_name(os.path.relpath(path, self._path)), error


def open_source(
    spec: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    rules: Sequence[SourceRule] = (),
    default_roles: frozenset[str] = frozenset({PUBLIC_ROLE}),
    records: bool = False,
    max_bytes: int = DEFAULT_MAX_BYTES,
    unpacking: Callable[[], AbstractContextManager[Unpacker]] | None = None,
) -> SourceReader:
    """The reader of a folder, a file, a ``file://`` URI, or a glob such as ``docs/**/*.md``.

    Raises:
        SourceUnreadable: nothing is there.
        InputError: a scheme that is not read yet.
    """
    path, root, pattern = _local_path(spec), None, None
    if not os.path.lexists(path) and _GLOB.intersection(path):
        path, pattern = _split_glob(path)
        root = f"{file_uri(os.path.realpath(path), folder=True)}?match={quote(os.fsencode(pattern))}"
    if not os.path.exists(path):
        raise _missing(spec, FileNotFoundError(2, "No such file or directory"))
    return FolderSource(
        path,
        include=include,
        exclude=exclude,
        rules=rules,
        default_roles=default_roles,
        records=records,
        max_bytes=max_bytes,
        match=pattern,
        root=root,
        unpacking=unpacking,
    )


def local_place(spec: str) -> str:
    """The file or folder that a source of this machine is; for a glob the folder that it begins in."""
    path = _local_path(spec)
    return _split_glob(path)[0] if not os.path.lexists(path) and _GLOB.intersection(path) else path


def _beside(path: str) -> str | None:
    """The text of a file's sidecar; None for none. Raises SourceUnreadable, SourceTooLarge."""
    beside = path + SIDECAR_ENDING
    if os.path.islink(beside):  # what it says wrong is told: it must not tell of files elsewhere
        raise SourceUnreadable(f"{shown_name(os.path.basename(beside))} is a link, which is not followed")
    return own_text(beside, hash_file(beside, max_bytes=HEAD_BYTES).head) if os.path.lexists(beside) else None


def _local_path(spec: str) -> str:
    scheme, separator, rest = spec.partition("://")
    if not separator:
        return os.path.expanduser(spec)
    if scheme.lower() != "file":
        raise InputError(f"{scheme}:// sources are not read yet", hint="give a folder, a file or a glob")
    return os.fsdecode(unquote_to_bytes(rest.removeprefix("localhost")))


def _split_glob(path: str) -> tuple[str, str]:
    """(folder without wildcards, glob below it)."""
    parts = path.split("/")
    at = next(index for index, part in enumerate(parts) if _GLOB.intersection(part))
    folder = "/".join(parts[:at]) or ("/" if path.startswith("/") else ".")
    pattern = "/".join(parts[at:])
    return folder, pattern if "/" in pattern else f"/{pattern}"


def _is_home(entries: list[os.DirEntry[str]]) -> bool:
    names = {entry.name for entry in entries}
    return all(mark in names for mark in _HOME_MARKS)


def _missing(given: str, error: OSError) -> SourceUnreadable:
    return SourceUnreadable(
        f"{shown_name(given)} cannot be read: {error.strerror or error}", hint="check the path and its permissions"
    )
