"""Slides, books and mails made of random texts: every chunk is its slice, its place the right one, nothing is lost."""

from __future__ import annotations

import sys
from email.message import EmailMessage
from pathlib import Path
from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "parsers_c"))
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.ledger import balance
from fonte.text.locate import fragment, locate
from fonte.types import Acl, Chunk, ChunkingRecipe, Document, Source, sha256_hex
from pptx_making import deck, shape, slide, table, title
from strategies import WordTokenizer, recipe
from test_epub_parser import book, page

WINDOW = 64
words = st.text(st.sampled_from("abcdefgàèé"), min_size=1, max_size=7)
sentences = st.lists(words, min_size=1, max_size=12).map(" ".join)
names = st.lists(words, min_size=1, max_size=4).map(" ".join)
"""Headings that a chunk's header holds whole."""
many = st.lists(sentences, min_size=1, max_size=5)


def read(body: bytes, name: str) -> tuple[Document, list[Chunk]]:
    """The document and its chunks, both looked over."""
    source = Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)
    parsed = parse_body(source)
    document = canonicalise(parsed, source, tenant="t")
    chunking = ChunkingRecipe(size=40)
    chunks = list(make_chunker(recipe(chunking, WINDOW), WordTokenizer(WINDOW)).chunk(document))
    assert chunks
    for chunk in chunks:
        assert chunk.content == document.text[chunk.start : chunk.end]
    ledger = balance(parsed, document, chunks, window=WINDOW)
    assert ledger.balanced, ledger.losses
    return document, chunks


@given(st.lists(st.tuples(names, many), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None)
def test_slides(slides: list[tuple[str, list[str]]]) -> None:
    body = deck(
        *(
            slide(
                title(f"{name} t{number}"),
                *(shape(f"{text} s{number}", at=(1, 1 + at)) for at, text in enumerate(texts)),
                table([["One", "Two"], [texts[0], f"c s{number}"]]),
            )
            for number, (name, texts) in enumerate(slides, 1)
        )
    )
    document, chunks = read(body, "deck.pptx")
    for number, (_, texts) in enumerate(slides, 1):
        assert document.text.count(f" s{number}") == len(texts) + 1
        start = document.text.index(f" s{number}")
        locator = locate(document, start, start + 3)
        assert (locator.slide, fragment(document, locator)) == (number, f"#slide={number}")
    for chunk in chunks:
        slides_of = {place.slide for place in document.places if place.start < chunk.end and chunk.start < place.end}
        assert locate(document, chunk.start, chunk.end).slide in slides_of


@given(st.lists(st.tuples(names, many), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None)
def test_books(chapters: list[tuple[str, list[str]]]) -> None:
    parts = {
        f"c{number}.xhtml": page(
            f'<h1 id="h">{escape(name)}</h1>' + "".join(f"<p>{escape(text)} e{number}</p>" for text in texts)
        )
        for number, (name, texts) in enumerate(chapters, 1)
    }
    document, _ = read(book(parts), "book.epub")
    for number in range(1, len(chapters) + 1):
        start = document.text.index(f" e{number}")
        assert locate(document, start, start + 3).anchor == f"OEBPS/c{number}.xhtml#h"


@given(names, many, st.booleans())
@settings(max_examples=12, deadline=None)
def test_mails(subject: str, texts: list[str], rich: bool) -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = subject, "ada@example.com"
    if rich:
        message.set_content("".join(f"<p>{escape(text)}</p>" for text in texts), subtype="html")
    else:
        message.set_content("\n\n".join(texts))
    document, _ = read(message.as_bytes(), "m.eml")
    assert document.title == subject
    for text in texts:
        assert text in " ".join(document.text.split())
