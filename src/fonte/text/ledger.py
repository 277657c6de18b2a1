"""The conservation ledger: words, numbers, rows and pages counted from the source to the index.

A document is whole only if its ledger balances within the tolerances below; what is missing is named, with its place.
Pages are pages, slides or sheets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from fonte.text.dates import unclear_dates
from fonte.text.locate import label, locate
from fonte.text.oddities import ODD, oddities
from fonte.types import BlockKind, Chunk, Counts, Document, LedgerEntry, Loss, Parsed, Place

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
SHOWN_PLACES: Final = 5
"""How many places a loss names."""

BENIGN: Final = frozenset(
    "bibliography blank_page boilerplate chart_sheet comments date_unclear hidden_sheet hidden_slide hidden_text "
    "images objects ocr page_furniture ragged_rows structure unbalanced_quotes".split()
).union(ODD)
"""What parsers leave out by design, and remarks; every other loss that is told makes the document partial."""
_COUNTED_IN_WORDS: Final = frozenset({"boilerplate", "text_lost"})
_COUNTED_IN_PAGES: Final = frozenset(
    "blank_page page_needs_ocr page_unreadable picture_without_text slides_lost".split()
)
FOUND_HERE: Final = frozenset(
    "words_lost numbers_lost rows_lost pages_lost not_in_canonical not_in_chunks truncated_chunks date_unclear "
    "bibliography".split()
).union(ODD)
"""Losses that the ledger itself finds: found again when a document is cut again."""

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def count(text: str) -> Counts:
    """Characters that are not white space, runs of letters and digits, and numbers of a text."""
    return Counts(
        characters=sum(map(len, text.split())),
        words=sum(1 for _ in _WORD.finditer(text)),
        numbers=sum(1 for _ in _NUMBER.finditer(text)),
    )


def balance(
    parsed: Parsed,
    document: Document,
    chunks: Sequence[Chunk],
    *,
    window: int,
    left_out: Sequence[tuple[int, int]] = (),
) -> LedgerEntry:
    """The ledger of one document.

    Source against canonical text by the numbers of words, numbers, rows and pages (where the parser counted any);
    blocks against canonical text by every character; canonical text against chunks exactly: every word must lie in a
    chunk, or in a heading that some chunk carries in its context. ``window`` is the encoder's, in tokens: a longer
    chunk counts as truncated. ``left_out`` are stretches that are kept out of the index on purpose: told, not missing.
    """
    blocks, canonical = _of_blocks(parsed), _of_text(document)
    kept, missing = _kept(document, canonical, chunks)
    truncated = [chunk for chunk in chunks if chunk.tokens > window]
    losses = [*parsed.losses, *_source_losses(parsed, document, canonical)]
    if blocks.characters > canonical.characters or blocks.rows > canonical.rows:
        lost = blocks.characters - canonical.characters
        losses.append(Loss("not_in_canonical", f"{lost} characters of the blocks are not in the text", lost))
    unclear = unclear_dates(document.metadata)
    if unclear:
        what = f"kept as written, for it is not clear which date it is: {'; '.join(unclear[:SHOWN_PLACES])}"
        losses.append(Loss("date_unclear", what, len(unclear)))
    aside = [one for one in missing if _lies_in(document.text, one, left_out)]
    missing = [one for one in missing if one not in aside]
    without = _less(canonical, document, aside)
    if aside:
        how = "of the list of references are not in the index, as set"
        losses.append(_not_in("bibliography", how, document, canonical, without, aside))
    if missing:
        losses.append(_not_in("not_in_chunks", "are in no chunk", document, without, kept, missing))
    losses += oddities(document)
    if truncated:
        where = _where(document, [(chunk.start, chunk.end) for chunk in truncated])
        what = f"{len(truncated)} chunks are longer than the encoder reads{where}"
        losses.append(Loss("truncated_chunks", what, len(truncated)))
    return LedgerEntry(
        source=parsed.source_counts,
        canonical=canonical,
        chunks=kept,
        truncated_chunks=len(truncated),
        header_tokens=sum(chunk.header_tokens for chunk in chunks),
        embedded_tokens=sum(chunk.tokens for chunk in chunks),
        losses=tuple(losses),
        balanced=all(loss.code in BENIGN for loss in losses),
        parsed=blocks,
    )


def with_index(entry: LedgerEntry, document: Document, stored: Sequence[Chunk]) -> LedgerEntry:
    """The ledger with one more stage: what the index holds of the document, by the chunks that were read out of it.

    It must be what the chunks held when the document was built. A chunk whose content is not its slice of the text
    holds nothing of it.
    """
    true = [chunk for chunk in stored if document.text[chunk.start : chunk.end] == chunk.content]
    held, missing = _kept(document, entry.canonical, true)
    losses = entry.losses
    if len(true) < len(stored):
        what = f"{len(stored) - len(true)} chunks of the index are not what the text says"
        losses = (*losses, Loss("not_the_text", what, len(stored) - len(true)))
    if held != entry.chunks:
        losses = (*losses, _not_in("not_in_index", "are not in the index", document, entry.canonical, held, missing))
    return replace(
        entry, index=held, losses=losses, balanced=entry.balanced and all(loss.code in BENIGN for loss in losses)
    )


def _of_blocks(parsed: Parsed) -> Counts:
    """What the blocks hold; words that the canonical text joins count one by one here."""
    plain = count("\n".join([*(block.text for block in parsed.blocks), parsed.tail]))
    rows = sum(block.kind is BlockKind.ROW for block in parsed.blocks)
    return replace(plain, rows=rows, pages=len(_units(place for block in parsed.blocks for place in block.places)))


def _of_text(document: Document) -> Counts:
    rows = sum(span.kind is BlockKind.ROW for span in document.spans)
    return replace(count(document.text), rows=rows, pages=len(_units(document.places)))


def _units(places: Iterable[Place]) -> set[int | str]:
    """The pages, slides or sheets that hold something."""
    found = (place.page or place.slide or place.sheet for place in places if place.end > place.start)
    return {unit for unit in found if unit is not None}


def _kept(document: Document, canonical: Counts, chunks: Sequence[Chunk]) -> tuple[Counts, list[tuple[int, int]]]:
    """(what of the text some chunk holds, the stretches that none does)."""
    missing = _uncovered(document, chunks)
    return replace(_less(canonical, document, missing), pages=len(_units(_held(document.places, chunks)))), missing


def _less(counts: Counts, document: Document, stretches: Sequence[tuple[int, int]]) -> Counts:
    """The counts of a text without some of its stretches; pages stay."""
    lost = count("\n".join(document.text[start:end] for start, end in stretches))
    rows = (span for span in document.spans if span.kind is BlockKind.ROW)
    lost_rows = sum(any(start < row.end and row.start < end for start, end in stretches) for row in rows)
    return Counts(
        counts.characters - lost.characters,
        counts.words - lost.words,
        counts.numbers - lost.numbers,
        counts.rows - lost_rows,
        counts.pages,
    )


def _lies_in(text: str, stretch: tuple[int, int], ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether all of a stretch but its outer white space lies in one of the ranges."""
    start, end = stretch
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return any(low <= start and end <= high for low, high in ranges)


