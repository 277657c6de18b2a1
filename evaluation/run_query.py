"""Every step of query processing by itself, with and without it, in pairs.

    .venv/bin/python evaluation/run_query.py --half held_out --out evaluation/results/query.json

Three sets of our own over the sample handbook (evaluation/golden/follow-ups.jsonl, multi-part.jsonl,
worded-filters.jsonl), rules written on the half ``tune``; and the ordinary questions of the two golden sets of the
sample, which no step may make worse. A question is found where every one of its needles stands whole in one of the
first k passages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fonte import Corpus, Principal
from fonte.answer import Asker
from fonte.evaluation.golden import Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import Needle, Retrieved, needle_at
from fonte.evaluation.statistics import compare, wilson
from fonte.models.extractive import ExtractiveGenerator
from fonte.processing import Processing
from fonte.types import Answered, Query, Said

sys.path.insert(0, str(Path(__file__).parent))

from run_handbook import holds_fact

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "evaluation" / "golden"
K = 5
PART_SETS = ("multi-part", "multi-part-2")
NOTHING = Processing(history="off", parts=False)
STEPS = {
    "history": Processing(history="rules", parts=False),
    "parts": replace(NOTHING, parts=True),
    "filters first": replace(NOTHING, filters="first"),
    "filters only": replace(NOTHING, filters="only"),
    "variants": replace(NOTHING, variants=True),
}


@dataclass(frozen=True, slots=True)
class Item:
    """One question, who asks it, and the needles that answer it."""

    id: str
    query: Query
    needles: tuple[tuple[str, str], ...]
    missing: int = 0
    nowhere: str = ""
    """Of the part that is nowhere, words of its own."""


def own_set(name: str, half: str) -> list[Item]:
    """A set of our own."""
    items = []
    for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        if half in ("all", row["half"]):
            history = tuple(Said(text) for text in row.get("history", ()))
            query = Query(row["question"], Principal(), history=history)
            needles = tuple(map(tuple, row["needles"]))
            items.append(Item(row["id"], query, needles, row.get("missing", 0), row.get("nowhere", "")))
    return items


def ordinary(name: str) -> list[Item]:
    """Every wording that has an answer of a golden set."""
    golden = load_golden(GOLDEN / f"{name}.yaml")
    return [
        Item(
            f"{question.id}/{number}",
            Query(text, Principal(roles=question.roles - {"public"})),
            tuple((needle.document, needle.text) for needle in question.needles),
        )
        for question, number, text in golden.queries()
        if question.answerable
    ]


def found(asker: Asker, item: Item, texts: dict[str, str]) -> tuple[float, float]:
    """Whether the first passage, and the first five, hold every needle."""
    rows = [
        Retrieved(one.stored.document_name, one.locator.start, one.locator.end, one.content)
        for one in asker.search(item.query).results[:K]
    ]
    marks = []
    for document, text in item.needles:
        start = texts[document].find(text)
        needle = Needle(document, text, start, start + len(text)) if start >= 0 else Needle(document, text)
        marks.append((needle_at(rows, [needle], 1) > 0, needle_at(rows, [needle], K) > 0))
    return float(any(one for one, _ in marks)), float(all(five for _, five in marks))


def paired(
    corpus: Corpus, items: Sequence[Item], step: Processing, texts: dict[str, str], base: dict[str, tuple[float, float]]
) -> dict[str, object]:
    """With the step against without it; a question that the step leaves alone is not asked again."""
    after: dict[str, tuple[float, float]] = {}
    fired = 0
    for item in items:
        asker = asker_of(corpus, item, NOTHING)
        if item.id not in base:
            base[item.id] = found(asker, item, texts)
        stepped = asker_of(corpus, item, step)
        touched = bool(stepped.processed(item.query).steps)
        fired += touched
        after[item.id] = found(stepped, item, texts) if touched else base[item.id]
    told: dict[str, object] = {"n": len(items), "touched": fired}
    for at, name in enumerate(("needle@1", f"all needles@{K}")):
        before, now = [base[item.id][at] for item in items], [after[item.id][at] for item in items]
        pair = compare(before, now)
        told[name] = {
            "without": round(sum(before) / len(before), 4),
            "with": round(sum(now) / len(now), 4),
            "interval": [round(wilson(int(sum(now)), len(now)).low, 4), round(wilson(int(sum(now)), len(now)).high, 4)],
            "wins": pair.wins,
            "losses": pair.losses,
            "p": pair.p,
            "verdict": pair.verdict,
            "lost": [item.id for item in items if after[item.id][at] < base[item.id][at]],
        }
    return told


def answers(corpus: Corpus, name: str) -> dict[str, object]:
    """Answers to the wordings of a golden set that parts are told apart in, with the step against without it.

    Right is an abstention where nothing answers, else an answer that holds every string that it must.
    """
    marks: list[tuple[str, float, float]] = []
    for question, number, text in load_golden(GOLDEN / f"{name}.yaml").queries():
        item = Item(f"{question.id}/{number}", Query(text, Principal(roles=question.roles - {"public"})), ())
        if not asker_of(corpus, item, STEPS["parts"]).processed(item.query).parts:
            continue
        without, now = (right(asker_of(corpus, item, step), item, question) for step in (NOTHING, STEPS["parts"]))
        marks.append((item.id, without, now))
    pair = compare([before for _, before, _ in marks], [after for _, _, after in marks])
    return {
        "touched": len(marks),
        "right without": sum(before for _, before, _ in marks),
        "right with": sum(after for _, _, after in marks),
        "won": [one for one, before, after in marks if after > before],
        "lost": [one for one, before, after in marks if after < before],
        "p": pair.p,
    }


def right(asker: Asker, item: Item, question: Question) -> float:
    """Whether the extractive answer is right."""
    generator = ExtractiveGenerator(lambda query, passages: asker.scorer.score(query, passages).scored)
    *_, answer = asker.stream(item.query, generator)
    if isinstance(answer, Answered):
        return float(question.answerable and holds_fact(question, answer.text))
    return float(not question.answerable)


def asker_of(corpus: Corpus, item: Item, steps: Processing) -> Asker:
    """What answers the question's asker, with these steps."""
    asker = corpus.asker(item.query.principal, calibrated=False)
    if asker is None:
        raise SystemExit("nothing is indexed")
    return replace(asker, settings=replace(asker.settings, processing=steps))


