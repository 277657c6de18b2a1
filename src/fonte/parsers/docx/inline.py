"""The text of one paragraph: runs, fields, revisions, content controls, text boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fonte.parsers.docx.names import ABSENT, ALTERNATE, CHART, CHOICE, FALLBACK, PASSED_THROUGH, RELATION, VAL, m, w
from fonte.parsers.formulas import formula
from fonte.parsers.hidden import say_hidden

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_DEPTH = 200
_SYMBOLS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0FC: "✓", 0xF0FE: "☑", 0xF0A8: "☐", 0xF06F: "☐", 0xF0E0: "→", 0xF0D8: "➢"}
_ONCE = frozenset({w("txbxContent"), FALLBACK})
"""Inside these a text box has been, or will be, read as part of another."""
_TEXT = w("t")
_CHARACTERS = {w("tab"): "\t", w("ptab"): "\t", w("br"): "\n", w("cr"): "\n", w("noBreakHyphen"): "-"}
_NOTES = {w("footnoteReference"): "footnote", w("endnoteReference"): "endnote"}
_PICTURES = frozenset({w("drawing"), w("pict"), w("object")})


@dataclass(slots=True)
class Inline:
    """What a paragraph holds."""

    pieces: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """(``footnote`` or ``endnote``, id) in order of reference."""
    boxes: list[_Element] = field(default_factory=list)
    """``txbxContent`` elements, each once."""
    charts: list[str] = field(default_factory=list)
    """Relations of the charts that are drawn here."""
    images: int = 0
    hidden: int = 0
    """Characters that are set as hidden; they are kept."""

    @property
    def size(self) -> tuple[int, int, int, int]:
        """How much has been found so far."""
        return len(self.pieces), len(self.boxes), len(self.charts), self.images

    @property
    def text(self) -> str:
        """The text with its white space tidied: no space at the ends of lines, none doubled by empty runs."""
        lines = "".join(self.pieces).replace("\u00ad", "").split("\n")
        return "\n".join(line.strip() for line in lines).strip()


class InlineReader:
    """Reads paragraphs in document order; remembers the fields that run over several of them."""

    def __init__(self) -> None:
        self._fields: list[bool] = []
        """For each open field, innermost last, whether its result has begun."""

    def read(self, paragraph: _Element) -> Inline:
        """Text, notes and boxes of a paragraph."""
        found = Inline()
        self._walk(paragraph, found, 0)
        return found

    def _walk(self, parent: _Element, found: Inline, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        for element in parent:
            tag = element.tag
            if tag in ABSENT:
                continue
            if tag == w("r"):
                self._run(element, found, depth + 1)
            elif tag == ALTERNATE:
                self._alternate(element, found, depth)
            elif tag in PASSED_THROUGH:
                self._walk(element, found, depth + 1)
            elif tag in (m("oMath"), m("oMathPara")):
                self._say(formula(element), found)

    def _alternate(self, element: _Element, found: Inline, depth: int) -> None:
        """One of several forms of the same content: the first choice, or the fallback where that has nothing."""
        for name in (CHOICE, FALLBACK):
            for form in element.findall(name):
                before = found.size
                self._run(form, found, depth + 1)
                if found.size != before:
                    return

    def _say(self, text: str, found: Inline, *, hidden: bool = False) -> None:
        if not text or not all(self._fields):
            return
        if hidden:
            say_hidden(text, found.pieces)
        else:
            found.pieces.append(text)

    def _run(self, run: _Element, found: Inline, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        properties = run.find(w("rPr"))
        vanish = properties.find(w("vanish")) if properties is not None else None
        hidden = vanish is not None and vanish.get(VAL) not in ("0", "false", "off")
        for element in run:
            tag = element.tag
            if tag == _TEXT:
                self._say(element.text or "", found, hidden=hidden)
                found.hidden += len(element.text or "") if hidden else 0
            elif tag in _CHARACTERS:
                self._say(_CHARACTERS[tag], found)
            elif tag == w("sym"):
                self._say(_symbol(element), found)
            elif tag == w("fldChar"):
                self._field(element.get(w("fldCharType")))
            elif tag in _NOTES:
                found.notes.append((_NOTES[tag], element.get(w("id"), "")))
            elif tag == ALTERNATE:
                self._alternate(element, found, depth)
            elif tag in _PICTURES:
                self._drawing(element, found)
            elif tag == w("r"):
                self._run(element, found, depth + 1)
            elif tag in PASSED_THROUGH:
                self._walk(element, found, depth + 1)

    def _field(self, kind: str | None) -> None:
        if kind == "begin":
            self._fields.append(False)
        elif kind == "separate" and self._fields:
            self._fields[-1] = True
        elif kind == "end" and self._fields:
            self._fields.pop()

    @staticmethod
    def _drawing(element: _Element, found: Inline) -> None:
        boxes = [
            box
            for box in element.iter(w("txbxContent"))
            if not any(outer.tag in _ONCE for outer in box.iterancestors() if _below(outer, element))
        ]
        charts = [chart.get(RELATION, "") for chart in element.iter(CHART)]
        found.charts += charts
        if boxes or charts:
            found.boxes += boxes
        else:
            found.images += 1


def _below(node: _Element, top: _Element) -> bool:
    return node is not top and any(outer is top for outer in node.iterancestors())


def _symbol(element: _Element) -> str:
    try:
        code = int(element.get(w("char"), ""), 16)
    except ValueError:
        return ""
    if code in _SYMBOLS:
        return _SYMBOLS[code]
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else ""  # noqa: PLR2004 - no surrogates