def _not_in(
    code: str, how: str, document: Document, canonical: Counts, kept: Counts, missing: Sequence[tuple[int, int]]
) -> Loss:
    """The loss of the words in some stretches of the text, named with their places."""
    words = Counter(word for start, end in missing for word in _WORD.findall(document.text[start:end]))
    lost = canonical.words - kept.words
    shown = ", ".join(word for word, _ in words.most_common(SHOWN_WORDS))
    rows = canonical.rows - kept.rows
    told = f"{lost} words" + (f" and parts of {rows} table rows" if rows else "")
    return Loss(code, f"{told} {how}{_where(document, missing)}" + (f": {shown}" if shown else ""), max(lost, 1))


def _where(document: Document, stretches: Sequence[tuple[int, int]]) -> str:
    """`` (p. 3; Sheet1!B2:D9)``: where stretches of the text lie; nothing where their format knows no places."""
    cut = len(document.name) + len(", ")
    labels = (label(document, locate(document, start, end), ())[cut:] for start, end in stretches)
    names = list(dict.fromkeys(filter(None, labels)))
    more = f" and {len(names) - SHOWN_PLACES} more" if len(names) > SHOWN_PLACES else ""
    return f" ({'; '.join(names[:SHOWN_PLACES])}{more})" if names else ""


