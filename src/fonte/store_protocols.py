"""The stores, as the use cases see them: the tables of chunks, the catalog, vectors that are remembered.

As in ``protocols.py`` implementations fit and do not inherit, and every read filters by its principal before ``k``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from fonte.inspected import TableFacts, TableRow
from fonte.types import (
    Acl,
    Codes,
    ConversationHead,
    Document,
    DocumentState,
    Generation,
    GenerationState,
    Hit,
    Hold,
    KeptTurn,
    Language,
    Principal,
    Query,
    Recipe,
    StoredChunk,
    Vector,
    Vectors,
    WordSearch,
)


class IndexWriter(Protocol):
    """Builds one generation beside the active one. Nothing it does is seen before the alias moves."""

    @property
    def table(self) -> str:
        """Name of the table that is written, for Generation.table."""

    def remove_documents(self, document_ids: Sequence[str]) -> int:
        """Drop all chunks of the documents; how many chunks went."""

    def add(
        self,
        chunks: Sequence[StoredChunk],
        terms: Sequence[Sequence[str]],
        vectors: Vectors,
        codes: Sequence[Codes] | None = None,
    ) -> None:
        """Add chunks with their terms, unit vectors and, where the space has a codec, the codes of their tokens.

        Raises:
            SpaceMismatch: vectors or codes that are not the space's. ValueError: rows that are not unit vectors.
        """

    def set_roles(self, roles: Mapping[str, frozenset[str]]) -> None:
        """Give documents (by id) other reading roles without touching their text or vectors."""

    def chunk_ids(self, document_id: str) -> Sequence[str]:
        """Ids of a document's chunks in this state."""

    def seal(self) -> tuple[int, int]:
        """Finish the indexes; (table version, chunk count) of the state that the generation will pin."""


