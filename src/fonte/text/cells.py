"""Spreadsheet cells in A1 notation; rows and columns are counted from 0."""

from __future__ import annotations

_LETTERS = 26


def column_letters(column: int) -> str:
    """Name of a column: 0 is A, 26 is AA."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, _LETTERS)
        letters = chr(ord("A") + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """The column that has this name, in letters of either case."""
    number = 0
    for letter in letters.upper():
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number - 1


def cell_range(first_row: int, first_column: int, last_row: int, last_column: int) -> str:
    """A rectangle: ``B2:D9``, or ``C7`` for one cell."""
    start = f"{column_letters(first_column)}{first_row + 1}"
    end = f"{column_letters(last_column)}{last_row + 1}"
    return start if start == end else f"{start}:{end}"
