"""Pictures (PNG, JPEG, TIFF, WebP, BMP, GIF) to the text that OCR reads in them; frames are pages.

A box is in pixels of the picture as it is shown (turned as its EXIF data say), from the lower left corner.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from fonte.errors import ParseError
from fonte.parsers.ocr.reader import HINT, OcrFailed, OcrReader
from fonte.parsers.pdf.document import PageText
from fonte.parsers.pdf.glyphs import to_frame
from fonte.parsers.pdf.reading import Reading, blocks_of
from fonte.parsers.pdf.scans import OcrAccount, lines_of, losses_of
from fonte.types import Loss, Parsed, Source

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_VERSION = "2"
MAX_IMAGE_PIXELS: Final = 80_000_000
"""Of one frame."""
MAX_FRAMES: Final = 500
FORMATS: Final = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
_USUAL_DPI = 300
_BELIEVED_DPI = (70, 1200)
_DARK_MEAN = 90
"""Mean brightness under which a picture is light print on a dark ground."""
_FAULTS = (OSError, SyntaxError, ValueError, EOFError, struct.error, LookupError, TypeError, ArithmeticError)
"""What Pillow raises over damaged files."""


class ImageParser:
    """Pictures through OCR and the layout layer of PDF pages."""

    def __init__(self) -> None:
        self.name = f"image/{IMAGE_VERSION}"

    def name_with(self, engine: str) -> str:
        """What documents are stamped with."""
        return f"image+ocr/{IMAGE_VERSION} pillow/{version('pillow')} {engine}"

    def parse(self, source: Source) -> Parsed:
        """Blocks of all frames in reading order; ``needs_ocr`` where no engine is installed.

        Raises:
            ParseError: no picture, damaged, or with too many pixels.
        """
        reader = OcrReader()
        account = OcrAccount(reader.name, reader.missing)
        reading = Reading()
        more = 0
        for number, (image, dpi) in enumerate(_frames(source), 1):
            if number > MAX_FRAMES:
                more += 1
                break
            reading.take(number, _page(reader, account, number, image, dpi))
        total = len(reading.pages)
        blocks = blocks_of(reading, ())
        losses = [*reading.losses(), *losses_of(account, blocks)]
        if more:
            losses.append(Loss("frames_left_out", f"only the first {MAX_FRAMES} frames were read"))
        return Parsed(
            blocks=blocks,
            parser=self.name_with(account.stamp or ""),
            media_type=source.media_type or "image/png",
            pages=total,
            source_counts=reading.counts,
            losses=tuple(losses),
            metadata=account.metadata(blocks),
            empty_reason=None if blocks else "needs_ocr" if account.waiting else "empty",
        )


def _page(reader: OcrReader, account: OcrAccount, number: int, image: Image, dpi: int) -> PageText:
    from fonte.parsers.ocr.words import page_words

    size = (float(image.width), float(image.height))
    blank = PageText([], [], [], "", (0.0, size[1]), 1, 0, size)
    if account.engine is None:
        account.unread[number] = HINT
        return blank
    try:
        found = reader.read(image, dpi=dpi)
    except OcrFailed as failure:
        account.unread[number] = str(failure)
        return blank
    if not account.add(number, found):
        return blank
    words = page_words(found, 1.0)
    account.take_words(number, words, found)
    _, low, _, high = to_frame((0.0, 0.0, *size), found.rotation // 90)
    return PageText(words, words, [], "\n".join(lines_of(words)), (low, high), 1, len(words), size)


def _frames(source: Source) -> Iterator[tuple[Image, int]]:
    """(grey picture upright as its file says, dots an inch) of each frame.

    Raises:
        ParseError: damaged, or too large.
    """
    from PIL import Image as Pillow
    from PIL import ImageFile, UnidentifiedImageError

    if source.body is None:
        raise ParseError("the source's bytes were not read", uri=source.uri)
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Pillow.open(io.BytesIO(source.body), formats=FORMATS) as opened:
                index = 0
                while index <= MAX_FRAMES and _seek(opened, index):
                    _check_size(opened, source)
                    yield _grey(opened), _dpi(opened)
                    index += 1
        except Pillow.DecompressionBombError as error:
            raise _too_large(source, str(error)) from error
        except UnidentifiedImageError as error:
            raise ParseError(f"{source.name} begins like a picture and is none", uri=source.uri) from error
        except _FAULTS as error:
            raise ParseError(f"{source.name} is damaged: {error}", uri=source.uri) from error


def _seek(image: Image, index: int) -> bool:
    try:
        image.seek(index)
    except EOFError:
        return False
    return True


def _check_size(image: Image, source: Source) -> None:
    pixels = image.width * image.height
    if pixels > MAX_IMAGE_PIXELS:
        raise _too_large(source, f"{image.width} x {image.height} pixels")


def _too_large(source: Source, what: str) -> ParseError:
    hint = "save a smaller copy"
    return ParseError(f"{source.name}: {what}; the limit is {MAX_IMAGE_PIXELS} pixels", hint=hint, uri=source.uri)


def _grey(image: Image) -> Image:
    """Dark print on white, in grey, turned as EXIF says."""
    from PIL import Image as Pillow
    from PIL import ImageOps, ImageStat

    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith(("I", "F")):  # 16 bits and more a pixel
        upright = ImageOps.autocontrast(upright.point(lambda value: value / 256).convert("L"))
    if upright.has_transparency_data:
        layer = upright.convert("RGBA")
        ground = Pillow.new("RGBA", layer.size, "white")
        upright = Pillow.alpha_composite(ground, layer)
    grey = upright.convert("L")
    return ImageOps.invert(grey) if ImageStat.Stat(grey).mean[0] < _DARK_MEAN else grey


def _dpi(image: Image) -> int:
    """What the file says of its dots an inch, where that can be."""
    said = image.info.get("dpi")
    low, high = _BELIEVED_DPI
    try:
        dpi = round(float(said[0])) if isinstance(said, tuple) else _USUAL_DPI
    except (ValueError, OverflowError, ZeroDivisionError):
        return _USUAL_DPI
    return dpi if low <= dpi <= high else _USUAL_DPI
