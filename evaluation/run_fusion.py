"""Ways of fusing the legs, with and without late interaction, on held-out questions, in pairs with Holm's correction.

    .venv/bin/python evaluation/run_fusion.py collect ../shared/data squad-it xquad-en --legs .fonte-legs --stride 3
    .venv/bin/python evaluation/run_fusion.py compare squad-it xquad-en --legs .fonte-legs --out evaluation/results

``collect`` asks every question once and keeps what the legs gave and what late interaction makes of each candidate;
``compare`` fuses that in every way. Weights are chosen on one half of the questions (by hash of their ids), for the
mean over sets of nDCG@10 of the fused order; the other half judges. A document counts at the rank of its best chunk.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from public_sets import synced

from fonte import Principal
from fonte.answer import with_languages
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import ndcg_at, recall_at, reciprocal_rank_at
from fonte.evaluation.statistics import compare, holm
from fonte.ranking.fusion import Method, fuse
from fonte.retrieve import DENSE, RERANK, Retriever, applies
from fonte.types import Hit, Query

METHODS: tuple[Method, ...] = ("rrf", "minmax", "theoretical", "deviations")
WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Of the dense leg."""
Way: TypeAlias = tuple[Method, float]
BASE: Way = ("rrf", 0.5)
DEPTH = 25


@dataclass(frozen=True)
class Asked:
    """One question: hits of each leg (chunk, score), grades of documents, and what is known of each candidate."""

    id: str
    legs: Mapping[str, Sequence[tuple[str, float]]]
    grades: Mapping[str, int]
    documents: Mapping[str, str]
    late: Mapping[str, float]
    unfit: Mapping[str, Sequence[str]]
    """Legs that say nothing of a chunk, by chunk."""

    @property
    def held_out(self) -> bool:
        """Whether it judges."""
        return bool(hashlib.sha256(self.id.encode()).digest()[-1] & 1)

    def fused(self, way: Way) -> list[str]:
        """Chunks, best first."""
        method, dense = way
        hits = {leg: [Hit(chunk, chunk, score) for chunk, score in found] for leg, found in self.legs.items()}
        weights = {leg: 2 * (dense if leg == DENSE else 1 - dense) for leg in hits}
        ranked = fuse(
            hits,
            method=method,
            weights=weights,
            least={DENSE: -1.0},
            applicable=lambda chunk, leg: leg not in self.unfit.get(chunk, ()),
        )
        return [hit.chunk_id for hit in ranked]

    def reranked(self, order: Sequence[str]) -> list[str]:
        """The head by late interaction, as ``retrieve`` does it."""
        head = sorted(order[:DEPTH], key=lambda chunk: (-self.late[chunk], chunk))
        return [*head, *order[DEPTH:]]

    def measured(self, order: Sequence[str]) -> dict[str, float]:
        """Measures of an order of chunks."""
        ranked = list(dict.fromkeys(self.documents[chunk] for chunk in order))
        return {
            "recall@1": recall_at(ranked, self.grades, 1),
            "recall@5": recall_at(ranked, self.grades, 5),
            "mrr@10": reciprocal_rank_at(ranked, self.grades, 10),
            "ndcg@10": ndcg_at(ranked, self.grades, 10),
        }


def collect(folder: Path, home: Path, out: Path, stride: int) -> None:
    """Every ``stride``-th question of a set, asked once, to a file."""
    golden, asker = load_golden(folder), Principal()
    corpus, _ = synced(folder / "corpus.jsonl", home)
    over = corpus.asker(asker)
    if over is None:
        raise SystemExit(f"{folder.name}: nothing was indexed")
    retriever = Retriever(over.reader, over.embedder, over.terms)
    settings = replace(over.settings.retrieval, rerank_depth=1000)
    with out.open("w", encoding="utf-8") as file:
        for question in [one for one in golden.questions if one.relevance][::stride]:
            query = with_languages(Query(question.wordings[0], asker))
            rankings = {one.stage: one.hits for one in retriever.retrieve(query, (), settings).rankings}
            late = {hit.chunk_id: hit.score for hit in rankings.pop(RERANK)}
            legs = {stage: hits for stage, hits in rankings.items() if stage != "fusion"}
            stored = over.reader.chunks(list(late), asker, revoked=())
            told = {
                "id": question.id,
                "legs": {leg: [(hit.chunk_id, hit.score) for hit in hits] for leg, hits in legs.items()},
                "grades": dict(question.relevance),
                "documents": {chunk: one.document_name for chunk, one in stored.items()},
                "late": late,
                "unfit": {
                    chunk: [leg for leg in legs if not applies(leg, query, one)] for chunk, one in stored.items()
                },
            }
            file.write(json.dumps(told) + "\n")


def ndcg(asked: Sequence[Asked], way: Way, *, late: bool) -> list[float]:
    """nDCG@10 of each question."""
    return [_measured(one, way, late=late)["ndcg@10"] for one in asked]


def _measured(one: Asked, way: Way, *, late: bool) -> dict[str, float]:
    order = one.fused(way)
    return one.measured(one.reranked(order) if late else order)


def _means(asked: Sequence[Asked], way: Way, *, late: bool) -> dict[str, float]:
    rows = [_measured(one, way, late=late) for one in asked]
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


def chosen(sets: Mapping[str, Sequence[Asked]], method: Method) -> Way:
    """The weight of a method that is best on the half that does not judge."""

    def mean(weight: float) -> float:
        figures = [
            ndcg([one for one in asked if not one.held_out], (method, weight), late=False) for asked in sets.values()
        ]
        return sum(sum(values) / len(values) for values in figures) / len(figures)

    return method, max(WEIGHTS, key=mean)


def judged(sets: Mapping[str, Sequence[Asked]]) -> dict[str, object]:
    """Every chosen way against plain RRF on held-out questions, p values corrected together."""
    ways = [way for way in (chosen(sets, method) for method in METHODS) if way != BASE]
    rows: list[dict[str, object]] = []
    p_values: list[float] = []
    for name, asked in sets.items():
        held = [one for one in asked if one.held_out]
        for late in (False, True):
            base = ndcg(held, BASE, late=late)
            for way in ways:
                verdict = compare(base, ndcg(held, way, late=late))
                p_values.append(verdict.p)
                rows.append(
                    {
                        "set": name,
                        "late": late,
                        "way": list(way),
                        "questions": len(held),
                        "base": _means(held, BASE, late=late),
                        "new": _means(held, way, late=late),
                        "wins": verdict.wins,
                        "losses": verdict.losses,
                        "p": verdict.p,
                    }
                )
    for row, corrected in zip(rows, holm(p_values), strict=True):
        row["p_holm"] = corrected
    return {"ways": [list(way) for way in ways], "tests": rows}


def main() -> int:
    """Collect or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("collect", "compare"))
    parser.add_argument("names", nargs="+", help="with collect first the folder of the sets; then the sets' names")
    parser.add_argument("--legs", type=Path, default=Path(".fonte-legs"))
    parser.add_argument("--homes", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.what == "collect":
        options.legs.mkdir(parents=True, exist_ok=True)
        data, *names = options.names
        for name in names:
            collect(Path(data) / name, options.homes / name, options.legs / f"{name}.jsonl", options.stride)
        return 0
    sets = {
        name: [Asked(**json.loads(line)) for line in (options.legs / f"{name}.jsonl").read_text("utf-8").splitlines()]
        for name in options.names
    }
    found = json.dumps(judged(sets), indent=1)
    print(found)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "fusion.json").write_text(found + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
