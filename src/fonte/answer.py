"""A question to an answer that the server cites, or to an honest abstention."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from fonte.asked import Asked, AskedPart, cited_out_of_force
from fonte.cite import Cited, Citing, ends_early
from fonte.computed.step import Answer as TableAnswer
from fonte.computed.step import Refusal, over_tables, reach_of
from fonte.context import build_passages, prompt_sentences
from fonte.errors import BadModelOutput, CorruptIndex, InvalidQuery, ModelUnavailable
from fonte.evidence import EvidenceScorer, features
from fonte.gate import NOTHING, GateModel, part_is_there
from fonte.processing import Processing, in_context, process
from fonte.protocols import Embedder, Entailer, Generator, Reranker, Rewriter, Terms
from fonte.retrieve import Found, RetrievalSettings, Retrieved, Retriever
from fonte.several import Gathered, gather, part_query, shortcuts
from fonte.shown import results, suspicious
from fonte.store_protocols import Catalog, IndexReader
from fonte.support import SupportChecker, SupportPolicy
from fonte.text.language import question_languages
from fonte.text.normalise import is_text
from fonte.types import (
    Abstained,
    AbstentionReason,
    Acl,
    Answer,
    Answered,
    Citation,
    Document,
    Draft,
    Filters,
    GateVerdict,
    Language,
    Passage,
    Principal,
    Query,
    SearchResults,
    Trace,
)
from fonte.words import speaks_of, weighted_words

NEAREST = 3
_MESSAGES = {
    "it": "Non trovo informazioni sufficienti nelle fonti autorizzate.",
    "en": "I cannot find enough information in the sources that you may read.",
}


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Widths of a question's way. ``context_tokens`` already leaves room for the answer."""

    retrieval: RetrievalSettings = RetrievalSettings()  # noqa: RUF009 - frozen
    context_tokens: int = 3000
    support: SupportPolicy = "flag"
    processing: Processing = Processing()  # noqa: RUF009 - frozen


def answer_language(languages: Sequence[Language]) -> Language:
    """The language that fonte itself speaks to the asker: Italian or English."""
    return next((language for language in languages if language in _MESSAGES), "en")


def abstention_message(language: Language) -> str:
    """The polite sentence of an abstention."""
    return _MESSAGES[language]


def with_languages(query: Query) -> Query:
    """The query with the languages that its text may be written in."""
    return query if query.languages else replace(query, languages=question_languages(query.text))


def nothing_answered(query: Query) -> Abstained:
    """The abstention of a tenant that has no index: the same as of one that holds nothing for the asker."""
    language = answer_language(query.languages)
    trace = Trace(id="", question=query.question, generation="")
    return Abstained(
        question=query.question,
        language=language,
        gate=NOTHING,
        generation="",
        generator="",
        answer_id="",
        trace=trace,
        prompt_tokens=0,
        completion_tokens=0,
        cost=0.0,
        reason=AbstentionReason.NOTHING_RETRIEVED,
        message=abstention_message(language),
        nearest=(),
    )


