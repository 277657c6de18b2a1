"""Tokens of a model whose tokenizer is not known: an estimate that errs upwards, so that nothing is cut unseen."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PIECE = re.compile(r"[A-Za-z]{1,3}|[0-9]{1,2}|\n|[^\S\n]{2,}|\S")
_OVERHEAD = 4
"""Special tokens that a server may put around a text."""


class EstimatedTokenizer:
    """Implements ``fonte.protocols.Tokenizer`` by rule.

    At most three Latin letters or two digits make a token, every other ASCII character makes one, and every other
    character as many as it has UTF-8 bytes beyond the first (byte-level vocabularies split rare ones so).
    """

    def __init__(self, window: int, *, prefix: str = "") -> None:
        """``window`` as the model's documentation declares it; ``prefix`` what each passage gets in front."""
        self._window = window
        self._overhead = _OVERHEAD + len(_ranges(prefix))
        if window <= self._overhead:
            raise ValueError(f"a window of {window} tokens leaves no room")

    @property
    def window(self) -> int:
        """Longest input in tokens, everything included."""
        return self._window

    @property
    def overhead(self) -> int:
        """Tokens kept free for the prefix and special tokens."""
        return self._overhead

    def count(self, text: str) -> int:
        """Estimated number of tokens of ``text``."""
        return estimated_tokens(text)

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Code point range of each estimated token; a character that may take several tokens stands several times."""
        return _ranges(text)


def estimated_tokens(text: str) -> int:
    """Tokens of a text by the same rule."""
    return len(_ranges(text))


def _ranges(text: str) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for match in _PIECE.finditer(text):
        piece = match.group()
        repeats = 1 if piece.isascii() else max(1, len(piece.encode("utf-8", "surrogatepass")) - 1)
        ranges.extend([match.span()] * repeats)
    return ranges
