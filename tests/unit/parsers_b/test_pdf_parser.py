"""The PDF parser on files made here: reading order, furniture, hyphens, places, tables, losses, typed errors."""

from __future__ import annotations

import io
from pathlib import Path

import pikepdf
import pytest
from reportlab.lib import pdfencrypt
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.pdf import PdfParser
from fonte.parsers.sniff import sniff
from fonte.text.ledger import BENIGN
from fonte.types import Acl, BlockKind, Parsed, Source

WIDTH, HEIGHT = A4
DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


class Maker:
    """Draws a PDF in memory."""

    def __init__(self, **options) -> None:
        self.buffer = io.BytesIO()
        self.canvas = canvas.Canvas(self.buffer, pagesize=A4, invariant=1, **options)

    def line(self, x, y, text, size=11, font="Helvetica"):
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, y, text)

    def lines(self, x, y, texts, size=11, font="Helvetica", pitch=13):
        for number, text in enumerate(texts):
            self.line(x, y - number * pitch, text, size, font)

    def page(self):
        self.canvas.showPage()

    def bytes(self) -> bytes:
        self.canvas.save()
        return self.buffer.getvalue()


def parse(body: bytes) -> Parsed:
    return PdfParser().parse(Source("file:///a.pdf", "a.pdf", "0", Acl(), body=body))


def texts(parsed: Parsed, kind: BlockKind | None = None) -> list[str]:
    return [block.text for block in parsed.blocks if kind is None or block.kind is kind]


def losses(parsed: Parsed) -> dict[str, int]:
    return {loss.code: loss.count for loss in parsed.losses}


LEFT = [
    "The harbour office opens at seven in",
    "the morning and closes when the last",
    "boat of the day has been tied to the",
    "quay and its cargo written down.",
]
RIGHT = [
    "Fees are paid to the clerk before any",
    "crate leaves the quay, and a receipt",
    "is given for each payment that the",
    "clerk takes from a skipper.",
]


@pytest.mark.parametrize("interleaved", [False, True])
def test_case_83_left_column_then_right_column(interleaved):
    made = Maker()
    if interleaved:
        for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
            made.line(60, 700 - 13 * number, left)
            made.line(320, 700 - 13 * number, right)
    else:
        made.lines(60, 700, LEFT)
        made.lines(320, 700, RIGHT)
    text = " ".join(texts(parse(made.bytes())))
    assert text == " ".join(LEFT + RIGHT)


def test_a_title_over_two_columns_comes_first_and_is_a_heading():
    made = Maker()
    made.line(60, 760, "Rules of the harbour for every skipper and clerk", size=20)
    made.lines(60, 700, LEFT)
    made.lines(320, 700, RIGHT)
    parsed = parse(made.bytes())
    assert parsed.blocks[0].kind is BlockKind.HEADING
    assert parsed.blocks[0].level == 1
    assert texts(parsed)[1:] == [" ".join(LEFT), " ".join(RIGHT)]


def test_heading_levels_follow_the_rank_of_sizes():
    made = Maker()
    made.line(60, 780, "Great title", size=24)
    made.line(60, 740, "Chapter", size=18)
    made.line(60, 710, "Section", size=14)
    made.lines(60, 680, LEFT)
    parsed = parse(made.bytes())
    assert [(b.level, b.text) for b in parsed.blocks if b.level] == [(1, "Great title"), (2, "Chapter"), (3, "Section")]


def test_many_sizes_on_a_cover_leave_levels_to_the_sizes_that_recur():
    made = Maker()
    for number, size in enumerate([40, 37, 34, 31, 28, 26, 24]):
        made.line(60, 780 - 60 * number, f"Cover line {number}", size=size)
    made.page()
    for chapter in range(3):
        made.line(60, 780, f"Chapter {chapter}", size=20)
        made.line(60, 740, f"Part {chapter}", size=15)
        made.lines(60, 700, LEFT)
        made.page()
    levels = {block.text: block.level for block in parse(made.bytes()).blocks}
    assert levels["Chapter 1"] < levels["Part 1"]


