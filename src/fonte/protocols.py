"""The replaceable parts, as the use cases see them. Implementations do not inherit; they fit.

All are synchronous. Vectors are float32 with unit rows. Every read takes a principal and filters by it inside the
search, before ``k``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from fonte.types import (
    Acl,
    Chunk,
    Codes,
    Contents,
    Document,
    Draft,
    Language,
    Parsed,
    Passage,
    Picture,
    Query,
    Reading,
    Source,
    Space,
    TokenVectors,
    TokenWeights,
    Vector,
    Vectors,
)

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how many are done, and how many there are (None when unknown)."""
Scanned = Source | tuple[str, str, Exception]
"""A source, or (uri, name, error) for one that could not be read."""


class SourceReader(Protocol):
    """Where bytes come from."""

    @property
    def root(self) -> str:
        """URI below which every document of this source lies."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last scan found worth saying to whoever runs the corpus."""

    def scan(self) -> Iterator[Scanned]:
        """Every source below the root, in a stable order.

        Raises:
            SourceUnreadable: the root itself is missing or may not be read.
        """

    def acl_of(self, uri: str, name: str) -> Acl | None:
        """Who may read a document that an earlier scan gave, by its name alone; None where that does not tell.

        For what cannot be looked at now and stays as it is: its rights are not to stay behind.
        """


class Unpacker(Protocol):
    """Files that hold files, listed outside this process."""

    def may_hold(self, head: bytes, name: str) -> bool:
        """Whether a file that begins with these bytes may be a container: cheap, and never no for one that is."""

    def contents(self, source: Source) -> Contents:
        """What a file holds; for one that is no container, itself alone.

        Raises:
            ParseError: a container that could not be opened; SourceTooLarge: a bomb.
        """


class Pictures(Protocol):
    """Pages as people see them, drawn outside this process."""

    def picture(self, source: Source, media_type: str, page: int) -> Picture:
        """A page (from 1) of a PDF file or of a picture.

        Raises:
            ParseError: no such page, damaged, or a format that has none; ParseTimeout, ParserCrashed by name.
        """


class Parser(Protocol):
    """Bytes to structure."""

    def parse(self, source: Source) -> Parsed:
        """Blocks in reading order.

        Raises:
            ParseError: and nothing else.
        """


class Tokenizer(Protocol):
    """The encoder's own tokens."""

    def count(self, text: str) -> int:
        """Number of tokens of ``text``, prefix and special tokens not included."""

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Half-open code point range of each token of ``text``, in order."""

    @property
    def overhead(self) -> int:
        """Tokens that a passage's prefix and the special tokens take from the window."""

    @property
    def window(self) -> int:
        """Longest input in tokens, everything included."""


class Chunker(Protocol):
    """A document to chunks: pure, deterministic, every chunk an exact slice."""

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""


class Embedder(Protocol):
    """Texts to unit vectors of one space."""

    @property
    def space(self) -> Space:
        """The space that the vectors live in."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokens that count."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order. Never truncates: longer than the window raises ValueError.

        Raises:
            ModelUnavailable, BadModelOutput
        """

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question; its head is kept where it is longer than the window."""


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that also shows its tokens. Local encoders do; endpoints do not."""

    @property
    def shows_tokens(self) -> bool:
        """Whether this one really does: a graph may end in one vector for each text."""

    def question_tokens(self, text: str) -> TokenVectors:
        """Tokens of a question, prefix and special tokens left out; the head where it is longer than the window."""

    def passage_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The same for passages, in order."""


class Reader(Protocol):
    """Reads a text for a question: says where it answers, or that it does not. Thread-safe."""

    @property
    def id(self) -> str:
        """Hash of its weights: what was calibrated with one reader does not hold for another."""

    def read(self, question: TokenVectors, texts: Sequence[TokenVectors]) -> list[Reading]:
        """A reading of each text, in order, out of the states that the encoder showed of it.

        Raises:
            ValueError: tokens without states. BadModelOutput: odds that are not finite.
        """


@runtime_checkable
class TokenCoder(Protocol):
    """An embedder whose pass over a text also gives a small code for each of its tokens, to be kept and compared."""

    @property
    def codec(self) -> str:
        """Id of the codec, which is also its space's; empty where this model has none."""

    def encode_passages(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """What ``embed_passages`` gives (or raises), and the codes of each text's tokens, out of the same pass."""

    def encode_query(self, text: str) -> tuple[Vector, Codes]:
        """What ``embed_query`` gives, and the codes of the question's tokens (none may be left), in the same pass."""

    @property
    def weighing(self) -> str:
        """Id of how tokens are weighed."""

    def token_weights(self, codes: Codes) -> TokenWeights:
        """How much each of a question's tokens counts when it meets a passage: above 0, one for each row of codes."""


class SeesTokens(Protocol):
    """Shows what an encoder made of passages and sentences, token by token."""

    def passages_seen(self, passages: Sequence[Passage]) -> list[TokenVectors] | None:
        """Tokens of each passage, offsets in its document; None where the encoder shows none."""

    def sentence_seen(self, text: str) -> TokenVectors | None:
        """Tokens of a sentence that an answer says; None where the encoder shows none or it is too long for it."""


class Entailer(Protocol):
    """Judges whether one text follows from another. Thread-safe."""

    @property
    def id(self) -> str:
        """Which model it is: name and revision, or hash."""

    def score(self, premise: str, hypothesis: str) -> float:
        """Probability, 0 to 1, that the premise says the hypothesis.

        Raises:
            ModelUnavailable, BadModelOutput
        """


class Reranker(Protocol):
    """Reads passages with the question. It neither sorts nor cuts. Thread-safe.

    Scores of one reranker for one question can be compared with each other and with nothing else.
    """

    @property
    def id(self) -> str:
        """Which kind, model and weights these are, in words that a person can read."""

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers, in order, higher is better; of a long one, as well as its best window does.

        Raises:
            ValueError: an empty question or passage.
            ModelUnavailable: down or too slow. ModelNotInstalled. BadModelOutput: not one finite number for each.
        """


class Generator(Protocol):
    """Passages to a draft. What it writes is not trusted."""

    @property
    def name(self) -> str:
        """Name shown in answers."""

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        """A draft whose claims carry the passages' markers, such as ``[1]``.

        Raises:
            ModelUnavailable, BadModelOutput
        """

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        """Pieces of the draft's text as they come, and last the whole Draft.

        The pieces together are its text; of a draft whose sentences were cut from passages (``taken``) there are none.
        """


class Rewriter(Protocol):
    """A question of a conversation to one that stands on its own."""

    def rewrite(self, query: Query) -> str:
        """The question, with what it leaves out by ``query.history``. What is written is not trusted.

        Raises:
            ModelUnavailable, BadModelOutput
        """


class Terms(Protocol):
    """The one analyser, for documents and queries and every store."""

    @property
    def version(self) -> str:
        """Changes whenever the same text would give other terms."""

    def document_terms(self, text: str, language: Language) -> list[str]:
        """Terms of a passage, repeats kept."""

    def query_terms(self, text: str, languages: Sequence[Language]) -> list[str]:
        """Terms of a question in each language that it may be written in, without repeats."""

    def terms_across(self, text: str, languages: Sequence[Language]) -> Mapping[Language, Sequence[str]]:
        """Terms of a question's words in other languages than its own, by language; nothing where none are known."""
