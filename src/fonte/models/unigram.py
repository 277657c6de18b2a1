"""The tokenizer of a large Unigram vocabulary, ready at once.

The library needs close to a second to build its trie over 250,000 pieces; a command that asks one question would wait
for it in vain. So the first few texts are cut by a tokenizer over only those pieces that stand in them, which gives the
same tokens: a piece that stands nowhere in a text is on no path through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from fonte.models.e5_file import E5Vocabulary
from fonte.models.tokens import Encoding, unigram_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PATIENCE = 24_000
"""Characters after which the whole vocabulary pays for itself."""
_BLANK = "▁"


@dataclass(frozen=True, slots=True)
class _Renumbered:
    """An encoding with the ids of the whole vocabulary."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    special_tokens_mask: list[int]

    def __len__(self) -> int:
        return len(self.ids)


class QuickUnigram:
    """``tokenizers.Tokenizer`` as far as ``EncoderTokenizer`` uses it. Safe for several threads."""

    def __init__(self, vocabulary: E5Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._index = {piece: at for at, piece in enumerate(vocabulary.pieces)}
        self._longest = max(map(len, vocabulary.pieces))
        # What no piece covers costs ten less than the worst piece, so that one always has to be there.
        self._always = (vocabulary.unk, vocabulary.scores.index(min(vocabulary.scores)))
        self._special = (vocabulary.bos, vocabulary.eos, vocabulary.pad)
        self._lock = Lock()
        self._seen = 0
        self.encode_special_tokens = True

    def no_truncation(self) -> None:
        """Nothing is ever cut."""

    def no_padding(self) -> None:
        """Nothing is ever padded."""

    def encode(self, text: str, *, add_special_tokens: bool = True) -> Encoding:
        """Tokens of one text."""
        whole = self._whole_for([text])
        if whole is not None:
            return whole.encode(text, add_special_tokens=add_special_tokens)
        small, ids = self._small([text])
        return _renumbered(small.encode(text, add_special_tokens=add_special_tokens), ids)

    def encode_batch_fast(self, texts: list[str]) -> Sequence[Encoding]:
        """Tokens of many texts; their offsets do not count."""
        whole = self._whole_for(texts)
        if whole is not None:
            return whole.encode_batch_fast(texts)
        small, ids = self._small(texts)
        return [_renumbered(one, ids) for one in small.encode_batch_fast(texts)]

    def _whole_for(self, texts: Iterable[str]) -> Tokenizer | None:
        """The tokenizer of the whole vocabulary, once enough text has come."""
        if self._seen <= PATIENCE:
            self._seen += sum(map(len, texts))
            if self._seen <= PATIENCE:
                return None
        with self._lock:
            return self._whole

    @cached_property
    def _whole(self) -> Tokenizer:
        backend = unigram_tokenizer(self._vocabulary)
        backend.encode_special_tokens = True
        return backend

    @cached_property
    def _normal(self) -> Tokenizer:
        return self._over([*dict.fromkeys((*self._special, *self._always))])

    def _small(self, texts: Iterable[str]) -> tuple[Tokenizer, list[int]]:
        """A tokenizer over the pieces in the texts, and what its ids are in the whole vocabulary."""
        normalizer = self._normal.normalizer
        words = {word for text in texts for word in normalizer.normalize_str(text).replace(" ", _BLANK).split(_BLANK)}
        found = {*self._special, *self._always}
        for word in words:
            marked = _BLANK + word
            for start in range(len(marked)):
                for end in range(start + 1, min(start + self._longest, len(marked)) + 1):
                    at = self._index.get(marked[start:end])
                    if at is not None:
                        found.add(at)
        ids = sorted(found)
        return self._over(ids), ids

    def _over(self, ids: Sequence[int]) -> Tokenizer:
        known, place = self._vocabulary, {at: position for position, at in enumerate(ids)}
        part = E5Vocabulary(
            tuple(known.pieces[at] for at in ids),
            tuple(known.scores[at] for at in ids),
            place[known.bos],
            place[known.eos],
            place[known.pad],
            place[known.unk],
            known.replacements,
        )
        backend = unigram_tokenizer(part)
        backend.encode_special_tokens = True
        return backend


def _renumbered(encoding: Encoding, ids: Sequence[int]) -> Encoding:
    return _Renumbered([ids[at] for at in encoding.ids], encoding.offsets, encoding.special_tokens_mask)
