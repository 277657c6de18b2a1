"""XLS and ODS: sheets, ranges, what is hidden or has no value, and files that would not fit into memory."""

from __future__ import annotations

import datetime as dt
import io
import struct
import zipfile

import olefile
import pytest
import xlwt

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.registry import parse_body
from fonte.parsers.sheets import OdsParser, XlsParser
from fonte.parsers.sniff import ODS, XLS, sniff
from fonte.text.canonical import canonicalise
from fonte.text.ledger import balance
from fonte.text.locate import fragment, locate
from fonte.types import Acl, Chunk, Parsed, Source, sha256_hex


def source(body: bytes, name: str) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def texts(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks]


def losses(parsed: Parsed) -> dict[str, str]:
    return {loss.code: loss.message for loss in parsed.losses}


def xls(book: xlwt.Workbook) -> bytes:
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def prices() -> xlwt.Workbook:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Listino")
    for row, cells in enumerate([("Codice", "Prezzo", "Dal"), ("AB-1", 12.5, None), ("AB-2", 26.0, None)], 3):
        for column, value in enumerate(cells, 2):
            if value is not None:
                sheet.write(row, column, value)
    day = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    sheet.write(4, 4, dt.date(2024, 3, 1), day)
    hidden = book.add_sheet("Interno")
    hidden.visibility = 1
    hidden.write(0, 0, "Margine")
    hidden.write(0, 1, 30)
    book.add_sheet("Vuoto")
    return book


def test_xls_sheets_rows_ranges_and_what_is_hidden() -> None:
    parsed = XlsParser().parse(source(xls(prices()), "listino.xls"))
    assert texts(parsed) == [
        "Listino",
        "Codice | Prezzo | Dal",
        "Codice: AB-1; Prezzo: 12.5; Dal: 2024-03-01",
        "Codice: AB-2; Prezzo: 26",
        "Interno",
        "Margine | 30",
    ]
    assert [block.places[0].range for block in parsed.blocks[1:4]] == ["C4:E4", "C5:E5", "C6:D6"]
    assert losses(parsed) == {"hidden_sheet": "hidden sheets kept: Interno"}
    assert parsed.source_counts.rows == 4


def test_xls_places_and_books() -> None:
    taken = source(xls(prices()), "listino.xls")
    parsed = parse_body(taken)
    made = canonicalise(parsed, taken, tenant="default")
    at = made.text.index("AB-2")
    assert fragment(made, locate(made, at, at + 4)) == "#sheet=Listino&range=C6:D6"
    chunk = Chunk("c", made.id, 0, 0, len(made.text), made.text)
    assert balance(parsed, made, [chunk], window=512).balanced


def test_content_tells_a_workbook_whatever_it_is_called() -> None:
    assert sniff(xls(prices()), "listino.txt") == XLS
    assert sniff(ods(SHEETS), "listino.xlsx") == ODS


def test_xls_with_a_far_cell_is_refused_before_it_fills_memory() -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Far")
    sheet.write(0, 0, "near")
    sheet.write(65_535, 255, "far")
    with pytest.raises(ParseError, match="cells can be read"):
        XlsParser().parse(source(xls(book), "far.xls"))


def test_xls_that_lies_about_its_size_is_refused() -> None:
    body = xls(prices())
    right = struct.pack("<HH", 0x0200, 14)
    at = body.index(right) + 4
    lying = body[:at] + struct.pack("<IIHH", 0, 2**32 - 1, 0, 256) + body[at + 12 :]
    with pytest.raises(ParseError, match="cells can be read"):
        XlsParser().parse(source(lying, "lying.xls"))


def test_xls_under_a_password_is_encrypted() -> None:
    body = xls(prices())
    stream = olefile.OleFileIO(io.BytesIO(body)).openstream("Workbook").read()
    author = stream.index(struct.pack("<H", 0x005C), 20)
    record = stream[author : author + 4]
    at = body.index(record)
    with pytest.raises(EncryptedSource):
        XlsParser().parse(source(body[:at] + struct.pack("<H", 0x002F) + body[at + 2 :], "locked.xls"))


