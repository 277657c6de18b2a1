"""Pages: well formed, escaped, nothing fetched, no script; figures with ids of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from fonte.errors import ConfigError
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.html import pages, plots
from fonte.evaluation.html.markup import text
from fonte.evaluation.html.pages import Asked, Changed, Measured, risk_coverage
from fonte.evaluation.index_facts import index_facts
from fonte.evaluation.measures import Needle, Retrieved
from fonte.evaluation.scoring import compare_scores, score
from fonte.evaluation.statistics import Interval
from fonte.types import Chunk

HOSTILE = "</title><script>alert('$x^2$')</script>\x00\u202e<img src=https://example.org/x.png onerror=a&b"
SVG = "{http://www.w3.org/2000/svg}svg"


def parsed(body: str) -> ET.Element:
    assert body.startswith("<!DOCTYPE html>\n")
    return ET.fromstring(body.removeprefix("<!DOCTYPE html>\n"))


def check(body: str, *, figures: int) -> None:
    """What must hold of every page."""
    root = parsed(body)
    names = {element.tag.rsplit("}", 1)[-1] for element in root.iter()}
    assert not names & {"script", "img", "link", "iframe", "object", "embed", "form", "a", "image", "foreignObject"}
    named = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(named) == len(set(named))
    for element in root.iter():
        for key, value in element.attrib.items():
            assert not key.startswith("on")
            if key.rsplit("}", 1)[-1] in ("href", "src"):
                assert value.startswith("#")
                assert value[1:] in named
            assert "javascript:" not in value
    assert not re.search(r"url\((?!#)|@import", body)
    for target in re.findall(r"url\(#([^)]+)\)", body):
        assert target in named
    drawn = root.findall(f".//{SVG}")
    assert len(drawn) == figures
    assert all(len(list(one.iter())) > 20 for one in drawn)
    assert "Content-Security-Policy" in body
    assert "default-src 'none'" in body.replace("&#x27;", "'")


def golden() -> GoldenSet:
    needle = Needle("a.md", HOSTILE, 0, len(HOSTILE))
    return GoldenSet(
        HOSTILE,
        (
            Question("q1", (HOSTILE, "again"), needles=(needle,), relevance={"a.md": 1}, segment="$a$"),
            Question("q2", ("two",), relevance={"b.md": 1}, segment="b & <c>"),
            Question("q3", ("three",), answerable=False, segment="b & <c>"),
        ),
    )


def found(*, right: bool) -> dict[tuple[str, int], tuple[Retrieved, ...]]:
    good = Retrieved("a.md", 0, len(HOSTILE), HOSTILE)
    other = Retrieved("b.md", 0, 1, "x")
    return {("q1", 0): (good,) if right else (other,), ("q1", 1): (good,), ("q2", 0): (other,), ("q3", 0): ()}


def measured() -> Measured:
    one = golden()
    retrieved = found(right=False)
    scores = score(one, retrieved, ("needle@5", "recall@5"))
    chunk = Chunk("c1", "d1", 0, 0, len(HOSTILE), HOSTILE, tokens=9)
    facts = index_facts(one, {"a.md": [chunk]}, 512, query_ms=[1.0, 2.0])
    asked = [
        Asked(
            (question.id, number), words, question, retrieved[question.id, number], 0.5, number == 0, 0.5, 0.2, HOSTILE
        )
        for question, number, words in one.queries()
    ]
    curve = {"recall": {1: Interval(0.5, 0.2, 0.8, 3), 2: Interval(0.6, 0.3, 0.9, 3)}}
    return Measured(
        one, {HOSTILE: HOSTILE}, scores, {}, facts, {"bm25": "on", "support": "not_measured"}, curve,
        asked, 0.4, "needle@5", (HOSTILE,),
    )  # fmt: skip


def test_a_page_of_hostile_text_is_only_text() -> None:
    body = pages.eval_page(measured())
    check(body, figures=4)
    words = " ".join("".join(parsed(body).itertext()).split())
    assert "<script>alert('$x^2$')</script>\ufffd\ufffd<img src=https://example.org/x.png" in words
    for told in ("destroyed", "needles beyond the window", "not measured"):
        assert told in words


def test_a_page_says_the_same_twice() -> None:
    assert pages.eval_page(measured()) == pages.eval_page(measured())


def test_a_page_without_gate_segments_or_curves() -> None:
    one = measured()
    bare = [replace(asked, gate=None, wrong=None, distance=None) for asked in one.asked]
    plain = GoldenSet("plain", one.golden.questions[:1])
    scores = score(plain, {}, ("recall@5",))
    check(pages.eval_page(replace(one, golden=plain, scores=scores, asked=bare, curves={})), figures=0)


def test_wins_and_losses_open_each_question() -> None:
    one = golden()
    a, b = (score(one, found(right=right), ("needle@5", "recall@5")) for right in (False, True))
    question = one.questions[0]
    changed = [
        Changed(HOSTILE, question, 0.0, 1.0, found(right=False)["q1", 0], found(right=True)["q1", 0]),
        Changed("again", question, 1.0, 0.0),
    ]
    facts = {"a": measured().facts, "b": measured().facts}
    body = pages.compare_page(
        HOSTILE, {"a": HOSTILE}, compare_scores(a, b), changed, decides="needle@5", facts=facts, notes=[HOSTILE]
    )
    check(body, figures=1)
    root = parsed(body)
    opened = [one for one in root.iter() if one.tag.endswith("}details")]
    assert len(opened) == 2
    assert "holds the needle" in "".join(opened[0].itertext())
    assert "nothing came back" in "".join(opened[1].itertext())
    headings = ["".join(one.itertext()) for one in root.iter() if one.tag.endswith("}h2")]
    assert headings[-2:] == ["Won by b (1), by needle@5", "Lost by b (1), by needle@5"]


def test_risk_and_coverage_by_hand() -> None:
    scored = [(0.9, False), (0.8, True), (0.8, False), (0.1, True)]
    assert risk_coverage(scored) == [(0.25, 0.0), (0.75, 1 / 3), (1.0, 0.5)]
    assert risk_coverage([]) == []


def test_control_characters_and_half_characters_do_not_break_a_page() -> None:
    assert text("a\x00\x1b[31m\ud800\u202eb<&\"'") == "a\ufffd\ufffd[31m\ufffd\ufffdb&lt;&amp;&quot;&#x27;"


def test_without_matplotlib_a_report_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ConfigError) as caught:
        plots.require()
    assert "fonte[report]" in caught.value.hint
