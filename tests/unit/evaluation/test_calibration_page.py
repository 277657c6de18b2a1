"""The page of a calibration: well formed, escaped, its figures there, its mistakes listed with their words."""

from __future__ import annotations

import random
from dataclasses import replace
from xml.etree import ElementTree as ET

from fonte.evaluation.calibrating import Case, Costs, Kept, Prior, calibrate
from fonte.evaluation.html.calibration_page import Shown, calibration_page

HOSTILE = "</td><script>alert('$x^2$')</script>\x00\u202e<img src=https://example.org/x.png onerror=a&b"
SVG = "{http://www.w3.org/2000/svg}svg"


def shown() -> Shown:
    source = random.Random(5)
    cases = []
    for number in range(60):
        can = number % 2 == 0
        value = source.gauss(0.8 + 0.04 * can, 0.03)
        kept = (Kept(1 - value, can),)
        cases.append(Case((f"q{number}", 0), f"q{number}", can, {"sentence": value}, value, 1 - value, kept, can))
    figures = calibrate(cases, Prior(("sentence",)), Costs(), threshold_before=0.8)
    return Shown(
        HOSTILE, {"set": HOSTILE}, figures, cases, {case.query: f"{HOSTILE} {case.query[0]}" for case in cases}
    )


def test_a_page_of_hostile_words_is_only_text_and_lists_every_mistake() -> None:
    page = shown()
    body = calibration_page(page)
    assert body == calibration_page(page)
    root = ET.fromstring(body.removeprefix("<!DOCTYPE html>\n"))
    names = {element.tag.rsplit("}", 1)[-1] for element in root.iter()}
    assert not names & {"script", "img", "link", "iframe", "a", "image", "foreignObject"}
    identities = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(identities) == len(set(identities))
    drawn = root.findall(f".//{SVG}")
    assert len(drawn) == 3
    assert all(len(list(one.iter())) > 20 for one in drawn)
    threshold = page.figures.point.threshold
    wrong = {
        case.query[0]
        for said, case in zip(page.figures.probabilities, page.cases)
        if (said >= threshold) is not case.answerable
    }
    assert wrong
    assert f"Decided wrongly: {len(wrong)} of 60" in body
    assert all(f" {identity}</td>" in body for identity in wrong)


def test_a_gate_that_answers_nothing_has_a_page_too() -> None:
    page = shown()
    point = replace(page.figures.point, threshold=2.0, risk=None)
    body = calibration_page(replace(page, figures=replace(page.figures, point=point)))
    assert "Decided wrongly: 30 of 60" in body
