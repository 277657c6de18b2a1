"""The values that travel through fonte: frozen, slotted, and refusing what cannot be true.

Offsets are half-open ranges of Unicode code points into a document's canonical text. Pages, slides and lines count
from 1. Boxes are PDF points ``(x0, y0, x1, y1)`` measured from the lower left corner of the unrotated page; those of a
picture file are pixels.
Constructors raise ``ValueError``; nothing here reads files, models or stores.

One long file on purpose: the types name each other (a passage holds a document, a chunk and a hit), and every module
imports from here alone. Its marked parts are where it would be cut.
"""

from __future__ import annotations

import hashlib
import math
import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:  # numpy is slow to import, and `fonte --help` must not wait for it
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"
"""One unit vector, shape (dim,)."""
Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""Unit vectors as rows, shape (n, dim)."""
Codes: TypeAlias = "npt.NDArray[np.int8]"
"""Token vectors as a token codec writes them, one row for each token: shape (tokens, width)."""
TokenWeights: TypeAlias = "npt.NDArray[np.float64]"
"""How much each of a question's tokens counts: shape (tokens,), above 0."""
Box: TypeAlias = tuple[float, float, float, float]
Language: TypeAlias = str
WordSearch: TypeAlias = Literal["memory", "loading", "table"]
"""What answers words: postings in memory, the table until they are there, or the table."""
"""ISO 639-1 code, or ``und`` when it is not known."""

UNKNOWN_LANGUAGE = "und"
PUBLIC_ROLE = "public"
DEFAULT_TENANT = "default"
RECORD_MEDIA_TYPE = "application/vnd.fonte.record+json"
"""One JSON object of a file of records, as sources hand it to its parser."""


def sha256_hex(data: str | bytes) -> str:
    """SHA-256 of bytes, or of a string's UTF-8 form, as 64 hexadecimal digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def _check_range(start: int, end: int) -> None:
    if not 0 <= start <= end:
        message = f"not a half-open range: {start}..{end}"
        raise ValueError(message)


_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ].*)?)?)?")


def _day(text: str, *, last: bool) -> str:
    """A day of a date in ISO 8601, of a month or a year alone its first or last; empty for what is no date."""
    found = _DAY.fullmatch(text.strip())
    if found is None:
        return ""
    year, month = int(found[1]), int(found[2] or (12 if last else 1))
    try:
        return date(year, month, int(found[3] or (monthrange(year, month)[1] if last else 1))).isoformat()
    except ValueError:
        return ""


# --- who may read ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Acl:
    """The roles that may read a document. Empty means nobody."""

    roles: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if any(not role.strip() or "\0" in role for role in self.roles):
            raise ValueError("a role must be a non-empty name")

    def admits(self, principal: Principal) -> bool:
        """Whether the principal holds one of the roles."""
        return not self.roles.isdisjoint(principal.held_roles)

    def narrowed(self, by: Acl) -> Acl:
        """Who may read what another rule restricts as well: nobody whom either leaves out.

        Everyone holds ``public``, so that it takes nobody out.
        """
        if PUBLIC_ROLE in by.roles:
            return self
        return by if PUBLIC_ROLE in self.roles else Acl(self.roles & by.roles)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. Required on every read; there is no value that means "unrestricted"."""

    tenant: str = DEFAULT_TENANT
    user: str | None = None
    roles: AbstractSet[str] = frozenset()
    key: str | None = None
    """The id of the key of somebody who names no user."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", frozenset(self.roles))
        if not self.tenant.strip():
            raise ValueError("a principal needs a tenant")
        if any(role.startswith("user:") for role in self.roles):
            raise ValueError("user:… is given by the user's identity and cannot be claimed as a role")

    @property
    def held_roles(self) -> frozenset[str]:
        """The given roles, ``public``, and ``user:U`` for user U."""
        own = {f"user:{self.user}"} if self.user else set()
        return frozenset(self.roles | {PUBLIC_ROLE} | own)

    @property
    def unnamed_as(self) -> frozenset[str]:
        """What tells one who names no user from another: their roles, and their key where they came with one."""
        return frozenset(self.roles | ({f"key:{self.key}"} if self.key else set()))


# --- bytes to structure ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes as they came, with what the place they came from says of them.

    ``body`` may be absent for large files that a parser process opens by ``path`` itself; one of the two is set.
    ``name`` is what people call it: the path below the synced folder, or a record's ``_id``.
    """

    uri: str
    name: str
    content_hash: str
    acl: Acl
    path: str | None = None
    body: bytes | None = None
    media_type: str | None = None
    modified_at: datetime | None = None
    language: Language | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    """Of a member of a container: names to open one after the other, from the file at ``path`` (or ``body``) on."""
    tenant: str | None = None
    """The only tenant that may hold it, where something was said of that; an empty name is no tenant's."""
    line: int | None = None
    """Line of the file that holds it, of a record."""
    charset: str | None = None
    """The encoding that its server named; believed where it fits."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as it is stored, as a JPEG, with its size in the units of boxes.

    ``rotation`` is by how many degrees viewers turn it clockwise.
    """

    width: float
    height: float
    rotation: int
    jpeg: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a container: the names that lead to it, and the hash of its bytes or why they are not to be had."""

    inside: tuple[str, ...]
    content_hash: str = ""
    error: Exception | None = None
    own: str = ""
    """Its front matter, or the whole of a file that says something of its neighbour (see ``text.frontmatter``)."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds in other files, those of containers inside it as well, in a stable order."""

    members: tuple[Member, ...] = ()
    itself: bool = True
    """Whether the file is a document too: a mail is, an archive is not."""
    error: Exception | None = None
    """What kept the rest of it from being listed."""


