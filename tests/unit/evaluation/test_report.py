from __future__ import annotations

import json
from pathlib import Path

from fonte.evaluation.answers import answer_rates
from fonte.evaluation.experiments import Configuration, Experiment, judge
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.index_facts import by_document, index_facts
from fonte.evaluation.measures import Needle, Outcome, Retrieved
from fonte.evaluation.report import compare_json, eval_json, judged_json
from fonte.evaluation.scoring import Scores, compare_scores, score
from fonte.types import Chunk, StoredChunk

TEXT = "The answer is forty-two."
GOLDEN = GoldenSet(
    "g",
    (
        Question("q", ("w", "v"), needles=(Needle("a", TEXT, 0, 24),), relevance={"a": 1}, segment="x"),
        Question("n", ("w",), answerable=False, segment="y"),
    ),
)


def scores(*found: str) -> Scores:
    rows = [Retrieved(name, 0, 24, TEXT) for name in found]
    return score(GOLDEN, {("q", 0): rows, ("q", 1): rows}, ["recall@5", "needle@5"])


def test_the_document_of_eval_is_the_contracts() -> None:
    chunk = Chunk("c", "d", 0, 0, 24, TEXT, tokens=9, header_tokens=2)
    facts = index_facts(GOLDEN, {"a": [chunk]}, 256, query_ms=[1.0])
    outcomes = {
        ("q", 0): Outcome(True, True, True),
        ("q", 1): Outcome(True, True, True),
        ("n", 0): Outcome(False, True, True),
    }
    told = eval_json(
        GOLDEN, scores("a"), rates=answer_rates(GOLDEN, outcomes), facts=facts, generation="g1", recipe="r"
    )
    assert {
        "golden", "generation", "recipe", "measures", "segments", "destroyed", "truncated_chunks", "header_tokens",
        "unauthorized_hits", "timings_ms",
    } <= told.keys()  # fmt: skip
    assert told["golden"] == {"name": "g", "fingerprint": GOLDEN.fingerprint, "queries": 3, "answerable": 2}
    again = json.loads(json.dumps(told))
    assert again["measures"]["recall@5"] == {"value": 1.0, "low": 0.34238, "high": 1.0, "n": 2}
    assert again["measures"]["bluff_rate"]["value"] == 1.0
    assert list(again["segments"]) == ["segment:x"]
    assert again["excluded"]["needle@5"] == {"unanswerable": 1}
    assert again["destroyed"] == {"n": 0, "queries": []}
    bare = eval_json(GOLDEN, scores("a"))
    assert (bare["destroyed"], bare["timings_ms"], bare["generation"]) == (None, None, None)


def test_the_document_of_compare_is_the_contracts() -> None:
    told = json.loads(json.dumps(compare_json("a.toml", "b.toml", compare_scores(scores("b"), scores("a")))))
    assert (told["a"], told["b"]) == ("a.toml", "b.toml")
    one = told["measures"]["recall@5"]
    assert {"a", "b", "difference", "low", "high", "wins", "losses", "p", "verdict", "detectable"} <= one.keys()
    assert (one["a"], one["b"], one["wins"], one["losses"], one["verdict"]) == (0.0, 1.0, 2, 0, "cannot_tell")
    assert one["detectable"] is None


def test_the_document_of_an_experiment_tells_what_differs() -> None:
    experiment = Experiment(
        "e",
        Path("g.yaml"),
        "chunking.size",
        (Configuration("A", {"chunking.size": 1}), Configuration("B", {"chunking.size": 2})),
        (("A", "B"),),
        ("recall@5",),
    )
    told = json.loads(json.dumps(judged_json(judge(experiment, {"A": scores("b"), "B": scores("a")}, {}))))
    assert [one["name"] for one in told["configurations"]] == ["A", "B"]
    assert told["configurations"][0]["facts"] is None
    assert told["comparisons"][0]["differences"] == {"chunking.size": {"a": 1, "b": 2}}


def test_chunks_are_sorted_into_their_documents() -> None:
    stored = [
        StoredChunk(
            Chunk(f"c{index}", "d", index, 0, 24, TEXT),
            document_name=name,
            source_uri="u",
            source_version="v",
            title="t",
            roles=frozenset({"public"}),
            media_type="text/markdown",
        )
        for index, name in ((1, "a"), (0, "a"), (0, "b"))
    ]
    found = by_document(stored, ["a", "empty"])
    assert {name: [chunk.index for chunk in chunks] for name, chunks in found.items()} == {
        "a": [0, 1],
        "b": [0],
        "empty": [],
    }