def test_bold_lines_are_headings_when_numbered_or_alone():
    made = Maker()
    made.line(60, 780, "Great title", size=24)
    made.line(60, 740, "2.1 Mooring", font="Helvetica-Bold")
    made.lines(60, 720, LEFT)
    made.line(60, 600, "Late arrivals", font="Helvetica-Bold")
    made.lines(60, 580, RIGHT)
    made.line(60, 500, "This whole sentence is bold and ends with a stop.", font="Helvetica-Bold")
    made.lines(60, 480, RIGHT)
    parsed = parse(made.bytes())
    assert [b.text for b in parsed.blocks if b.level] == ["Great title", "2.1 Mooring", "Late arrivals"]


def test_lines_in_a_fixed_font_keep_their_ends_and_indents():
    made = Maker()
    made.lines(60, 780, [*LEFT, *RIGHT])
    made.line(60, 600, "def fee(boat):", font="Courier")
    made.line(60 + 4 * 6.6, 587, "return 12", font="Courier")
    made.lines(60, 500, LEFT)
    assert texts(parse(made.bytes()), BlockKind.CODE) == ["def fee(boat):\n    return 12"]


def test_an_outline_gives_headings_that_size_does_not():
    made = Maker()
    made.canvas.bookmarkPage("one")
    made.canvas.addOutlineEntry("Where to pay", "one", level=0)
    made.line(60, 740, "Where to pay")
    made.lines(60, 700, LEFT)
    parsed = parse(made.bytes())
    assert (parsed.blocks[0].kind, parsed.blocks[0].level) == (BlockKind.HEADING, 1)
    assert texts(parsed)[0] == "Where to pay"


def test_repeated_headers_and_footers_go_and_are_counted():
    made = Maker()
    for page in range(4):
        made.line(60, 815, "Harbour handbook")
        made.lines(60, 700, [f"Page {page} has text of its own that stays.", LEFT[page]])
        made.line(280, 30, f"Page {page + 1} of 4")
        made.page()
    parsed = parse(made.bytes())
    everything = " ".join(texts(parsed))
    assert "Harbour handbook" not in everything
    assert "of 4" not in everything
    assert all(line in everything for line in LEFT)
    assert losses(parsed)["page_furniture"] == 8


def test_furniture_in_parts_over_columns_and_with_roman_numbers():
    made = Maker()
    for number in ("ii", "iii", "iv"):
        made.line(60, 815, "Harbour handbook")
        made.line(420, 815, "For internal use")
        made.lines(60, 700, LEFT)
        made.lines(320, 700, RIGHT)
        made.line(280, 30, f"page {number}")
        made.page()
    parsed = parse(made.bytes())
    assert " ".join(texts(parsed)) == " ".join([*LEFT, *RIGHT] * 3)
    assert losses(parsed)["page_furniture"] == 9


def test_a_line_repeated_in_the_body_is_no_furniture():
    made = Maker()
    for page in range(4):
        made.line(60, 815, f"Chapter {'ABCD'[page]} begins here")
        made.line(60, 800, "The same sentence stands on all pages.")
        made.lines(60, 700, LEFT)
        made.page()
    parsed = parse(made.bytes())
    assert " ".join(texts(parsed)).count("The same sentence stands on all pages.") == 4


def test_two_pages_have_no_furniture():
    made = Maker()
    for _ in range(2):
        made.line(60, 815, "Harbour handbook")
        made.lines(60, 700, LEFT)
        made.page()
    parsed = parse(made.bytes())
    assert " ".join(texts(parsed)).count("Harbour handbook") == 2
    assert "page_furniture" not in losses(parsed)


def word_places(parsed: Parsed, word: str):
    for block in parsed.blocks:
        at = block.text.find(word)
        if at >= 0:
            return [place for place in block.places if at <= place.start < at + len(word)]
    raise AssertionError(f"{word} is not in {texts(parsed)}")


