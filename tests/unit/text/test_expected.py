"""What is expected: places by their form, words however they are written."""

from __future__ import annotations

import io
import zipfile

import pytest

from fonte.errors import InvalidQuery
from fonte.text.expected import Expected, holds, occurrences, raw_texts, read_expected
from fonte.types import Acl, Document, Place


def document(text: str, places: tuple[Place, ...] = ()) -> Document:
    return Document("d1", "default", "memory://a", "a", "v", "t", text, Acl(), places=places)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("26 days", Expected("26 days")),
        ("a b.md#char=3,9", Expected(document="a b.md", start=3, end=9)),
        ("records.jsonl#line=4#char=3,9", Expected(document="records.jsonl#line=4", start=3, end=9)),
        ("a.pdf#page=3", Expected(document="a.pdf", page=3)),
        ("a.xlsx#sheet=S%201&range=A2:B9", Expected(document="a.xlsx", sheet="S 1", range="A2:B9")),
        ("a.xlsx#sheet=S", Expected(document="a.xlsx", sheet="S")),
        ("see #page=x", Expected("see #page=x")),
    ],
)
def test_a_place_is_told_by_its_form(text: str, expected: Expected) -> None:
    assert read_expected(text) == expected


@pytest.mark.parametrize("text", ["", "  ", "?!", "a.md#char=9,9", "a.md#char=9,3", "x" * 5000])
def test_what_expects_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        read_expected(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The inter-\nnational office", "international office"),
        ("well-known\n  facts", "Well-Known facts"),
        ("the o\ufb03ce", "office"),
        ("perche\u0301 no", "perch\xe9 no"),
        ("perch\xe9 no", "perche\u0301 no"),
        ("it isn\u2019t \u201copen\u201d", 'isn\'t "open"'),
        ("2019\u20132024", "2019-2024"),
        ("co\u00adopera", "coopera"),
        ("A\u00a0B", "a b"),
    ],
)
def test_words_are_found_however_they_are_written(text: str, words: str) -> None:
    (found,) = occurrences(text, words)
    assert 0 <= found[0] < found[1] <= len(text)
    assert holds(text, words)


@pytest.mark.parametrize(("text", "words"), [("26 days", "25 days"), ("1.250", "1,250"), ("a b", "ab c"), ("x", ".")])
def test_other_words_are_not_found(text: str, words: str) -> None:
    assert occurrences(text, words) == []
    assert not holds(text, words)


def test_exact_places_come_first_and_all_of_them() -> None:
    assert occurrences("Ab ab AB ab", "ab") == [(3, 5), (9, 11)]


def test_patterns_stay_fast_on_long_texts() -> None:
    text = "a-\n" * 200_000
    assert not holds(text, "a" * 300 + "b")


def test_places_of_a_document() -> None:
    pages = (Place(0, 4, page=1), Place(5, 9, page=2), Place(10, 14, page=2))
    text = document("one. two. 2two.", pages)
    assert read_expected("a#page=2").places(text) == [(5, 14)]
    assert read_expected("a#page=7").places(text) == []
    assert read_expected("a#char=5,9").places(text) == [(5, 9)]
    assert read_expected("a#char=5,99").places(text) == []
    assert read_expected("", "a").places(text) == [(0, 15)]
    rows = document("a b c d", (Place(0, 3, sheet="S", range="A1:B1"), Place(4, 7, sheet="S", range="A2:B2")))
    assert read_expected("a#sheet=S&range=A2:B2").places(rows) == [(4, 7)]
    assert read_expected("a#sheet=S").places(rows) == [(0, 7)]


def test_bytes_are_read_without_their_parser() -> None:
    assert any("caff\xe8 26" in text for text in raw_texts("caff\xe8 26".encode("cp1252")))
    assert any("caff\xe8" in text for text in raw_texts("caff\xe8".encode("utf-16")))
    assert any(holds(text, "26 days & nights") for text in raw_texts(b"<p>26 <b>days</b> &amp; nights</p>"))
    assert any(holds(text, 'say "26" \xe8') for text in raw_texts(b'{"a": "say \\"26\\" \\u00e8"}'))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word/comments.xml", "<w:p><w:r><w:t>26 da</w:t></w:r><w:r><w:t>ys</w:t></w:r></w:p>")
        archive.writestr("media/image.png", "26 nights")
    assert any(holds(text, "26 days") for text in raw_texts(packed.getvalue()))
    assert not any(holds(text, "26 nights") for text in raw_texts(packed.getvalue()))
    assert list(raw_texts(packed.getvalue()[:60])) == []
