"""Table questions: every count and sum right and cited, or refused (evaluation/golden/tables.yaml).

    python evaluation/run_tables.py [--orders 100000] [--report FILE.json]

The sample handbook and generated tables are synced into a fresh home and asked by the whole way of a question. Vectors
come from words alone (no model is loaded): a hundred thousand rows would take an encoder a quarter of an hour and say
nothing of how tables are computed on. What is true of generated tables is worked out by plain Python from their rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).parent))

from table_files import ORDERS, make_tables

from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.types import Abstained, Answer, Answered, Principal, Space, Vector, Vectors
from fonte.wiring import make_parts

ROOT = Path(__file__).parent.parent
QUESTIONS = ROOT / "evaluation" / "golden" / "tables.yaml"
_DIMENSIONS = 16
_WORD = re.compile(r"\w+|[^\w\s]")


class Words:
    """The sum of one fixed random vector for each word, and words as tokens."""

    space = Space("words", "words", "1", _DIMENSIONS, 512)
    overhead, window = 0, 512

    @property
    def tokenizer(self) -> Words:
        """Itself."""
        return self

    def count(self, text: str) -> int:
        """Words of a text."""
        return len(self.offsets(text))

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Where they stand."""
        return [match.span() for match in _WORD.finditer(text)]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """A row for each text."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        """The same for a question."""
        counts = Counter(text.casefold().split())
        total = sum((count * _vector(word) for word, count in counts.items()), np.full(_DIMENSIONS, 0.01))
        vector: Vector = (total / np.linalg.norm(total)).astype(np.float32)
        return vector


_KNOWN: dict[str, np.ndarray] = {}


def _vector(word: str) -> np.ndarray:
    if word not in _KNOWN:
        seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest())
        _KNOWN[word] = np.random.default_rng(seed).normal(size=_DIMENSIONS)
    return _KNOWN[word]


@dataclass(frozen=True)
class Verdict:
    """One question: what was wanted, what came, and whether it is right, refused as wanted, or wrong."""

    id: str
    outcome: str
    wanted: str
    came: str
    seconds: float


def judge(question: Mapping[str, str], answer: Answer, truth: Mapping[str, str]) -> tuple[str, str, str]:
    """(right, refused, left, guessed or wrong; wanted; what came)."""
    wanted = truth[question["fact"]] if "fact" in question else question.get("value", "")
    if "refused" in question:
        wanted = f"refused: {question['refused']}"
        refused = isinstance(answer, Abstained) and answer.reason.value == "unsupported"
        return ("refused" if refused else "wrong"), wanted, _said(answer)
    if not isinstance(answer, Answered) or answer.computed is None:
        return "wrong", wanted, _said(answer)
    place = question["range"].replace("{orders}", str(int(truth["orders"]) + 1))
    right = Decimal(answer.computed.value) == Decimal(wanted) and answer.computed.range == place
    cited = all(one.document_name.endswith(question["table"]) for one in answer.citations)
    return ("right" if right and cited else "wrong"), wanted, f"{answer.computed.value} {answer.computed.range}"


def _said(answer: Answer) -> str:
    return answer.message if isinstance(answer, Abstained) else answer.text


def opened(home: Path) -> OpenCorpus:
    """A corpus over word vectors; the gate lets through what it would otherwise judge by a model."""
    parts = make_parts(home, load_settings(None, home, {}))
    words = Words()
    return OpenCorpus(replace(parts, make_embedder=lambda: words))


def main() -> int:
    """Sync, ask, print; 1 where a question is wrong."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--orders", type=int, default=ORDERS)
    arguments.add_argument("--report", type=Path)
    given = arguments.parse_args()
    questions = yaml.safe_load(QUESTIONS.read_text("utf-8"))["questions"]
    with tempfile.TemporaryDirectory() as folder:
        truth = make_tables(Path(folder) / "tables", given.orders)
        corpus = opened(Path(folder) / "home")
        began = time.perf_counter()
        report = corpus.sync(str(ROOT / "sample" / "handbook"), str(Path(folder) / "tables"))
        synced = time.perf_counter() - began
        verdicts = []
        for question in questions:
            began = time.perf_counter()
            answer = corpus.ask(question["ask"], principal=Principal())
            seconds = time.perf_counter() - began
            verdicts.append(Verdict(question["id"], *judge(question, answer, truth), seconds))
    for one in verdicts:
        print(f"{one.outcome:8} {one.seconds:6.2f} s  {one.id:20} wanted {one.wanted}; came {one.came}")
    tally = Counter(one.outcome for one in verdicts)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    times = sorted(one.seconds for one in verdicts)
    summary = {
        "questions": len(verdicts),
        **tally,
        "orders": given.orders,
        "chunks": report.chunks_total,
        "sync_seconds": round(synced, 1),
        "ask_seconds_median": round(times[len(times) // 2], 2),
        "ask_seconds_most": round(times[-1], 2),
        "peak_memory_mb": memory,
    }
    print(json.dumps(summary))
    if given.report:
        given.report.write_text(json.dumps({**summary, "verdicts": [vars(one) for one in verdicts]}, indent=1) + "\n")
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
