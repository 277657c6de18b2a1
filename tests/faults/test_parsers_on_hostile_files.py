"""Hostile input of every text-like kind: right text or a typed error, within seconds, and the next one is read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from fonte.errors import FonteError, ParseError, UnsupportedMediaType
from fonte.parsers.pool import ParserPool
from fonte.sources.folder import FolderSource
from fonte.types import Acl, Parsed, Source, sha256_hex

SHARED = Path(__file__).parents[3] / "shared" / "data"
NASTY = {
    "quotes.md": b"> " * 300 + b"deep words",
    "brackets.md": b"[" * 5000 + b"a" + b"]" * 5000,
    "emphasis.md": b"*a " * 5000 + b"b* " * 5000,
    "ticks.md": b"".join(b"`" * at + b"x" for at in range(1, 200)),
    "lists.md": b"".join(b"  " * at + b"- item\n" for at in range(150)),
    "comment.html": b"<!-" * 5000 + b"text",
    "signs.html": b"<" * 20_000 + b"text",
    "tables.html": b"<table><tr><td>cell" * 1000,
    "attributes.html": b"<a " + b"x=y " * 20_000 + b">hello",
    "closing.html": b"<i>" * 5000 + b"x" + b"</b></i></p>" * 5000,
    "deep.json": b"[" * 50_000 + b"]" * 50_000,
    "object.json": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "number.json": b'{"a": ' + b"9" * 10_000 + b"}",
    "quote.csv": b"a,b\n" + b'"x,1\n' * 2001,
    "wide.csv": b",".join(b"c%d" % at for at in range(5000)) + b"\n" + b",".join(b"%d" % at for at in range(5000)),
    "spaces.txt": b" " * 500_000 + b"x" + b" " * 500_000,
    "lines.txt": b"\n" * 500_000 + b"x",
    "turns.vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + b"<v A><v B>x" * 5000,
    "arrows.srt": b"00:00:01,000 --> 00:00:02,000\n" * 20_000,
    "tags.vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + b"<" * 20_000 + b"said",
    "stars.adoc": b"*a _b `c " * 3000,
    "fences.adoc": b"".join(b"=" * at + b"\n" for at in range(4, 300)) + b"said",
    "columns.adoc": b"[cols=999999999*]\n|===\n|said\n|===\n",
    "lists.rst": b"".join(b"  " * at + b"- item\n\n" for at in range(200)),
    "stars.rst": b"*a `b |c " * 1000,
    "roles.rst": b"".join(b":r%d:`x` " % at for at in range(3000)),
    "grid.rst": b"+" + b"-+" * 2000 + b"\n|" + b"x|" * 2000 + b"\n+" + b"-+" * 2000 + b"\n",
    "cells.ipynb": b'{"nbformat": 4, "cells": [' + b'{"cell_type": "markdown", "source": "> > said"},' * 3000 + b"{}]}",
    "deep.ipynb": b'{"nbformat": 4, "cells": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "half.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xff\xff\x7f\xff\xff\xff\x7f\x08\0\0\0\0",
    "loop.tif": b"II*\0\x08\0\0\0\0\0\x08\0\0\0",
    "old.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 600 + "Workbook".encode("utf-16-le") + b"\xff" * 600,
    "names.pdf": b"not a pdf",
    "half.pdf": b"%PDF-1.4\n1 0 obj\n<<",
    "zip.docx": b"PK\x03\x04" + b"\0" * 100,
}


@pytest.fixture(scope="module")
def parsers() -> Iterator[ParserPool]:
    with ParserPool(workers=2, timeout_seconds=20) as made:
        yield made


def source(body: bytes, name: str) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def check(outcome: Parsed | FonteError) -> None:
    """A typed error, or text that is not empty without a reason."""
    if isinstance(outcome, Parsed):
        assert outcome.blocks or outcome.empty_reason
        assert outcome.source_counts.words == 0 or outcome.blocks
    else:
        assert isinstance(outcome, ParseError | UnsupportedMediaType)
        assert outcome.message


def test_made_up_hostile_files_end_in_text_or_a_typed_error(parsers: ParserPool) -> None:
    outcomes = list(parsers.parse_many(source(body, name) for name, body in NASTY.items()))
    assert [taken.name for taken, _ in outcomes] == list(NASTY)
    for _, outcome in outcomes:
        check(outcome)
    found = {taken.name: outcome for taken, outcome in outcomes}
    for name in (
        "quotes.md",
        "brackets.md",
        "lists.md",
        "signs.html",
        "tables.html",
        "closing.html",
        "spaces.txt",
        "wide.csv",
        "turns.vtt",
        "arrows.srt",
        "tags.vtt",
        "stars.adoc",
        "fences.adoc",
        "columns.adoc",
        "lists.rst",
        "stars.rst",
        "roles.rst",
        "grid.rst",
        "cells.ipynb",
    ):
        assert isinstance(found[name], Parsed), (name, found[name])


def test_random_bytes_under_every_name(parsers: ParserPool) -> None:
    draw = random.Random(7)
    endings = (".md", ".html", ".csv", ".json", ".jsonl", ".txt", ".tsv", ".rst", ".adoc", ".vtt", ".ipynb", "")
    junk = [source(draw.randbytes(draw.randint(1, 400)), f"{at}{ending}") for at in range(10) for ending in endings]
    soup = [
        source("".join(draw.choices("<>/ab \"'=&;#*_`[]{}(),:|\n\\-0", k=300)).encode(), f"s{at}{ending}")
        for at in range(10)
        for ending in endings
    ]
    for _, outcome in parsers.parse_many(junk + soup):
        check(outcome)


@pytest.mark.parametrize("folder", ["parsing/nasty_other", "docs-formats"])
def test_shared_files_end_in_text_or_a_typed_error(folder: str, parsers: ParserPool) -> None:
    root = SHARED / folder
    if not root.is_dir():
        pytest.skip("the shared data is not here")
    wanted = ["*.md", "*.html", "*.csv", "*.json", "*.jsonl", "*.txt", "*.eml", "*.vtt", "*.pptx", "*.epub", "*.xls"]
    wanted += ["*.srt", "*.sbv", "*.ods", "*.ipynb", "*.asciidoc"]
    reader = FolderSource(root, include=wanted, exclude=["deep_div.html"])
    sources = [item for item in reader.scan() if isinstance(item, Source)]
    assert sources
    for taken, outcome in parsers.parse_many(sources):
        check(outcome)
        if isinstance(outcome, Parsed) and taken.name.endswith((".md", ".html", ".csv")):
            words = sum(len(block.text.split()) for block in outcome.blocks)
            assert words or outcome.empty_reason
