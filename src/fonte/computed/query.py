"""A plan to DuckDB and back: the table's columns that are needed go in as values, a fixed query comes out.

No text of a document or of a question is ever part of the SQL: columns are called ``c0``, ``n0``, ``d0`` by their
number, everything else is a bound parameter. The database lives in memory, reads no file, loads no extension, and
cannot be told otherwise once it is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, TypeAlias

from fonte.computed.conditions import Condition
from fonte.computed.grid import Table
from fonte.computed.reading import Plan
from fonte.computed.values import Moments, Numbers, fold
from fonte.computed.words import Operation

if TYPE_CHECKING:
    import duckdb

Value: TypeAlias = int | Decimal | datetime | str
Parameter: TypeAlias = Decimal | datetime | list[str]

_DIGITS = 38
_ROOM = 6
"""Digits that a sum of 1,000,000 rows may need beyond those of its numbers."""
_SHOWN = 10
_OF_TEXTS = (Operation.COUNT, Operation.LOOKUP)
"""Operations that look at a column's cells as they are written."""
_CLOSED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "threads": "1",
}
_TIED = 5


@dataclass(frozen=True, slots=True)
class Result:
    """What came out. ``value`` is None where no row had one."""

    plan: Plan
    value: Value | None
    rows: int
    """Rows that fulfil the conditions."""
    used: int
    """Rows of them whose cell went into the value."""
    found: tuple[int, ...]
    """The first of the rows that are the answer: counted, or holding the value."""
    tied: int
    """How many rows hold the value, of the highest, the lowest and what is looked up."""
    sql: str
    parameters: tuple[Parameter, ...]
    columns: Mapping[str, str]
    """Names in the query to names in the table."""
    rounded: bool = False


class Refused(Exception):
    """Nothing can be computed: a code, and what it is about."""

    def __init__(self, code: str, *about: str) -> None:
        super().__init__(code)
        self.code, self.about = code, about


def compute(plan: Plan) -> Result:
    """Run the plan.

    Raises:
        Refused: the columns do not bear it.
    """
    table, target = plan.table, plan.target
    typed: dict[int, Numbers | Moments] = {}
    for one in plan.conditions:
        if one.kind in ("number", "date"):
            typed[one.column] = _typed(table, one.column, one.kind)
            _check(table, one.column, typed[one.column], range(len(table.rows)))
        if one.negated and table.typed[one.column].empty:
            raise Refused("empty_under_not", table.names[one.column])
    measured = target is not None and plan.operation not in _OF_TEXTS
    if target is not None and measured:
        typed[target] = _target(plan, target)
    with _opened(plan, typed) as asked:
        rows = [_whole(row[0]) for row in asked.rows(f"SELECT r FROM t{asked.where} ORDER BY r")]
        if target is not None and measured:
            _check(table, target, typed[target], rows)
        return _result(plan, asked, rows, typed[target] if target is not None and measured else None)


def _target(plan: Plan, column: int) -> Numbers | Moments:
    kind = plan.table.typed[column].kind
    extreme = plan.operation in (Operation.HIGHEST, Operation.LOWEST)
    if kind == "text" or (kind == "date" and not extreme):
        raise Refused("not_numbers", plan.table.names[column])
    return _typed(plan.table, column, kind)


def _typed(table: Table, column: int, kind: str) -> Numbers | Moments:
    found = table.typed[column]
    read = found.numbers(table.style) if kind == "number" else found.dates()
    if isinstance(read, str):
        raise Refused(read, table.names[column])
    return read


def _check(table: Table, column: int, read: Numbers | Moments, rows: Sequence[int]) -> None:
    """Refuse cells that say something else than a value, and values of several units."""
    wanted = set(rows)
    odd = next((at for at in read.unread if at in wanted), None)
    if odd is not None:
        raise Refused("unread", table.names[column], table.columns[column][odd])
    if isinstance(read, Numbers):
        amounts, cells = table.typed[column].amounts, table.columns[column]
        units = {amounts[cells[at]].unit for at in rows if cells[at] in amounts}
        if len(units) > 1:
            raise Refused("mixed_units", table.names[column], *sorted(unit or "-" for unit in units))