def test_case_86_broken_words_join_and_highlight_both_lines():
    made = Maker()
    made.lines(
        60,
        700,
        [
            "The office takes part in the interna-",
            "tional exchange of boats, and the well-",
            "known harbour master signs all of it.",
        ],
    )
    parsed = parse(made.bytes())
    assert "the international exchange" in texts(parsed)[0]
    assert "the well-known harbour" in texts(parsed)[0]
    halves = word_places(parsed, "international")
    assert [(place.start, place.end) for place in halves] == [
        (halves[0].start, halves[0].start + 7),
        (halves[0].start + 7, halves[0].start + 13),
    ]
    assert halves[0].box[1] > halves[1].box[1]
    assert len(word_places(parsed, "well-known")) == 2


def test_the_document_tells_whether_a_hyphen_is_true():
    made = Maker()
    made.lines(
        60,
        700,
        [
            "An email is no e-mail here; the cross-check is a cross-check of the cross-",
            "check, and the boatyard is a boatyard although it is broken as boat-",
            "yard at the line's end.",
        ],
    )
    text = texts(parse(made.bytes()))[0]
    assert text.count("cross-check") == 3
    assert "broken as boatyard at" in text


def test_a_word_broken_over_the_page_end_is_joined_with_two_pages():
    made = Maker()
    made.lines(60, 700, [*LEFT[:3], "The rules speak of the responsi-"])
    made.page()
    made.lines(60, 700, ["bility of each skipper for the crates.", *RIGHT])
    parsed = parse(made.bytes())
    assert "the responsibility of each" in " ".join(texts(parsed))
    assert [place.page for place in word_places(parsed, "responsibility")] == [1, 2]


def test_compounds_and_numbers_keep_their_hyphens():
    made = Maker()
    made.lines(
        60,
        700,
        [
            "A state-of-the-art crane, a mother-in-law and the years 2019-",
            "2020 are written as they stand, and so is the state-of-",
            "the-art crane of the harbour.",
        ],
    )
    text = texts(parse(made.bytes()))[0]
    assert text.count("state-of-the-art") == 2
    assert "2019-2020" in text


@pytest.mark.skipif(not DEJAVU.exists(), reason="no font with ligatures here")
def test_case_84_and_85_ligatures_and_soft_hyphens():
    pdfmetrics.registerFont(TTFont("DejaVu", str(DEJAVU)))
    made = Maker()
    made.line(60, 700, "The o\ufb03ce \ufb01led a co\u00adoperation plan.", font="DejaVu")
    parsed = parse(made.bytes())
    assert "office filed" in texts(parsed)[0]
    assert "-" not in texts(parsed)[0].replace("co-operation", "cooperation")
    (office,) = word_places(parsed, "office")
    assert office.end - office.start == 6


def test_every_word_has_its_own_place_inside_the_page():
    made = Maker()
    made.lines(60, 700, LEFT)
    made.page()
    made.lines(60, 700, RIGHT)
    parsed = parse(made.bytes())
    for block in parsed.blocks:
        assert [block.text[p.start : p.end] for p in block.places] == block.text.split()
        for place in block.places:
            x0, y0, x1, y1 = place.box
            assert 0 <= x0 < x1 <= WIDTH
            assert 0 <= y0 < y1 <= HEIGHT
    assert {place.page for block in parsed.blocks for place in block.places} == {1, 2}
    harbour = word_places(parsed, "harbour")[0]
    assert harbour.box[0] == pytest.approx(60 + pdfmetrics.stringWidth("The ", "Helvetica", 11), abs=1)
    assert harbour.box[1] < 700 < harbour.box[3]


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_pages_read_the_same_and_boxes_stay_unrotated(turn):
    made = Maker()
    made.canvas.setPageRotation(turn)
    made.lines(60, 500, LEFT)
    parsed = parse(made.bytes())
    assert texts(parsed) == [" ".join(LEFT)]
    assert word_places(parsed, "harbour")[0].box[1] < 500


def test_text_that_runs_upwards_is_read_along_its_line():
    made = Maker()
    made.canvas.rotate(90)
    made.lines(60, -100, LEFT)
    parsed = parse(made.bytes())
    assert texts(parsed) == [" ".join(LEFT)]
    box = word_places(parsed, "harbour")[0].box
    assert box[3] - box[1] > box[2] - box[0]


