"""Real and hostile files beside the project, where they are: right text or a typed error, never anything else.

Every hostile PDF is read in a process of its own in the pool's tests; here only those that pdfium answers at once.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fonte.errors import ParseError
from fonte.parsers.docx import DocxParser
from fonte.parsers.pdf import PdfParser
from fonte.parsers.xlsx import XlsxParser
from fonte.types import Acl, BlockKind, Parsed, Source

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
MADE = SHARED / "parsing" / "made"
PARSERS = {"pdf": PdfParser, "docx": DocxParser, "xlsx": XlsxParser, "xlsm": XlsxParser}

pytestmark = pytest.mark.skipif(not MADE.is_dir(), reason="the shared data is not here")


def parse(path: Path) -> Parsed:
    return PARSERS[path.suffix[1:]]().parse(Source(path.as_uri(), path.name, "0", Acl(), path=str(path)))


def truth(name: str):
    return json.loads((MADE / "ground_truth.json").read_text())[name]


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.parametrize("name", ["interleaved_columns", "hyphen_narrow", "ligatures", "multilingual"])
def test_made_files_come_out_exactly(name):
    parsed = parse(MADE / f"{name}.pdf")
    wanted = " ".join(text for _, text in truth(name)["blocks"])
    assert flat(" ".join(block.text for block in parsed.blocks)) == flat(wanted)


def test_two_columns_headings_and_no_furniture():
    parsed = parse(MADE / "two_column.pdf")
    wanted = truth("two_column")
    assert [b.text for b in parsed.blocks if b.level] == [text for tag, text in wanted["blocks"] if tag[0] == "h"]
    got = flat(" ".join(block.text for block in parsed.blocks)).split()
    expected = flat(" ".join(text for _, text in wanted["blocks"])).split()
    assert len(got) == len(expected)
    assert sum(a != b for a, b in zip(got, expected, strict=True)) <= 2  # two compounds that stand nowhere else


def test_report_headings_and_every_table_row():
    parsed = parse(MADE / "report.pdf")
    wanted = truth("report")
    assert [b.text for b in parsed.blocks if b.level] == [text for tag, text in wanted["blocks"] if tag[0] == "h"]
    rows = {block.text for block in parsed.blocks if block.kind is BlockKind.ROW}
    for table in wanted["tables"]:
        names = table[0]
        for row in table[1:]:
            assert "; ".join(f"{name}: {value}" for name, value in zip(names, row, strict=True)) in rows
    assert next(loss.count for loss in parsed.losses if loss.code == "page_furniture") == 20


def test_hostile_office_files_are_typed_errors():
    for path in sorted((SHARED / "parsing" / "nasty_other").iterdir()):
        if path.suffix in (".docx", ".xlsx") and path.name != "far_cell.xlsx":
            with pytest.raises(ParseError):
                parse(path)


def test_far_cell():
    assert parse(SHARED / "parsing" / "nasty_other" / "far_cell.xlsx").blocks


@pytest.mark.parametrize("suffix", ["pdf", "docx", "xlsx", "xlsm"])
def test_real_files_give_blocks_whose_places_are_sound_or_a_typed_error(suffix):
    files = sorted((SHARED / "docs-formats").rglob(f"*.{suffix}"))
    assert files
    for path in files:
        try:
            parsed = parse(path)
        except ParseError:
            continue
        assert parsed.blocks or parsed.empty_reason, path.name
        for block in parsed.blocks:
            assert block.text.strip(), path.name
            ends = [0, *(place.end for place in block.places)]
            starts = [*(place.start for place in block.places), len(block.text)]
            assert all(end <= start for end, start in zip(ends, starts, strict=True)), path.name
            assert all(place.box is None or place.box[0] < place.box[2] for place in block.places), path.name
