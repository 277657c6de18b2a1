"""Styles and numbering of a Word file: heading levels and list labels as Word would print them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fonte.parsers.docx.names import VAL, w

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEADING = re.compile(
    r"(?:heading|titolo|überschrift|berschrift|titre|título|ttulo|overskrift|rubrik|kop|nagwek)\s*([1-9])",
    re.IGNORECASE,
)
_TITLE = frozenset({"title"})
_CAPTION = frozenset({"caption"})
_CODE = frozenset({"html preformatted", "code", "source code", "code block", "preformatted text", "macro"})
_MAX_CHAIN = 20
_BODY_LEVEL = 9
_MAX_LEVEL = 9
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


def number(text: str | None, default: int) -> int:
    """An attribute as an integer, ``default`` where it is none."""
    try:
        return int(text) if text is not None else default
    except ValueError:
        return default


def child_value(element: _Element | None, *path: str) -> str | None:
    """``w:val`` of a descendant by its path of names."""
    for name in path:
        element = element.find(w(name)) if element is not None else None
    return element.get(VAL) if element is not None else None


@dataclass(slots=True)
class _Style:
    name: str
    based_on: str | None
    outline: str | None
    num_id: str | None
    level: str | None


class Styles:
    """Paragraph styles by id."""

    def __init__(self, root: _Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        for style in root.iter(w("style")) if root is not None else ():
            properties = style.find(w("pPr"))
            self._styles[style.get(w("styleId"), "")] = _Style(
                (child_value(style, "name") or "").lower(),
                child_value(style, "basedOn"),
                child_value(properties, "outlineLvl"),
                child_value(properties, "numPr", "numId"),
                child_value(properties, "numPr", "ilvl"),
            )

    def _chain(self, style_id: str | None) -> list[tuple[str, _Style]]:
        chain: list[tuple[str, _Style]] = []
        while style_id is not None and style_id in self._styles and len(chain) < _MAX_CHAIN:
            chain.append((style_id, self._styles[style_id]))
            style_id = self._styles[style_id].based_on
        return chain

    def heading_level(self, properties: _Element | None) -> int:
        """Level from 1 of a paragraph with these properties, 0 when it is no heading."""
        own = child_value(properties, "outlineLvl")
        if own is not None:
            level = number(own, _BODY_LEVEL)
            return level + 1 if 0 <= level < _BODY_LEVEL else 0
        style_id = child_value(properties, "pStyle")
        chain = self._chain(style_id)
        if not chain and style_id is not None:
            named = _HEADING.fullmatch(style_id)
            return int(named[1]) if named else int(style_id.lower() in _TITLE)
        for identity, style in chain:
            if style.outline is not None:
                level = number(style.outline, _BODY_LEVEL)
                return level + 1 if 0 <= level < _BODY_LEVEL else 0
            named = _HEADING.fullmatch(style.name) or _HEADING.fullmatch(identity)
            if named:
                return int(named[1])
            if style.name in _TITLE:
                return 1
        return 0

    def is_caption(self, properties: _Element | None) -> bool:
        """Whether the paragraph is the caption of a table or figure."""
        return any(style.name in _CAPTION for _, style in self._chain(child_value(properties, "pStyle")))

    def is_code(self, properties: _Element | None) -> bool:
        """Whether the paragraph is set as program text."""
        return any(style.name in _CODE for _, style in self._chain(child_value(properties, "pStyle")))

    def numbering(self, properties: _Element | None) -> tuple[str, int] | None:
        """(list id, level from 0) of the paragraph, its own or its style's; None outside lists."""
        num_id = child_value(properties, "numPr", "numId")
        level = child_value(properties, "numPr", "ilvl")
        for _, style in self._chain(child_value(properties, "pStyle")):
            num_id = style.num_id if num_id is None else num_id
            level = style.level if level is None else level
        if num_id is None or num_id == "0":
            return None
        return num_id, min(max(number(level, 0), 0), _MAX_LEVEL - 1)


@dataclass(slots=True)
class _Level:
    form: str = "decimal"
    text: str = "%1."
    start: int = 1


@dataclass(slots=True)
class _List:
    abstract: str
    overrides: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Lists of a document; counts as it is asked in document order."""

    def __init__(self, root: _Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, _List] = {}
        self._counters: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._started: set[str] = set()
        for abstract in root.iter(w("abstractNum")) if root is not None else ():
            self._levels[abstract.get(w("abstractNumId"), "")] = _levels_of(abstract)
        for listed in root.iter(w("num")) if root is not None else ():
            found = _List(child_value(listed, "abstractNumId") or "")
            for override in listed.iter(w("lvlOverride")):
                start = child_value(override, "startOverride")
                if start is not None:
                    found.overrides[number(override.get(w("ilvl")), 0)] = number(start, 1)
            self._lists[listed.get(w("numId"), "")] = found

    def label(self, num_id: str, level: int) -> str:
        """The next label of a list at a level: ``-`` for bullets, ``2.1.`` or ``b)`` as the list is drawn, or "".

        Word counts per abstract list; a list's first use restarts the levels that it overrides.
        """
        listed = self._lists.get(num_id)
        levels = self._levels.get(listed.abstract, {}) if listed is not None else {}
        if listed is None or not levels:
            return "-"
        counters = self._counters[listed.abstract]
        if num_id not in self._started:
            self._started.add(num_id)
            for overridden, start in listed.overrides.items():
                counters[overridden] = start - 1
        shape = levels.get(level, _Level("bullet"))
        counters[level] = counters.get(level, shape.start - 1) + 1
        for deeper in [key for key in counters if key > level]:
            del counters[deeper]
        if shape.form == "bullet":
            return "-"
        if shape.form == "none":
            return ""
        return _filled(shape.text, levels, counters)


def _levels_of(abstract: _Element) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for level in abstract.iter(w("lvl")):
        text = child_value(level, "lvlText")
        levels[number(level.get(w("ilvl")), 0)] = _Level(
            child_value(level, "numFmt") or "decimal",
            "" if text is None else text,
            number(child_value(level, "start"), 1),
        )
    return levels


def _filled(pattern: str, levels: Mapping[int, _Level], counters: Mapping[int, int]) -> str:
    def value(match: re.Match[str]) -> str:
        level = int(match[1]) - 1
        shape = levels.get(level, _Level())
        return _written(counters.get(level, shape.start), shape.form)

    return re.sub(r"%([1-9])", value, pattern).strip()


def _written(value: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter") and value > 0:
        letters = chr(97 + (value - 1) % 26) * ((value - 1) // 26 + 1)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < value < 4000:  # noqa: PLR2004 - Roman numerals end there
        digits = ""
        for weight, letter in _ROMAN:
            count, value = divmod(value, weight)
            digits += letter * count
        return digits if form == "lowerRoman" else digits.upper()
    if form == "decimalZero":
        return f"{value:02d}"
    return str(value)