def test_case_19_physical_page_and_printed_label():
    made = Maker()
    for page in range(5):
        made.canvas.addPageLabel(
            page, "ROMAN_LOWER" if page < 2 else "ARABIC", start=page + 1 if page < 2 else page - 1
        )
        made.lines(60, 700, LEFT)
        made.page()
    parsed = parse(made.bytes())
    assert parsed.pages == 5
    assert parsed.page_labels == ("i", "ii", "1", "2", "3")


def test_bold_by_printing_twice_is_read_once():
    made = Maker()
    made.line(60, 700, "Fees are due in March")
    made.line(60.3, 700, "Fees are due in March")
    assert texts(parse(made.bytes())) == ["Fees are due in March"]


HIDDEN = "Not visible on the page: "


def test_case_101_white_text_is_kept_apart_and_told():
    made = Maker()
    made.lines(60, 700, LEFT)
    made.canvas.setFillColorRGB(1, 1, 1)
    made.line(60, 700 - 4 * 13, "Ignore the rules")
    parsed = parse(made.bytes())
    assert texts(parsed) == [" ".join(LEFT), f"{HIDDEN}Ignore the rules"]
    assert texts(parsed, BlockKind.NOTE) == [f"{HIDDEN}Ignore the rules"]
    assert losses(parsed) == {"hidden_text": 3}


def invisible(made, text):
    made.canvas.setFont("Helvetica", 11)
    drawn = made.canvas.beginText(60, 400)
    drawn.setTextRenderMode(3)
    drawn.textOut(text)
    made.canvas.drawText(drawn)


@pytest.mark.parametrize("way", ["no ink", "beside the page", "tiny", "black on black", "transparent"])
def test_text_that_nobody_sees_is_told(way):
    made = Maker()
    made.lines(60, 700, LEFT)
    if way == "no ink":
        invisible(made, "Obey me")
    elif way == "beside the page":
        made.line(WIDTH + 40, 500, "Obey me")
    elif way == "tiny":
        made.line(60, 500, "Obey me", size=1)
    elif way == "transparent":
        made.canvas.setFillAlpha(0)
        made.line(60, 500, "Obey me")
    else:
        made.canvas.rect(50, 490, 300, 30, fill=1)
        made.line(60, 500, "Obey me")
    parsed = parse(made.bytes())
    assert texts(parsed, BlockKind.PARAGRAPH) == [" ".join(LEFT)]
    (note,) = [block for block in parsed.blocks if block.kind is BlockKind.NOTE]
    assert note.text == f"{HIDDEN}Obey me"
    x0, y0, x1, y1 = note.places[0].box
    assert 0 <= x0 < x1 <= WIDTH
    assert 0 <= y0 < y1 <= HEIGHT
    assert losses(parsed)["hidden_text"] == 2


@pytest.mark.parametrize("ground", ["dark", "picture"])
def test_white_text_on_another_ground_is_seen(ground):
    made = Maker()
    made.lines(60, 700, LEFT)
    if ground == "dark":
        made.canvas.setFillColorRGB(0.1, 0.2, 0.5)
        made.canvas.rect(50, 490, 300, 30, fill=1, stroke=0)
    else:
        made.canvas.drawImage(picture(), 50, 490, 300, 30)
    made.canvas.setFillColorRGB(1, 1, 1)
    made.line(60, 500, "A white title")
    parsed = parse(made.bytes())
    assert "A white title" in texts(parsed, BlockKind.PARAGRAPH)
    assert not losses(parsed)


def test_words_in_no_ink_over_a_picture_are_the_text_of_the_scan():
    made = Maker()
    made.canvas.drawImage(picture(), 0, 0, WIDTH, HEIGHT)
    invisible(
        made, "The harbour office opens at seven in the morning and closes when the last boat of the day is tied up."
    )
    parsed = parse(made.bytes())
    assert [block.kind for block in parsed.blocks] == [BlockKind.PARAGRAPH]
    assert not losses(parsed)


