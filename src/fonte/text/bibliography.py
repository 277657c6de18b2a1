"""Lists of references: where they stand in a document, and a chunker that leaves them out of the index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from fonte.protocols import Chunker
from fonte.types import BlockKind, Chunk, Document

_TITLES: Final = frozenset(
    "references|reference list|list of references|bibliography|selected bibliography|works cited|literature cited|"
    "bibliografia|bibliografia essenziale|riferimenti bibliografici|opere citate|références|"
    "références bibliographiques|bibliographie|literaturverzeichnis|bibliografía|referencias|"
    "referencias bibliográficas".split("|")
)
_NUMBER = re.compile(r"(?:(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.)]?\s+)?(.*?)[\s:.]*", re.IGNORECASE | re.DOTALL)
_OTHER_PART = re.compile(r"appendi|annex|allegat|anhang|supplement", re.IGNORECASE)
_SIGN_OF_A_SOURCE = re.compile(r"\b(?:1[5-9]|20)\d\d[a-z]?\b|\bdoi\b|https?://|\barxiv\b|\bISBN\b", re.IGNORECASE)
_FEWEST, _SHARE = 2, 0.5
"""So many entries, and so many of them with a year or an address, make a list of references."""


def bibliographies(document: Document) -> list[tuple[int, int]]:
    """Half-open ranges of the text that are lists of references with their headings, in order.

    A list is known by its heading and by its entries: a section of that name that tells whom to ask for references is
    none. It ends at the next heading that is not below its own, and at an appendix.
    """
    found: list[tuple[int, int]] = []
    sections = document.sections
    for at, section in enumerate(sections):
        if not section.path or _name(section.path[-1]) not in _TITLES or (found and section.start < found[-1][1]):
            continue
        end = section.end
        for below in sections[at + 1 :]:
            if below.path[: len(section.path)] != section.path or _OTHER_PART.match(below.path[-1]):
                break
            end = below.end
        if _is_list(document, section.start, end):
            found.append((section.start, end))
    return found


@dataclass(frozen=True, slots=True)
class WithoutBibliography:
    """Chunks of another chunker but for those that lie in a list of references; all of them where no other is left."""

    inner: Chunker

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """As the other one cuts; what stands partly in the list stays whole."""
        chunks = self.inner.chunk(document)
        lists = bibliographies(document)
        left = [one for one in chunks if not any(start <= one.start and one.end <= end for start, end in lists)]
        if not left or len(left) == len(chunks):
            return chunks
        return [replace(one, index=index) for index, one in enumerate(left)]


def _name(heading: str) -> str:
    match = _NUMBER.fullmatch(heading.strip())
    return (match[1] if match else heading).strip().lower()


def _is_list(document: Document, start: int, end: int) -> bool:
    entries = [
        document.text[one.start : one.end]
        for one in document.spans
        if start <= one.start and one.end <= end and one.kind is not BlockKind.HEADING
    ]
    lines = [line for entry in entries for line in entry.split("\n\n") if line.strip()]
    signs = sum(_SIGN_OF_A_SOURCE.search(line) is not None for line in lines)
    return len(lines) >= _FEWEST and signs >= _SHARE * len(lines)
