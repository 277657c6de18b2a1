"""Plain text in any encoding, kept exactly as it is; form feeds are page ends."""

from __future__ import annotations

import re

from fonte.errors import ParseError
from fonte.parsers.counting import count_text
from fonte.parsers.encodings import Decoded, decode, normalise_newlines
from fonte.types import Block, BlockKind, Loss, Parsed, Place, Source

_BREAK = re.compile(r"[\n\f]\s*")


class PlainParser:
    """Paragraphs of plain text; blocks, ``before`` and ``tail`` give the decoded text back exactly."""

    name = "plain/1"

    def parse(self, source: Source) -> Parsed:
        """Paragraphs in order.

        Raises:
            ParseError: bytes that are not text.
        """
        decoded = decoded_body(source)
        text = normalise_newlines(decoded.text)
        blocks, tail = verbatim_blocks(text)
        pages = _pages(text)
        losses = undecoded(decoded)
        if pages:
            blank = [str(number) for number, page in enumerate(pages, 1) if not page.strip()]
            if blank:
                losses = (*losses, Loss("blank_page", f"pages without text: {', '.join(blank)}", len(blank)))
        return Parsed(
            blocks=blocks,
            parser=self.name,
            media_type="text/plain",
            pages=len(pages) or None,
            source_counts=count_text(text, pages=len(pages)),
            losses=losses,
            metadata={"encoding": decoded.encoding},
            verbatim=True,
            tail=tail,
            empty_reason=None if blocks else "empty",
        )


def decoded_body(source: Source, *, declared: str | None = None) -> Decoded:
    """The text of a source's body.

    Raises:
        ParseError: bytes that are not text.
    """
    if source.body is None:
        raise ParseError("the source's bytes were not read", uri=source.uri)
    decoded = decode(source.body, declared=source.charset or declared)  # a server's word comes before the page's own
    if decoded is None:
        raise ParseError("these bytes are not text in any encoding that is known", uri=source.uri)
    return decoded


def undecoded(decoded: Decoded) -> tuple[Loss, ...]:
    """The loss of bytes that are not text, if there were any."""
    if not decoded.replaced:
        return ()
    message = f"{decoded.replaced} characters could not be read as {decoded.encoding} and became U+FFFD"
    return (Loss("undecodable", message, decoded.replaced),)


def verbatim_blocks(text: str) -> tuple[tuple[Block, ...], str]:
    """Paragraphs of ``text`` and what is left after the last; ``before`` + text of each, and the rest, are ``text``.

    Paragraphs end at empty lines and form feeds. Each has a place with its page when the text has form feeds.
    """
    paged = "\f" in text
    blocks: list[Block] = []
    done = start = 0
    page = 1
    for end, following in _paragraph_ends(text):
        piece = text[start:end]
        body = piece.strip()
        if body:
            first = start + len(piece) - len(piece.lstrip())
            before = text[done:first]
            page += before.count("\f")
            places = (Place(0, len(body), page=page),) if paged else ()
            blocks.append(Block(BlockKind.PARAGRAPH, body, places=places, before=before))
            done = first + len(body)
        start = following
    return tuple(blocks), text[done:]


def _paragraph_ends(text: str) -> list[tuple[int, int]]:
    """(end of a paragraph, start of the next) for each paragraph."""
    ends = [match.span() for match in _BREAK.finditer(text) if _is_gap(match[0])]
    return [*ends, (len(text), len(text))]


def _is_gap(space: str) -> bool:
    """Whether white space holds an empty line or a form feed."""
    return space.count("\n") > 1 or "\f" in space


def _pages(text: str) -> list[str]:
    """The pages between form feeds; none when there are no form feeds. A last form feed ends a page, opens none."""
    if "\f" not in text:
        return []
    pages = text.split("\f")
    return pages if pages[-1].strip() else pages[:-1]
