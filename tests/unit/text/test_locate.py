"""Locators, fragments and labels."""

from __future__ import annotations

import pytest

from fonte.text.locate import fragment, label, locate
from fonte.types import Document, Place
from making import document, heading, paragraph, row

PDF = "application/pdf"


def three_pages() -> Document:
    return document(
        paragraph(
            "alpha beta", Place(0, 5, page=1, box=(10, 700, 40, 712)), Place(6, 10, page=1, box=(44, 700, 70, 712))
        ),
        paragraph(
            "gamma delta", Place(0, 5, page=2, box=(10, 700, 40, 712)), Place(6, 11, page=2, box=(10, 680, 40, 692))
        ),
        paragraph("omega", Place(0, 5, page=3, box=(10, 700, 40, 712))),
        media_type=PDF,
        page_labels=("i", "ii", "1"),
        pages=3,
        name="policy.pdf",
    )


def test_case_21_page_is_that_of_the_first_own_character() -> None:
    doc = three_pages()
    start = doc.text.index("beta") + 4
    found = locate(doc, start, len(doc.text))
    assert (found.page, found.page_label, found.page_end) == (2, "ii", 3)
    for begin in range(len(doc.text)):
        assert locate(doc, begin, len(doc.text)).page in {1, 2, 3}


def test_case_19_page_and_printed_label_are_both_kept_and_shown() -> None:
    doc = three_pages()
    found = locate(doc, 0, 5)
    assert (found.page, found.page_label) == (1, "i")
    assert label(doc, found, ("A", "B")) == "policy.pdf, p. 1 (i), A > B"
    assert label(doc, locate(doc, 0, len(doc.text)), ()) == "policy.pdf, pp. 1-3 (i-1)"
    assert fragment(doc, found) == "#page=1"


def test_word_boxes_of_one_line_become_one_and_two_lines_two() -> None:
    doc = three_pages()
    assert locate(doc, 0, 10).boxes == ((10, 700, 70, 712),)
    gamma = doc.text.index("gamma")
    assert locate(doc, gamma, gamma + 11).boxes == ((10, 700, 40, 712), (10, 680, 40, 692))
    assert locate(doc, 0, len(doc.text)).boxes == ((10, 700, 70, 712),)


def test_case_86_a_word_broken_at_the_line_end_has_boxes_on_both_lines() -> None:
    first, second = Place(0, 6, page=1, box=(500, 700, 540, 712)), Place(6, 13, page=1, box=(40, 684, 80, 696))
    doc = document(paragraph("international", first, second), media_type=PDF)
    assert len(locate(doc, 0, 13).boxes) == 2


def test_case_25_a_single_cell_and_a_union_of_rows() -> None:
    doc = document(
        heading("Staff & Co"),
        row("Cost: 7", Place(0, 7, sheet="Staff & Co", range="C7")),
        row("Name: B", Place(0, 7, sheet="Staff & Co", range="B8:AB9")),
        name="book.xlsx",
    )
    start = doc.text.index("Cost")
    one = locate(doc, start, start + 7)
    assert (one.sheet, one.range) == ("Staff & Co", "C7")
    assert label(doc, one, ()) == "book.xlsx, Staff & Co!C7"
    assert fragment(doc, one) == "#sheet=Staff%20%26%20Co&range=C7"
    assert locate(doc, start, len(doc.text)).range == "B7:AB9"


def test_times_and_slides() -> None:
    doc = document(paragraph("one", Place(0, 3, time=(1.5, 2.0))), paragraph("two", Place(0, 3, time=(2.0, 75.25))))
    found = locate(doc, 0, len(doc.text))
    assert fragment(doc, found) == "#t=1.5,75.25"
    assert label(doc, found, ()) == "policy.md, 0:01-1:15"
    deck = document(paragraph("x", Place(0, 1, slide=4)))
    assert fragment(deck, locate(deck, 0, 1)) == "#slide=4"


def test_anchor_is_the_nearest_before_in_the_section() -> None:
    doc = document(
        heading("A", places=[Place(0, 1, anchor="a")]),
        paragraph("first"),
        paragraph("second", Place(0, 0, anchor="s")),
        heading("B"),
        paragraph("third"),
    )
    assert locate(doc, doc.text.index("first"), doc.text.index("first") + 2).anchor == "a"
    assert locate(doc, doc.text.index("second") + 1, len(doc.text)).anchor == "s"
    assert locate(doc, doc.text.index("third"), len(doc.text)).anchor is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_where_text_is_verbatim(end: str) -> None:
    doc = document(paragraph(f"one{end}two{end}three"), verbatim=True, name="a.txt")
    start = doc.text.index("two")
    assert locate(doc, start, start + 3).lines == (2, 2)
    assert locate(doc, 3, len(doc.text)).lines == (2, 3)
    assert label(doc, locate(doc, start, len(doc.text)), ()) == "a.txt, lines 2-3"
    assert fragment(doc, locate(doc, start, start + 3)) == f"#char={start},{start + 3}"


def test_lines_come_from_places_elsewhere() -> None:
    doc = document(paragraph("one two", Place(0, 3, lines=(3, 3)), Place(4, 7, lines=(4, 6))))
    assert locate(doc, 0, 7).lines == (3, 6)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (0, 99), (3, 2)])
def test_a_range_outside_the_document_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError):
        locate(document(paragraph("short")), start, end)


def test_case_24_a_format_without_pages_gets_none() -> None:
    doc = document(paragraph("text"), name="a.docx")
    assert locate(doc, 0, 4).page is None
