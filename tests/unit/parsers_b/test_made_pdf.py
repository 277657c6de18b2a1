"""The PDF files that were made with their text known: every one comes out as it was written."""

from __future__ import annotations

import io
import json
import re
from functools import cache
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from edit_distance import distance
from fonte.errors import EncryptedSource, ParserCrashed
from fonte.parsers.images import ImageParser
from fonte.parsers.pdf import PdfParser
from fonte.parsers.pool import ParserPool
from fonte.types import Acl, Block, BlockKind, Parsed, Source, sha256_hex

DATA = Path(__file__).resolve().parents[2] / "data"
MADE = DATA / "made"
FURNITURE = re.compile(r"ACME Corp Confidential|Page \d+ of \d+")


def source(body: bytes, name: str) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def parse_body(body: bytes, name: str = "a.pdf") -> Parsed:
    return PdfParser().parse(source(body, name))


@cache
def parse(name: str) -> Parsed:
    return parse_body((MADE / f"{name}.pdf").read_bytes(), f"{name}.pdf")


@cache
def truth(name: str):
    return json.loads((MADE / "ground_truth.json").read_text())[name]


def flat(text: str) -> str:
    return " ".join(text.split())


def text_of(blocks) -> str:
    return flat(" ".join(block.text for block in blocks))


def wanted_text(name: str) -> str:
    return flat(" ".join(text for _, text in truth(name)["blocks"]))


def error_rate(got: str, wanted: str) -> float:
    """Character errors over the wanted length; what both have at their ends is taken off first."""
    words, others = got.split(), wanted.split()
    while words and others and words[-1] == others[-1]:
        words.pop(), others.pop()
    while words and others and words[0] == others[0]:
        del words[0], others[0]
    return distance(" ".join(words), " ".join(others), band=60) / len(wanted)


# --- columns


@pytest.mark.parametrize("name", ["interleaved_columns", "two_column"])
def test_case_83_columns_have_at_most_one_wrong_letter_in_two_hundred(name):
    assert error_rate(text_of(parse(name).blocks), wanted_text(name)) <= 0.005


@pytest.mark.parametrize("name", ["two_column", "report", "rotated90"])
def test_no_header_or_footer_is_left(name):
    parsed = parse(name)
    assert not FURNITURE.search(text_of(parsed.blocks))
    told = next(loss for loss in parsed.losses if loss.code == "page_furniture")
    assert told.count == 2 * parsed.pages


def test_the_nine_headings_of_two_columns():
    wanted = [text for tag, text in truth("two_column")["blocks"] if tag[0] == "h"]
    assert [block.text for block in parse("two_column").blocks if block.level] == wanted
    assert len(wanted) == 9


@pytest.mark.parametrize("name", ["interleaved_columns", "two_column"])
def test_sentences_stay_whole(name):
    got = text_of(parse(name).blocks)
    sentences = [one for _, text in truth(name)["blocks"] for one in re.split(r"(?<=[.?!])\s+", flat(text)) if one]
    assert sum(one in got for one in sentences) >= 0.98 * len(sentences)
    assert len(sentences) >= 10


# --- report.pdf


def report_rows() -> list[Block]:
    return [block for block in parse("report").blocks if block.kind is BlockKind.ROW and not block.header]


def test_every_row_of_the_report_has_its_four_names_and_its_page():
    with pypdfium2.PdfDocument(MADE / "report.pdf") as document:
        pages = [document[index].get_textpage().get_text_bounded() for index in range(len(document))]
    rows = {block.text: block for block in report_rows()}
    assert len(report_rows()) == 180
    for number, (names, *records) in enumerate(truth("report")["tables"]):
        assert len(names) == 4
        for record in records:
            row = rows["; ".join(f"{name}: {value}" for name, value in zip(names, record, strict=True))]
            page = next(at for at, said in enumerate(pages, 1) if record[0] in said)
            assert {place.page for place in row.places} == {page}
            assert row.table == number


def test_every_caption_of_the_report_stands_at_its_table():
    blocks = parse("report").blocks
    captions = [text for tag, text in truth("report")["blocks"] if tag == "caption"]
    found = [at for at, block in enumerate(blocks) if block.kind is BlockKind.CAPTION]
    assert [blocks[at].text for at in found] == captions
    assert [blocks[at + 1].table for at in found] == [0, 1, 2, 3]
    assert all(blocks[at + 1].header for at in found)


def test_every_link_of_the_report_is_kept_with_its_words_and_place():
    blocks = parse("report").blocks
    notes = [(at, block) for at, block in enumerate(blocks) if block.kind is BlockKind.NOTE]
    assert [note.text for _, note in notes] == [
        f"the online annex {n}: https://example.org/doc{n}" for n in range(1, 5)
    ]
    assert [note.places[0].page for _, note in notes] == [3, 5, 8, 10]
    for at, note in notes:
        assert blocks[at - 1].text.startswith("See the online annex")
        (x0, y0, x1, y1) = note.places[0].box
        word = next(
            place for place in blocks[at - 1].places if blocks[at - 1].text[place.start :].startswith("the online")
        )
        assert x0 - 1 <= word.box[0] <= x1
        assert y0 - 2 <= word.box[1] <= y1


def test_the_report_reads_as_it_was_written():
    blocks = [b for b in parse("report").blocks if b.kind not in (BlockKind.ROW, BlockKind.NOTE)]
    assert error_rate(text_of(blocks).replace("• ", ""), wanted_text("report")) <= 0.005
    kinds = {"h": BlockKind.HEADING, "p": BlockKind.PARAGRAPH, "l": BlockKind.LIST_ITEM, "c": BlockKind.CAPTION}
    assert [block.kind for block in blocks] == [kinds[tag[0]] for tag, _ in truth("report")["blocks"]]


