"""Pages of a site on the loopback interface, which the tests list on purpose."""

from __future__ import annotations

import gzip
import ipaddress
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from fonte.errors import ConfigError, FonteError, SourceTooLarge, SourceUnreadable, UnsupportedMediaType
from fonte.source_settings import WebSettings
from fonte.sources.fetched import Fetched
from fonte.sources.opening import Opener
from fonte.sources.rules import SourceRule
from fonte.sources.taking import Taking
from fonte.sources.web.addresses import Door
from fonte.sources.web.fetch import Fetcher
from fonte.sources.web.reader import WebSource
from fonte.types import Source, sha256_hex
from web_site import Site, leads_to, page, running_site

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as running:
        yield running


@pytest.fixture
def web(site: Site, tmp_path: Path):
    """Makes sources of the site; named arguments are the fetcher's and the options'."""

    def make(spec: str = "/sitemap.xml", *, hosts: tuple[str, ...] = (), networks=LOOPBACK, **more) -> WebSource:
        url = spec if "://" in spec or spec.endswith(".urls") else site.base + spec
        names = {key: more.pop(key) for key in ("timeout_seconds", "max_bytes", "resolver") if key in more}
        limits = {"timeout_seconds": 30.0, "max_bytes": 20 * 2**20, **names}
        fetcher = Fetcher(Door((site.host, *hosts), networks), delay_seconds=0, **limits)
        pages = more.pop("max_pages", 1000)
        return WebSource(url, url, fetcher, Fetched(tmp_path / "kept"), Taking(**more), pages)

    return make


def sources(source: WebSource) -> dict[str, Source]:
    return {item.name.split("/", 1)[1]: item for item in source.scan() if isinstance(item, Source)}


def failures(source: WebSource) -> dict[str, FonteError]:
    return {item[1].split("/", 1)[1]: item[2] for item in source.scan() if isinstance(item, tuple)}  # type: ignore[misc]  # our errors


def test_the_pages_of_a_sitemap_are_sources(site: Site, web) -> None:
    site.sitemap("/a", "/b.md", "/missing", "https://elsewhere.example/x", "ftp://no", "/a")
    site.pages["/a"] = page("<h1>A</h1>", last_modified="Mon, 05 Jan 2026 10:00:00 GMT")
    site.pages["/b.md"] = page("---\nroles: hr\n---\n# B", content_type="text/markdown")
    source = web()
    found = sources(source)
    assert list(found) == ["a", "b.md"]
    a = found["a"]
    assert (a.uri, a.content_hash, a.media_type) == (f"{site.base}/a", sha256_hex("<h1>A</h1>"), "text/html")
    assert (a.charset, str(a.modified_at)) == ("utf-8", "2026-01-05 10:00:00+00:00")
    assert Path(a.path or "").read_text() == "<h1>A</h1>"
    assert found["b.md"].acl.roles == {"hr"}
    assert source.notes == (
        "1 addresses are at hosts that [web] hosts does not list, first https://elsewhere.example/x",
        "1 lines are no addresses, first ftp://no",
        f"1 pages are gone, first {site.base}/missing",
    )


def test_an_index_of_sitemaps_packed_ones_and_lists_are_followed(site: Site, web, tmp_path: Path) -> None:
    inner = f"<urlset><url><loc>{site.base}/a</loc></url></urlset>"
    site.pages["/one.xml.gz"] = page(gzip.compress(inner.encode()), content_type="application/gzip")
    site.pages["/two.txt"] = page(f"{site.base}/b\n{site.base}/a\n", content_type="text/plain")
    index = "".join(f"<sitemap><loc>{site.base}/{one}</loc></sitemap>" for one in ("one.xml.gz", "two.txt"))
    site.pages["/sitemap.xml"] = page(f"<sitemapindex>{index}</sitemapindex>", content_type="text/xml")
    site.pages["/a"], site.pages["/b"] = page("A"), page("B")
    assert list(sources(web())) == ["a", "b"]
    assert list(sources(web("/b"))) == ["b"]
    listed = tmp_path / "mine.urls"
    listed.write_text(f"# mine\n{site.base}/b\n")
    assert list(sources(web(str(listed)))) == ["b"]
    listed.write_text("something else")
    with pytest.raises(SourceUnreadable, match="no addresses"):
        sources(web(str(listed)))


