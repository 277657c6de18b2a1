"""Every chunk of every strategy is an exact slice, and nothing of a document is lost, over arbitrary Unicode."""

from __future__ import annotations

import re
from bisect import bisect_right

from hypothesis import assume, given, settings

from fonte.text.canonical import canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.chunking.parents import parent_of
from fonte.text.locate import fragment, label, locate
from fonte.text.normalise import search_form
from fonte.types import ChunkingRecipe, Parsed
from strategies import WordTokenizer, embed, every_chunking, parsed_documents, recipe, source


@settings(max_examples=300)
@given(parsed_documents(), every_chunking())
def test_chunks_slice_their_document_and_lose_nothing(parsed: Parsed, chunking: ChunkingRecipe) -> None:
    tokenizer = WordTokenizer()
    document = canonicalise(parsed, source(), tenant="t")
    in_characters = chunking.unit == "characters" and chunking.strategy != "tokens"
    assume(in_characters or chunking.overlap < min(chunking.size, 64) - 4)
    chunks = make_chunker(recipe(chunking), tokenizer, embed).chunk(document)
    assert chunks == make_chunker(recipe(chunking), tokenizer, embed).chunk(document)
    covered = bytearray(len(document.text))
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.content == document.text[chunk.start : chunk.end]
        assert chunk.content == chunk.content.strip()
        assert chunk.tokens == tokenizer.count(search_form(chunk.text)) + tokenizer.overhead <= tokenizer.window
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        low, high = parent_of(document, chunking, chunk.start, chunk.end)
        assert low <= chunk.start < chunk.end <= high
        locator = locate(document, chunk.start, chunk.end)
        assert (locator.start, locator.end) == (chunk.start, chunk.end)
        assert fragment(document, locator).startswith("#")
        assert label(document, locator, chunk.section).startswith("policy.md")
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    starts = [section.start for section in document.sections]
    for position, character in enumerate(document.text):
        if covered[position] or character.isspace() or not search_form(character):
            continue  # what nobody can see is not searched for, and makes no chunk of its own
        section = document.sections[bisect_right(starts, position) - 1]
        assert chunking.header and chunking.strategy not in ("blind", "tokens"), position
        assert section.path and position < section.body_start, position


@given(parsed_documents())
def test_sections_spans_and_places_fit_the_text(parsed: Parsed) -> None:
    document = canonicalise(parsed, source(), tenant="t")
    reached = 0
    for section in document.sections:
        assert section.start == reached
        reached = section.end
    assert reached == len(document.text)
    assert len(document.spans) == len(parsed.blocks)
    for block, span in zip(parsed.blocks, document.spans, strict=True):
        kept = document.text[span.start : span.end]
        assert len(kept) == len(block.text)
        assert kept == re.sub("[\0\ud800-\udfff]", "\ufffd", block.text)
    for before, after in zip(document.places, document.places[1:]):
        assert before.end <= after.start
    assert all(place.end <= len(document.text) for place in document.places)
    document.text.encode()
