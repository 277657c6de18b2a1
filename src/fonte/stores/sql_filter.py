"""Filter text for LanceDB. Values enter it only as quoted literals; no text ever becomes SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fonte.types import Query

NOBODY = "FALSE"


def quoted(value: str) -> str | None:
    """``value`` as an SQL string literal, or None when no stored value can equal it (a NUL, a lone surrogate).

    A literal has one special character, the quote, which is doubled; backslashes stand for themselves.
    """
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return None
    return "'" + value.replace("'", "''") + "'"


def literals(values: Iterable[str]) -> list[str]:
    """The literals of the values that have one, sorted, without repeats."""
    return sorted({literal for value in values if (literal := quoted(value)) is not None})


def any_of(column: str, values: Iterable[str]) -> str:
    """``column`` equals one of the values; nothing when there are none."""
    found = literals(values)
    return f"{column} IN ({', '.join(found)})" if found else NOBODY


def valid_on(day: str) -> str:
    """Rows whose documents hold for a day, written as their columns are: days of one form compare as text does."""
    return f"valid_from <= '{day}' AND (valid_to = '' OR valid_to >= '{day}')"


def readable(query: Query, revoked: Sequence[str]) -> str:
    """The predicate of one question: the asker's roles, the filters, and no revoked document."""
    roles = literals(query.principal.held_roles)
    parts = [f"array_has_any(roles, [{', '.join(roles)}])" if roles else NOBODY]
    wanted = query.filters
    if wanted.documents:
        columns = ("document_id", "document_name", "source_uri")
        parts.append("(" + " OR ".join(any_of(column, wanted.documents) for column in columns) + ")")
    if wanted.languages:
        parts.append(any_of("language", wanted.languages))
    if wanted.media_types:
        parts.append(any_of("media_type", wanted.media_types))
    if query.as_of is not None:
        parts.append(valid_on(query.as_of.isoformat()))
    gone = literals(revoked)
    if gone:
        parts.append(f"document_id NOT IN ({', '.join(gone)})")
    return " AND ".join(parts)
