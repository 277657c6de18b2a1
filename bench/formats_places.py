"""Whether a sentence's place in the original holds the sentence: read again there by other means than the parser's.

A PDF page's boxes by pdfium's own characters inside them, lines of text files by reading those lines, sheet ranges by
openpyxl or calamine, slides by the text of the slide's XML. Formats whose citation is characters alone (DOCX, mail,
JSON) are checked by slicing only, and said so.
"""

from __future__ import annotations

import functools
import random
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from formats_score import words

from fonte.parsers.encodings import decode
from fonte.text.locate import locate
from fonte.text.sentences import sentences
from fonte.types import BlockKind, Box, Document, Locator

SAMPLE = 200
_WORDS = 3
"""Shorter ones are labels, no sentences."""
ENOUGH = 0.9
"""Share of a sentence's words that its place must hold: a hyphen at a line end makes one word of two."""
_SLACK = 1.0
_ALEFS = frozenset("\u0622\u0623\u0625\u0627")
_XML_TEXT = re.compile(r"<(?:\w+:)?(?:t|v)(?:\s[^<>]*)?>([^<]*)<")
_RELATION = re.compile(r'Target="([^"]+)"')
_A1 = re.compile(r"([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?")


@dataclass(frozen=True, slots=True)
class Found:
    """One sentence: whether it slices, whether its place holds it (None: nothing to read there), and where it is."""

    path: Path
    text: str
    locator: Locator
    slices: bool
    held: float | None


def drawn(documents: Sequence[tuple[Path, Document]], seed: int) -> Iterator[tuple[Path, Document, int, int]]:
    """Random sentences of at least three words, from files in turn so that no long one speaks for all."""
    chance = random.Random(seed)  # noqa: S311 - a sample
    waiting = []
    for path, document in documents:
        ranges = [
            one
            for one in sentences(document.text, document.language)
            if len(words(document.text[slice(*one)])) >= _WORDS
        ]
        chance.shuffle(ranges)
        waiting.append((path, document, ranges))
    taken = 0
    while taken < SAMPLE and any(ranges for _, _, ranges in waiting):
        for path, document, ranges in waiting:
            if ranges and taken < SAMPLE:
                taken += 1
                yield path, document, *ranges.pop()


def check(path: Path, document: Document, start: int, end: int) -> Found:
    """A sentence's locator against the original."""
    locator = locate(document, start, end)
    text = document.text[locator.start : locator.end]
    slices = (locator.start, locator.end) == (start, end) and 0 <= start < end <= len(document.text)
    slices = slices and (locator.page is None or 1 <= locator.page <= (document.pages or 0))
    there = _there(path, locator)
    wanted = [word for word in words(text) if len(word) > 1]  # letters name columns that have no name
    if there is None or not wanted:
        return Found(path, text, locator, slices, None)
    known = {*words(there), *words(_names(document, start))}
    return Found(path, text, locator, slices, sum(word in known for word in wanted) / len(wanted))


def _names(document: Document, at: int) -> str:
    """The column names of the table that a row stands in: a row repeats them, its place does not hold them."""
    row = next((span for span in document.spans if span.start <= at < span.end and span.kind is BlockKind.ROW), None)
    if row is None or row.header:
        return ""
    heads = (span for span in document.spans if span.header and span.table == row.table)
    return " ".join(document.text[span.start : span.end] for span in heads)


def _there(path: Path, locator: Locator) -> str | None:
    if locator.boxes and path.suffix.lower() == ".pdf":
        return page_words(path, locator)
    if locator.range and locator.sheet is not None:
        return _cells(path, locator.sheet, locator.range)
    if locator.slide is not None:
        return _slide(path, locator.slide)
    if locator.lines is not None and path.suffix.lower() not in (".html", ".epub"):
        return "\n".join(_lines(path)[locator.lines[0] - 1 : locator.lines[1]]).replace("<", " < ")
    if locator.anchor and path.suffix.lower() == ".html":
        return _behind(path, locator.anchor)
    return None


@functools.cache
def _lines(path: Path) -> list[str]:
    decoded = decode(path.read_bytes())
    return (decoded.text if decoded is not None else "").splitlines()


def _behind(path: Path, anchor: str) -> str | None:
    """What stands behind an element of that name: a weak check, the place has no end."""
    text = "\n".join(_lines(path))
    found = re.search(rf"""\b(?:id|name)\s*=\s*["']?{re.escape(anchor)}["'\s>]""", text)
    return text[found.start() :] if found is not None else ""


@functools.cache
def _pages(path: Path) -> Any:  # pypdfium2 has no types
    import pypdfium2

    return pypdfium2.PdfDocument(path)


@functools.cache
def _characters(path: Path, page: int) -> tuple[tuple[str, Box], ...]:
    text = _pages(path)[page - 1].get_textpage()
    return tuple((text.get_text_range(at, 1), text.get_charbox(at)) for at in range(text.count_chars()))


