"""What the gate sees of every question of calibration_sets.py, and what it was seen in, kept in a cache.

A set's file holds a line for each question; it is named by all that its lines depend on (documents, questions, recipe
of the index, gate, reader, and the code that finds and weighs evidence), so that a second run asks nothing, an
interrupted one goes on, and a changed one starts anew. Hidden documents are hidden as revoked ones are, and hidden
chunks by a reader that leaves them out: nothing is indexed twice. Frequencies of words still count what is hidden.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from calibration_sets import HERE, Probe, Public, adversarial, hiding, sample, twisted_italian

import fonte
from fonte import Corpus, Principal, SourceOptions
from fonte.answer import Asker
from fonte.asked import Asked
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.evidence import MAX_PASSAGES, Evidence
from fonte.lab.remembering import remembering
from fonte.pieces import headed, placed
from fonte.protocols import TokenEmbedder
from fonte.ranking.evidence import rows_of as rows_in
from fonte.store_protocols import IndexReader
from fonte.types import Hit, Query, Vector, sha256_hex
from fonte.wiring import make_parts

CODE = (
    *("answer.py", "context.py", "evidence.py", "gate.py", "pieces.py", "retrieve.py", "ranking/*.py"),
    *(f"text/{name}.py" for name in ("language", "normalise", "sentences", "terms", "windows")),
)
"""What a question's signs are computed by; comments and layout do not count."""
BM25_PLACES = 20
LEG_PLACES = 20
"""Places of each ranking that are kept."""
SENTENCES = 3
"""Whose cosines are kept token by token."""

Row = dict[str, Any]


def code_version() -> str:
    """Hash of the code that finds and weighs evidence."""
    folder = Path(fonte.__file__).parent
    paths = sorted(path for pattern in CODE for path in folder.glob(pattern))
    trees = [ast.dump(ast.parse(path.read_text(encoding="utf-8"))) for path in paths]
    return sha256_hex("\n".join(trees))


CODE_VERSION = code_version()[:16]
"""Of the code that was just imported."""


# --- hiding -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Revoking:
    """A catalog that revokes some more documents."""

    catalog: Any
    hidden: tuple[str, ...]

    def revoked(self, generation: str, principal: Principal) -> tuple[str, ...]:
        """What is revoked, and what is hidden."""
        return (*self.catalog.revoked(generation, principal), *self.hidden)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.catalog, name)


@dataclass(frozen=True)
class Without:
    """A reader that never finds some chunks."""

    reader: IndexReader
    hidden: frozenset[str]

    def bm25(self, terms: Sequence[str], query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """The best ``k`` of the others."""
        return self._others(self.reader.bm25(terms, query, revoked=revoked, k=k + len(self.hidden)))[:k]

    def dense(self, vector: Vector, query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """The nearest ``k`` of the others."""
        return self._others(self.reader.dense(vector, query, revoked=revoked, k=k + len(self.hidden)))[:k]

    def _others(self, hits: Sequence[Hit]) -> list[Hit]:
        return [hit for hit in hits if hit.chunk_id not in self.hidden]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)


# --- one set ----------------------------------------------------------------------------------------------------------


@dataclass
class Indexed:
    """A set's index, its documents by name, and where its chunks stand."""

    corpus: OpenCorpus
    ids: Mapping[str, str]
    versions: Mapping[str, str]
    _askers: dict[Principal, Asker] = field(default_factory=dict)
    _chunks: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)

    @classmethod
    def at(
        cls, home: Path, source: Path, *, config: Path | None = None, records: bool = False, as_synced: bool = False
    ) -> Indexed:
        """The source synced into its home, or what is indexed there ``as_synced`` before, if anything is."""
        parts = make_parts(home, load_settings(config, home, {}))
        corpus = Corpus(replace(parts, make_embedder=lambda: remembering(parts.make_embedder())))
        if not as_synced or corpus.generations()[0] is None:
            corpus.sync(str(source), options=SourceOptions(records=records))
        states = corpus.documents()
        ids = {state.name: state.document_id for state in states}
        return cls(corpus, ids, {state.name: state.version for state in states})

    def asker(self, principal: Principal) -> Asker:
        """Uncalibrated."""
        if principal not in self._askers:
            asker = self.corpus.asker(principal, calibrated=False)
            if asker is None:
                raise SystemExit("nothing was synced")
            self._askers[principal] = asker
        return self._askers[principal]

    def touching(self, document: str, text: str, asker: Asker) -> frozenset[str]:
        """Chunks that hold some of a needle.

        Raises:
            ValueError: it does not stand in its document.
        """
        if not self._chunks:
            for one in asker.reader.stored_chunks():
                place = (one.chunk.id, one.chunk.start, one.chunk.end)
                self._chunks.setdefault(one.chunk.document_id, []).append(place)
        found = asker.catalog.document(asker.reader.generation.id, self.ids[document])
        start = found.text.index(text) if found is not None else -1
        own = self._chunks[self.ids[document]]
        return frozenset(chunk for chunk, first, last in own if first < start + len(text) and last > start)


