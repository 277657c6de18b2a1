"""Where a range of a document's text lies in the original, as a locator, a link fragment and a label."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from urllib.parse import quote

from fonte.text.cells import cell_range, column_number
from fonte.types import RECORD_MEDIA_TYPE, Box, Document, Locator, Place, Section

_ANCHOR_STEPS = 4096
"""How many places back an anchor is looked for before the section's own start is asked."""
_SAME_LINE = 0.5
"""Share of the lower box's height that must overlap for two boxes to stand on one line."""
_WORD_GAP = 2.0
"""Widest gap between two boxes of one line that are drawn as one, in heights of the line."""
_A1 = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d+)(?::\$?([A-Za-z]{1,3})\$?(\d+))?")


def locate(document: Document, start: int, end: int) -> Locator:
    """The locator of ``document.text[start:end]``.

    ``page`` is the page of the range's first character that is no white space, ``page_end`` of its last. Where the
    characters have no place of their own, the page, slide and sheet of the place before them hold.

    Raises:
        ValueError: the range is not inside the document.
    """
    if not 0 <= start <= end <= len(document.text):
        message = f"{start}..{end} is not inside a document of {len(document.text)} characters"
        raise ValueError(message)
    first, last = _own(document.text, start, end)
    covered = _covered(document.places, first, last)
    head = covered[0] if covered else _nearest(document.places, first)
    page = head.page if head else None
    label = document.page_labels[page - 1] if page is not None and page <= len(document.page_labels) else None
    return Locator(
        start,
        end,
        page=page,
        page_label=label or None,
        page_end=covered[-1].page if covered and page is not None else page,
        boxes=merge_boxes([place.box for place in covered if place.box is not None and place.page == page]),
        slide=head.slide if head else None,
        time=_time(covered),
        sheet=head.sheet if head else None,
        range=_union([place.range for place in covered if place.range and head and place.sheet == head.sheet]),
        anchor=_anchor(document, first),
        lines=_lines(document, covered, first, last),
    )


def fragment(document: Document, locator: Locator) -> str:
    """The link fragment of a locator, by the rules of the contract."""
    if locator.page is not None and document.media_type == "application/pdf":
        return f"#page={locator.page}"
    if locator.time is not None:
        return f"#t={_seconds(locator.time[0])},{_seconds(locator.time[1])}"
    if locator.sheet is not None:
        cells = f"&range={quote(locator.range, safe=':')}" if locator.range else ""
        return f"#sheet={quote(locator.sheet, safe='')}{cells}"
    if locator.slide is not None:
        return f"#slide={locator.slide}"
    return f"#char={locator.start},{locator.end}"


def label(document: Document, locator: Locator, section: Sequence[str]) -> str:
    """What people read beside a citation: ``policy.md, p. 3, A > B``.

    A record's file follows its id. The printed page label stands in brackets where it differs from the page's number.
    Lines are shown for text only.
    """
    parts = [document.name]
    if document.media_type == RECORD_MEDIA_TYPE and document.metadata.get("file"):
        parts.append(document.metadata["file"])
    if locator.page is not None:
        parts.append(_page_words(document, locator))
    elif locator.sheet is not None:
        parts.append(f"{locator.sheet}!{locator.range}" if locator.range else locator.sheet)
    elif locator.slide is not None:
        parts.append(f"slide {locator.slide}")
    elif locator.time is not None:
        parts.append(f"{_clock(locator.time[0])}-{_clock(locator.time[1])}")
    elif locator.range is not None:
        parts.append(locator.range)
    elif locator.lines is not None:
        first, last = locator.lines
        parts.append(f"line {first}" if first == last else f"lines {first}-{last}")
    if section:
        parts.append(" > ".join(section))
    return ", ".join(parts)


def section_at(document: Document, position: int) -> Section | None:
    """The section that holds the character at ``position``; None in a document without sections."""
    index = bisect_right(document.sections, position, key=lambda section: section.start) - 1
    return document.sections[index] if index >= 0 else None