def test_a_packed_sitemap_that_breaks_off_makes_no_page_gone(site: Site, web) -> None:
    entries = "".join(f"<url><loc>{site.base}/{number}</loc></url>" for number in range(500))
    whole = gzip.compress(f"<urlset>{entries}</urlset>".encode())
    for bad, why in ((whole[:-20], "breaks off"), (whole[:30] + b"\xff" * 30 + whole[60:], "not packed")):
        site.pages["/sitemap.xml"] = page(bad, content_type="application/gzip")
        with pytest.raises(SourceUnreadable, match=why):
            sources(web())


def test_a_sitemap_packed_in_two_parts_is_read_whole(site: Site, web) -> None:
    first, second = f"<urlset><url><loc>{site.base}/a</loc>", f"</url><url><loc>{site.base}/b</loc></url></urlset>"
    both = gzip.compress(first.encode()) + gzip.compress(second.encode())
    site.pages["/sitemap.xml"] = page(both, content_type="application/gzip")
    site.pages["/a"], site.pages["/b"] = page("A"), page("B")
    assert list(sources(web())) == ["a", "b"]


def test_a_list_without_a_page_to_read_is_told(site: Site, web) -> None:
    site.pages["/sitemap.xml"] = page("<urlset></urlset>", content_type="text/xml")
    source = web()
    assert list(source.scan()) == []
    assert source.notes == (f"{site.base}/sitemap.xml lists no page that is to be read",)


def test_sitemaps_that_go_in_a_circle_end(site: Site, web) -> None:
    site.pages["/sitemap.xml"] = page(f"<sitemapindex><loc>{site.base}/sitemap.xml</loc></sitemapindex>")
    assert "leads in a circle" in str(failures(web())["sitemap.xml"])


def test_one_bad_address_in_an_index_of_sitemaps_costs_its_own_pages_no_other(site: Site, web) -> None:
    """Nobody knows which pages a sitemap lists that cannot be had: those that were known stay while they are there."""
    for name in "ab":
        site.pages[f"/{name}.xml"] = page(f"<urlset><loc>{site.base}/{name}</loc></urlset>", content_type="text/xml")
        site.pages[f"/{name}"] = page(name.upper())
    places = "".join(
        f"<loc>{one}</loc>" for one in ("ftp://me:pw@else/x.xml", f"{site.base}/b.xml", f"{site.base}/a.xml")
    )
    site.pages["/sitemap.xml"] = page(f"<sitemapindex>{places}</sitemapindex>", content_type="text/xml")
    assert list(sources(web())) == ["b", "a"]
    assert [type(error) for error in failures(web()).values()] == [SourceUnreadable]
    ((name, error),) = failures(web()).items()
    assert "pw" not in f"{name} {error}"
    for answer in (page("", 404), page("", 500), page("", 403), page(b"\x1f\x8bno", content_type="application/gzip")):
        site.pages["/b.xml"] = answer
        assert sorted(sources(web())) == ["a", "b"]
        assert len(failures(web())) == 2
    site.pages["/b"] = page("", 404)  # gone itself: then it goes
    assert list(sources(web())) == ["a"]
    assert len(failures(web())) == 2


def test_more_sitemaps_than_are_followed_end_the_sync(site: Site, web) -> None:
    many = "".join(f"<loc>{site.base}/{number}.xml</loc>" for number in range(101))
    site.pages["/sitemap.xml"] = page(f"<sitemapindex>{many}</sitemapindex>", content_type="text/xml")
    with pytest.raises(SourceUnreadable, match="more than 100 sitemaps"):
        sources(web())


