"""What the styles of an OpenDocument file say: which paragraph is the title, how a list numbers its items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fonte.parsers.odf.names import SHOW, STYLE, TEXT

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_PARENTS = 20
_LETTERED = {"a": "abcdefghijklmnopqrstuvwxyz", "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


class Styles:
    """Styles of the content and of the file, by name."""

    def __init__(self, roots: Iterable[_Element]) -> None:
        self._parents: dict[str, str] = {}
        self._lists: dict[str, dict[int, tuple[str, str, str]]] = {}
        self._hidden: set[str] = set()
        for root in roots:
            for style in root.iter(f"{STYLE}style"):
                name = style.get(f"{STYLE}name", "")
                self._parents.setdefault(name, style.get(f"{STYLE}parent-style-name", ""))
                page = style.find(f"{STYLE}drawing-page-properties")
                if page is not None and page.get(f"{SHOW}visibility") == "hidden":
                    self._hidden.add(name)
            for listed in root.iter(f"{TEXT}list-style"):
                self._lists.setdefault(listed.get(f"{STYLE}name", ""), _levels(listed))

    def is_title(self, name: str) -> bool:
        """Whether a paragraph of this style is the document's title."""
        for _ in range(_MAX_PARENTS):
            if name == "Title" or not name:
                return bool(name)
            name = self._parents.get(name, "")
        return False

    def is_hidden(self, name: str) -> bool:
        """Whether a slide of this style is not shown."""
        return name in self._hidden

    def label(self, style: str, level: int, number: int) -> str:
        """What stands before a list item, with a space behind it."""
        form, before, after = self._lists.get(style, {}).get(level, ("", "", ""))
        if not form:
            return "- "
        letters = _LETTERED.get(form)
        shown = letters[number - 1] if letters is not None and 0 < number <= len(letters) else str(number)
        return f"{before}{shown}{after} "


def _levels(listed: _Element) -> dict[int, tuple[str, str, str]]:
    """Level → (form of the number, before it, after it) of the levels that are numbered."""
    found = {}
    for level in listed.iterchildren(f"{TEXT}list-level-style-number"):
        depth = level.get(f"{TEXT}level", "")
        if depth.isascii() and depth.isdigit() and len(depth) < 3:  # noqa: PLR2004 - there are ten levels
            form = level.get(f"{STYLE}num-format", "")
            found[int(depth)] = form, level.get(f"{STYLE}num-prefix", ""), level.get(f"{STYLE}num-suffix", "")
    return found
