"""The extractive answer on public sets: does it hold the gold answer, already in its first sentence, rightly cited?

    .venv/bin/python evaluation/run_answers.py ../shared/data squad-it xquad-en --sample 500 --out evaluation/results

Each set's corpus.jsonl is synced as records into a home of its own (kept in --homes). A question that was refused
counts as one whose answer does not hold the gold answer; how many were is told beside it. A gold answer is found when
its words stand in the answer one after the other, whatever their case, accents, punctuation and articles. A citation
is right when the chunk that it was cut from holds the whole gold span.

Every question is answered once, with an open gate, and then judged by each gate from what it saw: as shipped, open,
and with --calibrate one that ``Corpus.calibrate`` fits as a user would. That one learns from questions that do not
judge (by hash of their ids), over the set without every third of its articles, whose questions nothing answers then;
its figures are over the other half of the sample, beside those of the shipped gate on the same questions.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from public_sets import arguments, run, synced

from fonte import Answered, Principal
from fonte.answer import Asker, asked_query
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.statistics import wilson
from fonte.gate import GateModel
from fonte.models.extractive import ExtractiveGenerator
from fonte.protocols import Generator
from fonte.text.terms import folded
from fonte.types import Filters

SEED = 20261130
LEARNED_FROM = 200
"""Most questions of each kind that a gate is fitted to."""
_ARTICLES = re.compile(r"\b(?:a|an|the|il|lo|la|i|gli|le|un|uno|una|l|dell?|del|dello|della|dei|degli|delle)\b")
_WORDS = re.compile(r"\w+")
_MARKER = re.compile(r"\s*\[\d+\]")


def plain(text: str) -> str:
    """Words of a text with a space around each, without case, accents, punctuation and articles."""
    return " " + " ".join(_WORDS.findall(_ARTICLES.sub(" ", folded(text)))) + " "


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether one of the answers stands in the text."""
    whole = plain(_MARKER.sub("", text))
    return any(plain(answer) in whole for answer in answers)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question with an open gate."""

    id: str
    seen: Mapping[str, float]
    """What a gate judges by; empty where nothing was retrieved."""
    answered: bool
    holds: bool = False
    first: bool = False
    cited: bool = False
    sentences: int = 0

    @property
    def judges(self) -> bool:
        """Whether no gate is fitted to it."""
        return judges(self.id)

    def behind(self, gate: GateModel) -> Outcome:
        """The same where a gate decides."""
        passed = self.answered and gate.judge(self.seen).sufficient
        return self if passed else Outcome(self.id, self.seen, answered=False)


def judges(identity: str) -> bool:
    """The half of the questions that judges."""
    return bool(hashlib.sha256(identity.encode()).digest()[-1] & 1)


def answered(asker: Asker, generator: Generator, question: Question, answers: Sequence[str]) -> Outcome:
    """What comes of one question."""
    me = Principal()
    answer = list(asker.stream(asked_query(question.wordings[0], me, Filters()), generator))[-1]
    if not isinstance(answer, Answered):
        return Outcome(question.id, answer.gate.features, answered=False)
    chunks = asker.reader.chunks([one.chunk_id for one in answer.citations], me, revoked=()).values()
    rows = [Retrieved(one.document_name, one.chunk.start, one.chunk.end, one.chunk.content) for one in chunks]
    return Outcome(
        question.id,
        answer.gate.features,
        answered=True,
        holds=holds(answer.text, answers),
        first=holds(answer.sentences[0].text, answers),
        cited=any(row.holds(needle) for row in rows for needle in question.needles),
        sentences=len(answer.sentences),
    )


def share(values: Iterable[bool]) -> dict[str, float | int]:
    """Proportion with its Wilson interval."""
    flags = list(values)
    if not flags:
        return {"n": 0}
    interval = wilson(sum(flags), len(flags))
    return {
        "value": round(interval.value, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "n": interval.n,
    }


def figures(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Over all questions, and over those that were answered."""
    some = [one for one in outcomes if one.answered]
    return {
        "answered": share(one.answered for one in outcomes),
        "holds the gold answer": share(one.holds for one in outcomes),
        "first sentence holds it": share(one.first for one in outcomes),
        "of the answered: holds it": share(one.holds for one in some),
        "of the answered: first sentence holds it": share(one.first for one in some),
        "of those that hold it: cited where it stands": share(one.cited for one in some if one.holds),
        "sentences in an answer": round(mean(one.sentences for one in some), 2) if some else None,
    }


