"""DOCX to blocks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from fonte.errors import ParseError
from fonte.parsers.counting import check_found, count_text
from fonte.parsers.docx.body import BodyReader, Notes, child_of, members
from fonte.parsers.docx.names import FALLBACK, m, w
from fonte.parsers.docx.styles import Numbering, Styles
from fonte.parsers.ooxml import Package, opened
from fonte.parsers.pptx.charts import Chart, read_chart
from fonte.types import Loss, Parsed

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.types import Counts, Source

DOCX_VERSION = "4"
_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_NO_NOTES = frozenset({"separator", "continuationSeparator", "continuationNotice"})


class DocxParser:
    """Word files by a walk over their XML. They have no pages: a citation names heading and paragraph."""

    def __init__(self) -> None:
        self.name = f"docx/{DOCX_VERSION} lxml/{version('lxml')}"

    def parse(self, source: Source) -> Parsed:
        """Blocks in document order; deleted text is absent, inserted text present, notes follow their paragraph.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, past a limit, or text without any block.
        """
        with opened(source) as package:
            return self._parse(package, source)

    def _parse(self, package: Package, source: Source) -> Parsed:
        main = package.main_part("word/document.xml")
        root = package.xml(main)
        parts = {kind: target for kind, target in package.relations(main).values() if package.has(target)}
        styles = Styles(package.xml(parts["styles"]) if "styles" in parts else None)
        numbering = Numbering(package.xml(parts["numbering"]) if "numbering" in parts else None)
        notes: dict[tuple[str, str], _Element] = {}
        for kind in ("footnote", "endnote"):
            if f"{kind}s" in parts:
                for note in package.xml(parts[f"{kind}s"]).iter(w(kind)):
                    if note.get(w("type")) not in _NO_NOTES:
                        notes[kind, note.get(w("id"), "")] = note
        reader = BodyReader(styles, numbering, Notes(notes), partial(_chart, package, package.relations(main)))
        body = root.find(w("body"))
        if body is None:
            raise ParseError(f"{source.name} has no body", uri=source.uri)
        reader.read(body)
        blocks = tuple(reader.blocks)
        counts = _counts(body, [notes[key] for key in reader.notes.used])
        check_found(source, words=counts.words, found=bool(blocks))
        reason = None if blocks else "needs_ocr" if reader.images else "empty"
        return Parsed(
            blocks=blocks,
            parser=self.name,
            title=package.title(),
            media_type=_MEDIA_TYPE,
            source_counts=counts,
            losses=tuple(_losses(package, main, reader)),
            metadata=package.dates(),
            empty_reason=reason,
        )


def _chart(package: Package, relations: Mapping[str, tuple[str, str]], relation: str) -> Chart | None:
    """The chart behind a relation; None where it is missing or damaged."""
    kind, target = relations.get(relation, ("", ""))
    try:
        return read_chart(package.xml(target)) if kind == "chart" else None
    except ParseError:
        return None


def _losses(package: Package, main: str, reader: BodyReader) -> list[Loss]:
    losses: list[Loss] = []
    lines: set[str] = set()
    comments = 0
    for kind, target in package.relations(main).values():
        if kind in ("header", "footer") and package.has(target):
            lines.update(line for line in _plain(package.xml(target)).split("\n") if line.strip())
        if kind == "comments" and package.has(target):
            comments = sum(1 for _ in package.xml(target).iter(w("comment")))
    if lines:
        characters = sum(map(len, lines))
        message = f"{len(lines)} lines ({characters} characters) of page headers and footers"
        losses.append(Loss("page_furniture", message, len(lines)))
    if comments:
        losses.append(Loss("comments", f"{comments} comments left out", comments))
    if reader.images:
        losses.append(Loss("images", f"{reader.images} pictures not read", reader.images))
    if reader.hidden:
        losses.append(
            Loss("hidden_text", f"{reader.hidden} hidden characters kept, marked as not visible", reader.hidden)
        )
    if reader.charts_lost:
        losses.append(Loss("objects_lost", f"{reader.charts_lost} charts could not be read", reader.charts_lost))
    if reader.foreign:
        losses.append(Loss("foreign_parts", f"{reader.foreign} inserted files not read", reader.foreign))
    return losses


def _plain(root: _Element) -> str:
    """All text nodes in order, a line for each paragraph: independent of the walk that makes blocks."""
    absent = {w("moveFrom"), w("del"), FALLBACK}
    pieces: list[str] = []
    text_tags = {w("t"), m("t")}
    breaks = {w("tab"), w("br"), w("cr"), w("tc")}
    for element in root.iter():
        if element.tag in text_tags:
            if not any(outer.tag in absent for outer in element.iterancestors()):
                pieces.append(element.text or "")
        elif element.tag == w("p"):
            pieces.append("\n")
        elif element.tag in breaks:
            pieces.append(" ")
    return "".join(pieces)


def _counts(body: _Element, notes: list[_Element]) -> Counts:
    return count_text("\n".join([_plain(body), *map(_plain, notes)]), rows=_count_rows(body))


def _count_rows(body: _Element) -> int:
    """Rows that stand on their own in the text.

    Rows without text give none, a table in a cell is part of the outer row, and a table of one cell is a frame around
    what stands in it.
    """
    frames = set()
    for table in body.iter(w("tbl")):
        rows = [row for row in members(table) if row.tag == w("tr") and child_of(row, "trPr", "del") is None]
        if len(rows) == 1 and sum(cell.tag == w("tc") for cell in members(rows[0])) == 1:
            frames.add(rows[0])
    return sum(
        row not in frames
        and child_of(row, "trPr", "del") is None
        and all(outer in frames for outer in row.iterancestors(w("tr")))
        and bool(_plain(row).strip())
        for row in body.iter(w("tr"))
    )
