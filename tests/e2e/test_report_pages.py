"""The HTML reports in a browser: nothing complains or is fetched, all plots are there, and all of it can be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pypdfium2
import pytest
from playwright.sync_api import Page, expect

import opened
from fonte.models import registry
from quick_corpus import WordEmbedder
from reports import FILE, IMAGE, LONG, PLACES, PLOTS, QUERIES, SCRIPT, Reports

WIDTHS = (1280, 380)
HOSTILE = {
    "eval": (SCRIPT, IMAGE, LONG),
    "compare": (SCRIPT, LONG, FILE),
    "experiment": ("cutting <b>",),
    "calibrate": ("towns <u>",),
    "lab": (),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    model = WordEmbedder()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(registry, "make_embedder", lambda *_, **__: model)
        yield Reports(tmp_path_factory.mktemp("reports"), patched)


@pytest.fixture(params=PLOTS)
def report(request: pytest.FixtureRequest, reports: Reports, page: Page) -> str:
    """The name of the report that ``page`` shows."""
    page.goto(reports[request.param].as_uri())
    return request.param


def test_a_report_says_what_it_is(report: str, page: Page) -> None:
    name = "compare" if report == "experiment" else report
    assert page.title().startswith(f"fonte {name}")
    assert page.locator("html").get_attribute("lang") == "en"
    expect(page.get_by_role("main")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_text(page.title())
    levels = opened.headings(page)
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_plot_is_there_and_can_be_read_at_any_width(report: str, page: Page) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        plots = opened.drawings(page)
        assert len(plots) == PLOTS[report]
        for plot in plots:
            assert (plot["role"], len(plot["called"]) > 20) == ("img", True)
            assert plot["width"] > 340
            assert plot["height"] > 60
            assert plot["letters"] >= 6
            assert plot["drawn"] > 10
            assert len([word for word in plot["words"] if word.strip()]) > 5
            assert (width, plot["cut"], plot["over"]) == (width, [], [])


def test_only_wide_tables_scroll_sideways(report: str, page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.sticking_out(page) == []
        assert opened.out_of_reach(page) == []


def test_letters_stand_out_from_what_is_behind_them(report: str, page: Page) -> None:
    assert opened.pale(page) == []
    page.emulate_media(color_scheme="dark")
    assert opened.pale(page) == []


def test_hostile_words_are_words(report: str, page: Page) -> None:
    shown = page.locator("body").inner_text() + " ".join(page.locator("details").all_text_contents())
    for words in HOSTILE[report]:
        assert words in shown
    assert page.locator("script, img, iframe, link, object, b, i, u").count() == 0


def test_a_report_can_be_printed(report: str, page: Page) -> None:
    printed = pypdfium2.PdfDocument(page.pdf(format="A4"))
    try:
        words = "".join(sheet.get_textpage().get_text_bounded() for sheet in printed)
    finally:
        printed.close()
    assert page.title() in " ".join(words.split())
    last = page.get_by_role("heading").filter(visible=True).last.inner_text()
    assert last.split(",")[0] in " ".join(words.split())


def test_questions_of_an_evaluation_open(reports: Reports, page: Page) -> None:
    page.goto(reports["eval"].as_uri())
    questions = page.locator("details")
    assert questions.count() == QUERIES
    tower = questions.filter(has_text="When was the tower painted")
    expect(tower.locator("blockquote").first).to_be_hidden()
    tower.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(tower.locator("blockquote").first).to_have_text("The tower was painted in 1650")
    expect(tower.locator("blockquote").first).to_be_visible()
    absent = questions.filter(has_text="Who is")
    absent.locator("summary").click()
    expect(absent.get_by_text("Nothing should answer this.")).to_be_visible()


def test_every_win_opens_with_what_both_found(reports: Reports, page: Page) -> None:
    page.goto(reports["compare"].as_uri())
    wins = page.locator("details")
    won = page.get_by_role("heading", name="Won by b")
    assert won.inner_text().startswith(f"Won by b ({wins.count()}), by needle@")
    assert wins.count() > 2 * len(PLACES)
    wins.last.locator("summary").click()
    page.evaluate("document.querySelectorAll('details:not([open]) > summary').forEach(one => one.click())")
    for side in ("a", "b"):
        expect(page.get_by_role("heading", level=3, name=side, exact=True)).to_have_count(wins.count())
    expect(wins.last.get_by_text("(holds the needle)").first).to_be_visible()
    assert page.evaluate("[...document.querySelectorAll('details')].every(one => one.open && one.clientHeight > 200)")


def test_what_a_calibration_decides_wrongly_is_listed(reports: Reports, page: Page) -> None:
    page.goto(reports["calibrate"].as_uri())
    told = page.get_by_role("heading", name="Decided wrongly").inner_text()
    wrong = int(told.split()[2])
    assert wrong > 0
    rows = page.get_by_role("table").last.get_by_role("row")
    assert rows.count() == wrong + 1
    assert {row.get_by_role("cell").first.inner_text() for row in rows.all()[1:]} <= {"refused", "answered"}
