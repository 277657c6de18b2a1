"""Addresses out of sitemaps and lists, and the canonical address of a page; by looking, without any XML reader."""

from __future__ import annotations

import html
import re
import zlib

from fonte.errors import SourceTooLarge, SourceUnreadable

_ROOT = re.compile(r"<(?:(\w{1,20}):)?(urlset|sitemapindex)[\s>]")
_LINK = re.compile(r"<link\b([^<>]{0,4000}+)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w-]{1,40})\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_HEADER_LINK = re.compile(r"<([^<>]{1,4000})>([^<]{0,1000})")
_CANONICAL = re.compile(r";\s{0,20}rel\s{0,20}=\s{0,20}\"?[^\";]{0,200}\bcanonical\b", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+")
_PACKED = b"\x1f\x8b"


def listed_addresses(body: bytes, media_type: str, *, most_bytes: int) -> tuple[str, list[str]] | None:
    """(``sitemapindex``, ``urlset`` or ``list``, addresses in order) that a file lists; None for a page of its own.

    Raises:
        SourceTooLarge: packed, and larger than ``most_bytes`` unpacked. SourceUnreadable: packed, and damaged.
    """
    text = _unpacked(body, most_bytes).decode("utf-8-sig", "replace")
    root = _ROOT.search(text[:20_000])
    if root is not None:
        prefix = f"{root[1]}:" if root[1] else ""
        location = re.compile(  # nothing is tried twice: a list of nothing but spaces takes no longer than others
            rf"<{prefix}loc>\s{{0,100}}+(?:<!\[CDATA\[)?([^<\]]{{1,4000}}+)(?:\]\]>\s{{0,100}}+)?</{prefix}loc>"
        )
        return root[2], [html.unescape(one).strip() for one in location.findall(_without_comments(text))]
    lines = addresses_in(text) if media_type in ("text/plain", "") else None
    return ("list", lines) if lines else None


def addresses_in(text: str) -> list[str] | None:
    """One address a line, empty lines and lines that begin with ``#`` left out; None when any line is another thing."""
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith("#")]
    return kept if all(map(_ADDRESS.fullmatch, kept)) else None


def canonical_of(head: bytes, headers: str = "") -> str | None:
    """What a page, or its ``Link`` header, says is its address; as it is written there."""
    for address, rest in _HEADER_LINK.findall(headers):
        if _CANONICAL.match(rest.strip()):
            return str(address).strip()
    for attributes in _LINK.findall(head.decode("utf-8", "replace")):
        found = {name.lower(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(attributes)}
        if "canonical" in found.get("rel", "").lower().split() and found.get("href", "").strip():
            return found["href"].strip()
    return None


def charset_of(content_type: str) -> str | None:
    """The encoding that a ``Content-Type`` names."""
    match = re.search(r"charset\s{0,10}=\s{0,10}[\"']?([\w.:-]{1,40})", content_type, re.IGNORECASE)
    return match[1] if match else None


def _without_comments(text: str) -> str:
    """Text without ``<!-- … -->``; one that nothing closes hides nothing. Found in one pass, however many there are."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join([*kept, text[at:]])


def _unpacked(body: bytes, most: int) -> bytes:
    """A packed list whole, or an error: one that breaks off would make the pages behind the break look gone."""
    whole = b""
    while body.startswith(_PACKED):  # a file may be several packed ones, one behind the other
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            whole += unpacker.decompress(body, most + 1 - len(whole))
        except zlib.error as error:
            raise SourceUnreadable(f"a sitemap is not packed as it says: {error}", hint="sync again") from error
        if len(whole) > most:
            message = f"a sitemap unpacks to more than {most // 2**20 or 1} MB"
            raise SourceTooLarge(message, hint="raise max_mb in [web]")
        if not unpacker.eof:
            raise SourceUnreadable("a packed sitemap breaks off", hint="sync again")
        body = unpacker.unused_data
    return whole or body
