"""HTML to blocks, decoded by what its bytes are.

It is read through lxml's tree, and through the standard library's tokenizer when the tree has lost text (very deep
nesting, very long text).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version

from fonte.parsers.counting import check_found, count_text, count_words
from fonte.parsers.encodings import normalise_newlines
from fonte.parsers.hidden import marked_words
from fonte.parsers.html_blocks import BlockReader, Piece, read_events
from fonte.parsers.plain import decoded_body, undecoded
from fonte.types import BlockKind, Loss, Parsed, Source

_META_CHARSET = re.compile(
    rb"""<meta\b[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]*?encoding=["']([\w.:-]+)""", re.IGNORECASE
)
_HEAD_BYTES = 16_384
_NO_TEXT = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template|svg|math|iframe|object|embed|applet|canvas|audio|video|noembed|noframes"
    r"|textarea|select|datalist|title)\b.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(r"<[/!?]?[A-Za-z][^<>]*>|<![^<>]*>|<\?[^<>]*>")
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|q|rp|rt|ruby|s|samp|small|span"
    r"|strike|strong|sub|sup|time|tt|u|var|wbr)\b[^<>]*>",
    re.IGNORECASE,
)
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:.-]*)([^<>]*)/>")
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});?")
_ROW_TAG = re.compile(r"<tr(?=[\s/>])", re.IGNORECASE)
_ROW_SLACK = 1
_ROW_TOLERANCE = 0.02
_KEPT_SHARE = 0.9
_MAIN_SHARE = 0.3
_MAIN_WORDS = 20
_ONLY_MENUS = 0.5


@dataclass(frozen=True, slots=True)
class HtmlText:
    """What a reader found in HTML, beside what stands in it by its tags alone."""

    reader: BlockReader
    text: str
    """The decoded source."""
    stripped: str
    """The same without its tags: what a parse must not lose."""
    words: int
    """Of ``stripped``."""
    encoding: str
    losses: tuple[Loss, ...]


def read_html(source: Source, *, first_table: int = 0, xhtml: bool = False) -> HtmlText:
    """Pieces of HTML decoded by what its bytes are; of ``xhtml``, elements may be closed in their own tag.

    Raises:
        ParseError: not text.
    """
    decoded = decoded_body(source, declared=_declared(source.body or b""))
    text = normalise_newlines(decoded.text)
    if xhtml:
        text = _SELF_CLOSED.sub(_closed, text)
    bare = stripped(text)
    words = count_words(bare)
    reader = _best_reader(text, words, first_table)
    return HtmlText(reader, text, bare, words, decoded.encoding, undecoded(decoded))


class HtmlParser:
    """Headings, paragraphs, lists, tables and preformatted text, without navigation and page furniture."""

    @cached_property
    def name(self) -> str:
        """Parser and library with their versions."""
        return f"html/3 lxml {version('lxml')}"

    def parse(self, source: Source) -> Parsed:
        """Blocks in order; ``main`` or ``article`` alone where there is one of substance.

        Raises:
            ParseError: not text, or text that no reader finds.
        """
        found = read_html(source)
        reader, words = found.reader, found.words
        kept, boilerplate = _content(reader.pieces)
        check_found(source, words=words, found=bool(kept or boilerplate))
        if not kept:
            kept, boilerplate = boilerplate, []
        losses = [*found.losses, *_losses(kept, boilerplate, reader, words)]
        metadata = {"encoding": found.encoding, **reader.meta}
        if reader.language:
            metadata["lang"] = reader.language
        if reader.empty_cells:
            metadata["empty_cells"] = str(reader.empty_cells)
        blocks = tuple(piece.block for piece in kept)
        return Parsed(
            blocks=blocks,
            parser=self.name,
            title=reader.title,
            media_type="text/html",
            source_counts=count_text(found.stripped, rows=source_rows(found.text, reader, kept, boilerplate)),
            losses=tuple(losses),
            metadata=metadata,
            empty_reason=None if blocks else "empty",
        )