class BlockKind(StrEnum):
    """What a block of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    ROW = "row"
    CODE = "code"
    CAPTION = "caption"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Place:
    """Where characters ``start..end`` lie in the original. Fields that do not apply are None.

    ``range`` is A1 notation without the sheet (``B2:D9``), ``time`` seconds, ``lines`` first and last line.
    """

    start: int
    end: int
    page: int | None = None
    box: Box | None = None
    slide: int | None = None
    time: tuple[float, float] | None = None
    sheet: str | None = None
    range: str | None = None
    anchor: str | None = None
    lines: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        _check_range(self.start, self.end)

    def shifted(self, by: int) -> Place:
        """The same place with its characters moved by ``by``."""
        return Place(
            self.start + by,
            self.end + by,
            self.page,
            self.box,
            self.slide,
            self.time,
            self.sheet,
            self.range,
            self.anchor,
            self.lines,
        )


class Cell(NamedTuple):
    """A cell of a table's row: its column, from 0, and its characters ``start..end``. Empty cells are left out."""

    column: int
    start: int
    end: int

    def shifted(self, by: int) -> Cell:
        """The same cell with its characters moved by ``by``."""
        return Cell(self.column, self.start + by, self.end + by)


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a parsed document, in reading order.

    ``places`` are relative to ``text`` (the finest the format knows: a PDF's words, a sheet's row). ``before`` is the
    exact white space between the block before and this one; None lets the canonical text choose (a blank line, or a
    line end between list items and between rows).
    """

    kind: BlockKind
    text: str
    level: int = 0
    places: tuple[Place, ...] = ()
    before: str | None = None
    table: int | None = None
    """Number of the table that a ROW belongs to, from 0 in the document."""
    header: bool = False
    """A ROW that holds the column names."""
    cells: tuple[Cell, ...] = ()
    """Of a ROW whose columns are known: its cells, relative to ``text`` and in its order."""

    def __post_init__(self) -> None:
        if (self.kind is BlockKind.HEADING) != (self.level > 0):
            raise ValueError("headings, and only headings, have a level from 1")
        if any(place.end > len(self.text) for place in self.places):
            raise ValueError("a place lies outside its block")
        if any(cell.column < 0 or not 0 <= cell.start < cell.end <= len(self.text) for cell in self.cells):
            raise ValueError("a cell lies outside its row")


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that a stage knows it did not keep: code, how much, and where (pages, rows) in words."""

    code: str
    message: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted through every stage of the conservation ledger.

    ``pages`` are pages, slides or sheets, whichever the format has; ``characters`` those that are no white space.
    """

    characters: int = 0
    words: int = 0
    numbers: int = 0
    rows: int = 0
    pages: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(
            self.characters + other.characters,
            self.words + other.words,
            self.numbers + other.numbers,
            self.rows + other.rows,
            self.pages + other.pages,
        )


@dataclass(frozen=True, slots=True)
class Parsed:
    """Structure out of bytes. ``source_counts`` is what the parser counted in the source, independent of the blocks.

    ``verbatim`` says that the blocks with their ``before`` and ``tail`` give the decoded source exactly, so that its
    lines are the canonical text's lines.
    """

    blocks: tuple[Block, ...]
    parser: str
    title: str | None = None
    media_type: str = "application/octet-stream"
    page_labels: tuple[str, ...] = ()
    pages: int | None = None
    source_counts: Counts = Counts()
    losses: tuple[Loss, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    verbatim: bool = False
    tail: str = ""
    empty_reason: str | None = None
    """Why there is no text although the source is not empty: ``needs_ocr`` or ``empty``."""


# --- documents and chunks --------------------------------------------------------------------------------------------


class DocumentStatus(StrEnum):
    """States of a document. Only READY and PARTIAL are searchable."""

    PENDING = "pending"
    READY = "ready"
    PARTIAL = "partial"
    EMPTY = "empty"
    NEEDS_OCR = "needs_ocr"
    FAILED = "failed"
    DELETED = "deleted"


SEARCHABLE = (DocumentStatus.READY, DocumentStatus.PARTIAL)
"""States of documents that have chunks."""
NOT_WHOLE = (DocumentStatus.FAILED, DocumentStatus.PARTIAL, DocumentStatus.EMPTY, DocumentStatus.NEEDS_OCR)
"""States of documents that were not read whole."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of canonical text under one heading path. ``start`` is the heading's own first character.

    ``body_start`` is where the text after the heading begins (equal to ``start`` for text before any heading).
    Sections follow each other without gap or overlap and cover the whole text.
    """

    path: tuple[str, ...]
    start: int
    body_start: int
    end: int

    def __post_init__(self) -> None:
        if not self.start <= self.body_start <= self.end:
            raise ValueError("a section's body must lie inside it")


@dataclass(frozen=True, slots=True)
class Span:
    """A block in canonical text: its kind and characters."""

    kind: BlockKind
    start: int
    end: int
    table: int | None = None
    header: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """Canonical text of one version of one source, with its sections, blocks and offset table.

    ``version`` is the hash of the source's bytes. ``places`` are sorted by ``start`` and do not overlap.
    """

    id: str
    tenant: str
    uri: str
    name: str
    version: str
    title: str
    text: str
    acl: Acl
    language: Language = UNKNOWN_LANGUAGE
    media_type: str = "application/octet-stream"
    parser: str = ""
    sections: tuple[Section, ...] = ()
    spans: tuple[Span, ...] = ()
    places: Sequence[Place] = ()
    cells: Sequence[Cell] = ()
    """Of every table, in order; a row's cells lie inside its span."""
    page_labels: tuple[str, ...] = ()
    pages: int | None = None
    lines_are_source_lines: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    modified_at: datetime | None = None

    @property
    def text_hash(self) -> str:
        """SHA-256 of the canonical text."""
        return sha256_hex(self.text)

    @property
    def valid_from(self) -> str:
        """The first day that it holds for, ``YYYY-MM-DD``; empty where nothing is said, or no date."""
        return _day(self.metadata.get("valid_from", ""), last=False)

    @property
    def valid_to(self) -> str:
        """The last day that it holds for; of a month or a year alone its last day."""
        return _day(self.metadata.get("valid_to", ""), last=True)