def merge_boxes(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Neighbouring boxes of one visual line as one box each, in the order given."""
    merged: list[Box] = []
    for box in boxes:
        if merged and _same_line(merged[-1], box):
            x0, y0, x1, y1 = merged[-1]
            merged[-1] = (min(x0, box[0]), min(y0, box[1]), max(x1, box[2]), max(y1, box[3]))
        else:
            merged.append(box)
    return tuple(merged)


def boxes_on(document: Document, page: int, start: int, end: int) -> tuple[Box, ...]:
    """Boxes of ``document.text[start:end]`` on one page, neighbours of a line as one box."""
    covered = _covered(document.places, *_own(document.text, start, end))
    return merge_boxes([place.box for place in covered if place.box is not None and place.page == page])


def _own(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without its outer white space; (start, end) when there is nothing else in it."""
    first, last = start, end
    while first < last and text[first].isspace():
        first += 1
    while last > first and text[last - 1].isspace():
        last -= 1
    return (first, last) if first < last else (start, end)


def _covered(places: Sequence[Place], start: int, end: int) -> Sequence[Place]:
    """Places that hold a character of the range."""
    low = bisect_right(places, start, key=lambda place: place.end)
    high = bisect_left(places, end, lo=low, key=lambda place: place.start)
    return [place for place in places[low:high] if place.end > place.start]


def _nearest(places: Sequence[Place], position: int) -> Place | None:
    """The last place that begins at or before the position, else the first one."""
    index = bisect_right(places, position, key=lambda place: place.start) - 1
    return places[max(index, 0)] if places else None


def _same_line(left: Box, right: Box) -> bool:
    lower = min(left[3] - left[1], right[3] - right[1])
    overlap = min(left[3], right[3]) - max(left[1], right[1])
    gap = max(left[0], right[0]) - min(left[2], right[2])
    return overlap > 0 and overlap >= _SAME_LINE * lower and gap <= _WORD_GAP * max(lower, 1.0)


def _time(places: Sequence[Place]) -> tuple[float, float] | None:
    times = [place.time for place in places if place.time is not None]
    return (min(time[0] for time in times), max(time[1] for time in times)) if times else None


def _union(ranges: Sequence[str]) -> str | None:
    """The smallest A1 range around all of them; None when there is none."""
    columns: list[int] = []
    rows: list[int] = []
    for cells in ranges:
        match = _A1.fullmatch(cells)
        if match is None:
            continue
        column, row, last_column, last_row = match.groups()
        columns += (column_number(column), column_number(last_column or column))
        rows += (int(row) - 1, int(last_row or row) - 1)
    return cell_range(min(rows), min(columns), max(rows), max(columns)) if columns else None


def _anchor(document: Document, position: int) -> str | None:
    """The nearest anchor at or before the position in its section."""
    section = section_at(document, position)
    floor = section.start if section else 0
    places = document.places
    index = bisect_right(places, position, key=lambda place: place.start) - 1
    for back in range(index, max(index - _ANCHOR_STEPS, -1), -1):
        if places[back].start < floor:
            return None
        if places[back].anchor is not None:
            return places[back].anchor
    low = bisect_left(places, floor, key=lambda place: place.start)
    return next((place.anchor for place in places[low : min(index, low + _ANCHOR_STEPS)] if place.anchor), None)


def _lines(document: Document, covered: Sequence[Place], first: int, last: int) -> tuple[int, int] | None:
    lines = [place.lines for place in covered if place.lines is not None]
    if lines:
        return min(line[0] for line in lines), max(line[1] for line in lines)
    if not document.lines_are_source_lines:
        return None
    before = 1 + _line_ends(document.text, 0, first)
    return before, before + _line_ends(document.text, first, max(last - 1, first))


def _line_ends(text: str, start: int, end: int) -> int:
    """Line ends in the range: LF, CR, and CR LF as one."""
    return text.count("\n", start, end) + text.count("\r", start, end) - text.count("\r\n", start, end)


def _page_words(document: Document, locator: Locator) -> str:
    last = locator.page_end
    several = last is not None and last != locator.page
    words = f"pp. {locator.page}-{last}" if several else f"p. {locator.page}"
    printed = locator.page_label
    if printed and several and last is not None and last <= len(document.page_labels):
        printed = f"{printed}-{document.page_labels[last - 1]}"
    return f"{words} ({printed})" if printed and printed != words.rsplit(maxsplit=1)[-1] else words


def _seconds(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _clock(value: float) -> str:
    minutes, seconds = divmod(int(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
