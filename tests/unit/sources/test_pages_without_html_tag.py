"""Pages of the web need neither an ending in their names nor ``<html>`` at their beginning."""

from __future__ import annotations

import pytest

from fonte.errors import UnsupportedMediaType
from fonte.parsers.sniff import sniff

FRAGMENT = b'<link rel="canonical" href="/a"><h1>Title</h1><p>Words.</p>'


@pytest.mark.parametrize("name", ["docs.example.com/guide", "docs.example.com/index.php", "docs.example.com/v1.2/x"])
def test_what_a_server_calls_html_is_read_as_html(name: str) -> None:
    assert sniff(FRAGMENT, name, declared="text/html") == "text/html"
    assert sniff(FRAGMENT, name) == "text/plain"


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("docs.example.com/a.md", b"# Title\n\n<b>x</b>", "text/markdown"),
        ("docs.example.com/a", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n", "application/pdf"),
        ("docs.example.com/feed", b'<rss version="2.0"><channel/></rss>', "application/rss+xml"),
    ],
)
def test_bytes_and_endings_say_more_than_servers(name: str, body: bytes, kind: str) -> None:
    assert sniff(body, name, declared="text/html") == kind


def test_binary_data_that_is_called_html_is_none() -> None:
    with pytest.raises(UnsupportedMediaType):
        sniff(b"\0\1\2\3" * 99, "docs.example.com/a", declared="text/html")
