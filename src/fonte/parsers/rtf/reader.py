"""RTF to blocks: a walk over its tokens with a stack of groups, without recursion."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from fonte.parsers.rtf.tokens import (
    CHARACTERS,
    FURNITURE,
    LABELS,
    NOTES,
    OPENED,
    SIGNS,
    SILENT,
    charset,
    code_page,
    tokens,
)
from fonte.parsers.tables import one_line, table_blocks
from fonte.types import Block, BlockKind

_MAX_DEPTH = 5000
_MOST_SKIPPED = 32
"""Characters that may stand for one of Unicode; more would pass over text."""
_HEADING = re.compile(r"heading (\d)|title$", re.IGNORECASE)
_BULLET = re.compile(r"[•·\uf0b7o▪§-]")


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds inside a pair of braces."""

    into: str = "body"
    """``body``, ``label``, ``note``, ``furniture``, ``styles``, ``fonts``, ``title`` or ``nothing``."""
    codec: str = "cp1252"
    skips: int = 1
    """Characters after a ``\\u`` that stand for it."""
    deleted: bool = False
    font: int = 0
    style: int = 0


@dataclass(slots=True)
class _Paragraph:
    """The paragraph that is open."""

    pieces: list[str] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    level: int = 0
    in_table: bool = False


@dataclass(slots=True)
class RtfReader:
    """Blocks, and what was met on the way; ``seen`` is all text of the body before any block is made of it."""

    blocks: list[Block] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    title: str = ""
    images: int = 0
    comments: int = 0
    furniture: list[str] = field(default_factory=list)
    rows: int = 0
    damaged: str = ""
    _stack: list[_Group] = field(default_factory=list)
    _now: _Group = field(default_factory=_Group)
    _usual: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict)
    _levels: dict[int, int] = field(default_factory=dict)
    _bytes: bytearray = field(default_factory=bytearray)
    _high: int = 0
    _skip: int = 0
    _optional: bool = False
    _open: _Paragraph = field(default_factory=_Paragraph)
    _notes: list[str] = field(default_factory=list)
    _style_name: str = ""
    _style_level: int = 0
    _cell: list[str] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _table: list[list[str]] = field(default_factory=list)
    _heads: bool = False
    _tables: int = 0

    def read(self, text: str) -> None:
        """Take a file, decoded as Latin-1."""
        for token in tokens(text):
            if token["hex"] is not None:
                self._hex(int(token["hex"], 16))
            elif token["text"] is not None:
                self._text(token["text"])
            else:
                self._flush_bytes()
                if token["brace"] == "{":
                    self._begin()
                elif token["brace"] == "}":
                    self._end()
                elif token["word"] is not None:
                    number = int(token["number"]) if token["number"] else None
                    self._word(token["word"], number)
                elif token["sign"] == "*":
                    self._optional = True
                elif token["sign"] in SIGNS:
                    self._text(SIGNS[token["sign"]])
        self._flush_bytes()
        if self._stack:
            self.damaged = self.damaged or f"it ends inside {len(self._stack)} open groups"
        self._paragraph()
        self._close_table()

    # --- groups

    def _begin(self) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            self.damaged = f"groups deeper than {_MAX_DEPTH} are not read"
        self._stack.append(self._now)
        self._optional = False
        self._skip = 0
        if self._now.into == "note":
            self._notes[-1] += " "

    def _end(self) -> None:
        into = self._now.into
        if into == "styles" and self._style_name.strip(" ;"):
            found = _HEADING.search(self._style_name.strip(" ;"))
            level = self._style_level or (int(found[1] or 1) if found is not None else 0)
            self._levels[self._now.style] = level
        if into in ("styles", "fonts"):
            self._style_name, self._style_level = "", 0
        self._optional = False
        self._skip = 0
        if not self._stack:
            self.damaged = self.damaged or "a group ends that never began"
            return
        self._now = self._stack.pop()

    # --- text

    def _hex(self, byte: int) -> None:
        if self._skip:
            self._skip -= 1
        else:
            self._bytes.append(byte)

    def _flush_bytes(self) -> None:
        if self._bytes:
            said = bytes(self._bytes).decode(self._now.codec, "replace")
            self._bytes.clear()
            self._say(said)

    def _text(self, text: str) -> None:
        self._flush_bytes()
        passed = min(self._skip, len(text))
        self._skip -= passed
        text = text[passed:]
        if text:
            raw = text if text.isascii() else text.encode("latin-1", "replace").decode(self._now.codec, "replace")
            self._say(raw)

    def _unicode(self, number: int) -> None:
        unit = number % 0x10000
        self._skip = self._now.skips
        if 0xD800 <= unit < 0xDC00:  # noqa: PLR2004 - the first of a pair
            self._high = unit
            return
        if 0xDC00 <= unit < 0xE000:  # noqa: PLR2004 - the second
            high, self._high = self._high, 0
            unit = 0x10000 + ((high - 0xD800) << 10) + unit - 0xDC00 if high else 0xFFFD
        self._say(chr(unit))

    def _say(self, text: str) -> None:
        into = self._now.into
        if into == "nothing" or self._now.deleted:
            return
        if into == "body":
            self.seen.append(text)
            self._open.pieces.append(text)
        elif into == "label":
            self._open.label.append(text)
        elif into == "note":
            self.seen.append(text)
            self._notes[-1] += text
        elif into == "furniture":
            self.furniture += [line.strip() for line in text.split("\n") if line.strip()]
        elif into == "styles":
            self._style_name += text
        elif into == "title":
            self.title += text

    # --- control words

    def _word(self, word: str, number: int | None) -> None:
        optional, self._optional = self._optional, False
        if self._destination(word, optional=optional) or self._character(word, number):
            return
        if word in CHARACTERS:
            if word in ("par", "sect") and self._now.into == "body":
                self.seen.append("\n")
                self._paragraph()
            else:
                self._say(CHARACTERS[word])
        elif self._now.into in ("styles", "fonts"):
            self._defines(word, number)
        elif self._now.into == "body":
            self._layout(word, number)

    def _destination(self, word: str, *, optional: bool) -> bool:
        """Whether the word names what the group is for."""
        into = self._now.into
        if into == "nothing":
            return word != "bin"
        if word in ("stylesheet", "fonttbl"):
            self._set(into="styles" if word == "stylesheet" else "fonts")
        elif word == "info":
            self._set(into="info")
        elif into == "info":
            self._set(into="title" if word == "title" else "nothing")
        elif word in ("upr", "ud"):  # the same twice: without and with Unicode
            self._set(into="upr" if word == "upr" else "body")
        elif word in LABELS:
            self._set(into="label")
        elif word in NOTES:
            self._notes.append("")
            self._set(into="note")
        elif word in FURNITURE:
            self._set(into="furniture")
        elif word == "annotation":
            self.comments += 1
            self._set(into="nothing")
        elif word in SILENT or (optional and word not in OPENED and into not in ("styles", "fonts")):
            self.images += word == "pict"
            self._set(into="nothing")
        else:
            return False
        return True

    def _character(self, word: str, number: int | None) -> bool:
        """Whether the word says how characters are written."""
        if word == "u" and number is not None:
            self._unicode(number)
        elif word == "uc":
            sane = number is not None and 0 <= number <= _MOST_SKIPPED
            self._set(skips=number if sane else 1)
            if not sane:
                self.damaged = self.damaged or rf"\uc{number} says that more characters stand for one than can be"
        elif word == "ansicpg" and number is not None:
            self._usual = code_page(number)
            self._set(codec=self._usual)
        elif word in ("mac", "pc", "pca"):
            self._usual = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
            self._set(codec=self._usual)
        elif word == "f" and number is not None and self._now.into != "fonts":
            self._set(font=number, codec=self._fonts.get(number, self._usual))
        elif word == "deleted":
            self._set(deleted=number != 0)
        elif word == "plain":
            self._set(deleted=False, codec=self._usual)
        else:
            return False
        return True

    def _set(self, **changes: object) -> None:
        self._now = replace(self._now, **changes)  # type: ignore[arg-type]  # fields by name, with their types

    def _defines(self, word: str, number: int | None) -> None:
        """What a style or a font says of itself."""
        if word == "f" and number is not None:
            self._set(font=number)
        elif word == "fcharset" and number is not None:
            self._fonts[self._now.font] = charset(number, self._usual)
        elif word == "s" and number is not None:
            self._set(style=number)
        elif word == "outlinelevel" and number is not None and 0 <= number < 6:  # noqa: PLR2004 - levels of headings
            self._style_level = number + 1

    def _layout(self, word: str, number: int | None) -> None:
        if word == "pard":
            self._open.level, self._open.in_table = 0, False
            self._open.label.clear()
        elif word == "s" and number is not None:
            self._open.level = self._levels.get(number, 0)
        elif word == "outlinelevel" and number is not None:
            self._open.level = number + 1 if 0 <= number < 6 else 0  # noqa: PLR2004 - levels of headings
        elif word == "intbl":
            self._open.in_table = True
        elif word == "trhdr":
            self._heads = self._heads or not self._table
        elif word in ("cell", "nestcell"):
            self.seen.append("\n")
            self._open.in_table = True
            self._paragraph()
            self._row.append(" ".join(self._cell))
            self._cell.clear()
        elif word == "row":
            if any(self._row):
                self._table.append(list(self._row))
                self.rows += 1
            self._row.clear()

    # --- blocks

    def _paragraph(self) -> None:
        """End the open paragraph; its label goes with it, its other properties stay."""
        self._flush_bytes()
        said = "\n".join(line.strip(" \t") for line in "".join(self._open.pieces).split("\n")).strip()
        label = one_line("".join(self._open.label))
        self._open.pieces.clear()
        self._open.label.clear()
        if label and said:
            said = f"{'-' if _BULLET.fullmatch(label) else label} {said}"
        if self._open.in_table:
            self._cell += [one_line(said)] if said else []
            return
        self._close_table()
        if said and self._open.level:
            self.blocks.append(Block(BlockKind.HEADING, one_line(said), self._open.level))
        elif said:
            self.blocks.append(Block(BlockKind.LIST_ITEM if label else BlockKind.PARAGRAPH, said))
        self._close_notes()

    def _close_notes(self) -> None:
        notes = [one_line(note) for note in self._notes]
        self.blocks += [Block(BlockKind.NOTE, note) for note in notes if note]
        self._notes.clear()

    def _close_table(self) -> None:
        if self._cell or any(self._row):  # a row that nothing ended
            self._table.append([*self._row, " ".join(self._cell)])
            self._row.clear()
            self._cell.clear()
        if self._table:
            self.blocks += table_blocks(self._table, table=self._tables, header=True if self._heads else None)
            self._tables += 1
            self._table = []
            self._heads = False
            self._close_notes()
