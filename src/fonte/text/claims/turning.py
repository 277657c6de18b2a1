"""Negations of a claim against those of the sentences it goes back to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fonte.text.claims.alignment import Aligned, between
from fonte.text.claims.comparison import Finding, Scope
from fonte.text.claims.polarity import DENYING, EXCEPTING, ONLY, UNTIL, Cue, Pole, is_faint
from fonte.text.claims.reach import (
    BREAK,
    DENIED,
    LOOSE,
    contrary_of,
    denied_form_of,
    deny_contraries,
    in_its_clause,
    is_said,
    limits_of,
    reach_of,
    shares_clause,
    word_behind,
)
from fonte.text.claims.reading import Statement
from fonte.text.claims.wording import strength
from fonte.text.terms import folded

_PARTED = re.compile(
    r"[;!?()|]|[.:](?!\d)|,(?!\s*(?:even|nor|or|né|o|nemmeno|neppure|anche)\b)|\s(?:e|ed|and|but|ma)\s", re.IGNORECASE
)
"""What a negation does not reach across."""
_JOINED = re.compile(r"[;!?()|]|[.:](?!\d)|\s(?:e|ed|and|but|ma)\s", re.IGNORECASE)
_OR = re.compile(r"\b(?:or|nor|o|oppure|né|neppure|nemmeno|neanche)\b", re.IGNORECASE)
_BEGIN: Final = 5
"""Letters that words of one family begin with."""
_NEXT: Final = 3
"""Words among which a negation and what it is laid on stand."""
_LACK: Final = frozenset({"senza", "without"})


def negations(scope: Scope) -> Iterable[Finding]:
    """Negations and exceptions that the claim adds or leaves out.

    Where one is on one side only and another word may say it (not used: locked), nothing is accused, nor sure.
    """
    aligned = scope.aligned
    claim = aligned.claim
    left = [(at, cue) for at in aligned.used for cue in aligned.sources[at].turns.cues]
    own: list[Cue] = []
    undone: list[Cue] = []
    for cue in claim.turns.cues:
        if _undoes(cue, scope):
            yield Finding("negation", f"added: {_shown(cue, claim)}", grave=True)
        elif (denied := _denied_again(cue, scope)) is not None:
            undone.append(denied)
            yield _unsure(cue, claim)
        elif _undoes_other(cue, scope, left):
            yield Finding("negation", f"added: {_shown(cue, claim)}", grave=True)
        elif (meant := _meant(cue, aligned, left)) is not None:
            left.remove(meant)
        else:
            own.append(cue)
    new = [one for one in claim.turns.soft if one not in undone and not _repeated(one, claim, scope.used)]
    if not (own or undone or any(not is_faint(one) for one in new)):
        yield from _unspoken(scope, left)
    yield from _added(own, new, scope, left)
    yield from _removed(new, scope, left)


def _unsure(cue: Cue, statement: Statement) -> Finding:
    return Finding("negation", f"not sure: {_shown(cue, statement)}", grave=False, sure=False)


def _unspoken(scope: Scope, left: Sequence[tuple[int, Cue]]) -> Iterable[Finding]:
    """Words of the source that deny what a claim says that denies nothing: locked, where the claim says usable."""
    aligned = scope.aligned
    claim = aligned.claim
    source = aligned.sources[aligned.main]
    if any(at == aligned.main for at, _ in left):
        return  # what is left of it denies too
    for soft in source.turns.soft:
        if is_faint(soft) or _repeated(soft, source, [claim]):
            continue
        contrary = contrary_of(soft, source, claim) or denied_form_of(soft, source, claim)
        if contrary is None and is_said(soft, aligned, aligned.main):
            yield Finding("negation", f"left out: {soft.text}", grave=False)


def _added(own: Sequence[Cue], new: Sequence[Cue], scope: Scope, left: list[tuple[int, Cue]]) -> Iterable[Finding]:
    """The claim's negations without counterpart: each needs a word of the sources, or a negation, of its own."""
    aligned = scope.aligned
    claim = aligned.claim
    spent: set[tuple[int, int]] = set()
    cues = _without_pairs(own, claim)
    unsure = [cue for cue in own if cue not in cues]
    for cue in cues:
        for at in aligned.source_of(cue.start):
            source = aligned.sources[at]
            word = contrary_of(cue, claim, source) or denied_form_of(cue, claim, source)
            if word is not None and (at, word.start) not in spent:
                spent.add((at, word.start))
                unsure.append(cue)
                break
    several = len(cues) > 1 or any(folded(soft.text) in ONLY for soft in claim.turns.soft)
    for cue in cues:
        if cue in unsure:
            continue
        if _paired(cue, new, aligned, left) or _denied_by_word(cue, aligned, spent, several=several):
            unsure.append(cue)
        else:
            yield Finding("negation", f"added: {_shown(cue, claim)}", grave=True)
    yield from (_unsure(cue, claim) for cue in unsure)


