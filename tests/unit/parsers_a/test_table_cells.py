"""Cells of rows: a table can be had back, exactly, from the canonical text."""

from __future__ import annotations

import io
import json

import pytest
from docx import Document as Docx
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from fonte.parsers.codec import decode_parsed, encode_parsed
from fonte.parsers.registry import parse_body
from fonte.parsers.tables import one_line, table_blocks
from fonte.text.canonical import canonicalise
from fonte.types import Acl, BlockKind, Parsed, Source, sha256_hex

HEADER = ["Article", "Note", "Price"]
ROWS = [["Bolt", "M8; Price: 99", "1.50"], ["Nut", "", "2"], ["", "loose | mixed", "3"]]


def source(body: bytes, name: str) -> Source:
    return Source("mem:" + name, name, sha256_hex(body), Acl(frozenset({"public"})), body=body)


def grid(body: bytes, name: str) -> list[dict[int, str]]:
    parsed = decode_parsed(encode_parsed(parse_body(source(body, name))))
    document = canonicalise(parsed, source(body, name), tenant="t")
    rows = []
    for span in document.spans:
        if span.kind is BlockKind.ROW:
            cells = [cell for cell in document.cells if span.start <= cell.start and cell.end <= span.end]
            rows.append({cell.column: document.text[cell.start : cell.end] for cell in cells})
    return rows


def wanted() -> list[dict[int, str]]:
    return [{column: text for column, text in enumerate(row) if text} for row in [HEADER, *ROWS]]


def xlsx() -> bytes:
    book = Workbook()
    for row in [HEADER, *ROWS]:
        book.active.append([cell or None for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def docx() -> bytes:
    document = Docx()
    table = document.add_table(rows=0, cols=3)
    for row in [HEADER, *ROWS]:
        for cell, text in zip(table.add_row().cells, row):
            cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def markup() -> bytes:
    rows = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in ROWS)
    head = "".join(f"<th>{name}</th>" for name in HEADER)
    return f"<!doctype html><html><body><table><tr>{head}</tr>{rows}</table></body></html>".encode()


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("\n".join("\t".join(row) for row in [HEADER, *ROWS]).encode(), "a.tsv"),
        (markup(), "a.html"),
        (xlsx(), "a.xlsx"),
        (docx(), "a.docx"),
    ],
)
def test_every_cell_of_a_table_is_its_own_slice_of_the_canonical_text(body: bytes, name: str) -> None:
    assert grid(body, name) == wanted()


def test_cells_of_records_stand_in_the_columns_of_their_names() -> None:
    records = [{"a": "1", "b": "x; a: 9"}, {"b": "2", "c": {"d": "3"}}]
    assert grid(json.dumps(records).encode(), "a.json") == [{0: "1", 1: "x; a: 9"}, {1: "2", 2: "3"}]


def test_rows_under_an_amount_that_reaches_over_rows_tell_no_cells() -> None:
    body = b"<table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td rowspan=2>5</td></tr><tr><td>y</td></tr></table>"
    assert grid(b"<!doctype html><html><body>" + body + b"</body></html>", "a.html") == [{}, {}, {}]


@given(
    st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=4), min_size=1, max_size=5),
    st.sampled_from([True, False, None]),
)
def test_cells_are_the_grid_whatever_it_holds(rows: list[list[str]], header: bool | None) -> None:
    blocks = table_blocks(rows, table=0, header=header)
    back = decode_parsed(encode_parsed(Parsed(tuple(blocks), "x/1"))).blocks
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    found = [{cell.column: block.text[cell.start : cell.end] for cell in block.cells} for block in back]
    assert found == [{at: said for at, cell in enumerate(row) if (said := one_line(cell))} for row in filled]
