"""A golden set over an index: every wording asked as its asker, what came back, and what it was worth.

Retrieval is measured on what ``search`` gives, deep enough for the largest k; the gate and the answers on what ``ask``
would do, with its own number of passages. Nothing is stored. Each tenant is pinned to one generation for the whole run.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from fonte.answer import Asker
from fonte.errors import InputError, NotFound
from fonte.evaluation.answers import answer_rates, citation_rates, faithfulness, outcome_of
from fonte.evaluation.floors import corpus_fingerprint
from fonte.evaluation.golden import GoldenFault, GoldenSet, Question, anchored
from fonte.evaluation.index_facts import IndexFacts, by_document, index_facts
from fonte.evaluation.measures import Outcome, Retrieved
from fonte.evaluation.scoring import DEFAULT_MEASURES, QueryKey, Scores, parse_measure, score
from fonte.evaluation.statistics import Interval
from fonte.protocols import Generator, Progress
from fonte.types import (
    Abstained,
    Acl,
    Answer,
    Answered,
    BlockKind,
    Chunk,
    DocumentState,
    GateVerdict,
    Generation,
    Principal,
    Query,
    SearchResults,
)

CHUNKS_A_DOCUMENT = 4
"""Chunks fetched for each document wanted: one document seldom takes more of the first places."""


@dataclass(frozen=True, slots=True)
class TenantIndex:
    """One tenant's index as it is measured. ``asker`` is None where nothing is indexed.

    ``build_seconds`` and ``embedded_texts`` are known where the index was built for this measurement.
    """

    asker: Asker | None
    states: Mapping[str, tuple[DocumentState, ...]] = field(default_factory=dict)
    """Documents by name."""
    acls: Mapping[str, Acl] = field(default_factory=dict)
    """Live rights by document id, read apart from the filters that they are to check."""
    build_seconds: float | None = None
    embedded_texts: int | None = None

    @property
    def generation(self) -> Generation | None:
        """What is measured."""
        return self.asker.reader.generation if self.asker else None

    def may_read(self, name: str, asker: Principal) -> bool:
        """Whether a document of that name may be read; where several have it, whether one of them may."""
        return any(self.admits(state.document_id, asker) for state in self.states.get(name, ()))

    def admits(self, document_id: str, asker: Principal) -> bool:
        """Whether live rights admit the asker; a document of nobody's, or of another tenant, admits nobody."""
        return self.acls.get(document_id, Acl()).admits(asker)


Tenants: TypeAlias = Mapping[str, TenantIndex]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is measured: retrieval always, the gate and whole answers (by ``generator``) where they are asked for."""

    measures: tuple[str, ...] = DEFAULT_MEASURES
    gate: bool = False
    generator: Generator | None = None

    @property
    def depth(self) -> int:
        """The largest k of the measures."""
        return max(parse_measure(name)[1] for name in self.measures)


@dataclass(frozen=True, slots=True)
class Observed:
    """What became of one query. ``forbidden`` counts results, copies among them, that its asker may not read."""

    retrieved: tuple[Retrieved, ...] = ()
    milliseconds: float | None = None
    distance: float | None = None
    """Cosine distance of the nearest passage."""
    forbidden: int = 0
    verdict: GateVerdict | None = None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A golden set's figures over one configuration, and what they were made of."""

    golden: GoldenSet
    """Anchored in the documents that were measured."""
    faults: tuple[GoldenFault, ...]
    """Needles and documents of the set that are not there; they count as not found."""
    generations: Mapping[str, Generation]
    observed: Mapping[QueryKey, Observed]
    scores: Scores
    rates: Mapping[str, Interval]
    facts: IndexFacts
    layers: Mapping[str, str]


def measures_for(k: int) -> tuple[str, ...]:
    """The measures of a report whose longest list has ``k`` places."""
    short = min(5, k)
    names = [f"needle@{short}", f"recall@{short}", f"hit@{short}", f"precision@{short}", f"mrr@{k}", f"ndcg@{k}"]
    return tuple(dict.fromkeys([*names, "needle@1", f"needle@{k}", f"recall@{k}"]))


