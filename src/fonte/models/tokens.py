"""The encoder's own tokens, over the library ``tokenizers``.

Text is data: a special token written out in it (``</s>``, ``[SEP]``) is ordinary text here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from fonte.models.e5_file import E5Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PROBES = ("word", "1", "é", "水")


class Encoding(Protocol):
    """The tokens of one text, as the library gives them."""

    @property
    def ids(self) -> list[int]:
        """Numbers in the vocabulary."""

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Half-open code point ranges."""

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for each special token."""

    def __len__(self) -> int: ...


class Backend(Protocol):
    """What is used of ``tokenizers.Tokenizer``."""

    encode_special_tokens: bool

    def no_truncation(self) -> None:
        """Nothing is cut from now on."""

    def no_padding(self) -> None:
        """Nothing is padded from now on."""

    def encode(self, text: str, *, add_special_tokens: bool = True) -> Encoding:
        """Tokens of one text."""

    def encode_batch_fast(self, texts: list[str]) -> Sequence[Encoding]:
        """Tokens of many texts; their offsets do not count."""


class EncoderTokenizer:
    """Implements ``fonte.protocols.Tokenizer``. Safe for several threads: nothing changes after construction."""

    def __init__(self, backend: Backend, *, window: int, query_prefix: str = "", passage_prefix: str = "") -> None:
        """Take over ``backend``: its own truncation and padding are switched off."""
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True
        self._backend = backend
        self._window = window
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        mask = backend.encode(_PROBES[0]).special_tokens_mask
        self._closing = sum(1 for _ in takewhile(bool, reversed(mask)))
        self._overhead = max(len(self.passage_ids([probe])[0]) - self.count(probe) for probe in _PROBES)
        if self._overhead >= window:
            raise ValueError(f"a window of {window} tokens leaves no room beside {self._overhead} of prefix and marks")

    @property
    def window(self) -> int:
        """Longest input in tokens, everything included."""
        return self._window

    @property
    def overhead(self) -> int:
        """Tokens that a passage's prefix and the special tokens take from the window."""
        return self._overhead

    def count(self, text: str) -> int:
        """Number of tokens of ``text``, prefix and special tokens not included."""
        return len(self._backend.encode(text, add_special_tokens=False))

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Half-open code point range of each token of ``text``, in order, in the text as it came.

        A token that stands for no character of its own (a mark put before the first word) has an empty range.
        """
        encoding = self._backend.encode(text, add_special_tokens=False)
        return _in_order([(start, end) for start, end in encoding.offsets], text)

    def passage_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of passages with prefix and special tokens, however long."""
        prefix = self._passage_prefix
        batch = [prefix + text for text in texts] if prefix else list(texts)
        return [encoding.ids for encoding in self._backend.encode_batch_fast(batch)]

    def query_ids(self, text: str) -> list[int]:
        """Token ids of a question with prefix and special tokens; its tail is cut where it passes the window."""
        ids: list[int] = self._backend.encode(self._query_prefix + text).ids
        if len(ids) <= self._window:
            return ids
        head = self._window - self._closing
        return ids[:head] + ids[len(ids) - self._closing :]

    def question(self, text: str) -> Tokenized:
        """Token ids as ``query_ids`` gives them, with the places of the text's own tokens."""
        return self._tokenized(self._query_prefix, text)

    def passage(self, text: str) -> Tokenized:
        """Token ids of a passage, its tail cut where it passes the window, with the places of its own tokens."""
        return self._tokenized(self._passage_prefix, text)

    def whole_passage(self, text: str) -> Tokenized:
        """The same, however long."""
        return self._tokenized(self._passage_prefix, text, cut=False)

    def _tokenized(self, prefix: str, text: str, *, cut: bool = True) -> Tokenized:
        encoding = self._backend.encode(prefix + text)
        ids: list[int] = encoding.ids
        last = len(ids)
        if cut and last > self._window:
            last = self._window - self._closing
            ids = ids[:last] + ids[len(ids) - self._closing :]
        own = [
            (index, (max(start - len(prefix), 0), end - len(prefix)))
            for index, ((start, end), special) in enumerate(
                zip(encoding.offsets[:last], encoding.special_tokens_mask[:last], strict=True)
            )
            if not special and end > len(prefix)
        ]
        return Tokenized(ids, [index for index, _ in own], [place for _, place in own])


@dataclass(frozen=True, slots=True)
class Tokenized:
    """Token ids as the encoder reads them; rows of the text's own tokens among them, and their ranges in the text."""

    ids: list[int]
    rows: list[int]
    offsets: list[tuple[int, int]]


def _in_order(ranges: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Ranges inside the text whose starts and ends never fall, which a normaliser that reorders could break.

    A normaliser that composes a letter with its accent leaves the accent to no token: it goes to its letter's.
    """
    ordered: list[tuple[int, int]] = []
    low = high = 0
    for index, (start, end) in enumerate(ranges):
        low = min(max(start, low), len(text))
        high = min(max(end, low, high), len(text))
        following = ranges[index + 1][0] if index + 1 < len(ranges) else len(text)
        while low < high < following and unicodedata.combining(text[high]):
            high += 1
        ordered.append((low, high))
    return ordered


def unigram_tokenizer(vocabulary: E5Vocabulary) -> Tokenizer:
    """The XLM-RoBERTa tokenizer out of a Unigram vocabulary (Kudo 2018, "Subword Regularization").

    SentencePiece normalises by a map of code points and then as NFKC does: the map's white space and its deletions,
    which NFKC does not make (line ends, zero-width characters, controls), come first.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    special = {vocabulary.bos: "<s>", vocabulary.eos: "</s>", vocabulary.pad: "<pad>", vocabulary.unk: "<unk>"}
    pieces = [
        # A control character cannot come out of the normaliser, so that no text matches a special piece.
        (f"\0{piece}" if index in special or piece == "<mask>" else piece, score)
        for index, (piece, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    ]
    blanks = [character for character, to in vocabulary.replacements.items() if to == " "]
    dropped = ["\0", *(character for character, to in vocabulary.replacements.items() if not to)]
    backend = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unk, byte_fallback=False))
    backend.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_character_class(dropped)), ""),
            normalizers.Replace(Regex(_character_class(blanks)), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        special_tokens=[("<s>", vocabulary.bos), ("</s>", vocabulary.eos)],
    )
    return backend


def _character_class(characters: Sequence[str]) -> str:
    return "[" + "".join(f"\\x{{{ord(character):X}}}" for character in characters) + "]"
