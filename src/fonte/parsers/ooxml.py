"""The zip package under DOCX, XLSX, PPTX and EPUB, read with limits: no bombs, no entities, no external parts."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.containers.looks import OLE

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.types import Source

MAX_ENTRIES = 20_000
MAX_PART = 300 * 2**20
"""Bytes of one part once unpacked."""
MAX_TOTAL = 2**30
"""Bytes of all parts once unpacked."""
MAX_RATIO = 300
"""Times that a part may grow in unpacking, once it is larger than ``RATIO_FROM``: real XML stays under 100."""
RATIO_FROM = 32 * 2**20

_STRICT = b"http://purl.oclc.org/ooxml/"
_TRANSITIONAL = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    b"http://purl.oclc.org/ooxml/spreadsheetml/main": b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    b"http://purl.oclc.org/ooxml/drawingml/main": b"http://schemas.openxmlformats.org/drawingml/2006/main",
    b"http://purl.oclc.org/ooxml/drawingml/chart": b"http://schemas.openxmlformats.org/drawingml/2006/chart",
    b"http://purl.oclc.org/ooxml/drawingml/diagram": b"http://schemas.openxmlformats.org/drawingml/2006/diagram",
    b"http://purl.oclc.org/ooxml/presentationml/main": b"http://schemas.openxmlformats.org/presentationml/2006/main",
    b"http://purl.oclc.org/ooxml/officeDocument/math": b"http://schemas.openxmlformats.org/officeDocument/2006/math",
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": (
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    ),
}
RELATIONSHIPS = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_DATES = ("created", "modified")


class Package:
    """Parts of an Office Open XML file by name. Strict namespaces come out as the transitional ones."""

    def __init__(self, archive: zipfile.ZipFile, source: Source) -> None:
        self._archive = archive
        self._source = source
        self._names = {info.filename.lstrip("/").lower(): info for info in archive.infolist()}

    def error(self, message: str) -> ParseError:
        """A ParseError about this file."""
        return ParseError(f"{self._source.name}: {message}", uri=self._source.uri)

    def names(self, *, original: bool = False) -> list[str]:
        """Names of all parts, in lower case or as they are written."""
        return sorted(info.filename.lstrip("/") for info in self._names.values()) if original else sorted(self._names)

    def has(self, name: str) -> bool:
        """Whether the part exists."""
        return name.lower() in self._names

    def read(self, name: str) -> bytes:
        """A part's bytes.

        Raises:
            ParseError: missing, damaged, encrypted or larger than the limit.
        """
        info = self._names.get(name.lower())
        if info is None:
            raise self.error(f"the part {name} is missing")
        try:
            with self._archive.open(info) as stream:
                data = stream.read(MAX_PART + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
            raise self.error(f"the part {name} is damaged: {error}") from error
        if len(data) > MAX_PART:
            raise self.error(f"the part {name} unpacks to more than {MAX_PART} bytes")
        return data

    def stream(self, name: str) -> IO[bytes]:
        """A part as a binary stream, namespaces made transitional."""
        return io.BytesIO(_transitional(self.read(name)))

    @property
    def name(self) -> str:
        """What the file is called."""
        return self._source.name

    @property
    def uri(self) -> str:
        """Where the file is."""
        return self._source.uri

    def xml(self, name: str, *, doctype: bool = False) -> _Element:
        """A part's root element, without remarks. Entities are never expanded, and are left out.

        Raises:
            ParseError: not well-formed, or with a document type, unless ``doctype`` admits one.
        """
        from lxml import etree

        data = _transitional(self.read(name))
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise self.error(f"the part {name} is not well-formed: {error}") from error
        if not doctype and root.getroottree().docinfo.internalDTD is not None:
            raise self.error(f"the part {name} declares a document type, which Office files never do")
        etree.strip_tags(root, etree.Entity)  # walks over elements meet nothing but elements
        return root

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Id -> (last word of the type, target part) of a part's internal relations; "" for the package's own."""
        folder, base = posixpath.split(name)
        part = posixpath.join(folder, "_rels", f"{base}.rels")
        if not self.has(part):
            return {}
        found: dict[str, tuple[str, str]] = {}
        for relation in self.xml(part).iter(RELATIONSHIPS):
            if relation.get("TargetMode") == "External":
                continue
            target = relation.get("Target", "")
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found[relation.get("Id", "")] = (relation.get("Type", "").rsplit("/", 1)[-1], path)
        return found

    def main_part(self, fallback: str) -> str:
        """The part that the package names as its document."""
        for kind, target in self.relations("").values():
            if kind == "officeDocument" and self.has(target):
                return target
        return fallback

    def title(self) -> str | None:
        """The title among the core properties."""
        if not self.has("docProps/core.xml"):
            return None
        found = self.xml("docProps/core.xml").find(_TITLE)
        return (found.text or "").strip() or None if found is not None else None

    def dates(self) -> dict[str, str]:
        """When it was ``created`` and ``modified``, as the core properties write it."""
        core = self.xml("docProps/core.xml") if self.has("docProps/core.xml") else ()
        found = {name: (one.text or "").strip() for one in core if (name := local(one.tag)) in _DATES}
        return {name: text for name, text in found.items() if text}


def local(tag: object) -> str:
    """A tag's name without its namespace; empty for comments and the like."""
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def _transitional(data: bytes) -> bytes:
    if _STRICT in data:
        for strict, usual in _TRANSITIONAL.items():
            data = data.replace(strict, usual)
    return data


def _check(archive: zipfile.ZipFile, source: Source) -> None:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise ParseError(f"{source.name} holds {len(entries)} parts; the limit is {MAX_ENTRIES}", uri=source.uri)
    if sum(entry.file_size for entry in entries) > MAX_TOTAL:
        raise ParseError(f"{source.name} unpacks to more than {MAX_TOTAL} bytes", uri=source.uri)
    for entry in entries:
        if entry.file_size > RATIO_FROM and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            message = f"{source.name}: {entry.filename} grows {entry.file_size // max(entry.compress_size, 1)} times"
            raise ParseError(message, hint="This is how a zip bomb looks.", uri=source.uri)


@contextmanager
def opened(source: Source) -> Iterator[Package]:
    """The package, checked against the limits before any part is read.

    Raises:
        EncryptedSource: an Office file under a password. ParseError: no zip, damaged, or past a limit.
    """
    stream: IO[bytes]
    try:
        stream = io.BytesIO(source.body) if source.body is not None else open(source.path or "", "rb")  # noqa: SIM115, PTH123 - closed below
    except OSError as error:
        raise ParseError(f"{source.name} cannot be read: {error}", uri=source.uri) from error
    with stream:
        head = stream.read(len(OLE))
        if head == OLE:
            rest = stream.read(RATIO_FROM)
            message = f"{source.name} needs a password"
            if "EncryptedPackage".encode("utf-16-le") in rest:
                raise EncryptedSource(message, hint="Save a copy without a password.", uri=source.uri)
            raise ParseError(f"{source.name} is an Office 97-2003 file under a newer name", uri=source.uri)
        stream.seek(0)
        try:
            archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            what = "is empty" if not head else f"is no readable Office file: {error}"
            raise ParseError(f"{source.name} {what}", uri=source.uri) from error
        with archive:
            _check(archive, source)
            yield Package(archive, source)
