from __future__ import annotations

import pytest

from fonte.evaluation.destroyed import destroyed, truncated
from fonte.evaluation.golden import GoldenSet, Question, anchored
from fonte.evaluation.measures import Needle
from fonte.types import Chunk

TEXT = "x" * 500 + " The answer is forty-two. " + "y" * 500
GOLDEN, _ = anchored(
    GoldenSet("g", (Question("q1", ("w",), needles=(Needle("a", "answer is forty-two"),), relevance={"a": 1}),)),
    {"a": TEXT},
)


def blind(size: int, overlap: int, tokens: int = 10) -> list[Chunk]:
    starts = range(0, len(TEXT) - overlap, size - overlap)
    ranges = [(start, min(start + size, len(TEXT))) for start in starts]
    return [
        Chunk(f"c{i}", "d", i, start, end, TEXT[start:end], tokens=tokens, header_tokens=2)
        for i, (start, end) in enumerate(ranges)
    ]


def test_blind_cutting_destroys_a_needle_on_the_border_and_overlap_saves_it() -> None:
    cut = destroyed(GOLDEN, {"a": blind(512, 0)})
    assert cut.questions == ("q1",)
    assert [needle.text for _, needle in cut.split] == ["answer is forty-two"]
    saved = destroyed(GOLDEN, {"a": blind(512, 64)})
    assert (saved.split, saved.beyond_window, saved.needles) == ((), (), 1)


def test_a_needle_only_in_chunks_longer_than_the_window_is_lost_too() -> None:
    report = destroyed(GOLDEN, {"a": blind(512, 64, tokens=300)}, window=256)
    assert report.questions == ("q1",)
    assert (report.split, len(report.beyond_window)) == ((), 1)
    assert report.truncated_chunks == report.chunks == len(blind(512, 64))
    assert (report.header_tokens, report.tokens) == (2 * report.chunks, 300 * report.chunks)


def test_a_document_without_chunks_entry_is_an_error_not_a_destroyed_needle() -> None:
    with pytest.raises(ValueError, match="no chunks of a"):
        destroyed(GOLDEN, {})


def test_a_document_with_no_chunks_destroys_its_needles() -> None:
    assert destroyed(GOLDEN, {"a": []}).questions == ("q1",)


def test_truncated_counts_chunks_above_the_window_only() -> None:
    chunks = [Chunk("c", "d", 0, 0, 1, "x", tokens=tokens) for tokens in (255, 256, 257)]
    assert truncated(chunks, 256) == 1
