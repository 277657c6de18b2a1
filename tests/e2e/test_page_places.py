"""Places of other kinds than pages of PDFs: cells of a table, a slide, a moment; and signing in elsewhere."""

from __future__ import annotations

import socket
from pathlib import Path

from playwright.sync_api import Browser, expect

from fonte.http.provider import Provider
from fonte.http.tokens import JwtTokens, TokenRules, fetcher
from fonte.types import Principal
from running import listening
from served import make_house
from served_page import SLIDE_TWO, Site, visiting
from test_provider import SECRET, provider


def test_a_table_opens_as_a_grid_with_the_cited_cells_marked(browser: Browser, served_site: Site) -> None:
    corpus, name = served_site.corpus, served_site.id_of("stock.csv")
    text = corpus.document("stock.csv", principal=Principal()).text
    row = text.index("P-117")
    with visiting(browser, served_site, "ada") as visitor:
        visitor.page.goto(f"{served_site.address}/documents/{name}?from={row}&to={row + 5}")
        grid = visitor.page.locator("table.cells")
        expect(grid.locator("td.cited")).to_have_text("P-117")
        expect(grid.locator("tr.cited-row th.row-number")).to_have_text("118")
        expect(grid.locator("thead th[scope=col]")).to_have_text(["Part", "Shelf", "Count"])
        expect(visitor.page.locator(".viewer [role=status]")).to_have_text("Rows 107–150 of 150")
        expect(grid.locator("td.cited")).to_be_in_viewport()
        expect(grid.locator("thead th").nth(1)).to_be_in_viewport()
        visitor.shot("table")
        visitor.page.get_by_role("button", name="Earlier rows").press("Enter")
        expect(visitor.page.locator(".viewer [role=status]")).to_have_text("Rows 47–106 of 150")
        expect(visitor.page.get_by_role("button", name="Earlier rows")).to_be_focused()
        visitor.page.get_by_role("button", name="Text", exact=True).press("Enter")
        expect(visitor.page.locator(".words mark")).to_have_text("P-117")


def test_answers_lead_to_slides_and_moments(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        visitor.ask("How many tonnes does the crane in hall five lift?")
        visitor.page.locator(".turn:last-child .answer .cite").first.click()
        source = visitor.page.locator("#source")
        expect(source.locator("h2")).to_have_text("briefing.pptx")
        expect(source.locator("header p.muted")).to_contain_text("slide 2")
        expect(source.locator(".words mark")).to_have_text(SLIDE_TWO)
        visitor.shot("slide")
        visitor.page.keyboard.press("Escape")
        visitor.ask("When will the new compressor be delivered?")
        visitor.page.locator(".turn:last-child .answer .cite").first.click()
        expect(source.locator("h2")).to_have_text("meeting.vtt")
        expect(source.locator("header p.muted")).to_have_text("00:01:05–00:01:11")
        expect(source.locator(".words mark")).to_contain_text("ninth of March")
        visitor.shot("moment")


def test_somebody_signs_in_at_their_identity_provider(browser: Browser, tmp_path: Path) -> None:
    with provider() as elsewhere, socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        elsewhere.back = f"{address}/v1/session/return"
        tokens = JwtTokens(TokenRules(elsewhere.issuer, "page"), fetcher(elsewhere.issuer, None))
        way = Provider(elsewhere.issuer, "page", SECRET, elsewhere.back, "openid", tokens)
        house = make_house(tmp_path / "home", local=False, provider=way)
        with (
            listening(house.app, bound),
            visiting(browser, Site(address, house.served.corpus, tmp_path, {})) as visitor,
        ):
            visitor.heard.forgiven.add(401)  # what was still being asked for when one signed out
            visitor.heard.also = f"{elsewhere.issuer}/authorize"
            visitor.page.goto(f"{address}/")
            visitor.shot("sign-in")
            visitor.page.get_by_role("link", name="Sign in with your organisation").click()
            visitor.page.get_by_role("link", name="Go on as ada").click()
            expect(visitor.page.get_by_role("navigation")).to_contain_text("Documents")
            expect(visitor.page.locator("#tools")).to_contain_text("ada")
            visitor.page.get_by_role("link", name="Documents").click()
            expect(visitor.page.get_by_role("link", name="salaries.txt")).to_be_visible()
            visitor.page.get_by_role("button", name="Sign out").click()
            expect(visitor.page.get_by_label("Key")).to_be_visible()
        house.served.corpus.close()
