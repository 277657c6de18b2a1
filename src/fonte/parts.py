"""The concrete parts that a corpus is made of, as wiring hands them over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from fonte.access.standing import StandingStore
from fonte.access.uploads import UploadStores
from fonte.answer import AnswerSettings
from fonte.checks import Inspector
from fonte.evaluation.calibrating import Costs
from fonte.evidence import EvidenceScorer
from fonte.gate import GateModel
from fonte.ingest import ParserPool
from fonte.protocols import (
    Chunker,
    Embedder,
    Entailer,
    Generator,
    Pictures,
    Reranker,
    Rewriter,
    SourceReader,
    Terms,
)
from fonte.store_protocols import Catalog, Conversations, IndexStore, VectorCache
from fonte.types import DocumentState, Recipe, Space


class TenantStore(Protocol):
    """What a tenant owns."""

    @property
    def catalog(self) -> Catalog:
        """Documents, states, rights, generations, answers."""

    @property
    def index(self) -> IndexStore:
        """Tables."""

    @property
    def cache(self) -> VectorCache:
        """Vectors already known."""

    @property
    def calibration(self) -> KeptText:
        """The calibrated gate."""

    @property
    def conversations(self) -> Conversations:
        """Which answers were given in which conversation."""

    @property
    def standing(self) -> StandingStore:
        """Leases, passes and tries of the sources that are looked after."""

    @property
    def eraser(self) -> Eraser:
        """Takes things out so that nothing is left."""

    def close(self) -> None:
        """Close its files."""


class Eraser(Protocol):
    """Takes things out of a tenant's files. One that was killed is completed by the next call."""

    def pending(self) -> bool:
        """Whether an erasure was begun and not completed."""

    def documents(
        self,
        doomed: Sequence[DocumentState],
        *,
        key_of: Callable[[str], str],
        forget_upload: Callable[[str], object],
    ) -> list[str]:
        """Documents, and those of an erasure that was not completed; ids of all.

        Raises:
            HomeLocked, StoreUnavailable
        """

    def user(self, user: str, *, disown: Callable[[str], object]) -> None:
        """What a user asked and said. Raises HomeLocked, StoreUnavailable."""

    def everything(self) -> None:
        """The tenant. Raises HomeLocked, StoreUnavailable."""


class KeptText(Protocol):
    """One text, replaced whole."""

    def load(self) -> str | None:
        """What was saved last, None where nothing was. Raises StoreUnavailable."""

    def save(self, text: str) -> None:
        """Replace it. Raises StoreUnavailable."""


class Stores(Protocol):
    """Every tenant's store."""

    def tenant(self, name: str) -> TenantStore:
        """A tenant's store. An unknown tenant reads as an empty one; its first write makes it."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How a source is read; remembered with it, so that retry reads it the same way."""

    allow: tuple[str, ...] = ("public",)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    records: bool = False


@dataclass(frozen=True)
class Parts:
    """The concrete parts, made by wiring. What is costly is made when it is first asked for."""

    stores: Stores
    make_embedder: Callable[[], Embedder]
    embedding: str
    """The settings that ``make_embedder`` goes by, as JSON: remembered with what is built by it."""
    embedder_from: Callable[[str], Embedder]
    """A model by such settings of another time. Raises ConfigError, ModelError."""
    make_recipe: Callable[[Embedder], Recipe]
    make_chunker: Callable[[Recipe, Embedder], Chunker]
    make_generator: Callable[[str | None, EvidenceScorer], Generator]
    make_pool: Callable[[int], AbstractContextManager[ParserPool]]
    make_pictures: Callable[[], AbstractContextManager[Pictures]]
    """Draws pages, in a process of its own."""
    uploads: UploadStores
    open_source: Callable[[str, SourceOptions, str], SourceReader]
    """A source by its name, how it is read, and the tenant that it is read for."""
    terms: Terms
    gate_for: Callable[[Space], GateModel]
    extractors: Callable[[], Mapping[str, str]]
    """Names of the parsers in force, with versions, by the part before the first ``/``."""
    answers: AnswerSettings = field(default_factory=AnswerSettings)
    costs: Costs = field(default_factory=Costs)
    """Of the gate's mistakes, for calibration."""
    reranker: Reranker | None = None
    """Reads passages to order them anew; None is late interaction over the index's token codes."""
    entailer: Entailer | None = None
    """A second opinion on whether a sentence follows from its sources; None is without."""
    make_rewriter: Callable[[], Rewriter | None] = lambda: None
    """What reads questions of conversations, where a model is to do it."""

    @cached_property
    def rewriter(self) -> Rewriter | None:
        """The rewriter, made once."""
        return self.make_rewriter()

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder, loaded once."""
        return self.make_embedder()

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe in force."""
        return self.make_recipe(self.embedder)

    @cached_property
    def scorer(self) -> EvidenceScorer:
        """Scores sentences for the gate and for extractive answers."""
        return EvidenceScorer(self.embedder, self.terms)

    def inspector(self, store: TenantStore) -> Inspector:
        """The data checks over a tenant's stores, by the analyser and the model in force."""
        return Inspector(store.catalog, store.index, self.terms, lambda: self.embedder)
