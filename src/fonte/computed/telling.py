"""A result in words, English or Italian: the value, what was computed, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from fonte.computed.conditions import Condition
from fonte.computed.grid import Table
from fonte.computed.quantity import quantity_columns
from fonte.computed.query import Result
from fonte.computed.reading import Plan
from fonte.computed.words import Operation
from fonte.types import Language

Words: TypeAlias = Mapping[str, str]

_EN: Words = {
    "row": "row",
    "rows": "rows",
    "count": "{table} has {rows}{where}.",
    "distinct": "{table} has {value} different values of {column}, in {rows}{where}.",
    "same": "{table} has {value} different value of {column}, in {rows}{where}.",
    "sum": "The total of {column} in {table}, over {rows}{where}, is {value}.",
    "average": "The average of {column} in {table}, over {rows}{where}, is {value}.",
    "median": "The median of {column} in {table}, over {rows}{where}, is {value}.",
    "highest": "The highest {column} in {table}, over {rows}{where}, is {value}: {names}.",
    "lowest": "The lowest {column} in {table}, over {rows}{where}, is {value}: {names}.",
    "more": "{names} and {count} more",
    "lookup": "{column} of {name}: {value}.",
    "items": "They are: {names}.",
    "where": " where {conditions}",
    "and": " and ",
    "or": " or ",
    "is": "{column} is {value}",
    "is not": "{column} is not {value}",
    "lists": "{column} is or lists {value}",
    "lists not": "{column} neither is nor lists {value}",
    "empty": "{column} is empty",
    "not": "not ({condition})",
    "over": "{column} is over {low}",
    "from": "{column} is at least {low}",
    "under": "{column} is under {high}",
    "to": "{column} is at most {high}",
    "between": "{column} is from {low} to {high}",
    "after": "{column} is {low} or later",
    "before": "{column} is before {high}",
    "during": "{column} is from {low} on and before {high}",
    "rounded": " (rounded)",
    "no value": "Left out, without a value of {column}: {rows}.",
    "no cell": "Not counted, because {column} is empty: {rows}.",
    "not added": "Different values of {column} are counted; {quantity} is not added up.",
    "totals": "Left out, because it adds up the others: {rows}.",
    "repeats": "Rows that repeat another one exactly, and were counted: {rows}.",
    "hidden": "The sheet is hidden in the workbook.",
    "quotes": "“{}”",
}
_IT: Words = {
    "row": "riga",
    "rows": "righe",
    "count": "{table} ha {rows}{where}.",
    "distinct": "{table} ha {value} valori diversi di {column}, in {rows}{where}.",
    "same": "{table} ha {value} valore di {column}, in {rows}{where}.",
    "sum": "Il totale di {column} in {table}, su {rows}{where}, è {value}.",
    "average": "La media di {column} in {table}, su {rows}{where}, è {value}.",
    "median": "La mediana di {column} in {table}, su {rows}{where}, è {value}.",
    "highest": "Il valore più alto di {column} in {table}, su {rows}{where}, è {value}: {names}.",
    "lowest": "Il valore più basso di {column} in {table}, su {rows}{where}, è {value}: {names}.",
    "more": "{names} e altre {count}",
    "lookup": "{column} di {name}: {value}.",
    "items": "Sono: {names}.",
    "where": " in cui {conditions}",
    "and": " e ",
    "or": " o ",
    "is": "{column} è {value}",
    "is not": "{column} non è {value}",
    "lists": "{column} è o elenca {value}",
    "lists not": "{column} non è e non elenca {value}",
    "empty": "{column} è vuoto",
    "not": "non ({condition})",
    "over": "{column} è oltre {low}",
    "from": "{column} è almeno {low}",
    "under": "{column} è sotto {high}",
    "to": "{column} è al massimo {high}",
    "between": "{column} va da {low} a {high}",
    "after": "{column} è il {low} o dopo",
    "before": "{column} è prima del {high}",
    "during": "{column} è dal {low} e prima del {high}",
    "rounded": " (arrotondato)",
    "no value": "Escluse, senza un valore di {column}: {rows}.",
    "no cell": "Non contate, perché {column} è vuoto: {rows}.",
    "not added": "Si contano i valori diversi di {column}; {quantity} non si somma.",
    "totals": "Esclusa, perché somma le altre: {rows}.",
    "repeats": "Righe che ripetono per intero un'altra, e che sono contate: {rows}.",
    "hidden": "Il foglio è nascosto nella cartella di lavoro.",
    "quotes": "«{}»",
}
_LONGEST_NAME = 100
_ALL_SAID = 3
_ITEMS = 10
_OPERATION_KEYS = {
    Operation.SUM: "sum",
    Operation.AVERAGE: "average",
    Operation.MEDIAN: "median",
    Operation.HIGHEST: "highest",
    Operation.LOWEST: "lowest",
}


def words_of(language: Language) -> Words:
    """The texts of a language."""
    return _IT if language == "it" else _EN


def main_sentence(result: Result, language: Language) -> str:
    """What was computed and what came out, as one sentence."""
    say, plan = words_of(language), result.plan
    told = {
        "table": plan.table.label,
        "where": expression(plan, language),
        "rows": _rows(result.used if plan.target is not None else result.rows, say, language),
        "value": value_text(result, language),
        "column": plan.table.names[plan.target] if plan.target is not None else "",
        "names": "",
    }
    if plan.target is None:
        return say["count"].format(**told)
    if plan.operation is Operation.COUNT:
        return say["same" if result.value == 1 else "distinct"].format(**told)
    names = ", ".join(name_of(plan.table, row, plan.shown) for row in result.found)
    if result.tied > len(result.found):
        names = say["more"].format(names=names, count=result.tied - len(result.found))
    return say[_OPERATION_KEYS[plan.operation]].format(**{**told, "names": names})


def lookup_sentence(result: Result, row: int, language: Language) -> str:
    """One row's cell, with the row's name."""
    plan = result.plan
    column = plan.target or 0
    return words_of(language)["lookup"].format(
        column=plan.table.names[column], name=name_of(plan.table, row, 0), value=plan.table.columns[column][row] or "-"
    )


def items_of(result: Result) -> tuple[int, ...]:
    """The rows that a count names one by one: where they are few and have names that can be read."""
    plan = result.plan
    few = plan.operation is Operation.COUNT and 0 < result.rows <= _ITEMS and len(result.found) == result.rows
    named = few and all(0 < len(plan.table.columns[0][row]) <= _LONGEST_NAME for row in result.found)
    return result.found if named else ()


def left_out(result: Result, language: Language) -> list[str]:
    """Sentences that say what was not counted, and what was counted although it may surprise."""
    say, plan = words_of(language), result.plan
    table, sentences = plan.table, []
    without = result.rows - result.used
    if plan.target is not None and without:
        name = table.names[plan.target]
        sentences.append(say["no value"].format(column=name, rows=_rows(without, say, language)))
    quantities = [table.names[at] for at in quantity_columns(table) if at != plan.target]
    if plan.operation is Operation.COUNT and plan.target is not None and quantities:
        told = {"column": table.names[plan.target], "quantity": names_of(quantities, language)}
        sentences.append(say["not added"].format(**told))
    for one in plan.conditions:
        empty = table.typed[one.column].empty if one.kind != "empty" else 0
        if empty:
            name = table.names[one.column]
            sentences.append(say["no cell"].format(column=name, rows=_rows(empty, say, language)))
    for start, end in table.totals:
        sentences.append(say["totals"].format(rows=table.document.text[start:end]))
    again = len(table.rows) - len(set(zip(*table.columns, strict=True)))
    if plan.operation is Operation.COUNT and plan.target is None and again:
        sentences.append(say["repeats"].format(rows=_rows(again, say, language)))
    return sentences


def expression(plan: Plan, language: Language) -> str:
    """The conditions in words, with what joins them to the sentence; empty where there are none."""
    say = words_of(language)
    if not plan.conditions:
        return ""
    parts = [_condition(plan.table, one, say, language) for one in plan.conditions]
    return say["where"].format(conditions=say["and"].join(parts))


def _condition(table: Table, one: Condition, say: Words, language: Language) -> str:
    name = table.names[one.column]
    if one.kind == "empty":
        return say["empty"].format(column=name)
    if one.kind == "cells":
        told = one.said if one.listed or len(one.cells) > _ALL_SAID else one.cells
        value = say["or"].join(say["quotes"].format(cell) for cell in told)
        return say[("lists" if one.listed else "is") + (" not" if one.negated else "")].format(column=name, value=value)
    key, low, high = _bounds(table, one, language)
    said = say[key].format(column=name, low=low, high=high)
    return say["not"].format(condition=said) if one.negated else said


def _bounds(table: Table, one: Condition, language: Language) -> tuple[str, str, str]:
    """The key of the words for a condition's bounds, and the bounds."""
    shown: Callable[[Decimal | datetime | None], str] = lambda value: (  # noqa: E731 - two uses below
        "" if value is None else _amount(table, one.column, value, language)
    )
    low, high = shown(one.low), shown(one.high)
    if one.kind == "date":
        return ("during" if low and high else "after" if low else "before"), low, high
    if low and high:
        return ("is" if one.low == one.high else "between"), low, high
    if low:
        return ("over" if one.low_open else "from"), low, high
    return ("under" if one.high_open else "to"), low, high


