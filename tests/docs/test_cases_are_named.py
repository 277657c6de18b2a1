"""Every case of the collection of mistakes of other systems has a test that is named after its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SECTIONS = {
    "A, places and citations": range(1, 27),
    "B, stale answers, duplicates, deletes, updates": range(27, 46),
    "C, thresholds and refusal": range(46, 58),
    "D, retrieval, filters, languages, limits": range(58, 76),
    "E, parsing and chunking": range(76, 94),
    "F, models, access, concurrency, injection": range(94, 102),
}
_TESTS = re.compile(r"^ *def (test_\w+)", re.MULTILINE)
_NAMED = re.compile(r"_cases?_((?:\d+_(?:and_)?)+)")


def numbers(text: str) -> list[int]:
    """Every case that a test of this file is named after."""
    found = (several for name in _TESTS.findall(text) for several in _NAMED.findall(name))
    return [int(one) for several in found for one in re.findall(r"\d+", several)]


@pytest.fixture(scope="module")
def named() -> set[int]:
    found: set[int] = set()
    for path in TESTS.rglob("test_*.py"):
        found.update(numbers(path.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("section", SECTIONS)
def test_every_case_has_a_test_of_its_name(named: set[int], section: str) -> None:
    assert sorted(set(SECTIONS[section]) - named) == []


def test_names_are_read_with_one_number_or_several() -> None:
    text = "def test_case_9_a_fact():\n    def test_case_34_and_35_copies():\ndef test_case_48_49_no_and_case_7_x():\n"
    assert numbers(text + "# def test_case_8_no\ncase_10_\n") == [9, 34, 35, 48, 49, 7]
