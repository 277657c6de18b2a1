"""The XLSX parser on workbooks made here: rows, ranges, tables, shown values, losses, guards."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import date, datetime, time

import openpyxl
import pytest
from openpyxl.comments import Comment

from fonte.errors import ParseError
from fonte.parsers.xlsx import XlsxParser
from fonte.parsers.xlsx.parser import shown
from fonte.types import Acl, BlockKind, Parsed, Source


def saved(workbook) -> bytes:
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def book(**sheets) -> bytes:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return saved(workbook)


def parse(body: bytes) -> Parsed:
    return XlsxParser().parse(Source("file:///a.xlsx", "a.xlsx", "0", Acl(), body=body))


def rows_of(parsed: Parsed):
    return [block for block in parsed.blocks if block.kind is BlockKind.ROW]


BOATS = [["Boat", "Fee", "Since"], ["Cutter", 12.5, date(2024, 3, 1)], ["Barge", 40, date(2025, 1, 15)]]


def test_a_sheet_is_a_heading_and_rows_with_names_beside_values():
    parsed = parse(book(Fees=BOATS))
    assert [(b.kind, b.level, b.text, b.header) for b in parsed.blocks] == [
        (BlockKind.HEADING, 1, "Fees", False),
        (BlockKind.ROW, 0, "Boat | Fee | Since", True),
        (BlockKind.ROW, 0, "Boat: Cutter; Fee: 12.5; Since: 2024-03-01", False),
        (BlockKind.ROW, 0, "Boat: Barge; Fee: 40; Since: 2025-01-15", False),
    ]
    places = [block.places[0] for block in parsed.blocks]
    assert [(place.sheet, place.range) for place in places] == [
        ("Fees", None),
        ("Fees", "A1:C1"),
        ("Fees", "A2:C2"),
        ("Fees", "A3:C3"),
    ]
    assert [(place.start, place.end) for place in places] == [(0, len(block.text)) for block in parsed.blocks]


def test_case_25_one_value_in_c7():
    workbook = openpyxl.Workbook()
    workbook.active.title = "Sheet1"
    workbook.active["C7"] = "Harbour"
    (row,) = rows_of(parse(saved(workbook)))
    assert (row.text, row.places[0].sheet, row.places[0].range) == ("Harbour", "Sheet1", "C7")


def test_case_80_two_sheets_of_ten_rows_are_twenty():
    sheet = [["Name", "Value"], *([f"n{number}", number] for number in range(9))]
    parsed = parse(book(One=sheet, Two=sheet))
    assert parsed.source_counts.rows == 20
    assert len(rows_of(parsed)) == 20
    assert {block.table for block in rows_of(parsed)} == {0, 1}


def test_case_77_and_82_every_cell_of_every_row():
    parsed = parse(book(S=[["A", "B", "C"], ["a1", "b1", "c1"], ["a2", None, "c2"]]))
    assert [block.text for block in rows_of(parsed)] == ["A | B | C", "A: a1; B: b1; C: c1", "A: a2; C: c2"]
    assert rows_of(parsed)[2].places[0].range == "A3:C3"


def test_blank_rows_separate_tables_and_each_finds_its_header():
    parsed = parse(book(S=[["x", "y"], [1, 2], [], [], ["p", "q"], [3, 4]]))
    assert [(block.text, block.table, block.places[0].range) for block in rows_of(parsed)] == [
        ("x | y", 0, "A1:B1"),
        ("x: 1; y: 2", 0, "A2:B2"),
        ("p | q", 1, "A5:B5"),
        ("p: 3; q: 4", 1, "A6:B6"),
    ]


def test_a_title_above_the_header_is_no_header():
    parsed = parse(book(S=[["Fees of 2025"], *BOATS]))
    assert [(block.text, block.header) for block in rows_of(parsed)][:3] == [
        ("Fees of 2025", False),
        ("Boat | Fee | Since", True),
        ("Boat: Cutter; Fee: 12.5; Since: 2024-03-01", False),
    ]


def test_a_list_in_one_column_has_no_header():
    assert [block.text for block in rows_of(parse(book(S=[["rope"], ["salt"], ["fish"]])))] == ["rope", "salt", "fish"]


def test_numbers_without_a_header_stay_plain():
    parsed = parse(book(S=[[1, 2], [3, 4]]))
    assert [block.text for block in rows_of(parsed)] == ["1 | 2", "3 | 4"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (26.0, "26"),
        (0.1 + 0.2, "0.3"),
        (1234567.5, "1234567.5"),
        (-0.0, "-0"),
        (1e20, "100000000000000000000"),
        (1e300, "1e+300"),
        (0.00001, "0.00001"),
        (True, "TRUE"),
        (False, "FALSE"),
        ("a\n b ", "a b"),
        ("", ""),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29), "2024-02-29"),  # noqa: DTZ001 - sheets know no zone
        (datetime(2024, 2, 29, 9, 5), "2024-02-29 09:05:00"),  # noqa: DTZ001 - nor here
        (time(9, 5), "09:05:00"),
    ],
)
def test_values_as_people_read_them(value, text):
    assert shown(value) == text


def test_hidden_sheets_are_kept_and_told():
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "seen"
    hidden = workbook.create_sheet("Secret")
    hidden["A1"] = "unseen"
    hidden.sheet_state = "hidden"
    parsed = parse(saved(workbook))
    assert "unseen" in [block.text for block in parsed.blocks]
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("hidden_sheet", 1)]
    assert "Secret" in parsed.losses[0].message


def test_formulas_without_a_result_and_comments_are_told():
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = 1
    workbook.active["B2"] = "=A1*2"
    workbook.active["A1"].comment = Comment("why", "me")
    losses = {loss.code: loss for loss in parse(saved(workbook)).losses}
    assert losses["formula_without_value"].count == 1
    assert "B2" in losses["formula_without_value"].message
    assert losses["comments"].count == 1


def test_an_empty_workbook_is_empty():
    parsed = parse(saved(openpyxl.Workbook()))
    assert (parsed.blocks, parsed.empty_reason) == ((), "empty")


def test_a_far_cell_is_read_and_keeps_its_range():
    workbook = openpyxl.Workbook()
    workbook.active.title = "S"
    workbook.active["A1"] = 5
    workbook.active["A2"] = date(2024, 5, 1)
    workbook.active["XFD1048576"] = "far"
    parsed = parse(saved(workbook))
    assert [(row.text, row.places[0].range) for row in rows_of(parsed)] == [
        ("5", "A1"),
        ("2024-05-01", "A2"),
        ("far", "XFD1048576"),
    ]
    assert parsed.source_counts.rows == 3


def test_too_many_cells_are_a_parse_error(monkeypatch):
    monkeypatch.setattr("fonte.parsers.xlsx.extents.MAX_AREA", 3)
    with pytest.raises(ParseError, match="more than 3 cells"):
        parse(book(S=[[1, 2], [3, 4]]))


def edited(body: bytes, part: str, pattern: bytes, by: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, re.sub(pattern, by, data, count=1) if name == part else data)
    return buffer.getvalue()


def test_cells_without_references_are_counted_by_position():
    body = edited(book(S=BOATS), "xl/worksheets/sheet1.xml", rb' r="B2"', b"")
    assert rows_of(parse(body))[1].text.startswith("Boat: Cutter; Fee: 12.5")


@pytest.mark.parametrize(
    ("part", "pattern", "by"),
    [
        ("xl/worksheets/sheet1.xml", rb"</sheetData>", b""),
        ("xl/workbook.xml", rb"<workbook", b"<!DOCTYPE w [<!ENTITY a 'b'>]><workbook"),
    ],
)
def test_damaged_parts_are_parse_errors(part, pattern, by):
    with pytest.raises(ParseError):
        parse(edited(book(S=BOATS), part, pattern, by))


@pytest.mark.parametrize("body", [b"", b"PK", b"a,b\n1,2\n"])
def test_what_is_no_workbook_is_a_parse_error(body):
    with pytest.raises(ParseError):
        parse(body)


def test_counts_are_the_source_and_not_the_blocks():
    counts = parse(book(S=[["Boat", "Fee"], ["Cutter", 12.5]])).source_counts
    assert (counts.characters, counts.numbers, counts.rows) == (len("BoatFeeCutter12.5"), 1, 2)


def test_tables_side_by_side_each_have_their_own_names():
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row, cells in enumerate([("Item", "Price"), ("Gasket", 17), ("Valve", 23), ("Door", 104)], 2):
        for column, value in enumerate(cells, 2):
            sheet.cell(row, column, value)
    for row, cells in enumerate([("Town", "Staff"), ("Ponza", 4)], 4):
        for column, value in enumerate(cells, 6):
            sheet.cell(row, column, value)
    parsed = parse(saved(workbook))
    assert [(block.text, block.places[0].range) for block in parsed.blocks[1:]] == [
        ("Item | Price", "B2:C2"),
        ("Item: Gasket; Price: 17", "B3:C3"),
        ("Item: Valve; Price: 23", "B4:C4"),
        ("Item: Door; Price: 104", "B5:C5"),
        ("Town | Staff", "F4:G4"),
        ("Town: Ponza; Staff: 4", "F5:G5"),
    ]
    assert [block.table for block in parsed.blocks[1:]] == [0, 0, 0, 0, 1, 1]


def test_a_form_with_an_empty_column_stays_one_table():
    workbook = openpyxl.Workbook()
    for row in (("Voltage", None, 130), ("Frequency", None, 50), ("Phases", None, 3)):
        workbook.active.append(row)
    assert [block.text for block in parse(saved(workbook)).blocks[1:]] == [
        "Voltage | 130",
        "Frequency | 50",
        "Phases | 3",
    ]
