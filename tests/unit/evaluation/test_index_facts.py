from __future__ import annotations

import os
from pathlib import Path

import pytest

from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.index_facts import bytes_under, index_facts, timings
from fonte.evaluation.measures import Needle
from fonte.types import Chunk

TEXT = "The answer is forty-two, as all the world knows by now."
GOLDEN = GoldenSet("g", (Question("q", ("w",), needles=(Needle("a", TEXT[4:23], 4, 23),), relevance={"a": 1}),))


def chunks(*cuts: int, tokens: int = 20) -> list[Chunk]:
    ends = (*cuts[1:], len(TEXT))
    return [
        Chunk(f"c{start}", "d", index, start, end, TEXT[start:end], tokens=tokens, header_tokens=5)
        for index, (start, end) in enumerate(zip(cuts, ends, strict=True))
    ]


def test_costs_and_losses_stand_side_by_side() -> None:
    facts = index_facts(GOLDEN, {"a": chunks(0, 10), "b": []}, 16, size_bytes=7, query_ms=[3.0, 1.0, 2.0])
    told = facts.as_json()
    assert told["destroyed"] == {"n": 1, "queries": ["q"]}
    assert told["destroyed_needles"] == {"split": 1, "beyond_window": 0, "n": 1}
    assert (told["truncated_chunks"], told["header_tokens"], told["header_share"]) == (2, 10, 0.25)
    assert (told["documents"], told["chunks"], told["size_bytes"]) == (2, 2, 7)
    assert told["timings_ms"] == {"p50": 2.0, "p95": 3.0}


def test_what_was_not_measured_is_none_and_not_nought() -> None:
    told = index_facts(GOLDEN, {"a": chunks(0)}, 32).as_json()
    assert [told[key] for key in ("size_bytes", "build_seconds", "embedded_texts", "timings_ms")] == [None] * 4
    assert told["destroyed"] == {"n": 0, "queries": []}


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(1, 101)]
    assert (timings(values).p50, timings(values).p95, timings(values).n) == (50.0, 95.0, 100)
    assert timings([4.0]).p95 == 4.0
    with pytest.raises(ValueError, match="timed"):
        timings([])


def test_bytes_below_a_folder_count_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"12345")
    os.link(tmp_path / "in" / "a", tmp_path / "b")
    (tmp_path / "c").write_bytes(b"12")
    assert bytes_under(tmp_path) == 7
    assert bytes_under(tmp_path / "absent") == 0
