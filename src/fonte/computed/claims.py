"""Which words of a question are a table's column names, cells and own names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fonte.computed.grid import Table
from fonte.computed.question import Question, Span
from fonte.computed.values import Column, alike, fold, stems
from fonte.computed.words import GLUE, KINDS, LISTS, MEANT, NEAR, OPERATIONS

_LONGEST = 24
"""Words of a cell that a question may name whole."""
_OF_THE_TABLE = frozenset("name rows column value used number date missing".split())
_FEW = 2000
"""Distinct cells up to which other forms of their words are looked for."""


@dataclass(frozen=True, slots=True)
class Named:
    """A column's name in the question; several columns where the words fit more than one."""

    columns: tuple[int, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A cell's text in the question: for each column that has it, the cells that are it or list it."""

    cells: dict[int, tuple[str, ...]]
    listed: bool
    """Some cell lists it among other things."""


@dataclass
class Claims:
    """What each word was taken for; a word without a claim was not understood."""

    question: Question
    table: Table
    kinds: list[str | None] = field(default_factory=list)
    columns: list[tuple[Span, Named]] = field(default_factory=list)
    values: list[tuple[Span, Said]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kinds = [None] * len(self.question.words)

    def free(self, span: Span) -> bool:
        """Whether nothing was said of any of its words."""
        return all(kind is None for kind in self.kinds[span.first : span.last])

    def claim(self, span: Span, kind: str) -> None:
        """Take words for something."""
        self.kinds[span.first : span.last] = [kind] * (span.last - span.first)

    def left(self) -> list[str]:
        """Words that were not understood, as they were written."""
        return [
            self.question.written[at]
            for at, kind in enumerate(self.kinds)
            if kind is None and self.question.words[at] not in GLUE
        ]

    @property
    def mostly(self) -> bool:
        """Whether at least two words, and two of three, were understood as the table's, a number or a date."""
        known = sum(kind in _OF_THE_TABLE for kind in self.kinds)
        return known > 1 and known >= 2 * len(self.left())

    def names_table(self, span: Span) -> bool:
        """Whether the words of a span are all in the table's own name."""
        words = [word for word in self.question.words[span.first : span.last] if word not in GLUE]
        return all(any(alike(word, own) for own in self.table.words) for word in words)

    def column_before(self, at: int) -> tuple[Span, Named] | None:
        """The column that is named before word ``at``, with nothing that says more between."""
        while at > 0 and self.kinds[at - 1] is None and self.question.words[at - 1] in NEAR:
            at -= 1
        return next((one for one in self.columns if one[0].last == at), None)

    def column_after(self, at: int) -> tuple[Span, Named] | None:
        """The same after word ``at``."""
        words = self.question.words
        while at < len(words) and self.kinds[at] is None and words[at] in NEAR:
            at += 1
        return next((one for one in self.columns if one[0].first == at), None)


def claimed(question: Question, table: Table) -> Claims:
    """Names of columns, cells and names of the table in the question, the longest first."""
    claims = Claims(question, table)
    for span in question.operations:
        if question.counts and _is_count(span):
            claims.claim(span, "operation")
    found = [(span, named) for span, named in _column_spans(question, table) if named.whole]
    said = list(_value_spans(question, table))
    both: list[tuple[Span, Named | Said]] = [
        *found,
        *((span, value) for span, value in said if _strong(question, span)),
    ]
    both.sort(key=lambda one: (one[0].first - one[0].last, isinstance(one[1], Said), one[0].first))
    for span, meaning in both:
        if claims.free(span):
            _take(claims, span, meaning)
    for span, value in said:
        near = [one for one in (claims.column_before(span.first), claims.column_after(span.last)) if one]
        if any(one.first <= span.first and span.last <= one.last for one in question.numbers) and any(
            table.typed[column].kind == "number" for column in value.cells
        ):
            continue  # a number of a column of numbers is compared, not looked up as a text
        if claims.free(span) and any(set(named.columns) & set(value.cells) for _, named in near):
            _take(claims, span, value)
    _names(claims)
    for span, named in _column_spans(question, table):
        if not named.whole and claims.free(span):
            _take(claims, span, named)
    claims.columns.sort(key=lambda one: one[0].first)
    claims.values.sort(key=lambda one: one[0].first)
    return claims


def _take(claims: Claims, span: Span, meaning: Named | Said) -> None:
    if isinstance(meaning, Named):
        claims.claim(span, "column")
        claims.columns.append((span, meaning))
    else:
        claims.claim(span, "value")
        claims.values.append((span, meaning))


def _is_count(span: Span) -> bool:
    return isinstance(span.meaning, tuple) and span.meaning[0] == "count"


def _strong(question: Question, span: Span) -> bool:
    """Whether the words can be a cell by themselves: not a bare number, a letter, or words that say how to compute."""
    words = question.words[span.first : span.last]
    taken = MEANT if not question.counts else MEANT - _OPERATION_WORDS | GLUE
    return (
        not all(word in taken for word in words)
        and not all(word.isdigit() for word in words)
        and len("".join(words)) > 1
    )


_OPERATION_WORDS = frozenset(word for phrase in OPERATIONS for word in phrase)


def _names(claims: Claims) -> None:
    """Words that name the table, or tables and rows as such."""
    own = {stem for word in claims.table.words if len(word) > 1 and word not in GLUE for stem in stems(word)}
    for at, word in enumerate(claims.question.words):
        if claims.kinds[at] is not None or word in MEANT:
            continue
        if word in claims.table.words or (len(word) > 2 and stems(word) & own):  # noqa: PLR2004 - forms of words
            claims.kinds[at] = "name"
        elif word in LISTS:
            claims.kinds[at] = "rows"
        elif word in KINDS:
            claims.kinds[at] = "kind"
    for at, word in enumerate(claims.question.words[1:-1], 1):
        if claims.kinds[at - 1 : at + 2] == ["name", None, "name"] and word in claims.table.words:
            claims.kinds[at] = "name"  # the "and" of "methods and prices"


def _column_spans(question: Question, table: Table) -> Iterator[tuple[Span, Named]]:
    """Where column names stand, whole or some neighbouring words of one, the longest at each place."""
    names = [[word for word in fold(name).split() if word not in GLUE] or fold(name).split() for name in table.names]
    short = [
        [word for word in fold(name.split("(")[0].split(",")[0]).split() if word not in GLUE] for name in table.names
    ]
    for first in range(len(question.words)):
        best: dict[tuple[int, int], set[int]] = {}
        whole: dict[int, set[int]] = {}
        for column, words in enumerate(names):
            for offset in range(len(words)):
                last, count = _run(question, first, words[offset:])
                if count:
                    best.setdefault((count, last), set()).add(column)
                    if offset == 0 and count in (len(words), len(short[column])):
                        whole.setdefault(last, set()).add(column)
        if whole:
            last = max(whole)
            said = [word for word in question.words[first:last] if word not in GLUE]
            same = [column for column in sorted(whole[last]) if names[column][: len(said)] == said]
            yield Span(first, last, None), Named(tuple(same or sorted(whole[last])), whole=True)
        elif best:
            count, last = max(best)
            if not all(
                any(alike(question.words[at], word) for word in table.words)
                for at in range(first, last)
                if question.words[at] not in GLUE
            ):
                yield Span(first, last, None), Named(tuple(sorted(best[count, last])), whole=False)


def _run(question: Question, first: int, words: list[str]) -> tuple[int, int]:
    """End of the longest run of the question's words from ``first`` on that are ``words`` in order, and how many."""
    at, count, end = first, 0, first
    while at < len(question.words) and count < len(words):
        if alike(question.words[at], words[count]):
            count += 1
            end = at + 1
        elif count == 0 or question.words[at] not in GLUE:
            break
        at += 1
    return end, count


def _value_spans(question: Question, table: Table) -> Iterator[tuple[Span, Said]]:
    """Where cells stand, the longest first."""
    words = question.words
    for size in range(min(_LONGEST, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            span = words[first : first + size]
            said = " ".join(span)
            found: dict[int, tuple[str, ...]] = {}
            listed = False
            for number, column in enumerate(table.typed):
                form = said
                cells = _cells(column, form)
                if not cells and len(column.distinct) <= _FEW:
                    form = _other_form(column, span)
                    cells = _cells(column, form)
                if cells:
                    found[number] = cells
                    listed = listed or any(cell not in column.whole.get(form, ()) for cell in cells)
            if found:
                yield Span(first, first + size, None), Said(found, listed)


def _cells(column: Column, said: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*column.whole.get(said, ()), *column.items.get(said, ())]))


def _other_form(column: Column, span: tuple[str, ...]) -> str:
    """A cell's text whose words are the span's in another form (``critici`` for ``critico``); "" unless one fits."""
    if all(word in MEANT or word.isdigit() for word in span):
        return ""
    fits = [
        words
        for words in column.shapes.get((len(span), span[0][:2]), ())
        if all(alike(one, other) for one, other in zip(words, span, strict=True))
    ]
    return " ".join(fits[0]) if len(fits) == 1 else ""
