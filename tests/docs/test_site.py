"""docs/ as a site: it is built strictly, and what is built asks no other host for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "audio": "src", "video": "src"}
"""Elements for which a browser fetches something, and where they name it. A link is followed by a person alone."""
_IN_STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class _Fetched(HTMLParser):
    """Every address that a browser fetches to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        where = "href" if tag == "link" and said.get("rel") != "canonical" else FETCHED.get(tag)
        if where and said.get(where):
            self.addresses.append(said[where] or "")
        self.addresses += in_styles(said.get("style") or "")


def in_styles(text: str) -> list[str]:
    return [one or other for one, other in _IN_STYLES.findall(text)]


def fetched(page: str) -> list[str]:
    reader = _Fetched()
    reader.feed(page)
    blocks = re.findall(r"<style[^>]*>(.*?)</style>", page, flags=re.DOTALL)
    return [*reader.addresses, *(address for block in blocks for address in in_styles(block))]


def foreign(addresses: list[str]) -> list[str]:
    return [one for one in addresses if urlsplit(one).netloc or urlsplit(one).scheme not in {"", "data"}]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as ``mkdocs build --strict`` writes it; a broken link, a page outside of the navigation ends it."""
    place = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [Path(sys.executable).parent / "mkdocs", "build", "--strict", "--site-dir", place],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=150, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return place


def test_the_site_is_built_from_every_page_of_docs(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.parent.relative_to(site) for path in site.rglob("index.html")}
    named = {page.parent if page.name in {"README", "index"} else page for page in pages}
    assert named <= built


def test_nothing_of_the_site_comes_from_another_host(site: Path) -> None:
    seen = 0
    for page in site.rglob("*.html"):
        addresses = fetched(page.read_text(encoding="utf-8"))
        seen += len(addresses)
        assert foreign(addresses) == [], page.relative_to(site)
    for sheet in site.rglob("*.css"):
        assert foreign(in_styles(sheet.read_text(encoding="utf-8"))) == [], sheet.relative_to(site)
    assert seen > 0


def test_words_are_found_in_the_index_that_lies_beside_the_pages(site: Path) -> None:
    assert "canonical text" in (site / "search" / "search_index.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="http://pictures.example/a.png">',
        '<p style="background: url(https://pictures.example/a.png)">',
        "<style>@import 'https://fonts.example/css';</style>",
    ],
)
def test_an_address_elsewhere_is_seen(page: str) -> None:
    assert len(foreign(fetched(page))) == 1


def test_a_link_that_a_person_follows_is_no_request() -> None:
    assert (
        foreign(fetched('<a href="https://example.com">x</a><img src="data:image/png;base64,AA"><img src="a.png">'))
        == []
    )
