"""What is odd about a text by itself: print that is no words, the same said again and again, headings over nothing.

These are remarks, no losses: the text is as its source has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from fonte.types import BlockKind, Document, Loss

ODD: Final = frozenset({"gibberish", "repetitive", "empty_sections"})
_FEWEST_WORDS: Final = 30
_FEWEST_CHARACTERS: Final = 400
_SHARE: Final = 0.3
"""Share of words that are none, from which a text is odd."""
_REPEATED: Final = 0.6
"""Share of the text in blocks that stood before."""
_SHORTEST_BLOCK: Final = 20
_SHOWN: Final = 3
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.HEADING, BlockKind.NOTE})
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]{4,}")
_TOKEN = re.compile(r"\S+")
_NO_WORD = re.compile(r"^[^aeiouy\u00e0-\u024f]+$|[bcdfghjklmnpqrstvwxz]{6,}|(.)\1{3,}")
"""No vowel, six consonants one after the other, or a letter four times."""
_JUNK = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]|\(cid:\d+\)")


def oddities(document: Document) -> list[Loss]:
    """The remarks on a document."""
    return [*_gibberish(document), *_repetitive(document), *_empty_sections(document)]


def _gibberish(document: Document) -> Iterable[Loss]:
    prose = " ".join(document.text[span.start : span.end] for span in document.spans if span.kind in _PROSE)
    tokens = _TOKEN.findall(prose)
    if len(tokens) < _FEWEST_WORDS:
        return
    junk = sum(_JUNK.search(token) is not None for token in tokens)
    words = [word for word in _LATIN.findall(prose) if not word.isupper()]
    strange = sum(_NO_WORD.search(word.lower()) is not None for word in words)
    share = max(junk / len(tokens), strange / len(words) if len(words) >= _FEWEST_WORDS else 0.0)
    if share >= _SHARE:
        yield Loss("gibberish", f"{share:.0%} of its words do not look like words", max(junk, strange))


def _repetitive(document: Document) -> Iterable[Loss]:
    seen: set[str] = set()
    total = again = 0
    for span in document.spans:
        block = " ".join(document.text[span.start : span.end].split())
        if len(block) >= _SHORTEST_BLOCK and span.kind is not BlockKind.CODE:
            total += len(block)
            again += len(block) if block in seen else 0
            seen.add(block)
    if total >= _FEWEST_CHARACTERS and again >= _REPEATED * total:
        yield Loss("repetitive", f"{again / total:.0%} of its text repeats what it said before", again)


def _empty_sections(document: Document) -> Iterable[Loss]:
    """Headings with no text and no heading below them; the first of all may be the title alone."""
    followed = [*pairwise(document.sections), *((one, None) for one in document.sections[-1:])]
    titled = next((one for one in document.sections if one.path), None)
    bare = [
        one.path[-1]
        for one, after in followed
        if one.path
        and (one is not titled or after is None)
        and not document.text[one.body_start : one.end].strip()
        and (after is None or len(after.path) <= len(one.path))
    ]
    if bare:
        more = f" and {len(bare) - _SHOWN} more" if len(bare) > _SHOWN else ""
        shown = ", ".join(name[:60] for name in bare[:_SHOWN])
        yield Loss("empty_sections", f"headings without text: {shown}{more}", len(bare))
