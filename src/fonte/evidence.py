"""Passages to scored sentences and to the features that the gate judges.

The scorer keeps the vectors of sentences that it has seen, so that the gate and the extractive generator, which look
at the same passages one after the other, embed each sentence once.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from fonte.protocols import Embedder, IndexReader, Terms
from fonte.ranking.evidence import Piece, Scored, coverage, inverse_document_frequency, score_pieces
from fonte.retrieve import Retrieved
from fonte.text.normalise import search_form
from fonte.text.sentences import sentences
from fonte.types import UNKNOWN_LANGUAGE, Language, Passage, Query, Vector, Vectors

MAX_PASSAGES = 5
MAX_PIECES = 48
MAX_REMEMBERED = 4096
MAX_QUESTIONS = 64
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_QUOTED = re.compile(r"[\"“”«»‘']([^\"“”«»]{8,300})[\"“”«»’']")
_WORD = re.compile(r"\w+")
_CONTENT_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sentences of the best passages, best first, and what the question asked for."""

    scored: tuple[Scored, ...]
    wanted: Mapping[str, float]
    """The question's terms with their idf in the index."""


class EvidenceScorer:
    """Scores sentences for one embedder and analyser. Thread-safe."""

    def __init__(self, embedder: Embedder, terms: Terms) -> None:
        self._embedder = embedder
        self._terms = terms
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._evidence: OrderedDict[tuple[str, ...], Evidence] = OrderedDict()
        self._lock = Lock()

    def score(
        self,
        query: Query,
        passages: Sequence[Passage],
        query_vector: Vector | None = None,
        wanted: Mapping[str, float] | None = None,
    ) -> Evidence:
        """Sentences of the first passages by how well they answer.

        Without ``wanted`` (weights of the question's terms) all terms weigh the same, unless the same question and
        passages were scored before: then that evidence is given again.
        """
        key = (query.text, *(f"{passage.stored.chunk.id}:{passage.start}:{passage.end}" for passage in passages))
        with self._lock:
            known = self._evidence.get(key)
        if known is not None and wanted is None:
            return known
        shown = passages[:MAX_PASSAGES]
        pieces = [piece for position, passage in enumerate(shown) for piece in _pieces(passage, position)][:MAX_PIECES]
        if query_vector is None:
            query_vector = self._embedder.embed_query(query.text)
        if wanted is None:
            wanted = dict.fromkeys(self._terms.query_terms(query.text, query.languages), 1.0)
        scored = score_pieces(
            query.text,
            query_vector,
            pieces,
            self._embed([search_form(piece.text) for piece in pieces]),
            wanted=wanted,
            terms_of=lambda text: self.terms_of(text, query.languages),
            passage_similarity=[1.0 - (passage.hit.dense_distance or 0.0) for passage in shown],
        )
        evidence = Evidence(tuple(scored), wanted)
        with self._lock:
            self._evidence[key] = evidence
            while len(self._evidence) > MAX_QUESTIONS:
                self._evidence.popitem(last=False)
        return evidence

    def terms_of(self, text: str, languages: Sequence[Language]) -> set[str]:
        """Terms of a text read in each of the languages."""
        return {
            term
            for language in languages or (UNKNOWN_LANGUAGE,)
            for term in self._terms.document_terms(text, language)
        }

    def _embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            unknown = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        fresh: dict[str, Vector] = {}
        if unknown:
            fresh = dict(zip(unknown, self._embedder.embed_passages(unknown), strict=True))
        with self._lock:
            self._vectors.update(fresh)
            rows = [fresh[text] if text in fresh else self._vectors[text] for text in texts]
            while len(self._vectors) > MAX_REMEMBERED:
                self._vectors.popitem(last=False)
        return np.stack(rows) if rows else np.zeros((0, self._embedder.space.dimensions), dtype=np.float32)


