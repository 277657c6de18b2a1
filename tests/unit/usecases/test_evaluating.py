"""A golden set over an index: figures, answers, rights, what is absent, tenants, the fingerprint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluating_making import GOLDEN, WORDS, golden, synced
from fonte.corpus import OpenCorpus
from fonte.errors import InputError, NotFound
from fonte.evaluating import (
    Tenants,
    Wanted,
    curves_of,
    evaluate,
    fingerprint_of,
    measured,
    measures_for,
    tenants_of,
)
from fonte.types import Answered, Principal

MEASURES = ("needle@5", "recall@5", "mrr@10")


def silent(what: str, done: int, total: int | None) -> None:
    del what, done, total


def tenants(corpus: OpenCorpus, set_: Any) -> Tenants:
    return tenants_of(set_, lambda tenant: corpus.asker(Principal(tenant), k=None, mode=None, max_distance=None))


def test_every_query_is_asked_by_its_own_asker_and_counts(home: Path, tmp_path: Path) -> None:
    corpus, asked = synced(home), golden(tmp_path)
    seen: list[tuple[str, int, int | None]] = []
    found = evaluate(asked, tenants(corpus, asked), Wanted(MEASURES, gate=True), lambda *one: seen.append(one))
    assert seen[-1] == ("asking", 6, 6)
    summary = found.scores.summary()
    assert {name: one.n for name, one in summary.items()} == dict.fromkeys(MEASURES, 4)
    assert summary["needle@5"].value == 1.0
    assert found.scores.excluded["needle@5"] == {"unanswerable": 2}
    assert found.scores.unauthorized_hits == 0
    assert all(one.document != "alarm.md" for one in found.observed["code-stranger", 0].retrieved)
    # The gate is open: what cannot be answered is attempted.
    assert (found.rates["bluff_rate"].value, found.rates["bluff_rate"].n) == (1.0, 2)
    assert "answer_correctness" not in found.rates
    assert found.layers | {"rerank": "on"} == found.layers
    assert (found.layers["support"], found.layers["decomposition"]) == ("not_measured", "on")
    assert (found.layers["gate"], found.layers["answers"]) == ("uncalibrated", "not_measured")
    facts = found.facts
    assert (facts.documents, facts.lost.needles, facts.lost.questions) == (4, 4 - 1, ())
    assert facts.timings is not None
    assert facts.timings.n == 6
    assert corpus.documents() is not None
    curves = curves_of(found, tenants(corpus, asked), 3)
    assert {name: sorted(points) for name, points in curves.items()} == {"recall": [1, 2, 3], "needle": [1, 2, 3]}
    assert curves["recall"][3].value >= curves["recall"][1].value


def test_answers_are_judged_by_what_they_say_and_cite(home: Path, tmp_path: Path) -> None:
    corpus, asked = synced(home), golden(tmp_path)
    parts = corpus._parts
    wanted = Wanted(MEASURES, generator=parts.make_generator(None, parts.scorer))
    found = evaluate(asked, tenants(corpus, asked), wanted, silent)
    rates = found.rates
    assert rates["answer_correctness"].n == rates["answer_needle"].n == rates["citation_recall"].n == 4
    facts = {"key": "room 12", "leave": "27", "code": "4711"}
    told = [(query, one.answer) for query, one in found.observed.items() if query[0] in facts]
    right = [isinstance(answer, Answered) and facts[query[0]] in answer.text for query, answer in told]
    assert 0 < rates["answer_correctness"].value == sum(right) / 4
    documents = {"key": "keys.md", "leave": "leave.md", "code": "alarm.md"}
    cited = [
        documents[query[0]] in {one.document_name for one in answer.citations}
        for query, answer in told
        if isinstance(answer, Answered)
    ]
    assert 0 < rates["citation_recall"].value == sum(cited) / 4
    assert 0 < rates["citation_precision"].value <= 1
    assert (rates["leakage"].value, rates["leakage"].n) == (0.0, 2)
    assert found.layers["answers"] == "extractive"
    # Nothing of all that was kept as an answer.
    catalog = corpus._stores["default"].catalog
    shown = [one.answer.answer_id for one in found.observed.values() if one.answer is not None]
    assert len(set(shown)) == 6
    for one in shown:
        with pytest.raises(NotFound):
            catalog.answer(one, Principal())


class Careless:
    """A reader that searches as somebody who holds every role, as if a filter had been forgotten."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def _open(self, query: Any) -> Any:
        return replace(query, principal=Principal(query.principal.tenant, None, {"guards"}))

    def bm25(self, terms: Any, query: Any, **more: Any) -> Any:
        return self._reader.bm25(terms, self._open(query), **more)

    def dense(self, vector: Any, query: Any, **more: Any) -> Any:
        return self._reader.dense(vector, self._open(query), **more)

    def chunks(self, chunk_ids: Any, principal: Any, **more: Any) -> Any:
        return self._reader.chunks(chunk_ids, Principal(principal.tenant, None, {"guards"}), **more)


