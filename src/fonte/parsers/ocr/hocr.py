"""hOCR to lines of words with confidence and boxes in pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOX = re.compile(r"bbox (-?\d+) (-?\d+) (-?\d+) (-?\d+)")
_BASE = re.compile(r"baseline (-?[\d.]+) (-?[\d.]+)")
_SIZE = re.compile(r"x_size ([\d.]+)")
_BELOW = re.compile(r"x_descenders ([\d.]+)")
_ANGLE = re.compile(r"textangle (\d+)")
_SURE = re.compile(r"x_wconf (\d+)")
_TALL = 1.5
"""Times that a line is higher than it is wide when it runs upwards or downwards."""
_NOISE = 60
"""Confidence under which a word without any letter or digit is a speck or a rule."""


@dataclass(slots=True)
class OcrWord:
    """A word; box in pixels from the upper left corner, confidence from 0 to 100."""

    text: str
    box: tuple[int, int, int, int]
    confidence: int


@dataclass(slots=True)
class OcrLine:
    """A line of one paragraph; its baseline is ``height + slope * x`` pixels from the top, ``size`` its type's."""

    words: list[OcrWord]
    slope: float
    height: float
    size: float
    below: float
    angle: int = 0
    """Degrees by which it runs upwards (90), upside down or downwards (270)."""

    @property
    def letters(self) -> int:
        """Characters of all its words."""
        return sum(len(word.text) for word in self.words)


def read_hocr(data: bytes) -> list[OcrLine]:
    """Lines with words, in the engine's reading order."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=True)
    root = etree.fromstring(data, parser) if data.strip() else None
    lines: list[OcrLine] = []
    if root is None:
        return lines
    for element in root.iter("{*}span"):
        kind = element.get("class", "")
        title = element.get("title", "")
        box = _BOX.search(title)
        if box is None:
            continue
        if kind == "ocrx_word":
            text = "".join("".join(map(str, element.itertext())).split())
            sure = _SURE.search(title)
            confidence = int(sure[1]) if sure is not None else 0
            if lines and text and (confidence >= _NOISE or any(map(str.isalnum, text))):
                x0, y0, x1, y1 = map(int, box.groups())
                lines[-1].words.append(OcrWord(text, (x0, y0, x1, y1), confidence))
        elif kind.startswith("ocr_"):
            lines.append(_line(title, [int(part) for part in box.groups()]))
    lines = [line for line in lines if line.words]
    for line in lines:
        line.angle = line.angle or _angle(line)
    return lines


def _angle(line: OcrLine) -> int:
    """How a line runs by where its words stand; the engine does not always say it."""
    first, last = line.words[0].box, line.words[-1].box
    width = max(word.box[2] for word in line.words) - min(word.box[0] for word in line.words)
    top, bottom = min(word.box[1] for word in line.words), max(word.box[3] for word in line.words)
    letters = max(len(word.text) for word in line.words)
    if bottom - top < _TALL * width or letters < 3:  # noqa: PLR2004 - a high and narrow letter or two is no line
        return 0
    return 90 if len(line.words) > 1 and last[1] < first[1] else 270


def _line(title: str, box: list[int]) -> OcrLine:
    base, size, below = _BASE.search(title), _SIZE.search(title), _BELOW.search(title)
    slope, offset = (float(base[1]), float(base[2])) if base is not None else (0.0, 0.0)
    height = float(size[1]) if size is not None else float(box[3] - box[1])
    angle = _ANGLE.search(title)
    turned = round(int(angle[1]) / 90) * 90 % 360 if angle is not None else 0
    level = box[3] + offset - slope * box[0]
    return OcrLine([], slope, level, height, float(below[1]) if below is not None else 0.0, turned)


def confidence(lines: list[OcrLine]) -> float:
    """Mean confidence over characters, 0 when there are none."""
    letters = sum(line.letters for line in lines)
    return sum(word.confidence * len(word.text) for line in lines for word in line.words) / letters if letters else 0.0
