"""Rows that can be understood alone, and CSV."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.parsers.csv_tsv import CsvParser
from fonte.parsers.tables import is_number, looks_like_header, row_line, table_blocks
from fonte.text.cells import cell_range, column_letters, column_number
from fonte.types import Acl, Parsed, Place, Source


def parse(body: bytes, media_type: str = "text/csv") -> Parsed:
    return CsvParser().parse(Source("file:///a.csv", "a.csv", "h", Acl(), body=body, media_type=media_type))


def texts(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks]


def test_case_77_three_columns_and_every_cell() -> None:
    blocks = table_blocks([["Name", "Days", "Note"], ["Ada", "26", "x"], ["Bo", "", "y\nz"]], table=3)
    assert [(block.text, block.header, block.table) for block in blocks] == [
        ("Name | Days | Note", True, 3),
        ("Name: Ada; Days: 26; Note: x", False, 3),
        ("Name: Bo; Note: y z", False, 3),
    ]


@given(
    st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=5), min_size=1, max_size=6),
    st.sampled_from([True, False, None]),
)
def test_no_cell_is_ever_lost(rows: list[list[str]], header: bool | None) -> None:
    blocks = table_blocks(rows, table=0, header=header)
    kept = [row for row in rows if any(map(str.strip, row))]
    assert len(blocks) == len(kept)
    for block, row in zip(blocks, kept, strict=True):
        assert "\n" not in block.text
        assert all(" ".join(cell.split()) in block.text for cell in row)


def test_case_25_ranges_in_a1_notation() -> None:
    assert (column_letters(0), column_letters(25), column_letters(26), column_letters(16383)) == ("A", "Z", "AA", "XFD")
    assert all(column_number(column_letters(number)) == number for number in range(2000))
    assert cell_range(6, 2, 6, 2) == "C7"
    assert cell_range(1, 1, 8, 3) == "B2:D9"


def test_places_cover_their_rows() -> None:
    (block,) = table_blocks([["a", "b"]], table=0, header=False, places=[Place(0, 0, range="A1:B1")])
    assert (block.text, block.places[0].end, block.places[0].range) == ("a | b", 5, "A1:B1")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["Name", "Age"], ["Ada", "36"]], True),
        ([["Ada", "36"], ["Bo", "40"]], False),
        ([["Name", "Name"], ["a", "b"]], False),
        ([["Name", "Age"]], False),
        ([["Report"], ["Name", "Age"], ["Ada", "36"]], False),
        ([["A", ""], ["1", "2"]], False),
        ([["x" * 100, "y"], ["1", "2"]], False),
        ([["- tea - milk", "cups"], ["- bread", "knives"]], False),
    ],
)
def test_headers_are_told_from_data(rows: list[list[str]], expected: bool) -> None:
    assert looks_like_header(rows) is expected


def test_numbers_amounts_and_dates_are_numbers() -> None:
    assert all(map(is_number, ("1", "1.250,50 €", "-3%", "2024-01-05", "10:30", "$ 5", "(12)")))
    assert not any(map(is_number, ("Age", "Q1 2024", "art. 5", "")))


def test_a_cell_beyond_the_header_is_named_by_its_letter() -> None:
    assert row_line(["1", "2", "3"], ["A", "B"])[0] == "A: 1; B: 2; C: 3"


@pytest.mark.parametrize(
    "body",
    [
        b"nome,valore\nMario,1\nLuigi,2\n",
        b"nome;valore\r\nMario;1\r\nLuigi;2",
        b"nome\tvalore\rMario\t1\rLuigi\t2\r",
        b"nome|valore\n\nMario|1\n\nLuigi|2\n",
        b'"nome","valore"\n"Mario","1"\n"Luigi","2"\n',
        b"sep=;\nnome;valore\nMario;1\nLuigi;2\n",
        "nome,valore\nMario,1\nLuigi,2\n".encode("utf-16"),
    ],
)
def test_every_dialect_gives_the_same_rows(body: bytes) -> None:
    parsed = parse(body)
    assert texts(parsed) == ["nome | valore", "nome: Mario; valore: 1", "nome: Luigi; valore: 2"]
    assert parsed.source_counts.rows == 3


def test_a_decimal_comma_does_not_cut() -> None:
    assert texts(parse(b"voce;importo\nPane;1,50\nLatte;2,30\n"))[1] == "voce: Pane; importo: 1,50"


def test_case_92_latin_csv_is_read() -> None:
    assert texts(parse(b"Nome;Citt\xe0\nNicol\xf2;Forl\xec\n")) == ["Nome | Città", "Nome: Nicolò; Città: Forlì"]


def test_cells_keep_their_range_and_their_true_source_lines() -> None:
    parsed = parse(b'a,b\n1,"x\ny"\n\n2,z\n')
    assert [(block.places[0].range, block.places[0].lines) for block in parsed.blocks] == [
        ("A1:B1", (1, 1)), ("A2:B2", (2, 3)), ("A4:B4", (5, 5))
    ]  # fmt: skip
    assert texts(parsed)[1] == "a: 1; b: x y"


def test_ragged_rows_are_kept_and_told() -> None:
    parsed = parse(b"a,b,c\n1,2\n1,2,3,4\n5,6,7\n")
    assert texts(parsed)[1:] == ["a: 1; b: 2", "a: 1; b: 2; c: 3; D: 4", "a: 5; b: 6; c: 7"]
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("ragged_rows", 2)]
    assert "2, 3" in parsed.losses[0].message


def test_a_quote_that_never_closes_does_not_swallow_the_rest() -> None:
    parsed = parse(b'a,b\n1,"x\n2,y\n3,z\n')
    assert len(parsed.blocks) == 4
    assert [loss.code for loss in parsed.losses] == ["unbalanced_quotes"]


def test_case_82_two_rows_without_header_are_two_rows() -> None:
    assert texts(parse(b"1,2\n3,4\n")) == ["1 | 2", "3 | 4"]


def test_case_91_empty_tables_are_empty() -> None:
    assert parse(b"\n\n").empty_reason == "empty"
    assert parse(b",,\n,,\n").empty_reason == "empty"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a;b\n1;2,5\n", {"delimiter": ";", "quoting": "double quotes", "header": "yes"}),
        ("1\t2\n3\t4\n", {"delimiter": "tab", "quoting": "double quotes", "header": "no"}),
        ('a,b\n"x,1\n2,3\n', {"delimiter": ",", "quoting": "none", "header": "yes"}),
    ],
)
def test_the_dialect_of_a_table_is_told(text: str, told: dict[str, str]) -> None:
    assert told.items() <= parse(text.encode()).metadata.items()
