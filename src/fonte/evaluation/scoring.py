"""A golden set's figures out of what was retrieved and answered: each measure over the queries that it is defined for.

A query is one wording of one question. Recall and its kin are defined where a question can be answered and its asker
may read at least one relevant document (document B, section 12): nothing else enters them, so that nothing is divided
by zero, and nothing of it leaves them: a query that got no result counts 0.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from fonte.evaluation import measures
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Retrieved, documents_in_order
from fonte.evaluation.statistics import Comparison, Interval, compare_all, interval_of

QueryKey: TypeAlias = tuple[str, int]
"""A question's id and the number of its wording, from 0."""
Access: TypeAlias = Callable[[Question, str], bool]
"""Whether who asks a question may read a document."""

_OF_DOCUMENTS: Final = {
    "recall": measures.recall_at,
    "precision": measures.precision_at,
    "hit": measures.hit_at,
    "mrr": measures.reciprocal_rank_at,
    "ndcg": measures.ndcg_at,
}
_NAME = re.compile(r"([a-z]+)@([1-9][0-9]{0,3})")
DEFAULT_MEASURES = ("needle@5", "recall@5", "hit@5", "precision@5", "mrr@10", "ndcg@10")


@dataclass(frozen=True, slots=True)
class Scores:
    """Values of every measure by query, in the set's order.

    ``values`` holds for each measure only the queries that it is defined for. ``excluded`` tells why the others were
    left out: ``unanswerable``, ``unauthorized`` (no relevant document that the asker may read), ``no_needle``.
    ``empty`` are queries that got no result. ``unauthorized_hits`` counts results that their asker may not read.
    """

    values: Mapping[str, Mapping[QueryKey, float]]
    excluded: Mapping[str, Mapping[str, int]]
    facets: Mapping[QueryKey, tuple[str, ...]]
    empty: tuple[QueryKey, ...]
    unauthorized_hits: int

    def summary(self, *, seed: int = 0) -> dict[str, Interval]:
        """Mean and interval of every measure; one that is defined for no query is left out."""
        return {name: _interval(by_query, seed) for name, by_query in self.values.items() if by_query}

    def by_facet(self, *, seed: int = 0) -> dict[str, dict[str, Interval]]:
        """The same for each segment, language and tenant: ``segment:lexical``, ``language:it``, ``tenant:acme``."""
        told: dict[str, dict[str, Interval]] = defaultdict(dict)
        for name, by_query in self.values.items():
            parts: dict[str, dict[QueryKey, float]] = defaultdict(dict)
            for query, value in by_query.items():
                for facet in self.facets[query]:
                    parts[facet][query] = value
            for facet in sorted(parts):
                told[facet][name] = _interval(parts[facet], seed)
        return dict(sorted(told.items()))


def score(
    golden: GoldenSet,
    retrieved: Mapping[QueryKey, Sequence[Retrieved]],
    names: Sequence[str] = DEFAULT_MEASURES,
    *,
    may_read: Access | None = None,
) -> Scores:
    """Every measure of every query. ``retrieved`` holds chunks, best first; a document stands at its best chunk.

    So ``recall@10`` needs as many chunks as ten documents may take. Needles should have been anchored. ``may_read``
    is everybody's right where it is not given.

    Raises:
        ValueError: an unknown measure, or results for a query that is not in the set.
    """
    kinds = {name: parse_measure(name) for name in names}
    values: dict[str, dict[QueryKey, float]] = {name: {} for name in names}
    excluded: dict[str, dict[str, int]] = {name: defaultdict(int) for name in names}
    facets: dict[QueryKey, tuple[str, ...]] = {}
    hits = 0
    for question, number, _ in golden.queries():
        query = (question.id, number)
        facets[query] = tuple(_facets(question))
        found = retrieved.get(query, ())
        if may_read is not None:
            hits += sum(not may_read(question, one.document) for one in found)
        for name, (kind, k) in kinds.items():
            value = _value(kind, k, question, found, may_read)
            if isinstance(value, str):
                excluded[name][value] += 1
            else:
                values[name][query] = value
    unknown = [query for query in retrieved if query not in facets]
    if unknown:
        raise ValueError(f"{len(unknown)} queries are not in the golden set, such as {unknown[0]}")
    empty = tuple(query for query in facets if not retrieved.get(query))
    told = {name: dict(why) for name, why in excluded.items()}
    return Scores(values, told, _telling(facets), empty, hits)


def parse_measure(name: str) -> tuple[str, int]:
    """Kind and k of a measure's name, as ``ndcg@10``. Raises ValueError."""
    match = _NAME.fullmatch(name)
    if match is None or match[1] not in (*_OF_DOCUMENTS, "needle"):
        raise ValueError(f"there is no measure {name}; known are {', '.join((*_OF_DOCUMENTS, 'needle'))}, with @k")
    return match[1], int(match[2])


def compare_scores(a: Scores, b: Scores, *, seed: int = 0) -> dict[str, Comparison]:
    """Every measure that both have, b against a, each verdict after Holm's correction for all of them.

    Raises:
        ValueError: the two are of different queries, so that nothing is paired; or no measure is common.
    """
    common = [name for name in a.values if a.values[name] and b.values.get(name)]
    if not common:
        raise ValueError("the two have no measure in common")
    for name in common:
        if a.values[name].keys() != b.values[name].keys():
            raise ValueError(f"{name} was measured on different queries")
    pairs = {
        name: (list(a.values[name].values()), [b.values[name][query] for query in a.values[name]]) for name in common
    }
    groups = {name: [question for question, _ in a.values[name]] for name in common}
    return compare_all(pairs, groups=groups, seed=seed)


def _value(kind: str, k: int, question: Question, found: Sequence[Retrieved], may_read: Access | None) -> float | str:
    """A measure's value, or why it has none."""
    if not question.answerable:
        return "unanswerable"
    relevant = {
        name: grade for name, grade in question.relevance.items() if may_read is None or may_read(question, name)
    }
    if not relevant:
        return "unauthorized"
    if kind != "needle":
        return _OF_DOCUMENTS[kind](documents_in_order(found), relevant, k)
    needles = [needle for needle in question.needles if needle.document in relevant]
    return measures.needle_at(found, needles, k) if needles else "no_needle"


def _facets(question: Question) -> Iterator[str]:
    yield f"segment:{question.segment or '(none)'}"
    yield f"language:{question.language}"
    yield f"tenant:{question.tenant}"


def _telling(facets: Mapping[QueryKey, tuple[str, ...]]) -> dict[QueryKey, tuple[str, ...]]:
    """Without the facets that every query has: they would say the total again."""
    counts: dict[str, int] = defaultdict(int)
    for own in facets.values():
        for facet in own:
            counts[facet] += 1
    return {query: tuple(facet for facet in own if counts[facet] < len(facets)) for query, own in facets.items()}


def _interval(by_query: Mapping[QueryKey, float], seed: int) -> Interval:
    return interval_of(list(by_query.values()), groups=[question for question, _ in by_query], seed=seed)
