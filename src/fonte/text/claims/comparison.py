"""A claim against the sentences it goes back to: every fact of it looked for where it ought to stand.

A fact that no source holds is grave. One that stands elsewhere in the sources, in the place of what the right sentence
says, has been moved: it is told too, and weighs less, since a claim may rightly join what stands apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fonte.text.claims.alignment import Aligned, between
from fonte.text.claims.days import Day, Hour, same_day
from fonte.text.claims.names import EXONYMS, Name, code_form, name_keys
from fonte.text.claims.reading import Statement
from fonte.text.claims.wording import strength
from fonte.text.claims.wording import words as read_words

_PREFIX: Final = 5
_LONG_CODE: Final = 4
_SHARED: Final = 0.5
"""A clause of which the main sentence holds more than this share of what another one does is its own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found wrong, or where it cannot be sure that all is right."""

    check: str
    what: str
    grave: bool
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Scope:
    """Where facts are looked for: the claim over its sources, and headings that hold for all of them."""

    aligned: Aligned
    context: tuple[Statement, ...]

    @property
    def used(self) -> list[Statement]:
        """Sentences that the claim goes back to."""
        return [self.aligned.sources[at] for at in self.aligned.used]

    def beside(self, at: int) -> list[Statement]:
        """Sentences that the clause at a character goes back to."""
        return [self.aligned.sources[one] for one in self.aligned.source_of(at)]


def dates(scope: Scope) -> Iterable[Finding]:
    """Days, months, weekdays and hours."""
    aligned = scope.aligned
    years = frozenset[int]().union(*(one.years for one in (*aligned.sources, *scope.context)))
    for day in aligned.claim.days:
        beside = [*scope.beside(day.start), *scope.context]
        if _day_held(day, beside, years):
            continue
        if _day_held(day, aligned.sources, years):
            if any(not _day_held(other, [aligned.claim], years) for source in beside for other in source.days):
                yield Finding("dates", f"of another sentence: {day.text}", grave=False)
            continue
        yield Finding("dates", f"missing: {day.text}", grave=True)
    for hour in aligned.claim.hours:
        if any(_hour_held(hour, source) for source in (*scope.beside(hour.start), *scope.context)):
            continue
        if not any(_hour_held(hour, source) for source in aligned.sources):
            yield Finding("dates", f"missing: {hour.text}", grave=True)
        elif any(not _hour_held(other, aligned.claim) for source in scope.beside(hour.start) for other in source.hours):
            yield Finding("dates", f"of another sentence: {hour.text}", grave=False)


def _day_held(day: Day, sources: Iterable[Statement], years: frozenset[int]) -> bool:
    return any(same_day(day, other, years) for source in sources for other in source.days)


def _hour_held(hour: Hour, source: Statement) -> bool:
    said = {at for other in source.hours for at in other.minutes}
    for figure in source.figures:
        if match := re.fullmatch(r"(\d{1,2})[.:](\d\d)", figure.text):
            said.add(int(match[1]) * 60 + int(match[2]))
        said |= {int(number) * 60 for number in figure.numbers if figure.unit is None and number <= 24}  # noqa: PLR2004 - hours of a day
    return any(at in said or (at + 720) % 1440 in said for at in hour.minutes)


def codes(scope: Scope) -> Iterable[Finding]:
    """Identifiers."""
    aligned = scope.aligned
    for one in aligned.claim.codes:
        beside = [*scope.used, *scope.context]
        if any(_code_held(one, source) for source in beside):
            continue
        if not any(_code_held(one, source) for source in aligned.sources):
            yield Finding("codes", f"missing: {one.text}", grave=True)
        elif _lost_codes(scope) or _lost_names(scope):
            yield Finding("codes", f"of another sentence: {one.text}", grave=False)


def _code_held(one: Name, source: Statement) -> bool:
    if any(one.form == other.form for other in source.codes):
        return True
    if len(one.form) < _LONG_CODE:
        return False
    found = re.search(re.escape(one.form) + r"(?!\d)", code_form(source.text))
    return found is not None


def names(scope: Scope) -> Iterable[Finding]:
    """Names: in the sentence meant, or elsewhere without taking the place of another one."""
    aligned = scope.aligned
    claim = aligned.claim
    lost = [*_lost_names(scope), *_lost_codes(scope)]
    known = {word.form for source in aligned.sources for word in source.words}
    for one in claim.names:
        if any(name_held(one, source) for source in (*scope.used, *scope.context)):
            continue
        elsewhere = any(name_held(one, source) for source in aligned.sources)
        if not one.sure and (not lost or (one.form in known and not _is_name_elsewhere(one, aligned.sources))):
            continue
        if not one.sure and not elsewhere and _is_plain_word(one, claim):
            continue
        if elsewhere and not one.sure and not _is_name_elsewhere(one, aligned.sources):
            continue  # a word that only its place made large
        if elsewhere and lost:
            yield Finding("names", f"of another sentence: {one.text}", grave=False)
        elif not elsewhere:
            yield Finding("names", f"missing: {one.text}", grave=bool(lost))


def _lost_names(scope: Scope) -> list[Name]:
    """Names of the sentences meant that the claim leaves out."""
    return [one for one in _names_of(scope.used) if not name_held(one, scope.aligned.claim)]


def _lost_codes(scope: Scope) -> list[Name]:
    return [one for source in scope.used for one in source.codes if not _code_held(one, scope.aligned.claim)]


def _names_of(sources: Iterable[Statement]) -> list[Name]:
    return [one for source in sources for one in source.names if one.sure or not _is_plain_word(one, source)]


def _is_name_elsewhere(one: Name, sources: Iterable[Statement]) -> bool:
    return any(one.form == other.form and other.sure for source in sources for other in source.names)


def _is_plain_word(one: Name, claim: Statement) -> bool:
    """Whether the glossary knows the word: then only its place made it large."""
    read = read_words(one.text, claim.language)
    return any(len(word.wide) > 1 for word in read) and one.form not in EXONYMS


def name_held(one: Name, source: Statement) -> bool:
    """Whether a text holds a name, inflected or in the other language's form."""
    keys = name_keys(one.form)
    own = read_words(one.text, source.language)
    for word in source.words:
        if keys & name_keys(word.form) or any(strength(mine, word) for mine in own):
            return True
        if min(len(word.form), len(one.form)) >= _PREFIX and word.form[:_PREFIX] == one.form[:_PREFIX]:
            return True
    return one.text.isupper() and one.form in _initials(source)


