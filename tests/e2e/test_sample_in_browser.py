"""The page of a sample in a browser: pictures with boxes, tables, verdicts by hand and keyboard, saved as a file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import opened
from fonte.evaluation.html.sample_page import sample_page
from fonte.sampled import draw
from quick_corpus import quick_corpus

WIDTHS = (1280, 380)
MADE = Path(__file__).parents[1] / "data"
SCRIPT = "</script><script>alert(1)</script>"
FILE = 'x"><img src=x onerror=alert(3)>.md'
HOSTILE = (
    f"# Rules {SCRIPT}\n\n<b onclick=alert(4)>Text</b> of `{SCRIPT}` ]]> {'W' * 300}\n\n"
    f"| A{SCRIPT} | B |\n|---|---|\n| 1 | {SCRIPT} |\n"
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a folder of every kind: pages with tables, turned pages, a workbook of rows, hostile text, a ruin."""
    place = tmp_path_factory.mktemp("sample")
    folder = place / "in"
    folder.mkdir()
    for name in ("report.pdf", "rotated90.pdf", "two_column.pdf"):
        shutil.copy(MADE / "made" / name, folder)
    shutil.copy(MADE / "office" / "tricky.docx", folder)
    (folder / "staff.csv").write_text("Name,Days,Office\nAnn,26,Turin\nBob,22,\n", encoding="utf-8")
    (folder / FILE).write_text(HOSTILE, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 this is no pdf")
    with quick_corpus(place / "home") as corpus:
        corpus.sync(str(folder))
        states = corpus.documents()
        assert draw(states, 4, 1) == draw(states, 4, 1) != draw(states, 4, 2)
        judged = corpus.sample(20, seed=3)
    (place / "one").mkdir()
    changing = shutil.copy(folder / "staff.csv", place / "one")  # by itself: the pages of the others are drawn once
    with quick_corpus(place / "other") as corpus:
        corpus.sync(str(place / "one"))
        Path(changing).write_text("Name,Days\nAnn,27\n", encoding="utf-8")
        (later,) = corpus.sample(20)
    assert later.fault == "its source has changed since it was synced"
    path = place / "sample.html"
    path.write_text(sample_page(judged, {"seed": 3, "note": SCRIPT}), encoding="utf-8")
    return path


@pytest.fixture
def shown(sample: Path, page: Page) -> Iterator[Page]:
    page.goto(sample.as_uri())
    yield page


def test_every_document_stands_there_with_what_was_read_and_its_page(shown: Page) -> None:
    expect(shown.locator("section.card")).to_have_count(7)
    levels = opened.headings(shown)
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    report = shown.locator("section.card[data-name='report.pdf']")
    expect(report.locator("svg image")).to_have_count(2)
    assert report.locator(".seen rect").count() > 10
    table = shown.locator("section.card[data-name='staff.csv'] table").first
    expect(table.locator("th")).to_have_text(["Name", "Days", "Office"])
    expect(table.locator("tbody tr").nth(1).locator("td")).to_have_text(["3", "Bob", "22", "", "A3:C3"])
    expect(shown.locator("section.card[data-name='staff.csv'] pre")).to_contain_text("Ann,26,Turin")
    broken = shown.locator("section.card[data-name='broken.pdf']")
    expect(broken).to_contain_text("Nothing was read.")
    expect(broken).to_contain_text("cannot be opened")
    expect(shown.locator("section.card[data-name='tricky.docx']")).to_contain_text("open the file beside this")


def test_pictures_are_drawn_and_boxes_lie_on_what_was_read(shown: Page) -> None:
    sizes = shown.evaluate(
        """async () => Promise.all([...document.querySelectorAll('svg image')].map(async one => {
            const image = new Image(); image.src = one.getAttribute('href'); await image.decode();
            return [image.naturalWidth, image.naturalHeight, one.closest('svg').getBoundingClientRect().width];
        }))"""
    )
    assert sizes
    assert all(wide > 300 and high > 300 and seen > 300 for wide, high, seen in sizes)
    dark = shown.evaluate(
        """async () => {
            const svg = document.querySelector("section.card[data-name='two_column.pdf'] svg");
            const image = new Image(); image.src = svg.querySelector('image').getAttribute('href');
            await image.decode();
            const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
            const ink = canvas.getContext('2d', {willReadFrequently: true});
            ink.drawImage(image, 0, 0);
            const scale = image.naturalWidth / svg.viewBox.baseVal.width;
            return [...svg.querySelectorAll('rect:not(.mark)')].map(box => {
                const at = ['x', 'y', 'width', 'height'].map(name => Math.round(box.getAttribute(name) * scale));
                const data = ink.getImageData(at[0], at[1], Math.max(at[2], 1), Math.max(at[3], 1)).data;
                let dark = 0;
                for (let i = 0; i < data.length; i += 4) dark += data[i] < 140;
                return dark / (data.length / 4);
            });
        }"""
    )
    assert len(dark) > 5
    assert min(dark) > 0.02, "every box lies on print"


def test_a_turned_page_stands_upright(shown: Page) -> None:
    turned = shown.locator("section.card[data-name='rotated90.pdf'] svg").first
    box = turned.bounding_box()
    assert box is not None
    upright = shown.locator("section.card[data-name='report.pdf'] svg").first.bounding_box()
    assert upright is not None
    assert (box["height"] > box["width"]) is (upright["height"] > upright["width"])


def test_it_can_be_read_at_any_width(shown: Page) -> None:
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 900})
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.sticking_out(shown) == []
        assert opened.out_of_reach(shown) == []
    letters = [one for one in opened.pale(shown) if not one.split(" ", 1)[1].isdigit()]
    assert letters == [], "numbers stand on boxes of their own color, which is no background that can be asked for"


def test_hostile_names_and_texts_are_words(shown: Page) -> None:
    hostile = shown.locator("section.card", has_text="onerror=alert(3)")
    expect(hostile).to_have_count(1)
    expect(hostile.locator(".read")).to_contain_text(SCRIPT)
    assert shown.locator("script").count() == 1
    assert shown.locator("img").count() == 0


def test_verdicts_are_counted_and_saved_as_a_file(shown: Page, tmp_path: Path) -> None:
    first, second = shown.locator("section.card").nth(0), shown.locator("section.card").nth(1)
    first.get_by_label("wrong", exact=True).check()
    first.get_by_label("What is wrong").fill('a "heading" is lost')
    second.get_by_label("right", exact=True).focus()
    shown.keyboard.press("Space")
    expect(shown.locator("#judged")).to_have_text("2")
    with shown.expect_download() as saved:
        shown.get_by_role("button", name="Save verdicts").click()
    assert saved.value.suggested_filename == "fonte-verdicts.json"
    path = tmp_path / "verdicts.json"
    saved.value.save_as(path)
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told["sample"] == {"seed": 3, "note": SCRIPT}
    assert [one["verdict"] for one in told["verdicts"]] == ["wrong", "right", *[None] * 5]
    assert told["verdicts"][0]["note"] == 'a "heading" is lost'
    assert len(told["verdicts"][0]["source_version"]) == 64
