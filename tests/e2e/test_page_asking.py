"""The server's page in a browser: ask, follow a citation to its exact place, no answer, other people, hostile text."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser, expect

import fonte
from served_page import HOSTILE_NAME, ITALIAN, PAGE_SEVEN, SECRET, Site, Visitor, visiting

WEB = Path(fonte.__file__).parent / "web"
QUESTION = "How much does the reserve pump deliver?"


def _picture(visitor: Visitor, path: str) -> Image.Image:
    answer = visitor.page.request.get(f"{visitor.site.address}{path}")
    assert answer.status == 200
    return Image.open(io.BytesIO(answer.body())).convert("RGB")


def test_an_answer_streams_and_its_citation_opens_page_seven_with_the_sentence_marked(
    browser: Browser, served_site: Site
) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        page = visitor.page
        visitor.shot("begin")
        visitor.ask(QUESTION)
        expect(page.locator(".turn .answer")).to_contain_text("340 litres per minute at most")
        expect(page.locator(".sentence .verdict")).to_have_attribute("data-support", "supported")
        expect(page.locator("#said")).to_contain_text("340 litres")
        assert re.search(r"/conversations/v[0-9a-f]{20}$", page.url)
        visitor.shot("answer")
        with page.expect_response(re.compile(r"/pages/7\.png\?from=\d+&to=\d+$")) as shown:
            page.locator(".turn .cite").first.click()
        picture = page.locator("#source img")
        expect(picture).to_be_visible()
        expect(picture).to_have_attribute("alt", "Page 7 of plant-manual.pdf, the cited passage marked")
        visitor.shot("citation")
        address = shown.value.url.removeprefix(served_site.address)
        marked, clean = _picture(visitor, address), _picture(visitor, address.split("?")[0])
        text = page.request.get(served_site.address + address.replace("/pages/7.png", "/text")).json()
        assert text["text"] == PAGE_SEVEN
        changed = ImageChops.difference(marked, clean).getbbox()
        assert changed is not None
        # The sentence's box on the page of A4, in points from below, is where pixels changed, and nowhere else.
        x0, y0, x1, y1 = text["locator"]["boxes"][0]
        scale = marked.height / (29.7 / 2.54 * 72)
        box = (x0 * scale, marked.height - y1 * scale, x1 * scale, marked.height - y0 * scale)
        assert all(abs(one - other) <= 6 for one, other in zip(changed, box, strict=True)), (changed, box)
        red, _, blue = marked.getpixel((changed[0] + 1, (changed[1] + changed[3]) // 2))
        assert red > 200 > blue + 50
        page.get_by_role("button", name="Text", exact=True).click()
        expect(page.locator("#source mark")).to_have_text(PAGE_SEVEN)
        page.keyboard.press("Escape")
        expect(page.locator("#source")).to_be_hidden()
        expect(page.locator(".turn .cite").first).to_be_focused()


def test_a_conversation_goes_on_and_is_there_again_after_a_reload(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        visitor.ask(QUESTION)
        visitor.ask("How often is the boiler in the east wing checked?")
        expect(visitor.page.locator(".turn")).to_have_count(2)
        visitor.page.reload()
        expect(visitor.page.locator(".turn h2")).to_have_text(
            [QUESTION, "How often is the boiler in the east wing checked?"]
        )
        expect(visitor.page.locator(".turn .answer").first).to_contain_text("340 litres")
        talk = visitor.page.url
        visitor.page.get_by_role("link", name="Earlier conversations").click()
        own = visitor.page.locator(".talks li", has=visitor.page.locator(f"a[href='{urlsplit(talk).path}']"))
        expect(own).to_contain_text("2 questions")
        visitor.shot("conversations")
        own.get_by_role("button", name="Delete …").click()
        visitor.page.keyboard.press("Enter")  # the question whether one is sure has the focus
        expect(own).to_have_count(0)
        visitor.heard.forgiven.add(404)
        visitor.page.goto(talk)
        expect(visitor.page.locator(".fault")).to_contain_text("nothing of this name")


def test_no_answer_tells_why_and_what_came_nearest(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        visitor.ask("Who won the football world cup of 1994?")
        turn = visitor.page.locator(".turn")
        expect(turn.locator(".abstained h3")).to_contain_text("No answer")
        expect(turn.locator(".abstained .muted")).to_have_text("What was found is too weak to answer from.")
        assert turn.locator(".passage").count() >= 1
        visitor.shot("abstention")
        turn.locator(".passage").first.click()
        expect(visitor.page.locator("#source h2")).to_be_visible()


def test_what_another_may_not_read_is_not_there_for_them(browser: Browser, served_site: Site) -> None:
    hidden = served_site.id_of("salaries.md")
    with visiting(browser, served_site, "eva") as eva:
        eva.ask("What is the director's salary a year?")
        expect(eva.page.locator(".turn .answer")).to_contain_text("ninety-one thousand")
        conversation = eva.page.url
        eva.page.goto(f"{served_site.address}/documents/{hidden}")
        expect(eva.page.locator(".words")).to_contain_text(SECRET)
    with visiting(browser, served_site, "ada") as ada:
        ada.heard.forgiven = {404}
        ada.ask("What is the director's salary a year?")
        expect(ada.page.locator(".turn")).not_to_contain_text("ninety")
        ada.page.goto(f"{served_site.address}/documents/{hidden}")
        expect(ada.page.locator("main h1")).to_have_text("There is no such document")
        forbidden = ada.page.locator("main").inner_text()
        ada.page.goto(f"{served_site.address}/documents/{'0' * 20}")
        expect(ada.page.locator("main h1")).to_have_text("There is no such document")
        assert ada.page.locator("main").inner_text() == forbidden
        for path in (f"/v1/documents/{hidden}/pages/1.png", f"/v1/documents/{hidden}/text"):
            assert ada.page.request.get(served_site.address + path).status == 404
        ada.page.goto(conversation)
        expect(ada.page.locator(".turns .fault")).to_be_visible()
        expect(ada.page.locator("body")).not_to_contain_text("ninety")
        ada.page.goto(f"{served_site.address}/documents")
        expect(ada.page.locator("table.documents")).to_contain_text("plant-manual.pdf")
        expect(ada.page.locator("table.documents")).not_to_contain_text("salaries")
        expect(ada.page.get_by_role("link", name="Manage")).to_have_count(0)


def test_it_speaks_italian_where_the_browser_does_and_when_it_is_told(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, language="it-IT") as visitor:
        page = visitor.page
        page.goto(served_site.address)
        page.get_by_label("Chiave").fill(served_site.keys["ada"])
        page.get_by_role("button", name="Accedi").click()
        expect(page.locator("html")).to_have_attribute("lang", "it")
        page.get_by_role("textbox", name="Domanda").fill("A che ora chiude il laboratorio?")
        page.get_by_role("button", name="Chiedi").click()
        expect(page.locator(".turn .answer")).to_contain_text("alle ore 18")
        expect(page.locator(".turn .about")).to_contain_text("scritto da")
        page.locator(".cite").first.click()
        expect(page.locator("#source mark")).to_have_text(ITALIAN)
        visitor.shot("italian")
        page.get_by_role("button", name="English").click()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.get_by_role("link", name="Documents")).to_be_visible()
        page.reload()
        expect(page.locator("html")).to_have_attribute("lang", "en")


def test_hostile_names_titles_and_words_stay_text(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        page = visitor.page
        visitor.ask("How often is the boiler in the east wing checked?")
        expect(page.locator(".turn .label")).to_contain_text("<img src=x onerror=alert(1)> [U+202E]gpj.md")
        page.locator(".cite").first.click()
        expect(page.locator("#source mark")).to_contain_text("14 months")
        expect(page.locator("#source h2")).to_have_text(HOSTILE_NAME.replace("\u202e", "[U+202E]"))
        visitor.shot("hostile")
        visitor.ask("<img src=x onerror=alert(6)> **bold** [1] javascript:alert(7)")
        expect(page.locator(".turn h2").last).to_have_text(
            "<img src=x onerror=alert(6)> **bold** [1] javascript:alert(7)"
        )
        page.goto(f"{served_site.address}/documents")
        expect(page.locator("table.documents")).to_contain_text("<img src=x onerror=alert(1)>")
        found = page.evaluate(
            "[document.querySelectorAll('main img, main svg, a[href^=javascript]').length, document.scripts.length]"
        )
        assert found == [0, 2]


@pytest.mark.parametrize("width", [1280, 380])
def test_filters_and_the_day_are_sent(browser: Browser, served_site: Site, width: int) -> None:
    with visiting(browser, served_site, "ada", width=width) as visitor:
        page = visitor.page
        page.locator(".limits summary").click()
        page.get_by_label("As of").fill("2026-03-01")
        page.get_by_label("Only in this document").fill("orari.txt")
        with page.expect_request(re.compile("/v1/ask")) as sent:
            visitor.ask(QUESTION)
        body = sent.value.post_data_json
        assert (body["as_of"], body["filters"]) == ("2026-03-01", {"document": "orari.txt"})
        expect(page.locator(".limits summary")).to_contain_text("2 set")
        expect(page.locator(".abstained")).to_be_visible()
        expect(page.locator(".turn .about")).to_contain_text("as of 1 Mar 2026")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_asker_says_whether_an_answer_is_right(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        visitor.ask(QUESTION)
        visitor.page.get_by_role("button", name="Partly").click()
        expect(visitor.page.locator(".judging [role=status]")).to_contain_text("Noted.")
        expect(visitor.page.get_by_role("button", name="Partly")).to_have_attribute("aria-pressed", "true")


def test_a_page_whose_file_has_changed_is_shown_as_the_text_that_was_indexed(
    browser: Browser, served_site: Site
) -> None:
    path = served_site.folder / "plant-manual.pdf"
    kept = path.read_bytes()
    with visiting(browser, served_site, "ada") as visitor:
        visitor.heard.forgiven = {409}
        try:
            path.write_bytes(kept + b"\n%")
            visitor.page.goto(f"{served_site.address}/documents/{served_site.id_of('plant-manual.pdf')}?page=5")
            expect(visitor.page.locator(".sheet .note")).to_contain_text("The file has changed since it was read.")
            expect(visitor.page.locator(".words")).to_contain_text("Intake tower")
        finally:
            path.write_bytes(kept)


def test_a_link_of_a_citation_tells_its_place(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        sent = visitor.page.request.post(
            f"{served_site.address}/v1/ask", data={"question": QUESTION}, headers={"origin": served_site.address}
        )
        visitor.page.goto(served_site.address + sent.json()["citations"][0]["url"])
        expect(visitor.page.locator(".viewer header .muted")).to_have_text("p. 7")
        expect(visitor.page.locator(".paper img")).to_have_attribute("alt", re.compile("Page 7 .* marked"))


def test_both_languages_have_the_same_words() -> None:
    english, italian = (json.loads((WEB / f"{one}.json").read_text("utf-8")) for one in ("en", "it"))
    assert english.keys() == italian.keys()
    holes = re.compile(r"\{\w+\}")
    assert [key for key in english if sorted(holes.findall(english[key])) != sorted(holes.findall(italian[key]))] == []
    scripts = "".join(path.read_text("utf-8") for path in WEB.glob("*.js"))
    named = set(re.findall(r"""\bt\("([a-z_.]+)["),]""", scripts)) | set(re.findall(r'data-t="([a-z.]+)"', scripts))
    assert named - english.keys() == set()