def tenants_of(golden: GoldenSet, asker_of: Callable[[str], Asker | None]) -> dict[str, TenantIndex]:
    """Every tenant that a set asks, opened once.

    Raises:
        NotFound: none of them has an index.
    """
    named = dict.fromkeys(question.tenant for question in golden.questions)
    opened = {tenant: measured(asker_of(tenant)) for tenant in named}
    if all(one.asker is None for one in opened.values()):
        raise NotFound(
            f"nothing is indexed for {', '.join(sorted(named))}", hint="run fonte sync FOLDER, or name another --home"
        )
    return opened


def measured(asker: Asker | None, *, seconds: float | None = None, embedded: int | None = None) -> TenantIndex:
    """An open index with its documents and rights, and what its building took."""
    if asker is None:
        return TenantIndex(None)
    named: dict[str, list[DocumentState]] = defaultdict(list)
    for state in asker.catalog.states(asker.reader.generation.id):
        named[state.name].append(state)
    states = {name: tuple(some) for name, some in named.items()}
    return TenantIndex(asker, states, asker.catalog.acls(), seconds, embedded)


def fingerprint_of(golden: GoldenSet, tenants: Tenants) -> str:
    """What floors are bound to: the set, and the versions of the documents that it asks about."""
    found: dict[str, set[str]] = defaultdict(set)
    for question in golden.questions:
        for name in question.relevance:
            found[name] |= {state.version for state in tenants[question.tenant].states.get(name, ())}
    return corpus_fingerprint(golden, {name: "+".join(sorted(versions)) for name, versions in found.items()})


def evaluate(golden: GoldenSet, tenants: Tenants, wanted: Wanted, progress: Progress) -> Evaluation:
    """Ask everything and measure it.

    Raises:
        InputError: not one of the set's documents is indexed, or an asker cannot be. ModelError, StoreError: a
            question could not be asked; no figure is made up for it.
    """
    golden, faults = _anchored(golden, tenants)
    asked = list(golden.queries())
    observed: dict[QueryKey, Observed] = {}
    for done, (question, number, text) in enumerate(asked, start=1):
        observed[question.id, number] = _observe(tenants[question.tenant], question, text, wanted)
        progress("asking", done, len(asked))
    retrieved = {query: one.retrieved for query, one in observed.items()}

    def may_read(question: Question, document: str) -> bool:
        return tenants[question.tenant].may_read(document, _principal(question))

    scores = score(golden, retrieved, wanted.measures, may_read=may_read)
    # By id and with copies, where the library can only go by name.
    scores = replace(scores, unauthorized_hits=sum(one.forbidden for one in observed.values()))
    return Evaluation(
        golden=golden,
        faults=faults,
        generations={tenant: one.generation for tenant, one in tenants.items() if one.generation is not None},
        observed=observed,
        scores=scores,
        rates=_rates(golden, observed, wanted, may_read),
        facts=_facts(golden, tenants, observed),
        layers=_layers(tenants, observed, wanted),
    )


def curves_of(evaluation: Evaluation, tenants: Tenants, k: int) -> dict[str, dict[int, Interval]]:
    """``recall`` and ``needle`` at every place up to ``k``, those that the set defines."""
    retrieved = {query: one.retrieved for query, one in evaluation.observed.items()}
    names = [f"{kind}@{at}" for kind in ("recall", "needle") for at in range(1, k + 1)]

    def may_read(question: Question, document: str) -> bool:
        return tenants[question.tenant].may_read(document, _principal(question))

    found: dict[str, dict[int, Interval]] = defaultdict(dict)
    for name, interval in score(evaluation.golden, retrieved, names, may_read=may_read).summary().items():
        kind, at = parse_measure(name)
        found[kind][at] = interval
    return dict(found)


def _principal(question: Question) -> Principal:
    try:
        return Principal(question.tenant, question.user, question.roles)
    except ValueError as error:
        raise InputError(f"question {question.id}: {error}", hint="run fonte golden check") from error


# --- the set in the documents ----------------------------------------------------------------------------------------


