"""Blocks to canonical text: separators, sections, title, places."""

from __future__ import annotations

from fonte.text.canonical import canonicalise
from fonte.types import Parsed, Place, document_id
from making import document, heading, item, paragraph, row, source


def test_blocks_are_parted_by_what_they_are() -> None:
    doc = document(
        paragraph("One"),
        item("- a"),
        item("- b"),
        row("A | B", header=True),
        row("A: 1"),
        row("C", table=1),
        paragraph("Two"),
    )
    assert doc.text == "One\n\n- a\n- b\n\nA | B\nA: 1\n\nC\n\nTwo"
    assert [doc.text[span.start : span.end] for span in doc.spans] == ["One", "- a", "- b", "A | B", "A: 1", "C", "Two"]


def test_verbatim_text_stays_as_it_was() -> None:
    text = "  First line\nsecond\n\n\n\nThird \n"
    doc = document(
        paragraph("First line\nsecond", before="  "), paragraph("Third", before="\n\n\n\n"), tail=" \n", verbatim=True
    )
    assert doc.text == text
    assert doc.lines_are_source_lines


def test_what_no_store_can_hold_becomes_one_replacement_each() -> None:
    doc = document(paragraph("a\0b\ud800c\u0301"))
    assert doc.text == "a\ufffdb\ufffdc\u0301"


def test_characters_are_not_normalised() -> None:
    text = "o\ufb03ce \u00addecomposed e\u0301 ½"
    assert document(paragraph(text)).text == text


def test_sections_follow_headings_and_leave_no_gap() -> None:
    doc = document(
        paragraph("Before"),
        heading("A"),
        paragraph("a"),
        heading("A.1.1", 3),
        paragraph("deep"),
        heading("B", 2),
        heading("C"),
    )
    assert [(section.path, doc.text[section.body_start : section.end].strip()) for section in doc.sections] == [
        ((), "Before"), (("A",), "a"), (("A", "A.1.1"), "deep"), (("A", "B"), ""), (("C",), ""),
    ]  # fmt: skip
    assert [section.start for section in doc.sections[1:]] == [section.end for section in doc.sections[:-1]]
    assert (doc.sections[0].start, doc.sections[-1].end) == (0, len(doc.text))


def test_title_is_told_or_the_first_main_heading_or_the_name() -> None:
    assert document(heading("H"), title=" Told  so ").title == "Told so"
    assert document(heading("Sub", 2), heading("Main")).title == "Main"
    assert document(heading("Sub", 2), name="a/leave.v2.pdf").title == "leave.v2"


def test_identity_is_the_tenant_and_the_source_and_version_its_bytes() -> None:
    doc = document(paragraph("x"))
    assert (doc.id, doc.version) == (document_id("t", "file:///policy.md"), "0" * 64)


def test_language_is_the_sources_or_detected() -> None:
    text = "Il dipendente ha diritto a ventisei giorni di ferie all'anno, che maturano ogni mese."
    assert document(paragraph(text), language=None).language == "it"
    assert document(paragraph(text), language="en").language == "en"
    assert document(paragraph("12 34"), language=None).language == "und"


def test_places_are_shifted_sorted_and_do_not_overlap() -> None:
    doc = document(
        paragraph("One"), paragraph("Two words", Place(4, 9, page=2), Place(0, 5, page=1), Place(0, 0, anchor="top"))
    )
    assert [(place.start, place.end, place.page) for place in doc.places] == [(5, 5, None), (5, 10, 1), (10, 14, 2)]


def test_a_document_without_text_is_empty_and_has_no_sections() -> None:
    doc = canonicalise(Parsed((), "test/1", empty_reason="empty"), source(), tenant="t")
    assert (doc.text, doc.sections, doc.spans) == ("", (), ())
