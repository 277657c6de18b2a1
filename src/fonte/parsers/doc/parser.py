"""Word documents of 1997 to 2003 to blocks: headings, lists, tables, notes, text boxes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version

import olefile

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.counting import check_found, count_text
from fonte.parsers.doc.pieces import DELETED, IN_TABLE, LIST, ROW_END, Part, Torn, WordText, is_word_97
from fonte.parsers.tables import one_line, table_blocks
from fonte.types import Block, BlockKind, Loss, Parsed, Source

_ENCRYPTED, _WHICH_TABLE = 0x0100, 0x0200
_HEADINGS = range(1, 10)
"""Numbers of the styles of headings, the same in every file."""
_MAX_LEVEL = 6
_ENDS = "\r\x07\x0c"
_COMMENT = "\x05"
"""Begins the text of each comment."""
_SHOWN = {"\x0b": "\n", "\x0e": "\n", "\x1e": "-", "\x1f": "", "\t": "\t"}


class DocParser:
    """Old Word files by their table of pieces. They have no pages: a citation names heading and paragraph."""

    def __init__(self) -> None:
        self.name = f"doc/2 olefile/{version('olefile')}"

    def parse(self, source: Source) -> Parsed:
        """Blocks in order; deleted text is absent, notes and text boxes follow the body.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, of Word 95 or older, or text without any block.
        """
        made = _opened(source)
        pictures = tables = 0
        blocks: list[Block] = []
        plain: list[str] = []
        rows = 0
        for part in made.parts:
            if part.name not in ("body", "notes", "endnotes", "boxes"):
                continue
            paragraphs = list(_paragraphs(made, part))
            pictures += sum(one.pictures for one in paragraphs)
            plain += [one.text for one in paragraphs]
            rows += sum(one.ends_row for one in paragraphs)
            found, tables = _blocks(paragraphs, part, tables)
            blocks += found
        counts = count_text("\n".join(plain), rows=rows)
        check_found(source, words=counts.words, found=bool(blocks))
        losses = [Loss("images", f"{pictures} pictures not read", pictures)] if pictures else []
        losses += _left_out(made)
        lacking = made.lacking + max(0, made.parts[-1].end - len(made.text))
        if lacking:
            losses.append(Loss("damaged", f"the file is damaged: {lacking} characters are not in it", lacking))
        return Parsed(
            blocks=tuple(blocks),
            parser=self.name,
            media_type="application/msword",
            source_counts=counts,
            losses=tuple(losses),
            empty_reason=None if blocks else "needs_ocr" if pictures else "empty",
        )


def _left_out(made: WordText) -> Iterator[Loss]:
    """Lines of page headers and footers, and comments, with how many there are."""
    for part in made.parts:
        if part.name == "headers":
            lines = sum(bool(one.text) for one in _paragraphs(made, part))
            if lines:
                yield Loss("page_furniture", f"{lines} lines of page headers and footers", lines)
        elif part.name == "comments" and part.end > part.start:
            count = max(made.text.count(_COMMENT, part.start, part.end), 1)
            yield Loss("comments", f"{count} comments left out", count)


def _opened(source: Source) -> WordText:
    try:
        with olefile.OleFileIO(io.BytesIO(source.body or b"")) as package:
            main = bytes(package.openstream("WordDocument").read())
            if not is_word_97(main):
                hint = "save it as .docx"
                raise ParseError(f"{source.name} is of Word 95 or older, or damaged", hint=hint, uri=source.uri)
            flags = int.from_bytes(main[10:12], "little")
            if flags & _ENCRYPTED:
                hint = "Save a copy without a password."
                raise EncryptedSource(f"{source.name} needs a password", hint=hint, uri=source.uri)
            table = bytes(package.openstream("1Table" if flags & _WHICH_TABLE else "0Table").read())
    except (OSError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise ParseError(f"{source.name} is a damaged Office file: {error}", uri=source.uri) from error
    try:
        return WordText(main, table)
    except Torn as error:
        raise ParseError(f"{source.name} is a damaged Word file: {error}", uri=source.uri) from error


@dataclass(slots=True)
class _Paragraph:
    """One paragraph as it is read: its text, and what its properties say."""

    text: str = ""
    style: int = 0
    pictures: int = 0
    ends_cell: bool = False
    ends_row: bool = False
    in_table: bool = False
    is_list: bool = False


def _paragraphs(made: WordText, part: Part) -> Iterator[_Paragraph]:
    """Paragraphs of a part; instructions of fields and deleted text are absent."""
    now = _Paragraph()
    pieces: list[str] = []
    results: list[bool] = []  # for each open field whether its result has begun
    for at in range(part.start, min(part.end, len(made.text))):
        character = made.text[at]
        if character in _ENDS:
            now.text = "".join(pieces).strip()
            now.style, said = made.paragraph(at)
            now.ends_cell = character == "\x07"
            now.ends_row = now.ends_cell and said.get(ROW_END, 0) == 1
            now.in_table = now.ends_cell or said.get(IN_TABLE, 0) == 1
            now.is_list = said.get(LIST, 0) > 0
            yield now
            now = _Paragraph()
            pieces = []
        elif character == "\x13":
            results.append(False)
        elif character == "\x14" and results:
            results[-1] = True
        elif character == "\x15" and results:
            results.pop()
        elif all(results):
            _take(character, made.run(at), now, pieces)
    if pieces:
        now.text = "".join(pieces).strip()
        yield now


def _take(character: str, run: dict[int, int], now: _Paragraph, pieces: list[str]) -> None:
    if run.get(DELETED, 0) & 1:
        return
    if character in "\x01\x08":
        now.pictures += 1
    elif character >= " " or character in _SHOWN:
        pieces.append(_SHOWN.get(character, character))


def _blocks(paragraphs: list[_Paragraph], part: Part, tables: int) -> tuple[list[Block], int]:
    """(blocks of a part, number of the next table)."""
    blocks: list[Block] = []
    table: list[list[str]] = []
    row: list[str] = []
    cell: list[str] = []
    for one in [*paragraphs, _Paragraph()]:
        if one.in_table:
            if one.ends_row:
                table.append(row)
                row = []
            else:
                cell += [one_line(one.text)] if one.text else []
                if one.ends_cell:
                    row.append(" ".join(cell))
                    cell = []
            continue
        if row or cell:
            table.append([*row, " ".join(cell)])
            row, cell = [], []
        if table:
            blocks += table_blocks(table, table=tables)
            tables += 1
            table = []
        if one.text:
            blocks.append(_block(one, part))
    return blocks, tables


def _block(one: _Paragraph, part: Part) -> Block:
    if part.name in ("notes", "endnotes"):
        return Block(BlockKind.NOTE, one.text)
    if one.style in _HEADINGS:
        return Block(BlockKind.HEADING, one_line(one.text), min(one.style, _MAX_LEVEL))
    return Block(BlockKind.LIST_ITEM, f"- {one.text}") if one.is_list else Block(BlockKind.PARAGRAPH, one.text)