def _source_losses(parsed: Parsed, document: Document, canonical: Counts) -> Iterable[Loss]:
    """What the source had and canonical text has not, beyond what the parser said it left out and the tolerances."""
    source = parsed.source_counts
    told = sum(loss.count for loss in parsed.losses if loss.code in _COUNTED_IN_WORDS)
    lines = sum(loss.count for loss in parsed.losses if loss.code == "page_furniture")
    words = source.words - canonical.words
    if canonical.rows == 0 and source.characters - canonical.characters <= words:
        words = 0  # a word that is missing takes letters along: these were joined at line ends, each for its hyphen
    if words - told - FURNITURE_WORDS * lines > max(WORD_SLACK, WORD_TOLERANCE * source.words):
        yield Loss("words_lost", f"{words} of {source.words} words did not reach the text", words)
    numbers = source.numbers - canonical.numbers
    # Every word that was left out on purpose may have been a number: more than that is missing without a reason.
    if numbers - told - FURNITURE_NUMBERS * lines > max(NUMBER_SLACK, NUMBER_TOLERANCE * source.numbers):
        yield Loss("numbers_lost", f"{numbers} of {source.numbers} numbers did not reach the text", numbers)
    if source.rows > canonical.rows:
        count_ = source.rows - canonical.rows
        there = _where(document, _tables(document))
        message = f"{count_} of {source.rows} table rows did not reach the text"
        yield Loss("rows_lost", f"{message}; those that did{there}" if there else message, count_)
    empty = source.pages - canonical.pages
    if empty > sum(loss.count for loss in parsed.losses if loss.code in _COUNTED_IN_PAGES):
        yield Loss("pages_lost", f"{empty} of {source.pages} {_pages_without(document, source.pages)}", empty)


def _tables(document: Document) -> list[tuple[int, int]]:
    """The stretch of every table's rows."""
    tables: dict[int | None, tuple[int, int]] = {}
    for span in document.spans:
        if span.kind is BlockKind.ROW:
            tables[span.table] = (tables.get(span.table, (span.start, 0))[0], span.end)
    return list(tables.values())


def _pages_without(document: Document, pages: int) -> str:
    """``pages gave no text: 3, 7``; of sheets, which ones did."""
    there = _units(document.places)
    names = [unit for unit in there if isinstance(unit, str)]
    if names:
        return f"sheets gave no text; those that did: {', '.join(sorted(names)[:SHOWN_PLACES])}"
    kind = "slides" if any(place.slide for place in document.places) else "pages"
    without = [str(page) for page in range(1, pages + 1) if page not in there]
    more = f" and {len(without) - SHOWN_WORDS} more" if len(without) > SHOWN_WORDS else ""
    return f"{kind} gave no text: {', '.join(without[:SHOWN_WORDS])}{more}"


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


def _held(places: Sequence[Place], chunks: Sequence[Chunk]) -> Iterable[Place]:
    """Places of which a chunk holds something."""
    ranges = sorted((chunk.start, chunk.end) for chunk in chunks)
    index = 0
    for place in places:
        while index < len(ranges) and ranges[index][1] <= place.start:
            index += 1
        if index < len(ranges) and ranges[index][0] < place.end:
            yield place
