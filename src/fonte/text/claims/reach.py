"""What a negation reaches: the words it denies, and whether another text says them, or their contrary."""

from __future__ import annotations

import re
from typing import Final

from fonte.text.claims.alignment import Aligned, between
from fonte.text.claims.contraries import negated
from fonte.text.claims.polarity import Cue, Pole
from fonte.text.claims.reading import Statement
from fonte.text.claims.wording import Word

_REACH: Final = 4
"""Content words that a negation reaches."""
LOOSE: Final = 0.6
"""What words that only share a translation or a beginning have for strength."""
BREAK = re.compile(r"[;!?()|]|[.:](?!\d)")
_CLAUSE = re.compile(r"[;!?()|]|[,.:](?!\d)|\s(?:e|ed|and|but|ma)\s", re.IGNORECASE)
_STRENGTHENING: Final = frozenset("longer more any anymore ever yet piu mai ancora affatto all".split())
"""Words behind a negation that are not what it denies."""
_COVERED: Final = 0.5
_SURELY_COVERED: Final = 0.33
_CONTRAST = r"\b(?:but|ma|though|although|però|whereas|invece|anche se)\b"
_SPLIT = re.compile(rf"[;!?()|]|[.:](?!\d)|{_CONTRAST}", re.IGNORECASE)
_APART = re.compile(rf"[;!?()|]|[,.:](?!\d)|{_CONTRAST}", re.IGNORECASE)
_PREFIX: Final = 4
"""Letters of a word that show which one it is."""
DENIED = re.compile(r"un|in|im|ir|il|dis|non|s(?=[bcdfgpt])")


def reach_of(cue: Cue | Pole, statement: Statement) -> list[int]:
    """Content words that a negation reaches: the next ones of its clause, else those before it."""
    found: list[int] = []
    for at, word in enumerate(statement.words):
        if word.start < cue.end or not word.content or word.form in _STRENGTHENING:
            continue
        gone = statement.text[cue.end : word.start]
        denied = any(cue.end <= other.start < word.start for other in statement.turns.cues)
        if denied or BREAK.search(gone) or len(found) == _REACH or (found and "," in gone):
            break
        found.append(at)
    if len(found) > 1:
        return found
    before = [
        at
        for at, word in enumerate(statement.words)
        if word.content and word.end <= cue.start and not _CLAUSE.search(statement.text[word.end : cue.start])
    ]
    return [*found, *before[-2:]]


def word_behind(cue: Cue, statement: Statement) -> str:
    """The word behind a negation."""
    return next((word.form for word in statement.words if word.start >= cue.end), "")


def _poles_reached(cue: Cue, own: Statement) -> set[tuple[str, int]]:
    reach = set(reach_of(cue, own))
    return {
        (pole.what, pole.side)
        for pole in own.turns.poles
        if reach.intersection(between(own.words, pole.start, pole.end))
    }


def limits_of(cue: Cue, own: Statement) -> set[int]:
    """The limits that a negation sets: nobody has more than is a maximum."""
    behind = [pole for pole in own.turns.poles if pole.what == "side" and pole.start >= cue.end]
    return {pole.side for pole in behind if not BREAK.search(own.text[cue.end : pole.start])}


def deny_contraries(cue: Cue, own: Statement, other: Cue, theirs: Statement) -> bool:
    """Whether two negations deny what is contrary: not closed and not open."""
    mine, against = _poles_reached(cue, own), _poles_reached(other, theirs)
    return any((what, 1 - side) in against and (what, side) not in against for what, side in mine)


def contrary_of(cue: Cue, own: Statement, other: Statement) -> Pole | None:
    """The word by which the other text says the contrary of what a negation reaches: closed for not open."""
    said = {(pole.what, pole.side) for pole in other.turns.poles}
    denied = {(what, 1 - side) for what, side in _poles_reached(cue, own) - said}
    against = (pole for pole in other.turns.poles if (pole.what, pole.side) in denied and not negated(pole, other))
    return next(against, None)


def denied_form_of(cue: Cue, own: Statement, other: Statement) -> Word | None:
    """The word of the other text alone that denies by its first syllable what a negation reaches: unsafe, not safe."""
    reached = [own.words[at].form for at in reach_of(cue, own)]
    for word in other.words:
        match = DENIED.match(word.form)
        rest = word.form[match.end() :][:_PREFIX] if match else ""
        denies = len(rest) == _PREFIX and any(form.startswith(rest) for form in reached)
        if denies and all(word.form != one.form for one in own.words):
            return word
    return None


def in_its_clause(cue: Cue, source: Statement, places: set[int]) -> bool:
    """Whether a negation stands in the clause of the places."""
    for place in places:
        low, high = sorted((cue.start, source.words[place].start))
        if not _APART.search(source.text[low:high]):
            return True
    return False


def shares_clause(one: Cue | Pole, other: Cue | Pole, aligned: Aligned, at: int) -> bool:
    """Whether the clause of a claim's denial has words that one of a source reaches: it may deny by another verb."""
    claim = aligned.claim
    start = max([0, *(match.end() for match in _SPLIT.finditer(claim.text[: one.start]))])
    end = _SPLIT.search(claim.text, one.end)
    rows = between(claim.words, start, end.start() if end else len(claim.text))
    reach = set(reach_of(other, aligned.sources[at]))
    sure = (
        link.at for row in rows if claim.words[row].content for link in aligned.links[at][row] if link.strength > LOOSE
    )
    return not reach or any(place in reach for place in sure)


def is_said(cue: Cue, aligned: Aligned, at: int) -> bool:
    """Whether the claim says the words that a negation of a source reaches."""
    reach = reach_of(cue, aligned.sources[at])[:3]
    if not reach:  # do not get out: all of it are words that say little
        return at == aligned.main and word_behind(cue, aligned.sources[at]) != ""
    content = [row for row, word in enumerate(aligned.claim.words) if word.content]
    said = {link.at for row in content for link in aligned.links[at][row]}
    sure = {link.at for row in content for link in aligned.links[at][row] if link.strength > LOOSE}
    shares = (sum(1 for place in reach if place in known) / len(reach) for known in (said, sure))
    return any(share >= enough for share, enough in zip(shares, (_COVERED, _SURELY_COVERED), strict=True))
