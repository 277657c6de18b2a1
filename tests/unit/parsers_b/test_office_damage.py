"""Office files damaged at random: a typed error or blocks, never another exception."""

from __future__ import annotations

import io
import zipfile

import docx
import openpyxl
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.errors import ParseError
from fonte.parsers.docx import DocxParser
from fonte.parsers.xlsx import XlsxParser
from fonte.types import Acl, Source


def _word() -> bytes:
    document = docx.Document()
    document.add_heading("Harbour", 1)
    document.add_paragraph("Boats pay.", style="List Number")
    document.add_table(rows=2, cols=2).cell(0, 0).text = "cell"
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _sheet() -> bytes:
    workbook = openpyxl.Workbook()
    for row in (["Boat", "Fee"], ["Cutter", 12.5], ["Barge", 40]):
        workbook.active.append(row)
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


WORD, SHEET = _word(), _sheet()
PIECE = st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=12))
DAMAGE = st.lists(PIECE, min_size=1, max_size=4)


def damaged(data: bytes, damage) -> bytes:
    changed = bytearray(data)
    for share, piece in damage:
        at = int(share * len(changed))
        changed[at : at + len(piece)] = piece
    return bytes(changed)


def with_part(data: bytes, part: str, damage) -> bytes:
    """The package with one part damaged inside, so that its checksum is right and its XML is not."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            new.writestr(name, damaged(body, damage) if name == part else body)
    return buffer.getvalue()


def read(parser, body: bytes) -> None:
    try:
        parsed = parser.parse(Source("file:///a", "a", "0", Acl(), body=body))
    except ParseError:
        return
    assert parsed.blocks or parsed.empty_reason


@given(DAMAGE, st.sampled_from(["", "word/document.xml", "word/numbering.xml", "word/styles.xml", "_rels/.rels"]))
@settings(max_examples=120, deadline=None)
def test_word_files(damage, part):
    read(DocxParser(), with_part(WORD, part, damage) if part else damaged(WORD, damage))


@given(DAMAGE, st.sampled_from(["", "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml"]))
@settings(max_examples=150, deadline=None)
def test_workbooks(damage, part):
    read(XlsxParser(), with_part(SHEET, part, damage) if part else damaged(SHEET, damage))


@given(st.sampled_from(["r", "s", "t"]), st.text("ABXZ019-. ", max_size=9))
@settings(max_examples=80, deadline=None)
def test_cells_with_odd_attributes(name, value):
    cell = f'<c {name}="{value}"><v>1</v></c>'
    sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>{cell}</row></sheetData></worksheet>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(SHEET)) as old, zipfile.ZipFile(buffer, "w") as new:
        for part in old.namelist():
            new.writestr(part, sheet if part == "xl/worksheets/sheet1.xml" else old.read(part))
    read(XlsxParser(), buffer.getvalue())
