"""The page of a sample as text: well-formed, escaped, one script that the policy names, rows as cells."""

from __future__ import annotations

import base64
import hashlib
import re
from xml.etree import ElementTree as ET

import pytest

from fonte.evaluation.html.sample_page import Judged, Shown, View, cells_of, sample_page
from fonte.types import Acl, BlockKind, Counts, DocumentState, DocumentStatus, LedgerEntry, Loss, Picture

HOSTILE = "</script><script>alert('1')</script>\x00\u202e]]>"


@pytest.mark.parametrize(
    ("row", "names", "cells"),
    [
        ("Name: Ann; Days: 26", ["Name", "Days"], ["Ann", "26"]),
        ("Days: 26", ["Name", "Days"], ["", "26"]),
        ("Name: Ann; of Turin; Days: 26", ["Name", "Days"], ["Ann; of Turin", "26"]),
        ("Name: Days: 3; Days: 26", ["Name", "Days"], ["Days: 3", "26"]),
        ("Ann | 26", [], ["Ann", "26"]),
        ("Ann | 26", ["Name", "Days"], ["Ann", "26"]),
        ("no row at all", ["Name", "Days"], ["no row at all"]),
    ],
)
def test_rows_become_cells_by_their_column_names(row: str, names: list[str], cells: list[str]) -> None:
    assert cells_of(row, names) == cells


def judged(rotation: int) -> Judged:
    ledger = LedgerEntry(Counts(), Counts(), Counts(), losses=(Loss("rows_lost", HOSTILE),))
    state = DocumentState(
        HOSTILE, HOSTILE, "file:///x", DocumentStatus.PARTIAL, HOSTILE, Acl(), reason=HOSTILE, ledger=ledger
    )
    block = Shown(BlockKind.PARAGRAPH, HOSTILE, 0, 9, HOSTILE, boxes=((10, 20, 20, 40),))
    picture = Picture(100, 200, rotation, b"\xff\xd8\xff")
    view = View(HOSTILE, (block,), picture, raw=HOSTILE, note=HOSTILE)
    return Judged(state, None, (view,), (HOSTILE,), (HOSTILE,), HOSTILE)


@pytest.mark.parametrize(("rotation", "frame"), [(0, "100.0 200.0"), (90, "200.0 100.0"), (180, "100.0 200.0")])
def test_everything_of_a_document_is_escaped_and_boxes_are_measured_from_above(rotation: int, frame: str) -> None:
    page = sample_page([judged(rotation)], {"seed": HOSTILE})
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
    names = [element.tag.rsplit("}", 1)[-1] for element in root.iter()]
    assert names.count("script") == 1
    assert names.count("image") == 1
    assert "\x00" not in page
    assert "\u202e" not in page
    svg = next(element for element in root.iter() if element.tag.endswith("svg"))
    assert svg.get("viewBox") == f"0 0 {frame}"
    box = next(element for element in root.iter() if element.tag.endswith("rect"))
    assert [box.get(name) for name in ("x", "y", "width", "height")] == ["10.0", "160.0", "10.0", "20.0"]


def test_the_policy_names_the_one_script_and_lets_nothing_be_fetched() -> None:
    page = sample_page([judged(0)], {})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert policy and script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert policy[1].replace("&#x27;", "'") == (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    )
    assert not re.search(r"https?://(?!www\.w3\.org/)", page)


def test_a_page_whose_lines_stand_upright_as_stored_is_not_turned() -> None:
    block = Shown(BlockKind.PARAGRAPH, "A line.", 0, 7, "p. 1", boxes=((10, 20, 90, 30),))
    one = judged(90)
    page = sample_page(
        [Judged(one.state, None, (View("Page 1", (block,), Picture(100, 200, 90, b"\xff\xd8\xff")),))], {}
    )
    assert 'viewBox="0 0 100.0 200.0"' in page
    assert "rotate" not in page
