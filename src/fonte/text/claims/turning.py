"""Negations and opposites of a claim against those of the sentences it goes back to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fonte.text.claims.alignment import Aligned, between
from fonte.text.claims.comparison import Finding, Scope
from fonte.text.claims.polarity import DENYING, EXCEPTING, ONLY, Cue, Pole
from fonte.text.claims.reading import Statement
from fonte.text.terms import folded

_REACH: Final = 4
"""Content words that a negation reaches."""
_AROUND: Final = 3
_BREAK = re.compile(r"[;:.!?()|]")
_PARTED = re.compile(
    r"[;:.!?()|]|,(?!\s*(?:even|nor|or|né|o|nemmeno|neppure|anche)\b)|\s(?:e|ed|and|but|ma)\s", re.IGNORECASE
)
"""What a negation does not reach across."""
_COVERED: Final = 0.5
_LACK: Final = frozenset({"senza", "without"})


def negations(scope: Scope) -> Iterable[Finding]:
    """Negations and exceptions that the claim adds or leaves out."""
    aligned = scope.aligned
    claim = aligned.claim
    theirs = [(at, cue) for at in aligned.used for cue in aligned.sources[at].turns.cues]
    left = list(theirs)
    open_cues: list[Cue] = []
    for cue in claim.turns.cues:
        if _undoes(cue, scope):
            yield Finding("negation", f"added: {_shown(cue, claim)}", grave=True)
            continue
        meant = _meant(cue, aligned, left)
        if meant is None:
            open_cues.append(cue)
        else:
            left.remove(meant)
    spent: set[tuple[int, int]] = set()
    for cue in open_cues:
        if not _said_otherwise(cue, aligned, left, spent, several=len(open_cues) > 1):
            yield Finding("negation", f"added: {_shown(cue, claim)}", grave=True)
    spare: list[Cue | Pole] = [one for one in claim.turns.soft if not _repeated(one, claim, scope.used)]
    limits = {pole.side for source in scope.used for pole in source.turns.poles if pole.what == "limit"}
    # Nobody has more than: at most.
    spare += [pole for pole in claim.turns.poles if pole.what == "limit" and pole.side not in limits]
    dropped = [(at, cue) for at, cue in left if _reached(cue, aligned, at) and not _still_denied(cue, aligned, at)]
    for at in {at for at, _ in dropped}:
        own = [cue for place, cue in dropped if place == at]
        lacking = [cue for cue in own if folded(cue.text) in _LACK]
        if len(own) % 2 == 0 and lacking and _one_clause(own, aligned.sources[at]):
            continue  # no bottle without a label: every bottle has one
        for cue in own:
            instead = next((one for one in spare if _stands_for(one, cue, aligned, at)), None)
            if instead is not None:
                spare.remove(instead)
                continue
            yield Finding("negation", f"removed: {_shown(cue, aligned.sources[at])}", grave=True)


def _meant(cue: Cue, aligned: Aligned, left: Sequence[tuple[int, Cue]]) -> tuple[int, Cue] | None:
    """The source's negation that reaches the same words as the claim's."""
    rows = _scope(cue, aligned.claim)
    best: tuple[int, tuple[int, Cue]] | None = None
    for at, other in left:
        scope = _scope(other, aligned.sources[at])
        linked = [{link.at for link in aligned.links[at][row]} for row in rows]
        shared = sum(1 for places in linked if places & set(scope))
        if linked and scope and scope[0] in linked[0]:
            shared += 2  # right behind both
        if _next(cue, aligned.claim) == _next(other, aligned.sources[at]) != "":
            shared += 2
        if shared and _kind(cue) == _kind(other):
            shared += len(rows)
        if shared and (best is None or shared > best[0]):
            best = shared, (at, other)
    return best[1] if best else None


def _kind(cue: Cue) -> str:
    if cue.exception:
        return "exception"
    return "lack" if folded(cue.text) in _LACK else "not"


def _next(cue: Cue, statement: Statement) -> str:
    """The word behind a negation."""
    return next((word.form for word in statement.words if word.start >= cue.end), "")


def _said_otherwise(
    cue: Cue, aligned: Aligned, left: list[tuple[int, Cue]], spent: set[tuple[int, int]], *, several: bool
) -> bool:
    """Whether a negation of the claim stands for one that reaches other words, or for a word that denies by itself."""
    claim = aligned.claim
    rows = _scope(cue, claim)
    for at in aligned.source_of(cue.start):
        source = aligned.sources[at]
        places = {link.at for row in rows for link in aligned.links[at][row]}
        for pair in left:
            alike = pair[0] == at and pair[1].exception == cue.exception
            if alike and (not places or _close(pair[1], source, places)):
                left.remove(pair)
                return True
        sides = {pole.side for pole in claim.turns.poles if pole.what == "limit"}
        limits: list[Cue | Pole] = [
            pole for pole in source.turns.poles if pole.what == "limit" and pole.side not in sides
        ]
        for soft in [*source.turns.soft, *limits]:
            form = folded(soft.text)
            if (form in ONLY and not several) or (form in EXCEPTING and not cue.exception):
                continue
            if cue.exception and form not in ONLY | EXCEPTING:
                continue
            if (at, soft.start) not in spent and not _repeated(soft, source, [claim]):
                # Paid only when: not paid unless, which are two.
                free = form in ONLY and (at, -soft.start) not in spent
                spent.add((at, -soft.start if free else soft.start))
                return True
    return False


def _undoes(cue: Cue, scope: Scope) -> bool:
    """Whether a negation stands before a word that denies, which together allow, and the source does not."""
    claim = scope.aligned.claim
    after = claim.words[between(claim.words, cue.end, len(claim.text))[0] :][:2] if _follows(cue, claim) else ()
    denying = [word for word in after if word.form in DENYING]
    said = {word.form for source in scope.used for word in source.words}
    allows = any(pole.what == "permission" and pole.side == 0 for source in scope.used for pole in source.turns.poles)
    return bool(denying) and not any(word.form in said for word in denying) and not allows


def _follows(cue: Cue, claim: Statement) -> bool:
    return bool(claim.words) and claim.words[-1].start >= cue.end


def _stands_for(soft: Cue | Pole, cue: Cue, aligned: Aligned, at: int) -> bool:
    """Whether a word of the claim denies what a negation of the source reaches; ``only`` must reach the same words."""
    form = folded(soft.text)
    if isinstance(soft, Pole) or form not in ONLY:
        return (form in EXCEPTING) == cue.exception
    reach = set(_scope(cue, aligned.sources[at]))
    return any(link.at in reach for row in _scope(soft, aligned.claim) for link in aligned.links[at][row])


def _close(cue: Cue, source: Statement, places: set[int]) -> bool:
    """Whether a negation stands in the clause of the places."""
    for place in places:
        low, high = sorted((cue.start, source.words[place].start))
        if not re.search(r"[,;:.!?()|]", source.text[low:high]):
            return True
    return False


def _scope(cue: Cue, statement: Statement) -> list[int]:
    """Content words that a negation reaches: the next ones of its clause, else those before it."""
    found: list[int] = []
    for at, word in enumerate(statement.words):
        if word.start < cue.end or not word.content:
            continue
        gone = statement.text[cue.end : word.start]
        if _BREAK.search(gone) or len(found) == _REACH or (found and "," in gone):
            break
        found.append(at)
    if len(found) > 1:
        return found
    before = [
        at
        for at, word in enumerate(statement.words)
        if word.content
        and word.end <= cue.start
        and not re.search(r"[,;:.!?()|]", statement.text[word.end : cue.start])
    ]
    return [*found, *before[-2:]]


def _still_denied(cue: Cue, aligned: Aligned, at: int) -> bool:
    """Whether another negation of the claim reaches what this one reaches: neither ... nor for not ... not."""
    reach = set(_scope(cue, aligned.sources[at]))
    claim = aligned.claim
    for other in claim.turns.cues:
        if _kind(other) != _kind(cue):
            continue
        for row, word in enumerate(claim.words):
            near = word.content and word.start >= other.end and not _PARTED.search(claim.text[other.end : word.start])
            if near and any(link.at in reach for link in aligned.links[at][row]):
                return True
    return False


def _reached(cue: Cue, aligned: Aligned, at: int) -> bool:
    """Whether the claim says the words that a negation of a source reaches."""
    reach = _scope(cue, aligned.sources[at])[:3]
    if not reach:
        return False
    content = [row for row, word in enumerate(aligned.claim.words) if word.content]
    said = {link.at for row in content for link in aligned.links[at][row]}
    return sum(1 for place in reach if place in said) / len(reach) >= _COVERED


def _one_clause(cues: Sequence[Cue], source: Statement) -> bool:
    return not _BREAK.search(source.text[min(one.start for one in cues) : max(one.end for one in cues)])


def _repeated(one: Cue | Pole, own: Statement, others: Iterable[Statement]) -> bool:
    """Whether a word stands in the other texts too."""
    stems = {own.words[at].own for at in between(own.words, one.start, one.end)}
    wide = set().union(*(own.words[at].wide for at in between(own.words, one.start, one.end)))
    return any(
        stems & {word.own for word in other.words} or wide & {word.own for word in other.words} for other in others
    )


def _shown(cue: Cue, statement: Statement) -> str:
    tail = statement.text[cue.end :].split()[:3]
    return " ".join([cue.text, *tail]).strip(".,;:")


def opposites(scope: Scope) -> Iterable[Finding]:
    """Words that stand against what the source says: must and may, before and after, minimum and maximum."""
    aligned = scope.aligned
    claim = aligned.claim
    sides = {(pole.what, pole.side) for pole in claim.turns.poles}
    told = set()
    for pole in claim.turns.poles:
        for at in aligned.source_of(pole.start):
            source = aligned.sources[at]
            same = any(other.what == pole.what and other.side == pole.side for other in source.turns.poles)
            if same or pole.what in told:
                continue
            for other in source.turns.poles:
                against = other.what == pole.what and (other.what, other.side) not in sides
                if against and _about_the_same(pole, other, aligned, at) and not _turned(pole, other, aligned, at):
                    told.add(pole.what)
                    yield Finding("opposites", f"{pole.text}, source: {other.text}", grave=True)
                    break


def _about_the_same(pole: Pole, other: Pole, aligned: Aligned, at: int) -> bool:
    source = aligned.sources[at]
    places = set(_around(other, source))
    rows = _around(pole, aligned.claim)
    if any(link.at in places for row in rows for link in aligned.links[at][row]):
        return True
    return not rows or not places


def _around(pole: Pole, statement: Statement) -> list[int]:
    """The nearest content words on either side; behind a modal verb only what follows."""
    rows = [at for at, word in enumerate(statement.words) if word.content and not pole.start <= word.start < pole.end]
    after = [at for at in rows if statement.words[at].start >= pole.end][:_AROUND]
    if pole.what == "obligation":
        return after[:2]
    return [at for at in rows if statement.words[at].end <= pole.start][-_AROUND:] + after


def _turned(pole: Pole, other: Pole, aligned: Aligned, at: int) -> bool:
    """Whether just one of the two is negated: not forbidden is allowed."""
    return _negated(pole, aligned.claim) != _negated(other, aligned.sources[at])


def _negated(pole: Pole, statement: Statement) -> bool:
    for cue in statement.turns.cues:
        low, high = sorted((cue.start, pole.start))
        between_them = statement.text[low:high]
        if not re.search(r"[,;:.!?()|]", between_them) and len(between_them.split()) <= 2 * _REACH:
            return True
    return False
