"""Negations of a claim against those of the sentences it goes back to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fonte.text.claims.alignment import Aligned, between
from fonte.text.claims.comparison import Finding, Scope
from fonte.text.claims.contraries import negated
from fonte.text.claims.polarity import DENYING, EXCEPTING, ONLY, UNTIL, Cue, Pole
from fonte.text.claims.reading import Statement
from fonte.text.claims.wording import strength
from fonte.text.terms import folded

_REACH: Final = 4
"""Content words that a negation reaches."""
_LOOSE: Final = 0.6
"""What words that only share a translation or a beginning have for strength."""
_BREAK = re.compile(r"[;:.!?()|]")
_PARTED = re.compile(
    r"[;:.!?()|]|,(?!\s*(?:even|nor|or|né|o|nemmeno|neppure|anche)\b)|\s(?:e|ed|and|but|ma)\s", re.IGNORECASE
)
"""What a negation does not reach across."""
_JOINED = re.compile(r"[;:.!?()|]|\s(?:e|ed|and|but|ma)\s", re.IGNORECASE)
_OR = re.compile(r"\b(?:or|nor|o|oppure|né|neppure|nemmeno|neanche)\b", re.IGNORECASE)
_STRENGTHENING: Final = frozenset("longer more any anymore ever yet piu mai ancora affatto all".split())
"""Words behind a negation that are not what it denies."""
_COVERED: Final = 0.5
_SURELY_COVERED: Final = 0.33
_PREFIX: Final = 4
"""Letters of a word that show which one it is."""
_BEGIN: Final = 5
"""Letters that words of one family begin with."""
_DENIED = re.compile(r"un|in|im|ir|il|dis|non|s(?=[bcdfgpt])")
_NEXT: Final = 3
"""Words among which a negation and what it is laid on stand."""
_LACK: Final = frozenset({"senza", "without"})


def negations(scope: Scope) -> Iterable[Finding]:
    """Negations and exceptions that the claim adds or leaves out."""
    aligned = scope.aligned
    claim = aligned.claim
    theirs = [(at, cue) for at in aligned.used for cue in aligned.sources[at].turns.cues]
    left = list(theirs)
    open_cues: list[Cue] = []
    undone: list[Cue] = []
    for cue in claim.turns.cues:
        if _undoes(cue, scope):
            yield Finding("negation", f"added: {_shown(cue, claim)}", grave=True)
            continue
        if (denied := _denied_again(cue, scope)) is not None:
            undone.append(denied)
            continue
        meant = _meant(cue, aligned, left)
        if meant is None:
            open_cues.append(cue)
        else:
            left.remove(meant)
    spent: set[tuple[int, int]] = set()
    open_cues = _without_pairs(open_cues, claim)
    limited = any(folded(soft.text) in ONLY for soft in claim.turns.soft)
    for cue in open_cues:
        if not _said_otherwise(cue, aligned, left, spent, several=len(open_cues) > 1 or limited):
            yield Finding("negation", f"added: {_shown(cue, claim)}", grave=True)
    spare: list[Cue | Pole] = [
        one for one in claim.turns.soft if one not in undone and not _repeated(one, claim, scope.used)
    ]
    limits = {pole.side for source in scope.used for pole in source.turns.poles if pole.what == "limit"}
    # Nobody has more than: at most.
    spare += [pole for pole in claim.turns.poles if pole.what == "limit" and pole.side not in limits]
    dropped = [(at, cue) for at, cue in left if _reached(cue, aligned, at) and not _still_denied(cue, aligned, at)]
    for at in {at for at, _ in dropped}:
        own = _without_pairs([cue for place, cue in dropped if place == at], aligned.sources[at])
        halves: list[Cue | Pole] = []
        for cue in sorted(own, key=lambda one: _kind(one) == "not"):
            if _opposed(cue, aligned.sources[at], claim) or _unsaid(cue, aligned.sources[at], claim):
                continue
            if halves and _kind(cue) == "not":
                halves.pop()
                continue
            instead = next((one for one in spare if _stands_for(one, cue, aligned, at)), None)
            if instead is not None:
                spare.remove(instead)
                # Only when it is asked for: not unless it is asked for, which are two.
                halves += [instead] if folded(instead.text) in ONLY and _kind(cue) != "not" else []
                continue
            yield Finding("negation", f"removed: {_shown(cue, aligned.sources[at])}", grave=True)


def _without_pairs(cues: Sequence[Cue], statement: Statement) -> list[Cue]:
    """Negations but for pairs that undo each other: no bottle without a label is every bottle with one."""
    left = list(cues)
    for cue in cues:
        if _kind(cue) == "not":
            continue
        pair = (one for one in left if _kind(one) == "not" and _one_clause([one, cue], statement))
        other = next(pair, None)
        if other is not None:
            left = [one for one in left if one not in (cue, other)]
    return left


def _poles_reached(cue: Cue, own: Statement) -> set[tuple[str, int]]:
    reach = set(_scope(cue, own))
    return {
        (pole.what, pole.side)
        for pole in own.turns.poles
        if reach.intersection(between(own.words, pole.start, pole.end))
    }


def _bounds(cue: Cue, own: Statement) -> bool:
    """Whether a negation sets a limit: nobody has more than."""
    behind = (pole.start for pole in own.turns.poles if pole.what == "side" and pole.start >= cue.end)
    return any(not _BREAK.search(own.text[cue.end : start]) for start in behind)


def _opposite_reach(cue: Cue, own: Statement, other: Cue, theirs: Statement) -> bool:
    """Whether two negations deny what is contrary: not closed and not open."""
    mine, against = _poles_reached(cue, own), _poles_reached(other, theirs)
    return any((what, 1 - side) in against and (what, side) not in against for what, side in mine)


def _opposed(cue: Cue, own: Statement, other: Statement) -> bool:
    """Whether the other text says the contrary of what a negation reaches: closed for not open."""
    said = {(pole.what, pole.side) for pole in other.turns.poles}
    denied = {(what, 1 - side) for what, side in _poles_reached(cue, own) - said}
    return any((pole.what, pole.side) in denied and not negated(pole, other) for pole in other.turns.poles)


def _unsaid(cue: Cue, own: Statement, other: Statement) -> bool:
    """Whether the other text has a word that a negation reaches with a syllable that denies it: unsafe for not safe."""
    reached = [own.words[at].form for at in _scope(cue, own)]
    for word in other.words:
        match = _DENIED.match(word.form)
        rest = word.form[match.end() :][:_PREFIX] if match else ""
        if len(rest) == _PREFIX and any(form.startswith(rest) for form in reached):
            return True
    return False


def _meant(cue: Cue, aligned: Aligned, left: Sequence[tuple[int, Cue]]) -> tuple[int, Cue] | None:
    """The source's negation that reaches the same words as the claim's."""
    rows = _scope(cue, aligned.claim)
    best: tuple[int, tuple[int, Cue]] | None = None
    for at, other in left:
        if _opposite_reach(cue, aligned.claim, other, aligned.sources[at]):
            continue
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
        if _opposed(cue, claim, source) or _unsaid(cue, claim, source):
            return True
        places = {link.at for row in rows for link in aligned.links[at][row]}
        for pair in left:
            alike = pair[0] == at and pair[1].exception == cue.exception
            alike = alike and not _opposite_reach(cue, claim, pair[1], source)
            if alike and (not places or _close(pair[1], source, places) or _shares(cue, pair[1], aligned, at)):
                left.remove(pair)
                return True
        sides = {pole.side for pole in claim.turns.poles if pole.what == "limit"}
        limits: list[Cue | Pole] = [
            pole
            for pole in source.turns.poles
            if pole.what == "limit" and pole.side not in sides and _bounds(cue, claim)
        ]
        for soft in [*source.turns.soft, *limits]:
            form = folded(soft.text)
            if (form in ONLY and not several) or (form in EXCEPTING and not cue.exception):
                continue
            if cue.exception and form not in ONLY | EXCEPTING:
                continue
            if form not in ONLY and not _shares(cue, soft, aligned, at):
                continue
            if (at, soft.start) not in spent and not _repeated(soft, source, [claim]):
                # Paid only when: not paid unless, which are two.
                free = form in ONLY and (at, -soft.start) not in spent
                spent.add((at, -soft.start if free else soft.start))
                return True
    return False


def _denied_again(cue: Cue, scope: Scope) -> Cue | None:
    """The word behind a negation that takes it back and is the claim's own: not irrelevant."""
    claim = scope.aligned.claim
    for soft in claim.turns.soft:
        gone = claim.text[cue.end : soft.start]
        near = cue.end <= soft.start and len(gone.split()) < _NEXT and not _BREAK.search(gone)
        if (
            near
            and _DENIED.match(form := folded(soft.text))
            and form not in UNTIL
            and not _repeated(soft, claim, scope.used)
        ):
            return soft
    return None


