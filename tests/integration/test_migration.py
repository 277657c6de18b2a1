"""Another embedding model: a new generation beside the old one, which serves with its own model until then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from property.quick_corpus import Shelf, Shelves, WordEmbedder, quick_parts

from fonte import ingest
from fonte.corpus import OpenCorpus
from fonte.errors import ConfigError, SpaceMismatch
from fonte.stores.checking import check
from fonte.types import Answered, Principal, Vector

WHO = Principal()
PUBLIC = frozenset({"public"})
ANIMALS = "okapi tiger zebra camel koala otter gorilla panda llama moose hippo bison".split()
TEXTS = {f"{one}.txt": (f"The {one} lives in hall {at + 3} of the zoo.", PUBLIC) for at, one in enumerate(ANIMALS)}
MANY = {f"n{at}.txt": (f"Pump P-{at} runs at {at + 3} bar in hall {at % 7}.", PUBLIC) for at in range(12)}
QUESTION = "In which hall does the okapi live?"


class Turned(WordEmbedder):
    """Another model of the same width: the words' vectors the other way round."""

    def __init__(self) -> None:
        super().__init__()
        self.space = replace(self.space, id="turned", model="turned")

    def _word(self, word: str) -> Vector:
        return super()._word(word)[::-1]


MODELS = {"words": WordEmbedder, "turned": Turned}


def opened(home: Path, model: str, shelves: Shelves | None = None) -> OpenCorpus:
    """A corpus whose settings name a model; others are made by what was remembered of them."""
    shelves = shelves or Shelves({"docs": Shelf(TEXTS)})
    parts = quick_parts(home, shelves, embedder=MODELS[model]())
    return OpenCorpus(replace(parts, embedding=model, embedder_from=lambda told: MODELS[told]()))


def served_by(corpus: OpenCorpus) -> str:
    """The model that a question is answered with."""
    answer = corpus.ask(QUESTION, principal=WHO)
    assert isinstance(answer, Answered)
    assert len(corpus.documents()) > len(TEXTS) or "hall 3" in answer.text, "the fact itself, where nothing crowds it"
    asker = corpus.asker(WHO)
    assert asker is not None
    assert asker.embedder.space == asker.reader.generation.recipe.space
    return asker.embedder.space.model


def test_case_94_and_97_the_old_index_serves_until_the_new_one_is_published(home: Path) -> None:
    with opened(home, "words") as running:
        old = running.sync("docs").generation
        with opened(home, "turned") as beside:
            assert served_by(beside) == "words", "settings alone change nothing"
            built = beside.sync("docs", publish=False)
            assert (built.published, built.embedded_texts, built.documents["unchanged"]) == (False, 12, 0)
            assert [served_by(one) for one in (running, beside)] == ["words", "words"]
            assert {one.recipe.space.model for one in running.generations()[1]} == {"words", "turned"}
            assert beside.publish(built.generation) == (built.generation, old)
            assert [served_by(one) for one in (running, beside)] == ["turned", "turned"], "without a new start"
            assert beside.sync("docs").documents["unchanged"] == 12
            beside.rollback()
            assert [served_by(one) for one in (running, beside)] == ["words", "words"]
    assert list(check(home)) == []


def test_case_95_the_model_of_an_empty_base_can_be_changed(home: Path) -> None:
    shelves = Shelves({"docs": Shelf({})})
    with opened(home, "words", shelves) as corpus:
        corpus.sync("docs")
    with opened(home, "turned") as corpus:
        corpus.sync("docs")
        assert served_by(corpus) == "turned"


def test_case_96_a_worker_with_the_old_model_does_not_undo_a_migration(home: Path) -> None:
    with opened(home, "words") as old, opened(home, "turned") as new:
        old.sync("docs")
        new.check_model()
        new.sync("docs")
        with pytest.raises(SpaceMismatch, match="has moved on from words to turned"):
            old.check_model()
        new.check_model()
        new.rollback()
        old.check_model()
        with pytest.raises(SpaceMismatch, match="has moved on from turned to words"):
            new.check_model()
        store = old._store_of("default")
        active = store.catalog.active()
        assert active is not None
        with pytest.raises(SpaceMismatch):
            store.index.begin(new._parts.recipe, active)


