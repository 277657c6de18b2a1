"""The answers of parser processes come back equal, and nothing else comes back at all."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.errors import EncryptedSource, FonteError, ParseError, SourceTooLarge, UnsupportedMediaType
from fonte.parsers.codec import (
    BadReply,
    decode_contents,
    decode_error,
    decode_parsed,
    encode_contents,
    encode_error,
    encode_parsed,
)
from fonte.types import Block, BlockKind, Contents, Counts, Loss, Member, Parsed, Place, sha256_hex

any_text = st.text(alphabet=st.characters(), max_size=12)
maybe_text = st.none() | any_text
finite = st.floats(allow_nan=False, allow_infinity=False)
count = st.integers(0, 2**40)


@st.composite
def places(draw: st.DrawFn, size: int) -> Place:
    start = draw(st.integers(0, size))
    first = draw(st.none() | st.integers(1, 9))
    return Place(
        start,
        draw(st.integers(start, size)),
        page=draw(st.none() | st.integers(1, 500)),
        box=draw(st.none() | st.tuples(finite, finite, finite, finite)),
        slide=draw(st.none() | st.integers(1, 5)),
        time=draw(st.none() | st.tuples(finite, finite)),
        sheet=draw(maybe_text),
        range=draw(maybe_text),
        anchor=draw(maybe_text),
        lines=None if first is None else (first, first + draw(st.integers(0, 9))),
    )


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    kind = draw(st.sampled_from(list(BlockKind)))
    text = draw(any_text)
    return Block(
        kind,
        text,
        level=draw(st.integers(1, 6)) if kind is BlockKind.HEADING else 0,
        places=tuple(draw(st.lists(places(len(text)), max_size=3))),
        before=draw(maybe_text),
        table=draw(st.none() | st.integers(0, 3)),
        header=draw(st.booleans()),
    )


parsed_values = st.builds(
    Parsed,
    blocks=st.lists(blocks(), max_size=4).map(tuple),
    parser=any_text,
    title=maybe_text,
    media_type=any_text,
    page_labels=st.lists(any_text, max_size=3).map(tuple),
    pages=st.none() | count,
    source_counts=st.builds(Counts, count, count, count, count, count),
    losses=st.lists(st.builds(Loss, any_text, any_text, count), max_size=3).map(tuple),
    metadata=st.dictionaries(any_text, any_text, max_size=3),
    verbatim=st.booleans(),
    tail=any_text,
    empty_reason=maybe_text,
)


@settings(max_examples=40)
@given(parsed_values)
def test_what_is_written_is_read(parsed: Parsed) -> None:
    assert decode_parsed(encode_parsed(parsed)) == parsed


@settings(max_examples=40)
@given(parsed_values, st.data())
def test_damaged_bytes_are_refused_or_read_as_some_parsed(parsed: Parsed, data: st.DataObject) -> None:
    body = bytearray(encode_parsed(parsed))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(BadReply):
        assert isinstance(decode_parsed(body), Parsed)


@given(st.binary(max_size=100))
def test_arbitrary_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(BadReply):
        decode_parsed(body)


def test_types_are_checked_and_sizes_add_up() -> None:
    good = encode_parsed(Parsed((Block(BlockKind.PARAGRAPH, "x", places=(Place(0, 1, page=1),)),), "p", title="tttt"))
    for old, new in (
        (b'"tttt"', b"[    ]"),
        (b'"verbatim": false', b'"verbatim": 0    '),
        (b'"kinds": [1]', b'"kinds": [9]'),
    ):
        assert old in good
        with pytest.raises(BadReply):
            decode_parsed(good.replace(old, new))
    for changed in (good[:-8], good + bytes(8), good[:20]):
        with pytest.raises(BadReply):
            decode_parsed(changed)


# --- what a container holds, and errors

errors_told = st.builds(
    lambda kind, message, hint: kind(message, hint=hint),
    st.sampled_from([ParseError, EncryptedSource, SourceTooLarge, UnsupportedMediaType]),
    any_text,
    any_text,
)
ways = st.lists(any_text.filter(bool), min_size=1, max_size=3).map(tuple)
members = st.builds(Member, ways, any_text.map(sha256_hex)) | st.builds(Member, ways, st.just(""), errors_told)


def plain(error: Exception | None) -> tuple[object, ...] | None:
    assert error is None or isinstance(error, FonteError)
    return None if error is None else (type(error), error.message, error.hint)


@given(st.builds(Contents, st.lists(members, max_size=4).map(tuple), st.booleans(), st.none() | errors_told))
def test_what_a_container_holds_comes_back(contents: Contents) -> None:
    back = decode_contents(encode_contents(contents))
    assert (back.itself, plain(back.error)) == (contents.itself, plain(contents.error))
    assert [(one.inside, one.content_hash, plain(one.error)) for one in back.members] == [
        (one.inside, one.content_hash, plain(one.error)) for one in contents.members
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"members": [], "itself": 1, "error": null}',
        b'{"members": [[[], "", null]], "itself": true, "error": null}',
        b'{"members": [[["a"], "not a hash", null]], "itself": true, "error": null}',
        b'{"members": [[["a"], "", null]], "itself": true, "error": null}',
        b'{"members": [[[7], "", null]], "itself": true, "error": null}',
        b'{"members": [], "itself": true, "error": {"code": 1}}',
        b"[" * 100_000,
    ],
)
def test_nonsense_is_no_container(data: bytes) -> None:
    with pytest.raises(BadReply):
        decode_contents(data)


def test_an_unknown_error_is_a_failure_to_parse() -> None:
    error = decode_error(b'{"code": "os.system", "message": "m", "hint": "", "page": "x"}', "file:///a")
    assert type(error) is ParseError
    assert isinstance(error, ParseError) and (error.uri, error.page) == ("file:///a", None)
    paged = decode_error(encode_error(ParseError("m", page=3)), "u")
    assert isinstance(paged, ParseError) and paged.page == 3
    with pytest.raises(BadReply):
        decode_error(b"{}", "u")
