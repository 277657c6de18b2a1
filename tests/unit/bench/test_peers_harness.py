"""The harness that compares peers, with a stand-in peer: what it measures, and how it tells that something failed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path += [str(BENCH), str(BENCH / "peers")]

import compare  # noqa: E402 - all of these are found by the path above
import page  # noqa: E402
import score  # noqa: E402
from inputs import NEW_MARK, OLD_MARK, keep, put  # noqa: E402
from work import DIMENSIONS, key  # noqa: E402

ROLES = ("staff", "hr", "board", "audit")


def bench(work: Path) -> compare.Bench:
    return compare.Bench(work / "environments", work, ("standin",), "bench/peers/compare.py …", {})


def documents() -> list[dict[str, Any]]:
    made = []
    for number in range(8):
        chunks = [f"pump {number} stands in hall {part}" for part in range(3)]
        role = ROLES[number % 4]
        made.append({"id": f"d{number}", "text": "\n\n".join(chunks), "role": role, "chunks": chunks})
    made[0]["chunks"] = [f"{OLD_MARK} {made[0]['chunks'][0]}", *made[0]["chunks"][1:]]
    return made


def speed_task(work: Path) -> Path:
    first = documents()[0]
    changed = first | {"chunks": [f"{NEW_MARK} here"], "text": f"{NEW_MARK} here"}
    task = {"kind": "speed", "questions": ["which pump"] * 5, "roles": ROLES, "changed": changed, "vectors": ["v.npz"]}
    return put(work / "speed", task | {"old_mark": OLD_MARK, "new_mark": NEW_MARK}, documents())


def test_speed_counts_rights_and_the_update_and_texts_without_vectors_are_made(tmp_path: Path) -> None:
    folder, asked = speed_task(tmp_path), []

    def fill(texts: list[str]) -> None:
        asked.append(texts)
        keep(folder / "v.npz", texts, np.ones((len(texts), DIMENSIONS), np.float32))

    told = bench(tmp_path).done("standin", folder, fill)
    assert len(asked) == 1, "once made, a vector is found again"
    assert {f"query: {OLD_MARK}", "query: which pump", "passage: pump 3 stands in hall 2"} <= set(asked[0])
    assert told["missing"] == 0
    assert (told["documents"], told["chunks"], told["updated"]) == (8, 24, "yes")
    assert told["filter"]["hr"] == {"chunks": 6, "of_those_that_exist": 1.0, "foreign": 0}
    assert told["search_ms_p50"] <= told["search_ms_p95"]
    assert told["peak_mb"] > 10


def test_vectors_are_found_by_their_text_and_added_to(tmp_path: Path) -> None:
    keep(tmp_path / "v.npz", ["query: a"], np.zeros((1, DIMENSIONS)))
    keep(tmp_path / "v.npz", ["passage: a"], np.ones((1, DIMENSIONS)))
    with np.load(tmp_path / "v.npz") as kept:
        assert [bytes(one) for one in kept["keys"]] == [key("query: a"), key("passage: a")]
        assert kept["rows"].sum() == DIMENSIONS


@pytest.mark.parametrize(
    ("name", "text", "end"),
    [("good.txt", "A line.\n", "text"), ("empty.txt", "", "empty success"), ("kills.txt", "", "crash"),
     ("hangs.txt", "", "hang"), ("missing.txt", None, "error")],
)  # fmt: skip
def test_the_end_of_a_damaged_file(tmp_path: Path, name: str, text: str | None, end: str) -> None:
    task = {"kind": "nasty", "files": [name], "limit_mb": 8192, "seconds": 1, "vectors": []}
    folder = put(tmp_path / "nasty", task)
    if text is not None:
        (folder / name).write_text(text, "utf-8")
    code, told = bench(tmp_path).once("standin", folder, 60)
    found, reason = score.ended(code, told)
    assert found == end, reason
    assert str(tmp_path) not in reason


def test_offsets_are_held_against_the_peers_text_and_the_file(tmp_path: Path) -> None:
    folder = put(tmp_path / "offsets", {"kind": "offsets", "files": ["a.txt"], "vectors": []})
    (folder / "a.txt").write_text("One line.\n\nAnother line.\n", "utf-8")
    read = bench(tmp_path).done("standin", folder, None)["files"]
    told = score.offsets(read, folder)
    assert (told["read"], told["chunks"], told["slice"], told["slice_file"]) == (1, 2, 2, 2)
    [first, _] = read["a.txt"]["pieces"]
    first["start"] += 1
    first["lines"] = (1, 1)
    shifted = score.offsets(read, folder)
    assert (shifted["slice"], shifted["slice_file"], shifted["held"]) == (1, 1, 1)
    first["lines"] = (3, 3)
    assert score.offsets(read, folder)["held"] == 0


def test_a_peer_that_cannot_be_run_is_told_and_one_without_environment_is_said(tmp_path: Path) -> None:
    folder = put(tmp_path / "offsets", {"kind": "no such kind", "files": [], "vectors": []})
    assert bench(tmp_path).done("standin", folder, None) == {"failed": "ended with 1"}
    with pytest.raises(SystemExit, match="no environment for txtai"):
        bench(tmp_path).done("txtai", folder, None)


def test_ranks_are_judged_by_documents() -> None:
    results = [["b", None, None, ""], ["b", None, None, ""], ["a", None, None, ""]]
    told = score.judged({"q": results, "p": results}, {"q": {"a": 1}, "p": {"b": 1}})
    assert told == {
        "questions": 2,
        "r@1": 0.5,
        "r@5": 1.0,
        "mrr@10": 0.75,
        "ndcg@10": round((1 + 1 / np.log2(3)) / 2, 4),
    }


def test_characters_are_counted_up_to_the_budget() -> None:
    text = "".join(chr(97 + number % 26) for number in range(6000))
    gold = {"q": [{"doc": "d", "start": 1900, "end": 2100, "text": text[1900:2100]}]}
    by_offsets = score.spans({"q": [["d", 0, 3000, text[:3000]]]}, {"d": text}, gold)
    assert by_offsets["recall_2000"] == 0.5
    assert by_offsets["iou_2000"] == round(100 / 2100, 4)
    assert by_offsets["recall_4000"] == 1.0
    assert by_offsets["results_2000"] == {"results": 1, "by_offsets": 1}
    looked_up = score.spans({"q": [["d", None, None, text[:3000]]]}, {"d": text}, gold)
    assert looked_up["recall_2000"] == 0.5
    lost = score.spans({"q": [["d", None, None, "not in there"], ["d", 0, 3000, text[:3000]]]}, {"d": text}, gold)
    assert lost["results_2000"]["nowhere"] == 1
    assert lost["iou_2000"] == round(88 / (200 + 1988 - 88), 4), "what stands nowhere costs its length"


def test_a_text_is_found_whatever_its_blanks() -> None:
    assert score.located("a  b\nc", "a b c") == (0, 6)
    assert score.located("a b", "b a") is None


def test_refusals() -> None:
    asked = [{"id": "a", "answerable": True}, {"id": "b", "answerable": False}, {"id": "c", "answerable": False}]
    told = score.refused({"a": True, "b": False, "c": True}, asked)
    assert told == {"answerable": 1, "answered": 1.0, "unanswerable": 2, "refused": 0.5}
    assert score.refused(None, asked) == "none"


def test_the_page_marks_the_best_and_names_what_is_lost(tmp_path: Path) -> None:
    noise = {"load_1_5_15_minutes": [1.0], "processor_slowdown": 1.1, "when": "2026-01-01 00:00"}

    def one(milliseconds: float, filters: object) -> dict[str, Any]:
        told = {f"{name}_seconds": 1.0 for name in ("ingest", "settle", "update", "first_search")}
        told |= {"search_ms_p50": milliseconds, "search_ms_p95": 9.0, "search_processor_ms_p50": 1.0}
        told |= {"peak_mb": 100, "mb_before": 40, "old_found_before": True, "updated": "yes", "filter": filters}
        return told | {"versions": {"python": "3"}, "options": "defaults"}

    rights = {role: {"of_those_that_exist": 1.0, "foreign": 0} for role in ROLES}
    peers = {
        "fonte": one(5.0, rights),
        "txtai": one(4.0, rights),
        "paperqa": one(6.0, "no: none"),
        "haiku": {"failed": "x"},
    }
    figures = {"command": "run speed", "before": noise, "after": noise, "chunks": 1000, "peers": peers}
    (tmp_path / "peers-speed-1000.json").write_text(json.dumps(figures), "utf-8")
    assert page.main(["--results", str(tmp_path), "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text("utf-8")
    assert "| 1,000 chunks: hybrid search p50, ms | 5.0 | no: x | **4.0** | 6.0 | a |" in text
    assert "| a | `run speed` | 2026-01-01 00:00 | 1.0, 1.0 | 1.1, 1.1 |" in text
    assert "- 1,000 chunks: hybrid search p50, ms (txtai)" in text
    assert "- 1,000 chunks: hybrid search p95" not in text
    assert "10,000 chunks" not in text, "what was not measured is not told"
