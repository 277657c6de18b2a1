"""Sources that mean harm: what takes forever, what leads inside, what would be read by more than the rules say."""

from __future__ import annotations

import ipaddress
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from fonte.errors import ConfigError, InputError, ParseError, SourceUnreadable
from fonte.protocols import Unpacker
from fonte.sources.fetched import Fetched
from fonte.sources.folder import FolderSource
from fonte.sources.opening import Opener
from fonte.sources.own import front_matter
from fonte.sources.rules import SourceRule
from fonte.sources.sql import RowQuery, SqlSource
from fonte.sources.taking import Taking
from fonte.sources.web.addresses import Door
from fonte.sources.web.fetch import Fetcher
from fonte.sources.web.listed import canonical_of, listed_addresses
from fonte.sources.web.reader import WebSource
from fonte.types import Contents, Member, Source
from web_site import Site, leads_to, page, running_site

HR = SourceRule("*/hr/**", roles=frozenset({"hr"}))


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as running:
        yield running


def source_of(site: Site, folder: Path, *rules: SourceRule, spec: str = "") -> WebSource:
    fetcher = Fetcher(Door((site.host,), (ipaddress.ip_network("127.0.0.0/8"),)), 30.0, 20 * 2**20, delay_seconds=0)
    where = spec or f"{site.base}/sitemap.xml"
    return WebSource(where, where, fetcher, Fetched(folder / "kept"), Taking(rules=rules), 1000)


@pytest.mark.parametrize(
    "body",
    [b"<urlset><loc>" + b" " * 1_000_000, b"<urlset>" + b"<!--" * 250_000, b"<urlset>" + b"<loc>aa " * 125_000],
)
def test_a_sitemap_of_marks_that_nothing_closes_takes_no_time(body: bytes) -> None:
    began = time.process_time()
    assert listed_addresses(body, "application/xml", most_bytes=2**24) == ("urlset", [])
    assert time.process_time() - began < 5


def test_comments_hide_addresses_and_one_that_nothing_closes_hides_none() -> None:
    text = b"<urlset><!-- <loc>http://a/1</loc> --><loc>http://a/2</loc><!--><loc>http://a/3</loc></urlset>"
    assert listed_addresses(text, "", most_bytes=9999) == ("urlset", ["http://a/2", "http://a/3"])


def test_links_that_nothing_closes_take_no_time() -> None:
    began = time.process_time()
    assert canonical_of(b"<link " * 20_000 + b"<link rel=canonical href=/a>") == "/a"
    assert time.process_time() - began < 2


@pytest.mark.parametrize("address", ["64:ff9b:1::7f00:1", "fec0::1", "::7f00:1", "::10.0.0.1"])
def test_old_forms_of_addresses_inside_are_refused(address: str) -> None:
    with pytest.raises(SourceUnreadable, match="no public address"):
        Door(("x",)).check("x", [address])


def test_a_page_cannot_leave_its_rule_by_what_it_calls_itself(site: Site, tmp_path: Path) -> None:
    site.sitemap("/hr/a", "/hr/b", "/hr/c", "/open/d")
    site.pages["/hr/a"] = page('<link rel="canonical" href="/open/a"><h1>A</h1>')
    site.pages["/hr/b"] = leads_to("/open/b")
    site.pages["/open/b"] = page("<h1>B</h1>")
    site.pages["/hr/c"] = page("<h1>C</h1>")
    site.pages["/open/d"] = page('<link rel="canonical" href="/hr/d"><h1>D</h1>')
    found = [one for one in source_of(site, tmp_path, HR).scan() if isinstance(one, Source)]
    assert [one.uri.removeprefix(site.base) for one in found] == ["/open/a", "/open/b", "/hr/c", "/hr/d"]
    assert [set(one.acl.roles) for one in found] == [{"hr"}] * 4


def test_a_page_between_two_rules_belongs_to_both_or_to_nobody(site: Site, tmp_path: Path) -> None:
    site.sitemap("/hr/a")
    site.pages["/hr/a"] = page('<link rel="canonical" href="/board/a"><h1>A</h1>')
    board = SourceRule("*/board/**", roles=frozenset({"board"}), tenant="acme")
    source = source_of(site, tmp_path, HR, board)
    (found,) = source.scan()
    assert isinstance(found, Source)
    assert (found.acl.roles, found.tenant) == (frozenset(), "acme")
    assert "readable by nobody" in source.notes[0]


