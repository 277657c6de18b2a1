"""Plain text is kept exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.errors import ParseError
from fonte.parsers.counting import count_text
from fonte.parsers.plain import PlainParser, verbatim_blocks
from fonte.text import ledger
from fonte.types import Acl, Parsed, Source


def parse(body: bytes) -> Parsed:
    return PlainParser().parse(Source("file:///a.txt", "a.txt", "h", Acl(), body=body))


def joined(parsed: Parsed) -> str:
    return "".join((block.before or "") + block.text for block in parsed.blocks) + parsed.tail


@given(st.text(alphabet=st.sampled_from(" \t\n\f\r\x85\u2028\x1cab.é\U0001f600"), max_size=60))
def test_blocks_and_their_gaps_are_the_text(text: str) -> None:
    blocks, tail = verbatim_blocks(text)
    assert "".join((block.before or "") + block.text for block in blocks) + tail == text
    assert all(block.text == block.text.strip() != "" for block in blocks)


def test_the_canonical_text_is_the_decoded_text_with_one_kind_of_newline() -> None:
    parsed = parse(b"\r\n  uno\r\ndue\r\n \t\r\n\r\ntre  \r\n")
    assert joined(parsed) == "\n  uno\ndue\n \t\n\ntre  \n"
    assert [block.text for block in parsed.blocks] == ["uno\ndue", "tre"]
    assert parsed.verbatim


def test_case_21_form_feeds_are_page_ends() -> None:
    parsed = parse(b"one\n\nmore\ftwo\f\nthree\n")
    assert [(block.text, block.places[0].page) for block in parsed.blocks] == [
        ("one", 1), ("more", 1), ("two", 2), ("three", 3)
    ]  # fmt: skip
    assert parsed.pages == parsed.source_counts.pages == 3


def test_case_91_a_blank_page_is_recorded_and_the_rest_is_read() -> None:
    parsed = parse(b"one\f \fthree\f")
    assert parsed.pages == 3
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("blank_page", 1)]
    assert "2" in parsed.losses[0].message
    assert parsed.blocks[-1].places[0].page == 3


def test_text_without_form_feeds_has_no_pages() -> None:
    parsed = parse(b"one")
    assert parsed.pages is None
    assert parsed.blocks[0].places == ()


def test_case_91_white_space_alone_is_empty() -> None:
    assert parse(b" \n\t\n").empty_reason == "empty"


def test_case_92_latin_text_is_read() -> None:
    assert parse(b"Il caff\xe8 \xe9 pronto").blocks[0].text == "Il caffè é pronto"


def test_undecodable_bytes_are_counted() -> None:
    parsed = parse(("è " * 30).encode() + b"\xff\xfe")
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("undecodable", 2)]


def test_binary_is_a_parse_error() -> None:
    with pytest.raises(ParseError):
        parse(bytes(range(32)) * 10)


def test_counts_are_of_the_source() -> None:
    counts = parse("Art. 5: 1.250,50 € al giorno".encode()).source_counts
    assert (counts.words, counts.numbers) == (7, 2)


@given(st.text(max_size=40))
def test_parsers_count_as_the_ledger_does(text: str) -> None:
    assert count_text(text) == ledger.count(text)
