"""A question against one table: what would have to be computed on it, or what was not understood.

Every word must be accounted for: by the operation, a column's name, a cell, the table's own name, a comparison, or as a
word that says nothing of the rows. A question with a word left over is not answered from this table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fonte.computed.claims import Claims, Named, claimed
from fonte.computed.conditions import Condition, Unclear, conditions_of
from fonte.computed.grid import Table
from fonte.computed.quantity import quantity_columns
from fonte.computed.question import Question, Span
from fonte.computed.values import MONEY, alike, fold, stems
from fonte.computed.words import ASKING, DIFFERENT, GLUE, OF_A_PLACE, THINGS, Operation

__all__ = ["Condition", "Plan", "Unread", "plan_of"]


_NUMBER = frozenset({"number", "numero"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compute: an operation on a column (or on rows) under conditions that all hold."""

    table: Table
    operation: Operation
    target: int | None
    """Column that is added up, averaged, compared or told; None where rows are counted."""
    conditions: tuple[Condition, ...]
    distinct: bool = False
    shown: int | None = None
    """Column that names the rows found, of the highest and lowest."""
    named: bool = True
    """The question names the table or something in it, not only rows and tables as such."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a table does not answer: a code, the words or names that it is about, and whether it is meant at all."""

    code: str
    about: tuple[str, ...]
    meant: bool
    """The question asks for something computed of this table's rows or columns."""
    mostly: bool = False
    """Most of its words were understood."""


def plan_of(question: Question, table: Table) -> Plan | Unread:
    """What the question asks of the table."""
    claims = claimed(question, table)
    operation, kind, meant = _operation(question, claims)
    counts = operation is Operation.COUNT
    for at, word in enumerate(question.words):
        if claims.kinds[at] is None and word in DIFFERENT and counts:
            claims.kinds[at] = "different"
    counted = counts and _rows_counted(question, claims)
    if operation is None:
        return Unread("two_operations", (), meant, claims.mostly)
    lookup = operation is Operation.LOOKUP or _of_a_cell(question, claims)
    try:
        conditions = conditions_of(claims)
    except Unclear as error:
        return Unread(error.code, error.about, not lookup and (meant or bool(_targets(claims))), claims.mostly)
    targets = _targets(claims)
    meant = not lookup and (meant or (operation is not Operation.COUNT and bool(targets)))
    left = claims.left()
    if question.unclear or left:
        return Unread("words", tuple(left), meant, claims.mostly or counted)
    if operation is Operation.LOOKUP and (question.words[0] not in ASKING or not conditions):
        return Unread("words", (), meant=False)
    return _planned(claims, operation, kind, conditions, targets)


def _planned(
    claims: Claims,
    operation: Operation,
    kind: str,
    conditions: tuple[Condition, ...],
    targets: Sequence[tuple[Span, Named]],
) -> Plan | Unread:
    """What an operation whose question was understood wholly does to which column."""
    table, lookup = claims.table, operation is Operation.LOOKUP
    ambiguous = next((named for _, named in targets if len(named.columns) > 1), None)
    if ambiguous is not None:
        return Unread("which_column", tuple(table.names[at] for at in ambiguous.columns), not lookup, mostly=True)
    if operation is Operation.COUNT:
        return _counting(claims, conditions, targets)
    if operation in (Operation.HIGHEST, Operation.LOWEST):
        return _extreme(claims, operation, kind, conditions, targets)
    if len(targets) != 1:
        code = "no_column" if not targets else "two_columns"
        names = tuple(table.names[named.columns[0]] for _, named in targets)
        return Unread(code, names, not lookup and bool(targets), claims.mostly)
    return Plan(table, operation, targets[0][1].columns[0], conditions)


