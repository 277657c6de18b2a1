"""Real and hostile files beside the project, where they are: right text or a typed error, never anything else.

Every hostile PDF is read in a process of its own in the pool's tests; here only those that pdfium answers at once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fonte.errors import ParseError
from fonte.parsers.docx import DocxParser
from fonte.parsers.pdf import PdfParser
from fonte.parsers.xlsx import XlsxParser
from fonte.types import Acl, Parsed, Source

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
MADE = SHARED / "parsing" / "made"
PARSERS = {"pdf": PdfParser, "docx": DocxParser, "xlsx": XlsxParser, "xlsm": XlsxParser}

pytestmark = pytest.mark.skipif(not MADE.is_dir(), reason="the shared data is not here")


def parse(path: Path) -> Parsed:
    return PARSERS[path.suffix[1:]]().parse(Source(path.as_uri(), path.name, "0", Acl(), path=str(path)))


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
