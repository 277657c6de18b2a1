"""PPTX to blocks: a heading for each slide, what stands on it in reading order, its notes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from fonte.errors import ParseError
from fonte.parsers.counting import check_found, count_text
from fonte.parsers.ooxml import Package, local, opened
from fonte.parsers.pptx.names import FALLBACK, MATH_TEXT, a, p, r
from fonte.parsers.pptx.slides import Frames, SlideReader, Tally, notes_text, placeholder_frames
from fonte.types import Block, BlockKind, Counts, Loss, Parsed, Place

if TYPE_CHECKING:
    from lxml.etree import _Element

    from fonte.types import Source

PPTX_VERSION = "3"
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_NO_FRAMES: Frames = {}


class PptxParser:
    """PowerPoint files by a walk over their XML; slides count from 1, hidden ones too."""

    def __init__(self) -> None:
        self.name = f"pptx/{PPTX_VERSION} lxml/{version('lxml')}"

    def parse(self, source: Source) -> Parsed:
        """Slides in order: title (or number) as heading, text, tables, charts, pictures' descriptions, notes.

        Raises:
            EncryptedSource: under a password. ParseError: damaged, past a limit, or text without any block.
        """
        with opened(source) as package:
            return _Deck(package, source).parsed(self.name)


class _Deck:
    """A presentation being read."""

    def __init__(self, package: Package, source: Source) -> None:
        self._package, self._source = package, source
        self._main = package.main_part("ppt/presentation.xml")
        self._relations = package.relations(self._main)
        self._layouts: dict[str, Frames] = {}
        self._tally = Tally()
        self._texts: list[str] = []
        """Every piece of text in the parts that were read, found apart from the blocks."""
        self._rows = 0
        self._comments = 0
        self._hidden: list[int] = []
        self._broken: list[str] = []

    def parsed(self, name: str) -> Parsed:
        """The whole presentation."""
        blocks: list[Block] = []
        slides = self._slides()
        for number, part in enumerate(slides, 1):
            blocks += self._slide(part, number)
        texts = [*self._texts, *self._tally.other_text]
        counts = count_text("\n".join(texts), rows=self._rows + self._tally.chart_rows, pages=len(slides))
        if not any(block.kind is not BlockKind.HEADING for block in blocks) and not counts.characters:
            blocks = []
        beside = counts.words - count_text("\n".join(self._tally.furniture)).words
        check_found(self._source, words=max(beside, 0), found=bool(blocks))
        if not blocks and self._broken:
            raise self._package.error(self._broken[0])
        return Parsed(
            blocks=tuple(blocks),
            parser=name,
            title=self._package.title(),
            media_type=MEDIA_TYPE,
            source_counts=_with_headings(counts, blocks),
            losses=tuple(self._losses()),
            metadata={"slides": str(len(slides)), **self._package.dates()},
            empty_reason=None if blocks else "needs_ocr" if self._tally.images else "empty",
        )

    def _slides(self) -> list[str]:
        """The parts of the slides, in the order in which they are shown.

        Raises:
            ParseError: a presentation that names slides which are not there.
        """
        root = self._package.xml(self._main)
        found = [
            self._relations.get(slide.get(r("id"), ""), ("", ""))[1]
            for slide in root.iterfind(f"{p('sldIdLst')}/{p('sldId')}")
        ]
        return found or sorted(target for kind, target in self._relations.values() if kind == "slide")

    def _slide(self, part: str, number: int) -> list[Block]:
        """The blocks of a slide; one that is damaged is told and the others go on."""
        root = self._part(part, number)
        if root is None:
            return []
        relations = self._package.relations(part)
        by_kind = {kind: target for kind, target in relations.values() if self._package.has(target)}
        reader = SlideReader(self._package, part, number, self._frames(by_kind.get("slideLayout"), number), self._tally)
        blocks = reader.read(root)
        self._texts.append(_plain(root))
        self._rows += sum(1 for row in root.iter(a("tr")) if any(text.strip() for text in _texts(row)))
        for kind, target in relations.values():
            comments = self._part(target, number) if kind == "comments" else None
            self._comments += 0 if comments is None else sum(local(one.tag) == "cm" for one in comments.iter())
        notes = self._part(by_kind["notesSlide"], number) if "notesSlide" in by_kind else None
        if notes is not None:
            said = notes_text(notes)
            if said:
                self._texts.append(said)
                blocks.append(Block(BlockKind.NOTE, said, places=(Place(0, len(said), slide=number),)))
        heading = reader.title or f"Slide {number}"
        if root.get("show") in ("0", "false"):
            self._hidden.append(number)
            heading = f"{heading} (hidden slide)"
        if not blocks and not reader.title:
            return []
        return [Block(BlockKind.HEADING, heading, 1, (Place(0, len(heading), slide=number),)), *blocks]

    def _part(self, name: str, number: int) -> _Element | None:
        """A part's root; None for one that cannot be read, which is told of its slide."""
        try:
            return self._package.xml(name)
        except ParseError as error:
            said = error.message.removeprefix(f"{self._source.name}: ")
            self._broken.append(f"slide {number}: {said}")
            return None

    def _frames(self, layout: str | None, number: int) -> Frames:
        """Where a layout's placeholders stand, those of its master below them."""
        if layout is None:
            return _NO_FRAMES
        if layout not in self._layouts:
            kinds = dict(self._package.relations(layout).values())
            master = kinds.get("slideMaster", "")
            below = self._part(master, number) if self._package.has(master) else None
            self._layouts[layout] = placeholder_frames(
                self._part(layout, number), placeholder_frames(below, _NO_FRAMES)
            )
        return self._layouts[layout]

    def _losses(self) -> list[Loss]:
        tally = self._tally
        told = (
            ("page_furniture", len(tally.furniture), "lines of footers, dates and slide numbers left out"),
            ("comments", self._comments, "comments left out"),
            ("images", tally.images, "pictures not read"),
            ("hidden_text", tally.hidden_words, "words in hidden shapes kept"),
        )
        losses = [Loss(code, f"{count} {what}", count) for code, count, what in told if count]
        if self._hidden:
            message = f"hidden slides kept: {', '.join(map(str, self._hidden))}"
            losses.append(Loss("hidden_slide", message, len(self._hidden)))
        if tally.unread:
            message = f"objects without readable text: {'; '.join(tally.unread[:10])}"
            losses.append(Loss("objects", message, len(tally.unread)))
        broken = [*self._broken, *tally.damaged]
        if broken:
            losses.append(Loss("slides_lost", "; ".join(broken[:10]), len(broken)))
        return losses