def test_an_unchanged_page_costs_nothing(site: Site, web) -> None:
    site.sitemap("/a", "/b", "/old")
    site.pages["/a"] = page("A", etag='"1"')
    site.pages["/b"] = page("B", etag='"1"')
    site.pages["/old"] = leads_to("/b2", 301)
    site.pages["/b2"] = page("B2", etag='"9"')
    first = sources(web())
    site.answered.clear()
    assert sources(web()) == first
    told = dict(site.answered)
    assert (told["/a"], told["/b"], told["/b2"]) == (304, 304, 304)
    site.pages["/b"] = page("B is new", etag='"2"')
    again = sources(web())
    assert again["a"] == first["a"]
    assert again["b"].content_hash == sha256_hex("B is new")


def test_what_is_gone_is_not_shown_and_what_fails_stays(site: Site, web, tmp_path: Path) -> None:
    site.sitemap("/a", "/b", "/c", "/d")
    for name in "abc":
        site.pages[f"/{name}"] = page(name)
    before = sources(web())
    site.pages["/a"] = page("gone", 410)
    site.pages["/b"] = page("sorry", 503)
    site.pages["/d"] = page("sorry", 500)
    source = web()
    items = list(source.scan())
    assert [item for item in items if isinstance(item, Source)] == [before["b"], before["c"]]
    assert [item[0] for item in items if isinstance(item, tuple)] == [f"{site.base}/d"]
    assert any("1 pages could not be had and stay as they were" in note and "503" in note for note in source.notes)
    assert any(note.startswith("1 pages are gone") for note in source.notes)
    assert len(list((tmp_path / "kept").glob("*/*"))) == 2
    site.pages["/sitemap.xml"] = page("sorry", 500)
    with pytest.raises(SourceUnreadable, match="500"):
        sources(web())
    del site.pages["/sitemap.xml"]
    with pytest.raises(SourceUnreadable, match="404"):
        sources(web())


def test_a_page_behind_a_login_fails(site: Site, web) -> None:
    site.pages["/a"] = page("who are you", 403)
    with pytest.raises(SourceUnreadable, match="403"):
        sources(web("/a"))


# --- where redirects lead


def test_redirects_are_followed_only_to_listed_hosts(site: Site, web) -> None:
    site.sitemap("/a", "/out", "/circle", "/odd", "/deep")
    site.pages["/a"], site.pages["/c"] = leads_to("/c"), page("C")
    site.pages["/out"] = leads_to("http://169.254.169.254/latest/meta-data")
    site.pages["/circle"] = leads_to("/circle")
    site.pages["/odd"] = leads_to("file:///etc/passwd")
    source = web()
    assert list(sources(source)) == ["c"]
    told = {name: str(error) for name, error in failures(source).items()}
    assert "leads to it: http://169.254.169.254 is not listed" in told["out"]
    assert "more than 5 times" in told["circle"]
    assert "no address" in told["odd"]


def test_a_redirect_to_a_private_address_of_a_listed_host_is_refused(site: Site, web) -> None:
    """The host may be asked by its name, and its name leads inside."""
    site.sitemap("/inside")
    site.pages["/inside"] = leads_to(f"http://intern.example:{site.port}/secret")
    site.pages["/secret"] = page("secret")
    answers = {"intern.example": ["10.0.0.7"], "127.0.0.1": ["127.0.0.1"]}
    source = web(hosts=(f"intern.example:{site.port}",), resolver=lambda host, port: answers[host])
    (error,) = failures(source).values()
    assert "intern.example is at 10.0.0.7, which is no public address" in str(error)
    assert "/secret" not in site.asked


def test_without_being_listed_loopback_is_refused(site: Site, web) -> None:
    site.sitemap("/a")
    with pytest.raises(SourceUnreadable, match="no public address"):
        sources(web(networks=()))
    assert site.asked == []


def test_a_name_that_answers_otherwise_the_second_time_gains_nothing(site: Site, web) -> None:
    """Rebinding: what was checked is what is connected to, and every answer is checked."""
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) % 2 else ["10.0.0.1"]

    site.pages["/a"] = page("A", connection="close")
    site.pages["/robots.txt"] = page("", 404, connection="close")
    source = web(f"http://twice.example:{site.port}/a", hosts=(f"twice.example:{site.port}",), resolver=rebinding)
    with pytest.raises(SourceUnreadable, match=r"10\.0\.0\.1"):
        sources(source)
    assert len(asked) == 2
    both = web(
        f"http://twice.example:{site.port}/a",
        hosts=(f"twice.example:{site.port}",),
        resolver=lambda host, port: ["127.0.0.1", "192.168.0.1"],
    )
    with pytest.raises(SourceUnreadable, match=r"192\.168\.0\.1"):
        sources(both)


