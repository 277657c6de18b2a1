"""The contextual header: ``[Title > Section > Sub]`` and, for rows, the column names of their table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

_MORE = "…"


def heading_line(title: str, path: Sequence[str]) -> str:
    """The header of a section; a title that is also the first heading stands once."""
    return "[" + " > ".join(_parts(title, path)) + "]"


def fitting_header(title: str, path: Sequence[str], limit: int, count: Callable[[str], int]) -> tuple[str, int]:
    """The longest form of the header that takes at most ``limit`` by ``count``, and what it takes.

    First the middle of the path goes, then the title, then the end of the last heading; ("", 0) when nothing fits.
    """
    for form in _forms(_parts(title, path)):
        cost = count(form + "\n")
        if cost <= limit:
            return form, cost
    return "", 0


def fitting_row(row: str, limit: int, count: Callable[[str], int]) -> str:
    """A table's header row, its end an ellipsis where it takes more than ``limit``; "" when nothing fits."""
    if count(row) <= limit:
        return row
    low, high = 0, len(row)
    while low < high:
        middle = (low + high + 1) // 2
        if count(row[:middle].rstrip() + _MORE) <= limit:
            low = middle
        else:
            high = middle - 1
    return row[:low].rstrip() + _MORE if low else ""


def _parts(title: str, path: Sequence[str]) -> list[str]:
    parts = [title, *path] if title and (not path or path[0] != title) else list(path)
    return [" ".join(part.split()) for part in parts]


def _forms(parts: list[str]) -> Iterator[str]:
    """Ever shorter headers."""
    yield "[" + " > ".join(parts) + "]"
    for kept in range(len(parts) - 2, 0, -1):
        yield "[" + " > ".join([parts[0], _MORE, *parts[-kept:]]) + "]"
    last = parts[-1] if parts else ""
    if len(parts) > 1:
        yield f"[{_MORE} > {last}]"
    size = len(last)
    while size > 1:
        size = size * 3 // 4
        yield f"[{last[:size].rstrip()}{_MORE}]"
