"""JSON records, lines and files."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.errors import ParseError
from fonte.parsers.records import JsonLinesParser, JsonParser, RecordParser
from fonte.types import RECORD_MEDIA_TYPE, Acl, Parsed, Source


def source(body: bytes) -> Source:
    return Source("file:///a.jsonl#1", "1", "h", Acl(), body=body, media_type=RECORD_MEDIA_TYPE)


def record(value: object) -> Parsed:
    return RecordParser().parse(source(json.dumps(value).encode()))


def texts(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks]


def joined(parsed: Parsed) -> str:
    return "".join((block.before or "") + block.text for block in parsed.blocks) + parsed.tail


@given(st.text(min_size=1).filter(str.strip))
def test_the_text_of_a_record_is_verbatim(text: str) -> None:
    parsed = record({"_id": "1", "title": "T", "text": text})
    assert joined(parsed) == text
    assert not parsed.verbatim  # its lines are no lines of the file
    assert parsed.title == "T"


def test_a_records_title_and_other_values_are_metadata() -> None:
    parsed = record(
        {"_id": "d7", "title": "Black Death", "text": "It began.", "year": 1347, "open": True, "x": {"y": 1}}
    )
    assert texts(parsed) == ["It began."]
    assert parsed.metadata == {"_id": "d7", "year": "1347", "open": "true"}


def test_a_record_with_a_title_alone_has_its_title() -> None:
    assert texts(record({"title": "Only this", "text": ""})) == ["Only this"]


def test_other_objects_give_a_paragraph_for_each_value() -> None:
    body = b'{"name": "Ada", "pay": {"net": 1.10, "gross": 1e3}, "t": ["a", "b"], "no": null, "big": 12345678901234567}'
    parsed = RecordParser().parse(source(body))
    assert texts(parsed) == [
        "name: Ada", "pay.net: 1.10", "pay.gross: 1e3", "t.0: a", "t.1: b", "big: 12345678901234567"
    ]  # fmt: skip


def test_repeated_keys_are_all_kept() -> None:
    assert texts(RecordParser().parse(source(b'{"a": 1, "a": 2}'))) == ["a: 1", "a: 2"]


@pytest.mark.parametrize("body", [b"[1]", b"{broken", b'"x"', b"[" * 100_000])
def test_what_is_no_object_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(ParseError):
        RecordParser().parse(source(body))


def test_case_91_an_empty_record_is_empty() -> None:
    assert record({}).empty_reason == "empty"


def test_json_lines_have_their_lines_and_bad_ones_are_told() -> None:
    parsed = JsonLinesParser().parse(source(b'{"a": 1, "b": {"c": "x"}}\n\n{bad\n{"a": 2}\n'))
    assert [(block.text, block.places[0].lines) for block in parsed.blocks] == [
        ("a: 1; b.c: x", (1, 1)),
        ("a: 2", (4, 4)),
    ]
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("bad_line", 1)]
    with pytest.raises(ParseError, match="line 1"):
        JsonLinesParser().parse(source(b"{bad\n{worse\n"))


def test_an_array_gives_a_paragraph_for_each_member_with_its_lines() -> None:
    parsed = JsonParser().parse(source(b'[\n {"a": 1},\n {"a":\n  2},\n "x"\n]\n'))
    assert [(block.text, block.places[0].lines) for block in parsed.blocks] == [
        ("a: 1", (2, 2)), ("a: 2", (3, 4)), ("x", (5, 5))
    ]  # fmt: skip


@pytest.mark.parametrize("body", [b'{"a": 1', b"[1, 2", b"[1 2]", b"[1] x", b"[1,, 2]", b'{"a": ' * 5000])
def test_broken_json_says_where(body: bytes) -> None:
    with pytest.raises(ParseError, match="JSON"):
        JsonParser().parse(source(body))
