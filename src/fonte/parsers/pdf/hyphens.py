"""Whether a hyphen at the end of a line belongs to the word, decided by the document's own vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fonte.parsers.pdf.layout import Row

HYPHENS = "-\u2010"
_EDGES = ".,;:!?()[]{}\"'“”‘’«»…"
_COMPOUND_FIRST = frozenset({"well", "self"})
"""First parts whose hyphen stays in English, where the document itself does not tell."""
_SUFFIXES = frozenset({"ness", "ish", "less", "being", "hood", "spring"})


def bare(text: str) -> str:
    """A word without the punctuation around it, lower case, U+2010 as ``-``."""
    return text.strip(_EDGES).lower().replace("\u2010", "-")


def vocabulary(pages: Iterable[Sequence[Row]]) -> Counter[str]:
    """How often each whole word stands in the rows; words broken at a row's end, and their other half, do not count."""
    written: Counter[str] = Counter()
    for rows in pages:
        broken = False
        for row in rows:
            last = len(row.words) - 1
            for index, word in enumerate(row.words):
                if broken and index == 0:
                    continue
                if index == last and (word.soft or word.text[-1] in HYPHENS):
                    continue
                written[word.text] += 1
            broken = bool(row.words) and (row.words[last].soft or row.words[last].text[-1] in HYPHENS)
    words: Counter[str] = Counter()
    for text, count in written.items():
        words[bare(text)] += count
    return words


def breaks_word(text: str, *, soft: bool) -> bool:
    """Whether a line that ends with this word may go on with its other half on the next line."""
    if soft:
        return True
    return len(text) > 1 and text[-1] in HYPHENS and text[-2].isalnum()


def keeps_hyphen(left: str, right: str, words: Counter[str]) -> bool:
    """Whether ``left-`` at a line's end and ``right`` on the next are a true compound.

    ``left`` comes without its hyphen. Both as they stand in the text.
    """
    first, second = bare(left), bare(right)
    if not first or not second or not second[0].isalpha() or not first[-1].isalpha():
        return True
    whole, compound = words[first + second], words[f"{first}-{second}"]
    if whole != compound:
        return compound > whole
    tail = first.rsplit("-", 1)[-1]
    head = second.split("-", 1)[0]
    if "-" in first or "-" in second:
        if words[tail + head]:
            return False
        return bool(words[head]) or "-" in first
    if right.lstrip(_EDGES)[:1].isupper() and not left.isupper():
        return True
    return first in _COMPOUND_FIRST and second not in _SUFFIXES and len(second) > 3  # noqa: PLR2004 - "non-e" is none
