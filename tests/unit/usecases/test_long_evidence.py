"""Passages that are longer than the encoder's window: read in several windows, to their last sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from fonte.evidence import EvidenceScorer, features
from fonte.gate import gate_for
from fonte.retrieve import Retrieved
from fonte.text.terms import Analyser
from fonte.types import (
    BlockKind,
    Document,
    Passage,
    Principal,
    Query,
    Space,
    Span,
    TokenVectors,
    Vector,
    Vectors,
)
from strategies import WordTokenizer
from usecase_making import document, passage

WINDOW = 64
DIMENSIONS = 32
QUESTION = Query("Which lamp burns at midnight?", Principal(), languages=("en",))


def _word(word: str) -> Vector:
    seed = int.from_bytes(hashlib.blake2b(word.casefold().encode(), digest_size=4).digest())
    vector: Vector = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


class Endpoint:
    """One vector for each text; longer than the window is an error, as with real ones."""

    def __init__(self) -> None:
        self.space = Space("s", "words", "1", DIMENSIONS, WINDOW)
        self.tokenizer = WordTokenizer(window=WINDOW)
        self.longest = 0

    def _check(self, text: str) -> None:
        tokens = self.tokenizer.count(text) + self.tokenizer.overhead
        self.longest = max(self.longest, tokens)
        if tokens > WINDOW:
            raise ValueError(f"{tokens} tokens")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            self._check(text)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        total = np.sum([_word(text[start:end]) for start, end in self.tokenizer.offsets(text)], axis=0)
        vector: Vector = (total / np.linalg.norm(total)).astype(np.float32)
        return vector


class Local(Endpoint):
    """Shows its tokens; of a text longer than the window it would read the head alone."""

    shows_tokens = True

    def question_tokens(self, text: str) -> TokenVectors:
        return self.passage_tokens([text])[0]

    def passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        for text in texts:
            self._check(text)
        return [
            TokenVectors(tuple(places), np.stack([_word(text[start:end]) for start, end in places]))
            for text in texts
            for places in [self.tokenizer.offsets(text)]
        ]


PROSE = " ".join(f"Room number {n} is painted in colour {n}." for n in range(60)) + " The green lamp burns at midnight."
CODE = "\n".join(f"    set_value(register_{n}, {n})" for n in range(120)) + "\n    lamp.burns(at=midnight)"
LINE = " ".join(f"word{n}" for n in range(300)) + " lamp burns midnight"


def _long(text: str, kind: BlockKind, *, context: str = "") -> Passage:
    whole = document(text)
    made = passage(replace(whole, spans=(Span(kind, 0, len(text)),)))
    chunk = replace(made.stored.chunk, context=context)
    return replace(made, stored=replace(made.stored, chunk=chunk))


@pytest.mark.parametrize("embedder", [Endpoint, Local])
@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (PROSE, BlockKind.PARAGRAPH, "The green lamp burns at midnight."),
        (CODE, BlockKind.CODE, "lamp.burns(at=midnight)"),
        (LINE, BlockKind.ROW, "lamp burns midnight"),
        (LINE, BlockKind.PARAGRAPH, "lamp burns midnight"),
    ],
)
def test_a_passage_longer_than_the_window_is_read_to_its_end(
    embedder: type[Endpoint], text: str, kind: BlockKind, said: str
) -> None:
    model = embedder()
    shown = _long(text, kind, context="[Lamps > Rooms]")
    evidence = EvidenceScorer(model, Analyser()).score(QUESTION, [shown])
    assert any(said in one.piece.text for one in evidence.scored)
    assert model.longest <= WINDOW
    for one in evidence.scored:
        assert one.piece.text == text[one.piece.start : one.piece.end]
        assert model.tokenizer.count(one.piece.text) <= WINDOW


def test_windows_of_one_passage_read_as_one_view_of_its_tokens() -> None:
    model = Local()
    scorer = EvidenceScorer(model, Analyser())
    last = scorer.score(QUESTION, [_long(PROSE, BlockKind.PARAGRAPH)]).scored[0]
    alone = scorer.score(QUESTION, [_long("The green lamp burns at midnight.", BlockKind.PARAGRAPH)]).scored[0]
    assert last.alignment == pytest.approx(alone.alignment, abs=1e-5)


def test_a_passage_that_fits_is_read_at_once_with_its_header() -> None:
    model = Local()
    read: list[str] = []
    real = model.passage_tokens
    model.passage_tokens = lambda texts: (read.extend(texts), real(texts))[1]  # type: ignore[method-assign]
    EvidenceScorer(model, Analyser()).score(QUESTION, [_long("The lamp burns.", BlockKind.PARAGRAPH, context="[A]")])
    assert read[0] == "[A]\nThe lamp burns."


def _features(one: Document, distance: float | None) -> dict[str, float]:
    model = Local()
    scorer = EvidenceScorer(model, Analyser())
    shown = passage(one)
    shown = replace(shown, hit=replace(shown.hit, dense_distance=distance))
    retrieved = Retrieved((), (), {}, model.embed_query(QUESTION.text), {})
    return features(QUESTION, retrieved, [shown], scorer.score(QUESTION, [shown], retrieved, []), scorer)


def test_a_distance_of_zero_is_the_nearest_that_there_is() -> None:
    one = document("The lamp burns at midnight.")
    assert _features(one, 0.0)["similarity"] == 1.0
    assert _features(one, None)["similarity"] == 0.0
    assert gate_for(Local().space).judge(_features(one, 0.0)).score > gate_for(Local().space).judge({}).score
