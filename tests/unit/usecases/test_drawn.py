"""Pages as pictures: kept while their document is there, and not tried again and again where they cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fonte.drawn import AGAIN_SECONDS, PageDrawer
from fonte.errors import ParserCrashed, ParseTimeout
from fonte.types import Acl, Document, DocumentState, DocumentStatus, Picture, Source, sha256_hex

Draw = Callable[[Source, int], Picture]
PAGE = Picture(jpeg=b"jpeg", width=10, height=10, rotation=0)


class Drawing:
    """A document of two pages, and what its drawer does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "a.pdf"
        self.path.write_bytes(b"%PDF-1.7")
        self.tried: list[int] = []
        self.now = 0.0
        self.draw: Draw = lambda _source, _page: PAGE
        self.drawer = PageDrawer(self._made, lambda: self.now)
        self.version = sha256_hex(b"%PDF-1.7")

    @contextmanager
    def _made(self) -> Iterator[Drawing]:
        yield self

    def picture(self, source: Source, media_type: str, page: int) -> Picture:
        assert media_type == "application/pdf"
        self.tried.append(page)
        return self.draw(source, page)

    def page(self, page: int = 1) -> Picture:
        document = Document(
            id="d1", tenant="default", uri="file:///a.pdf", name="a.pdf", version=self.version, title="", text="",
            acl=Acl(), media_type="application/pdf", pages=2,
        )  # fmt: skip
        state = DocumentState(
            document_id="d1", uri="file:///a.pdf", name="a.pdf", status=DocumentStatus.READY, version=self.version,
            acl=Acl(),
        )  # fmt: skip
        return self.drawer.page(document, state, page, str(self.path))


@pytest.fixture
def drawing(tmp_path: Path) -> Drawing:
    return Drawing(tmp_path)


@pytest.mark.parametrize("kind", [ParseTimeout, ParserCrashed])
def test_a_page_that_cannot_be_drawn_is_not_tried_again_for_a_while(
    drawing: Drawing, kind: type[ParseTimeout | ParserCrashed]
) -> None:
    def hangs(_: Source, page: int) -> Picture:
        if page == 1:
            raise kind("too long", hint="read its text", page=1)
        return PAGE

    drawing.draw = hangs
    for _ in range(3):
        with pytest.raises(kind, match="too long") as caught:
            drawing.page()
        assert (caught.value.hint, caught.value.page) == ("read its text", 1)
    assert drawing.tried == [1]
    assert drawing.page(2) is PAGE, "another page is another thing"
    drawing.now = AGAIN_SECONDS + 1
    with pytest.raises(kind):
        drawing.page()
    assert drawing.tried == [1, 2, 1]
    drawing.path.write_bytes(b"%PDF-1.7 mended")
    drawing.version = sha256_hex(b"%PDF-1.7 mended")
    drawing.draw = lambda _source, _page: PAGE
    assert drawing.page() is PAGE, "other bytes are tried at once"


def test_what_was_drawn_is_kept_until_its_document_is_forgotten(drawing: Drawing) -> None:
    drawing.page()
    drawing.page()
    assert drawing.tried == [1]
    drawing.drawer.forget({"other"})
    drawing.page()
    assert drawing.tried == [1]
    drawing.drawer.forget({"d1"})
    drawing.page()
    assert drawing.tried == [1, 1]
    drawing.drawer.forget()
    drawing.page()
    assert drawing.tried == [1, 1, 1]


def test_what_a_page_failed_with_goes_with_its_document_too(drawing: Drawing) -> None:
    def hangs(_source: Source, _page: int) -> Picture:
        raise ParseTimeout("too long", uri="file:///a.pdf")

    drawing.draw = hangs
    for documents in (["d1"], None):
        with pytest.raises(ParseTimeout):
            drawing.page()
        drawing.drawer.forget(documents)
        assert "a.pdf" not in repr(vars(drawing.drawer))

    def forgets(source: Source, page: int) -> Picture:
        drawing.drawer.forget()
        return hangs(source, page)

    drawing.draw = forgets
    with pytest.raises(ParseTimeout):
        drawing.page()
    assert "a.pdf" not in repr(vars(drawing.drawer))


def test_a_page_that_was_being_drawn_while_its_document_was_forgotten_is_not_kept(drawing: Drawing) -> None:
    def slow(_source: Source, _page: int) -> Picture:
        drawing.drawer.forget({"d1"})
        return PAGE

    drawing.draw = slow
    drawing.page()
    drawing.page()
    assert drawing.tried == [1, 1]
