"""What all OpenDocument files share: names of elements, passwords, metadata, numbers of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fonte.errors import EncryptedSource
from fonte.parsers.ooxml import local

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.parsers.ooxml import Package

_SPACE = "urn:oasis:names:tc:opendocument:xmlns"
TABLE = f"{{{_SPACE}:table:1.0}}"
TEXT = f"{{{_SPACE}:text:1.0}}"
OFFICE = f"{{{_SPACE}:office:1.0}}"
STYLE = f"{{{_SPACE}:style:1.0}}"
DRAW = f"{{{_SPACE}:drawing:1.0}}"
SHOW = f"{{{_SPACE}:presentation:1.0}}"
SVG = f"{{{_SPACE}:svg-compatible:1.0}}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_DATES = (
    f"{{{_SPACE}:meta:1.0}}creation-date",
    "{http://purl.org/dc/elements/1.1/}date",
)


def title_of(package: Package) -> str | None:
    """The title among the file's own metadata."""
    if not package.has("meta.xml"):
        return None
    title = next(package.xml("meta.xml").iter(_TITLE), None)
    return (title.text or "").strip() or None if title is not None else None


def dates_of(package: Package) -> dict[str, str]:
    """When it was ``created`` and ``modified``, as the file's own metadata write it."""
    if not package.has("meta.xml"):
        return {}
    said = {local(one.tag): (one.text or "").strip() for one in package.xml("meta.xml").iter(*_DATES)}
    return {name: said[tag] for tag, name in (("creation-date", "created"), ("date", "modified")) if said.get(tag)}


def check_open(package: Package) -> None:
    """Raises EncryptedSource for a file under a password."""
    if package.has("META-INF/manifest.xml") and b"encryption-data" in package.read("META-INF/manifest.xml"):
        hint = "Save a copy without a password."
        raise EncryptedSource(f"{package.name} needs a password", hint=hint, uri=package.uri)


def times(element: _Element, name: str, largest: int = 999_999_999) -> int:
    """An attribute that says how often or how far, 1 unless it is a sane number."""
    value = element.get(name, "1")
    sane = value.isascii() and value.isdigit() and len(value) < 10  # noqa: PLR2004 - digits of the largest sheet
    return min(max(int(value), 1), largest) if sane else 1
