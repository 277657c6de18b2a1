"""Pages of documents as pictures: the right place marked, only for those who may, only out of the same bytes."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from fonte.corpus import OpenCorpus, SourceOptions
from fonte.drawn import marked
from fonte.types import Picture, Principal
from quick_corpus import quick_parts
from served import House, make_house

MADE = Path(__file__).parents[1] / "data" / "made"
ADA = Principal("default", "ada", frozenset())
EVA = Principal("default", "eva", frozenset({"hr"}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pages")
    for name in ("report.pdf", "rotated90.pdf"):
        shutil.copy(MADE / name, place)
    (place / "plain.txt").write_text("The pump runs at seven bar.", "utf-8")
    with zipfile.ZipFile(place / "box.zip", "w") as box:
        box.write(MADE / "report.pdf", "inner folder/à report.pdf")
    return place


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[House]:
    """Three files for the role hr, drawn by the real process."""
    home = tmp_path_factory.mktemp("home") / "home"
    began: list[int] = []
    parts = quick_parts(home)
    make = parts.make_pictures

    def counted() -> object:
        began.append(1)
        return make()

    corpus = OpenCorpus(replace(parts, make_pictures=counted))  # type: ignore[arg-type]  # what make gives
    corpus.sync(str(folder), options=SourceOptions(allow=("hr",)))
    house = make_house(tmp_path_factory.mktemp("other") / "home", corpus=corpus)
    yield house
    corpus.close()
    assert began == [1]


def _image(body: bytes) -> Image.Image:
    return Image.open(io.BytesIO(body)).convert("RGB")


def test_a_passage_is_marked_on_its_page_and_nothing_else_changes(pages: House) -> None:
    client = pages.client(EVA)
    text = client.get("/v1/documents/report.pdf/text").json()["text"]
    start = text.index("S0122")
    end = text.index("S0123")
    clean = client.get("/v1/documents/report.pdf/pages/1.png")
    shown = client.get(f"/v1/documents/report.pdf/pages/1.png?from={start}&to={end}")
    assert (clean.status_code, shown.status_code) == (200, 200)
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["cache-control"] == "no-store"
    assert "x-fonte-mark" not in clean.headers
    place = client.get(f"/v1/documents/report.pdf/text?from={start}&to={end}").json()["locator"]
    before, after = _image(clean.content), _image(shown.content)
    changed = ImageChops.difference(before, after).getbbox()
    assert changed is not None
    top = max(box[3] for box in place["boxes"])
    bottom = min(box[1] for box in place["boxes"])
    height = 841.89
    assert changed[1] == pytest.approx(after.height * (1 - top / height), abs=5)
    assert changed[3] == pytest.approx(after.height * (1 - bottom / height), abs=5)
    assert float(shown.headers["x-fonte-mark"]) == pytest.approx(changed[1] / after.height, abs=0.01)


def test_a_chunk_is_marked_by_its_id(pages: House) -> None:
    client = pages.client(EVA)

    def first(document: str) -> dict[str, Any]:
        asked = {"query": "Prince pump", "filters": {"document": document}}
        found: dict[str, Any] = client.post("/v1/search", json=asked).json()["results"][0]
        return found

    chunk = first("report.pdf")
    path = f"/v1/documents/report.pdf/pages/{chunk['locator']['page']}.png"
    shown = client.get(f"{path}?chunk={chunk['chunk_id']}")
    assert "x-fonte-mark" in shown.headers
    assert shown.content != client.get(path).content
    assert client.get(f"{path}?chunk=nothing").status_code == 404
    assert client.get(f"{path}?chunk={first('plain.txt')['chunk_id']}").status_code == 404


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("report.pdf/pages/99.png", 400, "invalid_query"),
        ("report.pdf/pages/0.png", 422, "invalid_request"),
        ("report.pdf/pages/x.png", 422, "invalid_request"),
        ("plain.txt/pages/1.png", 400, "invalid_query"),
        ("nothing.pdf/pages/1.png", 404, "not_found"),
        ("report.pdf/pages/1.png?from=5&to=99999999", 400, "invalid_query"),
    ],
)
def test_what_cannot_be_drawn_says_why(pages: House, path: str, status: int, code: str) -> None:
    found = pages.client(EVA).get(f"/v1/documents/{path}")
    assert (found.status_code, found.json()["error"]["code"]) == (status, code)


def test_a_page_of_what_one_may_not_read_is_not_there(pages: House) -> None:
    identity = pages.client(EVA).get("/v1/documents/report.pdf").json()["document_id"]
    hidden = pages.client(ADA).get(f"/v1/documents/{identity}/pages/1.png")
    absent = pages.client(ADA).get(f"/v1/documents/{'0' * len(identity)}/pages/1.png")
    assert hidden.status_code == absent.status_code == 404
    assert hidden.text.replace(identity, "") == absent.text.replace("0" * len(identity), "")


def test_a_file_that_has_changed_or_gone_is_not_shown_in_its_place(pages: House, folder: Path) -> None:
    client = pages.client(EVA)
    path = folder / "report.pdf"
    kept = path.read_bytes()
    try:
        path.write_bytes(kept + b"\n%more")
        changed = client.get("/v1/documents/report.pdf/pages/2.png")
        assert (changed.status_code, changed.json()["error"]["code"]) == (409, "source_changed")
        path.unlink()
        path.symlink_to(folder / "rotated90.pdf")
        assert client.get("/v1/documents/report.pdf/pages/2.png").json()["error"]["code"] == "source_changed"
        path.unlink()
        gone = client.get("/v1/documents/report.pdf/pages/2.png")
        assert (gone.status_code, gone.json()["error"]["code"]) == (400, "source_unreadable")
        assert str(folder) not in gone.text
    finally:
        path.unlink(missing_ok=True)
        path.write_bytes(kept)
    assert client.get("/v1/documents/report.pdf/pages/2.png").status_code == 200


def test_a_page_that_viewers_turn_is_shown_upright(pages: House) -> None:
    picture = _image(pages.client(EVA).get("/v1/documents/rotated90.pdf/pages/1.png").content)
    stored = pages.served.corpus.show("rotated90.pdf", principal=EVA)[0]
    broad = [place.box[2] - place.box[0] > place.box[3] - place.box[1] for place in stored.places if place.box]
    # Its lines stand upright on the page as it is stored or as it is turned; either way they are read from the left.
    upright = 2 * sum(broad) > len(broad)
    assert (picture.width < picture.height) == upright


@pytest.mark.parametrize(("rotation", "corner"), [(0, (10, 160)), (90, (10, 10)), (180, (70, 10)), (270, (160, 70))])
def test_marks_turn_with_their_page(rotation: int, corner: tuple[int, int]) -> None:
    made = io.BytesIO()
    Image.new("RGB", (100, 200), "white").save(made, "JPEG")
    picture = Picture(100.0, 200.0, rotation, made.getvalue())
    # A box at the lower left, in units from there; upright lines make the page turn.
    drawn = marked(picture, [(10.0, 10.0, 30.0, 40.0)], [(10.0, 10.0, 20.0, 190.0)])
    found = ImageChops.difference(_image(drawn.png), Image.new("RGB", _image(drawn.png).size, "white")).getbbox()
    assert found is not None
    assert (abs(found[0] - corner[0]) < 5, abs(found[1] - corner[1]) < 5) == (True, True), found
    assert drawn.mark == pytest.approx(found[1] / _image(drawn.png).height, abs=0.03)


def test_a_page_inside_an_archive_is_drawn_from_the_bytes_that_were_indexed(pages: House, folder: Path) -> None:
    client = pages.client(EVA)
    name = next(
        one["document_id"]
        for one in client.get("/v1/documents").json()["documents"]
        if one["document_name"].startswith("box.zip!/")
    )
    inside, outside = (
        client.get(f"/v1/documents/{name}/pages/2.png"),
        client.get("/v1/documents/report.pdf/pages/2.png"),
    )
    assert inside.status_code == 200
    assert inside.content == outside.content
    assert pages.client(ADA).get(f"/v1/documents/{name}/pages/2.png").status_code == 404
    with zipfile.ZipFile(folder / "box.zip", "w") as box:
        box.write(MADE / "two_column.pdf", "inner folder/à report.pdf")
    assert client.get(f"/v1/documents/{name}/pages/2.png").status_code == 200, "kept as it was drawn"
    assert client.get(f"/v1/documents/{name}/pages/1.png").status_code == 422
