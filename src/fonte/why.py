"""Why a question missed what was expected: the first layer that lost it, with ranks and scores at every layer.

What was expected is followed from its source to the answer's citations. Everything is looked at through the asker's
own rights: what a document that the asker may not read holds, and that it exists, tells itself nowhere; only whoever
runs the corpus (``tell_access``) hears that rights were the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fonte.answer import Asker, with_languages
from fonte.asked import Asked
from fonte.embedding import fitted
from fonte.named import called
from fonte.otherwise import Otherwise, cut_otherwise, retrieved_otherwise, roomier
from fonte.parts import Parts
from fonte.places import (
    ADVICE,
    ADVICE_EXTRACTIVE,
    DEEPEST,
    Place,
    best_rank,
    cut_detail,
    found_in,
    held_in,
    leg_detail,
    leg_rank,
    order_detail,
    parts_of,
    shown_in,
    touched_in,
    uses,
)
from fonte.protocols import Chunker, Generator
from fonte.retrieve import BM25, DENSE, FUSION, RERANK, Retriever
from fonte.text.expected import Expected
from fonte.text.normalise import search_form
from fonte.types import SEARCHABLE, DocumentState, DocumentStatus, Hit, Passage, Principal, Query, Recipe, StoredChunk
from fonte.unread import SourceSearch, with_losses

LAYERS: Final = tuple(
    "parse canonical access chunking window bm25 dense fusion rerank context gate answer citation support".split()
)
"""In the order in which they are passed: the context is chosen before the gate judges it."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: whether what was expected is still there after it (None: not asked, or not reached), and how."""

    layer: str
    present: bool | None
    detail: str
    rank: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """The layer that lost it (None: it arrived in the answer), the reason in words, and what to do next."""

    question: str
    lost_at: str | None
    reason: str
    next: str
    layers: tuple[Layer, ...]
    counterfactual: Otherwise | None


@dataclass(slots=True)
class _Trail:
    """Layers as they are passed."""

    layers: list[Layer] = field(default_factory=list)
    lost: str | None = None
    advice: str = ""

    def passed(
        self,
        layer: str,
        detail: str,
        rank: int | None = None,
        score: float | None = None,
        *,
        present: bool | None = True,
    ) -> None:
        self.layers.append(Layer(layer, present, detail, rank, None if score is None else round(score, 6)))

    def lose(self, layer: str, advice: str = "") -> None:
        self.lost = layer
        self.advice = advice or ADVICE.get(layer, "")