def test_a_worker_with_the_old_model_takes_rights_away_all_the_same(home: Path) -> None:
    shelves = Shelves({"docs": Shelf(TEXTS)})
    with opened(home, "words", shelves) as old, opened(home, "turned", shelves) as new:
        old.sync("docs")
        new.sync("docs")
        assert len(new.readable(WHO)) == len(TEXTS)
        shelves.by_name["docs"] = Shelf({name: (text, frozenset()) for name, (text, _) in TEXTS.items()})
        with pytest.raises(SpaceMismatch):
            old.sync("docs", standing=True)
        assert list(new.readable(WHO)) == []


def test_a_model_that_is_not_known_here_or_is_another_by_now_is_told(home: Path) -> None:
    with opened(home, "words") as corpus:
        corpus.sync("docs")
    stranger = quick_parts(home, embedder=Turned())
    for made in (Turned, WordEmbedder):
        parts = replace(stranger, embedding="turned", embedder_from=lambda told, made=made: made())
        with OpenCorpus(parts) as corpus:
            if made is WordEmbedder:
                assert served_by(corpus) == "words"
                continue
            with pytest.raises(SpaceMismatch) as caught:
                corpus.search("pump", principal=WHO)
            assert caught.value.hint


def test_vectors_of_a_killed_migration_are_made_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in its second batch, of eight: the next try embeds only what was not made."""
    monkeypatch.setattr(ingest, "BATCH_CHUNKS", 8)
    shelves = Shelves({"docs": Shelf({**MANY, **TEXTS})})
    with opened(home, "words", shelves) as corpus:
        corpus.sync("docs")
    worker = f"""
import os, sys
sys.path[:0] = {[str(Path(__file__).parent.parent / one) for one in ("property", "integration", "")]!r}
import test_migration
from test_migration import *
class Dying(Turned):
    def encode_passages(self, texts):
        if self.calls == 1:
            os.kill(os.getpid(), {signal.SIGKILL})
        return super().encode_passages(texts)
test_migration.MODELS["turned"] = Dying
ingest.BATCH_CHUNKS = 8
opened(Path({str(home)!r}), "turned", Shelves({{"docs": Shelf(MANY | TEXTS)}})).sync("docs")
"""
    done = subprocess.run([sys.executable, "-c", worker], env=dict(os.environ), check=False)
    assert done.returncode == -signal.SIGKILL
    with opened(home, "turned", shelves) as corpus:
        assert served_by(corpus) == "words"
        again = corpus.sync("docs")
        assert (again.published, again.chunks_total) == (True, 24)
        assert again.embedded_texts == 16
        assert served_by(corpus) == "turned"
    assert list(check(home)) == []


def test_an_endpoints_key_is_not_sent_to_another_endpoint() -> None:
    from fonte.config import EmbeddingSettings
    from fonte.wiring import _remembered_embedder

    told = EmbeddingSettings(source="openai:m", base_url="http://old.example/v1").model_dump_json()
    for now in (EmbeddingSettings(), EmbeddingSettings(source="openai:n", base_url="http://new.example/v1")):
        with pytest.raises(ConfigError, match=r"old\.example") as caught:
            _remembered_embedder(told, now)
        assert caught.value.hint
    with pytest.raises(ConfigError, match="another version"):
        _remembered_embedder('{"source": 7}', EmbeddingSettings())


def test_both_real_models(home: Path, tmp_path: Path) -> None:
    from command import fonte

    folder = tmp_path / "docs"
    folder.mkdir()
    for name, (text, _) in TEXTS.items():
        (folder / name).write_text(text, "utf-8")
    home.mkdir()
    config = home / "fonte.toml"
    config.write_text('[embedding]\nsource = "package:all-MiniLM-L6-v2"\n', "utf-8")
    assert fonte(home, "sync", str(folder)).status == 0
    config.write_text("", "utf-8")
    built = fonte(home, "sync", str(folder), "--no-publish").json
    assert (built["published"], built["embedded_texts"]) == (False, 12)

    def told() -> SimpleNamespace:
        ran = fonte(home, "ask", QUESTION)
        assert ran.status == 0, ran.err
        found = fonte(home, "search", QUESTION, "--k", "12").json["results"]
        near = {one["chunk_id"]: one["scores"]["dense_distance"] for one in found}
        return SimpleNamespace(answer=ran.json["answer"], generation=ran.json["generation"], near=near)

    before = told()
    assert "hall 3" in before.answer
    assert before.generation != built["generation"]
    assert fonte(home, "publish", built["generation"]).status == 0
    after = told()
    assert (after.answer, after.generation) == (before.answer, built["generation"])
    assert set(after.near.values()).isdisjoint(before.near.values())
    assert fonte(home, "rollback").status == 0
    assert told().near == before.near
