"""What the page tells of sentences that are not simply supported, of what is missing, left out, computed or flagged."""

from __future__ import annotations

import json
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Route, expect

from served_page import Site, visiting

EVIL = "<img src=x onerror=alert(1)>"


def _sentence(text: str, support: str, **checks: object) -> dict[str, Any]:
    return {"text": text, "citations": [1], "support": support, "checks": checks}


def _bent(answer: dict[str, Any]) -> dict[str, Any]:
    """A real answer with every kind of verdict and remark, as a model's draft might get them."""
    sentences = [
        _sentence("It delivers 340 litres [1].", "supported", numbers="ok", alignment=0.91),
        _sentence("It runs for 9 days [1].", "unsupported", numbers=f"9 days, source: 9 hours {EVIL}"),
        _sentence("The manager starts it [1].", "partial", names="missing: manager"),
        _sentence("Es läuft gut [1].", "not_checked", numbers="not checked"),
    ]
    cited = answer["citations"][0] | {"flags": ["override"], "valid_from": "2026-01-01", "valid_to": None}
    return answer | {
        "answer": "\n".join(one["text"] for one in sentences),
        "sentences": sentences,
        "citations": [cited],
        "missing": [f"How loud is it? {EVIL}"],
        "notes": [f"read with what was said before {EVIL}"],
        "dropped": [_sentence(f"It is blue {EVIL}", "unsupported", opposites="added: blue")],
    }


def test_every_verdict_and_remark_is_told_in_words(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        page = visitor.page
        asked = {"question": "How much does the reserve pump deliver?"}
        sent = page.request.post(f"{served_site.address}/v1/ask", data=asked, headers={"origin": served_site.address})
        bent = _bent(sent.json())

        def answer(route: Route) -> None:
            events = [("citation", bent["citations"][0]), ("delta", {"text": bent["answer"]}), ("done", bent)]
            body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
            route.fulfill(status=200, content_type="text/event-stream", body=body)

        page.route("**/v1/ask", answer)
        visitor.ask("What of it?")
        told = page.locator(".answer .verdict")
        expect(told).to_have_text(["✓ supported", "✕ not supported", "◐ partly supported", "– not checked"])
        expect(told.nth(1)).to_have_attribute("title", f"not supported: numbers: 9 days, source: 9 hours {EVIL}")
        expect(page.locator(".checks summary")).to_have_text(
            "Support: ✓ 1 supported, ✕ 1 not supported, ◐ 1 partly supported, – 1 not checked"
        )
        expect(page.locator(".checks ol").first).to_be_visible()
        expect(page.locator(".checks")).to_contain_text(f"numbers: 9 days, source: 9 hours {EVIL}")
        expect(page.locator(".checks")).to_contain_text("words that go back to the source: 91 %")
        expect(page.locator(".checks")).to_contain_text(f"It is blue {EVIL}")
        expect(page.locator(".turn .note")).to_contain_text(f"How loud is it? {EVIL}")
        expect(page.locator(".notes")).to_contain_text("read with what was said before")
        expect(page.locator(".hints")).to_contain_text("take care: it says that earlier orders are to be forgotten")
        expect(page.locator(".hints")).to_contain_text("holds 1 Jan 2026 to")
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
        visitor.shot("verdicts")


def test_a_follow_up_shows_how_it_was_read_and_a_count_what_it_rests_on(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        page = visitor.page
        page.evaluate("localStorage.setItem('fonte-language', 'it')")
        page.reload()
        field = page.get_by_role("textbox", name="Domanda")
        asked = {"question": "How much does the reserve pump deliver?"}
        sent = page.request.post(f"{served_site.address}/v1/ask", data=asked, headers={"origin": served_site.address})
        step = {"name": "history", "outcome": "continued", "texts": [f"How often is it oiled? {EVIL}"], "documents": []}
        told = sent.json() | {
            "sentences": [_sentence("Two [1].", "supported"), _sentence("Three [1].", "supported")],
            "steps": [step],
            "computed": {"rows": 1, "expression": "count", "sql": "SELECT 1"},
        }
        refused = told | {
            "abstention": {"reason": "weak_evidence", "message": "No.", "nearest": []},
            "computed": None,
            "steps": [],
            "generator": "extractive",
        }
        answers = iter([told, refused])

        def answer(route: Route) -> None:
            body = f"event: done\ndata: {json.dumps(next(answers))}\n\n"
            route.fulfill(status=200, content_type="text/event-stream", body=body)

        page.route("**/v1/ask", answer)
        field.fill("And the oil?")
        page.keyboard.press("Enter")
        first = page.locator(".turn").nth(0)
        expect(first.locator(".read-as")).to_have_text(f"letta come: How often is it oiled? {EVIL}")
        expect(first.locator("summary").first).to_have_text("Calcolato su 1 riga")
        expect(first.locator(".checks summary")).to_have_text("Verifica: ✓ 2 supportate")
        expect(first.locator(".about")).to_contain_text("calcolata, non giudicata dalla soglia")
        expect(first.locator(".about")).not_to_contain_text("prova")
        field.fill("E il resto?")
        page.keyboard.press("Enter")
        second = page.locator(".turn").nth(1)
        expect(second.locator(".abstained")).to_be_visible()
        expect(second.locator(".read-as")).to_be_hidden()
        expect(second.locator(".about")).not_to_contain_text("extractive")
        expect(second.locator(".about")).to_contain_text("prova")


def test_an_answer_that_breaks_off_says_so(browser: Browser, served_site: Site) -> None:
    with visiting(browser, served_site, "ada") as visitor:
        page = visitor.page
        half = 'event: delta\ndata: {"text": "It delivers"}\n\n'
        fault = {"error": {"code": "not_in_the_page", "message": f"down {EVIL}", "hint": "wait", "retryable": True}}
        bodies = [half, f"{half}event: error\ndata: {json.dumps(fault)}\n\n"]
        page.route(
            "**/v1/ask",
            lambda route: route.fulfill(status=200, content_type="text/event-stream", body=bodies.pop(0)),
        )
        for words in ("The server cannot be reached just now.", f"down {EVIL}"):
            page.get_by_role("textbox", name="Question").fill("What of it?")
            page.keyboard.press("Enter")
            expect(page.locator(".turn:last-child [role=alert]")).to_contain_text(words)
            expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
