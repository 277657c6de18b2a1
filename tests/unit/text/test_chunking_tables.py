"""Tables through chunking, over every format: rows read alone, whole, with names and caption, in their place."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import docx
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import LongTable, Paragraph, SimpleDocTemplate

from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.cells import cell_range
from fonte.text.locate import locate
from fonte.types import Acl, Block, BlockKind, Chunk, ChunkingRecipe, Document, Source, sha256_hex
from making import chunks, document, heading, paragraph, row

NAMES = ["Vessel", "Berth", "Fee"]
ROWS = [[f"Vessel{number}", f"Quay {number % 7}", f"{number}.50"] for number in range(1, 61)]
CAPTION = "Table 3. Fees of the north quay"


def as_csv() -> tuple[str, bytes]:
    return "fees.csv", "\n".join(",".join(cells) for cells in [NAMES, *ROWS]).encode()


def as_xlsx() -> tuple[str, bytes]:
    workbook, buffer = openpyxl.Workbook(), io.BytesIO()
    sheet = workbook.active
    sheet.title = "Fees"
    for at, cells in enumerate([NAMES, *ROWS]):
        for column, cell in enumerate(cells):
            sheet.cell(5 + at, 3 + column, cell)  # the table begins at C5
    workbook.save(buffer)
    return "fees.xlsx", buffer.getvalue()


def as_html() -> tuple[str, bytes]:
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for cells in ROWS)
    names = "".join(f"<th>{name}</th>" for name in NAMES)
    table = f"<table><caption>{CAPTION}</caption><tr>{names}</tr>{rows}</table>"
    return "fees.html", f"<html><body><h1>Port</h1><p>Fees are paid in advance.</p>{table}</body></html>".encode()


def as_markdown() -> tuple[str, bytes]:
    rows = "\n".join("| " + " | ".join(cells) + " |" for cells in [NAMES, ["---"] * 3, *ROWS])
    return "fees.md", f"# Port\n\nFees are paid in advance.\n\n{CAPTION}\n\n{rows}\n".encode()


def as_docx() -> tuple[str, bytes]:
    made, buffer = docx.Document(), io.BytesIO()
    made.add_heading("Port", 1)
    made.add_paragraph(CAPTION, style="Caption")
    table = made.add_table(rows=0, cols=3)
    for cells in [NAMES, *ROWS]:
        for cell, text in zip(table.add_row().cells, cells, strict=True):
            cell.text = text
    made.save(buffer)
    return "fees.docx", buffer.getvalue()


def as_pdf() -> tuple[str, bytes]:
    buffer, styles = io.BytesIO(), getSampleStyleSheet()
    grid = LongTable([NAMES, *ROWS], repeatRows=1, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
    story = [Paragraph("Port", styles["Heading1"]), Paragraph(CAPTION, styles["Normal"]), grid]
    SimpleDocTemplate(buffer, pagesize=A4, invariant=1).build(story)
    return "fees.pdf", buffer.getvalue()


FORMATS: Sequence[Callable[[], tuple[str, bytes]]] = (as_csv, as_xlsx, as_html, as_markdown, as_docx, as_pdf)
WITH_CAPTION = (as_html, as_markdown, as_docx, as_pdf)


@cache
def made_as(form: Callable[[], tuple[str, bytes]]) -> Document:
    return read(*form())


def read(name: str, body: bytes) -> Document:
    source = Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)
    return canonicalise(parse_body(source), source, tenant="t")


def data_lines(made: Sequence[Chunk]) -> list[str]:
    return [line for chunk in made for line in chunk.content.split("\n") if line.startswith("Vessel: ")]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("size", [60, 120])
def test_case_76_every_row_is_read_alone_and_every_piece_has_the_names(form, size: int) -> None:
    made = chunks(made_as(form), ChunkingRecipe(size=size))
    assert data_lines(made) == [f"Vessel: {a}; Berth: {b}; Fee: {c}" for a, b, c in ROWS]
    with_rows = [chunk for chunk in made if "Vessel: " in chunk.content]
    assert len(with_rows) > 3
    for chunk in with_rows:
        # What a page repeats in the middle of a piece says nothing of the rows above it.
        assert "Vessel | Berth | Fee" in (chunk.context + chunk.content).split("Vessel: ")[0]


@pytest.mark.parametrize("form", WITH_CAPTION)
def test_the_caption_stands_in_the_header_of_every_piece_of_its_table(form) -> None:
    made = chunks(made_as(form), ChunkingRecipe(size=80))
    with_rows = [chunk for chunk in made if "Vessel: " in chunk.content]
    for chunk in with_rows:
        assert (CAPTION in chunk.content) != (CAPTION in chunk.context)
        assert chunk.tokens <= 80
    assert sum(CAPTION in chunk.context for chunk in with_rows) >= len(with_rows) - 1
    prose = [chunk for chunk in made if "in advance" in chunk.content and "Vessel: " not in chunk.content]
    assert all(CAPTION not in chunk.context for chunk in prose)


@pytest.mark.parametrize(("form", "first", "column"), [(as_csv, 0, 0), (as_xlsx, 4, 2)])
def test_case_25_the_place_is_that_of_the_chunks_own_rows(form, first: int, column: int) -> None:
    doc = made_as(form)
    with_rows = 0
    for chunk in chunks(doc, ChunkingRecipe(size=60)):
        numbers = [int(number) for number in re.findall(r"Vessel: Vessel(\d+)", chunk.content)]
        if not numbers:
            continue
        with_rows += 1
        top = 0 if "Vessel | Berth" in chunk.content else min(numbers)
        place = locate(doc, chunk.start, chunk.end)
        if form is as_xlsx:
            assert place.range == cell_range(first + top, column, first + max(numbers), column + 2)
        else:
            assert place.lines == (first + top + 1, first + max(numbers) + 1)
    assert with_rows > 1


def test_case_9_a_row_is_on_the_page_that_it_is_printed_on() -> None:
    doc = made_as(as_pdf)
    pages = set()
    for chunk in chunks(doc, ChunkingRecipe(size=60)):
        place = locate(doc, chunk.start, chunk.end)
        pages.add(place.page)
        # The column names that every page repeats, and that the header tells, move no place.
        words = [one for one in doc.places if chunk.start <= one.start < chunk.end]
        assert place.page == words[0].page
    assert len(pages) > 1


@pytest.mark.parametrize("unit", ["tokens", "characters"])
@pytest.mark.parametrize("overlap", [0, 20])
@pytest.mark.parametrize("window", [64, 512])
@pytest.mark.parametrize("form", [as_csv, as_pdf])
def test_no_chunk_begins_or_ends_inside_a_row_that_fits(form, unit, overlap: int, window: int) -> None:
    doc = made_as(form)
    size = 60 if unit == "tokens" else 900
    made = chunks(doc, ChunkingRecipe("boundaries", size, overlap, unit=unit), window)
    rows = [span for span in doc.spans if span.kind is BlockKind.ROW]
    assert len(rows) > len(made) > 1
    for chunk in made:
        for span in rows:
            assert not span.start < chunk.start < span.end
            assert not span.start < chunk.end < span.end


def test_only_a_row_that_is_longer_than_the_budget_is_cut() -> None:
    long = "; ".join(f"C{number}: {'word ' * 6}".strip() for number in range(30))
    doc = document(row("A | B", header=True), row("A: 1; B: 2"), row(long), row("A: 3; B: 4"))
    made = chunks(doc, ChunkingRecipe(size=40))
    assert all(chunk.tokens <= 40 for chunk in made)
    assert sum("A: 1; B: 2" in chunk.content for chunk in made) == 1
    assert sum("A: 3; B: 4" in chunk.content for chunk in made) == 1
    assert " ".join(chunk.content for chunk in made).split() == doc.text.split()


def caption(text: str) -> Block:
    return Block(BlockKind.CAPTION, text)


def contexts(*blocks: Block) -> dict[str, str]:
    """The header of the chunk that holds each row, by the row's first word."""
    made = chunks(document(*blocks), ChunkingRecipe(size=32))
    return {word: chunk.context for chunk in made for word in re.findall(r"^r\d+", chunk.content, re.MULTILINE)}


