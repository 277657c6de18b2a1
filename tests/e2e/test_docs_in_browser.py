"""The built documentation in a browser: search works without anybody else, and no page asks another host."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).resolve().parents[2]


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def docs(tmp_path: Path) -> Iterator[str]:
    """Where the built site is served."""
    built = subprocess.run(
        [Path(sys.executable).parent / "mkdocs", "build", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_documentation_is_searched_without_another_host(docs: str, browser: Browser) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(docs)
        page.get_by_role("textbox", name="Search").click()
        page.keyboard.type("destroyed needle")
        expect(page.get_by_role("link", name="Glossary").first).to_be_visible()
        page.goto(docs + "glossary/")
        expect(page.get_by_role("heading", name="Glossary")).to_be_visible()
    assert {urlsplit(address).netloc for address in asked} == {urlsplit(docs).netloc}
    assert complaints == []