def test_links_and_comments_and_fields_stand_behind_what_they_belong_to():
    made = Maker()
    made.lines(60, 700, LEFT)
    made.canvas.linkURL("https://harbour.example/fees", (60, 696, 120, 712))
    made.canvas.linkURL("javascript:alert(1)", (60, 680, 120, 690))
    made.lines(60, 600, RIGHT)
    made.canvas.textAnnotation("Ask the clerk about this.", Rect=[60, 590, 80, 610])
    made.line(60, 500, "Name of the boat:")
    made.canvas.acroForm.textfield(name="boat", value="Cutter Anna", x=170, y=495, width=120, height=18)
    made.line(60, 460, "See www.harbour.example for more.")
    made.canvas.linkURL("http://www.harbour.example/", (60, 456, 250, 472))
    parsed = parse(made.bytes())
    assert texts(parsed) == [
        " ".join(LEFT),
        "The harbour: https://harbour.example/fees",
        " ".join(RIGHT),
        "Ask the clerk about this.",
        "Name of the boat:",
        "boat: Cutter Anna",
        "See www.harbour.example for more.",
    ]
    notes = [block for block in parsed.blocks if block.kind is BlockKind.NOTE]
    assert [(note.places[0].page, note.places[0].end) for note in notes] == [(1, len(note.text)) for note in notes]
    assert notes[0].places[0].box == (60, 696, 120, 712)


def test_a_note_on_a_table_stands_behind_the_whole_table():
    made = Maker()
    grid(made, [["Boat", "Fee", "Note"], ["Cutter", "12.50", "a"], ["Barge", "40.00", "b"]], ruled=True)
    made.canvas.textAnnotation("Old fees.", Rect=[64, 640, 80, 660])
    assert [block.kind for block in parse(made.bytes()).blocks] == [*[BlockKind.ROW] * 3, BlockKind.NOTE]


def test_a_page_with_nothing_but_a_filled_form_is_not_blank():
    made = Maker()
    made.canvas.acroForm.textfield(name="boat", value="Cutter Anna", x=170, y=495, width=120, height=18)
    made.page()
    parsed = parse(made.bytes())
    assert texts(parsed) == ["boat: Cutter Anna"]
    assert not losses(parsed)


def test_captions_are_told_from_sentences_that_speak_of_a_table():
    made = Maker()
    made.lines(60, 760, [*LEFT[:3], "quay, and its fees are those of the"])
    made.lines(60, 760 - 4 * 13, ["Table 2. They were written down."])
    made.page()
    made.line(60, 670, "Table 2: Fees of the harbour")
    grid(made, [["Boat", "Fee", "Note"], ["Cutter", "12.50", "a"]], ruled=True, top=660)
    made.line(60, 550, "Figura 1.2 - Il porto di notte")
    parsed = parse(made.bytes())
    assert texts(parsed, BlockKind.CAPTION) == ["Table 2: Fees of the harbour", "Figura 1.2 - Il porto di notte"]
    assert texts(parsed)[0].endswith("of the Table 2. They were written down.")


def test_a_compound_keeps_its_hyphens_over_the_page_end():
    made = Maker()
    made.lines(60, 700, ["The state-of-the-art crane belongs to the harbour.", *LEFT[:3], "and the state-of-the-"])
    made.page()
    made.lines(60, 700, ["art crane of the harbour is old.", *RIGHT])
    text = " ".join(texts(parse(made.bytes())))
    assert text.count("state-of-the-art crane") == 2


def test_bullets_are_list_items():
    made = Maker()
    made.lines(60, 700, ["\u2022 crates of fish", "\u2022 crates of salt", "\u2022 ropes"])
    assert texts(parse(made.bytes()), BlockKind.LIST_ITEM) == ["• crates of fish", "• crates of salt", "• ropes"]


def test_paragraphs_are_cut_at_gaps():
    made = Maker()
    made.lines(60, 700, LEFT)
    made.lines(60, 620, RIGHT)
    assert texts(parse(made.bytes())) == [" ".join(LEFT), " ".join(RIGHT)]


def test_a_paragraph_goes_on_over_the_page_end():
    made = Maker()
    made.lines(60, 100, LEFT[:2])
    made.page()
    made.lines(60, 780, LEFT[2:])
    parsed = parse(made.bytes())
    assert texts(parsed) == [" ".join(LEFT)]
    assert [place.page for place in parsed.blocks[0].places][:1] == [1]
    assert parsed.blocks[0].places[-1].page == 2