def _pieces(passage: Passage, position: int) -> list[Piece]:
    """The sentences of a passage with their characters in the document; bullets and bare questions left out."""
    pieces = []
    text = passage.content
    for start, end in sentences(text, passage.stored.chunk.language):
        bullet = _BULLET.match(text, start, end)
        first = bullet.end() if bullet else start
        body = text[first:end]
        if _WORD.search(body) and not body.rstrip("\"'”’»)").endswith("?"):
            pieces.append(Piece(position, passage.start + first, passage.start + end, body))
    return pieces


def question_weights(query: Query, terms: Terms, reader: IndexReader) -> dict[str, float]:
    """The question's terms with their idf among the generation's chunks."""
    wanted = terms.query_terms(query.text, query.languages)
    frequencies = reader.document_frequencies(wanted)
    total = max(reader.generation.chunks, 1)
    return {term: inverse_document_frequency(frequencies.get(term, 0), total) for term in wanted}


def features(
    query: Query, retrieved: Retrieved, passages: Sequence[Passage], evidence: Evidence, terms_of: Callable[[str], set[str]]
) -> dict[str, float]:
    """What the gate judges, each a number with one meaning:

    ``similarity``: cosine similarity of the nearest passage; ``standing``: how far the nearest passage stands out of
    the candidates, in standard deviations; ``sentence``: similarity of the best sentence; ``coverage``: idf-weighted
    share of the question's terms in the best passage; ``sentence_coverage``: the same for the best sentence;
    ``rare_missing``: share of the question's rarest terms that no passage holds; ``agreement``: 1/rank that BM25 gives the nearest passage;
    ``fits``: the best sentence holds the kind of thing asked for; ``echo``: the question stands in the passage as a
    quoted example; ``comparable``: whether words can be compared (question and passage share a language).
    """
    dense = next((ranking.hits for ranking in retrieved.rankings if ranking.stage == "dense"), ())
    bm25 = next((ranking.hits for ranking in retrieved.rankings if ranking.stage == "bm25"), ())
    similarities = [hit.score for hit in dense] or [1 - (p.hit.dense_distance or 1.0) for p in passages]
    spread = float(np.std(similarities)) if len(similarities) > 1 else 0.0
    best = evidence.scored[0] if evidence.scored else None
    shown = passages[:MAX_PASSAGES]
    present = [terms_of(f"{passage.stored.chunk.context}\n{passage.content}") for passage in shown]
    ranks = {hit.chunk_id: rank for rank, hit in enumerate(bm25, start=1)}
    nearest = max(shown, key=lambda passage: -(passage.hit.dense_distance or 0.0))
    same = any(passage.stored.chunk.language in (*query.languages, UNKNOWN_LANGUAGE) for passage in shown[:3])
    heavy = sorted(evidence.wanted.values(), reverse=True)[:3]
    rare = {term: weight for term, weight in evidence.wanted.items() if heavy and weight >= heavy[-1]}
    everywhere = set().union(*present) if present else set()
    return {
        "similarity": max(similarities),
        "standing": (max(similarities) - float(np.mean(similarities))) / spread if spread > 0 else 0.0,
        "sentence": best.similarity if best else 0.0,
        "coverage": max((coverage(evidence.wanted, one) for one in present), default=0.0),
        "sentence_coverage": max((one.coverage for one in evidence.scored[:3]), default=0.0),
        "rare_missing": 1.0 - coverage(rare, everywhere),
        "agreement": 1.0 / ranks[nearest.stored.chunk.id] if nearest.stored.chunk.id in ranks else 0.0,
        "fits": 1.0 if best is not None and best.fits else 0.0,
        "echo": 1.0 if _echoes(query.text, shown) else 0.0,
        "comparable": 1.0 if same else 0.0,
    }


def _echoes(question: str, passages: Sequence[Passage]) -> bool:
    """Whether a passage quotes the question, or most of it, as an example."""
    asked = _long_words(question)
    if not asked:
        return False
    for passage in passages:
        for match in _QUOTED.finditer(passage.content):
            quoted = _long_words(match.group(1))
            if quoted and len(asked & quoted) >= 0.75 * len(asked):  # noqa: PLR2004 - three words of four
                return True
    return False


def _long_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(search_form(text).casefold()) if len(word) >= _CONTENT_LETTERS}
