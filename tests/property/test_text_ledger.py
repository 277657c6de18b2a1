"""Whatever is lost on a document's way, the books do not balance and the document is not ready."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fonte.corpus import OpenCorpus
from fonte.text.canonical import canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.ledger import BENIGN, NUMBER_SLACK, NUMBER_TOLERANCE, WORD_SLACK, WORD_TOLERANCE, balance, with_index
from fonte.text.ledger import count as count_text
from fonte.types import Block, BlockKind, Chunk, ChunkingRecipe, Counts, Document, DocumentStatus, Parsed, Place, Source
from quick_corpus import Shelf, Shelves, quick_parts
from strategies import CHUNKING, WordTokenizer, parsed_documents, recipe, source

FIELDS = ("characters", "words", "numbers", "rows", "pages")
words = st.lists(st.sampled_from("ferie policy art 5 81 giorni rest Sunday ä x".split()), min_size=1, max_size=9)


def counted(blocks: Iterable[Block]) -> Counts:
    """What an honest parser counts of a source that holds exactly these blocks."""
    found = list(blocks)
    plain = count_text("\n".join(block.text for block in found))
    rows = sum(block.kind is BlockKind.ROW for block in found)
    return replace(plain, rows=rows, pages=len({place.page for block in found for place in block.places}))


@st.composite
def paged(draw: st.DrawFn) -> Parsed:
    """Paragraphs and rows on up to four pages, honestly counted."""
    blocks = []
    for page in range(1, draw(st.integers(1, 4)) + 1):
        for _ in range(draw(st.integers(1, 4))):
            text = " ".join(draw(words))
            kind = draw(st.sampled_from([BlockKind.PARAGRAPH, BlockKind.ROW]))
            table = 0 if kind is BlockKind.ROW else None
            blocks.append(Block(kind, text, table=table, places=(Place(0, len(text), page=page),)))
    return Parsed(tuple(blocks), "test/1", source_counts=counted(blocks), pages=blocks[-1].places[0].page)


def cut(parsed: Parsed, chunking: ChunkingRecipe) -> tuple[Document, list[Chunk]]:
    document = canonicalise(parsed, source(), tenant="t")
    return document, list(make_chunker(recipe(chunking), WordTokenizer()).chunk(document))


def fits(chunking: ChunkingRecipe) -> bool:
    """Whether the chunker takes these settings with a window of 64."""
    in_characters = chunking.unit == "characters" and chunking.strategy != "tokens"
    return in_characters or chunking.overlap < min(chunking.size, 64) - 4


def fewer(parsed: Parsed, kept: Iterable[Block]) -> bool:
    """Whether dropping the other blocks loses more than the tolerances say may be lost without a word."""
    source_, left = parsed.source_counts, counted(kept)
    return (
        source_.words - left.words > max(WORD_SLACK, WORD_TOLERANCE * source_.words)
        or source_.numbers - left.numbers > max(NUMBER_SLACK, NUMBER_TOLERANCE * source_.numbers)
        or source_.rows > left.rows
        or source_.pages > left.pages
    )


@settings(max_examples=150, deadline=None)
@given(paged(), CHUNKING, st.data())
def test_what_a_parser_drops_unbalances_the_books(
    parsed: Parsed, chunking: ChunkingRecipe, data: st.DataObject
) -> None:
    assume(fits(chunking))
    whole, chunks = cut(parsed, chunking)
    assert balance(parsed, whole, chunks, window=64).balanced
    keep = data.draw(st.lists(st.booleans(), min_size=len(parsed.blocks), max_size=len(parsed.blocks)))
    kept = tuple(block for block, stays in zip(parsed.blocks, keep, strict=True) if stays)
    assume(fewer(parsed, kept))
    poorer = replace(parsed, blocks=kept)
    entry = balance(poorer, *cut(poorer, chunking), window=64)
    assert not entry.balanced
    assert {loss.code for loss in entry.losses} <= {"words_lost", "numbers_lost", "rows_lost", "pages_lost"}


@settings(max_examples=150, deadline=None)
@given(parsed_documents(), CHUNKING, st.data())
def test_no_stage_holds_more_than_the_one_before(parsed: Parsed, chunking: ChunkingRecipe, data: st.DataObject) -> None:
    assume(fits(chunking))
    document, chunks = cut(replace(parsed, source_counts=counted(parsed.blocks)), chunking)
    kept = [chunk for chunk in chunks if data.draw(st.booleans())]
    entry = balance(parsed, document, kept, window=64)
    assert all(getattr(entry.chunks, name) <= getattr(entry.canonical, name) for name in FIELDS)
    assert entry.balanced == all(loss.code in BENIGN for loss in entry.losses)
    if entry.balanced:
        assert (entry.chunks.words, entry.chunks.rows) == (entry.canonical.words, entry.canonical.rows)
    stored = [chunk for chunk in kept if data.draw(st.booleans())]
    told = with_index(entry, document, stored)
    assert told.index is not None
    assert (told.index == entry.chunks) == all(loss.code != "not_in_index" for loss in told.losses)
    if told.balanced:
        assert told.index == entry.chunks


class Losing:
    """A pool whose parser drops blocks without a word: those on the places that the names of the sources say."""

    def __init__(self, parsed: Parsed, keep: list[bool]) -> None:
        kept = tuple(block for block, stays in zip(parsed.blocks, keep, strict=True) if stays)
        self.parsed = replace(parsed, blocks=kept)

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed]]:
        for one in sources:
            yield one, self.parsed


@settings(max_examples=12, deadline=None)
@given(paged(), st.data())
def test_a_document_is_ready_only_when_its_ledger_balances(parsed: Parsed, data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(parsed.blocks), max_size=len(parsed.blocks)))
    pool = Losing(parsed, keep)

    @contextmanager
    def opened(workers: int) -> Iterator[Losing]:
        del workers
        yield pool

    with TemporaryDirectory() as home:
        shelf = Shelf({"a.pdf": ("bytes", frozenset({"public"}))})
        parts = replace(quick_parts(Path(home), Shelves({"shelf": shelf})), make_pool=opened)
        with OpenCorpus(parts) as corpus:
            corpus.sync("shelf")
            (state,) = corpus.full_ledgers(corpus.documents(ledgers=True))
    assert state.ledger is not None
    whole = not fewer(parsed, pool.parsed.blocks)
    assert state.ledger.balanced is whole
    wanted = (
        DocumentStatus.EMPTY if not pool.parsed.blocks else DocumentStatus.READY if whole else DocumentStatus.PARTIAL
    )
    assert state.status is wanted
    assert (state.status is DocumentStatus.READY) or state.reason
    if state.chunks:
        assert state.ledger.index == state.ledger.chunks