def _removed(new: Sequence[Cue], scope: Scope, left: Sequence[tuple[int, Cue]]) -> Iterable[Finding]:
    """The sources' negations without counterpart, where the claim says what they deny."""
    aligned = scope.aligned
    claim = aligned.claim
    limits = {pole.side for source in scope.used for pole in source.turns.poles if pole.what == "limit"}
    # Nobody has more than: at most.
    spare: list[Cue | Pole] = [*new]
    spare += [pole for pole in claim.turns.poles if pole.what == "limit" and pole.side not in limits]
    dropped = [(at, cue) for at, cue in left if is_said(cue, aligned, at) and not _still_denied(cue, aligned, at)]
    for at in {at for at, _ in dropped}:
        source = aligned.sources[at]
        here = [cue for place, cue in dropped if place == at]
        own = _without_pairs(here, source)
        unsure = [cue for cue in here if cue not in own]
        halves: list[Cue | Pole] = []
        for cue in sorted(own, key=lambda one: _kind(one) == "not"):
            word = contrary_of(cue, source, claim) or denied_form_of(cue, source, claim)
            if word is not None:
                spare = [one for one in spare if one.start != word.start]
            elif halves and _kind(cue) == "not":
                halves.pop()
            elif (instead := next((one for one in spare if _stands_for(one, cue, aligned, at)), None)) is not None:
                spare.remove(instead)
                # Only when it is asked for: not unless it is asked for, which are two.
                halves += [instead] if folded(instead.text) in ONLY and _kind(cue) != "not" else []
            else:
                yield Finding("negation", f"removed: {_shown(cue, source)}", grave=True)
                continue
            unsure.append(cue)
        yield from (_unsure(cue, source) for cue in unsure)


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


def _meant(cue: Cue, aligned: Aligned, left: Sequence[tuple[int, Cue]]) -> tuple[int, Cue] | None:
    """The source's negation that reaches the same words as the claim's."""
    rows = reach_of(cue, aligned.claim)
    best: tuple[int, tuple[int, Cue]] | None = None
    for at, other in left:
        if deny_contraries(cue, aligned.claim, other, aligned.sources[at]):
            continue
        scope = reach_of(other, aligned.sources[at])
        linked = [{link.at for link in aligned.links[at][row]} for row in rows]
        shared = sum(1 for places in linked if places & set(scope))
        if linked and scope and scope[0] in linked[0]:
            shared += 2  # right behind both
        if word_behind(cue, aligned.claim) == word_behind(other, aligned.sources[at]) != "":
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


def _paired(cue: Cue, new: Sequence[Cue], aligned: Aligned, left: list[tuple[int, Cue]]) -> bool:
    """Whether a negation of the claim stands for one that reaches other words of its clause, which is then taken."""
    claim = aligned.claim
    rows = reach_of(cue, claim)
    for at in aligned.source_of(cue.start):
        source = aligned.sources[at]
        places = {link.at for row in rows for link in aligned.links[at][row]}
        for pair in left:
            if pair[0] != at or pair[1].exception != cue.exception:
                continue
            if deny_contraries(cue, claim, pair[1], source) or _spoken_for(pair[1], new, aligned, at):
                continue
            if not places or in_its_clause(pair[1], source, places) or shares_clause(cue, pair[1], aligned, at):
                left.remove(pair)
                return True
    return False


def _spoken_for(cue: Cue, new: Sequence[Cue], aligned: Aligned, at: int) -> bool:
    """Whether a word of the claim already says what a negation of the source does: it forgets, it does not know."""
    exact = (one for one in new if not is_faint(one))
    return any(_stands_for(one, cue, aligned, at) for one in exact)


def _denied_by_word(cue: Cue, aligned: Aligned, spent: set[tuple[int, int]], *, several: bool) -> bool:
    """Whether a word of the sources that no other negation stands for denies by itself what one of the claim does."""
    claim = aligned.claim
    sides = {pole.side for pole in claim.turns.poles if pole.what == "limit"}
    bounds = limits_of(cue, claim) - sides
    for at in aligned.source_of(cue.start):
        source = aligned.sources[at]
        limits = [pole for pole in source.turns.poles if pole.what == "limit" and pole.side in bounds]
        words: list[Cue | Pole] = [*source.turns.soft, *limits]
        for soft in words:
            form = folded(soft.text)
            if form in UNTIL and _kind(cue) == "not" and not _sided(claim):
                continue
            if (form in ONLY and not several) or (form in EXCEPTING and not cue.exception):
                continue
            if cue.exception and form not in ONLY | EXCEPTING:
                continue
            if form not in ONLY and not shares_clause(cue, soft, aligned, at):
                continue
            if (at, soft.start) not in spent and not _repeated(soft, source, [claim]):
                # Paid only when: not paid unless, which are two.
                free = form in ONLY and (at, -soft.start) not in spent
                spent.add((at, -soft.start if free else soft.start))
                if form not in ONLY:
                    spent |= {(at, one.start) for one in source.turns.soft if _beside(one, soft, source)}
                return True
    return False


def _beside(one: Cue, other: Cue | Pole, statement: Statement) -> bool:
    """Whether two words that deny are one denial: stay away."""
    low, high = sorted((one, other), key=lambda word: word.start)
    return not statement.text[low.end : high.start].strip()