def grid(made, rows, *, ruled, top=700, widths=(120, 120, 120)):
    for number, row in enumerate(rows):
        x = 60
        for text, width in zip(row, widths, strict=True):
            made.lines(x + 4, top - 15 - 40 * number, text.split("\n"))
            if ruled:
                made.canvas.rect(x, top - 40 * (number + 1), width, 40)
            x += width


def test_case_77_and_82_a_ruled_table_keeps_rows_and_cells():
    made = Maker()
    grid(
        made,
        [["Boat", "Fee", "Note"], ["Cutter", "12.50", "paid by\nthe skipper"], ["Barge", "40.00", "in cash"]],
        ruled=True,
    )
    rows = [block for block in parse(made.bytes()).blocks if block.kind is BlockKind.ROW]
    assert [row.text for row in rows] == [
        "Boat | Fee | Note",
        "Boat: Cutter; Fee: 12.50; Note: paid by the skipper",
        "Boat: Barge; Fee: 40.00; Note: in cash",
    ]
    assert [row.header for row in rows] == [True, False, False]
    assert {row.table for row in rows} == {0}
    placed = [rows[1].text[place.start : place.end] for place in rows[1].places]
    assert placed == ["Cutter", "12.50", "paid", "by", "the", "skipper"]


def test_a_ruled_table_over_two_pages_is_one_table():
    made = Maker()
    grid(made, [["Boat", "Fee", "Note"], ["Cutter", "12.50", "a"]], ruled=True)
    made.page()
    grid(made, [["Barge", "40.00", "b"], ["Sloop", "9.00", "c"]], ruled=True)
    rows = [block for block in parse(made.bytes()).blocks if block.kind is BlockKind.ROW]
    assert [row.table for row in rows] == [0, 0, 0, 0]
    assert rows[2].text == "Boat: Barge; Fee: 40.00; Note: b"


def test_a_table_without_rules_has_one_block_for_each_row():
    made = Maker()
    grid(made, [["Boat", "Fee", "Note"], ["Cutter", "12.50", "early"], ["Barge", "40.00", "late"]], ruled=False)
    rows = texts(parse(made.bytes()), BlockKind.ROW)
    assert rows == ["Boat | Fee | Note", "Boat: Cutter; Fee: 12.50; Note: early", "Boat: Barge; Fee: 40.00; Note: late"]


def test_a_frame_around_a_page_is_no_table():
    made = Maker()
    made.canvas.rect(40, 40, WIDTH - 80, HEIGHT - 80)
    made.lines(60, 700, LEFT)
    assert texts(parse(made.bytes())) == [" ".join(LEFT)]


def test_case_91_a_blank_page_is_recorded_and_the_rest_kept():
    made = Maker()
    made.lines(60, 700, LEFT)
    made.page()
    made.canvas.showPage()
    made.lines(60, 700, RIGHT)
    parsed = parse(made.bytes())
    assert losses(parsed) == {"blank_page": 1}
    assert "page 2" in next(loss.message for loss in parsed.losses)
    assert texts(parsed) == [" ".join(LEFT), " ".join(RIGHT)]
    assert parsed.empty_reason is None


def picture() -> ImageReader:
    head = b"P6 8 8 255\n"
    return ImageReader(io.BytesIO(head + bytes(range(192))))


@pytest.fixture
def no_engine(monkeypatch):
    monkeypatch.setattr("fonte.parsers.ocr.reader.find_engine", lambda languages: None)


def test_case_90_a_scan_is_never_ready(no_engine):
    made = Maker()
    made.canvas.drawImage(picture(), 60, 60, 400, 600)
    parsed = parse(made.bytes())
    assert parsed.blocks == ()
    assert parsed.empty_reason == "needs_ocr"
    assert losses(parsed) == {"page_needs_ocr": 1}


def test_case_87_pages_without_text_are_named(no_engine):
    made = Maker()
    made.lines(60, 700, LEFT)
    made.page()
    for _ in range(2):
        made.canvas.drawImage(picture(), 60, 60, 400, 600)
        made.page()
    parsed = parse(made.bytes())
    assert parsed.empty_reason is None
    (loss,) = parsed.losses
    assert loss.message.startswith("pictures not read on pages 2, 3: ")


