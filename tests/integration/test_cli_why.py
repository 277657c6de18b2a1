"""why through the command line, with the default model and parsers in child processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import fonte
from fonte.why import LAYERS

QUESTION = "How many days of annual leave do staff get?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder, board = tmp_path / "docs", tmp_path / "board"
    for made in (folder, board):
        made.mkdir()
    (folder / "leave.md").write_text("# Leave\n\nStaff get 26 days of annual leave a year.\n", encoding="utf-8")
    (folder / "pumps.html").write_text("<h1>Pumps</h1><p>P-11.</p><!-- It runs at 40 bar. -->", encoding="utf-8")
    (board / "merger.md").write_text("The merger costs 40 million euro.\n", encoding="utf-8")
    fonte(tmp_path / "home", "sync", str(folder))
    fonte(tmp_path / "home", "sync", str(board), "--allow", "board")
    return tmp_path / "home"


def test_what_was_found_is_followed_to_its_citation(home: Path) -> None:
    ran = fonte(home, "why", QUESTION, "--expect", "26 days of annual leave")
    assert ran.status == 0
    assert ran.json["lost_at"] is None
    assert [one["layer"] for one in ran.json["layers"]] == list(LAYERS)
    by_layer = {one["layer"]: one for one in ran.json["layers"]}
    assert all(one["present"] for one in by_layer.values())
    assert by_layer["dense"]["rank"] == by_layer["rerank"]["rank"] == 1
    assert by_layer["citation"]["detail"] == "cited as [1]"
    spoken = fonte(home, "why", QUESTION, "--expect", "26 days", json_mode=False).out
    assert spoken.splitlines()[0].split() == ["LAYER", "THERE", "RANK", "SCORE", "DETAIL"]
    assert "not lost: it stands in the answer and is cited" in spoken


def test_what_the_parser_left_out_is_told_with_what_to_do(home: Path) -> None:
    spoken = fonte(home, "why", "How high is the pressure?", "--expect", "It runs at 40 bar", json_mode=False).out
    assert "lost at: parse: it stands in the bytes of pumps.html and the parser did not read it" in spoken
    assert "what to do: put it into the text of pumps.html" in spoken


def test_an_asker_is_told_of_a_forbidden_document_what_an_absent_one_gives(home: Path, tmp_path: Path) -> None:
    asked = ("why", "What does the merger cost?", "--expect", "40 million euro")
    other = tmp_path / "other"
    fonte(other, "sync", str(tmp_path / "docs"))
    for json_mode in (True, False):
        forbidden, absent = (fonte(one, *asked, json_mode=json_mode) for one in (home, other))
        assert (forbidden.status, forbidden.out, forbidden.err) == (absent.status, absent.out, absent.err)
    told = fonte(home, *asked, "--admin").json
    assert told["lost_at"] == "access"
    assert "merger.md may be read by board" in told["reason"]
    assert fonte(home, *asked, "--roles", "board").json["lost_at"] is None


def test_what_would_have_found_it_really_does(home: Path) -> None:
    asked = ("why", "vacation allowance", "--expect", "26 days of annual leave", "--mode", "bm25")
    lost = fonte(home, *asked).json
    assert (lost["lost_at"], lost["counterfactual"]["change"]) == ("bm25", "--mode hybrid")
    again = fonte(home, *asked[:-1], "hybrid").json
    assert {one["layer"]: one["present"] for one in again["layers"]}["fusion"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["why", "x"], "usage"),
        (["why", "x", "--expect", "?"], "invalid_query"),
        (["why", " ", "--expect", "26"], "invalid_query"),
        (["why", "x", "--expect", "leave.md#char=5,5"], "invalid_query"),
        (["why", "x", "--expect", "26", "--tenant", "acme"], "not_found"),
    ],
)
def test_wrong_use_is_an_error_with_its_code(home: Path, arguments: list[str], code: str) -> None:
    ran = fonte(home, *arguments)
    assert ran.status != 0
    assert ran.json["error"]["code"] == code
