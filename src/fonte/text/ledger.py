"""The conservation ledger: words, numbers, rows and pages counted from the source to the chunks.

A document is whole only if the books balance within the tolerances below; what is missing is named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from fonte.types import BlockKind, Chunk, Counts, Document, LedgerEntry, Loss, Parsed

WORD_TOLERANCE: Final = 0.02
"""Share of the source's words that canonical text may lack: hyphens joined at line ends make one word of two."""
WORD_SLACK: Final = 3
"""Words that may be missing in however short a document."""
NUMBER_TOLERANCE: Final = 0.01
"""Share of the source's numbers that canonical text may lack: a page number is not always told from a figure."""
NUMBER_SLACK: Final = 1
FURNITURE_WORDS: Final = 12
FURNITURE_NUMBERS: Final = 4
"""Words and numbers that one repeated header or footer line, left out on purpose, may have held."""
SHOWN_WORDS: Final = 8
"""How many of the missing words a loss names."""

BENIGN: Final = frozenset(
    "blank_page boilerplate chart_sheet comments hidden_sheet hidden_slide hidden_text images objects ocr "
    "page_furniture ragged_rows structure unbalanced_quotes".split()
)
"""What parsers leave out or remark on by design; every other loss they tell makes the document partial."""
_COUNTED_IN_WORDS: Final = frozenset({"boilerplate", "text_lost"})

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def count(text: str) -> Counts:
    """Characters that are not white space, runs of letters and digits, and numbers of a text."""
    return Counts(
        characters=sum(map(len, text.split())),
        words=sum(1 for _ in _WORD.finditer(text)),
        numbers=sum(1 for _ in _NUMBER.finditer(text)),
    )


def balance(parsed: Parsed, document: Document, chunks: Sequence[Chunk], *, window: int) -> LedgerEntry:
    """The books of one document.

    Source against canonical text by the numbers of words, numbers and rows (where the parser counted any); canonical
    text against chunks exactly: every word must lie in a chunk, or in a heading that some chunk carries in its
    context. ``window`` is the encoder's, in tokens: a longer chunk counts as truncated.
    """
    rows = [span for span in document.spans if span.kind is BlockKind.ROW]
    plain = count(document.text)
    canonical = Counts(plain.characters, plain.words, plain.numbers, len(rows), document.pages or 0)
    uncovered = _uncovered(document, chunks)
    missing = Counter(word for start, end in uncovered for word in _WORD.findall(document.text[start:end]))
    lost = count("\n".join(document.text[start:end] for start, end in uncovered))
    lost_rows = sum(any(start < row.end and row.start < end for start, end in uncovered) for row in rows)
    truncated = sum(chunk.tokens > window for chunk in chunks)
    losses = [*parsed.losses, *_source_losses(parsed, canonical)]
    if missing:
        words = ", ".join(word for word, _ in missing.most_common(SHOWN_WORDS))
        losses.append(Loss("not_in_chunks", f"{lost.words} words are in no chunk: {words}", lost.words))
    if truncated:
        losses.append(Loss("truncated_chunks", f"{truncated} chunks are longer than the encoder reads", truncated))
    return LedgerEntry(
        source=parsed.source_counts,
        canonical=canonical,
        chunks=Counts(
            canonical.characters - lost.characters,
            canonical.words - lost.words,
            canonical.numbers - lost.numbers,
            len(rows) - lost_rows,
            _pages(document, chunks),
        ),
        truncated_chunks=truncated,
        header_tokens=sum(chunk.header_tokens for chunk in chunks),
        embedded_tokens=sum(chunk.tokens for chunk in chunks),
        losses=tuple(losses),
        balanced=all(loss.code in BENIGN for loss in losses),
    )


def _source_losses(parsed: Parsed, canonical: Counts) -> Iterable[Loss]:
    """What the source had and canonical text has not, beyond what the parser said it left out and the tolerances."""
    source = parsed.source_counts
    told = sum(loss.count for loss in parsed.losses if loss.code in _COUNTED_IN_WORDS)
    lines = sum(loss.count for loss in parsed.losses if loss.code == "page_furniture")
    words = source.words - canonical.words
    if words - told - FURNITURE_WORDS * lines > max(WORD_SLACK, WORD_TOLERANCE * source.words):
        yield Loss("words_lost", f"{words} of {source.words} words did not reach the text", words)
    numbers = source.numbers - canonical.numbers
    # Every word that was left out on purpose may have been a number: more than that is missing without a reason.
    if numbers - told - FURNITURE_NUMBERS * lines > max(NUMBER_SLACK, NUMBER_TOLERANCE * source.numbers):
        yield Loss("numbers_lost", f"{numbers} of {source.numbers} numbers did not reach the text", numbers)
    if source.rows > canonical.rows:
        count_ = source.rows - canonical.rows
        yield Loss("rows_lost", f"{count_} of {source.rows} table rows did not reach the text", count_)


def _uncovered(document: Document, chunks: Sequence[Chunk]) -> list[tuple[int, int]]:
    """Stretches with text that no chunk holds and whose heading, if they are one, no chunk's context carries."""
    gaps: list[tuple[int, int]] = []
    reached = 0
    for start, end in [*sorted((chunk.start, chunk.end) for chunk in chunks), (len(document.text),) * 2]:
        if start > reached and document.text[reached:start].strip():
            gaps.append((reached, start))
        reached = max(reached, end)
    if not gaps:
        return []
    contexts = "\n".join(dict.fromkeys(chunk.context for chunk in chunks))
    headings = [span for span in document.spans if span.kind is BlockKind.HEADING]
    left: list[tuple[int, int]] = []
    index = 0
    for start, end in gaps:
        at = start
        while index < len(headings) and headings[index].end <= start:
            index += 1
        while index < len(headings) and headings[index].start < end:
            span = headings[index]
            name = " ".join(document.text[span.start : span.end].split())
            if at <= span.start and span.end <= end and name in contexts:
                left.append((at, span.start))
                at = span.end
            index += 1
        left.append((at, end))
    return [(start, end) for start, end in left if document.text[start:end].strip()]


def _pages(document: Document, chunks: Sequence[Chunk]) -> int:
    """Pages with text in a chunk."""
    if not document.pages or not chunks:
        return 0
    ranges = sorted((chunk.start, chunk.end) for chunk in chunks)
    pages: set[int] = set()
    index = 0
    for place in document.places:
        while index < len(ranges) and ranges[index][1] <= place.start:
            index += 1
        if index < len(ranges) and place.page is not None and ranges[index][0] < place.end:
            pages.add(place.page)
    return len(pages)
