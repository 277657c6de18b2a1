"""Documents as bytes and back."""

from __future__ import annotations

import math
import zlib

import pytest
from contract.store_making import document
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.errors import CorruptIndex
from fonte.stores import columns
from fonte.stores.codec import Places, decode, encode
from fonte.types import Acl, Place

floats = st.floats(allow_nan=False)
decimals = st.integers(-(10**7), 10**7).map(lambda one: one / 100)
numbers = st.integers(-(2**60), 2**60)


@given(st.lists(numbers))
def test_integers_come_back(values: list[int]) -> None:
    assert columns.get_integers(columns.put_integers(values)).tolist() == values


@given(st.one_of(st.lists(floats), st.lists(decimals)))
def test_floats_come_back_to_the_last_bit(values: list[float]) -> None:
    back = columns.get_floats(columns.put_floats(values)).tolist()
    assert back == values
    assert [math.copysign(1, one) for one in back] == [math.copysign(1, one) for one in values]


def test_short_decimals_take_less_than_floats() -> None:
    values = [at * 1.37 % 600 for at in range(2000)]
    assert len(columns.put_floats([round(one, 2) for one in values])) < 0.51 * len(columns.put_floats(values))


@given(st.lists(st.none() | st.text(max_size=3)))
def test_names_come_back(values: list[str | None]) -> None:
    column = columns.Choices.of(columns.put_choices(values), len(values))
    assert [column.at(row) for row in range(len(values))] == values


@given(st.lists(st.none() | numbers))
def test_optional_values_come_back(values: list[int | None]) -> None:
    column = columns.Column.integers(columns.put_optional(values, columns.put_integers), len(values))
    assert column.tolist() == values
    assert [column.at(row) for row in range(len(values))] == values


@given(st.lists(st.binary(max_size=9)))
def test_packed_parts_come_back(parts: list[bytes]) -> None:
    assert columns.unpack(columns.pack(parts)) == parts


pairs = st.tuples(decimals, decimals)
places = st.lists(
    st.builds(
        lambda start, size, more: Place(start, start + size, **more),
        st.integers(0, 400),
        st.integers(0, 100),
        st.fixed_dictionaries(
            {},
            optional={
                "page": st.integers(1, 900),
                "box": st.tuples(floats, decimals, decimals, decimals),
                "slide": st.integers(1, 9),
                "time": pairs,
                "sheet": st.text(max_size=4),
                "range": st.sampled_from(["A1", "B2:C3"]),
                "anchor": st.text(max_size=4),
                "lines": st.tuples(st.integers(1, 9), st.integers(1, 99)),
            },
        ),
    ),
    max_size=12,
)


@given(places)
@settings(max_examples=60)
def test_any_places_come_back(given_places: list[Place]) -> None:
    _, one = document("d1", text="x" * 500, places=tuple(given_places))
    back = decode(encode(one), one.acl)
    assert back == one
    assert isinstance(back.places, Places)
    assert list(back.places) == given_places
    assert back.places[1:] == tuple(given_places[1:])
    assert back.places[::-1] == tuple(given_places[::-1])
    assert bool(back.places) == bool(given_places)


def test_places_answer_like_a_tuple() -> None:
    _, one = document("d1", places=(Place(0, 1, page=1), Place(1, 2, page=2)))
    back = decode(encode(one), one.acl).places
    assert (back[-1], len(back), one.places[1] in back, back.index(one.places[1])) == (one.places[1], 2, True, 1)
    assert back != one.places[:1]
    assert back != 3
    for beyond in (2, -3):
        with pytest.raises(IndexError):
            back[beyond]


def test_rights_are_no_part_of_a_text() -> None:
    _, one = document("d1", ["hr"])
    assert decode(encode(one), Acl()).acl == Acl()
    assert encode(document("d1", ["hr"])[1]) == encode(document("d1", ["staff"])[1])


@pytest.mark.parametrize("cut", [0, 1, 7, 50])
def test_cut_bytes_are_damage(cut: int) -> None:
    body = encode(document("d1")[1])
    for broken in (body[:-1], body[: len(body) // 2 + cut], body[cut + 1 :]):
        with pytest.raises(CorruptIndex):
            decode(broken, Acl())


def parts(body: bytes) -> list[list[bytes]]:
    return [columns.unpack(zlib.decompress(part)) for part in columns.unpack(body)]


def whole(words: list[bytes], tables: list[bytes]) -> bytes:
    return columns.pack([zlib.compress(columns.pack(words)), zlib.compress(columns.pack(tables))])


def test_a_text_under_another_texts_hash_is_damage() -> None:
    (head, _), tables = parts(encode(document("d1")[1]))
    with pytest.raises(CorruptIndex, match="hash"):
        decode(whole([head, b"Ciao mond0."], tables), Acl())


def test_a_place_outside_its_text_is_damage() -> None:
    _, long = document("d1", text="x" * 50, places=(Place(40, 50),))
    _, short = document("d1", text="x" * 10, places=(Place(0, 1),))
    words, (spans, *_) = parts(encode(short))
    with pytest.raises(CorruptIndex, match="outside"):
        decode(whole(words, [spans, parts(encode(long))[1][1]]), Acl())
