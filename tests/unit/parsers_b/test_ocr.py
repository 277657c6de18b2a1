"""Text in pictures: the right words in the right places, doubts told, nothing silently wrong."""

from __future__ import annotations

import io
import json
import struct
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from edit_distance import distance
from fonte.errors import ParseError
from fonte.parsers.images import MAX_IMAGE_PIXELS, ImageParser
from fonte.parsers.ocr import engine, reader
from fonte.parsers.ocr.settings import OcrSettings, configure
from fonte.parsers.ocr.trust import LOW, NOT_FOUND, table_trust
from fonte.parsers.pdf import PdfParser
from fonte.parsers.pool import ParserPool
from fonte.parsers.registry import extractors
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN, balance
from fonte.text.locate import locate
from fonte.types import Acl, Block, BlockKind, Chunk, Parsed, Place, Source, sha256_hex

SCANS = Path(__file__).resolve().parents[2] / "data" / "scans"
LINES = ("The harbour office opens at seven", "and the ferry to Ponza leaves at", "nine fifteen from the north pier.")


def source(body: bytes, name: str) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def picture(lines: tuple[str, ...] = LINES, *, size: int = 40, width: int = 900) -> Image.Image:
    made = Image.new("L", (width, 120 + 2 * size * len(lines)), "white")
    draw = ImageDraw.Draw(made)
    for at, line in enumerate(lines):
        draw.text((60, 60 + 1.6 * size * at), line, fill="black", font=ImageFont.load_default(size))
    return made


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def text(parsed: Parsed) -> str:
    return " ".join(" ".join(block.text.split()) for block in parsed.blocks)


def codes(parsed: Parsed) -> set[str]:
    return {loss.code for loss in parsed.losses}


def scanned(name: str) -> Parsed:
    return PdfParser().parse(source((SCANS / f"{name}.pdf").read_bytes(), f"{name}.pdf"))


def truth(name: str) -> str:
    blocks = json.loads((SCANS / "ground_truth.json").read_text())[name]["blocks"]
    return " ".join(" ".join(block[1].split()) for block in blocks)


def plain(said: str) -> str:
    """Quotes straight: which of the two an engine chooses is no error of reading."""
    return unicodedata.normalize("NFC", said).translate({0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"'})


def error_rate(got: str, wanted: str) -> float:
    """Levenshtein distance over the wanted length."""
    return distance(got, wanted, band=120) / len(wanted)


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "find_engine", lambda languages: None)


@pytest.fixture
def settings() -> Iterator[None]:
    yield
    configure(OcrSettings())


# --- with the engine


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scan_en", "scan_it"])
def test_scans_are_read_with_at_most_two_errors_in_a_hundred_letters(name: str, ocr_engine: str) -> None:
    parsed = scanned(name)
    assert error_rate(plain(text(parsed)), plain(truth(name))) <= 0.02
    assert parsed.blocks[0].kind is BlockKind.HEADING
    assert codes(parsed) <= BENIGN
    assert int(parsed.metadata["ocr_confidence"]) > LOW
    assert "ocr_table_trust" not in parsed.metadata
    assert ocr_engine in parsed.parser
    assert len(parsed.blocks) == len(json.loads((SCANS / "ground_truth.json").read_text())[name]["blocks"])


@pytest.mark.slow
def test_a_table_in_a_scan_is_partial_with_its_page_named(ocr_engine: str) -> None:
    parsed = scanned("scan_table")
    told = {loss.code: loss.message for loss in parsed.losses}
    assert "page 1 (low trust, " in told["ocr_table"]
    assert "rows do not fit their columns" in told["ocr_table"]
    assert "ocr_table" not in BENIGN
    assert 40 < int(parsed.metadata["ocr_table_trust"]) < LOW
    assert int(parsed.metadata["ocr_confidence"]) > 90, "words alone look well read: that is why rows are judged"
    rows = [block for block in parsed.blocks if block.kind is BlockKind.ROW]
    assert len(rows) == 26
    assert rows[0].header
    assert rows[1].text.startswith("Item: Widget type A00; Qty: 1; Unit price: 3.50; Total: ")


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [90, 180])
def test_a_turned_picture_is_found_and_read_and_its_boxes_stand_on_it_as_it_is(degrees: int, ocr_engine: str) -> None:
    lines = (
        *LINES,
        "Every passenger has to show a ticket",
        "before the gate closes at nine, and",
        "bicycles travel on the lower deck only",
        "where the crew will fasten each of them.",
    )
    upright = picture(lines, width=1000)
    turned = upright.rotate(degrees, expand=True)
    parsed = ImageParser().parse(source(saved(turned), "turned.png"))
    assert error_rate(text(parsed), " ".join(lines)) <= 0.01
    first = parsed.blocks[0].places[0]
    assert first.page == 1
    x0, y0, x1, y1 = first.box
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    width, height = turned.size
    wanted = {90: (80, 95), 180: (width - 95, 80)}[degrees]  # "The" from the lower left corner of the turned picture
    assert abs(middle[0] - wanted[0]) < 40
    assert abs(middle[1] - wanted[1]) < 40
    assert 0 <= x0 < x1 <= width
    assert 0 <= y0 < y1 <= height