def _shares(one: Cue | Pole, other: Cue | Pole, aligned: Aligned, at: int) -> bool:
    """Whether the clause of a claim's denial has words that one of a source reaches: it may deny by another verb."""
    claim = aligned.claim
    start = max([0, *(match.end() for match in _BREAK.finditer(claim.text[: one.start]))])
    end = _BREAK.search(claim.text, one.end)
    rows = between(claim.words, start, end.start() if end else len(claim.text))
    reach = set(_scope(other, aligned.sources[at]))
    sure = (
        link.at for row in rows if claim.words[row].content for link in aligned.links[at][row] if link.strength > _LOOSE
    )
    return not reach or any(place in reach for place in sure)


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
    if form in UNTIL:
        return _kind(cue) != "not"
    if isinstance(soft, Pole):
        return not cue.exception and _bounds(cue, aligned.sources[at])
    if form not in ONLY and (form in EXCEPTING) != cue.exception:
        return False
    if form not in ONLY:
        return _shares(soft, cue, aligned, at)
    reach = set(_scope(cue, aligned.sources[at]))
    return any(link.at in reach for row in _scope(soft, aligned.claim) for link in aligned.links[at][row])


def _close(cue: Cue, source: Statement, places: set[int]) -> bool:
    """Whether a negation stands in the clause of the places."""
    for place in places:
        low, high = sorted((cue.start, source.words[place].start))
        if not re.search(r"[,;:.!?()|]", source.text[low:high]):
            return True
    return False


