"""The server's page in a browser: documents, upload, management, the keyboard alone, and what axe says of all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from served_page import Site, Visitor, visiting

SERIOUS = {"serious", "critical"}
QUESTION = "How much does the reserve pump deliver?"


def _grave(page: Page) -> list[str]:
    """What axe finds that is serious: rule and place."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['target']}" for one in found if one["impact"] in SERIOUS]


def test_documents_tell_their_state_reason_and_what_was_lost(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "max") as visitor:
        page = visitor.page
        page.get_by_role("link", name="Documents").click()
        broken = page.locator("table.documents tr", has_text="broken.pdf")
        expect(broken.locator(".badge")).to_contain_text("failed")
        expect(broken.locator(".reason")).to_contain_text("cannot be opened")
        manual = page.locator("table.documents tr", has_text="plant-manual.pdf")
        expect(manual.locator("td.pages")).to_have_text("7")
        manual.get_by_role("button", name="Details").click()
        ledger = page.locator("table.ledger")
        expect(ledger.locator("tbody tr").first).to_contain_text("in the source")
        expect(page.locator(".particulars")).to_contain_text("7 repeated header or footer lines")
        visitor.shot("documents")
        page.get_by_label("Search").fill("orari")
        expect(page.locator("table.documents tbody tr:not([hidden])")).to_have_count(1)
        page.get_by_label("Search").fill("")
        page.get_by_label("State").select_option("failed")
        expect(page.locator("table.documents tbody tr:not([hidden])")).to_have_count(1)
        page.get_by_label("State").select_option("")
        page.get_by_role("link", name="plant-manual.pdf").click()
        expect(page.locator(".paper img")).to_have_attribute("alt", "Page 1 of plant-manual.pdf")
        page.get_by_role("button", name="Page after").click()
        expect(page.locator(".paper img")).to_have_attribute("alt", "Page 2 of plant-manual.pdf")


def test_a_document_is_uploaded_asked_about_and_deleted(browser: Browser, served_site: Site, tmp_path: Path) -> None:
    path = tmp_path / "ferry.md"
    path.write_text("# Ferry\n\nThe ferry to the island leaves every 25 minutes from pier four.\n", "utf-8")
    with visiting(browser, served_site, "max") as visitor:
        page = visitor.page
        page.get_by_role("link", name="Documents").click()
        page.locator("#files").set_input_files(path)
        expect(page.locator(".going")).to_contain_text("read")
        row = page.locator("table.documents tr", has_text="ferry.md")
        expect(row.locator(".badge")).to_contain_text("ready")
        page.get_by_role("link", name="Ask", exact=True).click()
        visitor.ask("How often does the ferry to the island leave?")
        expect(page.locator(".turn .answer")).to_contain_text("every 25 minutes")
        page.get_by_role("link", name="Documents").click()
        row.get_by_role("button", name="Details").click()
        page.get_by_role("button", name="Delete …").click()
        page.get_by_role("button", name="Delete it").click()
        expect(row.locator(".badge")).to_contain_text("deleted")
    with visiting(browser, served_site, "ada") as visitor:
        visitor.page.get_by_role("link", name="Documents").click()
        expect(visitor.page.locator("table.documents")).not_to_contain_text("ferry.md")
        expect(visitor.page.locator("#files")).to_have_count(0)


def test_files_can_be_dropped_and_a_bad_one_says_why(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "max") as visitor:
        page = visitor.page
        page.goto(f"{served_site.address}/documents")
        data = page.evaluate_handle(
            """() => { const made = new DataTransfer();
                made.items.add(new File(['%PDF-1.7 no'], '<b>ruin.pdf', {type: 'application/pdf'})); return made; }"""
        )
        page.locator(".drop").dispatch_event("drop", {"dataTransfer": data})
        expect(page.locator(".going")).to_contain_text("failed")
        expect(page.locator("table.documents")).to_contain_text("<b>ruin.pdf")