def page_words(path: Path, locator: Locator) -> str | None:
    """Characters, by pdfium, whose middle lies in the locator's boxes on its page; None for scans and over pages."""
    if locator.page is None or locator.page_end != locator.page:
        return None
    characters = list(_characters(path, locator.page))
    if not any(one.strip() for one, _ in characters):  # a scan
        return None
    for at, (one, other) in enumerate(pairwise(characters)):
        if one[0] in _ALEFS and other[0] == "\u0644" and one[1] == other[1]:
            characters[at : at + 2] = other, one  # one glyph for lam and alef, which pdfium gives the wrong way round
    found = []
    for character, (left, bottom, right, top) in characters:
        middle = (left + right) / 2, (bottom + top) / 2
        found.append(character if not character.strip() or _inside(middle, locator.boxes) else " ")
    return re.sub("[\u00ad\ufffe\u0002]", "", re.sub(r"[-\u2010\ufffe\u0002]\s*\r?\n\s*", "", "".join(found)))


def _inside(point: tuple[float, float], boxes: Sequence[Box]) -> bool:
    x, y = point
    return any(b[0] - _SLACK <= x <= b[2] + _SLACK and b[1] - _SLACK <= y <= b[3] + _SLACK for b in boxes)


@functools.cache
def _book(path: Path) -> dict[str, list[list[Any]]]:
    """Every sheet's cells from A1 on, by openpyxl, of older files by calamine."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        import openpyxl

        book = openpyxl.load_workbook(path, data_only=True)
        return {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book.worksheets}
    if path.suffix.lower() in (".xls", ".ods"):
        from python_calamine import CalamineWorkbook

        old = CalamineWorkbook.from_path(str(path))
        return {one: old.get_sheet_by_name(one).to_python(skip_empty_area=False) for one in old.sheet_names}
    return {}


def _cells(path: Path, sheet: str, a1: str) -> str | None:
    rows = _book(path).get(sheet)
    found = _A1.fullmatch(a1)
    if rows is None or found is None:
        return None
    left, top = _column(found[1]), int(found[2])
    right, bottom = _column(found[3] or found[1]), int(found[4] or found[2])
    return " ".join(
        _shown(cell) for row in rows[top - 1 : bottom] for cell in row[left - 1 : right] if cell is not None
    )


def _shown(cell: object) -> str:
    """A value in the forms that a sheet may show it in."""
    if isinstance(cell, float) and cell.is_integer():
        return f"{cell} {int(cell)}"
    return f"{cell} {cell}".lower() + f" {cell}" if isinstance(cell, bool) else str(cell)


def _column(letters: str) -> int:
    return functools.reduce(lambda total, one: total * 26 + ord(one) - 64, letters, 0)


@functools.cache
def _slide(path: Path, number: int) -> str | None:
    """Text in a slide's XML and in the parts that it names (notes, charts, diagrams)."""
    with zipfile.ZipFile(path) as package:
        names = set(package.namelist())
        if "ppt/presentation.xml" not in names:
            return None
        order = re.findall(r"<p:sldId\b[^>]*r:id=\"([^\"]+)\"", package.read("ppt/presentation.xml").decode())
        relations = package.read("ppt/_rels/presentation.xml.rels").decode()
        known = {
            identity[1]: target[1]
            for one in re.findall(r"<Relationship\b[^>]*>", relations)
            if (identity := re.search(r'Id="([^"]+)"', one)) and (target := _RELATION.search(one))
        }
        slide = _part("ppt", known[order[number - 1]])
        beside = f"{PurePosixPath(slide).parent}/_rels/{PurePosixPath(slide).name}.rels"
        parts = [slide]
        if beside in names:
            parts += [
                _part(str(PurePosixPath(slide).parent), one) for one in _RELATION.findall(package.read(beside).decode())
            ]
        xml = [
            package.read(part).decode("utf-8", "replace") for part in parts if part in names and part.endswith("xml")
        ]
    descriptions = re.findall(r'descr="([^"]*)"', xml[0])
    return " ".join([*(text for one in xml for text in _XML_TEXT.findall(one)), *descriptions, f"Slide {number} Notes"])


def _part(folder: str, target: str) -> str:
    steps: list[str] = [] if target.startswith("/") else folder.split("/")
    for step in target.strip("/").split("/"):
        if step == "..":
            steps.pop()
        else:
            steps.append(step)
    return "/".join(steps)


def draw(found: Found, out: Path) -> None:
    """The page with the sentence's boxes marked."""
    from PIL import ImageDraw

    assert found.locator.page is not None
    page = _pages(found.path)[found.locator.page - 1]
    scale = 1.6
    picture = page.render(scale=scale).to_pil().convert("RGB")
    pen = ImageDraw.Draw(picture)
    for x0, y0, x1, y1 in found.locator.boxes:
        corners = [_seen(page, x, y) for x, y in ((x0, y0), (x1, y1))]
        xs, ys = zip(*((x * scale, y * scale) for x, y in corners), strict=True)
        pen.rectangle((min(xs) - 1, min(ys) - 1, max(xs) + 1, max(ys) + 1), outline=(220, 0, 0), width=2)
    picture.save(out)


def _seen(page: Any, x: float, y: float) -> tuple[float, float]:
    """A point of the unrotated page, from below, to the page as it is shown, from above."""
    width, height = page.get_size()
    left, bottom, right, top = page.get_cropbox()
    turned = page.get_rotation()
    x, y = x - left, y - bottom
    across, up = right - left, top - bottom
    shown = {0: (x, up - y), 90: (y, x), 180: (across - x, y), 270: (up - y, across - x)}[turned]
    return min(max(shown[0], 0), width), min(max(shown[1], 0), height)
