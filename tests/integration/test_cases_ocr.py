"""Scans, captions and older workbooks through whole syncs: states, places, and an engine that is installed later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import xlwt
from PIL import Image, ImageDraw, ImageFont
from property.quick_corpus import quick_corpus, quick_parts

from fonte.corpus import OpenCorpus
from fonte.parsers.ocr.engine import PACKAGES
from fonte.parsers.registry import extractors
from fonte.types import DocumentState, DocumentStatus, Principal

WHO = Principal()


def state(corpus: OpenCorpus, name: str) -> DocumentState:
    return next(one for one in corpus.documents() if one.name == name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


def notice(path: Path) -> None:
    image = Image.new("L", (900, 240), "white")
    draw = ImageDraw.Draw(image)
    for at, line in enumerate(("The boiler is inspected", "on the ninth of October")):
        draw.text((60, 50 + 70 * at), line, fill="black", font=ImageFont.load_default(44))
    image.save(path)


def test_case_89_a_picture_waits_for_an_engine_and_is_read_by_the_first_sync_that_has_one(
    tmp_path: Path, folder: Path, ocr_engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(folder / "notice.png")
    with OpenCorpus(replace(quick_parts(tmp_path / "home"), extractors=extractors)) as corpus:
        with monkeypatch.context() as without:
            without.setenv("PATH", "/nowhere")
            assert corpus.sync(str(folder)).documents["needs_ocr"] == 1
            waiting = state(corpus, "notice.png")
            assert (waiting.status, waiting.chunks) == (DocumentStatus.NEEDS_OCR, 0)
            assert PACKAGES in (waiting.reason or "")
            assert corpus.sync(str(folder)).documents["unchanged"] == 1
        corpus.sync(str(folder))
        known = state(corpus, "notice.png")
        assert known.status is DocumentStatus.READY
        assert known.stamp is not None
        assert ocr_engine in known.stamp.extractor
        (found,) = corpus.search("boiler inspected", principal=WHO).results
        assert "on the ninth of October" in found.stored.chunk.content
        with monkeypatch.context() as without:
            without.setenv("PATH", "/nowhere")
            assert corpus.sync(str(folder)).documents["unchanged"] == 1


def test_captions_are_found_with_their_time_and_sheets_with_their_cells(tmp_path: Path, folder: Path) -> None:
    (folder / "talk.vtt").write_text(
        "WEBVTT\n\n00:01:05.000 --> 00:01:08.500\n<v Ada>The valve is checked\n\n"
        "00:01:08.500 --> 00:01:11.000\n<v Ada>every second week.\n"
    )
    book = xlwt.Workbook()
    sheet = book.add_sheet("Stock")
    for row, cells in enumerate([("Part", "Count"), ("gasket", 12), ("flange", 7)]):
        for column, value in enumerate(cells):
            sheet.write(row, column, value)
    book.save(str(folder / "stock.xls"))
    with quick_corpus(tmp_path / "home") as corpus:
        report = corpus.sync(str(folder))
        assert report.documents["added"] == 2
        assert {one.status for one in corpus.documents()} == {DocumentStatus.READY}
        found = {one.stored.document_name: one for one in corpus.search("valve flange", principal=WHO).results}
        talk, stock = found["talk.vtt"], found["stock.xls"]
        assert talk.stored.chunk.content == "Ada: The valve is checked every second week."
        assert "Part: flange; Count: 7" in stock.stored.chunk.content
        assert (talk.fragment, stock.fragment) == ("#t=65,71", "#sheet=Stock&range=A1:B3")
