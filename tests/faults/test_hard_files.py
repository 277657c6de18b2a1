"""Files that other readers get wrong or never finish: right text or a typed reason, in little time and memory.

Times are of the child's processor, so that a busy machine fails nothing.
"""

from __future__ import annotations

import io
import resource
from pathlib import Path

import openpyxl
import pytest

from fonte.errors import FonteError
from fonte.parsers.pool import ParserPool
from fonte.text.canonical import canonicalise
from fonte.text.locate import fragment, locate
from fonte.types import Acl, Parsed, Source, sha256_hex

ROOT = Path(__file__).resolve().parents[2]
OTHER = ROOT.parent / "shared" / "data" / "parsing" / "nasty_other"
SECONDS, MEGABYTES = 20, 1430


def read(body: bytes, name: str) -> Parsed | FonteError:
    """A file alone in a fresh pool; the limits hold for the child that read it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with ParserPool(timeout_seconds=100) as pool:
        try:
            outcome: Parsed | FonteError = pool.parse(source(body, name))
        except FonteError as error:
            outcome = error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < SECONDS
    assert after.ru_maxrss / 1024 < MEGABYTES
    return outcome


def source(body: bytes, name: str) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def texts(outcome: Parsed | FonteError) -> list[str]:
    assert isinstance(outcome, Parsed), outcome
    return [block.text for block in outcome.blocks]


def test_a_word_file_with_revisions_content_controls_and_merged_cells() -> None:
    found = read((ROOT / "tests" / "data" / "office" / "tricky.docx").read_bytes(), "tricky.docx")
    assert texts(found) == [
        "H1 title",
        "See",
        "kept INSERTED tail",
        "SDTCONTENT",
        "Merged head",
        "a | b",
        "1. num item",
    ]
    assert "DELETED" not in " ".join(texts(found))


def test_a_sheet_that_begins_far_from_its_corner_says_where_its_cells_are() -> None:
    book = openpyxl.Workbook()
    book.active.title = "Offset"
    book.active["D10"], book.active["E11"] = "first cell", 1
    data = io.BytesIO()
    book.save(data)
    body = data.getvalue()
    parsed = read(body, "offset.xlsx")
    assert isinstance(parsed, Parsed)
    document = canonicalise(parsed, source(body, "offset.xlsx"), tenant="t")
    at = document.text.index("first cell")
    locator = locate(document, at, at + len("first cell"))
    assert (locator.sheet, locator.range) == ("Offset", "D10")
    assert fragment(document, locator) == "#sheet=Offset&range=D10"


def test_a_cell_at_the_far_corner_costs_nothing() -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "x", "far"
    data = io.BytesIO()
    book.save(data)
    parsed = read(data.getvalue(), "far.xlsx")
    assert isinstance(parsed, Parsed)
    assert [(block.text, block.places[0].range) for block in parsed.blocks[1:]] == [("x", "A1"), ("far", "XFD1048576")]


def test_an_encoding_that_a_page_says_wrongly() -> None:
    body = '<html><head><meta charset="utf-8"></head><p>Perché città “è”</p>'.encode("cp1252")
    assert texts(read(body, "lies.html")) == ["Perché città “è”"]


def test_divs_deeper_than_any_stack() -> None:
    depth = 40_000
    body = b"<html><body>" + b"<div>" * depth + b"DEEP" + b"</div>" * depth
    assert texts(read(body, "deep.html")) == ["DEEP"]


def test_mail_parts_inside_each_other() -> None:
    depth = 300
    head = "".join(f"Content-Type: multipart/mixed; boundary=b{at}\n\n--b{at}\n" for at in range(depth, 0, -1))
    tail = "".join(f"\n--b{at}--\n" for at in range(1, depth + 1))
    body = f"Subject: Nested\n{head}Content-Type: text/plain\n\nplain words\n{tail}"
    assert texts(read(body.encode(), "nested.eml"))[-1] == "plain words"


EXPECTED = {
    "billion_laughs.docx": "not well-formed",
    "billion_laughs.xlsx": "not well-formed",
    "deep_div.html": ["DEEPTEXT"],
    "far_cell.xlsx": ["Sheet", "x", "far"],
    "meta_lies.html": ["Perché città “ok”"],
    "nested_mime.eml": ["plain"],
    "trunc.docx": "not a zip file",
    "zero.docx": [],
    "zipbomb_600MB.docx": "grows",
}


SLOW = ("deep_div.html", "nested_mime.eml")
"""Four seconds of a processor each: smaller ones of their kind are above."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.soak) if one in SLOW else one for one in EXPECTED]
)
def test_shared_hostile_files_end_as_they_should(name: str) -> None:
    path = OTHER / name
    if not path.is_file():
        pytest.skip("the shared data is not here")
    outcome, expected = read(path.read_bytes(), name), EXPECTED[name]
    if isinstance(expected, list):
        assert texts(outcome) == expected
    else:
        assert isinstance(outcome, FonteError)
        assert expected in outcome.message
