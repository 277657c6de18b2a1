"""Feeds: entries with their text, whatever form of feed."""

from __future__ import annotations

import pytest

from fonte.errors import ParseError, UnsupportedMediaType
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.ledger import balance
from fonte.types import Acl, Chunk, Parsed, Source, sha256_hex

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Pump news</title>
<description>All of it</description>
<item><title>Hall 9 &amp;amp; more</title><pubDate>Mon, 09 Dec 2024 20:26:59 +0000</pubDate>
<description>Short.</description>
<content:encoded>&lt;h2&gt;Why&lt;/h2&gt;&lt;p&gt;It runs at &lt;b&gt;41&lt;/b&gt; bar.&lt;/p&gt;
</content:encoded></item>
<item><description><![CDATA[<p>No title.</p><table><tr><td>a</td><td>b</td></tr></table>]]></description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title><subtitle>Of pumps</subtitle>
<entry><title>One</title><updated>2024-01-02T03:04:05Z</updated><author><name>Ada</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>In <i>full</i>.</p></div></content></entry></feed>"""


def source(text: str, name: str = "feed.xml") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(text), Acl(), body=text.encode())


def told(parsed: Parsed) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, block.text) for block in parsed.blocks]


def test_rss_by_its_fullest_text() -> None:
    parsed = parse_body(source(RSS))
    assert told(parsed) == [
        ("heading", 1, "Pump news"),
        ("paragraph", 0, "All of it"),
        ("heading", 2, "Hall 9 & more"),
        ("paragraph", 0, "Mon, 09 Dec 2024 20:26:59 +0000"),
        ("heading", 4, "Why"),
        ("paragraph", 0, "It runs at 41 bar."),
        ("paragraph", 0, "No title."),
        ("row", 0, "a | b"),
    ]
    document = canonicalise(parsed, source(RSS), tenant="t")
    chunk = Chunk("c", "d", 0, 0, len(document.text), document.text)
    assert balance(parsed, document, [chunk], window=9999).balanced


def test_atom_with_elements_as_its_text() -> None:
    assert told(parse_body(source(ATOM, "a.atom"))) == [
        ("heading", 1, "Notes"),
        ("paragraph", 0, "Of pumps"),
        ("heading", 2, "One"),
        ("paragraph", 0, "2024-01-02T03:04:05Z, Ada"),
        ("paragraph", 0, "In full."),
    ]


def test_other_xml_is_no_feed_and_broken_ones_are_typed_errors() -> None:
    with pytest.raises(UnsupportedMediaType):
        parse_body(source("<?xml version='1.0'?><invoice><total>3</total></invoice>"))
    with pytest.raises(ParseError, match="well-formed"):
        parse_body(source(RSS[:-20]))
    laughs = "<!DOCTYPE rss [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><rss><channel><title>&b;</title></channel></rss>"
    with pytest.raises((ParseError, UnsupportedMediaType)):
        parse_body(source(laughs))
    assert parse_body(source("<rss><channel/></rss>")).empty_reason == "empty"
