"""A served corpus for a browser: documents of many kinds, the real encoder, people with keys."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Dialog, Page
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "parsers_c"))

from fonte import Corpus
from fonte.access.identity import Action
from fonte.access.keys import mint
from fonte.answer import now
from fonte.corpus import OpenCorpus, SourceOptions
from fonte.http.app import create_app
from fonte.http.served import Served
from fonte.stores.home import Home
from fonte.types import Principal
from fonte.working import Worker
from pptx_making import deck, shape, slide, title

PAGE_SEVEN = "The reserve pump on level minus two delivers 340 litres per minute at most."
ITALIAN = "Il laboratorio chiude alle ore 18 dal lunedì al venerdì."
SECRET = "The director's salary is ninety-one thousand euro a year."
SLIDE_TWO = "The crane in hall five lifts 12 tonnes at most."
MEETING = """WEBVTT

00:00:01.000 --> 00:00:04.000
<v Rosa>Good morning everybody, let us begin with the budget.

00:01:05.000 --> 00:01:11.000
<v Marco>The new compressor will be delivered on the ninth of March.
"""
HOSTILE_NAME = "<img src=x onerror=alert(1)> \u202egpj.md"
HOSTILE = (
    "# Boiler <script>alert(2)</script> [click](javascript:alert(3))\n\n"
    "The boiler <img src=x onerror=alert(4)> in the east wing is checked every 14 months. "
    "</script><svg onload=alert(5)>\n"
)
_TOPICS = ("Scope", "Intake tower", "Filters", "Valves", "Electrical supply", "Alarms", "Reserve pump")
_FILLER = (
    "This chapter of the plant manual describes how the equipment is operated and who looks after it.",
    "Read the safety instructions first, and keep this manual where everybody on the shift can find it.",
    "Changes are approved by the plant engineer and take effect on the first day of the next month.",
)


def manual(path: Path) -> None:
    """A PDF of seven pages; only the last one says what the reserve pump delivers."""
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setTitle("Plant manual")
    for number, topic in enumerate(_TOPICS, start=1):
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(70, 760, f"{number}. {topic}")
        canvas.setFont("Helvetica", 11)
        lines = [*_FILLER, *(f"{topic}: see drawing {number}0{at} for the details of this part." for at in range(1, 5))]
        if number == len(_TOPICS):
            lines.insert(4, PAGE_SEVEN)
        for at, line in enumerate(lines):
            canvas.drawString(70, 720 - 26 * at, line)
        canvas.drawCentredString(A4[0] / 2, 40, f"- {number} -")
        canvas.showPage()
    canvas.save()


def documents(folder: Path) -> tuple[Path, Path]:
    """A folder for everybody, and one for the role ``hr``."""
    shared, closed = folder / "shared", folder / "closed"
    shared.mkdir(parents=True)
    closed.mkdir()
    manual(shared / "plant-manual.pdf")
    (shared / "orari.txt").write_text(f"Orari\n\n{ITALIAN} Il sabato è aperto solo su appuntamento.\n", "utf-8")
    (shared / "tariffs.csv").write_text(
        "Zone,Price per day,Since\nNorth,41,2024\nSouth,37,2025\nHills,52,2026\n", "utf-8"
    )
    stock = (f"P-{at},shelf {at % 17},{7 * at % 50}" for at in range(1, 151))
    (shared / "stock.csv").write_text("Part,Shelf,Count\n" + "\n".join(stock) + "\n", "utf-8")
    (shared / "meeting.vtt").write_text(MEETING, "utf-8")
    (shared / "briefing.pptx").write_bytes(
        deck(
            slide(title("Welcome"), shape("Please keep your badge visible at all times.")),
            slide(title("Crane"), shape(SLIDE_TWO)),
        )
    )
    (shared / HOSTILE_NAME).write_text(HOSTILE, "utf-8")
    (shared / "broken.pdf").write_bytes(b"%PDF-1.7 this is no pdf")
    (closed / "salaries.md").write_text(f"# Salaries\n\n{SECRET}\n", "utf-8")
    return shared, closed


@dataclass
class Site:
    """Where it is served, the corpus behind it, and keys by name."""

    address: str
    corpus: OpenCorpus
    folder: Path
    keys: dict[str, str] = field(repr=False)

    def id_of(self, name: str) -> str:
        """A document's id by its name."""
        return next(one.document_id for one in self.corpus.documents() if one.name == name)


