"""Pages as pictures, for people who judge what was read of them: made in a parser's child process, checked outside."""

from __future__ import annotations

import io
import math
import struct
import warnings
from typing import TYPE_CHECKING, Final

from fonte.errors import FonteError, ParseError
from fonte.parsers.codec import BadReply
from fonte.parsers.images import FORMATS, MAX_IMAGE_PIXELS
from fonte.types import Picture, Source

if TYPE_CHECKING:
    from PIL.Image import Image

PDF: Final = "application/pdf"
_LONGEST_SIDE: Final = 1200
"""Pixels: letters of nine points can be read on a page of A4."""
_QUALITY: Final = 72
_HEAD = struct.Struct("<ddH")
_JPEG = b"\xff\xd8\xff"
_MOST_BYTES: Final = 8 * 2**20
_TURNS: Final = (0, 90, 180, 270)
_FAULTS = (OSError, SyntaxError, ValueError, EOFError, struct.error, LookupError, TypeError, ArithmeticError)
"""What Pillow raises over damaged files."""


def picture_of(source: Source, page: int) -> Picture:
    """A page (from 1) of a PDF file or a picture, as it is stored, scaled to be looked at.

    Raises:
        ParseError: no such page, damaged, of too many pixels, or of a format that has no pages to draw.
    """
    try:
        if source.media_type == PDF:
            return _of_pdf(source, page)
        if (source.media_type or "").startswith("image/"):
            return _of_image(source, page)
    except FonteError:
        raise
    except _FAULTS as error:
        raise ParseError(f"page {page} of {source.name} cannot be drawn: {error}", uri=source.uri) from error
    raise ParseError(f"no picture can be made of {source.media_type}", uri=source.uri)


def encode_picture(picture: Picture) -> bytes:
    """A picture as bytes."""
    return _HEAD.pack(picture.width, picture.height, picture.rotation) + picture.jpeg


def decode_picture(data: bytes | bytearray) -> Picture:
    """What ``encode_picture`` was given; the pixels are not looked at.

    Raises:
        BadReply: anything else.
    """
    if not _HEAD.size < len(data) <= _MOST_BYTES:
        raise BadReply("no picture")
    width, height, rotation = _HEAD.unpack_from(data)
    jpeg = bytes(data[_HEAD.size :])
    if not (0 < width < math.inf and 0 < height < math.inf) or rotation not in _TURNS or not jpeg.startswith(_JPEG):
        raise BadReply("no picture")
    return Picture(width, height, rotation, jpeg)


def _of_pdf(source: Source, page: int) -> Picture:
    import pypdfium2 as pdfium

    from fonte.parsers.pdf.document import opened

    with opened(source) as (document, _):
        if not 1 <= page <= len(document):
            raise ParseError(f"{source.name} has no page {page}", uri=source.uri)
        try:
            drawn = document[page - 1]
        except pdfium.PdfiumError as error:
            raise ParseError(f"page {page} of {source.name} is damaged", uri=source.uri) from error
        rotation = drawn.get_rotation()
        drawn.set_rotation(0)
        left, bottom, right, top = drawn.get_bbox()
        width, height = right - left, top - bottom
        image = drawn.render(scale=_LONGEST_SIDE / max(width, height, 1.0)).to_pil()
        return Picture(width, height, rotation % 360, _jpeg(image))


def _of_image(source: Source, page: int) -> Picture:
    from PIL import Image as Pillow
    from PIL import ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Pillow.open(io.BytesIO(source.body or b""), formats=FORMATS) as opened:
            opened.seek(page - 1)
            if opened.width * opened.height > MAX_IMAGE_PIXELS:
                raise ParseError(f"{source.name} has more than {MAX_IMAGE_PIXELS} pixels", uri=source.uri)
            upright = ImageOps.exif_transpose(opened)
            size = float(upright.width), float(upright.height)
            return Picture(*size, 0, _jpeg(upright))


def _jpeg(image: Image) -> bytes:
    from PIL import Image as Pillow

    if image.mode.startswith(("I", "F")):  # 16 bits and more a pixel
        image = image.point(lambda value: value / 256)
    flat = image.convert("RGBA")
    ground = Pillow.new("RGBA", flat.size, "white")
    small = Pillow.alpha_composite(ground, flat).convert("RGB")
    small.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    made = io.BytesIO()
    small.save(made, "JPEG", quality=_QUALITY)
    return made.getvalue()
