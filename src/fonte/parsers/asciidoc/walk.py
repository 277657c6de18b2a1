"""A walk over the lines of AsciiDoc: what each begins, where it ends, and the block that it makes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fonte.parsers.asciidoc.inline import alternative, read_inline
from fonte.parsers.asciidoc.tables import read_table
from fonte.parsers.counting import count_words
from fonte.parsers.tables import table_blocks
from fonte.types import Block, BlockKind, Place

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)$")
_UNDERLINES = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_ATTRIBUTE = re.compile(r":(!?[\w][\w-]*!?):(?:[ \t]+(.*))?$")
_BRACKETS = re.compile(r"\[(?!\[)(.*)\][ \t]*$")
_BLOCK_ANCHOR = re.compile(r"\[\[([^\[\],]+)(?:,[^\[\]]*)?\]\][ \t]*$")
_ID = re.compile(r"\bid\s*=\s*\"?([\w{}.:-]+)|^[^,]*?#([\w{}:-]+)")
_TITLE = re.compile(r"\.(?![.\s])(.+)$")
_FENCE = re.compile(
    r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}|~{3,}|\|={3,}|,={3,}|:={3,}|!={3,})([ \w,+.#-]*)$"
)
_ITEM = re.compile(r"[ \t]*(\*{1,6}|-|•|\.{1,6}|\d{1,9}\.|[a-zA-Z]\.|[ivxIVX]+\))[ \t]+(\S.*)$")
_TERM = re.compile(r"[ \t]*(\S.*?)(:{2,4}|;;)(?:[ \t]+(.*))?$")
_CALLOUT = re.compile(r"<(\d+|\.)>[ \t]+(.*)$")
_DIRECTIVE = re.compile(r"(include|ifdef|ifndef|ifeval|endif|toc|video|audio)::([^\s\[\]]*)\[(.*)\][ \t]*$")
_IMAGE = re.compile(r"image::([^\s\[\]]+)\[(.*)\][ \t]*$")
_RULE = re.compile(r"(?:'{3,}|<{3,}|-{3}|\*{3})[ \t]*$")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION)(:[ \t]+|$)")
_CALL_MARK = re.compile(r"(?:<(?:\d{1,3}|!--\d{1,3}--|\.)>[ \t]{0,8})+$")
_AUTHOR = re.compile(r"[\w.'-]+(?: [\w.'-]+){0,3}(?: <[^<>\s]+>)?(?:; .*)?$")
_MAX_DEPTH = 20
_VERBATIM = frozenset("-.`~+")


@dataclass(slots=True)
class _Pending:
    """What stands above a block: its attributes, its anchor and its title, of source line ``line``."""

    attributes: str = ""
    anchor: str | None = None


@dataclass(slots=True)
class Walk:
    """Blocks so far, and what the document says of itself."""

    blocks: list[Block] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    includes: list[str] = field(default_factory=list)
    conditions: int = 0
    unclosed: list[tuple[int, int]] = field(default_factory=list)
    """Comments that nothing closes: (line, words that they hide)."""
    title: str | None = None
    _pending: _Pending = field(default_factory=_Pending)
    _numbers: dict[str, int] = field(default_factory=dict)
    _tables: int = 0
    _depth: int = 0
    _label: str = ""

    def metadata(self) -> dict[str, str]:
        """The attributes that say something of the document."""
        said = {
            "author": "author",
            "revdate": "date",
            "lang": "lang",
            "description": "description",
            "keywords": "keywords",
        }
        return {name: self.names[key] for key, name in said.items() if self.names.get(key)}

    def read(self, lines: list[str], first: int) -> None:
        """Take lines, of which the first is source line ``first``."""
        at = 0
        while at < len(lines):
            at = self._step(lines, at, first)

    def _step(self, lines: list[str], at: int, first: int) -> int:
        """Read what begins at a line; the index after it."""
        line = lines[at].rstrip()
        if not line.strip() or (line.startswith("//") and not line.startswith("///")):
            return at + 1
        if self._marks(line) or self._directive(line, first + at) or _RULE.match(line):
            return at + 1
        heading = _HEADING.match(line)
        if heading is not None:
            text = heading[2].removesuffix(heading[1])
            text = text if text[-1:].isspace() else heading[2]
            self._heading(text.rstrip(), len(heading[1]), (first + at, first + at))
            return at + 1
        level = _underlined(lines, at)
        if level:
            self._heading(line.strip(), level, (first + at, first + at + 1))
            return at + 2
        fence = _FENCE.match(line)
        if fence is not None and (fence[1][0] in "`~" or not fence[2].strip()):
            return self._fenced(lines, at, first, fence[1])
        item = _ITEM.match(line) or _CALLOUT.match(line) or self._term(line)
        if item is not None:
            return self._item(lines, at, first, item)
        if line.startswith("|") and line.endswith("|") and at + 1 < len(lines) and lines[at + 1].startswith("|"):
            end = _while(lines, at, lambda one: one.startswith("|"))
            self._table([one.rstrip().removesuffix("|") for one in lines[at:end]], first + at, "|")
            return end
        return self._paragraph(lines, at, first)

    # --- lines about the next block

    def _marks(self, line: str) -> bool:
        """Whether a line only says something of the document or of the block below."""
        attribute = _ATTRIBUTE.match(line)
        if attribute is not None:
            self.names[attribute[1].strip("!").lower()] = (attribute[2] or "").strip().removesuffix(" \\")
            return True
        anchor = _BLOCK_ANCHOR.match(line)
        if anchor is not None:
            self._pending.anchor = anchor[1].strip()
            return True
        brackets = _BRACKETS.match(line)
        if brackets is not None:
            identity = _ID.search(brackets[1])
            if identity is not None:
                self._pending.anchor = identity[1] or identity[2]
            self._pending.attributes = ",".join(filter(None, [self._pending.attributes, brackets[1]]))
            return True
        return False

    def _directive(self, line: str, number: int) -> bool:
        found = _DIRECTIVE.match(line)
        if found is None:
            image = _IMAGE.match(line)
            if image is None:
                title = _TITLE.match(line)
                if title is not None and _ITEM.match(line) is None and _FENCE.match(line) is None:
                    self._text(BlockKind.CAPTION, title[1], (number, number))
                    return True
                return False
            shown = alternative(image[2])
            if shown:
                self._text(BlockKind.CAPTION, shown, (number, number))
            self._pending = _Pending()
            return True
        if found[1] == "include":
            self.includes.append(f"{found[2]} (line {number})")
        elif found[1] in ("ifdef", "ifndef", "ifeval"):
            self.conditions += 1
            if found[1] != "ifeval" and found[3]:
                self._text(BlockKind.PARAGRAPH, found[3], (number, number))
        return True

    # --- blocks

    def _heading(self, text: str, level: int, lines: tuple[int, int]) -> None:
        clean = self._text(BlockKind.HEADING, text, lines, level=level)
        if level == 1 and self.title is None and self._depth == 0:
            self.title = clean or None
        self._numbers.clear()

    def _fenced(self, lines: list[str], at: int, first: int, mark: str) -> int:
        """A block between two equal lines; the index after its end."""
        end = at + 1
        while end < len(lines) and lines[end].rstrip() != mark:
            end += 1
        inner, number = lines[at + 1 : end], first + at + 1
        kind, style = mark[0], self._pending.attributes
        if mark.startswith(("|=", ",=", ":=", "!=")):
            if mark[0] == "!":
                inner = [line.replace("!", "|") for line in inner]
            self._table(inner, number, mark[0])
        elif kind == "/":
            self._pending = _Pending()
            if end == len(lines):
                self.unclosed.append((number - 1, count_words("\n".join(inner))))
        elif (kind in _VERBATIM and mark != "--") or style.startswith(
            ("source", "listing", "literal", "verse", "stem")
        ):
            self._code(inner, number)
        else:
            self._inside(inner, number, style)
        return end + 1

    def _inside(self, lines: list[str], first: int, style: str) -> None:
        """The blocks between two marks; an admonition's label stands before the first."""
        admonition = _ADMONITION.match(style.split(",", maxsplit=1)[0].strip())
        attribution = [part.strip() for part in style.split(",")[1:3]] if style.startswith("quote") else []
        self._pending = replace(_Pending(), anchor=self._pending.anchor)
        self._label = f"{admonition[1]}: " if admonition is not None else self._label
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._code(lines, first)
        else:
            self.read(lines, first)
        self._depth -= 1
        self._label = ""
        said = ", ".join(part for part in attribution if part)
        if said:
            self._text(BlockKind.PARAGRAPH, f"— {said}", (first + len(lines), first + len(lines)))

    def _code(self, lines: list[str], first: int) -> None:
        text = "\n".join(map(_without_calls, lines))
        start = len(text) - len(text.lstrip("\n"))
        skipped = text[:start].count("\n")
        text = text[start:].rstrip()
        if not text.strip():
            self._pending = _Pending()
            return
        places, at = [], 0
        for row, line in enumerate(text.split("\n")):
            number = first + skipped + row
            if line:
                places.append(Place(at, at + len(line), anchor=self._pending.anchor, lines=(number, number)))
            at += len(line) + 1
        self._pending = _Pending()
        self.blocks.append(Block(BlockKind.CODE, text, places=tuple(places)))

    def _table(self, lines: list[str], first: int, delimiter: str) -> None:
        grid = read_table(lines, first, self._pending.attributes, delimiter)
        self._pending = _Pending()
        notes: list[str] = []
        rows: list[list[str]] = []
        for row in grid.rows:
            rows.append([])
            for cell in row:
                text, more = read_inline(cell, self.names)
                rows[-1].append(text)
                notes += more
        places: list[Place | None] = [Place(0, 0, lines=lines_) for lines_ in grid.lines]
        self.blocks += table_blocks(rows, table=self._tables, header=grid.header, places=places)
        self._tables += 1
        self._add_notes(notes, (first, first + len(lines)))

    def _term(self, line: str) -> re.Match[str] | None:
        """A described term (``term:: text``); a block macro is none."""
        found = _TERM.match(line)
        return found if found is not None and not re.search(r"https?$", found[1]) else None

    def _item(self, lines: list[str], at: int, first: int, found: re.Match[str]) -> int:
        """A list item with the lines that go on; the index after it."""
        end = at + 1
        while end < len(lines) and self._goes_on(lines, end) and lines[end].strip() != "+":
            end += 1
        rest = " ".join(line.strip() for line in lines[at + 1 : end])
        if found.re is _ITEM:
            said = f"{self._prefix(found[1])}{found[2]}"
        elif found.re is _CALLOUT:
            said = f"{self._number('<') if found[1] == '.' else found[1]}. {found[2]}"
        else:
            said = f"{found[1]}: {found[3]}" if found[3] else f"{found[1]}:"
        self._text(BlockKind.LIST_ITEM, f"{said} {rest}".strip(), (first + at, first + end - 1))
        while end < len(lines) and lines[end].strip() == "+":  # what a plus ties to the item
            end += 1
            if end < len(lines) and lines[end].strip():
                numbers = dict(self._numbers)
                while end < len(lines) and (self._marks(lines[end].rstrip()) or _TITLE.match(lines[end]) is not None):
                    end = end + 1 if _TITLE.match(lines[end]) is None else self._step(lines, end, first)
                end = self._step(lines, end, first) if end < len(lines) else end
                self._numbers = numbers
        return end

    def _prefix(self, marker: str) -> str:
        if marker[0] in "*-•":
            return "- "
        if marker[0] != ".":
            return f"{marker} "
        return f"{self._number(marker)}. "

    def _number(self, marker: str) -> int:
        """The next number of a list; deeper lists begin anew."""
        self._numbers = {known: count for known, count in self._numbers.items() if len(known) <= len(marker)}
        self._numbers[marker] = self._numbers.get(marker, 0) + 1
        return self._numbers[marker]

    def _goes_on(self, lines: list[str], at: int) -> bool:
        """Whether a line belongs to the paragraph or item above it."""
        line = lines[at].rstrip()
        if (
            not line.strip()
            or _ITEM.match(line)
            or _CALLOUT.match(line)
            or _FENCE.match(line)
            or _DIRECTIVE.match(line)
        ):
            return False
        return not (
            _ATTRIBUTE.match(line)
            or _BRACKETS.match(line)
            or _BLOCK_ANCHOR.match(line)
            or line.startswith("//")
            or self._term(line)
        )

    def _paragraph(self, lines: list[str], at: int, first: int) -> int:
        """A paragraph, or an indented one as code; the index after it."""
        if lines[at][0] in " \t" or self._pending.attributes.startswith(("source", "listing", "literal", "verse")):
            end = _while(lines, at, lambda one: bool(one.strip()))
            self._code(lines[at:end], first + at)
            return end
        end = at + 1
        while end < len(lines) and self._goes_on(lines, end) and not _HEADING.match(lines[end]):
            end += 1
        hard = "%hardbreaks" in self._pending.attributes
        pieces = [line.strip() for line in lines[at:end]]
        text = ""
        for piece in pieces:
            broken = hard or text.endswith(" +")
            text = f"{text.removesuffix(' +')}\n{piece}" if text and broken else f"{text} {piece}" if text else piece
        style = self._pending.attributes.split(",")[0].strip()
        if _ADMONITION.match(style):
            text = f"{style}: {text}"
        self._numbers.clear()
        self._text(BlockKind.PARAGRAPH, text.removesuffix(" +"), (first + at, first + end - 1))
        self._author(pieces[0], at)
        return end

    def _author(self, line: str, at: int) -> None:
        """The line under the document's title, where it reads as names."""
        titled = len(self.blocks) == 2 and self.blocks[0].level == 1 and at == 1  # noqa: PLR2004 - title and author
        if titled and _AUTHOR.match(line):
            self.names.setdefault("author", line)

    def _text(self, kind: BlockKind, said: str, lines: tuple[int, int], *, level: int = 0) -> str:
        """Add a block of inline text, and its footnotes after it; the clean text."""
        text, notes = read_inline(said, self.names)
        anchor = self._pending.anchor
        if kind is not BlockKind.CAPTION:
            self._pending = _Pending()
        if text:
            if self._label and kind is not BlockKind.HEADING:
                text, self._label = f"{self._label}{text}", ""
            text = " ".join(text.split()) if kind is BlockKind.HEADING else text
            place = Place(0, len(text), anchor=anchor, lines=lines)
            self.blocks.append(Block(kind, text, level=level, places=(place,)))
        self._add_notes(notes, lines)
        return text

    def _add_notes(self, notes: list[str], lines: tuple[int, int]) -> None:
        for note in notes:
            self.blocks.append(Block(BlockKind.NOTE, note, places=(Place(0, len(note), lines=lines),)))


def _without_calls(line: str) -> str:
    """A line of code without the numbers that its explanations refer to, and the comment mark before them."""
    line = line.rstrip()
    mark = _CALL_MARK.search(line) if line.endswith(">") else None
    if mark is None:
        return line
    code = line[: mark.start()].rstrip()
    return next((code.removesuffix(sign).rstrip() for sign in ("//", "#", "--", ";;") if code.endswith(sign)), code)


def _underlined(lines: list[str], at: int) -> int:
    """Level of a title with a line under it, 0 when there is none."""
    if at + 1 >= len(lines):
        return 0
    title, under = lines[at].strip(), lines[at + 1].rstrip()
    alike = len(under) > 3 and under[0] in _UNDERLINES and set(under) == {under[0]}  # noqa: PLR2004 - shorter is no underline
    fits = alike and abs(len(title) - len(under)) <= 1 and any(map(str.isalnum, title))
    return _UNDERLINES[under[0]] if fits and not lines[at].startswith((" ", "\t", ".", "[")) else 0


def _while(lines: list[str], at: int, holds: Callable[[str], bool]) -> int:
    """The index of the first line from ``at`` that is otherwise."""
    while at < len(lines) and holds(lines[at]):
        at += 1
    return at
