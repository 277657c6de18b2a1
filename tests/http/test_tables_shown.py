"""Tables of documents as grids over HTTP: the rows around a place, with their cells, of those who may read them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openpyxl import Workbook

from fonte.corpus import OpenCorpus, SourceOptions
from fonte.types import Principal
from quick_corpus import quick_parts
from served import House, make_house

ADA = Principal("default", "ada", frozenset())
EVA = Principal("default", "eva", frozenset({"hr"}))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A list of 300 rows, and a workbook with a small and a wide sheet, for the role hr."""
    folder = tmp_path_factory.mktemp("tables")
    rows = "\n".join(f"P-{at},{'' if at % 3 else at},<b>{at}</b>" for at in range(1, 301))
    (folder / "list.csv").write_text(f"Part,Third,Markup\n{rows}\n", "utf-8")
    (folder / "plain.txt").write_text("The pump runs at seven bar.", "utf-8")
    book = Workbook()
    book.active.append(["Name", "Age"])
    book.active.append(["Rosa", 41])
    wide = book.create_sheet("Wide")
    wide.append([f"C{at}" for at in range(130)])
    wide.append(list(range(130)))
    book.save(folder / "book.xlsx")
    corpus = OpenCorpus(quick_parts(tmp_path_factory.mktemp("home") / "home"))
    corpus.sync(str(folder), options=SourceOptions(allow=("hr",)))
    house = make_house(tmp_path_factory.mktemp("other") / "home", corpus=corpus)
    yield house
    corpus.close()


def test_rows_around_a_place_come_with_their_cells_and_numbers(tables: House) -> None:
    client = tables.client(EVA)
    text = client.get("/v1/documents/list.csv/text").json()["text"]
    at = text.index("P-250")
    told = client.get(f"/v1/documents/list.csv/table?from={at}&to={at + 5}&limit=30").json()
    assert (told["tables"], told["columns"], told["first"], told["total"], len(told["rows"])) == (1, 3, 239, 300, 30)
    assert [cell["text"] for cell in told["names"][0]["cells"]] == ["Part", "Third", "Markup"]
    row = next(one for one in told["rows"] if one["from"] <= at < one["to"])
    assert row["number"] == 251
    assert [(cell["column"], cell["text"]) for cell in row["cells"]] == [(0, "P-250"), (2, "<b>250</b>")]
    for cell in row["cells"]:
        assert text[cell["from"] : cell["to"]] == cell["text"]
    last = client.get("/v1/documents/list.csv/table?table=0&first=290").json()
    assert (last["first"], len(last["rows"]), last["rows"][-1]["number"]) == (290, 10, 301)
    beyond = client.get("/v1/documents/list.csv/table?first=99999").json()
    assert (beyond["first"], len(beyond["rows"])) == (299, 1)
    assert client.get("/v1/documents/list.csv/table?limit=201").status_code == 422


def test_sheets_are_tables_of_their_own_and_wide_ones_are_cut(tables: House) -> None:
    client = tables.client(EVA)
    first = client.get("/v1/documents/book.xlsx/table").json()
    assert (first["table"], first["tables"], first["sheet"], first["rows"][0]["number"]) == (0, 2, "Sheet", 2)
    wide = client.get("/v1/documents/book.xlsx/table?table=1").json()
    assert (wide["sheet"], wide["columns"], len(wide["rows"][0]["cells"])) == ("Wide", 130, 100)
    assert client.get("/v1/documents/book.xlsx/table?table=2").status_code == 400


def test_who_may_not_read_it_sees_no_table_and_a_text_has_none(tables: House) -> None:
    hidden = tables.client(EVA).get("/v1/documents/list.csv").json()["document_id"]
    client = tables.client(ADA)
    forbidden = client.get(f"/v1/documents/{hidden}/table?from=0&to=9")
    absent = client.get(f"/v1/documents/{hidden[:-4]}0000/table?from=0&to=9")
    assert (forbidden.status_code, absent.status_code) == (404, 404)
    assert forbidden.content.replace(hidden.encode(), b"") == absent.content.replace(f"{hidden[:-4]}0000".encode(), b"")
    none = tables.client(EVA).get("/v1/documents/plain.txt/table")
    assert (none.status_code, none.json()["error"]["code"]) == (400, "invalid_query")
