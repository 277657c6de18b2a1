"""Retrieval on public sets in BEIR layout: BM25, dense, hybrid and hybrid reranked, with paired sign tests.

    .venv/bin/python evaluation/run_retrieval.py ../shared/data squad-it xquad-en cross-it-en --out evaluation/results

Each set's corpus.jsonl is synced as records into a home of its own (kept between runs in --homes, so that a second
run embeds nothing), then every question is asked in each way. A document counts at the rank of its best chunk.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fonte import Corpus, Principal, SourceOptions
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import ndcg_at, recall_at, reciprocal_rank_at
from fonte.evaluation.statistics import Interval, bootstrap_mean, compare
from fonte.retrieve import Mode

WAYS: Mapping[str, tuple[Mode, bool]] = {
    "bm25": ("bm25", False),
    "dense": ("dense", False),
    "hybrid": ("hybrid", False),
    "hybrid+rerank": ("hybrid", True),
}
"""Name of each way → mode, reranked."""
AGAINST = (("hybrid", "bm25"), ("hybrid", "dense"), ("hybrid+rerank", "hybrid"))
CHUNKS = 40
"""Chunks fetched for each question, so that ten different documents are among them."""


def rankings(corpus: Corpus, questions: Sequence[tuple[str, str]], way: str) -> dict[str, list[str]]:
    """Documents by name, best first, for each question."""
    asker = Principal()
    mode, rerank = WAYS[way]
    ranked = {}
    for identity, text in questions:
        found = corpus.search(text, principal=asker, mode=mode, rerank=rerank, k=CHUNKS)
        ranked[identity] = list(dict.fromkeys(one.stored.document_name for one in found.results))
    return ranked


def measure(ranked: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]]) -> dict[str, list[float]]:
    """Each measure for each question, in the order of ``qrels``."""
    return {
        "recall@1": [recall_at(ranked[query], grades, 1) for query, grades in qrels.items()],
        "recall@5": [recall_at(ranked[query], grades, 5) for query, grades in qrels.items()],
        "mrr@10": [reciprocal_rank_at(ranked[query], grades, 10) for query, grades in qrels.items()],
        "ndcg@10": [ndcg_at(ranked[query], grades, 10) for query, grades in qrels.items()],
    }


def evaluate(folder: Path, homes: Path) -> dict[str, object]:
    """One set: figures with intervals for each way, and hybrid against each leg."""
    golden = load_golden(folder)
    corpus = Corpus.open(homes / folder.name)
    began = time.perf_counter()
    report = corpus.sync(str(folder / "corpus.jsonl"), options=SourceOptions(records=True))
    synced = time.perf_counter() - began
    qrels = {question.id: question.relevance for question in golden.questions if question.relevance}
    asked = [(question.id, question.wordings[0]) for question in golden.questions if question.id in qrels]
    values = {way: measure(rankings(corpus, asked, way), qrels) for way in WAYS}
    return {
        "set": folder.name,
        "fingerprint": golden.fingerprint,
        "queries": len(asked),
        "documents": sum(report.documents[name] for name in ("added", "unchanged", "modified")),
        "chunks": report.chunks_total,
        "sync_seconds": round(synced, 1),
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
            for name in ("recall@5", "mrr@10", "ndcg@10")
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--homes", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for name in options.sets:
        if not (options.data / name / "corpus.jsonl").is_file():
            print(f"{name}: absent, not measured", file=sys.stderr)
            continue
        result = evaluate(options.data / name, options.homes)
        print(json.dumps(result, indent=1, ensure_ascii=False))
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"retrieval-{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