def stands(answers: Sequence[str], texts: Sequence[str], *, together: bool = False) -> bool:
    """Whether one of the texts holds one of the answers (or all ``together``) as whole words, in any case."""
    wanted = [re.compile(rf"(?<!\w){re.escape(one.casefold())}(?!\w)") for one in answers if one.strip()]
    enough = all if together else any
    return bool(wanted) and any(enough(one.search(text) for one in wanted) for text in map(str.casefold, texts))


def ask(indexed: Indexed, probe: Probe) -> Row:
    """One question's line: signs, rankings, passages and sentences; whether an answer stands in what was found."""
    principal = Principal(roles=probe.roles)
    plain = indexed.asker(principal)
    asker = plain
    if probe.hidden:
        asker = replace(asker, catalog=Revoking(plain.catalog, tuple(indexed.ids[name] for name in probe.hidden)))
    if probe.needles:
        touched = frozenset[str]().union(*(indexed.touching(*needle, plain) for needle in probe.needles))
        asker = replace(asker, reader=Without(plain.reader, touched))
    asked = asker.prepare(Query(probe.text, principal))
    names = {identity: name for name, identity in indexed.ids.items()}
    bm25 = next((one.hits for one in asked.retrieved.rankings if one.stage == "bm25"), ())[:BM25_PLACES]
    lost = bool(probe.hidden or probe.needles)
    contents = asker.reader.chunks([hit.chunk_id for hit in bm25], principal, revoked=()) if lost else {}
    distances = [one.hit.dense_distance for one in asked.retrieved.found if one.hit.dense_distance is not None]
    nearest = min(asked.retrieved.found, key=lambda one: one.hit.dense_distance or 1.0, default=None)
    article = probe.article or (names[nearest.stored.chunk.document_id] if nearest is not None else probe.id)
    return {
        "key": probe.key,
        "set": probe.set,
        "kind": probe.kind,
        "question": probe.text,
        "article": article,
        "source": probe.source,
        "gold": list(probe.gold),
        "languages": list(asked.query.languages),
        "features": dict(asked.verdict.features),
        "distance": min(distances, default=None),
        "found_by_bm25": stands(
            probe.answers, [one.chunk.content for one in contents.values()], together=probe.all_answers
        ),
        "shown": stands(probe.answers, [one.content for one in asked.passages], together=probe.all_answers),
        "legs": {
            one.stage: [
                [names[hit.document_id], round(hit.score, 6), hit.dense_distance] for hit in one.hits[:LEG_PLACES]
            ]
            for one in asked.retrieved.rankings
        },
        **_evidence(asker, asked, names),
    }


def _evidence(asker: Asker, asked: Asked, names: Mapping[str, str]) -> Row:
    """Words of the question, passages and sentences as the gate saw them."""
    if not asked.passages:
        return {"words": [], "passages": [], "sentences": [], "alignments": [], "tokens": [], "cosines": {}}
    seen = asker.scorer.score(asked.query, asked.passages)
    tokens, cosines = _cosines(asker, asked, seen)
    return {
        "words": [[one.text, round(one.weight, 4)] for one in seen.words],
        "passages": [
            [names[one.stored.chunk.document_id], one.start, one.end, one.hit.dense_distance, one.hit.rerank]
            for one in asked.passages
        ],
        "alignments": [round(one, 5) for one in seen.alignments],
        "tokens": tokens,
        "cosines": cosines,
        "sentences": [
            [
                one.piece.passage,
                one.piece.text,
                round(one.score, 5),
                round(one.similarity, 5),
                round(one.alignment, 5),
                round(one.coverage, 4),
                int(one.fits),
                round(one.odds, 4),
            ]
            for one in seen.scored
        ],
    }


