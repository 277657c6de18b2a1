"""Which addresses may be asked."""

from __future__ import annotations

import ipaddress

import pytest

from fonte.errors import SourceUnreadable
from fonte.sources.web.addresses import Door, plain_url
from fonte.sources.web.listed import addresses_in, canonical_of, charset_of, listed_addresses
from fonte.sources.web.robots import parse_robots


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("HTTP://Docs.Example.COM:80/a b?q=è#part", "http://docs.example.com/a%20b?q=%C3%A8"),
        ("https://example.com", "https://example.com/"),
        ("https://exämple.com/%C3%A8", "https://xn--exmple-cua.com/%C3%A8"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://example.com./", "http://example.com/"),
    ],
)
def test_addresses_have_one_plain_form(url: str, plain: str) -> None:
    assert plain_url(url) == plain


@pytest.mark.parametrize(
    "url",
    ["ftp://example.com/", "file:///etc/passwd", "http://", "http://u:p@example.com/", "http://a:99999/", "//x", "nix",
     "http://[::1", "http://exa mple.com:x/"],
)  # fmt: skip
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(SourceUnreadable):
        plain_url(url)


@pytest.mark.parametrize(
    ("url", "admitted"),
    [
        ("https://docs.example.com/a", True),
        ("http://docs.example.com/", True),
        ("http://docs.example.com:22/", False),
        ("http://example.com/", False),
        ("http://docs.example.com.evil.org/", False),
        ("http://a.wide.org/", True),
        ("http://wide.org/", False),
        ("http://notwide.org/", False),
        ("http://127.0.0.1:8080/", True),
        ("http://127.0.0.1/", False),
        ("http://[::1]:81/", True),
    ],
)
def test_only_listed_hosts_are_admitted(url: str, admitted: bool) -> None:
    door = Door(("Docs.example.com", "*.wide.org", "127.0.0.1:8080", "[::1]:81"))
    assert door.admits(plain_url(url)) is admitted


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
     "2002:7f00:1::", "::ffff:169.254.169.254"],
)  # fmt: skip
def test_addresses_inside_are_refused(address: str) -> None:
    with pytest.raises(SourceUnreadable, match="no public address"):
        Door(("x",)).check("x", [address])
    with pytest.raises(SourceUnreadable):
        Door(("x",)).check("x", ["93.184.216.34", address])


def test_public_and_listed_addresses_are_taken() -> None:
    Door(("x",)).check("x", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
    Door(("x",), (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1"))).check("x", ["10.9.9.9", "::1"])


def test_robots_by_the_longest_rule() -> None:
    text = (
        "User-agent: other\nDisallow: /\n\nUser-agent: FONTE\nuser-agent: third\nDisallow: /private\n"
        "Allow: /private/open\nDisallow: /*.pdf$\nCrawl-delay: 99999\nDisallow:\n\nUser-agent: *\nDisallow: /all"
    )
    robots = parse_robots(text, "fonte")
    assert [robots.allows(path) for path in ("/", "/private/x", "/private/open/x", "/a.pdf", "/a.pdf?x", "/all")] == [
        True, False, True, False, True, True,
    ]  # fmt: skip
    assert robots.delay == 10.0
    assert not parse_robots(text, "fourth").allows("/all")
    assert parse_robots("nonsense\n:::\n" * 3, "fonte").allows("/")
    many = parse_robots("User-agent: *\nDisallow: /" + "*a" * 2000 + "\n", "fonte")
    assert many.allows("/" + "a" * 1500 + "b" * 2000)


def test_sitemaps_of_every_form() -> None:
    spaced = (
        b'<?xml version="1.0"?><s:urlset xmlns:s="x"><s:url><s:loc>\n http://a/1?x=1&amp;y=2 </s:loc>'
        b"<image:loc>http://no/</image:loc></s:url><!-- <s:loc>http://no/</s:loc> --></s:urlset>"
    )
    assert listed_addresses(spaced, "", most_bytes=9999) == ("urlset", ["http://a/1?x=1&y=2"])
    index = b"<sitemapindex><sitemap><loc><![CDATA[http://a/s.xml]]></loc></sitemap></sitemapindex>"
    assert listed_addresses(index, "text/xml", most_bytes=9999) == ("sitemapindex", ["http://a/s.xml"])
    assert listed_addresses(b"http://a/1\n\nhttp://a/2\n", "text/plain", most_bytes=999) == (
        "list", ["http://a/1", "http://a/2"]
    )  # fmt: skip
    assert listed_addresses(b"<html><body>http://a/1</body></html>", "text/html", most_bytes=999) is None
    assert listed_addresses(b"A page\n", "text/plain", most_bytes=999) is None
    assert addresses_in("# mine\nhttps://a/\n") == ["https://a/"]


def test_canonical_addresses_and_encodings() -> None:
    assert canonical_of(b"<LINK href='/a?x=1&amp;y=2' REL=Canonical>") == "/a?x=1&y=2"
    assert canonical_of(b'<link rel="alternate" href="/b">') is None
    assert canonical_of(b"<link rel=canonical>") is None
    assert canonical_of(b"", '<http://a/x>; rel="canonical", <http://a/y>; rel=next') == "http://a/x"
    assert charset_of('text/html; Charset="windows-1252"') == "windows-1252"
    assert charset_of("text/html") is None
