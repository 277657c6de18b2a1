"""A generator without a model: it picks the sentences of the passages that answer, the best first, the rest in order.

A question of several parts is answered part by part. Always faithful: each sentence is an exact slice of its document
and is handed over with its characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fonte.ranking.evidence import Scored
from fonte.types import Draft, DraftSentence, Language, Passage, Query

NAME = "extractive"
MAX_SENTENCES = 5
"""To one question, or to one part of a question."""
WITHIN = 0.08
"""A further sentence is taken when its score is at most this far below the best one's."""

ROW_WITHIN = 0.03
"""The same for another row of a table that has given one: rows are alike in all but what was asked for."""

Score = Callable[[Query, Sequence[Passage]], Sequence[Scored]]


class ExtractiveGenerator:
    """Picks sentences by a score that it is handed."""

    def __init__(self, score: Score) -> None:
        self._score = score

    @property
    def name(self) -> str:
        """``extractive``."""
        return NAME

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        """The best sentence, then those that come close in reading order; declined when there is none.

        An answer begins with what was asked for; what stands around it in its document follows.
        """
        del language  # quotes stay in the language of their source
        asked = [replace(query, text=part.text, parts=()) for part in query.parts] or [query]
        chosen: list[Scored] = []
        for one in asked:
            close = _close(_distinct(self._score(one, passages)), passages)[:MAX_SENTENCES]
            said = {_said(known) for known in chosen}
            new = [sentence for sentence in close if _said(sentence) not in said]
            chosen += new[:1] + sorted(new[1:], key=_place)
        if not chosen:
            return Draft(text="", declined=True)
        taken = [
            DraftSentence(one.piece.text, passages[one.piece.passage].marker, one.piece.start, one.piece.end)
            for one in chosen
        ]
        taken += _echoes(taken, passages)
        text = " ".join(f"{one.text} [{one.marker}]" for one in taken)
        return Draft(text=text, taken=tuple(taken))

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        """The draft alone: its sentences were cut from passages, so there are no pieces to be read."""
        yield self.draft(query, passages, language=language)


def _close(scored: Sequence[Scored], passages: Sequence[Passage]) -> list[Scored]:
    """The best sentence and those that come close to it, best first."""
    tables: set[str] = set()
    kept = []
    for one in scored:
        document = passages[one.piece.passage].document.id
        within = ROW_WITHIN if one.piece.row and document in tables else WITHIN
        if one.score >= scored[0].score - within:
            kept.append(one)
            if one.piece.row:
                tables.add(document)
    return kept


def _place(one: Scored) -> tuple[int, int]:
    return one.piece.passage, one.piece.start


def _distinct(scored: Sequence[Scored]) -> list[Scored]:
    """The first of sentences that say the same, best first."""
    seen: set[str] = set()
    kept = []
    for one in scored:
        if _said(one) not in seen:
            seen.add(_said(one))
            kept.append(one)
    return kept


def _said(one: Scored) -> str:
    return " ".join(one.piece.text.casefold().split())


def _echoes(taken: Sequence[DraftSentence], passages: Sequence[Passage]) -> list[DraftSentence]:
    """The same sentences where other passages hold them word for word: all that support it are listed."""
    more = []
    for one in taken:
        for passage in passages:
            at = passage.content.find(one.text) if passage.marker != one.marker else -1
            if at >= 0:
                start = passage.start + at
                more.append(DraftSentence(one.text, passage.marker, start, start + len(one.text)))
    return more
