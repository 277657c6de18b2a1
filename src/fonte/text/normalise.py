"""The search form of a text: what is embedded and analysed, never quoted and never measured in offsets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from typing import Final

_INVISIBLE: Final = dict.fromkeys(
    [0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
)
_FOLDED: Final[dict[int, str | None]] = {
    **dict.fromkeys(map(ord, "‘’‚‛ʼ′´"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»″"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-"),
    **_INVISIBLE,
}
_RARE = re.compile("[" + "".join(map(re.escape, map(chr, _FOLDED))) + "]")
_SOFT_LINE_END = re.compile("\u00ad[ \t\r]*\n\\s*")
_LINE_END_HYPHEN = re.compile(r"(?<![^\W\d_])([^\W\d_]{1,40}+)[-\u2010\u2011][ \t\r]*\n[ \t]*([^\W\d_]+)")
_KEEPS_HYPHEN: Final = frozenset(
    "all anti arch auto bi co cross ex far full half hard high ill in inter intra left long low many micro mid mini "
    "multi near neo non off on one open out over part post pre pro pseudo quasi re real right second self semi short "
    "single so state sub super third three time top two ultra under up user vice web well wide world year "
    "medio socio politico economico tecnico italo franco anglo filo e".split()
)
"""First halves after which a hyphen at the line's end is more often the word's own, if no vocabulary knows better."""
_BROKEN_PREFIXES: Final = frozenset(
    "all anti auto bi co e ex in inter intra on one over out pre pro re sub super under up micro mini multi".split()
)
"""Those of them that are as often the first syllables of a broken word: joined unless a vocabulary knows better."""


def search_form(text: str, vocabulary: Container[str] = frozenset()) -> str:
    """NFKC, invisible characters gone, words broken at line ends joined, quotes and dashes folded, spaces single.

    ``vocabulary`` holds lower-case words known from elsewhere in the document: of "inter-⏎national" and "well-⏎known"
    the form that it knows is taken. Unknown, a hyphen before a small letter is the line's, unless what stands before
    it is one that compounds begin with ("well-", "self-").
    """
    if "-\n" in text or not text.isascii() or "-\r" in text:
        text = _SOFT_LINE_END.sub("", text)
        text = _LINE_END_HYPHEN.sub(lambda match: _joined(match, vocabulary), text)
    if not text.isascii():
        # NFKC would turn an acute accent into a space and a letter, so quotes are folded before it.
        plain = _RARE.sub(_fold, text)
        text = unicodedata.normalize("NFKC", plain)
        if text is not plain and text != plain:
            text = _RARE.sub(_fold, text)
    return " ".join(text.split())


def _fold(match: re.Match[str]) -> str:
    return _FOLDED[ord(match.group())] or ""


def _joined(match: re.Match[str], vocabulary: Container[str]) -> str:
    left, right = match.groups()
    whole, compound = f"{left}{right}", f"{left}-{right}"
    if whole.lower() in vocabulary:
        return whole
    if compound.lower() in vocabulary or not right[0].islower():
        return compound
    first = left.lower()
    if first in _KEEPS_HYPHEN and first not in _BROKEN_PREFIXES:
        return compound
    return whole


def is_text(text: str) -> bool:
    """Whether every character is a whole one: half a pair (a lone surrogate) is what bytes that are no UTF-8 leave."""
    return not any("\ud800" <= one <= "\udfff" for one in text)
