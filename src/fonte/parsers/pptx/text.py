"""Paragraphs of shapes, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fonte.parsers.formulas import formula
from fonte.parsers.pptx.names import ALTERNATE, CHOICE, FALLBACK, MATH, MATH_TEXT, a
from fonte.parsers.tables import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MAX_SPAN = 1000
_BULLETS = frozenset({a("buChar"), a("buAutoNum"), a("buBlip")})


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text of one paragraph; ``bullet`` is None where the shape does not say."""

    text: str
    bullet: bool | None


def paragraphs(body: _Element) -> list[Paragraph]:
    """The paragraphs of a text body that hold text."""
    found = []
    for element in body.iter(a("p")):
        text = _tidy("".join(_pieces(element)))
        if text:
            found.append(Paragraph(text, _bullet(element.find(a("pPr")))))
    return found


def _pieces(paragraph: _Element) -> Iterator[str]:
    for element in paragraph:
        tag = element.tag
        if tag == a("br"):
            yield "\n"
        elif tag == a("fld") and element.get("type", "") == "slidenum":
            continue
        elif tag in (a("r"), a("fld")):
            yield unescaped(element.findtext(a("t")) or "")
        elif tag == ALTERNATE:
            form = element.find(CHOICE)
            form = element.find(FALLBACK) if form is None else form
            if form is not None:
                yield _said(form)
        elif tag not in (a("pPr"), a("endParaRPr")):
            yield _said(element)


def _said(element: _Element) -> str:
    """The formulas below an element, else its text."""
    formulas = [formula(one) for one in element.iter(MATH)]
    return " ".join(formulas) or "".join(part.text or "" for part in element.iter(MATH_TEXT, a("t")))


def unescaped(text: str) -> str:
    r"""Characters that Office writes as ``_x000B_``; a vertical tab is a line end."""
    return _ESCAPE.sub(lambda match: _character(int(match[1], 16)), text)


def _character(code: int) -> str:
    if code in (0x0A, 0x0B, 0x0D):
        return "\n"
    return chr(code) if code >= 0x20 or code == 0x09 else ""  # noqa: PLR2004 - control characters


def _tidy(text: str) -> str:
    lines = text.replace("\u00ad", "").replace("\v", "\n").split("\n")
    return "\n".join(filter(None, (line.strip() for line in lines)))


def _bullet(properties: _Element | None) -> bool | None:
    if properties is None:
        return None
    if properties.find(a("buNone")) is not None:
        return False
    return True if any(child.tag in _BULLETS for child in properties) else None


def table_rows(table: _Element) -> tuple[list[list[str]], bool | None]:
    """(cells of each row, whether the table says that its first row names the columns).

    A cell over several rows is repeated in each, so that each row stands alone; a name over several columns names each.
    """
    properties = table.find(a("tblPr"))
    first = properties is not None and properties.get("firstRow") in ("1", "true")
    rows: list[list[str]] = []
    for row in table.findall(a("tr")):
        cells: list[str] = []
        for cell in row.findall(a("tc"))[:_MAX_SPAN]:
            above = rows[-1] if rows else []
            if cell.get("vMerge") in ("1", "true") and len(above) > len(cells):
                cells.append(above[len(cells)])
            elif cell.get("hMerge") in ("1", "true") and first and not rows and cells:
                cells.append(cells[-1])
            else:
                cells.append(one_line(" ".join(part.text for part in paragraphs(cell))))
        rows.append(cells)
    return rows, True if first and len(rows) > 1 else None