def _cosines(asker: Asker, asked: Asked, seen: Evidence) -> tuple[list[tuple[int, int]], dict[str, list[float]]]:
    """Characters of the question's tokens; the best cosine of each in what was read.

    In the first sentences, in the passage of the first one, and in any passage.
    """
    if not isinstance(asker.embedder, TokenEmbedder) or not asker.embedder.shows_tokens:
        return [], {}
    question = asker.embedder.question_tokens(asked.query.text)
    shown = asked.passages[:MAX_PASSAGES]
    texts = asker.embedder.passage_tokens([headed(one, one.content) for one in shown])
    texts = [placed(tokens, one, one.start) for tokens, one in zip(texts, shown, strict=True)]
    near = [question.vectors @ tokens.vectors.T for tokens in texts]

    def told(values: Any) -> list[float]:
        return [round(float(one), 3) for one in values.max(axis=1)]

    found = {"any": told(np.concatenate(near, axis=1))}
    for number, one in enumerate(seen.scored[:SENTENCES]):
        at = one.piece.passage
        if number == 0:
            found["passage"] = told(near[at])
        if rows := rows_in(texts[at], one.piece):
            found[f"sentence {number}"] = told(near[at][:, rows])
    return list(question.offsets), found


# --- the cache --------------------------------------------------------------------------------------------------------


def stamp_of(indexed: Indexed, questions: str) -> Row:
    """All that a set's lines depend on, in words."""
    asker = indexed.asker(Principal())
    return {
        "corpus": sha256_hex(repr(sorted(indexed.versions.items())))[:16],
        "questions": questions,
        "recipe": asker.reader.generation.recipe.id,
        "gate": asker.gate.stamp,
        "reader": asker.scorer.reader_id,
        "settings": repr(asker.settings),
        "code": CODE_VERSION,
    }


def rows_of(indexed: Indexed, probes: Sequence[Probe], stamp: Row, cache: Path, name: str) -> Iterator[Row]:
    """Every probe's line, out of the cache where it is there."""
    path = cache / f"{name}-{sha256_hex(json.dumps(stamp, sort_keys=True))[:16]}.jsonl"
    known: dict[str, Row] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").split("\n"):
            try:
                one = json.loads(line)
            except json.JSONDecodeError:
                # The last line of a run that was interrupted.
                continue
            known[one["key"]] = one
    cache.mkdir(parents=True, exist_ok=True)
    began, asked = time.monotonic(), 0
    with path.open("a", encoding="utf-8") as out:
        out.write("\n" if known else "")
        for probe in probes:
            kept = known.get(probe.key)
            if kept is None or (kept["question"], kept["gold"]) != (probe.text, list(probe.gold)):
                known[probe.key] = ask(indexed, probe)
                out.write(json.dumps(known[probe.key], ensure_ascii=False) + "\n")
                asked += 1
                if asked % 100 == 0:
                    out.flush()
                    each = (time.monotonic() - began) / asked
                    print(f"{name}: {len(known)} of {len(probes)}, {each:.3f} s each", file=sys.stderr, flush=True)
            yield known[probe.key]


ADVERSARIAL = "squad2-adversarial"
SETS = ("sample", "xquad-en", "squad-it", "twisted-it", ADVERSARIAL)


def rows(
    name: str,
    data: Path,
    homes: Path,
    cache: Path,
    *,
    each: int | None,
    only: frozenset[str] = frozenset(),
    as_synced: bool = False,
) -> tuple[list[Row], Mapping[str, str]]:
    """The lines of a set, and the titles of its documents.

    Of public sets at most ``each`` questions of a kind and article are asked, and where ``only`` names articles, none
    of others.
    """
    if name == "sample":
        folder = HERE.parent / "sample"
        indexed = Indexed.at(homes / "handbook", folder / "handbook", config=folder / "fonte.toml", as_synced=as_synced)
        probes, questions = sample()
        return list(rows_of(indexed, probes, stamp_of(indexed, questions), cache, name)), {}
    folder = data / ("squad-it" if name == "twisted-it" else name)
    public = Public.read(folder)
    made = {"twisted-it": lambda: twisted_italian(public), ADVERSARIAL: lambda: adversarial(public, each)}
    probes = [one for one in made.get(name, lambda: hiding(public, each))() if not only or one.article in only]
    questions = sha256_hex((folder / "queries.jsonl").read_text(encoding="utf-8"))[:16]
    indexed = Indexed.at(homes / folder.name, folder / "corpus.jsonl", records=True, as_synced=as_synced)
    return list(rows_of(indexed, probes, stamp_of(indexed, questions), cache, name)), public.titles