def _texts(element: _Element) -> Sequence[str]:
    return [part.text or "" for part in element.iter(a("t"), MATH_TEXT)]


def _plain(root: _Element) -> str:
    """All text nodes of a slide in order, a line for each paragraph: independent of the walk that makes blocks."""
    pieces: list[str] = []
    texts, breaks = {a("t"), MATH_TEXT}, {a("p"), a("br"), a("tc")}
    fallbacks = [element for element in root.iter(FALLBACK) if _has_twin(element)]
    skipped = {inner for fallback in fallbacks for inner in fallback.iter()}
    for element in root.iter():
        if element.tag in texts and element not in skipped:
            pieces.append(element.text or "")
        elif element.tag in breaks:
            pieces.append("\n")
    return "".join(pieces)


def _has_twin(fallback: _Element) -> bool:
    """Whether another form of the same content holds text."""
    return any(_texts(form) for form in fallback.itersiblings(preceding=True))


def _with_headings(counts: Counts, blocks: Sequence[Block]) -> Counts:
    """The counts with the words that headings made up (``Slide 3``), lest these stand in for words that were lost."""
    made = [block.text for block in blocks if block.kind is BlockKind.HEADING]
    numbers = sum(text.startswith("Slide ") for text in made)
    hidden = sum(text.endswith("(hidden slide)") for text in made)
    return counts + Counts(words=numbers * 2 + hidden * 2, numbers=numbers)