def test_boxes_cover_the_ink_of_their_words(ocr_engine: str) -> None:
    made = picture()
    parsed = ImageParser().parse(source(saved(made), "a.png"))
    block = parsed.blocks[0]
    for place in block.places:
        x0, y0, x1, y1 = place.box
        inside = made.crop((round(x0), round(made.height - y1), round(x1), round(made.height - y0)))
        assert inside.getextrema()[0] < 100, block.text[place.start : place.end]
    canonical = canonicalise(parsed, source(b"x", "a.png"), tenant="default")
    at = canonical.text.index("nine fifteen")
    place = locate(canonical, at, at + len("nine fifteen"))
    assert place.page == 1
    (box,) = place.boxes
    assert box[3] - box[1] < 60


@pytest.mark.parametrize(
    ("kind", "mode"), [("PNG", "RGBA"), ("JPEG", "L"), ("WEBP", "RGB"), ("BMP", "RGB"), ("TIFF", "1"), ("PNG", "I;16")]
)
def test_every_kind_of_picture_is_read(kind: str, mode: str, ocr_engine: str) -> None:
    grey = picture(LINES[:2])
    made = grey.convert("I;16").point(lambda value: value * 256) if mode == "I;16" else grey.convert(mode)
    parsed = ImageParser().parse(source(saved(made, kind), f"a.{kind.lower()}"))
    assert text(parsed) == " ".join(LINES[:2])


def test_light_print_on_a_dark_ground_is_read(ocr_engine: str) -> None:
    dark = picture(LINES[:2]).point(lambda value: 255 - value)
    assert text(ImageParser().parse(source(saved(dark), "a.png"))) == " ".join(LINES[:2])


def test_frames_of_a_tiff_are_pages_and_one_without_text_is_named(ocr_engine: str) -> None:
    pages = [picture(LINES[:1]), Image.new("L", (900, 300), "white"), picture(LINES[2:])]
    body = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    parsed = ImageParser().parse(source(body, "fax.tif"))
    assert parsed.pages == 3
    assert [block.places[0].page for block in parsed.blocks] == [1, 3]
    assert next(loss for loss in parsed.losses if loss.code == "picture_without_text").message.endswith("page 2")


def pdf(*pages: str) -> bytes:
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=(450, 200), invariant=True)
    for page in pages:
        if "image" in page:
            canvas.drawImage(ImageReader(picture()), 0, 0, 450, 180)
        if "layer" in page:
            text_object = canvas.beginText(30, 150)
            text_object.setTextRenderMode(3)
            for line in LINES:
                text_object.textLine(line)
            canvas.drawText(text_object)
        if "stamp" in page:
            canvas.drawString(30, 10, "Scan 0042 of the archive")
        if "prose" in page:
            canvas.drawString(30, 100, "This page has text of its own and needs no engine to read it aloud.")
            canvas.drawString(30, 80, "A second line says much the same, in other words.")
        canvas.showPage()
    canvas.save()
    return data.getvalue()


def test_case_89_pages_with_text_pages_that_are_pictures_and_pages_that_are_both(ocr_engine: str) -> None:
    parsed = PdfParser().parse(source(pdf("prose", "image", "image stamp"), "mixed.pdf"))
    by_page = dict.fromkeys((1, 2, 3), "")
    for block in parsed.blocks:
        by_page[block.places[0].page] += f" {block.text}"
    assert " ".join(LINES) in by_page[2]
    assert " ".join(LINES) in by_page[3]
    assert by_page[3].count("Scan 0042 of the archive") == 1
    assert parsed.metadata["ocr_pages"] == "2"
    assert "pages 2, 3" in next(loss.message for loss in parsed.losses if loss.code == "ocr")
    for block in parsed.blocks:
        for place in block.places:
            assert 0 <= place.box[0] < place.box[2] <= 450
            assert 0 <= place.box[1] < place.box[3] <= 200


