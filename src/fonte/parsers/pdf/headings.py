"""Which rows are headings: by the file's own outline, else by the rank of their size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fonte.parsers.pdf.glyphs import Word
from fonte.parsers.pdf.layout import Row

_MAX_LEVELS = 6
_MAX_ROW = 150
_LARGER = 1.1
"""A heading is larger than the body by this factor or more."""
_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(
    r"^(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z]\.)\s+\S"
    r"|(?:art(?:\.|icolo|icle)|section|chapter|appendix|annex|capo|titolo|capitolo|sezione|allegato)\s*[\dA-Z])",
    re.IGNORECASE,
)
_MAX_ALONE = 80
"""Characters of a bold line between lines that are not, for it to be a heading."""


def _folded(text: str) -> str:
    return "".join(_WORD.findall(text)).casefold()


def _clusters(sizes: Iterable[float]) -> list[list[float]]:
    """Sizes from the largest down, those within 4 % of each other taken as one."""
    groups: list[list[float]] = []
    for size in sorted(sizes, reverse=True):
        if groups and groups[-1][0] - size <= 0.04 * groups[-1][0]:
            groups[-1].append(size)
        else:
            groups.append([size])
    return groups


def body_size(words: Iterable[Word]) -> float:
    """The size in which most characters are set, in points; 0 without text."""
    counts: Counter[float] = Counter()
    for word in words:
        counts[word.style.em] += len(word.text)
    return max(counts, key=lambda size: (counts[size], -size)) if counts else 0.0


def _stands_alone(rows: Sequence[Row], index: int) -> bool:
    """Whether a bold line is short, in words, without an end mark, and right above a line that is not bold."""
    row, text = rows[index], rows[index].text
    if len(text) > _MAX_ALONE or text.endswith((".", ":", ";", ",")) or not text[:1].isupper():
        return False
    below = rows[index + 1] if index + 1 < len(rows) else None
    above = rows[index - 1] if index else None
    follows = below is not None and below.region == row.region and not below.bold and len(below.cells) == 1
    apart = above is None or above.region != row.region or not above.bold
    return follows and apart and sum(char.isalpha() for char in text) > 0.6 * len(text)


def _ranks(on_pages: Mapping[float, set[int]]) -> dict[float, int]:
    """Size -> level. Of more sizes than there are levels, those on most pages have levels of their own."""
    groups = _clusters(on_pages)
    kept = sorted(groups, key=lambda group: -len(set[int]().union(*(on_pages[size] for size in group))))[:_MAX_LEVELS]
    ranked = sorted((group[0] for group in kept), reverse=True)
    return {
        size: min(sum(larger > group[0] for larger in ranked) + 1, _MAX_LEVELS) for group in groups for size in group
    }


def heading_levels(pages: Sequence[Sequence[Row]], outline: Sequence[tuple[int, int, str]]) -> dict[int, int]:
    """Row identity -> heading level from 1.

    ``outline`` lists (page from 1, depth from 1, title). A row whose words are a title of the outline on its page takes
    the outline's depth; other rows rank by size among the sizes clearly above the body's, then bold numbered lines.
    """
    body = body_size(word for rows in pages for row in rows for word in row.words)
    wanted: dict[tuple[int, str], int] = {(page, _folded(title)): depth for page, depth, title in outline}
    levels: dict[int, int] = {}
    candidates: list[Row] = []
    bold_lines: list[Row] = []
    bold_characters = total = 0
    for rows in pages:
        for index, row in enumerate(rows):
            if row.table is not None:
                continue
            text = row.text
            total += len(text)
            bold_characters += len(text) if row.bold else 0
            depth = wanted.get((row.page, _folded(text)))
            if depth is not None:
                levels[id(row)] = min(depth, _MAX_LEVELS)
            elif len(row.cells) == 1 and len(text) < _MAX_ROW and sum(char.isalpha() for char in text) > 1:
                if row.em > body * _LARGER:
                    candidates.append(row)
                elif row.bold and row.em > 0.95 * body and (_NUMBERED.match(text) or _stands_alone(rows, index)):
                    bold_lines.append(row)
    known = {round(row.em, 1) for rows in pages for row in rows if id(row) in levels and row.em > body * _LARGER}
    on_pages: dict[float, set[int]] = {size: set() for size in known}
    for row in candidates:
        on_pages.setdefault(round(row.em, 1), set()).add(row.page)
    rank = _ranks(on_pages)
    by_size = {
        round(row.em, 1): levels[id(row)] for rows in pages for row in rows if id(row) in levels and row.em > body
    }
    for row in candidates:
        size = round(row.em, 1)
        levels[id(row)] = min(by_size.get(size, rank[size]), _MAX_LEVELS)
    if bold_characters < 0.3 * total:
        deepest = max(levels.values(), default=0)
        for row in bold_lines:
            levels[id(row)] = min(deepest + 1, _MAX_LEVELS)
    return levels