def _operation(question: Question, claims: Claims) -> tuple[Operation | None, str, bool]:
    """The operation (None: there are two), the kind of column that its word asks for, and if it is of the table."""
    found: list[tuple[Operation, str, Span]] = []
    for span in question.operations:
        meaning = span.meaning
        if isinstance(meaning, tuple) and (claims.free(span) or claims.kinds[span.first] == "operation"):
            claims.claim(span, "operation")
            found.append((meaning[0], meaning[1], span))
    kinds = {operation for operation, _, _ in found}
    follows = Operation.COUNT in kinds and _follows(question, claims)
    counts = [span for operation, _, span in found if operation is Operation.COUNT]
    if counts and Operation.SUM in kinds:
        kinds.discard(Operation.SUM)  # the total number of rows is their number
    elif len(counts) == 1 and len(kinds) > 1 and question.words[counts[0].first] in _NUMBER:
        kinds.discard(Operation.COUNT)  # the average number of days is the average of their column
    if len(kinds) > 1:
        kinds.discard(Operation.LOOKUP)
    if len(kinds) > 1 or len(counts) > 1:
        return None, "", follows
    operation = kinds.pop() if kinds else Operation.LOOKUP
    return operation, next((kind for _, kind, _ in found if kind), ""), follows


def _counted(question: Question, claims: Claims) -> range:
    """The words that say what is counted: those right after the operation that were understood, without a break."""
    first = next((span.last for span in question.operations if span.meaning == (Operation.COUNT, "")), 0)
    words = question.words
    while first < len(words) and claims.kinds[first] is None and words[first] in GLUE:
        first += 1
    last = first
    while last < len(words) and claims.kinds[last] is not None:
        last += 1
    return range(first, last)


def _rows_counted(question: Question, claims: Claims) -> bool:
    """Whether what is counted is what the table's first column holds, by its whole name."""
    counted = _counted(question, claims)
    return any(span.first in counted and named.whole and named.columns == (0,) for span, named in claims.columns)


def _of_a_cell(question: Question, claims: Claims) -> bool:
    """Whether "how many" asks for what a cell says (``how many days has Rome``): then its row answers as it is.

    It does where the first thing counted is in a column's name, the first column's aside.
    """
    counted = _counted(question, claims)
    if any(_sums(span) for span in question.operations) or not DIFFERENT.isdisjoint(question.words) or not counted:
        return False
    said, first = question.words[counted[0]], fold(claims.table.names[0]).split()
    return not any(stems(said) & stems(word) for word in first) and any(
        stems(said) & stems(word) for name in claims.table.names[1:] for word in fold(name).split()
    )


def _follows(question: Question, claims: Claims) -> bool:
    """Whether the things that are counted are the table's."""
    return any(claims.kinds[at] in ("name", "rows", "column") for at in _counted(question, claims))


def _targets(claims: Claims) -> list[tuple[Span, Named]]:
    """Columns that are named and that no condition used, each once.

    Of several, those whose name is the table's own as well (``orders`` of a table of orders) only say which table.
    """
    found: dict[tuple[int, ...], tuple[Span, Named]] = {}
    for span, named in claims.columns:
        if claims.kinds[span.first] == "column":
            found.setdefault(named.columns, (span, named))
    others = [one for one in found.values() if not claims.names_table(one[0])]
    return others if len(found) > 1 and others else list(found.values())


def _counting(
    claims: Claims, conditions: tuple[Condition, ...], targets: Sequence[tuple[Span, Named]]
) -> Plan | Unread:
    table = claims.table
    distinct = "different" in claims.kinds
    named = "name" in claims.kinds or bool(conditions) or bool(targets)
    counted = _counted(claims.question, claims)
    if len(targets) == 1 and targets[0][0].first not in counted and claims.names_table(targets[0][0]):
        targets = ()  # "rows of the bins", in a table of bins that has a column of them
    if not distinct and (named or "rows" in claims.kinds):
        added_up = _added_up(claims, conditions, targets, counted)
        if added_up is not None:
            return added_up
    if not targets:
        if distinct:
            return Unread("no_column", (), meant=True, mostly=claims.mostly)
        if not named and "rows" not in claims.kinds:
            return Unread("words", (), meant=False)
        return Plan(table, Operation.COUNT, None, conditions, named=named)
    if len(targets) > 1:
        return Unread(
            "two_columns", tuple(table.names[one.columns[0]] for _, one in targets), meant=True, mostly=claims.mostly
        )
    column = targets[0][1].columns[0]
    if targets[0][0].first not in counted:
        return Unread("what_of", (table.names[column],), meant=True, mostly=claims.mostly)
    if table.typed[column].kind == "number" and not distinct and not _numbers_rows(table, column):
        total = sum(1 for span in claims.question.operations if _sums(span))
        return Plan(table, Operation.SUM if total else Operation.LOOKUP, column, conditions)
    return Plan(table, Operation.COUNT, column, conditions, distinct=True)


