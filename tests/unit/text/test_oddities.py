"""Remarks on texts: print that is no words, repetition, headings over nothing; and none on usual texts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fonte.text.oddities import oddities
from fonte.types import Document
from making import document, heading, paragraph

PROSE = "The policy grants 26 days of leave each year, and unused days pass into the next one until June. " * 3
ITALIAN = "Il regolamento concede ventisei giorni di ferie all'anno; i giorni non goduti passano all'anno dopo. " * 3


def codes(doc: Document) -> list[str]:
    return [loss.code for loss in oddities(doc)]


def test_usual_texts_have_no_remark() -> None:
    for text in (PROSE, ITALIAN):
        assert codes(document(heading("Leave"), paragraph(text))) == []


def test_print_that_is_no_words_is_said() -> None:
    draw = random.Random(4)
    mess = " ".join("".join(draw.choices("bcdfghjklmnpqrstvwxzaei", k=7)) for _ in range(80))
    lost = "\ufffd\ufffd\ufffd text " * 40
    glyphs = "(cid:12)(cid:8) (cid:44) " * 40
    for text in (mess, lost, glyphs):
        assert codes(document(paragraph(text))) == ["gibberish"]


def test_codes_names_and_other_scripts_are_no_gibberish() -> None:
    parts = "AB-1234-X XKCD HTTPS GmbH Krzysztof Szczepan rhythm strengths MT-204-B Brno Vltava " * 6
    greek = "Η πολιτική δίνει είκοσι έξι ημέρες άδειας κάθε χρόνο και οι υπόλοιπες περνούν στον επόμενο " * 4
    for text in (parts, greek, "有給休暇は年に二十六日です。 " * 40):
        assert "gibberish" not in codes(document(paragraph(text)))


def test_a_text_that_says_the_same_again_and_again_is_told() -> None:
    line = paragraph("Confidential. Do not copy or hand on without the consent of the owner.")
    assert codes(document(*[line] * 12, paragraph("One line of its own, which is all that it says."))) == ["repetitive"]


def test_headings_without_text_are_named() -> None:
    doc = document(heading("A"), heading("Below", 2), paragraph("Text."), heading("Bare", 2), heading("Last"))
    (loss,) = oddities(doc)
    assert (loss.code, loss.count, loss.message) == ("empty_sections", 2, "headings without text: Bare, Last")


@pytest.mark.skipif(not Path("sample").is_dir(), reason="the sample is not beside the tests")
def test_the_sample_has_nothing_odd() -> None:
    paths = sorted(Path("sample").rglob("*.md"))
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert codes(document(*map(paragraph, filter(None, text.split("\n\n"))))) == [], path
