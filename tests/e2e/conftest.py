"""One browser for all tests of this folder, and a page for each, which fails its test by whatever it complains of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from opened import Heard
from served_page import Site, site

_HERE = Path(__file__).parent
_PATIENCE_MS = 90_000
"""A machine that is busy with something else is no fault of a page."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Last of all: while a browser is open its driver's event loop runs in this thread, and nobody else's can."""
    items.sort(key=lambda item: _HERE in item.path.parents)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory, browser_required: bool) -> Iterator[Browser]:
    """The machine's own Chromium, with a profile and a home of its own; it finds no host but this one."""
    path = shutil.which("chromium")
    if path is None:
        (pytest.fail if browser_required else pytest.skip)("no Chromium; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        expect.set_options(timeout=_PATIENCE_MS)
        browser = playwright.chromium.launch(
            timeout=_PATIENCE_MS,
            executable_path=path,
            # Root may not have Chromium's own sandbox, and some containers give it to nobody. Only our pages are shown.
            chromium_sandbox=False,
            args=["--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
            env={**os.environ, "HOME": str(tmp_path_factory.mktemp("browser-home"))},
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page; the test fails if anything shown in it complains or asks for something that is not a file."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(_PATIENCE_MS)
        page = context.new_page()
        heard = Heard(page)
        yield page
        assert heard.faults == []


@pytest.fixture(scope="session")
def served_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The server with its page over documents of many kinds; whoever changes them makes a site of their own."""
    with site(tmp_path_factory.mktemp("site")) as made:
        yield made