class IndexReader(Protocol):
    """One generation, as one principal sees it through each call."""

    @property
    def generation(self) -> Generation:
        """What is being read."""

    @property
    def approximate(self) -> bool:
        """Whether ``dense`` may miss some of the nearest, for the index is large."""

    @property
    def word_search(self) -> WordSearch:
        """What answers ``bm25`` at this moment; its results do not depend on it."""

    def get_ready(self) -> None:
        """Many questions are coming: make in the background what answers them sooner, where there is such a thing."""

    def bm25(self, terms: Sequence[str], query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """Best ``k`` by BM25 among what the principal may read and the filters admit, minus ``revoked`` documents."""

    def dense(self, vector: Vector, query: Query, *, revoked: Sequence[str], k: int) -> list[Hit]:
        """Nearest ``k`` by cosine distance under the same rules; k whenever k exist. ``score`` is 1 - distance."""

    def chunks(
        self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]
    ) -> dict[str, StoredChunk]:
        """The chunks by id, those that the principal may not read left out."""

    def codes(self, chunk_ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]) -> dict[str, Codes]:
        """Their tokens' codes by id, of those that the principal may read; nothing where the space has no codec."""

    def distances(self, vector: Vector, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Exact cosine distance of the vector to each of the chunks."""

    def languages(self) -> Mapping[Language, int]:
        """Chunks in each language."""

    def centroids(self) -> Mapping[Language, tuple[Vector, int]]:
        """Mean of the vectors, shape (dim,) and not of unit length, and number of the chunks in each language."""

    def texts(self) -> Iterator[str]:
        """Every chunk's text, context and content, whoever may read it: to know which vectors are in use."""

    def stored_chunks(self) -> Iterator[StoredChunk]:
        """Every chunk without its vector, in no order, whoever may read it: for whoever measures the index."""

    def facts(self) -> TableFacts:
        """What a whole pass over the table finds, for whoever checks it."""

    def whole_rows(self, chunk_ids: Sequence[str]) -> list[TableRow]:
        """These rows as they are stored, in the order asked, whoever may read them: for whoever checks the index."""

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """In how many chunks of the generation each term stands (absent terms may be left out)."""


class IndexStore(Protocol):
    """Tables of one tenant."""

    def begin(self, recipe: Recipe, base: Generation | None) -> IndexWriter:
        """A writer on top of ``base`` when its recipe has the same space, terms and chunking, else on an empty table.

        Raises:
            SpaceMismatch: base and recipe differ in space (build from nothing instead).
        """

    def open(self, generation: Generation) -> IndexReader:
        """A reader pinned to the generation."""

    def in_use(self, generations: Sequence[Generation]) -> list[Generation]:
        """Those whose table somebody reads at this moment, in any process."""

    def drop(self, keep: Sequence[Generation]) -> None:
        """Remove tables and versions that none of ``keep`` pins."""


class VectorCache(Protocol):
    """Vectors, and codes of tokens, already known by text hash and space (``Space.key``)."""

    def get(self, space: str, text_hashes: Sequence[str]) -> dict[str, Vector]:
        """Those that are known."""

    def codes(self, space: str, text_hashes: Sequence[str]) -> dict[str, Codes]:
        """Codes of tokens of those that are known with them."""

    def put(self, space: str, vectors: Mapping[str, Vector], codes: Mapping[str, Codes] | None = None) -> None:
        """Remember unit vectors, and with each of them the codes of its text's tokens where there are some."""

    def count(self) -> int:
        """How many are remembered, of all spaces."""

    def prune(self, keep: Mapping[str, AbstractSet[str]]) -> int:
        """Forget all but the text hashes of ``keep``, by space; how many went."""


class Conversations(Protocol):
    """What was asked in the conversations of one tenant. Whoever asks sees only their own."""

    def turns(self, conversation_id: str, principal: Principal) -> list[KeptTurn]:
        """Questions with the ids of their answers, oldest first. Raises NotFound: absent, or somebody else's."""

    def add(self, conversation_id: str, principal: Principal, turn: KeptTurn) -> None:
        """Add a turn; the first makes the conversation. Raises NotFound: it is somebody else's."""

    def heads(self, principal: Principal, limit: int, offset: int) -> list[ConversationHead]:
        """Conversations of whoever asks, the one that was gone on with last first."""

    def remove(self, conversation_id: str, principal: Principal) -> None:
        """Take a conversation away. Raises NotFound: absent, or somebody else's."""


class Catalog(Protocol):
    """Documents, states, rights, generations, alias, answers of one tenant. One transaction a method."""

    def writer(self) -> AbstractContextManager[None]:
        """Hold the tenant's write lock across processes.

        Raises:
            HomeLocked: another process holds it.
        """

    # generations
    def active(self) -> Generation | None:
        """The active generation; its documents are not counted."""

    def generations(self) -> list[Generation]:
        """All that are known, oldest first."""

    def generation(self, generation_id: str) -> Generation:
        """One generation. Raises NotFound."""

    def add_generation(self, generation: Generation) -> None:
        """Record a BUILDING generation; its documents start as a copy of ``generation.base``'s."""

    def update_generation(
        self,
        generation_id: str,
        state: GenerationState,
        *,
        table_version: int | None = None,
        chunks: int | None = None,
        verdict: str | None = None,
    ) -> None:
        """Move a generation that is not active through its states. ``documents`` is counted, never told."""

    def publish(self, generation_id: str, *, expected: str | None, hold: Hold | None = None) -> None:
        """Move the alias in one transaction if ``expected`` (id or None) is still active; apply widened rights.

        Afterwards ``hold`` holds: a rollback sets one, None lifts it.

        Raises:
            GenerationConflict: another one is active by now.
        """

    def held(self) -> Hold | None:
        """The rollback that nobody has answered yet: standing jobs do not publish then."""

    def release(self) -> None:
        """Lift the hold, where there is one."""

    def as_published(self, generation_id: str, *, expected: str | None) -> Catalog:
        """This catalog with the rights that ``publish`` would leave, for whoever judges the generation before.

        Raises:
            As ``publish``.
        """

    def keep_report(self, generation_id: str, report: str) -> None:
        """Keep what a generation was judged by, as JSON; it goes with its generation. Raises NotFound."""

    def reports(self) -> Mapping[str, str]:
        """What generations were judged by, by id."""

    def keep_checks(self, generation_id: str, found: str) -> None:
        """Keep what the data checks of a generation found, as JSON; it goes with its generation. Raises NotFound."""

    def checks(self) -> Mapping[str, str]:
        """What data checks of generations found, by id."""

    def unbalanced(self, generation_id: str) -> list[str]:
        """Names of ready documents of a generation whose ledger is absent or does not balance."""

    def abandon_building(self) -> list[str]:
        """Mark every BUILDING generation as REJECTED (left by a killed process); their ids."""

    def forget_generations(self, keep: int, *, but: Collection[str] = ()) -> list[str]:
        """Delete all but the active, the candidates, the newest ``keep`` retired ones and ``but``; the deleted ids."""

    # models
    def remember_model(self, space_id: str, settings: str) -> None:
        """Keep the settings, as JSON, that make the model of a space."""

    def model(self, space_id: str) -> str | None:
        """The settings that make the model of a space, as far as they were remembered."""

    def left(self, space_id: str) -> bool:
        """Whether a generation of another space took the place of one of this space, and none of it came back."""

    # documents of a generation
    def put_document(self, generation_id: str, state: DocumentState, document: Document | None) -> None:
        """Record a document's state, and its canonical text when it has one."""

    def put_documents(self, generation_id: str, items: Iterable[tuple[DocumentState, Document | None]]) -> None:
        """The same for many, in one transaction."""

    def remove_documents(self, generation_id: str, document_ids: Sequence[str]) -> None:
        """Take documents out of a generation that is not active."""

    def states(self, generation_id: str) -> list[DocumentState]:
        """All documents of a generation by name, ledger left out; deleted ones as such, with no chunk."""

    def counted_chunks(self, generation_id: str) -> int:
        """Chunks that the documents of a generation count, those under a tombstone too: they are in its table."""

    def state(self, generation_id: str, document_id: str) -> DocumentState | None:
        """One document with its ledger."""

    def document(self, generation_id: str, document_id: str) -> Document | None:
        """A document's canonical text in a generation. No rights are checked here: callers ask ``may_read`` first."""

    # rights, live for every generation
    def acl(self, document_id: str) -> Acl:
        """The live rights; empty (nobody) for an unknown or deleted document."""

    def acls(self) -> Mapping[str, Acl]:
        """The live rights of every document that has some; deleted ones are left out."""

    def narrow(self, document_id: str, acl: Acl) -> None:
        """Intersect the live rights with ``acl`` at once, for every generation."""

    def narrow_all(self, acls: Mapping[str, Acl]) -> None:
        """The same for many documents by id, in one transaction."""

    def delete(self, document_ids: Sequence[str]) -> None:
        """Tombstones: unseen at once in every generation."""

    def restore(self, document_ids: Sequence[str]) -> None:
        """Lift tombstones of documents that a sync found again; takes effect when its candidate is published."""

    def revoked(self, generation_id: str, principal: Principal) -> tuple[str, ...]:
        """Documents of the generation whose indexed roles would admit the principal but whose live rights do not."""

    def deleted(self) -> frozenset[str]:
        """Every document that carries a tombstone."""

    def may_read(self, document_id: str, principal: Principal) -> bool:
        """Whether live rights admit the principal."""

    # sources
    def sources(self) -> Mapping[str, str]:
        """Every source ever synced, as it was named, with its options as JSON."""

    def remember_source(self, spec: str, options: str) -> None:
        """Keep how a source is read."""

    # answers
    def save_answer(
        self, answer_id: str, principal: Principal, created_at: datetime, body: str, documents: Sequence[str]
    ) -> None:
        """Keep an answer's JSON as it was given; an id is written once. Raises CorruptIndex on a second write."""

    def forget_answers(self, answer_ids: Sequence[str], principal: Principal) -> None:
        """Delete those of the stored answers that are the asker's."""

    def answer_ids(self, principal: Principal) -> list[str]:
        """Ids of the stored answers that ``answer`` gives to this asker, oldest first."""

    def answer(self, answer_id: str, principal: Principal) -> str:
        """The stored JSON, while the asker may still read every document it was kept with. Raises NotFound."""

    def judged_answer(self, answer_id: str, principal: Principal) -> str:
        """The same of whosever answer, while the principal may read every such document; for people who judge it."""

    def answer_documents(self, answer_id: str, principal: Principal) -> list[str]:
        """Ids of the documents that a stored answer was kept with, under the same rules. Raises NotFound."""