def test_a_page_that_viewers_turn_although_its_picture_stands_upright(ocr_engine: str) -> None:
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=(200, 450), invariant=True)  # reportlab swaps the sides
    canvas.setPageRotation(90)
    canvas.drawImage(ImageReader(picture()), 0, 0, 450, 180)
    canvas.save()
    parsed = PdfParser().parse(source(data.getvalue(), "turned.pdf"))
    assert text(parsed) == " ".join(LINES)
    x0, y0, x1, y1 = parsed.blocks[0].places[1].box  # "harbour" lies on the page as it is stored
    assert x1 - x0 > 2 * (y1 - y0)


def test_a_page_with_a_text_layer_under_its_picture_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(languages: str) -> None:
        raise AssertionError(languages)

    monkeypatch.setattr(reader, "find_engine", fail)
    parsed = PdfParser().parse(source(pdf("image layer"), "layer.pdf"))
    assert " ".join(LINES) in text(parsed)
    assert parsed.parser.startswith("pdf/")


def test_print_that_nobody_can_read_is_told_and_left_out(ocr_engine: str) -> None:
    noise = Image.effect_noise((900, 400), 120)
    parsed = ImageParser().parse(source(saved(noise), "noise.png"))
    assert parsed.blocks == () or codes(parsed) - BENIGN
    assert codes(parsed) - BENIGN


def test_a_language_that_is_not_installed_is_told(ocr_engine: str, settings: None) -> None:
    configure(OcrSettings(languages="eng+xyz"))
    parsed = ImageParser().parse(source(saved(picture(LINES[:1])), "a.png"))
    assert text(parsed) == LINES[0]
    assert "tesseract-ocr-xyz" in next(loss.message for loss in parsed.losses if loss.code == "ocr_languages")


def test_time_that_is_used_up_leaves_pages_named(ocr_engine: str, settings: None) -> None:
    configure(OcrSettings(seconds=0.001))
    parsed = PdfParser().parse(source(pdf("prose", "image"), "slow.pdf"))
    told = next(loss.message for loss in parsed.losses if loss.code == "page_needs_ocr")
    assert "page 2" in told
    assert "used up" in told
    assert "This page has text" in text(parsed)


def test_memory_that_is_too_small_is_one_page_not_read(ocr_engine: str, settings: None) -> None:
    configure(OcrSettings(memory_bytes=30 << 20))
    parsed = ImageParser().parse(source(saved(picture()), "a.png"))
    assert parsed.blocks == ()
    assert "tesseract" in next(loss.message for loss in parsed.losses if loss.code == "page_needs_ocr")


def test_a_parser_process_gets_more_time_for_ocr_and_no_more(ocr_engine: str) -> None:
    with ParserPool(timeout_seconds=20, ocr_seconds=120) as pool:
        parsed = pool.parse(source(pdf("image"), "a.pdf"))
    assert " ".join(LINES) in text(parsed)
    assert parsed.parser.startswith("pdf+ocr/")


def test_the_books_of_a_scan_balance(ocr_engine: str) -> None:
    taken = source(saved(picture()), "a.png")
    parsed = ImageParser().parse(taken)
    made = canonicalise(parsed, taken, tenant="default")
    assert balance(parsed, made, [Chunk("c", made.id, 0, 0, len(made.text), made.text)], window=512).balanced
    assert parsed.source_counts.words == len(" ".join(LINES).split())


def test_what_an_engine_read_is_stamped_with_it(ocr_engine: str) -> None:
    names = extractors("eng+ita")
    assert names["pdf+ocr"].endswith(ocr_engine)
    assert names["image+ocr"] == ImageParser().parse(source(saved(picture(LINES[:1])), "a.png")).parser


GUESSES = b"""<html xmlns="http://www.w3.org/1999/xhtml"><body>
<span class="ocr_line" title="bbox 60 60 1800 100; x_size 40">%s</span></body></html>""" % b" ".join(
    b'<span class="ocrx_word" title="bbox %d 60 %d 100; x_wconf 22">MnarHocr</span>' % (at, at + 150)
    for at in range(60, 1700, 200)
)


