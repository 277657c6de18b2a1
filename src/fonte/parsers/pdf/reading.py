"""Pages that have been read, one after the other, to blocks; and what was lost on the way."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from fonte.parsers.counting import count_text
from fonte.parsers.pdf.blocks import BlockBuilder
from fonte.parsers.pdf.document import PageText
from fonte.parsers.pdf.furniture import find_furniture, without_furniture
from fonte.parsers.pdf.headings import body_size, heading_levels
from fonte.parsers.pdf.hyphens import vocabulary
from fonte.parsers.pdf.layout import Row, Segment, page_rows, page_segments
from fonte.parsers.pdf.notes import PageNote, with_notes
from fonte.types import Counts, Loss

if TYPE_CHECKING:
    from fonte.types import Block

_SHOWN = 20
_PROSE = 25
"""Characters of a line that tells how far apart lines are."""
_FEW_LINES = 20
"""Fewer line distances than this do not prove wide line spacing."""


class Reading:
    """What has been read of the pages, and what was lost on the way."""

    def __init__(self) -> None:
        self.pages: list[list[Segment]] = []
        self.extents: list[tuple[float, float]] = []
        self.counts = Counts()
        self.unreadable: list[int] = []
        self.blank: list[int] = []
        self.hidden: Counter[int] = Counter()
        self.furniture: list[tuple[int, Segment]] = []
        self.notes: list[tuple[int, PageNote]] = []

    def take(self, number: int, page: PageText | None) -> None:
        """Add a page, numbered from 1."""
        if page is None:
            self.counts += Counts(pages=1)
            self.unreadable.append(number)
            self.pages.append([])
            self.extents.append((0.0, 0.0))
            return
        segments = page_segments(page.outside, page.tables)
        self.pages.append(segments)
        self.extents.append(page.extent)
        self.counts += count_text(page.text, pages=1)
        if page.hidden:
            self.hidden[number] = page.hidden
        self.notes += [(number, note) for note in page.notes]
        if not segments and not page.images and not page.notes:
            self.blank.append(number)

    def losses(self) -> tuple[Loss, ...]:
        """Everything that is known to be missing or doubtful."""
        found: list[Loss] = []
        if self.furniture:
            pages = sorted({page for page, _ in self.furniture})
            characters = sum(len(segment.text) for _, segment in self.furniture)
            what = f"{len(self.furniture)} repeated header or footer lines ({characters} characters) {named(pages)}"
            found.append(Loss("page_furniture", what, len(self.furniture)))
        if self.hidden:
            words = sum(self.hidden.values())
            what = f"{words} words kept that cannot be seen {named(list(self.hidden))}"
            found.append(Loss("hidden_text", what, words))
        if self.blank:
            found.append(Loss("blank_page", f"nothing {named(self.blank)}", len(self.blank)))
        if self.unreadable:
            found.append(Loss("page_unreadable", f"damaged {named(self.unreadable)}", len(self.unreadable)))
        return tuple(found)


def named(pages: Sequence[int]) -> str:
    """``on pages 1, 2``: the first twenty by number."""
    shown = ", ".join(map(str, pages[:_SHOWN]))
    more = f" and {len(pages) - _SHOWN} more" if len(pages) > _SHOWN else ""
    return f"on page{'s' if len(pages) > 1 else ''} {shown}{more}"


def blocks_of(reading: Reading, outline: Sequence[tuple[int, int, str]]) -> tuple[Block, ...]:
    """Blocks of all pages; headings by the outline's (page from 1, depth, title) and by size."""
    body = body_size(word for segments in reading.pages for segment in segments for word in segment.words)
    furniture = find_furniture(reading.pages, reading.extents, body)
    pages: list[list[Row]] = []
    for index, (segments, extent) in enumerate(zip(reading.pages, reading.extents, strict=True)):
        kept, gone = without_furniture(segments, extent, furniture, body)
        if not kept:
            kept, gone = segments, []
        reading.furniture += [(index + 1, segment) for segment in gone]
        pages.append(page_rows(kept, index + 1))
        reading.pages[index] = []
    builder = BlockBuilder(
        vocabulary(pages), heading_levels(pages, outline), _pitches(pages), code=not _mostly_fixed(pages)
    )
    for index, rows in enumerate(pages):
        builder.add_page(rows)
        pages[index] = []
    builder.close()
    return with_notes(builder.blocks, reading.notes)


def _mostly_fixed(pages: Sequence[Sequence[Row]]) -> bool:
    """Whether the document is typewritten: then a fixed-width font says nothing."""
    rows = [row for page in pages for row in page]
    return sum(row.fixed for row in rows) * 2 > len(rows)


def _pitches(pages: Sequence[Sequence[Row]]) -> Mapping[float, float]:
    """Font size (rounded) -> the distance between baselines that a quarter of the lines keep or go below."""
    distances: defaultdict[float, list[float]] = defaultdict(list)
    for rows in pages:
        for above, below in pairwise(rows):
            distance = above.y0 - below.y0
            same = above.region == below.region and abs(above.em - below.em) < 0.05 * above.em
            same = same and len(above.cells) == len(below.cells) == 1 and len(above.text) > _PROSE
            if same and 0.5 * above.size < distance < 3 * above.size:
                distances[round(below.size)].append(distance)
    return {
        size: min(sorted(values)[len(values) // 4], (1.35 if len(values) < _FEW_LINES else 3.0) * size)
        for size, values in distances.items()
    }
