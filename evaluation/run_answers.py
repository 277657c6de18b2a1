"""The extractive answer on public sets: does it hold the gold answer, already in its first sentence, rightly cited?

    .venv/bin/python evaluation/run_answers.py ../shared/data squad-it xquad-en --sample 500 --out evaluation/results

Each set's corpus.jsonl is synced as records into a home of its own (kept in --homes). A question that was refused
counts as one whose answer does not hold the gold answer; how many were is told beside it. A gold answer is found when
its words stand in the answer one after the other, whatever their case, accents, punctuation and articles. A citation
is right when the chunk that it was cut from holds the whole gold span.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from fonte import Answered, Corpus, Principal, SourceOptions
from fonte.answer import Asker, asked_query
from fonte.evaluation.golden import Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.statistics import wilson
from fonte.models.extractive import ExtractiveGenerator
from fonte.protocols import Generator
from fonte.text.terms import folded
from fonte.types import Filters

SEED = 20261130
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


def judge(asker: Asker, generator: Generator, question: Question, answers: Sequence[str]) -> dict[str, object]:
    """What came of one question."""
    me = Principal()
    answer = list(asker.stream(asked_query(question.wordings[0], me, Filters()), generator))[-1]
    if not isinstance(answer, Answered):
        return {"id": question.id, "answered": False}
    chunks = asker.reader.chunks([one.chunk_id for one in answer.citations], me, revoked=()).values()
    rows = [Retrieved(one.document_name, one.chunk.start, one.chunk.end, one.chunk.content) for one in chunks]
    return {
        "id": question.id,
        "answered": True,
        "holds": holds(answer.text, answers),
        "first": holds(answer.sentences[0].text, answers),
        "cited": any(row.holds(needle) for row in rows for needle in question.needles),
        "sentences": len(answer.sentences),
    }


def share(values: Iterable[object]) -> dict[str, float | int]:
    """Proportion with its Wilson interval."""
    flags = [bool(value) for value in values]
    if not flags:
        return {"n": 0}
    interval = wilson(sum(flags), len(flags))
    return {
        "value": round(interval.value, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "n": interval.n,
    }


def evaluate(folder: Path, homes: Path, sample: int) -> dict[str, object]:
    """One set: figures over all questions that were drawn, and over those that were answered."""
    golden = load_golden(folder)
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    answers = {row["_id"]: row.get("answers", []) for row in map(json.loads, lines)}
    asked = [one for one in golden.questions if one.answerable and one.needles and answers.get(one.id)]
    if 0 < sample < len(asked):
        asked = random.Random(SEED).sample(asked, sample)  # noqa: S311 - a sample, no secret
    corpus = Corpus.open(homes / folder.name)
    corpus.sync(str(folder / "corpus.jsonl"), options=SourceOptions(records=True))
    asker = corpus.asker(Principal())
    if asker is None:
        raise SystemExit(f"{folder}: nothing was published")
    generator = ExtractiveGenerator(lambda query, passages: asker.scorer.score(query, passages).scored)
    began = time.perf_counter()
    outcomes = [judge(asker, generator, one, answers[one.id]) for one in asked]
    answered = [one for one in outcomes if one["answered"]]
    return {
        "set": folder.name,
        "fingerprint": golden.fingerprint,
        "questions": len(asked),
        "answered": share(one["answered"] for one in outcomes),
        "holds the gold answer": share(one.get("holds") for one in outcomes),
        "first sentence holds it": share(one.get("first") for one in outcomes),
        "of the answered: holds it": share(one["holds"] for one in answered),
        "of the answered: first sentence holds it": share(one["first"] for one in answered),
        "of those that hold it: cited where it stands": share(one["cited"] for one in answered if one["holds"]),
        "sentences in an answer": round(mean(float(str(one["sentences"])) for one in answered), 2),
        "seconds for a question": round((time.perf_counter() - began) / len(asked), 3),
    }


def main() -> int:
    """Run the sets that are there; say which are not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--sample", type=int, default=0, help="so many questions of each set, drawn by seed; 0 for all")
    parser.add_argument("--homes", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for name in options.sets:
        if not (options.data / name / "corpus.jsonl").is_file():
            print(f"{name}: absent, not measured", file=sys.stderr)
            continue
        result = evaluate(options.data / name, options.homes, options.sample)
        print(json.dumps(result, indent=1, ensure_ascii=False))
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"answers-{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