@pytest.mark.parametrize(("languages", "read"), [(("eng", "ita"), 1), (("eng", "rus"), 3)])
def test_pages_in_a_script_that_is_not_read_are_told_after_a_glance_at_the_first(
    monkeypatch: pytest.MonkeyPatch, languages: tuple[str, ...], read: int
) -> None:
    tries: list[int] = []

    def guesses(self: engine.Engine, image: Image.Image, **limits: object) -> bytes:
        tries.append(1)
        return GUESSES

    found = engine.Engine("tesseract", "5", languages, (), knows_orientation=True)
    monkeypatch.setattr(reader, "find_engine", lambda _: found)
    monkeypatch.setattr(engine.Engine, "read", guesses)
    seen = engine.Orientation(0, 20.0, "Cyrillic")
    monkeypatch.setattr(engine.Engine, "orientation", lambda self, image, **limits: seen)
    parsed = PdfParser().parse(source(pdf("image", "image"), "a.pdf"))
    assert (parsed.blocks, parsed.empty_reason) == ((), "needs_ocr")
    assert len(tries) == read
    (loss,) = parsed.losses
    assert "pages 1, 2" in loss.message
    assert ("looks Cyrillic" in loss.message) == (read == 1)


# --- trust in tables


def table(*rows: str) -> list[Block]:
    """ROW blocks of cells parted by ``|``, each word with a box of its own; the first names the columns."""
    blocks = []
    for number, row in enumerate(rows):
        text_, places = "", []
        for column, cell in enumerate(row.split("|")):
            text_ += "; " if column else ""
            for index, word in enumerate(cell.split()):
                text_ += " " if index else ""
                box = (float(column), float(number), float(index), 0.0)
                places.append(Place(len(text_), len(text_) + len(word), page=1, box=box))
                text_ += word
        blocks.append(Block(BlockKind.ROW, text_, places=tuple(places), table=0, header=number == 0))
    return blocks


def judged(*rows: str, sure: int = 97) -> tuple[int, int]:
    blocks = table("Item|Qty|Price", *rows)
    found = table_trust(blocks, {place.box: sure for block in blocks for place in block.places if place.box})
    return found.trust, found.odd


def test_a_table_is_trusted_as_far_as_its_whole_rows_are() -> None:
    clean = ("Bolt M8|10|3.50", "Nut M8|12|4.75", "Pin|7|12.00", "Rod long|9|8.25")
    assert judged(*clean)[0] > 85
    assert judged(*clean)[1] == 0
    assert judged(*clean, sure=90)[0] < LOW, "words of 90 make rows of 70"
    assert judged(*clean, "Cap|l1|2.00", "Key|14|2:15")[1] == 2, "a letter among numbers, a colon for a point"
    assert judged(*clean, "Cap|2.00")[1] == 1, "a cell is lost"
    assert judged(*clean, "Cap|l1|2.00", "Key|14|2:15")[0] < judged(*clean)[0] * 0.75
    assert table_trust([], {}) == NOT_FOUND


# --- without it


def test_case_89_a_scan_without_an_engine_says_what_to_install(no_engine: None) -> None:
    for parsed in (
        PdfParser().parse(source(pdf("image"), "a.pdf")),
        ImageParser().parse(source(saved(picture()), "a.png")),
    ):
        assert (parsed.blocks, parsed.empty_reason) == ((), "needs_ocr")
        (loss,) = parsed.losses
        assert loss.code == "page_needs_ocr"
        assert engine.PACKAGES in loss.message
        assert parsed.parser.endswith("without an engine")


def test_without_an_engine_nothing_is_said_of_what_one_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert engine.find_engine("eng") is None
    assert "pdf+ocr" not in extractors()


@pytest.mark.parametrize("sides", [(10_000, 8_001), (60_000, 60_000), (2**31 - 1, 2**31 - 1)])
def test_a_picture_with_too_many_pixels_is_refused_before_it_is_unpacked(
    sides: tuple[int, int], no_engine: None
) -> None:
    body = saved(Image.new("1", (8, 8), 1))
    head = b"IHDR" + struct.pack(">II", *sides) + body[24:29]
    bomb = body[:12] + head + struct.pack(">I", zlib.crc32(head)) + body[33:]
    with pytest.raises(ParseError, match=f"the limit is {MAX_IMAGE_PIXELS}"):
        ImageParser().parse(source(bomb, "bomb.png"))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_damaged_pictures_are_typed_errors(kind: str, no_engine: None) -> None:
    body = saved(picture(), kind)
    for broken in (body[: len(body) // 2], body[:40], body[:20] + bytes(60) + body[80:]):
        try:
            parsed = ImageParser().parse(source(broken, "a"))
        except ParseError as error:
            assert error.message
        else:
            assert parsed.empty_reason == "needs_ocr"