def test_logins_in_listed_addresses_are_not_repeated(site: Site, tmp_path: Path) -> None:
    listed = tmp_path / "pages.urls"
    listed.write_text(f"http://ada:s3cret@{site.host}/a\n")
    source = source_of(site, tmp_path, spec=str(listed))
    assert list(source.scan()) == []
    assert any("no addresses" in note for note in source.notes)
    assert not any("s3cret" in note or "ada" in note for note in source.notes)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("simplecache::sftp://ada:s3cret@host/x", ConfigError),
        ("zip::filecache::ftp://ada:s3cret@host/x.zip", ConfigError),
        ("zip::HTTPS://docs.example.com/x.zip", InputError),
        ("HTTP://docs.example.com/", InputError),
    ],
)
def test_chains_of_stores_bring_no_passwords_and_no_pages(spec: str, kind: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(kind) as raised:
        Opener(tmp_path).open(spec)
    assert "s3cret" not in str(raised.value)


class Box:
    """A container with another one in it, and files beside both."""

    def __init__(self, said: str) -> None:
        self.said = said

    def may_hold(self, head: bytes, name: str) -> bool:
        return name.endswith(".zip")

    def contents(self, source: Source) -> Contents:
        return Contents(
            (
                Member(("in.zip.fonte.yaml",), "1", own=self.said),
                Member(("in.zip", "deep.md"), "2"),
                Member(("in.zip", "inner.eml", "far.md"), "3"),
                Member(("beside.md",), "4"),
            ),
            itself=False,
        )


def scanned(folder: Path, said: str) -> list[Source | tuple[str, str, Exception]]:
    (folder / "a.zip").write_text("a")

    @contextmanager
    def unpacking() -> Iterator[Unpacker]:
        yield Box(said)

    return list(FolderSource(folder, unpacking=unpacking).scan())


def test_what_is_said_of_a_container_inside_holds_for_what_it_holds(tmp_path: Path) -> None:
    items = scanned(tmp_path, "roles: [hr]\ntitle: Box\nlanguage: it\nvalid_to: 2027-01-01\n")
    found = {one.name: one for one in items if isinstance(one, Source)}
    assert {name: set(one.acl.roles) for name, one in found.items()} == {
        "a.zip!/in.zip!/deep.md": {"hr"}, "a.zip!/in.zip!/inner.eml!/far.md": {"hr"}, "a.zip!/beside.md": {"public"},
    }  # fmt: skip
    deep = found["a.zip!/in.zip!/deep.md"]
    assert (deep.language, dict(deep.metadata)) == ("it", {"valid_to": "2027-01-01"})


def test_a_file_beside_a_container_inside_that_says_nothing_clear_fails_what_it_holds(tmp_path: Path) -> None:
    items = scanned(tmp_path, "rolls: hr\n")
    assert [one.name for one in items if isinstance(one, Source)] == ["a.zip!/beside.md"]
    failed = [one for one in items if not isinstance(one, Source)]
    assert [one[1] for one in failed] == ["a.zip!/in.zip!/deep.md", "a.zip!/in.zip!/inner.eml!/far.md"]
    assert all(isinstance(one[2], ParseError) and "in.zip.fonte.yaml" in str(one[2]) for one in failed)


def test_a_row_that_is_no_text_fails_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id, body, readers)")
        connection.execute("INSERT INTO t VALUES ('1', 'good', 'public')")
        connection.execute("INSERT INTO t VALUES ('2', CAST(x'ff8841' AS TEXT), 'public')")
        connection.execute("INSERT INTO t VALUES ('3', 'three', CAST(x'7075626c6963ff' AS TEXT))")
        connection.execute("INSERT INTO t VALUES ('4', x'636166c3a9', 'public')")
        connection.commit()
    query = RowQuery("t", f"sqlite:///{path}", "SELECT id, body, readers FROM t", "id", ("body",), {"roles": "readers"})
    items = list(SqlSource(query, Taking(default_roles=frozenset({"public"}))).scan())
    assert [one.name for one in items if isinstance(one, Source)] == ["1", "4"]
    failed = [one for one in items if not isinstance(one, Source)]
    assert [one[:2] for one in failed] == [("sql://t#2", "2"), ("sql://t#3", "3")]
    assert [str(one[2]).split(":")[-1].strip()[:15] for one in failed] == ["body is no UTF-", "readers is no U"]


@pytest.mark.parametrize("mark", [b"\0\0\xfe\xff", b""])
@pytest.mark.parametrize("encoding", ["utf-32-be", "utf-32"])
def test_front_matter_in_a_rare_encoding_narrows(encoding: str, mark: bytes) -> None:
    own = front_matter("a.md", mark * encoding.endswith("be") + "---\nroles: hr\n---\n# T".encode(encoding))
    assert own is not None
    assert own.roles == {"hr"}