def value_text(result: Result, language: Language) -> str:
    """The value with its unit, as the language writes numbers."""
    value, plan = result.value, result.plan
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int):
        return number_text(Decimal(value), language)
    said = _amount(plan.table, plan.target or 0, value, language)
    return said + words_of(language)["rounded"] if result.rounded else said


def _amount(table: Table, column: int, value: Decimal | datetime, language: Language) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == datetime.min.time() else value.isoformat(sep=" ")
    forms = Counter((one.prefix, one.suffix) for one in table.typed[column].amounts.values())
    prefix, suffix = forms.most_common(1)[0][0] if forms else ("", "")
    return " ".join(part for part in (prefix, number_text(value, language), suffix) if part)


def number_text(value: Decimal, language: Language) -> str:
    """1234.50 as 1,234.50 in English and 1.234,50 in Italian."""
    text = f"{value:,f}"
    return text.translate(str.maketrans(",.", ".,")) if language == "it" else text


def name_of(table: Table, row: int, column: int | None) -> str:
    """What a row is called: its cell in the column that was asked for, else its first one."""
    shown = table.columns[column or 0][row]
    return shown or next((cells[row] for cells in table.columns if cells[row]), "-")


def _rows(count: int, say: Words, language: Language) -> str:
    return f"{number_text(Decimal(count), language)} {say['row'] if count == 1 else say['rows']}"


def names_of(labels: Sequence[str], language: Language) -> str:
    """Names in quotes, joined."""
    return ", ".join(words_of(language)["quotes"].format(one) for one in labels)