def _denied_again(cue: Cue, scope: Scope) -> Cue | None:
    """The word behind a negation that takes it back and is the claim's own: not irrelevant."""
    claim = scope.aligned.claim
    for soft in claim.turns.soft:
        gone = claim.text[cue.end : soft.start]
        near = cue.end <= soft.start and len(gone.split()) < _NEXT and not BREAK.search(gone)
        if near and DENIED.match(folded(soft.text)) and not is_faint(soft) and not _repeated(soft, claim, scope.used):
            return soft
    return None


def _undoes(cue: Cue, scope: Scope) -> bool:
    """Whether a negation stands before a word that denies, which together allow, and the source does not."""
    claim = scope.aligned.claim
    after = claim.words[between(claim.words, cue.end, len(claim.text))[0] :][:2] if _follows(cue, claim) else ()
    denying = [word for word in after if word.form in DENYING]
    said = {word.form for source in scope.used for word in source.words}
    allows = any(pole.what == "permission" and pole.side == 0 for source in scope.used for pole in source.turns.poles)
    return bool(denying) and not any(word.form in said for word in denying) and not allows


def _undoes_other(cue: Cue, scope: Scope, left: Sequence[tuple[int, Cue]]) -> bool:
    """Whether a negation stands before words that say by themselves what one of the source does: not out of use."""
    aligned = scope.aligned
    claim = aligned.claim
    laid = _laid_on(cue, claim)
    if laid is None or _repeated(laid, claim, scope.used):
        return False
    passed = between(claim.words, cue.end, laid.start)
    if any(aligned.links[at][row] for at in aligned.used for row in passed if claim.words[row].content):
        return False  # not install it on your own: of the installing
    return any(
        _stands_for(laid, other, aligned, at) and _laid_on(other, aligned.sources[at]) is None for at, other in left
    )


def _laid_on(cue: Cue, own: Statement) -> Cue | None:
    """The word or words right behind a negation that deny too."""
    for soft in own.turns.soft:
        gone = own.text[cue.end : soft.start]
        exact = " " in soft.text or not is_faint(soft)
        if exact and cue.end <= soft.start and len(gone.split()) < _NEXT and not BREAK.search(gone):
            return soft
    return None


def _follows(cue: Cue, claim: Statement) -> bool:
    return bool(claim.words) and claim.words[-1].start >= cue.end


def _stands_for(soft: Cue | Pole, cue: Cue, aligned: Aligned, at: int) -> bool:
    """Whether a word of the claim denies what a negation of the source reaches; ``only`` must reach the same words."""
    form = folded(soft.text)
    if form in UNTIL:
        return _kind(cue) != "not"
    if isinstance(soft, Pole):
        return not cue.exception and soft.side in limits_of(cue, aligned.sources[at])
    if form not in ONLY and (form in EXCEPTING) != cue.exception:
        return False
    if form not in ONLY:
        return shares_clause(soft, cue, aligned, at)
    reach = set(reach_of(cue, aligned.sources[at]))
    rows = [*reach_of(soft, aligned.claim), *_subject(soft, aligned.claim)]
    return any(link.at in reach for row in rows for link in aligned.links[at][row])


def _subject(soft: Cue | Pole, claim: Statement) -> list[int]:
    """The content words before ``only`` in its clause: guide dogs are the only animals."""
    before = [at for at, word in enumerate(claim.words) if word.content and word.end <= soft.start]
    return [at for at in before[-2:] if not _PARTED.search(claim.text[claim.words[at].end : soft.start])]


def _sided(claim: Statement) -> bool:
    return any(pole.what in {"order", "side"} for pole in claim.turns.poles)


def _still_denied(cue: Cue, aligned: Aligned, at: int) -> bool:
    """Whether a negation of the claim that has a list behind it reaches what this one does: neither ... nor."""
    reach = set(reach_of(cue, aligned.sources[at]))
    claim = aligned.claim
    for other in claim.turns.cues:
        end = BREAK.search(claim.text, other.end)
        listed = _OR.search(claim.text, other.end, end.start() if end else len(claim.text))
        if _kind(other) != _kind(cue) or listed is None:
            continue
        for row, word in enumerate(claim.words):
            near = word.content and word.start >= other.end and not _JOINED.search(claim.text[other.end : word.start])
            if near and any(link.at in reach for link in aligned.links[at][row]):
                return True
    return False


def _one_clause(cues: Sequence[Cue], source: Statement) -> bool:
    return not _PARTED.search(source.text[min(one.start for one in cues) : max(one.end for one in cues)])


def _repeated(one: Cue | Pole, own: Statement, others: Iterable[Statement]) -> bool:
    """Whether a word stands in the other texts too."""
    if " " in one.text:
        return any(one.text.casefold() in other.text.casefold() for other in others)
    mine = [own.words[at] for at in between(own.words, one.start, one.end)]
    theirs = [word for other in others for word in other.words]
    return any(
        strength(word, their) > LOOSE or word.form[:_BEGIN] == their.form[:_BEGIN] for word in mine for their in theirs
    )


def _shown(cue: Cue, statement: Statement) -> str:
    tail = statement.text[cue.end :].split()[:3]
    return " ".join([cue.text, *tail]).strip(".,;:")