def rows_of(table: int, *words: str) -> list[Block]:
    """Rows of which no two fit in one chunk."""
    filling = "; ".join(f"w{number}" for number in range(9))
    return [row(f"{word} {filling}", table=table) for word in words]


def test_captions_above_belong_to_the_table_below_them_and_captions_below_to_the_one_above() -> None:
    one, two = rows_of(0, "r1", "r2"), rows_of(1, "r3", "r4")
    above = contexts(heading("T"), caption("First"), *one, caption("Second"), *two)
    assert (above["r2"], above["r4"]) == ("[T]\nFirst", "[T]\nSecond")
    below = contexts(heading("T"), *one, caption("First"), *two, caption("Second"))
    assert (below["r1"], below["r3"]) == ("[T]\nFirst", "[T]\nSecond")


def test_a_caption_or_a_row_of_names_does_not_end_a_chunk_when_it_fits_with_its_rows() -> None:
    first = [paragraph("Some words before the table."), caption("Second"), row("A | B", header=True)]
    made = chunks(document(heading("T"), *first, *rows_of(0, "r1")), ChunkingRecipe(size=32))
    assert [chunk.content.split("\n")[0] for chunk in made] == ["Some words before the table.", "Second"]


@pytest.mark.parametrize(
    ("said", "tied"),
    [
        ("Tabella 2 - Tariffe", True),
        ("Table IV: fees", True),
        ("Tables are useful.", False),
        ("Figure 2. The quay", False),
        ("Table 2 shows " + "many things and " * 40, False),
    ],
)
def test_a_paragraph_is_a_caption_when_it_says_so(said: str, tied: bool) -> None:
    found = contexts(heading("T"), paragraph(said), *rows_of(0, "r1", "r2"))
    assert (said in found["r2"]) == tied