def test_turned_pages_read_in_the_order_of_the_pages_that_are_not():
    first = [block for block in parse("report").blocks if all(place.page <= 3 for place in block.places)]
    turned = [block.text for block in parse("rotated90").blocks]
    same = [block.text for block in first]
    assert turned[: len(same)] == same
    assert len(same) > 60


# --- letters


def test_narrow_lines_come_out_exactly_with_the_hyphens_that_belong():
    got = text_of(parse("hyphen_narrow").blocks)
    assert got == wanted_text("hyphen_narrow")
    assert got.count("state-of-the-art") == wanted_text("hyphen_narrow").count("state-of-the-art") >= 2


def test_ligatures_are_letters():
    got = text_of(parse("ligatures").blocks)
    assert got == wanted_text("ligatures")
    assert not re.search("[ﬀ-ﬆ\u00ad\u200b\u2060]", got)


def test_eight_lines_in_as_many_scripts_come_out_verbatim_in_logical_order():
    assert [block.text for block in parse("multilingual").blocks] == [
        text for _, text in truth("multilingual")["blocks"]
    ]


def test_what_is_printed_twice_is_read_once_and_what_nobody_sees_is_told():
    parsed = parse("overprint_bold")
    seen = [block for block in parsed.blocks if block.kind is not BlockKind.NOTE]
    assert text_of(seen) == wanted_text("overprint_bold")
    (note,) = [block.text for block in parsed.blocks if block.kind is BlockKind.NOTE]
    assert note.startswith("Not visible on the page: HIDDEN white instruction")
    assert "INVISIBLE render mode 3 text" in note
    (told,) = [loss for loss in parsed.losses if loss.code == "hidden_text"]
    assert "page 1" in told.message
    assert told.count == 11


def test_a_borderless_table_has_a_row_for_every_line():
    rows = [block.text for block in parse("borderless").blocks if block.kind is BlockKind.ROW and not block.header]
    names, *records = truth("borderless")["tables"][0]
    assert rows == ["; ".join(f"{name}: {value}" for name, value in zip(names, one, strict=True)) for one in records]


# --- passwords


def test_a_file_that_only_its_owner_may_change_is_read():
    assert parse("password_owner_only").blocks == parse("report").blocks


def test_a_file_with_a_password_is_a_typed_failure():
    locked = io.BytesIO()
    with pikepdf.open(MADE / "report.pdf") as document:
        document.save(locked, encryption=pikepdf.Encryption(owner="owner", user="user", R=6))
    with pytest.raises(EncryptedSource, match="needs a password"):
        parse_body(locked.getvalue())


# --- scans; the upright ones and the table stand in test_ocr.py


@pytest.mark.slow
def test_a_scan_on_its_side_is_found_and_read(ocr_engine):
    with pypdfium2.PdfDocument(DATA / "scans" / "scan_en.pdf") as document:
        page = document[0].render(scale=200 / 72, grayscale=True).to_pil().convert("L")
    body = io.BytesIO()
    page.transpose(Image.Transpose.ROTATE_90).save(body, "PNG", dpi=(200, 200))
    parsed = ImageParser().parse(source(body.getvalue(), "scan_en_rot90.png"))
    blocks = json.loads((DATA / "scans" / "ground_truth.json").read_text())["scan_en"]["blocks"]
    straight = str.maketrans("’‘“”", "''\"\"")
    wanted = flat(" ".join(text for _, text in blocks)).translate(straight)
    assert error_rate(text_of(parsed.blocks).translate(straight), wanted) <= 0.01
    assert all("table" not in loss.code for loss in parsed.losses)


# --- size


def test_a_page_that_unpacks_to_more_than_a_parser_may_hold_is_a_typed_failure():
    page = io.BytesIO()
    with pikepdf.new() as document:
        document.add_blank_page()
        document.pages[0].Contents = document.make_stream(b"BT /F1 12 Tf " + b"(AAAAAAAAAA) Tj " * 1_500_000 + b"ET")
        font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
        document.pages[0].Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
        document.save(page)
    with ParserPool(1, timeout_seconds=60, memory_bytes=300 << 20) as pool:
        with pytest.raises(ParserCrashed, match=r"ended by SIG|memory limit"):
            pool.parse(source(page.getvalue(), "bomb.pdf"))
        assert pool.parse(source((MADE / "ligatures.pdf").read_bytes(), "good.pdf")).blocks


@pytest.mark.soak
@pytest.mark.timeout(1000)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_five_hundred_pages_are_read_in_under_300_mb():
    made = io.BytesIO()
    drawn = Canvas(made, invariant=1, pageCompression=1)
    for page in range(500):
        for line in range(48):
            name = f"{page:09b}{line:06b}".translate({48: "a", 49: "o"})  # digits alike would be page numbers
            said = f"The clerk {name} of the harbour writes down every crate that boats leave there."
            drawn.drawString(50, 790 - 14 * line - 10 * (line // 8), said)
        drawn.showPage()
    drawn.save()
    with ParserPool(1, timeout_seconds=900) as pool:
        parsed = pool.parse(source(made.getvalue(), "big.pdf"))
        (child,) = pool._children
        status = Path(f"/proc/{child._process.pid}/status").read_text()
    assert parsed.pages == 500
    assert sum(len(block.places) for block in parsed.blocks) == 500 * 48 * len(said.split())
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1000
    assert peak < 300
