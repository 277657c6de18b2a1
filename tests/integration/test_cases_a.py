"""Section A of the cases, the rows on places: each marker opens the place that it stands for."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from command import fonte, shown_of

_TOPICS = (
    "garden",
    "kitchen",
    "workshop",
    "library",
    "archive",
    "harbour",
    "boiler",
    "laundry",
    "stable",
    "cellar",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the index will live."""
    return tmp_path / "home"


def _ten_pages(path: Path) -> None:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    for number, topic in enumerate(_TOPICS, start=1):
        canvas.setFont("Helvetica", 12)
        canvas.drawString(72, 760, f"The {topic} is looked after by team {number}.")
        pressure = "The boiler must never run above 3.5 bar." if topic == "boiler" else f"The {topic} opens at eight."
        canvas.drawString(72, 740, pressure)
        canvas.showPage()
    canvas.save()


def test_case_9_a_fact_on_page_seven_is_cited_on_page_seven(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    _ten_pages(folder / "house.pdf")
    assert fonte(home, "sync", str(folder)).status == 0
    told = fonte(home, "ask", "The boiler must never run above how many bar?").json
    assert "3.5 bar" in told["answer"]
    citation = next(one for one in told["citations"] if "3.5 bar" in one["quote"])
    sentence = next(one for one in told["sentences"] if "3.5 bar" in one["text"])
    assert sentence["citations"] == [citation["index"]]
    start = citation["locator"]["from"] + citation["quote"].index("The boiler must")
    place = fonte(home, "show", "house.pdf", "--from", str(start), "--to", str(start + 20)).json["locator"]
    assert place["page"] == 7
    assert all(box[0] >= 72 - 2 and 735 <= box[1] < box[3] <= 755 for box in place["boxes"])


def test_case_1_the_marker_opens_the_paragraph_with_the_figure(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(
        "# Fees\n\nThe yearly fee for members of the rowing club is 85 euro.\n", encoding="utf-8"
    )
    (folder / "b.md").write_text("# Fees\n\nThe yearly fee for members of the rowing club is set in May.\n", "utf-8")
    fonte(home, "sync", str(folder))
    told = fonte(home, "ask", "How much is the yearly fee for members of the rowing club?").json
    sentence = next(one for one in told["sentences"] if "85" in one["text"])
    cited = [one for one in told["citations"] if one["index"] in sentence["citations"]]
    assert [one["document_name"] for one in cited] == ["a.md"]
    assert "85 euro" in cited[0]["quote"]


def test_case_2_each_marker_carries_its_own_place(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nThe tea kitchen opens at seven in the morning.\n", encoding="utf-8")
    (folder / "hall.md").write_text(
        "# Hall\n\n" + "A line about chairs. " * 12 + "\n\nThe tea kitchen closes at six.\n", "utf-8"
    )
    fonte(home, "sync", str(folder))
    told = fonte(home, "ask", "When does the tea kitchen open and close?").json
    places = {one["document_name"]: (one["index"], one["locator"]["from"]) for one in told["citations"]}
    assert len({index for index, _ in places.values()}) == len(places)
    for citation in told["citations"]:
        shown = shown_of(home, citation)
        assert shown["text"] == citation["quote"]


def test_case_17_a_citation_is_a_passage_not_a_file(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    sections = [
        f"## Room {number}\n\nRoom {number} holds cupboard {number * 7} and desk {number * 3}.\n"
        for number in range(1, 200)
    ]
    (folder / "rooms.md").write_text("# Rooms\n\n" + "\n".join(sections), encoding="utf-8")
    fonte(home, "sync", str(folder))
    told = fonte(home, "search", "Which cupboard does room 150 hold?", "--k", "3").json["results"]
    best = next(one for one in told if "Room 150 holds" in one["content"])
    assert best["locator"]["to"] - best["locator"]["from"] < 200
    assert best["locator"]["lines"] is not None
    assert best["section"].endswith("Room 150")
