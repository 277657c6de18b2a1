"""Reading order of PDFs whose text runs from right to left, and of parts that were drawn one after the other."""

from __future__ import annotations

import io
from pathlib import Path

import pikepdf
import pytest
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from fonte.parsers.pdf import PdfParser
from fonte.types import Acl, BlockKind, Source

DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
needs_dejavu = pytest.mark.skipif(not DEJAVU.is_file(), reason="needs the DejaVu fonts")


def drawn(lines, *, font="Helvetica", size=11, pagesize=A4, rules=()) -> bytes:
    """A page of (x, y, text) in this order, each text set from left to right, with rules (x0, y0, x1, y1)."""
    if font == "DejaVu":
        pdfmetrics.registerFont(TTFont("DejaVu", str(DEJAVU)))
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=pagesize, invariant=1)
    for rule in rules:
        page.line(*rule)
    for x, y, text in lines:
        page.setFont(font, size)
        page.drawString(x, y, text)
    page.save()
    return buffer.getvalue()


def texts(body: bytes, kind: BlockKind | None = None) -> list[str]:
    parsed = PdfParser().parse(Source("file:///a.pdf", "a.pdf", "0", Acl(), body=body))
    return [block.text for block in parsed.blocks if kind is None or block.kind is kind]


@needs_dejavu
def test_a_lam_and_alef_of_one_glyph_stand_in_the_order_of_writing():
    """As typesetting programs write it: one glyph that stands for the two letters."""
    visual = "\u0643\ufefb\u0633"[::-1]
    with pikepdf.open(io.BytesIO(drawn([(100, 700, visual)], font="DejaVu", size=20))) as pdf:
        (font,) = (
            pdf.pages[0].Resources.Font.values()
            if len(pdf.pages[0].Resources.Font) == 1
            else (one for one in pdf.pages[0].Resources.Font.values() if "/ToUnicode" in one)
        )
        mapped = font.ToUnicode.read_bytes()
        assert b"<FEFB>" in mapped
        font.ToUnicode.write(mapped.replace(b"<FEFB>", b"<06440627>"))
        out = io.BytesIO()
        pdf.save(out)
    assert texts(out.getvalue()) == ["\u0643\u0644\u0627\u0633"]


@needs_dejavu
def test_a_ruled_table_that_runs_leftwards_begins_at_the_right():
    rows = [("שם", "מחיר"), ("תפוח אדום", "12"), ("אגס", "7 שקלים")]
    lines = []
    for at, (name, price) in enumerate(rows):
        lines += [(310, 710 - 30 * at, name[::-1]), (110, 710 - 30 * at, price[::-1] if at != 1 else price)]
    rules = [(100, 730 - 30 * at, 500, 730 - 30 * at) for at in range(4)]
    rules += [(x, 640, x, 730) for x in (100, 300, 500)]
    found = texts(drawn(lines, font="DejaVu", rules=rules), BlockKind.ROW)
    assert [row.index("תפוח אדום") < row.index("12") for row in found if "12" in row] == [True]
    assert any("אגס" in row and "7 שקלים" in row for row in found)


LEFT = ["1. Keep the valve shut", "2. Drain the tank", "3. Wait for an hour", "4. Refill"]
RIGHT = ["• hoses", "• a pair of gloves", "• the long key", "• tape"]


def test_two_lists_side_by_side_are_read_one_after_the_other():
    lines = [(80, 700 - 16 * at, text) for at, text in enumerate(LEFT)]
    lines += [(330, 700 - 16 * at, text) for at, text in enumerate(RIGHT)]
    assert texts(drawn(lines)) == [*LEFT, *RIGHT]


def test_two_pages_on_one_sheet_with_ragged_lines_are_read_one_after_the_other():
    left = [f"Question {at} of the left page?" + " It is a longer one." * (at % 3) for at in range(12)]
    right = [f"Answer {at} of the right page." + " And more of it here." * (at % 2) for at in range(12)]
    numbers = [(30, 30, "208"), (790, 30, "209")]
    lines = [(60, 500 - 30 * at, text) for at, text in enumerate(left)]
    lines += [(480, 500 - 30 * at, text) for at, text in enumerate(right)]
    read = " ".join(texts(drawn([*numbers, *lines], pagesize=landscape(A4))))
    assert read.index(left[-1]) < read.index(right[0])


def test_a_table_drawn_column_by_column_keeps_its_rows():
    names, figures = ["Pump", "Valve", "Hose", "Key"], ["12.50", "7.00", "3.20", "0.90"]
    lines = [(80, 700 - 16 * at, text) for at, text in enumerate(names)]
    lines += [(330, 700 - 16 * at, text) for at, text in enumerate(figures)]
    assert texts(drawn(lines)) == [f"{name} | {figure}" for name, figure in zip(names, figures, strict=True)]


def test_a_table_of_long_ragged_cells_drawn_row_by_row_keeps_its_rows():
    cells = [
        (f"Part {at}{' with a rather long name' * (at % 2)}", f"Shelf {at}{' in the yard behind it' * (at % 3)}")
        for at in range(1, 9)
    ]
    lines = [(x, 700 - 16 * at, text) for at, row in enumerate(cells) for x, text in zip((80, 330), row, strict=True)]
    assert texts(drawn(lines)) == [" | ".join(row) for row in cells]