# --- bodies


def endless(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("content-type", "text/html")
    request.send_header("transfer-encoding", "chunked")
    request.end_headers()
    for _ in range(100_000):
        request.wfile.write(b"2000\r\n" + b"x" * 0x2000 + b"\r\n")


def slow(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("content-type", "text/html")
    request.send_header("content-length", "1000")
    request.end_headers()
    for _ in range(100):
        request.wfile.write(b"x")
        request.wfile.flush()
        time.sleep(0.05)


def slow_head(request: BaseHTTPRequestHandler) -> None:
    for sign in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 100:
        request.wfile.write(bytes([sign]))
        request.wfile.flush()
        time.sleep(0.05)


def test_bodies_have_an_end(site: Site, web) -> None:
    site.sitemap("/endless", "/long", "/bomb", "/short", "/lies", "/br", "/a")
    bomb = gzip.compress(b"0" * 30_000_000)
    site.pages["/endless"] = endless
    site.pages["/long"] = page("x" * 300_000)
    site.pages["/bomb"] = page(bomb, content_encoding="gzip")
    site.pages["/short"] = page(gzip.compress(b"fine" * 1000), content_encoding="gzip")
    site.pages["/lies"] = page(b"not gzip", content_encoding="gzip")
    site.pages["/br"] = page(b"x", content_encoding="br")
    site.pages["/a"] = page("A")
    items = list(web(max_bytes=200_000).scan())
    told = {item[1].split("/", 1)[1]: item[2] for item in items if isinstance(item, tuple)}
    assert {name: type(error) for name, error in told.items()} == {
        "endless": SourceTooLarge,
        "long": SourceTooLarge,
        "bomb": SourceTooLarge,
        "lies": SourceUnreadable,
        "br": SourceUnreadable,
    }
    kept = {item.name.split("/", 1)[1]: item for item in items if isinstance(item, Source)}
    assert kept["short"].content_hash == sha256_hex(b"fine" * 1000)
    assert "a" in kept


def test_the_time_of_a_page_is_for_all_that_it_leads_to(site: Site, web) -> None:
    def late(request: BaseHTTPRequestHandler) -> None:
        time.sleep(0.15)
        leads_to(f"/late{site.asked.count('/late0') + len(site.asked)}")(request)

    for number in range(40):
        site.pages[f"/late{number}"] = late
    source = web("/late0", timeout_seconds=0.4)
    began = time.monotonic()
    with pytest.raises(SourceUnreadable, match=r"took longer than 0\.4 s"):
        sources(source)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("answer", [slow, slow_head])
def test_what_drips_ends_in_time(site: Site, web, answer) -> None:
    site.sitemap("/slow", "/a")
    site.pages["/slow"], site.pages["/a"] = answer, page("A")
    source = web(timeout_seconds=0.4)
    began = time.monotonic()
    items = list(source.scan())
    assert time.monotonic() - began < 3
    assert "took longer than 0.4 s" in str(next(item[2] for item in items if isinstance(item, tuple)))
    assert [item.name for item in items if isinstance(item, Source)] == [f"{site.host}/a"]


def test_other_kinds_of_content_are_not_read(site: Site, web) -> None:
    site.sitemap("/film", "/program", "/style", "/none")
    site.pages["/film"] = page("x", content_type="video/mp4")
    site.pages["/program"] = page("x", content_type="application/octet-stream")
    site.pages["/style"] = page("x", content_type="text/css")
    site.pages["/none"] = page("<h1>x</h1>", content_type="")
    source = web()
    assert {type(one) for one in failures(source).values()} == {UnsupportedMediaType}
    assert list(sources(source)) == ["none"]


def test_a_connection_that_breaks_is_a_trouble_that_passes(site: Site, web) -> None:
    site.pages["/a"] = page("A")
    assert list(sources(web("/a"))) == ["a"]
    site.sitemap("/a")
    site.pages["/a"] = lambda request: request.wfile.write(b"garbage\r\n\r\n")
    source = web()
    assert list(sources(source)) == ["a"]
    assert any("stay as they were" in note for note in source.notes)


# --- robots, canonical addresses, options


def test_robots_are_respected(site: Site, web) -> None:
    site.sitemap("/open", "/closed/x", "/led")
    site.pages["/robots.txt"] = page("User-agent: *\nDisallow: /closed", content_type="text/plain")
    site.pages["/open"] = page("A")
    site.pages["/led"] = leads_to("/closed/y")
    source = web()
    items = list(source.scan())
    assert [item.name for item in items if isinstance(item, Source)] == [f"{site.host}/open"]
    assert all("robots.txt" in str(item[2]) for item in items if isinstance(item, tuple))
    assert not [one for one in site.asked if one.startswith("/closed")]
    assert site.asked.count("/robots.txt") == 1


def test_while_robots_cannot_be_had_nothing_is_fetched(site: Site, web) -> None:
    site.pages["/robots.txt"] = page("sorry", 500)
    site.pages["/a"] = page("A")
    with pytest.raises(SourceUnreadable, match=r"robots\.txt answers 500"):
        sources(web("/a"))
    assert "/a" not in site.asked


def test_pages_are_known_by_their_canonical_address(site: Site, web) -> None:
    site.sitemap("/a?ref=1", "/a?ref=2", "/thief", "/b", "/other")
    canonical = '<link rel="canonical" href="{}">A'
    for path in ("/a?ref=1", "/a?ref=2"):
        site.pages[path] = page(canonical.format("/a"))
    site.pages["/thief"] = page(canonical.format("/b"))
    site.pages["/b"] = page("B")
    site.pages["/other"] = page(canonical.format("http://elsewhere.example/other"))
    source = web()
    found = sources(source)
    assert [item.uri for item in found.values()] == [f"{site.base}/{name}" for name in ("a", "b", "other")]
    assert found["b"].content_hash == sha256_hex("B")
    assert any(note.startswith("2 pages are copies") for note in source.notes)


def test_globs_rules_and_limits_are_those_of_names(site: Site, web) -> None:
    site.sitemap("/docs/a", "/docs/b", "/news/c", "/docs/d")
    for path in ("/docs/a", "/docs/b", "/news/c", "/docs/d"):
        site.pages[path] = page(path)
    rules = [SourceRule("*/docs/**", frozenset({"staff"}), language="it"), SourceRule("*/docs/b", frozenset())]
    source = web(include=["*/docs/**"], rules=rules, max_pages=2)
    found = sources(source)
    assert {name: (one.acl.roles, one.language) for name, one in found.items()} == {
        "docs/a": ({"staff"}, "it"),
        "docs/b": (frozenset(), "it"),
    }
    assert source.notes == (
        f"1 document is readable by nobody: the rule for */docs/b names no role ({site.host}/docs/b)",
        f"1 addresses are beyond [web] max_pages and were left out, first {site.base}/docs/d",
    )
    assert source.acl_of(f"{site.base}/docs/a", f"{site.host}/docs/a") == found["docs/a"].acl


def test_a_list_of_hosts_is_mandatory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only read from hosts that are listed"):
        Opener(tmp_path).open("https://example.com/sitemap.xml")
    opened = Opener(tmp_path, web=WebSettings(hosts=("example.com",))).open("https://example.com/sitemap.xml")
    assert opened.root == "https://example.com/sitemap.xml"
    assert not list(tmp_path.iterdir())


def test_what_was_kept_and_is_damaged_is_fetched_again(site: Site, web, tmp_path: Path) -> None:
    site.pages["/a"] = page("A page", etag='"1"')
    sources(web("/a"))
    (body,) = (tmp_path / "kept").glob("*/*")
    body.write_text("B page")
    assert Path(sources(web("/a"))["a"].path or "").read_text() == "A page"
    (told,) = (tmp_path / "kept").glob("*.json")
    told.write_text("[]")
    assert list(sources(web("/a"))) == ["a"]
