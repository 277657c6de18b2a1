"""What answers and refusals were worth: rates over a golden set's queries, with intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Outcome, Retrieved, c_at_1
from fonte.evaluation.scoring import Access, QueryKey
from fonte.evaluation.statistics import CONFIDENCE, RESAMPLES, Interval, interval_of

_COMMA = re.compile(r"(?<=\d),(?=\d)")


def says(text: str, fact: str) -> bool:
    """Whether a text holds a fact's words.

    Case, white space and the decimal mark do not count (8,00 is 8.00); a number is only found whole (26 is not in 2026,
    nor in 26.5).
    """
    wanted = _plain(fact)
    before = r"(?<!\d)(?<!\d\.)" if wanted[:1].isdigit() else ""
    after = r"(?!\d)(?!\.\d)" if wanted[-1:].isdigit() else ""
    return re.search(before + re.escape(wanted) + after, _plain(text)) is not None


def _plain(text: str) -> str:
    return _COMMA.sub(".", " ".join(text.casefold().split()))


def leaks(question: Question, text: str) -> bool:
    """Whether a text, answer or refusal, holds something that the question's asker must not be told."""
    return any(says(text, fact) for fact in question.must_not_include)


def is_correct(question: Question, text: str) -> bool:
    """Whether an answer holds all that a right one must and nothing that it must not.

    Raises:
        ValueError: the question does not say what a right answer holds.
    """
    if not question.must_include:
        raise ValueError(f"question {question.id} has no must_include")
    return all(says(text, fact) for fact in question.must_include) and not leaks(question, text)


def outcome_of(question: Question, *, answered: bool, sufficient: bool, text: str) -> Outcome:
    """What became of a query. An answer to what has no ``must_include`` is not judged."""
    correct: bool | None = None
    if question.must_include and question.answerable:
        correct = answered and is_correct(question, text)
    return Outcome(question.answerable, answered, sufficient, correct)


def answer_rates(
    golden: GoldenSet, outcomes: Mapping[QueryKey, Outcome], texts: Mapping[QueryKey, str] | None = None
) -> dict[str, Interval]:
    """Rates of what was answered and refused, each where the set has a query of its kind.

    ``false_retrieval_rate`` and ``bluff_rate`` over what cannot be answered; ``abstention_correctness`` over all;
    ``answer_correctness`` over what can be answered and has ``must_include`` or was judged otherwise (a refusal is not
    correct); ``c@1`` where that is all that can be answered. With ``texts``, ``leakage`` over queries with
    ``must_not_include``, whatever came back.

    Raises:
        ValueError: a query without outcome (a question that failed is no refusal) or text, one that the set does not
            have, an outcome that the set contradicts, or an answer that nobody judged.
    """
    asked = {(question.id, number): question for question, number, _ in golden.queries()}
    for given, what in ((outcomes, "outcome"), (texts, "text")):
        if given is not None and given.keys() != asked.keys():
            missing, strange = len(asked.keys() - given.keys()), len(given.keys() - asked.keys())
            raise ValueError(f"{missing} queries have no {what}, {strange} are not in the golden set")
    if any(outcomes[query].answerable != question.answerable for query, question in asked.items()):
        raise ValueError("an outcome and the golden set do not agree on what can be answered")
    ordered = [outcomes[query] for query in asked]
    can, cannot = [one for one in ordered if one.answerable], [one for one in ordered if not one.answerable]
    told = {"abstention_correctness": _share([one.answered == one.answerable for one in ordered])}
    if cannot:
        told["false_retrieval_rate"] = _share([one.sufficient for one in cannot])
        told["bluff_rate"] = _share([one.answered for one in cannot])
    judged = [
        outcomes[query]
        for query, question in asked.items()
        if question.answerable and (question.must_include or outcomes[query].correct is not None)
    ]
    if any(one.answered and one.correct is None for one in judged):
        raise ValueError("an answer to a question with must_include was not judged")
    if judged:
        told["answer_correctness"] = _share([bool(one.correct) for one in judged])
    if can and len(judged) == len(can):
        told["c@1"] = c_at_1_interval(can)
    if texts is not None:
        guarded = [leaks(question, texts[query]) for query, question in asked.items() if question.must_not_include]
        if guarded:
            told["leakage"] = _share(guarded)
    return told


def citation_rates(
    golden: GoldenSet, cited: Mapping[QueryKey, Sequence[Retrieved]], may_read: Access
) -> dict[str, Interval]:
    """What the citations of answers to answerable questions were worth, where the asker may read a relevant document.

    ``answer_needle``: one of them holds a whole needle. ``citation_precision``: those that lie in a relevant document,
    by all. ``citation_recall``: relevant documents cited, by all relevant that may be read. A query without answer has
    no citations: it counts 0 in the first and the last, and is left out of precision.
    """
    values: dict[str, dict[QueryKey, float]] = {}
    for question, number, _ in golden.queries():
        query = (question.id, number)
        relevant = {name for name in question.relevance if may_read(question, name)}
        if not question.answerable or not relevant:
            continue
        mine = cited.get(query, ())
        needles = [needle for needle in question.needles if needle.document in relevant]
        told = {"citation_recall": len(relevant & {one.document for one in mine}) / len(relevant)}
        if needles:
            told["answer_needle"] = float(any(one.holds(needle) for one in mine for needle in needles))
        if mine:
            told["citation_precision"] = sum(one.document in relevant for one in mine) / len(mine)
        for name, value in told.items():
            values.setdefault(name, {})[query] = value
    return {
        name: interval_of(list(by_query.values()), groups=[question for question, _ in by_query])
        for name, by_query in sorted(values.items())
    }


def faithfulness(verdicts: Mapping[QueryKey, Sequence[str]]) -> dict[str, Interval]:
    """Of each answer the share of its sentences that the checks call ``supported``, in the mean over answers.

    Questions that were refused are left out; a sentence that was not checked whole does not count as supported.
    """
    shares = {query: sum(one == "supported" for one in some) / len(some) for query, some in verdicts.items() if some}
    if not shares:
        return {}
    return {"faithfulness": interval_of(list(shares.values()), groups=[question for question, _ in shares])}


def c_at_1_interval(outcomes: Sequence[Outcome], *, seed: int = 0) -> Interval:
    """c@1 of answerable queries with its percentile bootstrap: it is no mean, so each draw is measured anew."""
    n = len(outcomes)
    right = sum(bool(one.correct) for one in outcomes)
    refused = sum(not one.answered for one in outcomes)
    drawn = np.random.default_rng(seed).multinomial(n, [right / n, refused / n, (n - right - refused) / n], RESAMPLES)
    values = (drawn[:, 0] + drawn[:, 1] * drawn[:, 0] / n) / n
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(c_at_1(outcomes), float(low), float(high), n)


def _share(values: Sequence[bool]) -> Interval:
    return interval_of([float(value) for value in values])