@dataclass(frozen=True, slots=True)
class Explainer:
    """The parts that a question's way needs, and the sources behind it."""

    asker: Asker
    sources: SourceSearch
    chunker_of: Callable[[Recipe], Chunker]
    make_generator: Callable[[], Generator]
    tell_access: bool = False
    """Whoever reads it runs the corpus, and may know of documents that the asker cannot read."""

    def explain(self, query: Query, expected: Expected) -> Why:
        """Where the expected was lost on the way of this question.

        Raises:
            ModelError, StoreError: as for the question itself.
        """
        query = with_languages(query)
        trail = _Trail()
        places = self._in_texts(query, expected, trail)
        change = self._followed(query, places, trail) if trail.lost is None else None
        reached = {one.layer: one for one in trail.layers}
        layers = tuple(reached.get(name, Layer(name, None, "not reached")) for name in LAYERS)
        reason = next((one.detail for one in layers if one.layer == trail.lost), "it stands in the answer and is cited")
        return Why(query.text, trail.lost, reason, trail.advice, layers, change)

    # --- texts -----------------------------------------------------------------------------------------------------

    def _in_texts(self, query: Query, expected: Expected, trail: _Trail) -> list[Place]:
        """Places of readable canonical texts; with none, what lost it before."""
        catalog, generation = self.asker.catalog, self.asker.reader.generation.id
        states = catalog.states(generation)
        readable = [
            one
            for one in states
            if one.status is not DocumentStatus.DELETED
            and one.acl.admits(query.principal)
            and catalog.may_read(one.document_id, query.principal)
        ]
        places = self._places(expected, readable)
        if places:
            named = ", ".join(sorted({one.document.name for one in places})[:3])
            trail.passed("parse", "its text was read")
            trail.passed("canonical", f"stands in {named}, {len(places)} times")
            trail.passed("access", "the asker may read it")
            return places
        if self.tell_access:
            known = {one.document_id for one in readable}
            hidden = self._places(expected, [one for one in states if one.document_id not in known])
            if hidden:
                by_id = {one.document_id: one for one in states}
                trail.passed("parse", "its text was read")
                trail.passed("canonical", f"stands in {hidden[0].document.name}")
                trail.passed("access", self._denied(by_id[hidden[0].document.id], query), present=False)
                trail.lose("access")
                return []
        looked = states if self.tell_access else readable
        found = self.sources.find(expected, with_losses(catalog, generation, looked))
        if found.lost_at == "canonical":
            trail.passed("parse", "nothing that was parsed shows it", present=None)
        trail.passed(found.lost_at, found.detail, present=False)
        trail.lose(found.lost_at, found.advice)
        return []

    def _places(self, expected: Expected, states: Sequence[DocumentState]) -> list[Place]:
        named = called(expected.document, states) if expected.document else states
        found = []
        exact = bool(expected.words) or expected.start is not None
        for state in named:
            if state.status not in SEARCHABLE and state.status is not DocumentStatus.DELETED:
                continue
            document = self.asker.catalog.document(self.asker.reader.generation.id, state.document_id)
            if document is not None:
                found += [Place(document, start, end, exact) for start, end in expected.places(document)]
        return found

    def _denied(self, state: DocumentState, query: Query) -> str:
        if state.status is DocumentStatus.DELETED:
            return f"{state.name} was deleted"
        live = self.asker.catalog.acl(state.document_id).roles & state.acl.roles
        held = sorted(query.principal.held_roles)
        return f"{state.name} may be read by {', '.join(sorted(live)) or 'nobody'}; the asker holds {', '.join(held)}"

    # --- chunks and ranks ------------------------------------------------------------------------------------------

    def _followed(self, query: Query, places: Sequence[Place], trail: _Trail) -> Otherwise | None:
        """The way from the chunks on; what would have helped."""
        asker = self.asker
        revoked = asker.catalog.revoked(asker.reader.generation.id, query.principal)
        asked = asker.prepare(query)
        arrived = any(found_in(one, places) for one in asked.retrieved.found)
        holders = self._chunks(query, places, revoked, trail, arrived=arrived)
        if trail.lost == "chunking":
            return self._cut_otherwise(places)
        seen = self._in_window(holders, places, trail, arrived=arrived)
        if trail.lost == "window":
            return Otherwise(f"chunking.size = {max(1, asker.embedder.space.window // 2)}", None, tried=False)
        deep = self._legs(query, revoked, asked, seen, trail, arrived=arrived)
        if trail.lost is None:
            self._ordered(asked, holders, trail, arrived=arrived)
        if trail.lost is not None:
            retriever = Retriever(asker.reader, asker.embedder, asker.terms, asker.reranker)
            return retrieved_otherwise(
                retriever, query, revoked, asker.settings.retrieval, deep, lambda one: found_in(one, places)
            )
        return self._answered(asked, places, trail)

    def _chunks(
        self, query: Query, places: Sequence[Place], revoked: Sequence[str], trail: _Trail, *, arrived: bool
    ) -> list[StoredChunk]:
        """Stored chunks that hold a place whole; where only merged neighbours do, those that touch it."""
        reader = self.asker.reader
        stored: list[StoredChunk] = []
        chunker = self.chunker_of(reader.generation.recipe)
        for document in {one.document.id: one.document for one in places}.values():
            ids = [chunk.id for chunk in chunker.chunk(document)]
            stored += reader.chunks(ids, query.principal, revoked=revoked).values()
        whole = [one for one in stored if held_in(one, places)]
        if whole:
            told = ", ".join(f"{one.document_name} chunk {one.chunk.index}" for one in whole[:3])
            trail.passed("chunking", f"{len(whole)} chunks hold it whole: {told}")
            return whole
        touching = [one for one in stored if touched_in(one, places)]
        trail.passed("chunking", cut_detail(stored, touching, places), present=False)
        if not arrived:
            trail.lose("chunking")
        return touching

    def _cut_otherwise(self, places: Sequence[Place]) -> Otherwise | None:
        place, recipe = places[0], self.asker.reader.generation.recipe
        return cut_otherwise(recipe, self.chunker_of, place.document, place.start, place.end)

    def _in_window(
        self, holders: Sequence[StoredChunk], places: Sequence[Place], trail: _Trail, *, arrived: bool
    ) -> list[StoredChunk]:
        """The chunks whose vectors have seen it."""
        embedder = self.asker.embedder
        window = embedder.space.window
        if not holders:
            trail.passed("window", "its chunks are not known", present=None)
            return []
        seen = [one for one in holders if one.chunk.tokens <= window or self._in_head(one, places)]
        if seen:
            trail.passed("window", f"within the encoder's window of {window} tokens")
            return seen
        longest = max(one.chunk.tokens for one in holders)
        detail = f"its chunk has {longest} tokens, and it stands beyond the encoder's window of {window}"
        trail.passed("window", detail, present=False)
        if not arrived:
            trail.lose("window")
        return list(holders)

    def _in_head(self, stored: StoredChunk, places: Sequence[Place]) -> bool:
        head = fitted(stored.chunk, self.asker.embedder)
        own = [one for one in places if one.within(stored.chunk.document_id, stored.chunk.start, stored.chunk.end)]
        return any(search_form(one.words) in head for one in own)

    def _legs(
        self,
        query: Query,
        revoked: Sequence[str],
        asked: Asked,
        holders: Sequence[StoredChunk],
        trail: _Trail,
        *,
        arrived: bool,
    ) -> int:
        """Its ranks in both legs, far beyond what was asked for; the better one of them."""
        asker, settings = self.asker, self.asker.settings.retrieval
        depth = max(settings.candidates, min(asker.reader.generation.chunks, DEEPEST))
        wide = replace(settings, mode="hybrid", candidates=depth, rerank=False, max_distance=None, k=1)
        far = {
            one.stage: one.hits
            for one in Retriever(asker.reader, asker.embedder, asker.terms).retrieve(query, revoked, wide).rankings
        }
        own = {one.stage: one.hits for one in asked.retrieved.rankings}
        ids = {one.chunk.id for one in holders}
        ranks: dict[str, int] = {}
        candidate = False
        for leg in (BM25, DENSE):
            rank, hit = leg_rank(far, leg, ids)
            ranks |= {leg: rank} if rank is not None else {}
            score = None if hit is None else hit.score if leg == BM25 else hit.dense_distance
            there = leg_rank(own, leg, ids)[0] is not None if leg in own else None
            candidate |= bool(there)
            detail = leg_detail(leg, rank, asked=leg in own, there=bool(there), candidates=settings.candidates)
            trail.passed(leg, detail, rank, score, present=there)
        if not candidate and not arrived:
            missed = [leg for leg in (BM25, DENSE) if leg in own]
            # Both lost it: told is the one that came nearer, for there the least is missing.
            trail.lose(min(missed, key=lambda leg: ranks.get(leg, depth + 1)))
        return min(ranks.values(), default=depth)

    def _ordered(self, asked: Asked, holders: Sequence[StoredChunk], trail: _Trail, *, arrived: bool) -> None:
        """Its rank after fusion and after reranking, and whether it came among the first."""
        settings = self.asker.settings.retrieval
        by_stage = {one.stage: one.hits for one in asked.retrieved.rankings}
        ids = {one.chunk.id for one in holders}
        fused = by_stage[FUSION]
        limit = settings.max_distance
        kept = [
            hit for hit in fused if limit is None or (hit.dense_distance is not None and hit.dense_distance <= limit)
        ]
        rank, hit = best_rank(fused, ids)
        score = hit.score if hit else None
        if rank is not None and best_rank(kept, ids)[0] is None:
            trail.passed(FUSION, f"rank {rank}, cut by max_distance {limit:g}", rank, score, present=False)
            trail.lose(FUSION, "raise --max-distance or leave it out")
            return
        first = by_stage.get(RERANK)
        if first is None:
            detail, advice = self._place_told(asked, kept, rank, arrived=arrived)
            trail.passed(FUSION, detail, rank, score, present=arrived)
            trail.passed(RERANK, "; ".join(asked.retrieved.notes) or "not reranked", present=None)
            if not arrived:
                trail.lose(FUSION, advice)
            return
        reached = arrived or best_rank(first, ids)[0] is not None
        beyond = "" if reached else f", beyond the {settings.rerank_depth} that are reranked"
        trail.passed(FUSION, f"rank {rank}{beyond}", rank, score, present=reached)
        known = {one.chunk_id for one in first}
        order = [*first, *(one for one in kept if one.chunk_id not in known)]
        again, moved = best_rank(order, ids)
        detail, advice = self._place_told(asked, order, again, arrived=arrived)
        trail.passed(RERANK, detail, again, moved.rerank if moved else None, present=arrived)
        if not arrived:
            trail.lose(RERANK if reached else FUSION, advice)

    def _place_told(self, asked: Asked, order: Sequence[Hit], rank: int | None, *, arrived: bool) -> tuple[str, str]:
        """A rank in the common order in words, and advice of its own where its document had said enough."""
        settings = self.asker.settings.retrieval
        last = [at for at, hit in enumerate(order, start=1) if hit.chunk_id in parts_of(asked.retrieved.found)]
        if not arrived and rank is not None and rank <= settings.k and last and rank < last[-1]:
            told = f"rank {rank}, and its document has its {settings.per_document} passages already"
            return told, "raise retrieval.per_document"
        return order_detail(rank, settings.k, arrived=arrived), ""

    # --- the answer ------------------------------------------------------------------------------------------------

    def _answered(self, asked: Asked, places: Sequence[Place], trail: _Trail) -> Otherwise | None:
        """From the passages to the citations."""
        holding = [one for one in asked.passages if shown_in(one, places)]
        budget = self.asker.settings.context_tokens
        detail = f"{len(asked.passages)} of {len(asked.retrieved.found)} passages fit the budget of {budget} tokens"
        trail.passed("context", detail, holding[0].marker if holding else None, present=bool(holding))
        if not holding:
            trail.lose("context")
            chunking = self.asker.reader.generation.recipe.chunking
            return roomier(asked.retrieved.found, asked.documents, budget, chunking, lambda one: shown_in(one, places))
        verdict = asked.verdict
        detail = f"{verdict.score:.2f} of {verdict.threshold:.2f}, {'' if verdict.calibrated else 'un'}calibrated"
        trail.passed("gate", f"evidence {detail}", score=verdict.score, present=verdict.sufficient)
        if not verdict.sufficient:
            trail.lose("gate")
            return Otherwise(f"a threshold of {math.floor(1e4 * verdict.score) / 1e4:.4f}", None, tried=True)
        self._written(asked, holding, places, trail)
        return None

    def _written(self, asked: Asked, holding: Sequence[Passage], places: Sequence[Place], trail: _Trail) -> None:
        generator = self.make_generator()
        draft = generator.draft(asked.to_draft, asked.passages, language=asked.language)
        cited = self.asker.citing(asked, "flag").whole(draft)
        markers = {one.marker for one in holding}
        if draft.declined or not uses(draft, holding, places):
            told = f"the answer rests on other sentences: {' '.join(draft.text.split())[:100]}"
            trail.passed("answer", "the generator declined" if draft.declined else told, present=False)
            trail.lose("answer", ADVICE_EXTRACTIVE if generator.name == "extractive" else "")
            return
        trail.passed("answer", "the answer uses it")
        sentences = [one for one in cited.sentences if markers & set(one.citations)]
        removed = f", removed: {', '.join(cited.removed[:5])}" if cited.removed else ""
        if not sentences:
            trail.passed("citation", f"no sentence cites its passage{removed}", present=False)
            trail.lose("citation")
            return
        cites = ", ".join(f"[{marker}]" for marker in sorted(markers & set().union(*(s.citations for s in sentences))))
        trail.passed("citation", f"cited as {cites}{removed}")
        good = [one for one in sentences if one.support != "unsupported"]
        one = good[0] if good else sentences[0]
        checks = ", ".join(f"{name} {value}" for name, value in one.checks.items())
        trail.passed("support", f"{one.support} ({checks})", present=bool(good))
        if not good:
            trail.lose("support")


def make_explainer(parts: Parts, asker: Asker, principal: Principal, *, tell_access: bool) -> Explainer:
    """An explainer out of a corpus's parts; ``tell_access``: who asks runs the corpus, and may know of all of it."""
    return Explainer(
        asker=asker,
        sources=SourceSearch(parts, asker.catalog, principal.tenant, None if tell_access else principal),
        chunker_of=lambda recipe: parts.make_chunker(recipe, asker.embedder),
        make_generator=lambda: parts.make_generator(None, asker.scorer),
        tell_access=tell_access,
    )