def _scope(cue: Cue | Pole, statement: Statement) -> list[int]:
    """Content words that a negation reaches: the next ones of its clause, else those before it."""
    found: list[int] = []
    for at, word in enumerate(statement.words):
        if word.start < cue.end or not word.content or word.form in _STRENGTHENING:
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
    """Whether a negation of the claim that has a list behind it reaches what this one does: neither ... nor."""
    reach = set(_scope(cue, aligned.sources[at]))
    claim = aligned.claim
    for other in claim.turns.cues:
        end = _BREAK.search(claim.text, other.end)
        listed = _OR.search(claim.text, other.end, end.start() if end else len(claim.text))
        if _kind(other) != _kind(cue) or listed is None:
            continue
        for row, word in enumerate(claim.words):
            near = word.content and word.start >= other.end and not _JOINED.search(claim.text[other.end : word.start])
            if near and any(link.at in reach for link in aligned.links[at][row]):
                return True
    return False


def _reached(cue: Cue, aligned: Aligned, at: int) -> bool:
    """Whether the claim says the words that a negation of a source reaches."""
    reach = _scope(cue, aligned.sources[at])[:3]
    if not reach:  # do not get out: all of it are words that say little
        return at == aligned.main and _next(cue, aligned.sources[at]) != ""
    content = [row for row, word in enumerate(aligned.claim.words) if word.content]
    said = {link.at for row in content for link in aligned.links[at][row]}
    sure = {link.at for row in content for link in aligned.links[at][row] if link.strength > _LOOSE}
    shares = (sum(1 for place in reach if place in known) / len(reach) for known in (said, sure))
    return any(share >= enough for share, enough in zip(shares, (_COVERED, _SURELY_COVERED), strict=True))


def _one_clause(cues: Sequence[Cue], source: Statement) -> bool:
    return not _PARTED.search(source.text[min(one.start for one in cues) : max(one.end for one in cues)])


def _repeated(one: Cue | Pole, own: Statement, others: Iterable[Statement]) -> bool:
    """Whether a word stands in the other texts too."""
    mine = [own.words[at] for at in between(own.words, one.start, one.end)]
    theirs = [word for other in others for word in other.words]
    return any(
        strength(word, their) > _LOOSE or word.form[:_BEGIN] == their.form[:_BEGIN] for word in mine for their in theirs
    )


def _shown(cue: Cue, statement: Statement) -> str:
    tail = statement.text[cue.end :].split()[:3]
    return " ".join([cue.text, *tail]).strip(".,;:")