# --- the database


@dataclass(frozen=True)
class _Database:
    """A table that is open for one plan."""

    connection: duckdb.DuckDBPyConnection
    where: str
    parameters: tuple[Parameter, ...]
    names: Mapping[str, str]

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What the query gives. Raises Refused where a sum has more digits than can be kept."""
        import duckdb

        try:
            return self.connection.execute(sql, list(self.parameters)).fetchall()
        except duckdb.OutOfRangeException as error:
            raise Refused("too_long", *self.names.values()) from error

    def also(self, condition: str) -> str:
        """The WHERE clause with one condition more."""
        return f"{self.where} AND {condition}" if self.where else f" WHERE {condition}"


@contextmanager
def _opened(plan: Plan, typed: Mapping[int, Numbers | Moments]) -> Iterator[_Database]:
    import duckdb

    table = plan.table
    texts = {one.column for one in plan.conditions if one.kind in ("cells", "empty")}
    if plan.target is not None and plan.operation in _OF_TEXTS:
        texts.add(plan.target)
    names = {f"c{column}": table.names[column] for column in sorted(texts)}
    names |= {f"{_letter(read)}{column}": table.names[column] for column, read in sorted(typed.items())}
    where, parameters = _where(plan.conditions)
    with duckdb.connect(":memory:", config=dict(_CLOSED)) as connection:
        connection.register("t", _arrow(table, texts, typed))
        connection.execute("SET lock_configuration = true")
        yield _Database(connection, where, parameters, names)


def _arrow(table: Table, texts: AbstractSet[int], typed: Mapping[int, Numbers | Moments]) -> object:
    import pyarrow as pa

    columns = {"r": pa.array(range(len(table.rows)), pa.int64())}
    for column in texts:
        columns[f"c{column}"] = pa.array([cell or None for cell in table.columns[column]], pa.string())
    for column, read in typed.items():
        if isinstance(read, Numbers):
            kind = pa.decimal128(_DIGITS, _scale(read, table.names[column]))
        else:
            kind = pa.timestamp("us")
        columns[f"{_letter(read)}{column}"] = pa.array(read.values, kind)
    return pa.table(columns)


def _scale(read: Numbers, name: str) -> int:
    """Digits behind the decimal mark of a column; Refused where its sum could have more digits than are kept."""
    parts = [value.as_tuple() for value in read.values if value is not None]
    scale = max((-int(part.exponent) for part in parts), default=0)
    longest = max((len(part.digits) + int(part.exponent) for part in parts), default=0)
    if longest + scale + _ROOM > _DIGITS:
        raise Refused("too_long", name)
    return scale


def _letter(read: Numbers | Moments) -> str:
    return "n" if isinstance(read, Numbers) else "d"


def _where(conditions: Sequence[Condition]) -> tuple[str, tuple[Parameter, ...]]:
    """The clause, out of column numbers and fixed words alone, and its parameters."""
    clauses: list[str] = []
    parameters: list[Parameter] = []
    for one in conditions:
        if one.kind == "empty":
            clause = f"c{one.column} IS NULL"
        elif one.kind == "cells":
            clause = f"list_contains(?, c{one.column})"
            parameters.append(list(one.cells))
        else:
            column = f"{one.kind[0]}{one.column}"
            bounds = [(one.low, ">" if one.low_open else ">="), (one.high, "<" if one.high_open else "<=")]
            clause = " AND ".join(f"{column} {sign} ?" for value, sign in bounds if value is not None)
            parameters += [value for value, _ in bounds if value is not None]
        clauses.append(f"NOT ({clause})" if one.negated else clause)
    return (" WHERE " + " AND ".join(clauses) if clauses else ""), tuple(parameters)


# --- what comes out


def _result(plan: Plan, asked: _Database, rows: Sequence[int], read: Numbers | Moments | None) -> Result:
    value: Value | None
    used, found, tied, rounded = len(rows), tuple(rows[:_SHOWN]), len(rows), False
    if plan.target is None:
        sql = f"SELECT count(*) FROM t{asked.where}"
        value = _whole(asked.rows(sql)[0][0])
    elif read is None and plan.operation is Operation.COUNT:
        sql = f"SELECT count(DISTINCT c{plan.target}) FROM t{asked.where}"
        value, used = _whole(asked.rows(sql)[0][0]), _one_spelling(plan, plan.target, rows)
        found = ()
    elif read is None:
        sql = f"SELECT c{plan.target} FROM t{asked.where}"
        value = None
        if not rows:
            raise Refused("no_rows", plan.table.names[plan.target])
        if len(rows) > _TIED:
            raise Refused("several_rows", plan.table.names[plan.target])
    else:
        if not any(read.values[at] is not None for at in rows):
            raise Refused("no_rows", plan.table.names[plan.target])
        used = sum(read.values[at] is not None for at in rows)
        sql, value, rounded = _aggregated(plan, asked, f"{_letter(read)}{plan.target}", used)
        if plan.operation in (Operation.HIGHEST, Operation.LOWEST):
            holding = [at for at in rows if read.values[at] == value]
            found, tied = tuple(holding[:_TIED]), len(holding)
    return Result(plan, value, len(rows), used, found, tied, sql, asked.parameters, asked.names, rounded)


def _aggregated(plan: Plan, asked: _Database, column: str, used: int) -> tuple[str, Value, bool]:
    """The query, its value, and whether that had to be rounded."""
    if plan.operation in (Operation.HIGHEST, Operation.LOWEST):
        sql = f"SELECT {'max' if plan.operation is Operation.HIGHEST else 'min'}({column}) FROM t{asked.where}"
        return sql, _value(asked.rows(sql)[0][0]), False
    if plan.operation is Operation.SUM:
        sql = f"SELECT sum({column}) FROM t{asked.where}"
        return sql, _value(asked.rows(sql)[0][0]), False
    if plan.operation is Operation.AVERAGE:
        sql = f"SELECT sum({column}), count({column}) FROM t{asked.where}"
        total, count = asked.rows(sql)[0]
        return sql, *_divided(_decimal(total), _whole(count))
    # DuckDB's own median of decimals drops digits; the middle values do not.
    sql = (
        f"SELECT {column} FROM t{asked.also(f'{column} IS NOT NULL')} ORDER BY {column}"
        f" LIMIT {2 - used % 2} OFFSET {(used - 1) // 2}"
    )
    middle = [_decimal(row[0]) for row in asked.rows(sql)]
    return sql, *_divided(sum(middle, Decimal(0)), len(middle))


def _divided(total: Decimal, count: int) -> tuple[Decimal, bool]:
    """The quotient, exactly where it ends within two digits more than the numbers have, else rounded there."""
    own = Decimal(1).scaleb(min(int(total.as_tuple().exponent), 0))
    with localcontext(prec=2 * _DIGITS):
        short = (total / count).quantize(own.scaleb(-2))
        plain = short.quantize(own)
    return plain if plain == short else short, short * count != total


def _one_spelling(plan: Plan, column: int, rows: Sequence[int]) -> int:
    """How many rows have a cell in the column; Refused where two cells differ in nothing but their spelling."""
    cells = [cell for at in rows if (cell := plan.table.columns[column][at])]
    folds: dict[str, str] = {}
    for cell in set(cells):
        other = folds.setdefault(fold(cell), cell)
        if other != cell:
            raise Refused("spelling", plan.table.names[column], *sorted((other, cell)))
    return len(cells)


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("a count is a whole number")
    return value


def _decimal(value: object) -> Decimal:
    if not isinstance(value, Decimal):
        raise TypeError("a column of decimals gives decimals")
    return value


def _value(value: object) -> Decimal | datetime:
    return value if isinstance(value, datetime) else _decimal(value)