def _anchored(golden: GoldenSet, tenants: Tenants) -> tuple[GoldenSet, tuple[GoldenFault, ...]]:
    """The set anchored, tenant by tenant: a name may stand for another document in each."""
    questions: dict[str, Question] = {}
    faults: list[GoldenFault] = []
    found = wanted = 0
    for tenant, index in tenants.items():
        part = replace(golden, questions=tuple(one for one in golden.questions if one.tenant == tenant))
        names = {name for question in part.questions for name in question.relevance}
        texts, headings = _texts(index, names)
        wanted, found = wanted + len(names), found + len(texts)
        moved, wrong = anchored(part, texts, headings)
        questions |= {question.id: question for question in moved.questions}
        faults += wrong
    if wanted and not found:
        raise InputError(
            f"none of the {wanted} documents that {golden.name} asks about is indexed",
            hint="name them as fonte documents does, sync them first, or name their --home",
        )
    ordered = tuple(questions[question.id] for question in golden.questions)
    return replace(golden, questions=ordered, origin=golden.fingerprint), tuple(faults)


def _texts(index: TenantIndex, names: set[str]) -> tuple[dict[str, str], dict[str, list[tuple[int, int]]]]:
    """Canonical texts of the named documents, and the ranges of their headings."""
    texts: dict[str, str] = {}
    headings: dict[str, list[tuple[int, int]]] = {}
    if index.asker is None:
        return texts, headings
    for name in sorted(names & index.states.keys()):
        for state in index.states[name]:
            document = index.asker.catalog.document(index.asker.reader.generation.id, state.document_id)
            if document is not None:
                texts[name] = document.text
                headings[name] = [(span.start, span.end) for span in document.spans if span.kind is BlockKind.HEADING]
    return texts, headings


# --- one query -------------------------------------------------------------------------------------------------------


def _observe(index: TenantIndex, question: Question, text: str, wanted: Wanted) -> Observed:
    if index.asker is None:
        return Observed()
    query = Query(text.strip(), _principal(question))
    began = time.perf_counter()
    results = _deep(index.asker, wanted.depth).search(query)
    milliseconds = (time.perf_counter() - began) * 1000
    distances = [one.hit.dense_distance for one in results.results if one.hit.dense_distance is not None]
    verdict, answer = None, None
    if wanted.generator is not None:
        *_, last = index.asker.stream(query, wanted.generator)
        if not isinstance(last, Answered | Abstained):
            raise AssertionError("a stream ends with its answer")
        verdict, answer = last.gate, last
    elif wanted.gate:
        verdict = index.asker.prepare(query).verdict
    return Observed(
        retrieved=tuple(
            Retrieved(one.stored.document_name, one.locator.start, one.locator.end, one.content)
            for one in results.results
        ),
        milliseconds=milliseconds,
        distance=min(distances, default=None),
        forbidden=_forbidden(index, query.principal, results),
        verdict=verdict,
        answer=answer,
    )


def _deep(asker: Asker, places: int) -> Asker:
    """The same with as many chunks as ``places`` documents may take, as far as the legs reach in any case.

    Only what lies beyond the usual k is added: the first places stay as they are.
    """
    retrieval = asker.settings.retrieval
    k = max(places, min(places * CHUNKS_A_DOCUMENT, retrieval.candidates))
    deeper = replace(retrieval, k=k, candidates=max(retrieval.candidates, k))
    return replace(asker, settings=replace(asker.settings, retrieval=deeper))


def _forbidden(index: TenantIndex, asker: Principal, results: SearchResults) -> int:
    """Results and copies whose live rights do not admit the asker, asked anew where the first reading says so."""
    shown = [one.stored.chunk.document_id for one in results.results]
    shown += [document for one in results.results for document, _ in one.duplicates]
    return sum(
        not index.admits(document, asker)
        and not (index.asker is not None and index.asker.catalog.acl(document).admits(asker))
        for document in shown
    )


# --- figures ---------------------------------------------------------------------------------------------------------


