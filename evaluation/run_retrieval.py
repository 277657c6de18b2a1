"""Retrieval on public sets in BEIR layout: BM25, dense, hybrid and hybrid reranked, with paired sign tests.

    .venv/bin/python evaluation/run_retrieval.py ../shared/data squad-it xquad-en cross-it-en --out evaluation/results

Each set's corpus.jsonl is synced as records into a home of its own (kept between runs in --homes, so that a second
run embeds nothing), then every question is asked in each way. A document counts at the rank of its best chunk.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from public_sets import arguments, run, synced

from fonte import Corpus, Principal
from fonte.evaluation.golden import Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import (
    Retrieved,
    documents_in_order,
    ndcg_at,
    needle_at,
    recall_at,
    reciprocal_rank_at,
)
from fonte.evaluation.statistics import Interval, bootstrap_mean, compare
from fonte.retrieve import Mode

WAYS: Mapping[str, tuple[Mode, bool]] = {
    "bm25": ("bm25", False),
    "dense": ("dense", False),
    "hybrid": ("hybrid", False),
    "hybrid+rerank": ("hybrid", True),
}
"""Name of each way → mode, reranked."""
AGAINST = (
    ("hybrid", "bm25"),
    ("hybrid", "dense"),
    ("hybrid+rerank", "hybrid"),
    ("hybrid+rerank", "bm25"),
    ("hybrid+rerank", "dense"),
)
CHUNKS = 40
"""Passages fetched for each question, so that ten different documents are among them."""


def passages(corpus: Corpus, questions: Sequence[Question], way: str) -> list[list[Retrieved]]:
    """What each question gets, best first."""
    asker = Principal()
    mode, rerank = WAYS[way]
    found = (
        corpus.search(one.wordings[0], principal=asker, mode=mode, rerank=rerank, k=CHUNKS).results for one in questions
    )
    return [
        [Retrieved(one.stored.document_name, one.locator.start, one.locator.end, one.content) for one in results]
        for results in found
    ]


def measure(questions: Sequence[Question], found: Sequence[Sequence[Retrieved]]) -> dict[str, list[float]]:
    """Each measure for each question."""
    ranked = [(documents_in_order(results), one.relevance) for one, results in zip(questions, found, strict=True)]
    values = {
        "recall@1": [recall_at(names, grades, 1) for names, grades in ranked],
        "recall@5": [recall_at(names, grades, 5) for names, grades in ranked],
        "mrr@10": [reciprocal_rank_at(names, grades, 10) for names, grades in ranked],
        "ndcg@10": [ndcg_at(names, grades, 10) for names, grades in ranked],
    }
    if all(one.needles for one in questions):
        values["needle@5"] = [needle_at(results, one.needles, 5) for one, results in zip(questions, found, strict=True)]
    return values


def evaluate(folder: Path, homes: Path) -> dict[str, object]:
    """One set: figures with intervals for each way, and hybrid against each leg."""
    golden = load_golden(folder)
    began = time.perf_counter()
    corpus, report = synced(folder / "corpus.jsonl", homes / folder.name)
    took = time.perf_counter() - began
    asked = [question for question in golden.questions if question.relevance]
    values = {way: measure(asked, passages(corpus, asked, way)) for way in WAYS}
    return {
        "set": folder.name,
        "fingerprint": golden.fingerprint,
        "queries": len(asked),
        "documents": sum(report.documents[name] for name in ("added", "unchanged", "modified")),
        "chunks": report.chunks_total,
        "sync_seconds": round(took, 1),
        "measures": {
            way: {
                name: dict(zip(("value", "low", "high", "n"), _rounded(bootstrap_mean(figures)), strict=True))
                for name, figures in by_name.items()
            }
            for way, by_name in values.items()
        },
        "paired": {
            f"{way} against {other} by {name}": _verdict(values[other][name], values[way][name])
            for way, other in AGAINST
            for name in values[way]
        },
    }


def _rounded(interval: Interval) -> tuple[float, float, float, int]:
    return (
        round(interval.value, 4),
        round(interval.low, 4),
        round(interval.high, 4),
        interval.n,
    )


def _verdict(a: Sequence[float], b: Sequence[float]) -> dict[str, object]:
    result = compare(a, b)
    return {
        "wins": result.wins,
        "losses": result.losses,
        "difference": round(result.difference.value, 4),
        "p_sign": result.p,
        "p_permutation": result.p_permutation,
        "verdict": result.verdict,
    }


def main() -> int:
    """Run the sets that are there; say which are not."""
    options = arguments(__doc__).parse_args()
    return run(options, "retrieval", lambda folder: evaluate(folder, options.homes))


if __name__ == "__main__":
    sys.exit(main())
