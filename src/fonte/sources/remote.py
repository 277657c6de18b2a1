"""Files in other stores (object storage, SFTP, memory …), by fsspec: listed, and fetched where they changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote, unquote

from fonte.errors import ConfigError, InputError, SourceUnreadable
from fonte.protocols import Scanned, Unpacker
from fonte.sources.fetched import Fetched, Kept
from fonte.sources.files import too_large
from fonte.sources.members import STEP, acl_by_name
from fonte.sources.record_files import RECORD_SUFFIXES
from fonte.sources.rules import matches_any
from fonte.sources.taking import File, Nobody, Taking, is_sidecar
from fonte.text.frontmatter import SIDECAR_ENDING, own_text
from fonte.types import Acl

_SAFE = "/~"
_GLOB = re.compile(r"[*?\[]")
_VERSIONS = (
    "ETag", "etag", "md5Hash", "md5", "checksum", "sha", "content_md5", "crc32c", "version_id", "generation", "mtime",
    "LastModified", "last_modified", "updated", "modified", "created",
)  # fmt: skip
"""What stores tell of a version, in their own words."""
_MOMENTS = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")


class _Store(Protocol):
    """What we ask of a file system of fsspec."""

    def find(self, path: str, *, detail: bool) -> Mapping[str, Mapping[str, Any]]: ...

    def exists(self, path: str) -> bool: ...

    def invalidate_cache(self) -> None: ...

    def info(self, path: str) -> Mapping[str, Any]: ...

    def open(self, path: str, mode: str) -> AbstractContextManager[Any]: ...


@dataclass(slots=True)
class RemoteSource:
    """Every file below an address, or one file, or what a glob matches, in the order of their paths.

    What did not change since it was fetched, by its store's word, is not fetched again. A store that cannot be reached
    or listed ends the scan: nothing is taken for gone. Files whose names begin with a dot are left out.
    """

    spec: str
    fetched: Fetched
    taking: Taking
    records: bool = False
    unpacking: Callable[[], AbstractContextManager[Unpacker]] | None = None
    _nobody: Nobody = field(default_factory=Nobody)
    _seen: int = 0

    @property
    def root(self) -> str:
        """The address, as it was given."""
        return self.spec

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last scan found worth saying."""
        return (*self._nobody.notes(), *([] if self._seen else [f"{self.spec} holds no file to read"]))

    def scan(self) -> Iterator[Scanned]:
        """Every source; (uri, name, error) for one that could not be read.

        Raises:
            SourceUnreadable: the store cannot be reached, or nothing is there. ConfigError: it needs a package.
        """
        self._nobody.clear()
        self._seen = 0
        place = _opened(self.spec)
        listed = _listed(place)
        kept: set[str] = set()
        with self.unpacking() if self.unpacking is not None else nullcontext() as unpacker:
            for path in sorted(listed):
                name = place.name(path)
                hidden = any(part.startswith(".") for part in name.split("/"))
                if is_sidecar(name) or hidden or (place.glob and not matches_any(name, (place.glob,))):
                    continue
                if self.taking.wanted(name):
                    kept |= {path, path + SIDECAR_ENDING}
                    yield from self._items(place, listed, path, unpacker)
        self.fetched.keep_only(kept)

    def acl_of(self, uri: str, name: str) -> Acl | None:
        """Who may read a document of an earlier scan, by the rules of now."""
        if "#" in uri:  # a record, which is not called by its file's name
            outer = uri.split("#", 1)[0]
            name = unquote(outer.removeprefix(_parted(self.spec)[0]).lstrip("/")) or outer.rsplit("/", 1)[-1]
        elif uri.count(STEP) != name.count(STEP):  # a folder's own name ends like a container's
            return None
        return acl_by_name(name, self.taking.rules, self.taking.default_roles)

    def _items(
        self, place: _Place, listed: Mapping[str, Mapping[str, Any]], path: str, unpacker: Unpacker | None
    ) -> Iterator[Scanned]:
        name, uri, beside = place.name(path), place.uri(path), path + SIDECAR_ENDING
        self._seen += 1
        try:
            whole = self._fetched(place.store, path, listed[path])
            told = self._fetched(place.store, beside, listed[beside]).head() if beside in listed else None
        except InputError as error:
            yield uri, name, error
            return
        file = File(
            uri,
            name,
            whole.path,
            whole.content_hash,
            whole.head(),
            _moment(listed[path]),
            None if told is None else own_text(beside, told),
        )
        is_records = self.records and (name.lower().endswith(tuple(RECORD_SUFFIXES)) or path == place.path)
        yield from self.taking.sources(file, unpacker, self._nobody, is_records=is_records)

    def _fetched(self, store: _Store, path: str, info: Mapping[str, Any]) -> Kept:
        said = {key: str(info[key]) for key in ("size", *_VERSIONS) if info.get(key) is not None}
        kept = self.fetched.get(path)
        if kept is not None and kept.said == said and len(said) > 1:  # a size alone tells no version
            return kept
        size = info.get("size")
        if isinstance(size, int) and size > self.taking.max_bytes:
            raise too_large(path, self.taking.max_bytes)
        try:
            with store.open(path, "rb") as file:
                body = bytes(file.read(self.taking.max_bytes + 1))
        except (OSError, ValueError) as error:
            raise SourceUnreadable(f"{path} cannot be read: {error}", hint="sync again") from error
        if len(body) > self.taking.max_bytes:
            raise too_large(path, self.taking.max_bytes)
        return self.fetched.put(path, body, said)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a source lies: ``path`` in its store without wildcards, ``glob`` below it, ``plain`` its address."""

    store: _Store
    path: str
    plain: str
    glob: str

    def name(self, path: str) -> str:
        """What people call a file."""
        name = path.removeprefix(self.path).lstrip("/") or path.rsplit("/", 1)[-1]
        return "".join(sign if sign.isprintable() else "?" for sign in name)

    def uri(self, path: str) -> str:
        """The address of a file."""
        below = path.removeprefix(self.path).lstrip("/")
        return f"{self.plain.rstrip('/')}/{quote(below, safe=_SAFE)}" if below else self.plain


def _parted(spec: str) -> tuple[str, str]:
    """(address without wildcards, glob below it)."""
    found = _GLOB.search(spec)
    if found is None:
        return spec, ""
    cut = spec.rfind("/", 0, found.start()) + 1
    glob = spec[cut:]
    return spec[:cut], glob if "/" in glob else f"/{glob}"


def _opened(spec: str) -> _Place:
    """The store that an address names. Raises ConfigError, SourceUnreadable."""
    scheme = spec.split("://", 1)[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ConfigError(f"{scheme}:// needs fsspec", hint="pip install 'fonte[remote]'") from error
    plain, glob = _parted(spec)
    try:
        store, path = url_to_fs(plain)
    except ImportError as error:
        raise ConfigError(f"{scheme}:// needs a package: {error}", hint="install it beside fonte") from error
    except (ValueError, OSError) as error:
        raise SourceUnreadable(f"{spec} cannot be opened: {error}", hint="see fsspec's list of stores") from error
    return _Place(store, str(path).rstrip("/"), plain, glob)


def _listed(place: _Place) -> dict[str, Mapping[str, Any]]:
    """Every file there with what its store tells of it, sidecars among them. Raises SourceUnreadable."""
    store, path = place.store, place.path
    try:
        store.invalidate_cache()  # what it listed before is not what is there now
        found = store.info(path or "/")
        if found["type"] != "file":
            return {one: info for one, info in store.find(path, detail=True).items() if info["type"] == "file"}
        beside = path + SIDECAR_ENDING
        return {path: found, beside: store.info(beside)} if store.exists(beside) else {path: found}
    except (OSError, ValueError) as error:
        message = f"{place.plain} cannot be read: {str(error) or type(error).__name__}"
        raise SourceUnreadable(message, hint="check the address and your rights") from error


def _moment(info: Mapping[str, Any]) -> datetime | None:
    for key in _MOMENTS:
        value = info.get(key)
        if isinstance(value, datetime):
            return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
    return None