@dataclass(frozen=True, slots=True)
class Locator:
    """Where characters ``start..end`` of a document are, in every way that its format knows."""

    start: int
    end: int
    page: int | None = None
    page_label: str | None = None
    page_end: int | None = None
    boxes: tuple[Box, ...] = ()
    """Boxes on ``page``."""
    slide: int | None = None
    time: tuple[float, float] | None = None
    sheet: str | None = None
    range: str | None = None
    anchor: str | None = None
    lines: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        _check_range(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The indexed unit. ``content`` is always ``document.text[start:end]``; ``context`` is embedded, never quoted.

    ``index`` is the position among the document's chunks, from 0. ``tokens`` counts the embedded text in the
    encoder's own tokens, prefix and special tokens included; ``header_tokens`` the share of ``context``.
    """

    id: str
    document_id: str
    index: int
    start: int
    end: int
    content: str
    context: str = ""
    section: tuple[str, ...] = ()
    language: Language = UNKNOWN_LANGUAGE
    tokens: int = 0
    header_tokens: int = 0

    def __post_init__(self) -> None:
        _check_range(self.start, self.end)
        if not self.content.strip():
            raise ValueError("a chunk needs content")
        if len(self.content) != self.end - self.start:
            raise ValueError("a chunk's content does not have its range's length")

    @property
    def text(self) -> str:
        """What is embedded and searched: the context header, then the content."""
        return f"{self.context}\n{self.content}" if self.context else self.content

    @property
    def text_hash(self) -> str:
        """SHA-256 of ``text``: with the space it names the vector."""
        return sha256_hex(self.text)


def document_id(tenant: str, uri: str) -> str:
    """Identity of a document: of the tenant and the source URI, not of its content (see adr/0008)."""
    return "d" + sha256_hex(f"{tenant}\0{uri}")[:20]


def chunk_id(document: str, version: str, recipe: str, start: int, end: int) -> str:
    """Identity of a chunk: equal document version, recipe and range give an equal id."""
    return "c" + sha256_hex(f"{document}\0{version}\0{recipe}\0{start}\0{end}")[:24]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The encoder's view of a text token by token: half-open ranges in it, and unit vectors, shape (tokens, dim)."""

    offsets: tuple[tuple[int, int], ...]
    vectors: Vectors
    states: Vectors | None = None
    """What a reader goes on from: of every token that the encoder read, prefix and marks included, the state behind
    some of its layers, and after it the one behind the last: shape (all tokens, 2 dim). None where no reader belongs to
    the encoder."""
    rows: tuple[int, ...] = ()
    """Where among ``states`` the tokens of ``offsets`` stand."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader finds in a text for a question, token by token of the text.

    Log odds that an answer starts, and ends, at the token, against there being no answer: two of shape (tokens,).
    """

    starts: Vectors
    ends: Vectors


# --- recipes and generations -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space. Vectors of two spaces never meet; ``id`` is the hash of weights and card."""

    id: str
    model: str
    revision: str
    dimensions: int
    window: int
    """Longest input in the encoder's own tokens, special tokens included."""
    codec: str = ""
    """Id of the codec that token vectors are kept in; empty where the model has none. No part of ``id``, which is that
    of the whole vectors."""
    code_width: int = 0
    """Numbers in a token's code."""

    def __post_init__(self) -> None:
        if bool(self.codec) != bool(self.code_width):
            raise ValueError("a codec has a width, and no width stands without its codec")

    @property
    def key(self) -> str:
        """Under what name vectors and codes of this space are remembered."""
        return f"{self.id}+{self.codec}" if self.codec else self.id


ChunkingStrategy: TypeAlias = Literal[
    "boundaries", "blind", "tokens", "recursive", "semantic", "document", "parent_child"
]


@dataclass(frozen=True, slots=True)
class ChunkingRecipe:
    """How documents are cut. ``unit`` is ``tokens`` (of the encoder) or ``characters``."""

    strategy: ChunkingStrategy = "boundaries"
    size: int = 256
    overlap: int = 0
    header: bool = True
    unit: Literal["tokens", "characters"] = "tokens"
    parent_characters: int = 0
    """Most that a parent of the strategy ``parent_child`` holds; 0 with the others."""
    percentile: int = 0
    """Of the strategy ``semantic``: so many places in a hundred change the subject less than where a chunk ends; 0 with
    the others."""
    strip_bibliography: bool = False
    """Whether lists of references are left out of the index."""

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.overlap < self.size:
            raise ValueError("chunking needs size >= 1 and 0 <= overlap < size")
        if (self.strategy == "parent_child") != (self.parent_characters > 0):
            raise ValueError("parent_child, and only it, needs parent_characters >= 1")
        if (self.strategy == "semantic") != (0 < self.percentile < 100):  # noqa: PLR2004 - a percentage
            raise ValueError("semantic, and only it, needs a percentile from 1 to 99")

    def __str__(self) -> str:
        """What a document is stamped with: ``boundaries/256/0/tokens/header``."""
        own = f"/parent {self.parent_characters}" if self.parent_characters else ""
        own += f"/percentile {self.percentile}" if self.percentile else ""
        own += "/no bibliography" if self.strip_bibliography else ""
        return f"{self.strategy}/{self.size}/{self.overlap}/{self.unit}/{'header' if self.header else 'bare'}{own}"


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides an index: equal recipe and documents give an equal index."""

    pipeline: str
    normaliser: str
    chunking: ChunkingRecipe
    terms: str
    space: Space

    @property
    def id(self) -> str:
        """Short hash of every field."""
        return sha256_hex(repr(self))[:16]


class GenerationState(StrEnum):
    """Life of a generation."""

    BUILDING = "building"
    CANDIDATE = "candidate"
    ACTIVE = "active"
    RETIRED = "retired"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Generation:
    """One state of a tenant's index: a table of the store at one version."""

    id: str
    tenant: str
    state: GenerationState
    recipe: Recipe
    table: str
    table_version: int
    created_at: datetime
    documents: int = 0
    chunks: int = 0
    verdict: str | None = None
    base: str | None = None
    """The generation that this one was built from."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A rollback that nobody has answered yet: no standing job publishes until a person syncs or publishes."""

    left: str
    """The generation that was left."""
    since: datetime


# --- questions and rankings ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filters:
    """Metadata filters, applied inside each leg. Empty tuples and None do not filter."""

    documents: tuple[str, ...] = ()
    """Document ids, names or source URIs."""
    languages: tuple[Language, ...] = ()
    media_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One of the things that a question asks: a question that stands on its own, and the asker's words for it."""

    text: str
    asked: str

    def __post_init__(self) -> None:
        if not self.text.strip() or not self.asked.strip():
            raise ValueError("a part of a question needs text")


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Where a question's own words say to look, and the question without them."""

    text: str
    filters: Filters
    as_of: date | None = None


@dataclass(frozen=True, slots=True)
class QueryStep:
    """What one step of query processing made of a question: in words, and the texts that it gave."""

    name: str
    outcome: str
    texts: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Ids of documents whose text or name is in it: what holds it is served only while they may be read."""


@dataclass(frozen=True, slots=True)
class Said:
    """A question asked before in a conversation, as one that stands on its own, and the sentences of its answer.

    Each sentence with the ids of the documents that its answer needs to be served. ``documents`` are those whose text
    is in ``text``.
    """

    text: str
    sentences: tuple[tuple[str, tuple[str, ...]], ...] = ()
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question as asked, by whom, within which filters. ``text`` is data: no operator comes from it."""

    text: str
    principal: Principal
    filters: Filters = Filters()
    as_of: date | None = None
    languages: tuple[Language, ...] = ()
    """What the text may be written in, surest first; more than one when it is too short to tell."""
    parts: tuple[QuestionPart, ...] = ()
    """The things that it asks, where it asks more than one and they were told apart; never a single one."""
    steps: tuple[QueryStep, ...] = ()
    """What was made of it, step by step, for the trace."""
    asked: str = ""
    """The question as it was asked, where ``text`` is another wording of it; see ``question``."""
    history: tuple[Said, ...] = ()
    """What was said before in its conversation, oldest first."""
    also: tuple[str, ...] = ()
    """Other wordings, looked for beside it and fused with it."""
    renamed: tuple[str, ...] = ()
    """The question with other names for the same things, by a table of the user's own: each takes its turn."""
    required: tuple[str, ...] = ()
    """Words of which a passage has to hold one to count: what a follow-up asks about now."""
    narrowed: Narrowed | None = None
    """Where its words say to look first; what is found there and what is found anywhere take turns."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("a query needs text")
        if len(self.parts) == 1:
            raise ValueError("a question of one part is a whole question")

    @property
    def question(self) -> str:
        """The question as it was asked: what is shown, stored and traced."""
        return self.asked or self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk in a ranking. Scores of earlier stages travel along; ``score`` orders this ranking, higher first."""

    chunk_id: str
    document_id: str
    score: float
    bm25: float | None = None
    dense_distance: float | None = None
    rrf: float | None = None
    rerank: float | None = None
    fused: float | None = None
    """What fusion made of it, whichever way; ``rrf`` says the same where that is the way."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.score):
            raise ValueError("a hit's score must be finite")


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits of one stage: scores never rise, ties stand by chunk id, no chunk twice."""

    stage: str
    hits: tuple[Hit, ...]

    def __post_init__(self) -> None:
        keys = [(-hit.score, hit.chunk_id) for hit in self.hits]
        if keys != sorted(keys):
            raise ValueError(f"the {self.stage} ranking is not ordered by score, then id")
        if len({hit.chunk_id for hit in self.hits}) != len(self.hits):
            raise ValueError(f"the {self.stage} ranking repeats a chunk")


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index keeps it, with its document's facts at that generation."""

    chunk: Chunk
    document_name: str
    source_uri: str
    source_version: str
    title: str
    roles: frozenset[str]
    media_type: str
    vector: Vector | None = field(default=None, repr=False)
    valid_from: str = ""
    """First day that its document holds for, ``YYYY-MM-DD``; empty where nothing was said."""
    valid_to: str = ""
    """The last one."""

    @classmethod
    def of(cls, document: Document, chunk: Chunk, roles: frozenset[str]) -> StoredChunk:
        """The chunk of a document, without its vector, for those who hold one of the roles."""
        return cls(
            chunk=chunk,
            document_name=document.name,
            source_uri=document.uri,
            source_version=document.version,
            title=document.title,
            roles=roles,
            media_type=document.media_type,
            valid_from=document.valid_from,
            valid_to=document.valid_to,
        )


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk shown to the generator under a marker that the server handed out, from 1.

    ``parts`` are chunk ids whose overlapping spans were merged into this one; ``start..end`` the merged range.
    """

    marker: int
    stored: StoredChunk
    document: Document
    start: int
    end: int
    hit: Hit
    parts: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    """Document id and source URI of equal passages elsewhere that the asker may read."""
    found: tuple[int, int] | None = None
    """What was found, where the passage shows the parent around it: a citation quotes this. None: all of it was."""

    @property
    def content(self) -> str:
        """The passage's exact slice of its document."""
        return self.document.text[self.start : self.end]


# --- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence that an extractive generator took: its text, and the exact characters it was taken from."""

    text: str
    marker: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Draft:
    """What a generator wrote: unverified. ``declined`` means it said that the sources do not hold the answer.

    ``taken`` is filled by extractive generators only: where each sentence of ``text`` was cut. ``broken`` says why a
    draft ends before its end, ``notes`` what else an answer should tell of it; one that is ``cut`` would have gone on.
    """

    text: str
    declined: bool = False
    taken: tuple[DraftSentence, ...] = ()
    missing: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    broken: str = ""
    notes: tuple[str, ...] = ()
    cut: bool = False


Support: TypeAlias = Literal["supported", "partial", "unsupported", "not_checked"]


@dataclass(frozen=True, slots=True)
class Citation:
    """Minted by the server: quote cut from stored canonical text, its hash, and where it is."""

    index: int
    chunk_id: str
    chunk_index: int
    document_id: str
    document_name: str
    source_uri: str
    source_version: str
    quote: str
    quote_sha256: str
    locator: Locator
    label: str
    fragment: str
    url: str
    cosine_distance: float | None
    duplicates: tuple[tuple[str, str], ...] = ()
    """Document id and source URI of other documents that say the same."""
    flags: tuple[str, ...] = ()
    """Signs that the quote gives orders to a machine (``fonte.text.orders``)."""
    valid_from: str = ""
    """First and last day that its document holds for, ``YYYY-MM-DD``; empty where nothing was said."""
    valid_to: str = ""

    def __post_init__(self) -> None:
        if sha256_hex(self.quote) != self.quote_sha256:
            raise ValueError("a quote does not have its hash")
        if len(self.quote) != self.locator.end - self.locator.start:
            raise ValueError("a quote does not have its locator's length")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer, the markers it carries, and what was checked of it."""

    text: str
    citations: tuple[int, ...]
    support: Support = "not_checked"
    checks: Mapping[str, str | float] = field(default_factory=dict)
    places: tuple[tuple[int, int, int], ...] = ()
    """Marker, start and end in the document's text: what it was cut from, or the sentence nearest to its words."""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether the evidence is enough. ``features`` is what it was judged on."""

    sufficient: bool
    score: float
    threshold: float
    calibrated: bool
    stamp: str
    features: Mapping[str, float] = field(default_factory=dict)


NO_ANSWER = "NO_ANSWER"
"""What a prompt asks a model to write when the sources do not hold the answer, and what is then read in its draft."""


class AbstentionReason(StrEnum):
    """Why there is no answer. A forbidden document looks like ``nothing_retrieved``."""

    NOTHING_RETRIEVED = "nothing_retrieved"
    WEAK_EVIDENCE = "weak_evidence"
    UNSUPPORTED = "unsupported"
    GENERATOR_DECLINED = "generator_declined"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One row of ``search``: a stored chunk, its rank, its locator and its scores."""

    rank: int
    stored: StoredChunk
    hit: Hit
    content: str
    """The exact slice ``locator.start..locator.end``: the chunk's, or its range merged with overlapping neighbours."""
    locator: Locator
    fragment: str
    label: str
    duplicates: tuple[tuple[str, str], ...] = ()
    """Document id and source URI of equal passages elsewhere."""
    flags: tuple[str, ...] = ()
    """Signs that the content gives orders to a machine (``fonte.text.orders``)."""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What ``search`` returns."""

    query: str
    generation: str
    results: tuple[SearchResult, ...]
    timings_ms: Mapping[str, float]
    trace_id: str
    steps: tuple[QueryStep, ...] = ()
    """What was made of the question before it was looked for."""
    as_of: date | None = None
    """The day that only what holds then was looked for of."""
    reranker: str = ""
    """What ordered the first anew; empty where nothing did."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """Enough to explain or replay a question: rankings of every stage, gate, removed markers, timings."""

    id: str
    question: str
    generation: str
    rankings: tuple[Ranking, ...] = ()
    gate: GateVerdict | None = None
    removed_markers: tuple[str, ...] = ()
    dropped: tuple[Sentence, ...] = ()
    """Sentences of the draft that are not shown, since their sources do not support them."""
    notes: tuple[str, ...] = ()
    steps: tuple[QueryStep, ...] = ()
    """What was made of the question before it was looked for."""
    as_of: date | None = None
    conversation: str = ""
    """Id of the conversation that it was asked in; empty where it stands alone."""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    reranker: str = ""
    """What ordered the passages anew; empty where nothing did."""
    read: tuple[str, ...] = ()
    """Ids of the documents that a draft was written from, cited or not, or that a refusal tells of."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    question: str
    language: Language
    gate: GateVerdict
    generation: str
    generator: str
    answer_id: str
    trace: Trace
    prompt_tokens: int
    completion_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Computed:
    """How an answer was computed over a table: in words and as the query that ran.

    ``columns`` are the query's names of columns with the table's, ``rows`` how many rows fulfilled the conditions,
    ``value`` what came out, without its unit. ``locator`` and ``range`` are the whole table's, whatever is quoted.
    """

    operation: str
    expression: str
    sql: str
    parameters: tuple[str | tuple[str, ...], ...]
    columns: Mapping[str, str]
    table: str
    document_id: str
    range: str
    locator: Locator
    rows: int
    value: str


@dataclass(frozen=True, slots=True)
class Answered(_Outcome):
    """An answer whose every shown citation the server minted."""

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    missing: tuple[str, ...] = ()
    computed: Computed | None = None
    """What was computed over a table, where the answer was."""

    def __post_init__(self) -> None:
        if not self.citations:
            raise ValueError("an answer without citations is an abstention")


@dataclass(frozen=True, slots=True)
class Abstained(_Outcome):
    """No answer, why, and the nearest evidence shown as such."""

    reason: AbstentionReason
    message: str
    nearest: tuple[SearchResult, ...] = ()


Answer: TypeAlias = Answered | Abstained


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A question of a conversation, and the answer that was stored for it."""

    question: str
    answer_id: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation and its stored answer as it was given, None where it is not served any more.

    ``changed`` are the indexes of its citations whose source has changed since, or is gone.
    """

    question: str
    answer_id: str
    asked_at: datetime
    answer: str | None = None
    changed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was asked in a conversation, oldest first."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class ConversationHead:
    """A conversation by its first question."""

    id: str
    question: str
    turns: int
    begun_at: datetime
    last_at: datetime


# --- states and reports ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Conservation through the stages. ``balanced`` is judged when the document is built, within stated tolerance."""

    source: Counts
    canonical: Counts
    chunks: Counts
    truncated_chunks: int = 0
    header_tokens: int = 0
    embedded_tokens: int = 0
    losses: tuple[Loss, ...] = ()
    balanced: bool = True
    parsed: Counts | None = None
    """What the parser's blocks held; None in entries of homes written before it was counted."""
    index: Counts | None = None
    """What the index holds; counted when it is asked for, and never stored."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What built a document's index entries; ``status`` compares it with the recipe in force, field by field."""

    embedding_model: str
    embedding_revision: str
    dimensions: int
    space: str
    pipeline: str
    extractor: str
    chunking: str
    terms: str
    codec: str = ""
    """Of the token vectors; empty where the model has none."""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """One document in one generation, as ``documents`` shows it."""

    document_id: str
    name: str
    uri: str
    status: DocumentStatus
    version: str
    acl: Acl
    reason: str | None = None
    retryable: bool = False
    chunks: int = 0
    pages: int | None = None
    language: Language = UNKNOWN_LANGUAGE
    stamp: Stamp | None = None
    ledger: LedgerEntry | None = None
    source_root: str = ""
    said: str = ""
    """Hash of what the source said of it beside its bytes and rights."""
    likeness: str = ""
    """What copies of its text are told by (``fonte.text.likeness``)."""


@dataclass(frozen=True, slots=True)
class CorpusStatus:
    """What a tenant's corpus holds, and what of it was built by another recipe than the one in force."""

    tenant: str
    active: Generation | None
    candidates: tuple[str, ...]
    """Generations that wait to be published."""
    documents: Mapping[str, int]
    """Documents in each state."""
    stale: tuple[tuple[DocumentState, tuple[str, ...]], ...] | None
    """Stale documents, each with what differs; None when the model whose recipe is in force cannot be asked."""
    unknown_because: str = ""
    copies: tuple[tuple[DocumentState, DocumentState, float], ...] = ()
    """Documents that say the same as another one which the same roles may read, with it and with how alike they are."""
    token_code_bytes: int | None = None
    """What the codes of tokens take in the index; None where the model cannot be asked."""
    odd: tuple[tuple[DocumentState, tuple[str, ...]], ...] = ()
    """Documents that are unlike their siblings, or strange in themselves, each with the reasons."""
    approximate: bool | None = None
    """Whether dense search may miss some of the nearest; None where there is no index that can be read."""
    word_search: WordSearch | None = None
    """What answers words in this process; None as before."""
    held: Hold | None = None
    """A rollback after which standing jobs do not publish."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that did not become READY, and why."""

    source_uri: str
    state: DocumentStatus
    reason: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did; counters are written from the store when the work has ended."""

    generation: str | None
    published: bool
    documents: Mapping[str, int]
    chunks_added: int
    chunks_removed: int
    chunks_total: int
    embedded_texts: int
    failures: tuple[Failure, ...]
    seconds: float
    notes: tuple[str, ...] = ()
    held_back: tuple[str, str] | None = None
    """Why the candidate was not published, and what to do; None when it was, or was not to be."""
    changed: bool = True
    """Whether there was anything to do."""
    moved: tuple[tuple[str, str], ...] = ()
    """Documents of the same bytes that went under one name and came under another: (before, now)."""
    key: str = ""
    """What stands for all that the sync had to do, the generation that it began from counted in."""
