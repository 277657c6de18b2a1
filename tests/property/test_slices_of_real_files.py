"""Real files of every format that is read, by every strategy: each chunk is the slice that it says it is.

The files lie outside the project (``../shared/data/docs-formats``); without them the module is skipped, and says so.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from pathlib import Path

import pytest

from fonte.errors import FonteError
from fonte.parsers.pool import ParserPool
from fonte.text.canonical import canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.ledger import balance
from fonte.text.locate import fragment, label, locate
from fonte.text.normalise import search_form
from fonte.types import (
    Acl,
    Chunk,
    ChunkingRecipe,
    Document,
    Parsed,
    Source,
    sha256_hex,
)
from strategies import WordTokenizer, embed, recipe

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "docs-formats"
pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/docs-formats is not here"),
    pytest.mark.timeout(300),
]
WINDOW = 256
STRATEGIES = {
    "default": ChunkingRecipe(),
    "blind 512": ChunkingRecipe("blind", 512, 0, header=False, unit="characters"),
    "blind 512+64": ChunkingRecipe("blind", 512, 64, header=False, unit="characters"),
    "blind 1200+200": ChunkingRecipe("blind", 1200, 200, header=False, unit="characters"),
    "boundaries 512": ChunkingRecipe("boundaries", 512, 0, header=False, unit="characters"),
    "boundaries 512+64": ChunkingRecipe("boundaries", 512, 64, header=False, unit="characters"),
    "boundaries 512, header": ChunkingRecipe("boundaries", 512, 0, header=True, unit="characters"),
    "boundaries 512+64, header": ChunkingRecipe("boundaries", 512, 64, header=True, unit="characters"),
    "tokens 128+16, header": ChunkingRecipe("tokens", 128, 16, header=True, unit="tokens"),
    "recursive": ChunkingRecipe("recursive"),
    "semantic": ChunkingRecipe("semantic", percentile=80),
    "document": ChunkingRecipe("document"),
    "document, bare, overlap": ChunkingRecipe("document", 128, 16, header=False),
    "parent_child": ChunkingRecipe("parent_child", 128, parent_characters=2000),
}
MANY = 100
"""Fewer files than this that were read would mean that the test looks at nothing."""


@functools.cache
def read() -> tuple[dict[str, tuple[Parsed, Document]], dict[str, FonteError]]:
    """Every file that a parser reads, and the errors of the others."""
    sources = []
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        body = path.read_bytes()
        name = path.relative_to(FOLDER).as_posix()
        sources.append(Source(path.as_uri(), name, sha256_hex(body), Acl(frozenset({"public"})), body=body))
    documents, refused = {}, {}
    with ParserPool(workers=2, timeout_seconds=60) as pool:
        for source, outcome in pool.parse_many(sources):
            if isinstance(outcome, Parsed):
                documents[source.name] = outcome, canonicalise(outcome, source, tenant="t")
            else:
                refused[source.name] = outcome
    return documents, refused


def test_most_files_are_read_and_the_others_say_why() -> None:
    documents, refused = read()
    assert len(documents) >= MANY
    for name, error in refused.items():
        assert error.message, name
    formats = {one.media_type for _, one in documents.values()}
    assert len(formats) >= 5, formats


def test_sections_cover_the_text_and_spans_lie_inside() -> None:
    documents, _ = read()
    assert documents
    for name, (_, document) in documents.items():
        reached = 0
        for section in document.sections:
            assert section.start == reached, name
            reached = section.end
        assert reached == len(document.text), name
        assert all(0 <= span.start <= span.end <= len(document.text) for span in document.spans), name
        assert all(0 <= place.start <= place.end <= len(document.text) for place in document.places), name
        assert all(one.end <= two.start for one, two in zip(document.places, document.places[1:], strict=False)), name


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_chunk_slices_its_document(strategy: str) -> None:
    chunking = STRATEGIES[strategy]
    tokenizer = WordTokenizer(WINDOW)
    made = recipe(chunking, WINDOW)
    documents, _ = read()
    assert documents
    for name, (parsed, document) in documents.items():
        chunks = make_chunker(made, tokenizer, embed).chunk(document)
        assert bool(chunks) is bool(document.text.strip()), name
        for index, chunk in enumerate(chunks):
            assert chunk.index == index, name
            _check(chunk, document, tokenizer, name)
        assert len({chunk.id for chunk in chunks}) == len(chunks), name
        _nothing_lost(chunks, document, chunking, name)
        ledger = balance(parsed, document, chunks, window=WINDOW)
        assert ledger.truncated_chunks == 0, name
        assert ledger.chunks.words == ledger.canonical.words, (name, ledger.losses)
        assert ledger.balanced or ledger.losses, f"{name}: unbalanced without a word"


def _check(chunk: Chunk, document: Document, tokenizer: WordTokenizer, name: str) -> None:
    assert chunk.content == document.text[chunk.start : chunk.end], name
    assert chunk.content == chunk.content.strip() != "", name
    assert chunk.tokens == tokenizer.count(search_form(chunk.text)) + tokenizer.overhead <= WINDOW, name
    locator = locate(document, chunk.start, chunk.end)
    assert (locator.start, locator.end) == (chunk.start, chunk.end), name
    assert locator.page is None or 1 <= locator.page <= (document.pages or 0), name
    for x0, y0, x1, y1 in locator.boxes or ():
        assert x0 <= x1 and y0 <= y1, name
    if locator.lines is not None:
        assert 1 <= locator.lines[0] <= locator.lines[1], name
    assert re.match(r"#(page|sheet|slide|t|char)=", fragment(document, locator)), name
    assert label(document, locator, chunk.section).startswith(name.rsplit("/", 1)[-1]) or name in label(
        document, locator, chunk.section
    )


def _nothing_lost(chunks: list[Chunk], document: Document, chunking: ChunkingRecipe, name: str) -> None:
    """Every character that is not white space lies in a chunk, or in a heading that headers carry."""
    covered = bytearray(len(document.text))
    for chunk in chunks:
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    starts = [section.start for section in document.sections]
    for match in re.finditer(r"\S", document.text):
        position = match.start()
        if covered[position]:
            continue
        section = document.sections[bisect_right(starts, position) - 1]
        assert chunking.header and chunking.strategy not in ("blind", "tokens"), (name, position)
        assert section.path and position < section.body_start, (name, position)
