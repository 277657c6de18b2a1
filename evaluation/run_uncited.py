"""Sentences without a marker: how often the right passage is cited for them, and how often a wrong one.

    .venv/bin/python evaluation/run_uncited.py --data ../shared/data --out evaluation/results/uncited.json

A claim is a question of squad-it or xquad-en with its answer, which shares words with the right paragraph and is
written nowhere. It is given four paragraphs of one article, once with the right one among them and once without. Told
for each threshold (``fonte.cite._SURE`` is one of them): the right one cited, a wrong one cited in its place, and one
cited although none is right.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

from fonte.evaluation.statistics import wilson
from fonte.evidence import EvidenceScorer
from fonte.models.registry import make_embedder
from fonte.support import SupportChecker
from fonte.text.terms import Analyser
from fonte.types import Acl, Chunk, Document, Hit, Language, Passage, StoredChunk, chunk_id, document_id, sha256_hex

THRESHOLDS = (0.5, 0.6, 0.75, 0.9)
SETS: dict[str, Language] = {"squad-it": "it", "xquad-en": "en"}
PUBLIC = Acl(frozenset({"public"}))


def passage(text: str, name: str, language: Language) -> Passage:
    """A paragraph as a passage of its own document."""
    uri = f"file:///{name}"
    document = Document(
        document_id("default", uri), "default", uri, name, sha256_hex(text), name, text, PUBLIC, language=language
    )
    identity = chunk_id(document.id, document.version, "r", 0, len(text))
    chunk = Chunk(identity, document.id, 0, 0, len(text), text, language=language)
    stored = StoredChunk.of(document, chunk, PUBLIC.roles)
    return Passage(1, stored, document, 0, len(text), Hit(identity, document.id, 1.0))


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """A file of JSON lines."""
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def support(checker: SupportChecker, claim: str, one: Passage, language: Language) -> float:
    """As ``Citing`` counts it."""
    verdict, checks = checker.check(claim, [one], language=language)
    return float(checks.get("alignment", 1.0)) if verdict == "supported" else 0.0


def measured(folder: Path, language: Language, checker: SupportChecker, n: int) -> dict[str, Any]:
    """The counts of one set."""
    texts = {one["_id"]: one["text"] for one in rows(folder, "corpus.jsonl")}
    questions = {one["_id"]: one["text"] for one in rows(folder, "queries.jsonl")}
    order = list(texts)
    spans = rows(folder, "spans.jsonl")
    random.Random(5).shuffle(spans)  # noqa: S311 - a fixed sample, no secret
    found = []
    for span in spans[:n]:
        at = order.index(span["doc"])
        others = [one for one in order[max(0, at - 3) : at + 4] if one != span["doc"]][:4]
        claim = f"{questions[span['query_id']].rstrip(' ?')}: {span['text']}."
        shown = {name: passage(texts[name], name, language) for name in (span["doc"], *others)}
        each = {name: support(checker, claim, one, language) for name, one in shown.items()}
        right = each.pop(span["doc"])
        found.append((right, max(each.values())))
    told = {}
    for least in THRESHOLDS:
        counts = {
            "right": [right >= max(least, wrong) for right, wrong in found],
            "wrong": [wrong >= least and wrong > right for right, wrong in found],
            "none_is_right": [wrong >= least for _, wrong in found],
        }
        told[str(least)] = {
            name: {"count": sum(hits), "n": len(hits), "low": (i := wilson(sum(hits), len(hits))).low, "high": i.high}
            for name, hits in counts.items()
        }
    return told


def main() -> None:
    """Measure, tell and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--claims", type=int, default=100)
    parser.add_argument("--words", action="store_true", help="compare by words alone, without the encoder")
    wanted = parser.parse_args()
    checker = SupportChecker() if wanted.words else SupportChecker(EvidenceScorer(make_embedder(), Analyser()))
    result = {name: measured(wanted.data / name, language, checker, wanted.claims) for name, language in SETS.items()}
    wanted.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