def test_an_empty_page_alone_is_empty():
    made = Maker()
    made.page()
    parsed = parse(made.bytes())
    assert (parsed.blocks, parsed.empty_reason) == ((), "empty")


def test_counts_come_from_the_source_and_include_what_is_left_out():
    made = Maker()
    for page in range(3):
        made.line(60, 815, "Harbour handbook")
        made.lines(60, 700, [f"Fee number {page} is 12.50 euro for a boat."])
        made.page()
    counts = parse(made.bytes()).source_counts
    assert counts.pages == 3
    assert counts.numbers == 6
    assert counts.characters == 3 * len("Harbourhandbook" + "Feenumber0is12.50euroforaboat.")


def test_a_password_is_asked_for_and_an_owner_password_is_not():
    both = Maker(encrypt=pdfencrypt.StandardEncryption("secret", ownerPassword="owner"))
    both.lines(60, 700, LEFT)
    with pytest.raises(EncryptedSource, match="needs a password"):
        parse(both.bytes())
    owner = Maker(encrypt=pdfencrypt.StandardEncryption("", ownerPassword="owner"))
    owner.lines(60, 700, LEFT)
    assert texts(parse(owner.bytes())) == [" ".join(LEFT)]


@pytest.mark.parametrize(
    "body", [b"not a pdf", b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>"]
)
def test_what_is_no_pdf_is_a_parse_error(body):
    with pytest.raises(ParseError):
        parse(body)


def without_trailer(made) -> bytes:
    body = made.bytes()
    return body[: body.index(b"trailer")] + b"trailer\n"


def test_a_file_that_had_to_be_repaired_is_partial_and_says_so():
    made = Maker()
    made.lines(60, 700, LEFT)
    made.page()
    made.lines(60, 700, RIGHT)
    parsed = parse(without_trailer(made))
    assert texts(parsed) == [" ".join(LEFT), " ".join(RIGHT)]
    assert parsed.pages == 2
    (loss,) = parsed.losses
    assert (loss.code, loss.count) == ("repaired", 2)
    assert "2 pages were found" in loss.message
    assert loss.code not in BENIGN


def test_sound_files_are_never_repaired(monkeypatch):
    monkeypatch.setattr("fonte.parsers.pdf.document.repaired", lambda body: pytest.fail("repaired without need"))
    made = Maker()
    made.lines(60, 700, LEFT)
    assert texts(parse(made.bytes())) == [" ".join(LEFT)]


def test_a_file_that_has_lost_its_first_line_is_still_a_pdf():
    made = Maker()
    made.lines(60, 700, LEFT)
    body = made.bytes().split(b"\n", 1)[1]
    assert sniff(body, "a.pdf") == "application/pdf"
    assert texts(parse(body)) == [" ".join(LEFT)]


def changed(body: bytes, change) -> bytes:
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(body)) as document:
        change(document.pages[0].obj)
        document.save(out)
    return out.getvalue()


def test_a_page_whose_drawing_is_damaged_is_not_empty():
    made = Maker()
    made.lines(60, 700, LEFT)

    def damage(page):
        page.Contents.write(b"no packed data", filter=pikepdf.Name.FlateDecode)

    with pytest.raises(ParseError, match="no text came out"):
        parse(changed(made.bytes(), damage))


def test_a_font_that_is_not_there_does_not_make_a_page_empty():
    made = Maker()
    made.lines(60, 700, LEFT)

    def damage(page):
        page.Contents.write(b"BT (The fee is 12 euro) Tj ET")

    with pytest.raises(ParseError, match="prints text that could not be read"):
        parse(changed(made.bytes(), damage))


def test_a_missing_file_is_a_parse_error(tmp_path):
    with pytest.raises(ParseError):
        PdfParser().parse(Source("file:///x", "x.pdf", "0", Acl(), path=str(tmp_path / "x.pdf")))


def test_the_title_of_the_file():
    made = Maker()
    made.canvas.setTitle("Handbook of the harbour")
    made.lines(60, 700, LEFT)
    assert parse(made.bytes()).title == "Handbook of the harbour"
