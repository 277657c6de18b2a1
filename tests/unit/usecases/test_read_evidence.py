"""A reader's odds in the evidence: of the right sentence, window by window, and nothing where nothing is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from fonte.evidence import EvidenceScorer, features
from fonte.retrieve import Retrieved
from fonte.text.terms import Analyser
from fonte.types import BlockKind, Reading, TokenVectors
from test_long_evidence import PROSE, QUESTION, Local, _long


class Stateful(Local):
    """Shows states as well: one for each token, with a mark before them."""

    def passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [
            replace(
                one,
                states=np.concatenate([np.zeros((1, one.vectors.shape[1]), np.float32), one.vectors]),
                rows=tuple(range(1, len(one.offsets) + 1)),
            )
            for one in super().passage_tokens(texts)
        ]


class Keyword:
    """Finds its word by the word's own vector: 6 where it stands, -6 everywhere else."""

    id = "keyword"

    def __init__(self, embedder: Local, word: str) -> None:
        self.sought = embedder.embed_query(word)
        self.windows = 0

    def read(self, question: TokenVectors, texts: Sequence[TokenVectors]) -> list[Reading]:
        assert question.states is not None
        self.windows += len(texts)
        found = []
        for text in texts:
            assert text.states is not None
            odds = np.where(text.states[list(text.rows)] @ self.sought > 0.99, 3.0, -3.0).astype(np.float32)
            found.append(Reading(odds, odds))
        return found


@pytest.mark.parametrize(("word", "sentence"), [("41", "Room number 41"), ("lamp", "The green lamp")])
def test_the_sentence_that_the_reader_points_at_has_its_odds(word: str, sentence: str) -> None:
    embedder = Stateful()
    reader = Keyword(embedder, word)
    evidence = EvidenceScorer(embedder, Analyser(), reader).score(QUESTION, [_long(PROSE, BlockKind.PARAGRAPH)])
    assert reader.windows > 5, "a long passage is read window by window"
    best = max(evidence.scored, key=lambda one: one.odds)
    assert best.piece.text.startswith(sentence)
    assert best.odds == pytest.approx(6.0)
    assert sorted(one.odds for one in evidence.scored)[-3] == pytest.approx(-6.0)
    assert evidence.readings == (pytest.approx(6.0),)


def test_each_passage_has_its_own_reading_and_the_gate_sees_the_best() -> None:
    embedder = Stateful()
    passages = [_long("The red door shuts at noon.", BlockKind.PARAGRAPH), _long(PROSE, BlockKind.PARAGRAPH)]
    scorer = EvidenceScorer(embedder, Analyser(), Keyword(embedder, "lamp"))
    evidence = scorer.score(QUESTION, passages)
    assert evidence.readings == (pytest.approx(-6.0), pytest.approx(6.0))
    seen = features(QUESTION, Retrieved((), ()), passages, evidence, scorer)
    assert seen["reading"] == pytest.approx(6.0)


@pytest.mark.parametrize("embedder", [Local(), Stateful()])
def test_without_states_or_without_a_reader_nothing_is_read(embedder: Local) -> None:
    reader = None if isinstance(embedder, Stateful) else Keyword(embedder, "lamp")
    scorer = EvidenceScorer(embedder, Analyser(), reader)
    passages = [_long(PROSE, BlockKind.PARAGRAPH)]
    evidence = scorer.score(QUESTION, passages)
    assert evidence.readings == ()
    assert {one.odds for one in evidence.scored} == {0.0}
    assert scorer.reader_id == ("" if reader is None else "keyword")
    assert features(QUESTION, Retrieved((), ()), passages, evidence, scorer)["reading"] == 0.0
