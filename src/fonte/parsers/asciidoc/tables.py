"""AsciiDoc tables to rows of cells with their source lines."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field

_SPEC = (
    r"(?:(?P<times>\d+)\*|(?P<across>\d+)?(?:\.(?P<down>\d+))?\+)?(?:[<^>](?:\.[<^>])?|\.[<^>])?(?P<style>[adehlmsv])?"
)
_CELL = re.compile(rf"(?:^|(?<=\s))(?P<spec>{_SPEC})\||(?<!\\)\|")
_COLUMNS = re.compile(r"\bcols\s*=\s*(?:\"([^\"]*)\"|([^,\]]*))")
_TIMES = re.compile(r"\s*(\d+)\s*\*")
_MAX_COLUMNS = 1000


@dataclass(slots=True)
class _Cell:
    """A cell with its span; ``lines`` first and last source line."""

    text: str
    lines: tuple[int, int]
    across: int = 1
    down: int = 1
    heads: bool = False


@dataclass(slots=True)
class Grid:
    """Rows of source text, merged cells once, with the lines of each row; ``header`` None when nothing tells."""

    rows: list[list[str]] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)
    header: bool | None = None


def read_table(lines: list[str], first: int, attributes: str, delimiter: str = "|") -> Grid:
    """The table whose content is ``lines``, of which the first is source line ``first``; ``attributes`` above it."""
    grid = Grid(header=True if re.search(r"%header|options?=\"?[^\"]*\bheader\b", attributes) else None)
    if re.search(r"\bnoheader\b", attributes):
        grid.header = False
    separator = {",": ",", ":": ":"}.get(delimiter) or ("," if re.search(r"format\s*=\s*\"?csv", attributes) else "")
    if separator:
        csv.field_size_limit(max(csv.field_size_limit(), sum(map(len, lines)) + len(lines)))
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator)
        done = 0
        for row in reader:
            if row:  # a cell in quotes may go over several lines
                grid.rows.append(row)
                grid.lines.append((first + done, first + reader.line_num - 1))
            done = reader.line_num
        return grid
    parts = [(first + index, _cells(line, first + index)) for index, line in enumerate(lines) if line.strip()]
    cells = [cell for _, (cells, _) in parts for cell in cells]
    _append_rest(parts)
    if not cells:
        return grid
    by_line = [cells for _, (cells, _) in parts if cells]
    width = _declared(attributes) or sum(cell.across for cell in by_line[0])
    whole = all(rest is None for _, (_, rest) in parts)
    sums = [sum(cell.across for cell in row) - (len(row) > width and not row[-1].text) for row in by_line]
    fits = max(sums) <= width and (min(sums) == width or sum(sums) % width > 0)
    spans = any(cell.down > 1 for cell in cells)
    if grid.header is None and (all(cell.heads for cell in by_line[0]) or _blank_after_first(lines)):
        grid.header = True
    if whole and fits and not spans and len(by_line[0]) > 1:
        for cells in by_line:
            grid.rows.append(_wide(cells, width))
            grid.lines.append((cells[0].lines[0], cells[-1].lines[1]))
        return grid
    _flow(grid, cells, width)
    return grid


def _declared(attributes: str) -> int:
    """Number of columns that ``cols`` declares, 0 without it."""
    found = _COLUMNS.search(attributes)
    if found is None:
        return 0
    said = (found[1] if found[1] is not None else found[2]).strip()
    parts = re.split(r"[,;]", said) if said else []
    times = [_TIMES.match(part) for part in parts]
    return min(sum(int(match[1]) if match is not None else 1 for match in times), _MAX_COLUMNS)


def _cells(line: str, number: int) -> tuple[list[_Cell], str | None]:
    """(cells that begin on a line, text before the first of them that belongs to the cell above)."""
    marks = list(_CELL.finditer(line))
    if not marks:
        return [], line
    before = line[: marks[0].start()].strip()
    cells: list[_Cell] = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        text = line[mark.end() : following.start() if following is not None else len(line)].strip().replace("\\|", "|")
        times = min(int(mark["times"] or 1), _MAX_COLUMNS)
        across, down = min(int(mark["across"] or 1), _MAX_COLUMNS), min(int(mark["down"] or 1), _MAX_COLUMNS)
        heads = mark["style"] == "h"
        cells += [_Cell(text, (number, number), across, down, heads) for _ in range(times)]
    return cells, before or None


def _append_rest(parts: list[tuple[int, tuple[list[_Cell], str | None]]]) -> None:
    """Give lines without a mark, and text before the first mark, to the cell above."""
    above: _Cell | None = None
    for number, (cells, rest) in parts:
        if rest is not None and above is not None:
            above.text = f"{above.text} {rest.strip()}".strip()
            above.lines = (above.lines[0], number)
        above = cells[-1] if cells else above


def _blank_after_first(lines: list[str]) -> bool:
    filled = [index for index, line in enumerate(lines) if line.strip()]
    return len(filled) > 1 and filled[0] == 0 and filled[1] > 1


def _wide(row: list[_Cell], width: int) -> list[str]:
    texts: list[str] = []
    for cell in row:
        texts += [cell.text, *[""] * (cell.across - 1)]
    return texts[:width] + [""] * (width - len(texts)) + [text for text in texts[width:] if text]


def _flow(grid: Grid, cells: list[_Cell], width: int) -> None:
    """Fill rows of ``width`` columns with cells one after the other; what spans takes its room in the rows below."""
    taken: dict[int, int] = {}
    row: list[str] = []
    lines: list[tuple[int, int]] = []

    def close() -> None:
        grid.rows.append([*row, *[""] * (width - len(row))])
        grid.lines.append((min(line[0] for line in lines), max(line[1] for line in lines)))
        row.clear()
        lines.clear()

    for cell in cells:
        while len(row) < width and taken.get(len(row), 0):
            taken[len(row)] -= 1
            row.append("")
        if len(row) >= width and lines:
            close()
            while len(row) < width and taken.get(len(row), 0):
                taken[len(row)] -= 1
                row.append("")
        across = max(min(cell.across, width - len(row)), 1)
        for column in range(len(row), len(row) + across):
            taken[column] = cell.down - 1
        row += [cell.text, *[""] * (across - 1)]
        lines.append(cell.lines)
    if lines:
        close()
