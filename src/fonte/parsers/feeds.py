"""Feeds (RSS, Atom) to blocks: a heading for each entry, when and by whom, and its text read as HTML."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from fonte.errors import ParseError
from fonte.parsers.counting import check_found, count_text
from fonte.parsers.html import stripped
from fonte.parsers.html_blocks import fragment_blocks
from fonte.parsers.ooxml import local
from fonte.parsers.tables import one_line
from fonte.types import Block, BlockKind, Loss, Parsed, Source

if TYPE_CHECKING:
    from lxml.etree import _Element

_ENTRIES = ("item", "entry")
_BODIES = ("encoded", "content", "description", "summary")
"""Where an entry's text stands, the fullest first."""
_DATES = ("pubDate", "published", "date", "updated")


class FeedParser:
    """What a feed says of itself, then its entries in order; links are not followed."""

    @cached_property
    def name(self) -> str:
        """Parser and library with their versions."""
        return f"feed/1 lxml {version('lxml')}"

    def parse(self, source: Source) -> Parsed:
        """Blocks in order.

        Raises:
            ParseError: not well-formed, or entries of which no text came.
        """
        root = _root(source)
        channel = next((one for one in root if local(one.tag) == "channel"), root)
        blocks = _opening(channel)
        told = [_inner(channel, "title"), _inner(channel, "description") or _inner(channel, "subtitle")]
        entries = [one for one in root.iter() if local(one.tag) in _ENTRIES]
        tables = 0
        for entry in entries:
            body = next(filter(None, (_inner(entry, name) for name in _BODIES)), "")
            found, more = fragment_blocks(body, first_table=tables)
            tables += more
            title = one_line(
                " ".join(block.text for block in fragment_blocks(_inner(entry, "title"), first_table=0)[0])
            )
            blocks += _entry(entry, title, found)
            told += [_inner(entry, "title"), body]
        counts = count_text("\n".join(stripped(text) for text in told))
        check_found(source, words=counts.words, found=bool(blocks))
        return Parsed(
            blocks=tuple(blocks),
            parser=self.name,
            title=one_line(_inner(channel, "title")) or None,
            media_type="application/rss+xml",
            source_counts=counts,
            losses=() if entries or not blocks else (Loss("structure", "it has no entries"),),
            metadata={"entries": str(len(entries))},
            empty_reason=None if blocks else "empty",
        )


def _root(source: Source) -> _Element:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring((source.body or b"").lstrip(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ParseError(f"{source.name} is not well-formed: {error}", uri=source.uri) from error


def _inner(parent: _Element, name: str) -> str:
    """The markup in the first child of that name: text that is HTML, or elements."""
    from lxml import etree

    child = next((one for one in parent if local(one.tag) == name), None)
    if child is None:
        return ""
    elements = "".join(etree.tostring(one, encoding="unicode") for one in child)
    return f"{child.text or ''}{elements}".strip()


def _opening(channel: _Element) -> list[Block]:
    title = one_line(_inner(channel, "title"))
    said = _inner(channel, "description") or _inner(channel, "subtitle")
    head = [Block(BlockKind.HEADING, title, 1)] if title else []
    return [*head, *fragment_blocks(said, first_table=0)[0]]


def _entry(entry: _Element, title: str, found: list[Block]) -> list[Block]:
    """An entry's heading, a line of its date and author, its text; its own headings one level lower."""
    date = next(filter(None, (one_line(_inner(entry, name)) for name in _DATES)), "")
    author = next((one for one in entry if local(one.tag) in ("creator", "author")), None)
    by = one_line(" ".join(map(str, author.itertext()))) if author is not None else ""
    line = ", ".join(filter(None, (date, by)))
    head = [Block(BlockKind.HEADING, title, 2)] if title else []
    about = [Block(BlockKind.PARAGRAPH, line)] if line else []
    lower = [Block(one.kind, one.text, one.level + 2, one.places) if one.level else one for one in found]
    return [*head, *about, *lower]