def test_the_caption_of_a_figure_explains_no_table() -> None:
    found = contexts(heading("T"), caption("Figure 1. The quay"), *rows_of(0, "r1", "r2"))
    assert "Figure" not in found["r2"]


def test_column_names_and_caption_share_half_the_budget() -> None:
    names = " | ".join(f"Name{number}" for number in range(40))
    doc = document(heading("T"), caption("Long " * 40), row(names, header=True), *rows_of(0, "r1"))
    last = chunks(doc, ChunkingRecipe(size=60))[-1]
    assert last.tokens <= 60
    assert "Long" in last.context
    assert "Name0" in last.context


cells = st.lists(st.text("abc def,;:|\n\"'1", max_size=12), min_size=2, max_size=4)


@given(st.lists(cells, min_size=2, max_size=12))
@settings(max_examples=40, deadline=None)
def test_the_rows_of_any_csv_are_whole_in_some_chunk(table: list[list[str]]) -> None:
    body = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in cells) for cells in table).encode()
    doc = read("any.csv", body)
    made = chunks(doc, ChunkingRecipe(size=64))
    for span in doc.spans:
        if span.kind is BlockKind.ROW and re.search(r"\w", doc.text[span.start : span.end]):
            assert any(chunk.start <= span.start and span.end <= chunk.end for chunk in made)


REPORT = Path(__file__).resolve().parents[4] / "shared" / "data" / "parsing" / "made" / "report.pdf"


@pytest.mark.skipif(not REPORT.is_file(), reason="../shared/data/parsing is not here")
def test_all_180_rows_of_the_report_are_whole_and_told_their_caption_and_column_names() -> None:
    doc = read("report.pdf", REPORT.read_bytes())
    made = chunks(doc, ChunkingRecipe())
    rows = [span for span in doc.spans if span.kind is BlockKind.ROW and not span.header]
    assert len(rows) == 180
    captions = set()
    for span in rows:
        (holder,) = [chunk for chunk in made if chunk.start <= span.start and span.end <= chunk.end]
        assert "Code | Region | Units sold | Revenue EUR" in holder.text
        captions |= set(re.findall(r"Table \d: [^\n]*", holder.text))
    assert len(captions) == 4