class Forgetful:
    """A catalog that says yes to everybody where text leaves it."""

    def __init__(self, catalog: Any) -> None:
        self._catalog = catalog

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)

    def may_read(self, document_id: str, principal: Any) -> bool:
        del document_id, principal
        return True


def test_unauthorized_hits_rise_when_the_filters_are_off(home: Path, tmp_path: Path) -> None:
    corpus, asked = synced(home), golden(tmp_path)
    asker = corpus.asker(Principal(), k=None, mode=None, max_distance=None)
    assert asker is not None
    broken: Any = replace(asker, reader=Careless(asker.reader), catalog=Forgetful(asker.catalog))
    found = evaluate(asked, {"default": measured(broken)}, Wanted(MEASURES), silent)
    # Every asker but the guard now sees the guards' document.
    assert found.scores.unauthorized_hits == 5
    assert evaluate(asked, {"default": measured(asker)}, Wanted(MEASURES), silent).scores.unauthorized_hits == 0


def test_what_the_set_asks_about_and_is_not_there_counts_as_not_found(home: Path, tmp_path: Path) -> None:
    corpus = synced(home, {name: one for name, one in WORDS.items() if name != "leave.md"})
    asked = golden(tmp_path)
    found = evaluate(asked, tenants(corpus, asked), Wanted(MEASURES), silent)
    assert [fault.code for fault in found.faults][:1] == ["no_document"]
    # Nobody may read what is not there, so that no recall is defined for it: it is told, and not averaged away.
    assert found.scores.excluded["recall@5"] == {"unauthorized": 1, "unanswerable": 2}
    with pytest.raises(InputError, match="none of the 3 documents"):
        other = golden(tmp_path, GOLDEN.replace(".md,", ".txt,"))
        evaluate(other, tenants(corpus, other), Wanted(MEASURES), silent)
    with pytest.raises(NotFound):
        tenants(corpus, golden(tmp_path, GOLDEN.replace("    segment:", "    tenant: nobody\n    segment:")))


def test_tenants_are_measured_on_their_own_documents(home: Path, tmp_path: Path) -> None:
    corpus = synced(home)
    corpus.sync("memory://shelf", tenant="other")
    text = GOLDEN.replace("  - id: leave\n", "  - id: leave\n    tenant: other\n")
    asked = golden(tmp_path, text)
    found = evaluate(asked, tenants(corpus, asked), Wanted(MEASURES), silent)
    assert set(found.generations) == {"default", "other"}
    assert found.scores.summary()["needle@5"].value == 1.0
    assert (found.facts.documents, found.facts.lost.needles) == (8, 3)
    assert "tenant:other" in found.scores.by_facet()


def test_the_fingerprint_follows_the_set_and_its_documents_only(home: Path, tmp_path: Path) -> None:
    corpus, asked = synced(home / "one"), golden(tmp_path)
    first = fingerprint_of(asked, tenants(corpus, asked))
    more = {**WORDS, "new.md": ("# New\n\nNothing.\n", frozenset({"public"}))}
    grown = synced(home / "two", more)
    assert fingerprint_of(asked, tenants(grown, asked)) == first
    changed = {**WORDS, "keys.md": ("# Keys\n\nIt hangs behind the door of room 12!\n", frozenset({"public"}))}
    assert fingerprint_of(asked, tenants(synced(home / "three", changed), asked)) != first


def test_measures_for_short_and_long_lists() -> None:
    assert measures_for(1) == ("needle@1", "recall@1", "hit@1", "precision@1", "mrr@1", "ndcg@1")
    assert {"needle@5", "needle@20", "recall@20", "ndcg@20"} <= set(measures_for(20))
    assert Wanted(measures_for(20)).depth == 20