def _initials(source: Statement) -> str:
    """First letters of the words of a text in a row: an acronym's letters stand side by side there."""
    return "".join(word.form[0] for word in source.words if word.content)


def roles(scope: Scope) -> Iterable[Finding]:
    """Who does it: where the sentence meant names somebody else."""
    claim = scope.aligned.claim
    said = {role for _, role in claim.roles}
    held = {role for source in (*scope.used, *scope.context) for _, role in source.roles}
    for word, role in claim.roles:
        if role in held or any(scope.aligned.links[at][_row(claim, word.start)] for at in scope.aligned.used):
            continue
        beside = {other for source in scope.beside(word.start) for _, other in source.roles}
        if beside - said:
            yield Finding("roles", f"{word.form}, source: {min(beside - said)}", grave=False)


def _row(claim: Statement, at: int) -> int:
    return between(claim.words, at, at + 1)[0]


def merged(scope: Scope) -> Iterable[Finding]:
    """Clauses that were cut off what they are about: a second sentence's words without those that it begins with."""
    aligned = scope.aligned
    for start, end, at in aligned.parts:
        rows = between(aligned.claim.words, start, end)
        if at == aligned.main or _held(rows, aligned, aligned.main) > _SHARED * _held(rows, aligned, at):
            continue
        linked = {link.at for row in rows if aligned.weights[row] for link in aligned.links[at][row]}
        if len(linked) < 2:  # noqa: PLR2004 - one word proves nothing
            continue
        source = aligned.sources[at]
        about = [place for place, word in enumerate(source.words) if word.content][:2]
        said = {link.at for row, _ in enumerate(aligned.claim.words) for link in aligned.links[at][row]}
        if about and not said & set(about) and source.words[0].form not in _PRONOUNS:
            text = " ".join(aligned.claim.text[start:end].split())[:60]
            yield Finding("clauses", f"of another subject: {text}", grave=False)


def _held(rows: Sequence[int], aligned: Aligned, at: int) -> float:
    """How much of some words of the claim a source holds."""
    return math.fsum(
        aligned.weights[row] * max((link.strength for link in aligned.links[at][row]), default=0.0) for row in rows
    )


_PRONOUNS: Final = frozenset(
    "it they he she this these that those such its their we you lo la li le questo questa questi queste essa esso si "
    "viene vengono".split()
)