@pytest.mark.parametrize("size", [600, 2000, 4000])
def test_xls_cut_short_is_a_typed_error_or_text(size: int) -> None:
    try:
        parsed = XlsParser().parse(source(xls(prices())[:size], "cut.xls"))
    except ParseError as error:
        assert error.message
    else:
        assert parsed.blocks


SHEETS = """
<table:table table:name="Orari" table:style-name="ta1">
 <table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="3"/></table:table-row>
 <table:table-row><table:table-cell/>
  <table:table-cell office:value-type="string"><text:p>Linea</text:p></table:table-cell>
  <table:table-cell office:value-type="string"><text:p>Partenza</text:p></table:table-cell></table:table-row>
 <table:table-row><table:table-cell/>
  <table:table-cell office:value-type="float" office:value="12"><text:p>12</text:p></table:table-cell>
  <table:table-cell office:value-type="time" office:time-value="PT07H30M00S"><text:p>7.30</text:p></table:table-cell>
 </table:table-row>
 <table:table-row><table:table-cell/>
  <table:table-cell office:value-type="string"><office:annotation><text:p>a remark</text:p></office:annotation>
   <text:p>Navetta</text:p></table:table-cell>
  <table:table-cell table:formula="of:=[.B9]"/></table:table-row>
 <table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/>
 </table:table-row>
</table:table>
<table:table table:name="Nascosto" table:style-name="ta2">
 <table:table-row><table:table-cell office:value-type="string"><text:p>Segreto</text:p></table:table-cell>
  <table:table-cell office:value-type="float" office:value="3"><text:p>3</text:p></table:table-cell></table:table-row>
</table:table>
"""


def ods(sheets: str, *, manifest: str = "") -> bytes:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "style")
    )
    content = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content {spaces} office:version="1.2"><office:automatic-styles>
<style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style>
<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>
</office:automatic-styles><office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body>
</office:document-content>"""
    files = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", f"{files}{manifest}</manifest:manifest>")
    return data.getvalue()


def test_ods_sheets_rows_ranges_and_what_is_hidden_or_has_no_value() -> None:
    parsed = parse_body(source(ods(SHEETS), "orari.ods"))
    assert texts(parsed) == [
        "Orari",
        "Linea | Partenza",
        "Linea: 12; Partenza: 07:30:00",
        "Linea: Navetta",
        "Nascosto",
        "Segreto | 3",
    ]
    assert [block.places[0].range for block in parsed.blocks[1:4]] == ["B3:C3", "B4:C4", "B5"]
    told = losses(parsed)
    assert told["hidden_sheet"].endswith("Nascosto")
    assert told["formula_without_value"].endswith("Orari: C5")
    assert told["comments"].startswith("1 ")
    assert parsed.source_counts.rows == 4


def test_ods_whose_cells_repeat_without_end_is_refused() -> None:
    cell = '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16384"/>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    with pytest.raises(ParseError, match="cells can be read"):
        OdsParser().parse(source(ods(f'<table:table table:name="Bomb">{row}</table:table>'), "bomb.ods"))


def test_ods_under_a_password_is_encrypted() -> None:
    entry = '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>'
    with pytest.raises(EncryptedSource):
        OdsParser().parse(source(ods(SHEETS, manifest=entry), "locked.ods"))


def test_ods_that_is_empty_or_no_xml() -> None:
    parsed = OdsParser().parse(source(ods('<table:table table:name="A"/>'), "empty.ods"))
    assert (parsed.blocks, parsed.empty_reason) == ((), "empty")
    with pytest.raises(ParseError, match="well-formed"):
        OdsParser().parse(source(ods("<table:table"), "broken.ods"))
