"""The life of an index: what a rollback holds, what is kept and what is removed, over the fake encoder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "usecases"))

from command import fonte
from evaluating_making import Quick
from fonte import wiring
from fonte.types import Principal


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Quick:
    made = Quick()
    monkeypatch.setattr("fonte.wiring.make_parts", made)
    return made


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for number in range(6):
        (made / f"room{number}.md").write_text(f"# Room {number}\n\nThe key of room {number} is number {number}.\n")
    return made


@pytest.mark.parametrize("answer", ["sync", "publish"])
def test_after_a_rollback_a_standing_job_publishes_nothing_until_a_person_does(
    home: Path, docs: Path, answer: str
) -> None:
    first = fonte(home, "sync", str(docs)).json["generation"]
    (docs / "room0.md").write_text("# Room 0\n\nThe key of room 0 was lost.\n")
    second = fonte(home, "sync", str(docs)).json["generation"]
    assert fonte(home, "status").json["held"] is None
    rolled = fonte(home, "rollback")
    assert rolled.json == {"generation": first, "previous": second}
    assert "watches and schedules publish nothing" in rolled.err
    assert fonte(home, "status").json["held"]["left"] == second
    assert f"left {second}" in fonte(home, "status", json_mode=False).out
    with wiring.Corpus.open(home) as corpus:
        held = corpus.sync(str(docs), standing=True)
        assert (held.published, held.generation, held.embedded_texts) == (False, first, 0)
        assert held.held_back is not None
        assert f"left {second}" in held.held_back[0]
        assert [one.id for one in corpus.generations()[1]] == [first, second], "nothing was built either"
        assert corpus.resync(standing=True).held_back == held.held_back
        corpus.sync(str(docs), publish=False)
        assert corpus.status().held is not None, "a candidate that is not to be published answers nothing"
    if answer == "sync":
        assert fonte(home, "sync", str(docs)).json["published"] is True
    else:
        assert fonte(home, "publish", second).status == 0
    assert fonte(home, "status").json["held"] is None
    (docs / "room0.md").write_text("# Room 0\n\nThe key of room 0 was found.\n")
    with wiring.Corpus.open(home) as corpus:
        assert corpus.sync(str(docs), standing=True).published is True
        assert "found" in corpus.search("key found", principal=Principal()).results[0].content


def test_a_sync_of_what_is_unchanged_answers_a_rollback_too(home: Path, docs: Path) -> None:
    fonte(home, "sync", str(docs))
    before = (docs / "room0.md").read_text()
    (docs / "room0.md").write_text("# Room 0\n\nThe key of room 0 was lost.\n")
    fonte(home, "sync", str(docs))
    fonte(home, "rollback")
    (docs / "room0.md").write_text(before)
    assert fonte(home, "sync", str(docs)).json["published"] is True
    assert fonte(home, "status").json["held"] is None