def learned(folder: Path, golden: GoldenSet, home: Path) -> GateModel:
    """A gate fitted by the half that does not judge, over the set without every third article."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    away = set(sorted({row["title"] for row in rows})[::3])
    hidden = {row["_id"] for row in rows if row["title"] in away}
    kinds: dict[bool, list[Question]] = {True: [], False: []}
    for one in golden.questions:
        if one.answerable and not judges(one.id):
            gone = hidden.issuperset(one.relevance)
            kinds[not gone].append(replace(one, answerable=False, needles=(), relevance={}) if gone else one)
    draw = random.Random(SEED)  # noqa: S311 - a sample, no secret
    chosen = [draw.sample(some, min(LEARNED_FROM, len(some))) for some in kinds.values()]
    with tempfile.TemporaryDirectory() as place:
        records = Path(place) / "corpus.jsonl"
        kept = [json.dumps(row, ensure_ascii=False) for row in rows if row["_id"] not in hidden]
        records.write_text("\n".join(kept) + "\n", encoding="utf-8")
        corpus, _ = synced(records, home)
    return corpus.calibrate(replace(golden, questions=tuple(chosen[0] + chosen[1]))).calibration.gate


def evaluate(folder: Path, homes: Path, sample: int, *, calibrate: bool) -> dict[str, object]:
    """One set: figures behind each gate."""
    golden = load_golden(folder)
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    answers = {row["_id"]: row.get("answers", []) for row in map(json.loads, lines)}
    asked = [one for one in golden.questions if one.answerable and one.needles and answers.get(one.id)]
    if 0 < sample < len(asked):
        asked = random.Random(SEED).sample(asked, sample)  # noqa: S311 - a sample, no secret
    corpus, _ = synced(folder / "corpus.jsonl", homes / folder.name)
    asker = corpus.asker(Principal(), calibrated=False)
    if asker is None:
        raise SystemExit(f"{folder}: nothing was published")
    generator = ExtractiveGenerator(lambda query, passages: asker.scorer.score(query, passages).scored)
    unguarded, began = replace(asker, gate=replace(asker.gate, threshold=0.0)), time.perf_counter()
    outcomes = [answered(unguarded, generator, one, answers[one.id]) for one in asked]
    told: dict[str, object] = {
        "set": folder.name,
        "fingerprint": golden.fingerprint,
        "questions": len(asked),
        "seconds for a question": round((time.perf_counter() - began) / len(asked), 3),
        "gate open": figures(outcomes),
        "gate as shipped": figures([one.behind(asker.gate) for one in outcomes]),
    }
    if calibrate:
        gate, half = learned(folder, golden, homes / f"{folder.name}-calibration"), [o for o in outcomes if o.judges]
        told["gate open, the half that judges"] = figures(half)
        told["gate as shipped, the half that judges"] = figures([one.behind(asker.gate) for one in half])
        told["gate calibrated, the half that judges"] = figures([one.behind(gate) for one in half])
    return told


def main() -> int:
    """Run the sets that are there; say which are not."""
    parser = arguments(__doc__)
    parser.add_argument("--sample", type=int, default=0, help="so many questions of each set, drawn by seed; 0 for all")
    parser.add_argument("--calibrate", action="store_true", help="judge by a gate fitted to the other half as well")
    options = parser.parse_args()
    return run(
        options,
        "answers",
        lambda folder: evaluate(folder, options.homes, options.sample, calibrate=options.calibrate),
    )


if __name__ == "__main__":
    sys.exit(main())
