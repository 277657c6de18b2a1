"""CSV and TSV: rows that name their columns, with the cells' range and the true source lines."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fonte.errors import ParseError
from fonte.parsers.counting import count_text, count_words
from fonte.parsers.encodings import normalise_newlines
from fonte.parsers.plain import decoded_body, undecoded
from fonte.parsers.tables import count_empty_cells, table_blocks
from fonte.text.cells import cell_range
from fonte.types import Counts, Loss, Parsed, Place, Source

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 300
_NAMED_ROWS = 20


@dataclass(frozen=True, slots=True)
class _Row:
    """One record: its number in the sheet from 0, its cells, its first and last source line."""

    index: int
    cells: list[str]
    lines: tuple[int, int]


class CsvParser:
    """Delimited text of any dialect."""

    name = "csv/1"

    def parse(self, source: Source) -> Parsed:
        """A ROW for every record that has text.

        Raises:
            ParseError: bytes that are not text.
        """
        decoded = decoded_body(source)
        text = normalise_newlines(decoded.text)
        delimiter, skipped = _dialect(text, tabs_first=source.media_type == "text/tab-separated-values")
        losses = list(undecoded(decoded))
        quoting = True
        try:
            rows = list(_rows(text, delimiter, skipped, quoting=quoting))
        except csv.Error:
            quoting = False
            rows = list(_rows(text, delimiter, skipped, quoting=quoting))
            losses.append(Loss("unbalanced_quotes", "a quote is never closed: quotes were read as plain characters"))
        if not rows and count_text(text).words:
            raise ParseError("no row came out of a table that has text", uri=source.uri)
        losses += _ragged(rows)
        cells = [row.cells for row in rows]
        places = [
            Place(0, 0, range=cell_range(row.index, 0, row.index, len(row.cells) - 1), lines=row.lines) for row in rows
        ]
        blocks = tuple(table_blocks(cells, table=0, places=places))
        return Parsed(
            blocks=blocks,
            parser=self.name,
            media_type=source.media_type or "text/csv",
            source_counts=_counted(text, delimiter, skipped, quoting=quoting),
            losses=tuple(losses),
            metadata={
                "encoding": decoded.encoding,
                "empty_cells": str(count_empty_cells(cells)),
                "delimiter": "tab" if delimiter == "\t" else delimiter,
                "quoting": "double quotes" if quoting else "none",
                "header": "yes" if any(block.header for block in blocks) else "no",
            },
            empty_reason=None if blocks else "empty",
        )


def _rows(text: str, delimiter: str, skipped: int, *, quoting: bool) -> Iterator[_Row]:
    """Records with text. Raises csv.Error for a quote that is never closed."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(
        (line + "\n" for line in text.split("\n")[skipped:]),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=False,
    )
    open_quote = quoting and text.count('"') % 2 == 1
    last_line = text.count("\n")
    done = skipped
    index = skipped
    for cells in reader:
        last = skipped + reader.line_num
        if any(cell.strip() for cell in cells):
            if open_quote and last - done > 1 and last > last_line:
                raise csv.Error("a quote is never closed")
            yield _Row(index, cells, (done + 1, last))
        index += 1
        done = last


def _counted(text: str, delimiter: str, skipped: int, *, quoting: bool) -> Counts:
    """What the text holds, read once more and apart from the rows that became blocks; its words without any reader."""
    body = "\n".join(text.split("\n")[skipped:])
    lines = io.StringIO(body, newline="")
    reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE)
    filled = [row for row in reader if "".join(row).strip()]
    cells = count_text("\n".join(cell for row in filled for cell in row), rows=len(filled))
    return replace(cells, words=count_words(body))


def _dialect(text: str, *, tabs_first: bool) -> tuple[str, int]:
    """(delimiter, lines to skip): a ``sep=`` line rules, else the delimiter that cuts the most rows alike."""
    lines = text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
    first = lines[0].strip().strip('"')
    if first.lower().startswith("sep=") and len(first) == len("sep=;"):
        return first[-1], 1
    order = ("\t", ",", ";", "|") if tabs_first else _DELIMITERS
    scores = {delimiter: _score(lines, delimiter) for delimiter in order}
    best = max(order, key=lambda delimiter: scores[delimiter])
    return (best if scores[best] > 0 else order[0]), 0


def _score(lines: list[str], delimiter: str) -> float:
    """Share of rows that have the commonest width, weighed by that width; 0 when nothing is cut."""
    try:
        widths = Counter(len(row) for row in csv.reader((line + "\n" for line in lines), delimiter=delimiter) if row)
    except csv.Error:
        return 0.0
    if not widths:
        return 0.0
    width, often = widths.most_common(1)[0]
    return 0.0 if width == 1 else often / widths.total() + min(width, 50) / 1000


def _ragged(rows: list[_Row]) -> list[Loss]:
    """Rows that are shorter or longer than the commonest width: nothing is lost, but columns may be shifted."""
    if not rows:
        return []
    width = Counter(len(row.cells) for row in rows).most_common(1)[0][0]
    odd = [row.index + 1 for row in rows if len(row.cells) != width]
    if not odd:
        return []
    some = ", ".join(map(str, odd[:_NAMED_ROWS]))
    return [Loss("ragged_rows", f"rows without the usual {width} cells: {some}", len(odd))]
