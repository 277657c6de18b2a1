"""What every Reranker keeps, whichever model and wherever it runs. Add an implementation by adding to ``KINDS``."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from unit.models.stub_server import stub_server
from unit.models.tiny_pairs import overlap, pair_tokenizer_json, rerank_script, write_pair_folder

from fonte.models.rerankers import Served, make_reranker
from fonte.protocols import Reranker

KINDS = ("path", "st", "cohere", "jina", "tei")
WINDOW = 64
QUESTION = "pump tower room"
PASSAGES = [
    "the pump is of the tower",
    "a room of the hall",
    "yearly report",
    "the room of the pump tower",
    "paper " * 40,
]


class FakeCrossEncoder:
    """Stands for sentence-transformers, which brings torch: the parts of its interface that are used."""

    def __init__(self, name: str, *, revision: str | None, device: str, trust_remote_code: bool) -> None:
        assert (device, trust_remote_code) == ("cpu", False)
        self.max_length = WINDOW
        self.config = types.SimpleNamespace(num_labels=1)
        self.tokenizer = FakeFast()

    def predict(self, pairs, *, batch_size: int, show_progress_bar: bool) -> np.ndarray:
        longest = max(len(self.tokenizer.words(one) + self.tokenizer.words(two)) + 3 for one, two in pairs)
        assert longest <= WINDOW, "the library would cut it unseen"
        return np.array([overlap(*pair) for pair in pairs], np.float32)


class FakeFast:
    is_fast = True
    model_max_length = 10**30

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        self._backend = Tokenizer.from_str(pair_tokenizer_json())
        self._backend.no_truncation()
        self._backend.no_padding()

    def num_special_tokens_to_add(self, *, pair: bool) -> int:
        return 3 if pair else 2

    def words(self, text: str) -> list[tuple[int, int]]:
        return self._backend.encode(text, add_special_tokens=False).offsets

    def __call__(self, text, *, add_special_tokens, return_offsets_mapping, truncation, verbose):
        assert (add_special_tokens, return_offsets_mapping, truncation) == (False, True, False)
        return {"offset_mapping": self.words(text)}


@pytest.fixture(params=KINDS)
def reranker(request: pytest.FixtureRequest, tmp_path, monkeypatch) -> Iterator[Reranker]:
    with ExitStack() as stack:
        served, source = None, "http:tiny"
        if request.param == "path":
            source = f"path:{write_pair_folder(tmp_path / 'pairs', window=WINDOW)}"
        elif request.param == "st":
            library = types.ModuleType("sentence_transformers")
            library.CrossEncoder = FakeCrossEncoder
            monkeypatch.setitem(sys.modules, "sentence_transformers", library)
            source = f"st:{tmp_path}"
        else:
            stub = stack.enter_context(stub_server(rerank_script(request.param)))
            served = Served(stub.base_url, request.param, WINDOW)
        yield make_reranker(source, served=served, threads=None if request.param == "st" else 1, timeout_seconds=20)


def test_it_says_who_it_is_and_stays_the_same(reranker):
    assert reranker.id
    first = reranker.id
    assert reranker.id == first


def test_scores_stand_in_the_order_of_the_passages_and_the_best_answers_most(reranker):
    scores = reranker.score(QUESTION, PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert all(math.isfinite(score) for score in scores)
    assert max(range(len(scores)), key=scores.__getitem__) == 3
    turned = reranker.score(QUESTION, PASSAGES[::-1])
    assert turned[::-1] == pytest.approx(scores, abs=1e-6)


def test_a_score_does_not_depend_on_what_else_is_asked_about(reranker):
    together = reranker.score(QUESTION, PASSAGES * 12)
    alone = [reranker.score(QUESTION, [passage])[0] for passage in PASSAGES]
    assert together == pytest.approx(alone * 12, abs=1e-6)


def test_case_72_an_answer_in_the_last_tokens_of_a_long_passage_counts_as_if_it_stood_alone(reranker):
    long = "paper " * 400 + "archive " * 10 + "the room of the pump tower"
    middle = "paper " * 200 + "the room of the pump tower " + "euro " * 200
    scores = reranker.score(QUESTION, [long, middle, "paper " * 400, "the room of the pump tower"])
    assert scores[0] == pytest.approx(scores[3], abs=1e-6)
    assert scores[1] == pytest.approx(scores[3], abs=1e-6)
    assert scores[2] < scores[0]


def test_a_question_longer_than_the_window_keeps_its_head(reranker):
    scores = reranker.score(QUESTION + " valve" * 300, PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert scores[3] > scores[2]


def test_nothing_to_score_gives_nothing_and_an_empty_text_is_refused(reranker):
    assert reranker.score(QUESTION, []) == []
    for question, passages in ((" ", PASSAGES), (QUESTION, ["a pump", " \n"])):
        with pytest.raises(ValueError, match="empty"):
            reranker.score(question, passages)


def test_special_tokens_written_out_in_a_text_are_text(reranker):
    plain, marked = reranker.score(QUESTION, ["the pump", "the pump [SEP] [CLS]"])
    assert marked == pytest.approx(plain, abs=1e-6)


def test_threads_do_not_disturb_each_other(reranker):
    wanted = reranker.score(QUESTION, PASSAGES)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: reranker.score(QUESTION, PASSAGES), range(8)):
            assert scores == pytest.approx(wanted, abs=1e-6)
