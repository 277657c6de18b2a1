"""The shipped handbook against its golden set: citations, needles, facts, refusals, destroyed answers.

    .venv/bin/python evaluation/run_handbook.py --half held_out --out evaluation/results/handbook.json

Every wording of every question is asked by a principal with the question's roles. Nothing is tuned here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from fonte import Abstained, Answered, Corpus, Principal
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import Retrieved, needle_at
from fonte.evaluation.statistics import compare, wilson

ROOT = Path(__file__).resolve().parents[1]
K = 5


def asker_of(question: Question) -> Principal:
    """Who asks."""
    return Principal(roles=question.roles - {"public"})


def needle_found(corpus: Corpus, question: Question, text: str, *, rerank: bool | None = None) -> tuple[bool, bool]:
    """Whether the first chunk holds a whole needle, and whether one of the first five does."""
    found = corpus.search(text, principal=asker_of(question), k=K, rerank=rerank)
    rows = [
        Retrieved(one.stored.document_name, one.locator.start, one.locator.end, one.content) for one in found.results
    ]
    return needle_at(rows, question.needles, 1) > 0, needle_at(rows, question.needles, K) > 0


def citations_hold(corpus: Corpus, answer: Answered, asker: Principal) -> list[bool]:
    """For each citation, whether its quote is the slice of the stored document and has its hash."""
    held = []
    for one in answer.citations:
        document, _, _ = corpus.show(one.document_id, principal=asker)
        same = document.text[one.locator.start : one.locator.end] == one.quote
        held.append(same and hashlib.sha256(one.quote.encode()).hexdigest() == one.quote_sha256)
    return held


def holds_fact(question: Question, text: str) -> bool:
    """Whether an answer holds every string that a right answer must, and none that it must not.

    Case and the decimal mark do not count: 8,00 is 8.00.
    """

    def plain(words: str) -> str:
        return re.sub(r"(?<=\d),(?=\d)", ".", words.casefold())

    told = plain(text)
    return all(plain(part) in told for part in question.must_include) and not any(
        plain(part) in told for part in question.must_not_include
    )


def share(values: Iterable[bool]) -> dict[str, float | int]:
    """A proportion with its Wilson interval."""
    listed = list(values)
    interval = wilson(sum(listed), len(listed))
    return {
        "value": round(interval.value, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "n": interval.n,
    }


def run(corpus: Corpus, golden: GoldenSet, *, verbose: bool, reranked: bool) -> dict[str, object]:
    """Every figure of the set."""
    needles: list[bool] = []
    first: list[bool] = []
    facts: list[bool] = []
    answered: list[bool] = []
    refused: list[bool] = []
    cited: list[bool] = []
    segments: dict[str, list[bool]] = defaultdict(list)
    for question, number, text in golden.queries():
        asker = asker_of(question)
        answer = corpus.ask(text, principal=asker)
        if isinstance(answer, Answered):
            cited += citations_hold(corpus, answer, asker)
        right = isinstance(answer, Abstained) is not question.answerable
        segments[f"{question.segment} ({'answerable' if question.answerable else 'not'})"].append(right)
        if not question.answerable:
            refused.append(isinstance(answer, Abstained))
        else:
            answered.append(isinstance(answer, Answered))
            at_once, found = needle_found(corpus, question, text)
            first.append(at_once)
            needles.append(found)
            facts.append(isinstance(answer, Answered) and holds_fact(question, answer.text))
        if verbose:
            fault = not right or (question.answerable and not (needles[-1] and facts[-1]))
            told = answer.text if isinstance(answer, Answered) else answer.reason.value
            mark = "--" if fault else "ok"
            print(
                f"{mark} {question.id}/{number} [{question.segment}] {answer.gate.score:.2f} {text}\n     {told[:240]}"
            )
    return {
        "set": golden.name,
        "fingerprint": golden.fingerprint,
        "reranked": reranked,
        "citations_exact": share(cited),
        "needle@1": share(first),
        f"needle@{K}": share(needles),
        "answer_holds_fact": share(facts),
        "answerable_answered": share(answered),
        "unanswerable_refused": share(refused),
        "segments_decided_rightly": {name: share(values) for name, values in sorted(segments.items())},
    }


def compare_reranked(corpus: Corpus, golden: GoldenSet) -> dict[str, object]:
    """Needles of every wording that has an answer, in the fused order and reranked, with exact sign tests."""
    asked = [(question, text) for question, _, text in golden.queries() if question.answerable]
    ways = {
        way: [needle_found(corpus, question, text, rerank=rerank) for question, text in asked]
        for way, rerank in (("fused", False), ("reranked", True))
    }
    result: dict[str, object] = {"set": golden.name, "fingerprint": golden.fingerprint}
    for at, name in enumerate(("needle@1", f"needle@{K}")):
        before, after = ([float(one[at]) for one in ways[way]] for way in ("fused", "reranked"))
        paired = compare(before, after)
        result[name] = {
            "fused": share(map(bool, before)),
            "reranked": share(map(bool, after)),
            "wins": paired.wins,
            "losses": paired.losses,
            "p_sign": paired.p,
            "verdict": paired.verdict,
        }
    return result


def main() -> int:
    """Sync the handbook and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=ROOT / ".fonte-handbook")
    parser.add_argument("--golden", type=Path, default=ROOT / "evaluation" / "golden" / "handbook.yaml")
    parser.add_argument("--half", choices=("tune", "held_out", "all"), default="all")
    parser.add_argument("--no-rerank", action="store_true", help="the fused order, not reranked")
    parser.add_argument("--compare-rerank", action="store_true", help="needles only, in the fused order and reranked")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    environ = {"FONTE_RETRIEVAL_RERANK": "false"} if options.no_rerank else {}
    corpus = Corpus.open(options.home, config=ROOT / "sample" / "fonte.toml", environ=environ)
    corpus.sync(str(ROOT / "sample" / "handbook"))
    golden = load_golden(options.golden)
    if options.half != "all":
        kept = tuple(question for question in golden.questions if question.half == options.half)
        golden = GoldenSet(f"{golden.name} ({options.half})", kept, golden.corpus)
    if options.compare_rerank:
        result = compare_reranked(corpus, golden)
    else:
        result = run(corpus, golden, verbose=options.verbose, reranked=not options.no_rerank)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    print(text)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
