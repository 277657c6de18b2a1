"""Pictures of pages are made in a child process: sizes and rotation right, damage told, nonsense refused."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from fonte.errors import ParseError
from fonte.parsers.codec import BadReply
from fonte.parsers.pictures import decode_picture, encode_picture
from fonte.parsers.pool import ParserPool
from fonte.types import Acl, Picture, Source, sha256_hex

MADE = Path(__file__).parents[1] / "data" / "made"


def source(body: bytes, name: str) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def png(size: tuple[int, int]) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", size, "white").save(made, "PNG")
    return made.getvalue()


@pytest.fixture(scope="module")
def pool() -> ParserPool:
    with ParserPool(timeout_seconds=60) as opened:
        yield opened


def test_a_page_is_drawn_as_it_is_stored(pool: ParserPool) -> None:
    for name, rotation in (("report.pdf", 0), ("rotated90.pdf", 90)):
        picture = pool.picture(source((MADE / name).read_bytes(), name), "application/pdf", 1)
        assert picture.rotation == rotation
        with Image.open(io.BytesIO(picture.jpeg)) as image:
            assert image.format == "JPEG"
            assert max(image.size) <= 1201
            assert abs(image.width / image.height - picture.width / picture.height) < 0.01


def test_a_picture_is_scaled_and_its_boxes_are_in_its_own_pixels(pool: ParserPool) -> None:
    picture = pool.picture(source(png((3000, 1500)), "a.png"), "image/png", 1)
    assert (picture.width, picture.height) == (3000, 1500)
    with Image.open(io.BytesIO(picture.jpeg)) as image:
        assert image.size == (1200, 600)


@pytest.mark.parametrize(
    ("body", "media_type", "page"),
    [
        ((MADE / "report.pdf").read_bytes(), "application/pdf", 999),
        (b"%PDF-1.7 no pdf", "application/pdf", 1),
        (png((9, 9))[:40], "image/png", 1),
        (png((9, 9)), "image/png", 2),
        (b"words", "text/plain", 1),
    ],
)
def test_what_cannot_be_drawn_is_a_typed_error_and_the_child_goes_on(
    pool: ParserPool, body: bytes, media_type: str, page: int
) -> None:
    with pytest.raises(ParseError):
        pool.picture(source(body, "x"), media_type, page)
    assert pool.picture(source(png((9, 9)), "a.png"), "image/png", 1).width == 9


def test_a_child_that_lies_is_not_believed() -> None:
    good = Picture(10, 20, 90, b"\xff\xd8\xff rest")
    assert decode_picture(encode_picture(good)) == good
    for bad in (
        Picture(float("nan"), 20, 0, good.jpeg),
        Picture(10, float("inf"), 0, good.jpeg),
        Picture(10, 0, 0, good.jpeg),
        Picture(10, 20, 45, good.jpeg),
        Picture(10, 20, 0, b"<svg onload=alert(1)>"),
        Picture(10, 20, 0, b""),
    ):
        with pytest.raises(BadReply):
            decode_picture(encode_picture(bad))
    with pytest.raises(BadReply):
        decode_picture(b"")
