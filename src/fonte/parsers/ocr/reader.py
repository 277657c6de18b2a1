"""Pictures of pages to lines of words: upright, ruled lines taken out, within the document's time."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fonte.parsers.ocr.engine import HINT, PACKAGES, Engine, OcrFailed, Orientation, find_engine, packages_of
from fonte.parsers.ocr.hocr import OcrLine, confidence, read_hocr
from fonte.parsers.ocr.rules import uncovered_share, without_rules
from fonte.parsers.ocr.settings import OcrSettings, ask_for_time, current

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS: Final = 40_000_000
"""Of one picture as it is given to the engine."""
UNREADABLE: Final = 40.0
"""Mean confidence under which the words are guesses, and are left out."""
LOW: Final = 75.0
"""Mean confidence under which a page's text is not to be trusted."""
_UNCOVERED = 0.4
"""Share of a page's ink outside all words from which a reader should look at the page."""
_GOOD, _ENOUGH_WORDS = 75.0, 8
"""Confidence and words of a picture that surely stands upright."""
_SURE_ROTATION = 10.0
_AS_GOOD = 0.8
"""Share of what was read sideways that must be read upright."""
_SHARP_SIDE = 1600
"""Pixels of the longer side under which a picture is enlarged."""
_MAX_ENLARGED = 3
_STRIP = (0.4, 0.6)
"""Shares of the height between which a large picture is looked at first."""
_LARGE = 1_000_000
"""Pixels of a picture that takes long to read."""
_SAFETY = 0.9
"""Share of the document's time after which no page is begun."""


@dataclass(frozen=True, slots=True)
class OcrPage:
    """What was read of one picture.

    ``lines`` in pixels of the upright picture of ``size``, which is the given one turned clockwise by ``rotation``
    degrees and enlarged ``scale`` times.
    """

    lines: list[OcrLine]
    size: tuple[int, int]
    rotation: int
    scale: float
    confidence: float
    table: bool
    uncovered: float

    @property
    def score(self) -> float:
        """How much was read, and how surely."""
        return sum(max(word.confidence - 30, 0) * len(word.text) for line in self.lines for word in line.words)

    @property
    def angle(self) -> int:
        """Degrees by which most of the letters run otherwise than from left to right."""
        letters: Counter[int] = Counter()
        for line in self.lines:
            letters[line.angle] += line.letters
        return letters.most_common(1)[0][0] if letters else 0

    @property
    def words(self) -> int:
        """Words in all lines."""
        return sum(len(line.words) for line in self.lines)