def _closed(match: re.Match[str]) -> str:
    """``<title/>`` as HTML reads it: an open element would swallow what follows."""
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _declared(body: bytes) -> str | None:
    match = _META_CHARSET.search(body[:_HEAD_BYTES])
    if match is None:
        return None
    name = (match[1] or match[2]).decode("ascii", "replace")
    try:
        codecs.lookup(name)
    except LookupError:
        return None
    return name


def stripped(text: str) -> str:
    """The text without tags, found without any parser: what a parse must not lose."""
    return _REFERENCE.sub(" ", _TAG.sub(" ", _INLINE_TAG.sub("", _NO_TEXT.sub(" ", text))))


def source_rows(text: str, reader: BlockReader, kept: Sequence[Piece], left: Sequence[Piece]) -> int:
    """Rows that the text must give, by its tags alone; less those that are explained.

    Explained are what was left out as furniture, what the reader says is no row, and a few tags that only look like
    rows (inside an attribute, say).
    """
    found = sum(piece.block.kind is BlockKind.ROW for piece in kept)
    tags = len(_ROW_TAG.findall(_NO_TEXT.sub(" ", text)))
    wanted = tags - reader.unrowed - sum(piece.block.kind is BlockKind.ROW for piece in left)
    return wanted if wanted - found > max(_ROW_SLACK, _ROW_TOLERANCE * tags) else found


def _best_reader(text: str, words: int, first_table: int) -> BlockReader:
    """The tree's pieces, unless they miss words that the tokenizer finds."""
    reader = _read_tree(text, first_table)
    found = 0 if reader is None else _words(reader.pieces)
    if reader is not None and found >= _KEPT_SHARE * words:
        return reader
    other = read_events(text, first_table=first_table)
    return other if reader is None or _words(other.pieces) > found else reader


def _read_tree(text: str, first_table: int) -> BlockReader | None:
    """Walk lxml's tree without recursion; None when there is none."""
    from lxml import etree

    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, no_network=True, recover=True
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    if root is None:
        return None
    reader = BlockReader(first_table=first_table)
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if not isinstance(tag, str):  # an entity or a comment that stayed
            continue
        if event == "start":
            reader.start(tag, {str(name): str(value) for name, value in element.attrib.items()})
            if element.text:
                reader.text(element.text)
        else:
            reader.end(tag)
            if element.tail:
                reader.text(element.tail)
    reader.finish()
    return reader


def _content(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """(what is kept, what is page furniture). The page's own heading is kept wherever it stands.

    A page that holds hardly anything but menus is kept whole: they are its content.
    """
    inside = [piece for piece in pieces if piece.main and not piece.boilerplate]
    plain = [piece for piece in pieces if not piece.boilerplate]
    words = _words(inside)
    only_main = words >= _MAIN_WORDS and words >= _MAIN_SHARE * _words(plain)
    kept: list[Piece] = []
    left: list[Piece] = []
    for piece in pieces:
        is_title = piece.block.kind is BlockKind.HEADING and piece.block.level == 1
        wanted = piece.main if only_main else True
        (kept if is_title or (wanted and not piece.boilerplate) else left).append(piece)
    if _words(kept) < _MAIN_WORDS and _words(kept) < _ONLY_MENUS * _words(left):
        return list(pieces), []
    return kept, left


def _words(pieces: Sequence[Piece]) -> int:
    return sum(piece.words for piece in pieces)


def _losses(kept: Sequence[Piece], boilerplate: Sequence[Piece], reader: BlockReader, words: int) -> list[Loss]:
    losses = []
    left = _words(boilerplate)
    if left:
        losses.append(Loss("boilerplate", f"{left} words of navigation and page furniture were left out", left))
    hidden = sum(marked_words(piece.block.text) for piece in kept)
    if hidden:
        losses.append(
            Loss("hidden_text", f"{hidden} words that a browser does not show were kept, marked as not visible", hidden)
        )
    missing = words - _words(reader.pieces)
    if missing > (1 - _KEPT_SHARE) * words:
        losses.append(Loss("text_lost", f"{missing} words of the source were not found again", missing))
    return losses