@dataclass(frozen=True, slots=True)
class Asker:
    """Searches and answers over one generation, opened once for each question."""

    reader: IndexReader
    catalog: Catalog
    embedder: Embedder
    terms: Terms
    scorer: EvidenceScorer
    gate: GateModel
    settings: AnswerSettings
    notes: tuple[str, ...] = ()
    """What an answer should say about how it was made."""
    rewriter: Rewriter | None = None
    """Reads questions of conversations, where a model is to do it."""
    entailer: Entailer | None = None
    reranker: Reranker | None = None
    """What orders passages anew; None is late interaction."""

    def search(self, query: Query) -> SearchResults:
        """Ranked passages that the principal may read."""
        began = time.perf_counter()
        query = self.processed(query)
        gathered, documents = self._retrieve(query, self.settings.retrieval)
        retrieved = gathered.retrieved
        ranked = tuple(results(retrieved.found, documents))
        return SearchResults(
            query=query.question,
            generation=self.reader.generation.id,
            results=ranked,
            timings_ms={**retrieved.timings_ms, "total": (time.perf_counter() - began) * 1000},
            trace_id=_new_id("t"),
            steps=query.steps,
            as_of=query.as_of,
            reranker=retrieved.reranker,
            notes=retrieved.notes,
        )

    def processed(self, query: Query) -> Query:
        """The question with what query processing makes of it."""
        steps = self.settings.processing
        query = with_languages(in_context(query, steps, self.rewriter))
        return process(query, steps, lambda: self._names(query.principal), now().date())

    def _names(self, principal: Principal) -> dict[str, list[str]]:
        acls = self.catalog.acls()
        named: dict[str, list[str]] = {}
        for one in self.catalog.states(self.reader.generation.id):
            if acls.get(one.document_id, Acl()).admits(principal):
                named.setdefault(one.name, []).append(one.document_id)
        return named

    def stream(self, query: Query, generator: Generator) -> Iterator[Citation | str | Answer]:
        """The text sentence by sentence, each citation before it is used, last the whole answer: cited or abstaining.

        Sentences are handed out while the generator writes, but only when they are whole and their markers are known
        to be ours, so that what was shown is what is stored. Where a generator breaks off, what was shown is the
        answer, and it tells so; where rights narrow meanwhile, the answer is an abstention and nothing is kept.

        Raises:
            ModelUnavailable, BadModelOutput: the embedder or the generator failed; nothing is made up instead.
        """
        asked = self.prepare(query)
        reach = reach_of(self.catalog, self.reader.generation.id, query.principal, asked.documents)
        computed = over_tables(asked.query, asked.language, asked.retrieved, reach)
        if computed is not None:
            yield from self._over_table(asked, computed, generator.name)
            return
        if not asked.verdict.sufficient:
            reason = AbstentionReason.WEAK_EVIDENCE if asked.retrieved.found else AbstentionReason.NOTHING_RETRIEVED
            yield self._abstain(asked, reason, generator.name)
            return
        yield from self._written(asked, generator)

    def citing(self, asked: Asked, policy: SupportPolicy, echoes: Iterable[str] = ()) -> Citing:
        """What cites a draft over the question's passages and judges every sentence."""
        checker = SupportChecker(self.scorer, self.entailer)
        return Citing(asked.passages, language=asked.language, echoes=echoes, checker=checker, policy=policy)

    def _written(self, asked: Asked, generator: Generator) -> Iterator[Citation | str | Answer]:
        """What the generator writes about the passages, as far as it is whole and may be shown."""
        wanted, draft, began = asked.to_draft, None, False
        citing = self.citing(asked, self.settings.support, prompt_sentences(wanted, asked.language))
        for piece in generator.stream(wanted, asked.passages, language=asked.language):
            if isinstance(piece, str):
                shown = citing.feed(piece)
            else:
                draft = piece
                shown = citing.take(piece) if piece.taken else citing.close(broken=ends_early(piece))
            if not shown and draft is None:
                continue
            readable = self._still_readable(asked)
            if [one.copies for one in readable.passages] != [one.copies for one in asked.passages]:
                # Rights narrowed meanwhile, and it may have used any passage: nothing more is shown, nothing is kept.
                yield self._abstain(readable, AbstentionReason.NOTHING_RETRIEVED, generator.name)
                return
            asked = readable
            for one in shown:
                if isinstance(one, Citation):
                    yield one
                else:
                    yield f" {one.text}" if began else one.text
                    began = True
        if draft is None:
            raise BadModelOutput(f"the generator {generator.name} ended without its draft")
        yield self._outcome(asked, citing.result(), draft, generator.name)

    def _outcome(self, asked: Asked, cited: Cited, draft: Draft, generator: str) -> Answer:
        """The answer, where something of it carries a citation; else why there is none."""
        if cited.citations:
            return self._answer(asked, cited, draft, generator)
        if draft.broken:
            raise ModelUnavailable(draft.broken, hint="ask again")
        declined = draft.declined or bool(cited.refused)
        reason = AbstentionReason.GENERATOR_DECLINED if declined else AbstentionReason.UNSUPPORTED
        # What was cut off may have been the answer: the reason is not the sources' then.
        return self._abstain(asked, reason, generator, replace(draft, notes=(*draft.notes, *draft.missing)), cited)

    def _over_table(
        self, asked: Asked, outcome: TableAnswer | Refusal, generator: str
    ) -> Iterator[Citation | str | Answer]:
        """What was computed over a table, or why nothing was; neither passes the gate, which judges passages."""
        asked, principal = self._still_readable(asked), asked.query.principal
        told = outcome.documents if isinstance(outcome, Refusal) else (outcome.computed.document_id,)
        if not all(self.catalog.may_read(one, principal) for one in told):
            yield self._abstain(asked, AbstentionReason.NOTHING_RETRIEVED, generator)
            return
        if isinstance(outcome, Refusal):
            refused = self._abstain(asked, AbstentionReason.UNSUPPORTED, generator)
            message = f"{refused.message} {outcome.why}"
            yield replace(refused, message=message, trace=replace(refused.trace, read=told))
            return
        if outcome.unplaced:
            led = self.reader.chunks([outcome.unplaced], principal, revoked=()).get(outcome.unplaced)
            if led is None:
                yield self._abstain(asked, AbstentionReason.NOTHING_RETRIEVED, generator)
                return
            outcome = outcome.placed(led)
        citations = tuple(
            replace(one, duplicates=tuple(copy for copy in one.duplicates if self.catalog.may_read(copy[0], principal)))
            for one in outcome.citations
        )
        cited = Cited(" ".join(one.text for one in outcome.sentences), outcome.sentences, citations, ())
        yield from citations
        for position, sentence in enumerate(cited.sentences):
            yield sentence.text if position == 0 else f" {sentence.text}"
        yield replace(self._answer(asked, cited, Draft(cited.text), "table"), missing=(), computed=outcome.computed)

    def _retrieve(self, query: Query, settings: RetrievalSettings) -> tuple[Gathered, dict[str, Document]]:
        revoked = self.catalog.revoked(self.reader.generation.id, query.principal)
        gathered = gather(Retriever(self.reader, self.embedder, self.terms, self.reranker), query, revoked, settings)
        found = self._readable(gathered.retrieved.found, query.principal)
        documents = {}
        for document_id in dict.fromkeys(one.stored.chunk.document_id for one in found):
            document = self.catalog.document(self.reader.generation.id, document_id)
            if document is None:
                raise CorruptIndex(
                    f"document {document_id} is in the index and has no text in the catalog",
                    hint="run fonte sync again",
                )
            documents[document_id] = document
        notes = (*gathered.retrieved.notes, *shortcuts(self.reader, settings))
        return replace(gathered, retrieved=replace(gathered.retrieved, found=found, notes=notes)), documents

    def _still_readable(self, asked: Asked) -> Asked:
        """The same without what the asker could read when the passages were chosen, and cannot read any more."""
        found = self._readable(asked.retrieved.found, asked.query.principal)
        copies = {one.stored.chunk.id: one.copies for one in found}
        passages = tuple(
            replace(one, copies=copies[one.stored.chunk.id]) for one in asked.passages if one.stored.chunk.id in copies
        )
        return replace(asked, retrieved=replace(asked.retrieved, found=found), passages=passages)

    def _readable(self, found: Sequence[Found], principal: Principal) -> tuple[Found, ...]:
        """Rights are asked once more where text leaves the store: they may have narrowed a moment ago."""
        named = {one.stored.chunk.document_id for one in found} | {copy for one in found for copy, _ in one.copies}
        readable = {document for document in named if self.catalog.may_read(document, principal)}
        return tuple(
            replace(one, copies=tuple(copy for copy in one.copies if copy[0] in readable))
            for one in found
            if one.stored.chunk.document_id in readable
        )

    def prepare(self, query: Query) -> Asked:
        """Everything up to the gate's verdict: what was retrieved, the passages, and what the gate saw in them."""
        began = time.perf_counter()
        query = self.processed(query)
        gathered, documents = self._retrieve(query, replace(self.settings.retrieval, distances=True))
        retrieved, holds = gathered.retrieved, speaks_of(query, self.terms)
        passages = tuple(
            build_passages(
                tuple(one for one in retrieved.found if holds(one.stored)),
                documents,
                token_budget=self.settings.context_tokens,
                chunking=self.reader.generation.recipe.chunking,
            )
        )
        parts = tuple(self._part(query, at, passages, found) for at, found in enumerate(gathered.parts))
        whole = self._judged(query, passages, retrieved)
        space = self.reader.generation.recipe.space
        sure = [one.verdict for one in parts if part_is_there(space, one.verdict, lengthened=False)]
        verdict = max([whole, *sure], key=lambda one: one.score)
        language = answer_language(query.languages)
        return Asked(query, language, retrieved, documents, passages, verdict, began, parts)

    def _judged(self, query: Query, passages: tuple[Passage, ...], retrieved: Retrieved) -> GateVerdict:
        if not passages:
            return self.gate.nothing()
        words = weighted_words(query, self.terms, self.reader)
        evidence = self.scorer.score(query, passages, retrieved, words)
        return self.gate.judge(features(query, retrieved, passages, evidence, self.scorer))

    def _part(self, query: Query, at: int, passages: Sequence[Passage], retrieved: Retrieved) -> AskedPart:
        """A part judged by the passages that it found itself, with their distances to it."""
        shown = {one.stored.chunk.id: one for one in passages}
        found = [one for one in retrieved.found if one.stored.chunk.id in shown]
        own = tuple(replace(shown[one.stored.chunk.id], hit=one.hit) for one in found)
        verdict = self._judged(part_query(query, at), own, retrieved)
        part, space = query.parts[at], self.reader.generation.recipe.space
        return AskedPart(part, own, verdict, part_is_there(space, verdict, lengthened=part.text != part.asked))

    def _trace(self, asked: Asked, draft: Draft | None = None, cited: Cited | None = None) -> Trace:
        made = (*(draft.notes if draft else ()), *(cited.notes if cited else ()))
        if cited:
            made += suspicious(asked.passages)
            made += cited_out_of_force(cited.citations, asked.query.as_of, now().date())
        timings = {**asked.retrieved.timings_ms, "total": (time.perf_counter() - asked.began) * 1000}
        return Trace(
            id=_new_id("t"),
            question=asked.query.question,
            generation=self.reader.generation.id,
            rankings=asked.retrieved.rankings,
            gate=asked.verdict,
            removed_markers=cited.removed if cited else (),
            dropped=cited.dropped if cited else (),
            notes=(*self.notes, *asked.retrieved.notes, *made),
            steps=asked.query.steps,
            as_of=asked.query.as_of,
            timings_ms=timings,
            reranker=asked.retrieved.reranker,
            read=tuple(dict.fromkeys(one.document.id for one in asked.passages)) if draft or cited else (),
        )

    def _abstain(
        self,
        asked: Asked,
        reason: AbstentionReason,
        generator: str,
        draft: Draft | None = None,
        cited: Cited | None = None,
    ) -> Abstained:
        return Abstained(
            question=asked.query.question,
            language=asked.language,
            gate=asked.verdict,
            generation=self.reader.generation.id,
            generator=generator,
            answer_id=_new_id("a"),
            trace=self._trace(asked, draft, cited),
            prompt_tokens=draft.prompt_tokens if draft else 0,
            completion_tokens=draft.completion_tokens if draft else 0,
            cost=draft.cost if draft else 0.0,
            reason=reason,
            message=abstention_message(asked.language),
            nearest=tuple(results(asked.retrieved.found[:NEAREST], asked.documents)),
        )

    def _answer(self, asked: Asked, cited: Cited, draft: Draft, generator: str) -> Answered:
        broken = [f"the answer broke off: {draft.broken}"] if draft.broken else []
        return Answered(
            question=asked.query.question,
            language=asked.language,
            gate=asked.verdict,
            generation=self.reader.generation.id,
            generator=generator,
            answer_id=_new_id("a"),
            trace=self._trace(asked, draft, cited),
            prompt_tokens=draft.prompt_tokens,
            completion_tokens=draft.completion_tokens,
            cost=draft.cost,
            text=cited.text,
            sentences=cited.sentences,
            citations=cited.citations,
            missing=tuple(dict.fromkeys((*draft.missing, *asked.missing, *cited.refused, *broken))),
        )


def asked_query(text: str, principal: Principal, filters: Filters, as_of: date | None = None) -> Query:
    """A question as it was asked. Raises InvalidQuery where it says nothing or holds what is no character."""
    if not text.strip():
        raise InvalidQuery("the question is empty", hint="write a question between quotes")
    if not is_text(text):
        raise InvalidQuery("the question holds half a character", hint="write it in UTF-8")
    return Query(text.strip(), principal, filters, as_of)


def _new_id(kind: str) -> str:
    return kind + uuid.uuid4().hex[:20]


def now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)
