"""Reranking as a stage: what it orders, what it leaves alone, and where it cannot be done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte import contract
from fonte.corpus import OpenCorpus
from fonte.errors import BadModelOutput, ConfigError
from fonte.models.registry import available, make_embedder
from fonte.ranking.evidence import coverage
from fonte.ranking.late import COVERAGE_WEIGHT, SHIFT_WEIGHT, maxsim
from fonte.retrieve import RetrievalSettings, Retrieved, Retriever
from fonte.store_protocols import IndexReader
from fonte.types import Principal, Query, Vector, Vectors
from fonte.words import terms_of, weighted_words
from quick_corpus import Shelf, Shelves, WordEmbedder, quick_corpus, quick_parts

WHO = Principal()
WORDS = "pump tower hall report room valve filter archive paper euro north yearly".split()
QUESTION = "pump tower room"


def shelves(count: int = 40, seed: int = 3) -> Shelves:
    draw = np.random.default_rng(seed)
    texts = {
        f"d{at}.txt": (" ".join(draw.choice(WORDS, 12)) + f" n{at}.", frozenset({"public"})) for at in range(count)
    }
    return Shelves({"docs": Shelf(texts)})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> OpenCorpus:
    made = quick_corpus(tmp_path_factory.mktemp("rerank") / "home", shelves())
    made.sync("docs")
    return made


def retrieved(corpus: OpenCorpus, text: str = QUESTION, **changed: object) -> Retrieved:
    asker = corpus.asker(WHO, k=None, mode=None, max_distance=None)
    assert asker is not None
    wanted = replace(RetrievalSettings(k=50, per_document=0, rerank=True), **changed)
    return Retriever(asker.reader, asker.embedder, asker.terms).retrieve(
        Query(text, WHO, languages=("en",)), (), wanted
    )


def order(found: Retrieved) -> list[str]:
    return [one.hit.chunk_id for one in found.found]


def stage(found: Retrieved, name: str) -> list[str]:
    return next(([hit.chunk_id for hit in one.hits] for one in found.rankings if one.stage == name), [])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.integers(1, 40))
def test_only_the_head_is_ordered_anew_and_nothing_comes_or_goes(
    corpus: OpenCorpus, words: list[str], depth: int
) -> None:
    plain = order(retrieved(corpus, " ".join(words), rerank=False))
    found = retrieved(corpus, " ".join(words), rerank_depth=depth)
    assert sorted(order(found)) == sorted(plain)
    assert order(found)[depth:] == plain[depth:]
    assert order(found)[:depth] == stage(found, "rerank") == order(found)[: len(stage(found, "rerank"))]
    assert stage(found, "fusion") == plain


def test_scores_are_maxsim_moved_by_the_language_and_by_the_words_held_ties_by_id(corpus: OpenCorpus) -> None:
    found = retrieved(corpus)
    model = WordEmbedder()
    asked = model.encode_query(QUESTION)[1]
    asker = corpus.asker(WHO, k=None, mode=None, max_distance=None)
    assert asker is not None
    query = Query(QUESTION, WHO, languages=("en",))
    words = weighted_words(query, asker.terms, asker.reader)
    assert len(words) == 3
    for one in found.found[:25]:
        near = maxsim(asked, [model._codes(one.stored.chunk.text)], model.token_weights(asked))[0]
        held = coverage(words, terms_of(asker.terms, one.stored.chunk.text, query, one.stored.chunk.language))
        wanted = near + SHIFT_WEIGHT * found.shifts[one.stored.chunk.language] + COVERAGE_WEIGHT * held
        assert one.hit.rerank == one.hit.score == pytest.approx(wanted, abs=1e-6)
        assert one.hit.rrf is not None
    keys = [(-one.hit.score, one.hit.chunk_id) for one in found.found[:25]]
    assert keys == sorted(keys)
    assert [one.hit.rerank for one in found.found[25:]] == [None] * (len(found.found) - 25)
    assert found.timings_ms["rerank"] > 0


def test_a_score_is_never_a_threshold_and_distances_are_cut_before(corpus: OpenCorpus) -> None:
    """Case 46: one score, one threshold, at the stage named."""
    plain = retrieved(corpus, rerank=False, max_distance=0.7)
    found = retrieved(corpus, max_distance=0.7)
    assert 0 < len(order(found)) < 40
    assert sorted(order(found)) == sorted(order(plain))


def test_a_question_without_tokens_keeps_the_fused_order(corpus: OpenCorpus) -> None:
    class Mute(WordEmbedder):
        def encode_query(self, text: str) -> tuple[Vector, np.ndarray]:
            return self.embed_query(text), np.zeros((0, self.space.code_width), np.int8)

    asker = corpus.asker(WHO, k=None, mode=None, max_distance=None)
    assert asker is not None
    query, wanted = Query(QUESTION, WHO, languages=("en",)), RetrievalSettings(k=50, per_document=0, rerank=True)
    found = Retriever(asker.reader, Mute(), asker.terms).retrieve(query, (), wanted)
    assert order(found) == order(retrieved(corpus, rerank=False))
    assert stage(found, "rerank") == []


def test_the_question_is_read_once(corpus: OpenCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(name: str) -> None:
        plain = getattr(WordEmbedder, name)

        def call(self: WordEmbedder, text: str) -> object:
            read.append(name)
            return plain(self, text)

        monkeypatch.setattr(WordEmbedder, name, call)

    counted("embed_query")
    counted("encode_query")
    corpus.search(QUESTION, principal=WHO)
    assert read == ["encode_query", "embed_query"], "the second is the stand-in's own call within the first"
    read.clear()
    corpus.search(QUESTION, principal=WHO, rerank=False)
    assert read == ["embed_query"]


def reranks(corpus: OpenCorpus, **options: object) -> bool:
    found = corpus.search(QUESTION, principal=WHO, **options)  # type: ignore[arg-type]  # options of several types
    assert found.results
    assert ("rerank" in found.timings_ms) is any(one.hit.rerank is not None for one in found.results)
    return "rerank" in found.timings_ms


def test_the_default_is_to_rerank_but_not_words_alone(corpus: OpenCorpus) -> None:
    assert reranks(corpus)
    assert reranks(corpus, mode="dense")
    assert not reranks(corpus, mode="bm25")
    assert reranks(corpus, mode="bm25", rerank=True)
    assert not reranks(corpus, rerank=False)


def test_settings_turn_it_off_and_an_option_turns_it_on(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "fonte.toml").write_text("[retrieval]\nrerank = false\n", encoding="utf-8")
    with quick_corpus(tmp_path / "home", shelves(6)) as made:
        made.sync("docs")
        assert not reranks(made)
        assert reranks(made, rerank=True)


def test_a_model_without_codes_keeps_the_fused_order_and_says_so_when_asked(tmp_path: Path) -> None:
    with quick_corpus(tmp_path / "home", shelves(6), embedder=WordEmbedder(codec="")) as made:
        made.sync("docs")
        assert not reranks(made)
        with pytest.raises(ConfigError, match="has no token vectors") as caught:
            made.search(QUESTION, principal=WHO, rerank=True)
        assert "multilingual-e5-small" in caught.value.hint


def test_an_index_from_before_the_codec_answers_unranked_is_stale_and_is_built_anew(tmp_path: Path) -> None:
    home, here = tmp_path / "home", shelves(6)
    with quick_corpus(home, here, embedder=WordEmbedder(codec="")) as made:
        made.sync("docs")
    with quick_corpus(home, here) as made:
        assert not reranks(made)
        with pytest.raises(ConfigError, match="holds no token vectors") as caught:
            made.search(QUESTION, principal=WHO, rerank=True)
        assert "fonte sync" in caught.value.hint
        stale = made.status().stale
        assert stale
        assert all(fields == ("codec: none -> word-codes",) for _, fields in stale)
        report = made.sync("docs")
        assert (report.published, report.embedded_texts, report.chunks_total) == (True, 6, 6)
        assert made.status().stale == ()
        assert reranks(made)


def test_codes_of_another_codec_are_never_compared(tmp_path: Path) -> None:
    home, here = tmp_path / "home", shelves(6)
    with quick_corpus(home, here) as made:
        made.sync("docs")
    with quick_corpus(home, here, embedder=WordEmbedder(codec="other-codes")) as made:
        assert not reranks(made)
        assert made.sync("docs").embedded_texts == 6, "vectors with other codes are not known"
        assert reranks(made)


def test_vectors_and_codes_are_known_together(tmp_path: Path) -> None:
    home, here = tmp_path / "home", shelves(6)
    with quick_corpus(home, here) as made:
        made.sync("docs")
        assert made._store_of("default").cache.count() == 6
    (home / "fonte.toml").write_text("[retrieval]\nk = 3\n[chunking]\nsize = 200\n", encoding="utf-8")
    with quick_corpus(home, here) as made:
        assert made.sync("docs").embedded_texts == 0, "another cut with equal texts embeds nothing"
        assert reranks(made)


def test_an_embedder_that_does_not_keep_its_spaces_word_ends_the_sync(tmp_path: Path) -> None:
    class Liar:
        def __init__(self) -> None:
            self._real = WordEmbedder()
            self.space, self.tokenizer = self._real.space, self._real.tokenizer

        def embed_passages(self, texts: list[str]) -> Vectors:
            return self._real.embed_passages(texts)

        def embed_query(self, text: str) -> Vector:
            return self._real.embed_query(text)

    parts = replace(quick_parts(tmp_path / "home", shelves(3)), make_embedder=Liar)
    with OpenCorpus(parts) as made, pytest.raises(BadModelOutput, match="token codes"):
        made.sync("docs")


def test_codes_of_what_may_not_be_read_are_never_asked_for(corpus: OpenCorpus) -> None:
    asker = corpus.asker(WHO, k=None, mode=None, max_distance=None)
    assert asker is not None
    asked: list[tuple[list[str], tuple[str, ...]]] = []

    class Watching:
        def __init__(self, reader: IndexReader) -> None:
            self._reader = reader

        def __getattr__(self, name: str) -> object:
            return getattr(self._reader, name)

        def codes(self, ids: list[str], principal: Principal, *, revoked: tuple[str, ...]) -> object:
            asked.append((list(ids), tuple(revoked)))
            return self._reader.codes(ids, principal, revoked=revoked)

    gone = asker.reader.dense(asker.embedder.embed_query(QUESTION), Query(QUESTION, WHO), revoked=(), k=1)[0]
    retriever = Retriever(Watching(asker.reader), asker.embedder, asker.terms)  # type: ignore[arg-type]  # it passes all on
    query, wanted = Query(QUESTION, WHO, languages=("en",)), RetrievalSettings(k=50, rerank=True)
    found = retriever.retrieve(query, (gone.document_id,), wanted)
    assert len(asked) == 1
    assert asked[0][1] == (gone.document_id,)
    assert gone.chunk_id not in asked[0][0]
    assert gone.chunk_id not in order(found)


def test_status_tells_what_token_codes_take(corpus: OpenCorpus) -> None:
    asker = corpus.asker(WHO)
    assert asker is not None
    chunks = [one.chunk for one in asker.reader.stored_chunks()]
    own = sum(chunk.tokens - asker.embedder.tokenizer.overhead for chunk in chunks)
    status = corpus.status()
    assert status.token_code_bytes == own * asker.embedder.space.code_width > 0
    assert contract.status(status)["token_code_bytes"] == status.token_code_bytes


def test_token_codes_can_be_left_out_and_nothing_else_changes() -> None:
    source = "package:multilingual-e5-small"
    if not next(one.installed for one in available() if one.source == source):
        pytest.skip("the model is not installed")
    whole, bare = make_embedder(source, threads=1), make_embedder(source, threads=1, token_codes=False)
    assert (bare.space.codec, bare.space.code_width) == ("", 0)
    assert bare.space.id == whole.space.id
    assert bare.space.key != whole.space.key
    assert np.array_equal(bare.embed_passages(["una prova"]), whole.embed_passages(["una prova"]))
