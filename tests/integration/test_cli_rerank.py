"""Reranking through the command line: on by default where the model has token vectors, never in vain."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import fonte
from fonte.models.cards import E5_SMALL

MINILM = '[embedding]\nsource = "package:all-MiniLM-L6-v2"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "leave.md").write_text("# Leave\n\nStaff get 26 days of annual leave a year.\n", encoding="utf-8")
    (made / "pumps.md").write_text("# Pumps\n\nThe pump P-11 runs at 40 bar.\n", encoding="utf-8")
    return made


def test_search_is_reranked_and_says_how_every_passage_came_to_its_place(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    fonte(home, "sync", str(folder))
    found = fonte(home, "search", "how many days of leave?").json
    assert found["results"][0]["document_name"] == "leave.md"
    scores = [one["scores"]["rerank"] for one in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert found["timings_ms"]["rerank"] > 0
    plain = fonte(home, "search", "how many days of leave?", "--no-rerank").json
    assert [one["scores"]["rerank"] for one in plain["results"]] == [None, None]
    assert "rerank" not in plain["timings_ms"]
    assert {one["chunk_id"] for one in plain["results"]} == {one["chunk_id"] for one in found["results"]}
    spoken = fonte(home, "search", "how many days of leave?", json_mode=False)
    assert ", rerank 0." in spoken.out
    assert fonte(home, "status").json["token_codec"] == E5_SMALL.codec
    assert "with token vectors" in fonte(home, "status", json_mode=False).out
    stamps = [one["stamp"]["codec"] for one in fonte(home, "documents").json["documents"]]
    assert stamps == [E5_SMALL.codec] * 2
    told = {one["name"]: one["detail"] for one in fonte(home, "doctor").json["checks"]}
    assert "results reranked" in told["embedding"]


def test_a_model_without_token_vectors_says_so_when_asked(folder: Path, tmp_path: Path) -> None:
    home, config = tmp_path / "home", tmp_path / "minilm.toml"
    config.write_text(MINILM, encoding="utf-8")
    fonte(home, "sync", str(folder), "--config", str(config))
    found = fonte(home, "search", "days of leave", "--config", str(config))
    assert (found.status, found.json["results"][0]["scores"]["rerank"]) == (0, None)
    refused = fonte(home, "search", "days of leave", "--rerank", "--config", str(config))
    assert (refused.status, refused.json["error"]["code"]) == (2, "config")
    assert "all-MiniLM-L6-v2 has no token vectors" in refused.json["error"]["message"]
    assert fonte(home, "status", "--config", str(config)).json["token_codec"] is None
    assert "without token vectors" in fonte(home, "status", "--config", str(config), json_mode=False).out
    told = {one["name"]: one["detail"] for one in fonte(home, "doctor", "--config", str(config)).json["checks"]}
    assert "results not reranked" in told["embedding"]


def test_an_empty_result_says_who_asked_where_nobody_was_named(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    fonte(home, "sync", str(folder), "--allow", "staff")
    question = "how many days of leave?"
    for command in ("ask", "search"):
        nobody = fonte(home, command, question, json_mode=False)
        assert "--roles and --user say who asks" in nobody.err
        assert "--roles" not in fonte(home, command, question, "--roles", "guests", json_mode=False).err
        assert "--roles" not in fonte(home, command, question, "--roles", "staff", json_mode=False).err