PEOPLE = {
    "ada": (frozenset[str](), (Action.READ,)),
    "eva": (frozenset({"hr"}), (Action.READ,)),
    "max": (frozenset({"hr"}), tuple(Action)),
}


@contextmanager
def site(place: Path) -> Iterator[Site]:
    """Served on the loopback until the block ends."""
    home = place / "home"
    shared, closed = documents(place / "documents")
    with Corpus.open(home) as corpus:
        corpus.sync(str(shared))
        corpus.sync(str(closed), options=SourceOptions(allow=("hr",)))
        stores = Home(home)
        keys = {
            user: mint(stores.keys(), Principal("default", user, roles), actions, now=now()).text
            for user, (roles, actions) in PEOPLE.items()
        }
        work = Worker(corpus, stores.jobs)
        served = Served(
            corpus, stores.keys(), stores.sessions(), stores.audit(), None, work=work, feedback=stores.feedback
        )
        with _listening(served) as address:
            yield Site(address, corpus, shared, keys)
        work.close()


@contextmanager
def _listening(served: Served) -> Iterator[str]:
    config = uvicorn.Config(create_app(served), host="127.0.0.1", port=0, log_level="error", server_header=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    patience = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < patience
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


class Listening:
    """What no page may do, in a browser's page: words on the console, errors, dialogs, requests to elsewhere.

    ``forgiven`` are statuses that the browser may write to the console because the test wants them, ``also`` is the
    one other address that it may go to.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.faults: list[str] = []
        self.forgiven: set[int] = set()
        self.also = address
        page.on("console", lambda message: self._console(message.text))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self._request(request.url, address))

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, text: str) -> None:
        if not any(f"status of {status} " in text for status in self.forgiven):
            self.faults.append(f"console: {text}")

    def _request(self, url: str, address: str) -> None:
        if not url.startswith((f"{address}/", f"{self.also}?", f"blob:{address}/", "data:")):
            self.faults.append(f"request: {url}")


@dataclass
class Visitor:
    """A browser of somebody's own at the site."""

    site: Site
    page: Page
    heard: Listening

    def sign_in(self, user: str) -> None:
        """With the user's key, typed in."""
        self.page.goto(f"{self.site.address}/")
        self.page.get_by_label("Key").fill(self.site.keys[user])
        self.page.keyboard.press("Enter")
        self.page.get_by_role("navigation").wait_for()

    def ask(self, question: str) -> None:
        """Ask and wait for the answer's end."""
        self.page.get_by_role("textbox", name="Question").fill(question)
        self.page.keyboard.press("Enter")
        self.page.locator(".turn:last-child .about").wait_for()

    def shot(self, name: str) -> None:
        """A picture of the page for people to look at, where FONTE_SHOTS names a folder."""
        folder = os.environ.get("FONTE_SHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{name}.png")


@contextmanager
def visiting(
    browser: Browser,
    site: Site,
    user: str | None = None,
    *,
    language: str = "en-GB",
    width: int = 1280,
    dark: bool = False,
) -> Iterator[Visitor]:
    """Somebody's own browser; at the end nothing may have been heard of it."""
    with browser.new_context(
        viewport={"width": width, "height": 860}, locale=language, color_scheme="dark" if dark else "light"
    ) as context:
        visitor = _visitor(context, site)
        if user is not None:
            visitor.sign_in(user)
        yield visitor
        assert visitor.heard.faults == [], visitor.heard.faults


def _visitor(context: BrowserContext, site: Site) -> Visitor:
    context.set_default_timeout(90_000)
    page = context.new_page()
    return Visitor(site, page, Listening(page, site.address))
