"""Addresses out of sitemaps and lists, and the canonical address of a page; by looking, without any XML reader."""

from __future__ import annotations

import html
import re
import zlib

from fonte.errors import SourceTooLarge

_ROOT = re.compile(r"<(?:(\w{1,20}):)?(urlset|sitemapindex)[\s>]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"<link\b([^>]{0,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w-]{1,40})\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_HEADER_LINK = re.compile(r"<([^<>]{1,4000})>([^<]{0,1000})")
_CANONICAL = re.compile(r";\s{0,20}rel\s{0,20}=\s{0,20}\"?[^\";]{0,200}\bcanonical\b", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+")
_PIECE = 1 << 16


def listed_addresses(body: bytes, media_type: str, *, most_bytes: int) -> tuple[str, list[str]] | None:
    """(``sitemapindex``, ``urlset`` or ``list``, addresses in order) that a file lists; None for a page of its own.

    Raises:
        SourceTooLarge: packed, and larger than ``most_bytes`` unpacked.
    """
    text = _unpacked(body, most_bytes).decode("utf-8-sig", "replace")
    root = _ROOT.search(text[:20_000])
    if root is not None:
        prefix = f"{root[1]}:" if root[1] else ""
        bare = _COMMENT.sub("", text)
        location = re.compile(rf"<{prefix}loc>\s*(?:<!\[CDATA\[)?([^<\]]{{1,4000}})(?:\]\]>)?\s*</{prefix}loc>")
        return root[2], [html.unescape(one).strip() for one in location.findall(bare)]
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


def _unpacked(body: bytes, most: int) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body
    unpacker, whole = zlib.decompressobj(zlib.MAX_WBITS | 16), b""
    try:
        whole = unpacker.decompress(body, most + 1)
    except zlib.error:
        return body
    if len(whole) > most:
        raise SourceTooLarge(f"a sitemap unpacks to more than {most // 2**20 or 1} MB", hint="raise max_mb in [web]")
    return whole