def missing(corpus: Corpus, items: Sequence[Item]) -> dict[str, object]:
    """Whether parts without an answer are named, and parts with one are not."""
    asked = [(item, asker_of(corpus, item, STEPS["parts"]).prepare(item.query)) for item in items]
    halves = [(item, one) for item, one in asked if item.missing]
    whole = [(item, one) for item, one in asked if not item.missing]
    named = [one.verdict.sufficient and _is_named(item, one.missing) for item, one in halves]
    wrongly = [one.verdict.sufficient and bool(one.missing) for _, one in whole]
    answered = [one.verdict.sufficient for _, one in whole]
    alone = [asker_of(corpus, item, NOTHING).prepare(item.query).verdict.sufficient for item, _ in whole]
    return {
        "one part nowhere": {"answered, and that part alone named": _share(named)},
        "every part somewhere": {
            "answered": _share(answered),
            "answered without the step": _share(alone),
            "a part named wrongly": _share(wrongly),
            "which": [item.id for (item, _), bad in zip(whole, wrongly, strict=True) if bad],
        },
    }


def _is_named(item: Item, missing: Sequence[str]) -> bool:
    return len(missing) == item.missing and item.nowhere.casefold() in missing[0].casefold()


def _share(marks: Sequence[bool]) -> dict[str, object]:
    interval = wilson(sum(marks), len(marks))
    return {"n": len(marks), "sum": sum(marks), "interval": [round(interval.low, 4), round(interval.high, 4)]}


def main() -> int:
    """Sync the handbook and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=ROOT / ".fonte-query")
    parser.add_argument("--half", choices=("tune", "held_out", "all"), default="all")
    parser.add_argument("--steps", nargs="*", choices=tuple(STEPS), default=tuple(STEPS))
    parser.add_argument("--ordinary", nargs="*", default=("handbook", "handbook-2"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    corpus = Corpus.open(options.home, config=ROOT / "evaluation" / "query.toml")
    corpus.sync(str(ROOT / "sample" / "handbook"))
    active, _ = corpus.generations()
    if active is None:
        raise SystemExit("nothing is indexed")
    everyone = Principal(roles={"management", "hr", "board"})
    texts = {one.name: corpus.document(one.document_id, principal=everyone).text for one in corpus.documents()}
    own = {"history": "follow-ups", "parts": "multi-part", "filters first": "worded-filters"}
    own |= {"filters only": "worded-filters", "variants": ""}
    result: dict[str, object] = {"half": options.half}
    bases: dict[str, dict[str, tuple[float, float]]] = {}
    for step in options.steps:
        sets: dict[str, Callable[[], list[Item]]] = {}
        if own[step]:
            for name in PART_SETS if step == "parts" else (own[step],):
                sets[name] = lambda name=name: own_set(name, options.half)
        if step != "history":
            sets |= {name: lambda name=name: ordinary(name) for name in options.ordinary}
        for name, load in sets.items():
            told = paired(corpus, load(), STEPS[step], texts, bases.setdefault(name, {}))
            result[f"{step}: {name}"] = told
            print(f"{step}: {name}", json.dumps(told, ensure_ascii=False), flush=True)
    if "parts" in options.steps:
        for name in PART_SETS:
            result[f"parts: missing: {name}"] = told_missing = missing(corpus, own_set(name, options.half))
            print(f"parts: missing: {name}", json.dumps(told_missing), flush=True)
        for name in options.ordinary:
            result[f"parts: answers: {name}"] = told_answers = answers(corpus, name)
            print(f"parts: answers: {name}", json.dumps(told_answers), flush=True)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
