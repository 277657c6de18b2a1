"""Drafts of a model that cannot stop: read in little time, whatever it repeats, and without a sentence of it lost."""

from __future__ import annotations

import time

import pytest

from fonte.text.drafts import DraftReader

CHARACTERS = 4000
FLOODS = [
    "\n", " ", "\n ", "\n\n- ", ". ", ". . ", "...", "!? ", "[", "]", "[1]", " [1]", "\n[1]", "[[", "![", "[a](", "](",
    "<a ", "<script>", "<!--", "**", "__", "`", "```\n", "# ", "- ", "| ", "\t", "\u200b", "\r", "[SOURCE 1 | ",
    "Sources:\n", "[/SOURCE 1]\n", "http://", "www.a ", "(", '"', "1.", "1, ", "-", "【", "😀", "a\u0301",
]  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_is_read_in_little_time(flood: str) -> None:
    reader = DraftReader("en")
    began = time.process_time()
    said = reader.feed("The pump runs at 40 bar [1]. It is old [2].")
    said += reader.feed(flood * (CHARACTERS // len(flood)))
    said += reader.end()
    assert time.process_time() - began < 3
    assert said[0].text == "The pump runs at 40 bar."


def test_what_follows_a_flood_is_read_as_ever() -> None:
    reader = DraftReader("en")
    said = reader.feed("It runs. [1]" + "\n \n" * 2000 + "[2]\n" + "\n" * 2000)
    said += reader.feed("It is old. . . . . [3]\n\n\nIt stops.")
    said += reader.end()
    assert [one.text for one in said] == ["It runs.", "It is old.", "It stops."]
    assert said[0].markers == (1, 2)
    assert said[2].markers == ()
