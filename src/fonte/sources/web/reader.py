"""Pages of the web as sources: one page, the pages of a sitemap, or those of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fonte.errors import FonteError, InputError, ParseError, SourceTooLarge, SourceUnreadable
from fonte.protocols import Scanned
from fonte.sources.fetched import Fetched, Kept
from fonte.sources.files import unreadable
from fonte.sources.own import Own, front_matter, narrowed
from fonte.sources.rules import Ruling
from fonte.sources.taking import Nobody, Taking
from fonte.sources.web.addresses import plain_url, without_login
from fonte.sources.web.fetch import GONE, Fetcher, Reply, Trouble, refused
from fonte.sources.web.listed import addresses_in, canonical_of, charset_of, listed_addresses
from fonte.types import Acl, Source

_MOST_SITEMAPS = 100
_DEPTH = 3
_NOT_MODIFIED = 304
_ETAG, _CHANGED, _TYPE, _URL, _LINK = "etag", "last-modified", "content-type", "url", "link"
_GONE = "pages are gone"
_COPIES = "pages are copies of others by their canonical address"


@dataclass(slots=True)
class WebSource:
    """The pages that an address (a sitemap, a list, a page) or a local file of addresses leads to, in its order.

    A page is named by its host and path, and known by its canonical address where that has its own host, else by the
    address where redirects led. One that is gone (404, 410) is not shown; one that cannot be had for a while is shown
    as it was kept, and told. A sitemap of an index that cannot be had is an error of its own: the others go on, and as
    nobody knows then which pages are no longer listed, those that were known are asked for again.
    """

    spec: str
    root: str
    fetcher: Fetcher
    fetched: Fetched
    taking: Taking
    max_pages: int
    _told: dict[str, list[str]] = field(default_factory=dict)
    _nobody: Nobody = field(default_factory=Nobody)
    _listed_none: bool = False
    _not_listed: list[tuple[str, str, Exception]] = field(default_factory=list)
    """Sitemaps of an index that could not be had."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last scan found worth saying."""
        told = (f"{len(urls)} {what}, first {urls[0]}" for what, urls in self._told.items())
        none = [f"{self.spec} lists no page that is to be read"] if self._listed_none else []
        return (*self._nobody.notes(), *told, *none)

    def scan(self) -> Iterator[Scanned]:
        """Every page in the order of the list; (address, name, error) for a page or a part of it that cannot be had.

        Raises:
            SourceUnreadable: the list itself cannot be had.
        """
        self._told.clear()
        self._nobody.clear()
        self._not_listed.clear()
        with self.fetcher:
            urls = self._listed()
            yield from self._not_listed
            listed, taken = frozenset(urls), set[str]()
            for url in urls:
                item = self._page(url, listed)
                uri = item.uri if isinstance(item, Source) else item[0] if item is not None else None
                if item is None or uri is None:
                    continue
                if uri in taken:
                    self._tell(_COPIES, url)
                    continue
                taken.add(uri)
                yield item
        self.fetched.keep_only(set(urls) - set(self._told.get(_GONE, ())))

    def acl_of(self, uri: str, name: str) -> Acl | None:
        """Who may read a page, by the rules of now."""
        del uri
        return self.taking.ruling(name).acl

    # --- what is listed

    def _listed(self) -> list[str]:
        if "://" not in self.spec:
            found = self._local()
        else:
            try:
                found = self._sitemap(plain_url(self.spec), (), set())
            except Trouble as error:
                raise SourceUnreadable(str(error), hint="nothing was changed; sync again") from error
            except InputError as error:
                if isinstance(error, SourceUnreadable):
                    raise
                raise SourceUnreadable(error.message, hint=error.hint) from error
        if self._not_listed:
            found = [*found, *self.fetched.addresses()]
        urls = list(dict.fromkeys(url for one in found if (url := self._admitted(one)) is not None))
        for url in urls[self.max_pages :]:
            self._tell("addresses are beyond [web] max_pages and were left out", url)
        self._listed_none = not urls
        return urls[: self.max_pages]

    def _local(self) -> list[str]:
        try:
            text = Path(self.spec).read_bytes().decode("utf-8-sig", "replace")
        except OSError as error:
            raise unreadable(self.spec, error) from error
        lines = addresses_in(text)
        if lines is None:
            hint = "write one address a line; lines that begin with # are remarks"
            raise SourceUnreadable(f"{self.spec} holds lines that are no addresses", hint=hint)
        return lines

    def _sitemap(self, url: str, way: tuple[str, ...], seen: set[str]) -> list[str]:
        """The addresses in a sitemap to which the indexes ``way`` lead, and in those it lists; a page lists itself."""
        if url in seen:
            return []
        seen.add(url)
        if len(seen) > _MOST_SITEMAPS:
            message = f"{self.spec} leads to more than {_MOST_SITEMAPS} sitemaps"
            raise SourceTooLarge(message, hint="sync some of these sitemaps as sources of their own")
        reply = self.fetcher.get(url)
        why = refused(reply)
        if why is None and reply.status in GONE:
            why = SourceUnreadable(f"{reply.url} answers {reply.status}", hint="check the address")
        if why is not None:
            raise why
        listed = listed_addresses(reply.body, reply.media_type, most_bytes=self.fetcher.max_bytes)
        if listed is None:
            return [url]
        kind, addresses = listed
        if kind != "sitemapindex":
            return addresses
        return [page for one in addresses for page in self._inner(one, (*way, url), seen)]

    def _inner(self, address: str, way: tuple[str, ...], seen: set[str]) -> list[str]:
        """The addresses in a sitemap of an index; none for one that cannot be had, whose error is kept."""
        try:
            url = plain_url(address)
            if url in way:
                raise SourceUnreadable(f"{way[-1]} leads in a circle to {url}", hint="tell who runs the site")
            if len(way) == _DEPTH:
                message = f"{url} lies below {_DEPTH} indexes; it is not read"
                raise SourceTooLarge(message, hint="sync it as a source of its own")
            return self._sitemap(url, way, seen)
        except (Trouble, FonteError) as error:
            if len(seen) > _MOST_SITEMAPS:  # an error of the whole source
                raise
            told = error if isinstance(error, FonteError) else SourceUnreadable(str(error), hint="sync again later")
            shown = without_login(address)
            self._not_listed.append((shown, page_name(shown), told))
            return []

    def _admitted(self, address: str) -> str | None:
        try:
            url = plain_url(address)
        except SourceUnreadable:
            self._tell("lines are no addresses", without_login(address))
            return None
        if not self.fetcher.door.admits(url):
            self._tell("addresses are at hosts that [web] hosts does not list", url)
            return None
        return url if self.taking.wanted(page_name(url)) else None

    # --- one page

    def _page(self, url: str, listed: frozenset[str]) -> Scanned | None:
        kept = self.fetched.get(url)
        try:
            reply = self.fetcher.get(url, _conditions(kept), at=kept.said.get(_URL) if kept is not None else None)
            why = refused(reply)
            if why is not None:
                raise why
        except Trouble as error:
            return self._not_had(url, kept, error, listed)
        except FonteError as error:
            uri = url if kept is None else _known_as(kept.said.get(_URL, url), kept.head(), kept.said)
            return uri, page_name(uri), error
        if reply.status in GONE:
            self._tell(_GONE, url)
            return None
        if reply.status != _NOT_MODIFIED:
            kept = self.fetched.put(url, reply.body, _said(reply))
        elif kept is None:
            return url, page_name(url), SourceUnreadable(f"{url} answers 304 although nothing is kept of it")
        return self._source(url, kept, listed)

    def _not_had(self, url: str, kept: Kept | None, error: Trouble, listed: frozenset[str]) -> Scanned | None:
        if kept is None:
            return url, page_name(url), SourceUnreadable(str(error), hint="sync again later")
        self._tell("pages could not be had and stay as they were", f"{url} ({error})")
        return self._source(url, kept, listed)

    def _source(self, url: str, kept: Kept, listed: frozenset[str]) -> Scanned | None:
        head, said = kept.head(), kept.said
        media_type = said.get(_TYPE, "").split(";", 1)[0].strip().lower() or None
        uri = _known_as(said.get(_URL, url), head, said)
        if uri != url and uri in listed:  # nobody can put his page in the place of another
            self._tell(_COPIES, url)
            return None
        name = page_name(uri)
        try:
            own = front_matter(name, head, media_type)
        except ParseError as error:
            return uri, name, error
        ruling = narrowed(self._ruling(url, said.get(_URL, url), uri), own)
        source = Source(
            uri=uri,
            name=name,
            content_hash=kept.content_hash,
            acl=ruling.acl,
            path=kept.path,
            media_type=media_type,
            modified_at=_moment(said.get(_CHANGED, "")),
            language=ruling.language,
            metadata=ruling.metadata,
            tenant=ruling.tenant,
            charset=charset_of(said.get(_TYPE, "")),
        )
        self._nobody.count(source, ruling.nobody)
        return source

    def _ruling(self, listed: str, led: str, known: str) -> Ruling:
        """What the rules say of a page by its own address; what it is called elsewhere can only narrow who reads it.

        Pages choose their canonical address, servers where they lead: neither may leave a rule of the listed address.
        """
        first, *others = (self.taking.ruling(page_name(one)) for one in (known, listed, led))
        for other in others:
            first = narrowed(first, Own("the rule for another address of it", other.acl.roles, other.tenant))
        return first

    def _tell(self, what: str, url: str) -> None:
        self._told.setdefault(what, []).append(url)


def _known_as(url: str, head: bytes, said: Mapping[str, str]) -> str:
    """The page's canonical address where its own host has it, else ``url``."""
    canonical = canonical_of(head, said.get(_LINK, ""))
    if canonical is None:
        return url
    try:
        plain = plain_url(canonical, base=url)
    except SourceUnreadable:
        return url
    return plain if urlsplit(plain).netloc == urlsplit(url).netloc else url


def page_name(url: str) -> str:
    """What people call a page: its host and path, with the question that it answers."""
    parts = urlsplit(url)
    shown = unquote(f"{parts.netloc}{parts.path}") + (f"?{parts.query}" if parts.query else "")
    return "".join(sign if sign.isprintable() else "?" for sign in shown)


def _conditions(kept: Kept | None) -> dict[str, str]:
    if kept is None:
        return {}
    asked = {"If-None-Match": kept.said.get(_ETAG, ""), "If-Modified-Since": kept.said.get(_CHANGED, "")}
    return {key: value for key, value in asked.items() if value}


def _said(reply: Reply) -> dict[str, str]:
    kept = {key: reply.headers[key] for key in (_ETAG, _CHANGED, _TYPE, _LINK) if key in reply.headers}
    return kept | {_URL: reply.url}


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else None