def _rates(
    golden: GoldenSet,
    observed: Mapping[QueryKey, Observed],
    wanted: Wanted,
    may_read: Callable[[Question, str], bool],
) -> dict[str, Interval]:
    """Of the gate alone an attempt counts as an answer; with a generator what really came back."""
    if wanted.generator is None and not wanted.gate:
        return {}
    outcomes: dict[QueryKey, Outcome] = {}
    texts: dict[QueryKey, str] = {}
    for question, number, _ in golden.queries():
        query = (question.id, number)
        one = observed[query]
        sufficient = one.verdict is not None and one.verdict.sufficient
        if wanted.generator is None:
            outcomes[query] = Outcome(question.answerable, sufficient, sufficient)
            continue
        answered = isinstance(one.answer, Answered)
        texts[query] = "" if one.answer is None else text_of(one.answer)
        outcomes[query] = outcome_of(question, answered=answered, sufficient=sufficient, text=texts[query])
    if wanted.generator is None:
        bare = tuple(replace(question, must_include=()) for question in golden.questions)
        return answer_rates(replace(golden, questions=bare), outcomes)
    cited = {query: list(_cited(one.answer)) for query, one in observed.items()}
    rates = {**answer_rates(golden, outcomes, texts), **citation_rates(golden, cited, may_read)}
    shown = {query: one.answer.sentences for query, one in observed.items() if isinstance(one.answer, Answered)}
    return rates | faithfulness({query: [one.support for one in some] for query, some in shown.items()})


def text_of(answer: Answer) -> str:
    """What the asker was shown: the answer, or the sentence of the refusal."""
    return answer.text if isinstance(answer, Answered) else answer.message


def _cited(answer: Answer | None) -> Iterator[Retrieved]:
    if isinstance(answer, Answered):
        for one in answer.citations:
            yield Retrieved(one.document_name, one.locator.start, one.locator.end, one.quote)


def _facts(golden: GoldenSet, tenants: Tenants, observed: Mapping[QueryKey, Observed]) -> IndexFacts:
    """Costs and losses over all tenants; needles in documents that are not there are faults, not losses of chunking."""
    single = len(tenants) == 1
    chunks: dict[str, list[Chunk]] = {}
    questions = []
    window = 0
    for tenant, index in tenants.items():
        if index.asker is None:
            continue
        window = max(window, index.asker.embedder.tokenizer.window)
        own = [question for question in golden.questions if question.tenant == tenant]
        needled = {needle.document for question in own for needle in question.needles} & index.states.keys()
        for name, some in by_document(index.asker.reader.stored_chunks(), needled).items():
            chunks[name if single else f"{tenant}/{name}"] = some
        questions += [_kept_needles(question, index, "" if single else f"{tenant}/") for question in own]
    built = [one.build_seconds for one in tenants.values() if one.build_seconds is not None]
    embedded = [one.embedded_texts for one in tenants.values() if one.embedded_texts is not None]
    return index_facts(
        replace(golden, questions=tuple(questions)),
        chunks,
        window,
        build_seconds=round(sum(built), 3) if built else None,
        embedded_texts=sum(embedded) if embedded else None,
        query_ms=[one.milliseconds for one in observed.values() if one.milliseconds is not None],
    )


def _kept_needles(question: Question, index: TenantIndex, prefix: str) -> Question:
    needles = tuple(
        replace(needle, document=prefix + needle.document)
        for needle in question.needles
        if needle.document in index.states and (needle.text or needle.start is not None)
    )
    relevance = {prefix + name: grade for name, grade in question.relevance.items()}
    return replace(question, needles=needles, relevance=relevance)


def _layers(tenants: Tenants, observed: Mapping[QueryKey, Observed], wanted: Wanted) -> dict[str, str]:
    """Which layers of a question's way took part: ``on``, ``off`` or ``not_measured``."""
    askers: Sequence[Asker] = [one.asker for one in tenants.values() if one.asker is not None]
    modes = {asker.settings.retrieval.mode for asker in askers}
    told = {
        "bm25": "on" if modes & {"hybrid", "bm25"} else "off",
        "dense": "on" if modes & {"hybrid", "dense"} else "off",
        "fusion": "on" if "hybrid" in modes else "off",
        "rerank": "on" if any(asker.settings.retrieval.rerank for asker in askers) else "off",
        "decomposition": "on" if any(asker.settings.processing.parts for asker in askers) else "off",
    }
    verdicts = [one.verdict for one in observed.values() if one.verdict is not None]
    calibrated = "calibrated" if verdicts and all(one.calibrated for one in verdicts) else "uncalibrated"
    told["gate"] = calibrated if verdicts else "not_measured"
    told["answers"] = wanted.generator.name if wanted.generator is not None else "not_measured"
    told["support"] = "on" if wanted.generator is not None else "not_measured"
    return told