def _added_up(
    claims: Claims, conditions: tuple[Condition, ...], targets: Sequence[tuple[Span, Named]], counted: range
) -> Plan | Unread | None:
    """The sum of the column that says how many, where things are counted that a row names; None: it is not meant.

    Where rows may be meant as well, or several such columns, the question is refused.
    """
    table, kinds = claims.table, {claims.kinds[at] for at in counted}
    columns = quantity_columns(table)
    if not columns or _rows_meant(claims, counted):
        return None
    a_row_names = (
        "value" in kinds and not kinds & {"name", "column", "rows", "kind"} and not _only_where(claims, counted)
    )
    if any(one.column in columns for one in conditions):  # "laptops with a quantity over 5": those rows, or their sum
        return _refused("rows_or_quantity", table, columns) if a_row_names else None
    named = [one.columns[0] for _, one in targets]
    things = not THINGS.isdisjoint(claims.question.words[at] for at in counted)
    if any(at not in columns for at in named) and not things:
        return None
    if len(named) == 1 and named[0] in columns:
        columns = (named[0],)
    elif things or not a_row_names:
        return _refused("rows_or_quantity", table, columns)
    if len(columns) > 1:
        return _refused("which_column", table, columns)
    if any(one.listed for one in conditions):
        return _refused("shared_quantity", table, columns)
    return Plan(table, Operation.SUM, columns[0], conditions)


def _only_where(claims: Claims, counted: range) -> bool:
    """Whether nothing is said to be counted, only where (``how many are in Rome``)."""
    first = next(span.last for span in claims.question.operations if span.meaning == (Operation.COUNT, ""))
    return not OF_A_PLACE.isdisjoint(claims.question.words[first : counted.start])


def _refused(code: str, table: Table, columns: Sequence[int]) -> Unread:
    return Unread(code, tuple(table.names[at] for at in columns), meant=True, mostly=True)


def _rows_meant(claims: Claims, counted: range) -> bool:
    """Whether rows are counted by name: as such, or as what the first column gives each its own name."""
    table, words = claims.table, claims.question.words
    each = len(table.typed[0].distinct) == len(table.rows)
    return any(
        (claims.kinds[at] == "rows" and words[at] not in THINGS)
        or (claims.kinds[at] == "name" and each and any(alike(words[at], own) for own in fold(table.names[0]).split()))
        for at in counted
    )


def _numbers_rows(table: Table, column: int) -> bool:
    """Whether a column of numbers only names rows: the first one, each number once."""
    found = table.typed[column]
    return column == 0 and len(found.distinct) == len(found.cells)


def _sums(span: Span) -> bool:
    return isinstance(span.meaning, tuple) and span.meaning[0] is Operation.SUM


def _extreme(
    claims: Claims,
    operation: Operation,
    kind: str,
    conditions: tuple[Condition, ...],
    targets: Sequence[tuple[Span, Named]],
) -> Plan | Unread:
    table = claims.table
    columns = [named.columns[0] for _, named in targets]
    able = [column for column in columns if _is_of(table, column, kind)]
    if not able and kind == "money":  # "the cheapest by price": the column is named, whatever its unit
        able = [column for column in columns if _is_of(table, column, "") and not _is_of(table, column, "date")]
    if not able and kind:
        able = [column for column in range(len(table.names)) if _is_of(table, column, kind)]
        if len(able) > 1:
            return Unread(
                "which_column",
                tuple(table.names[one] for one in able),
                meant="name" in claims.kinds,
                mostly=claims.mostly,
            )
    if len(able) != 1:
        code = "two_columns" if able else "no_column"
        return Unread(code, tuple(table.names[one] for one in able or columns), meant=bool(able), mostly=claims.mostly)
    others = [column for column in columns if column != able[0]]
    if len(others) > 1:
        return Unread("two_columns", tuple(table.names[one] for one in others), meant=True, mostly=claims.mostly)
    return Plan(table, operation, able[0], conditions, shown=others[0] if others else 0)


def _is_of(table: Table, column: int, kind: str) -> bool:
    found = table.typed[column]
    if kind == "money":
        return found.kind == "number" and all(one.unit in MONEY for one in found.amounts.values())
    if kind == "date":
        return found.kind == "date"
    return found.kind in ("number", "date")
