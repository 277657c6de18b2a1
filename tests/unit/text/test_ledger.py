"""The conservation ledger."""

from __future__ import annotations

import re
from dataclasses import replace

from fonte.text.canonical import canonicalise
from fonte.text.ledger import balance, count, with_index
from fonte.types import Chunk, ChunkingRecipe, Counts, Document, LedgerEntry, Loss, Parsed, Place
from making import chunks, document, heading, paragraph, row, source

BLOCKS = (
    heading("Leave"), heading("Paid", 2), paragraph("Each year has 26 days.", Place(0, 22, page=1)),
    row("Name | Days", header=True), row("Name: Ann; Days: 26", Place(0, 19, page=2)),
)  # fmt: skip


def judged(parsed: Parsed, drop: int = 0) -> tuple[LedgerEntry, Document, list[Chunk]]:
    doc = canonicalise(parsed, source(), tenant="t")
    made = list(chunks(doc, ChunkingRecipe("boundaries", 20)))
    kept = made[: len(made) - drop]
    return balance(parsed, doc, kept, window=512), doc, kept


def whole() -> Parsed:
    return Parsed(BLOCKS, "test/1", pages=2, source_counts=Counts(60, 13, 2, 2, 2))


def test_a_whole_document_balances() -> None:
    entry, _, made = judged(whole())
    assert entry.balanced
    assert entry.losses == ()
    assert entry.canonical.rows == entry.chunks.rows == 2
    assert entry.chunks == replace(entry.canonical, pages=2)
    assert entry.header_tokens == sum(chunk.header_tokens for chunk in made) > 0
    assert entry.embedded_tokens == sum(chunk.tokens for chunk in made)


def test_case_78_words_that_are_in_no_chunk_are_named() -> None:
    entry, _, _ = judged(whole(), drop=1)
    assert not entry.balanced
    assert [loss.code for loss in entry.losses] == ["not_in_chunks"]
    assert "Ann" in entry.losses[0].message
    assert entry.chunks.words < entry.canonical.words


def test_case_80_rows_that_did_not_arrive_are_counted() -> None:
    entry, _, _ = judged(replace(whole(), source_counts=Counts(rows=20)))
    assert [(loss.code, loss.count) for loss in entry.losses] == [("rows_lost", 18)]


def test_words_and_numbers_of_the_source_are_compared_within_the_tolerance() -> None:
    assert judged(replace(whole(), source_counts=Counts(words=15)))[0].balanced
    entry, _, _ = judged(replace(whole(), source_counts=Counts(words=40, numbers=9)))
    assert [loss.code for loss in entry.losses] == ["words_lost", "numbers_lost"]


def test_what_a_parser_left_out_on_purpose_is_no_loss() -> None:
    told = (Loss("boilerplate", "27 words", 27),)
    assert judged(replace(whole(), source_counts=Counts(words=40, numbers=9), losses=told))[0].balanced
    furniture = (Loss("page_furniture", "3 lines", 3),)
    assert judged(replace(whole(), source_counts=Counts(words=40, numbers=9), losses=furniture))[0].balanced
    assert not judged(replace(whole(), source_counts=Counts(words=80), losses=furniture))[0].balanced
    ocr = (Loss("page_needs_ocr", "page 3", 1),)
    assert not judged(replace(whole(), losses=ocr))[0].balanced


def test_case_73_a_chunk_beyond_the_window_is_counted() -> None:
    parsed = whole()
    doc = canonicalise(parsed, source(), tenant="t")
    entry = balance(parsed, doc, chunks(doc, ChunkingRecipe("boundaries", 60)), window=8)
    assert entry.truncated_chunks > 0
    assert not entry.balanced


def test_a_heading_that_no_context_carries_is_missing() -> None:
    doc = document(heading("Alone"), heading("Other"), paragraph("Body."), title="Told")
    body = [chunk for chunk in chunks(doc, ChunkingRecipe("boundaries", 60)) if chunk.content == "Body."]
    entry = balance(Parsed((), "test/1"), doc, body, window=512)
    assert "1 words are in no chunk: Alone" in [loss.message for loss in entry.losses]


def test_counting() -> None:
    assert count("Art. 5: € 1.250,50 (IVA incl.)") == Counts(characters=25, words=7, numbers=2)


def test_numbers_beyond_what_was_left_out_on_purpose_are_missed() -> None:
    told = (Loss("boilerplate", "5 words", 5),)
    entry, _, _ = judged(replace(whole(), source_counts=Counts(words=15, numbers=20), losses=told))
    assert [loss.code for loss in entry.losses] == ["boilerplate", "numbers_lost"]


def test_a_page_that_vanished_is_named_though_its_words_are_within_the_tolerance() -> None:
    pages = [paragraph(f"word{at}", Place(0, 5, page=at)) for at in range(1, 300) if at != 77]
    parsed = Parsed(tuple(pages), "test/1", pages=299, source_counts=Counts(words=299, pages=299))
    doc = canonicalise(parsed, source(), tenant="t")
    entry = balance(parsed, doc, chunks(doc, ChunkingRecipe("boundaries", 60)), window=512)
    assert [(loss.code, loss.message) for loss in entry.losses] == [
        ("pages_lost", "1 of 299 pages gave no text: 77"),
    ]
    told = (Loss("blank_page", "nothing on page 77"),)
    assert balance(
        replace(parsed, losses=told), doc, chunks(doc, ChunkingRecipe("boundaries", 60)), window=512
    ).balanced


def test_words_that_are_in_no_chunk_are_placed() -> None:
    entry, _, _ = judged(whole(), drop=1)
    assert re.fullmatch(
        r"\d words and parts of \d table rows are in no chunk \(p\. 2\): .*Ann.*", entry.losses[0].message
    )


def test_words_joined_at_line_ends_are_not_lost_and_words_that_are_lost_are() -> None:
    text = "international conversation " * 30
    parsed = Parsed((paragraph(text.strip()),), "test/1", source_counts=Counts(len(text.replace(" ", "")) + 20, 80))
    doc = canonicalise(parsed, source(), tenant="t")
    made = list(chunks(doc, ChunkingRecipe("boundaries", 60)))
    assert balance(parsed, doc, made, window=512).balanced
    lost = replace(parsed, source_counts=replace(parsed.source_counts, characters=999))
    assert [loss.code for loss in balance(lost, doc, made, window=512).losses] == ["words_lost"]


def test_the_index_is_the_last_stage() -> None:
    entry, doc, made = judged(whole())
    same = with_index(entry, doc, made)
    assert (same.index, same.balanced) == (entry.chunks, True)
    fewer = with_index(entry, doc, made[:-1])
    assert not fewer.balanced
    assert "are not in the index (p. 2): " in fewer.losses[-1].message
    other = [replace(made[0], content="x" * len(made[0].content)), *made[1:]]
    assert [loss.code for loss in with_index(entry, doc, other).losses] == ["not_the_text", "not_in_index"]