@dataclass(slots=True)
class OcrReader:
    """Reads the pictures of one document."""

    settings: OcrSettings = field(default_factory=current)
    began: float = field(default_factory=time.monotonic)
    _engine: Engine | None = field(init=False)
    _foreign: str = field(init=False, default="")
    """Script of the first page where it is none that is read; further pages in it are not read."""
    _begun: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._engine = find_engine(self.settings.languages)
        if self._engine is not None:
            ask_for_time()

    @property
    def name(self) -> str | None:
        """The engine with its version and languages, None when there is none."""
        return self._engine.name if self._engine is not None else None

    @property
    def missing(self) -> tuple[str, ...]:
        """Languages that were asked for and are not installed."""
        return self._engine.missing if self._engine is not None else ()

    def read(self, image: Image, *, dpi: int, turned: int = 0) -> OcrPage:
        """The words of a grey picture; ``turned`` is the rotation (clockwise) that its file says it needs.

        Raises:
            OcrFailed: no engine, no time left, or a run that failed.
        """
        enlarged = _enlargement(image)
        if enlarged != 1:
            image = image.resize((round(image.width * enlarged), round(image.height * enlarged)))
        dpi = round(dpi * max(enlarged, 1))
        if self._is_foreign(image, dpi, turned):
            raise OcrFailed(self._why_foreign())
        page = self._once(image, dpi, turned, enlarged)
        if page.angle:  # the engine reads single lines that run otherwise, but not their order
            upright = self._once(image, dpi, (turned + page.angle) % 360, enlarged)
            page = upright if upright.score > page.score * _AS_GOOD else page
        if page.confidence >= _GOOD and page.words >= _ENOUGH_WORDS:
            return page
        try:
            seen = self._look(image, dpi, turned)
            other = self._once(image, dpi, (turned + seen.turn) % 360, enlarged) if seen.turn else page
        except OcrFailed:  # what was read stays read, whatever a second look comes to
            return page
        if other.score > page.score or (seen.sure >= _SURE_ROTATION and other.score > page.score / 2):
            page = other
        return page

    def _is_foreign(self, image: Image, dpi: int, turned: int) -> bool:
        """Whether a picture is printed in a script that is not read, which a whole reading takes long to show.

        Asked of the first page, where a strip of it comes out as guesses, and of those after a page that was.
        """
        if self._foreign:
            return self._look(image, dpi, turned).script == self._foreign
        if self._begun or image.width * image.height < _LARGE:
            return False
        self._begun = True
        upright = turn(image, turned)
        top, bottom = (round(share * upright.height) for share in _STRIP)
        glance = self._once(upright.crop((0, top, upright.width, bottom)), dpi, 0, 1.0)
        if glance.words < _ENOUGH_WORDS or glance.confidence >= UNREADABLE:
            return False
        self._foreign = self._look(image, dpi, turned).script
        if not self._why_foreign():
            self._foreign = ""
        return bool(self._foreign)

    def _look(self, image: Image, dpi: int, turned: int) -> Orientation:
        if self._engine is None:
            return Orientation()
        seconds, memory = self._left(), self.settings.memory_bytes
        return self._engine.orientation(turn(image, turned), dpi=dpi, seconds=seconds, memory_bytes=memory)

    def _why_foreign(self) -> str:
        return self._engine.foreign(self._foreign) if self._engine is not None else ""

    def _once(self, image: Image, dpi: int, rotation: int, scale: float) -> OcrPage:
        if self._engine is None:
            raise OcrFailed(HINT)
        upright, table = without_rules(turn(image, rotation), dpi)
        layout = "6" if table else "3"  # cells of one row are one line only in a single block of text
        answer = self._engine.read(
            upright, dpi=dpi, seconds=self._left(), memory_bytes=self.settings.memory_bytes, layout=layout
        )
        lines = read_hocr(answer)
        boxes = [word.box for line in lines for word in line.words]
        return OcrPage(lines, upright.size, rotation, scale, confidence(lines), table, uncovered_share(upright, boxes))

    def _left(self) -> float:
        """Seconds for the next run. Raises OcrFailed when the document's are used up."""
        left = _SAFETY * self.settings.seconds - (time.monotonic() - self.began)
        if left <= 0:
            raise OcrFailed(f"the {self.settings.seconds:g} s for one document were used up")
        return min(left, self.settings.page_seconds)


def turn(image: Image, degrees: int) -> Image:
    """The picture turned clockwise by a multiple of 90 degrees."""
    from PIL.Image import Transpose

    ways = {90: Transpose.ROTATE_270, 180: Transpose.ROTATE_180, 270: Transpose.ROTATE_90}
    return image.transpose(ways[degrees]) if degrees in ways else image


def trouble(page: OcrPage) -> str | None:
    """Why what was read of a page is not to be trusted, None when it is."""
    if page.confidence < LOW:
        return f"mean confidence {page.confidence:.0f} of 100"
    if page.uncovered > _UNCOVERED:
        return f"{page.uncovered:.0%} of the print is no word that could be read"
    return None


def missing_languages(names: tuple[str, ...]) -> str:
    """What to say of languages that are not installed."""
    return f"OCR without {', '.join(names)}, not installed (apt-get install {packages_of(names)})"


def _enlargement(image: Image) -> float:
    """How many times a picture is enlarged: small print is read badly, and too many pixels take too long."""
    side = max(image.size)
    pixels = image.width * image.height
    wanted = min(-(-_SHARP_SIDE // max(side, 1)), _MAX_ENLARGED) if side < _SHARP_SIDE else 1
    while wanted > 1 and pixels * wanted * wanted > MAX_PIXELS:
        wanted -= 1
    return float(wanted) if pixels <= MAX_PIXELS else (MAX_PIXELS / pixels) ** 0.5


__all__ = ["HINT", "PACKAGES", "OcrFailed", "OcrPage", "OcrReader", "missing_languages", "trouble", "turn"]