def test_whoever_runs_it_sees_generations_why_audit_and_makes_and_revokes_keys(
    browser: Browser, served_site: Site
) -> None:
    with visiting(browser, served_site, "max") as visitor, visiting(browser, served_site) as other:
        page = visitor.page
        page.get_by_role("link", name="Manage").click()
        panels = page.locator(".panel > summary")
        panels.nth(0).click()
        expect(page.locator(".panel").nth(0)).to_contain_text("active")
        panels.nth(1).click()
        page.locator("#why-question").fill(QUESTION)
        page.locator("#why-expected").fill("delivers 340 litres per minute")
        page.get_by_role("button", name="Look").click()
        expect(page.locator(".panel").nth(1)).to_contain_text("Nothing lost it.")
        panels.nth(3).click()
        page.get_by_label("User").fill("zoe")
        page.get_by_role("button", name="Make a key").click()
        key = page.locator(".secret").inner_text()
        other.site.keys["zoe"] = key
        other.sign_in("zoe")
        expect(other.page.locator(".who")).to_have_text("zoe")
        other.heard.forgiven = {401}
        row = page.locator(".panel").nth(3).locator("tr", has_text="zoe")
        row.get_by_role("button", name="Revoke").click()
        row.get_by_role("button", name="Revoke it now").click()
        expect(row).to_contain_text("over")
        other.page.get_by_role("link", name="Documents").click()
        expect(other.page.get_by_label("Key")).to_be_visible()
        panels.nth(2).click()
        expect(page.locator(".panel").nth(2)).to_contain_text("POST /v1/keys")
        expect(page.locator(".panel").nth(2)).not_to_contain_text(key)
        visitor.shot("manage")
        assert _grave(page) == []


def test_a_rollback_that_nobody_answered_is_told_beside_the_generations(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "max") as visitor:
        page = visitor.page

        def held(route: Route) -> None:
            told = route.fetch().json()
            route.fulfill(json={**told, "held": {"left": "g1<b>2</b>", "since": "2026-11-30T08:00:00+00:00"}})

        page.route("**/v1/generations", held)
        page.get_by_role("link", name="Manage").click()
        page.locator(".panel > summary").nth(0).click()
        expect(page.locator(".panel .note")).to_contain_text("Nothing is published by itself since g1<b>2</b> was left")
        assert _grave(page) == []


def _press_until(page: Page, name: str, most: int = 40) -> None:
    called = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(called) == name:
            return
    raise AssertionError(f"{name} was not reached")


def test_the_keyboard_is_enough(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site) as visitor:
        page = visitor.page
        page.goto(served_site.address)
        expect(page.get_by_label("Key")).to_be_focused()
        page.keyboard.type(served_site.keys["ada"])
        page.keyboard.press("Enter")
        expect(page.get_by_role("textbox", name="Question")).to_be_focused()
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".turn .about").wait_for()
        page.reload()
        page.locator(".turn .about").wait_for()
        page.keyboard.press("Tab")
        page.locator("body").press("Tab")
        _press_until(page, "Citation 1: plant-manual.pdf, p. 7, 7. Reserve pump")
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring == "solid"
        page.keyboard.press("Enter")
        expect(page.locator("#source h2")).to_be_focused()
        _press_until(page, "Text")
        page.keyboard.press("Space")
        expect(page.locator("#source mark")).to_contain_text("340 litres")
        page.keyboard.press("Escape")
        expect(page.locator(".cite").first).to_be_focused()
        page.goto(served_site.address)
        page.get_by_role("textbox", name="Question").wait_for()
        page.locator(".skip").focus()
        expect(page.locator(".skip")).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


@pytest.mark.parametrize(("dark", "width", "language"), [(False, 1280, "en-GB"), (True, 380, "it-IT")])
def test_axe_finds_nothing_serious(browser: Browser, served_site: Site, dark: bool, width: int, language: str) -> None:
    with visiting(browser, served_site, dark=dark, width=width, language=language) as visitor:
        page, kind = visitor.page, "dark-narrow" if dark else "light"
        page.goto(served_site.address)
        page.locator("#key").wait_for()
        assert _grave(page) == []
        page.locator("#key").fill(served_site.keys["max"])
        page.keyboard.press("Enter")
        page.locator("#question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".turn .about").wait_for()
        page.locator(".checks summary").click()
        assert _grave(page) == []
        _fits(visitor)
        visitor.shot(f"answer-{kind}")
        page.locator(".cite").first.click()
        page.locator("#source img").wait_for()
        assert _grave(page) == []
        visitor.shot(f"source-{kind}")
        page.keyboard.press("Escape")
        for address in ("/documents", f"/documents/{served_site.id_of('tariffs.csv')}?from=0&to=25", "/conversations"):
            page.goto(served_site.address + address)
            page.locator("table.documents, table.cells, .talks li").first.wait_for()
            assert _grave(page) == []
            _fits(visitor)
        page.goto(f"{served_site.address}/documents")
        page.locator("td.more button").first.click()
        assert _grave(page) == []
        visitor.shot(f"documents-{kind}")
        if width > 1000:
            return
        dark_now = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator(".tools button.icon").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark_now


def _fits(visitor: Visitor) -> None:
    """Nothing makes the page wider than the window; what does is named."""
    wide = visitor.page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
            .filter(one => one.getBoundingClientRect().right > innerWidth + 0.5)
            .map(one => `${one.tagName}.${one.className}`)"""
    )
    assert wide == []
