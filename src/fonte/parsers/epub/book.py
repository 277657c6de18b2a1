"""What an EPUB's package document says: metadata, the order of chapters, the table of contents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.ooxml import local
from fonte.parsers.tables import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.ooxml import Package

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_MASKS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways in which fonts alone are masked: no protection of the text."""
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_SHOWN = ("creator", "contributor", "publisher", "date", "language", "identifier", "subject", "description")
_MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Chapter:
    """One document of the spine: the part that holds it, and what the table of contents calls it."""

    part: str
    label: str
    is_contents: bool


@dataclass(frozen=True, slots=True)
class Book:
    """A book's title, its metadata by Dublin Core name (several values each), and its chapters in order."""

    title: str
    metadata: Mapping[str, tuple[str, ...]]
    chapters: tuple[Chapter, ...]
    pictures: int
    """Spine documents that are no text."""
    missing: tuple[str, ...]
    """What the spine names and the package does not hold."""


@dataclass(frozen=True, slots=True)
class _Item:
    part: str
    kind: str
    properties: tuple[str, ...]


def read_book(package: Package) -> Book:
    """The package document and what belongs to it.

    Raises:
        EncryptedSource: chapters under digital rights management. ParseError: no package document, or a damaged one.
    """
    main = _package_document(package)
    root = package.xml(main, doctype=True)
    folder = posixpath.dirname(main)
    items = {
        item.get("id", ""): _Item(
            _target(folder, item.get("href", "")),
            item.get("media-type", ""),
            tuple(item.get("properties", "").split()),
        )
        for item in _all(root, "item")
    }
    named = [ref.get("idref", "") for ref in _all(root, "itemref")]
    spine = [items[key] for key in named if key in items]
    if not spine:
        raise package.error("the book names no chapters")
    _refuse_protected(package, {item.part.lower() for item in spine})
    labels = _contents(package, items.values())
    chapters, pictures = [], 0
    missing = [f"the chapter {key}" for key in named if key not in items]
    for item in dict.fromkeys(spine):
        if not package.has(item.part):
            missing.append(item.part)
        elif item.kind.startswith(("image/", "application/pdf")):
            pictures += 1
        elif item.kind in _CHAPTERS or not item.kind or item.part.lower().endswith((".xhtml", ".html", ".htm")):
            chapters.append(Chapter(item.part, labels.get(item.part, ""), "nav" in item.properties))
        else:
            missing.append(f"{item.part} ({item.kind})")
    metadata = _metadata(root)
    title = next(iter(metadata.pop("title", ())), "")
    return Book(title, metadata, tuple(chapters), pictures, tuple(missing))


def _package_document(package: Package) -> str:
    if package.has(_CONTAINER):
        for rootfile in _all(package.xml(_CONTAINER, doctype=True), "rootfile"):
            path = _target("", rootfile.get("full-path", ""))
            if package.has(path):
                return path
    found = [name for name in package.names(original=True) if name.lower().endswith(".opf")]
    if not found:
        raise package.error("the book has no package document")
    return found[0]


def _refuse_protected(package: Package, chapters: set[str]) -> None:
    if not package.has(_ENCRYPTION):
        return
    for data in _all(package.xml(_ENCRYPTION, doctype=True), "EncryptedData"):
        method = next((one.get("Algorithm", "") for one in _all(data, "EncryptionMethod")), "")
        for reference in _all(data, "CipherReference"):
            if method not in _FONT_MASKS and _target("", reference.get("URI", "")).lower() in chapters:
                hint = "Only a copy without digital rights management can be read."
                raise EncryptedSource(f"{package.name} is protected", hint=hint, uri=package.uri)


def _contents(package: Package, items: Iterable[_Item]) -> dict[str, str]:
    """What the tables of contents (EPUB 3 and 2) call the beginning of each part."""
    labels: dict[str, str] = {}
    for item in items:
        is_nav, is_ncx = "nav" in item.properties, item.kind == "application/x-dtbncx+xml"
        if not (is_nav or is_ncx) or not package.has(item.part):
            continue
        try:
            root = package.xml(item.part, doctype=True)
        except ParseError:
            continue
        folder = posixpath.dirname(item.part)
        for entry, target in _nav_entries(root) if is_nav else _ncx_entries(root):
            part, _, inside = target.partition("#")
            if entry and (not inside or _target(folder, part) not in labels):
                labels.setdefault(_target(folder, part), entry)
    return labels


def _nav_entries(root: _Element) -> list[tuple[str, str]]:
    return [(one_line("".join(map(str, link.itertext()))), link.get("href", "")) for link in _all(root, "a")]


def _ncx_entries(root: _Element) -> list[tuple[str, str]]:
    entries = []
    for point in _all(root, "navPoint"):
        label = next((one.text or "" for holder in point for one in holder if local(one.tag) == "text"), "")
        target = next((one.get("src", "") for one in point if local(one.tag) == "content"), "")
        entries.append((one_line(label), target))
    return entries


def _metadata(root: _Element) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for holder in _all(root, "metadata")[:1]:
        for element in holder.iter():
            name = local(element.tag)
            if name not in ("title", *_SHOWN) or "purl.org/dc" not in str(element.tag):
                continue
            text = one_line("".join(map(str, element.itertext())))[:_MOST_TEXT]
            if text:
                found[name] = (*found.get(name, ()), text)
    return found


def _all(root: _Element, name: str) -> list[_Element]:
    """Elements by their name alone: books mix namespaces."""
    return [element for element in root.iter() if local(element.tag) == name]


def _target(folder: str, href: str) -> str:
    path = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join(folder, path)) if path else ""
