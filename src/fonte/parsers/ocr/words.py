"""Lines of a picture to the words that the layout layer of PDF pages reads: in points, in the frame of the text.

Lines of a page scanned a little askew are set level for the layout; each word keeps the box where it stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fonte.parsers.ocr.hocr import OcrLine, OcrWord
from fonte.parsers.pdf.glyphs import Style, Word, to_frame, to_page

if TYPE_CHECKING:
    from fonte.parsers.ocr.reader import OcrPage
    from fonte.types import Box

_TALL = re.compile(r"[A-Zbdfhklt0-9ßÀ-ÖØ-Þ|/()\[\]{}!?&%$€]")
_DEEP = re.compile(r"[gjpqyçQ,;()\[\]{}|/]")
_TALL_SHARE, _DEEP_SHARE, _MIDDLE_SHARE = 0.23, 0.23, 0.54
"""Of a line's height: above small letters, below the baseline, and small letters themselves."""
_SAME_SIZE = (0.84, 1.2)
"""Sizes within these shares of the page's usual one are that one: measures of single lines are noisy."""
_STEP = 1.15
"""Other sizes are rounded to powers of this."""
_LEVEL = 0.0005


def page_words(page: OcrPage, points: float) -> list[Word]:
    """Words in reading order; ``points`` is the size of a pixel of the given picture."""
    scale = points / page.scale
    frame = page.rotation // 90
    width, height = page.size
    right, top = [(0, height), (0, 0), (-width, 0), (-width, height)][frame]
    slope = _slope(page.lines)
    usual = _usual(page.lines)
    words: list[Word] = []
    for line in page.lines:
        if line.angle:
            words += _turned_line(line, (right, top), scale, frame)
            continue
        size = _rounded(_size(line), usual)
        middle = (line.words[0].box[0] + line.words[-1].box[2]) / 2
        base = line.height + line.slope * middle - slope * middle
        y0 = (top - base - _DEEP_SHARE * size) * scale
        style = Style(round(size * scale, 1), bold=False, fixed=False)
        for index, word in enumerate(line.words):
            x0, x1 = (right + word.box[0]) * scale, (right + word.box[2]) * scale
            made = Word(word.text, x0, y0, x1, y0 + size * scale, size * scale, style, frame, index > 0, index == 0)
            made.box = to_page(_in_frame(word.box, (right, top), scale), frame)
            words.append(made)
    return words


def _turned_line(line: OcrLine, origin: tuple[int, int], scale: float, frame: int) -> list[Word]:
    """Words of a line that runs otherwise than the page, in a frame of its own."""
    own = (frame + line.angle // 90) % 4
    boxes = [to_page(_in_frame(word.box, origin, scale), frame) for word in line.words]
    framed = [to_frame(box, own) for box in boxes]
    low, high = min(box[1] for box in framed), max(box[3] for box in framed)
    style = Style(round(high - low, 1), bold=False, fixed=False)
    made: list[Word] = []
    for index, (word, box, (x0, _, x1, _)) in enumerate(zip(line.words, boxes, framed, strict=True)):
        made.append(Word(word.text, x0, low, x1, high, high - low, style, own, index > 0, index == 0))
        made[-1].box = box
    return made


def _in_frame(box: tuple[int, int, int, int], origin: tuple[int, int], scale: float) -> Box:
    right, top = origin
    x0, y0, x1, y1 = box
    return ((right + x0) * scale, (top - y1) * scale, (right + x1) * scale, (top - y0) * scale)


def _slope(lines: list[OcrLine]) -> float:
    """How much the page is askew: the middle slope of its longer lines."""
    slopes = sorted(line.slope for line in lines if len(line.words) > 3 and not line.angle)  # noqa: PLR2004 - short lines say little
    slope = slopes[len(slopes) // 2] if slopes else 0.0
    return slope if abs(slope) > _LEVEL else 0.0


def _size(line: OcrLine) -> float:
    """Height of a line from the tallest letters to the lowest, by what each word's letters must fill of it."""
    sizes = sorted(_word_size(word) for word in line.words if any(map(str.isalnum, word.text)))
    return sizes[len(sizes) // 2] if sizes else line.size


def _word_size(word: OcrWord) -> float:
    share = _MIDDLE_SHARE
    share += _TALL_SHARE if _TALL.search(word.text) else 0.0
    share += _DEEP_SHARE if _DEEP.search(word.text) else 0.0
    return (word.box[3] - word.box[1]) / share


def _usual(lines: list[OcrLine]) -> float:
    """The size that most letters have."""
    sizes = sorted((_size(line), line.letters) for line in lines if not line.angle)
    half, seen = sum(letters for _, letters in sizes) / 2, 0
    for size, letters in sizes:
        seen += letters
        if seen >= half:
            return size
    return 1.0


def _rounded(size: float, usual: float) -> float:
    low, high = _SAME_SIZE
    ratio = size / usual
    if low < ratio < high:
        return usual
    step = 1.0
    while ratio > 1 and step * _STEP**0.5 < ratio:
        step *= _STEP
    while ratio < 1 and step / _STEP**0.5 > ratio:
        step /= _STEP
    return usual * step
