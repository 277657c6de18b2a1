"""What every Embedder keeps, whichever model and wherever it runs. Add an implementation by adding to ``EMBEDDERS``."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.models.stub_server import embedding_script, stub_server
from unit.models.tiny_model import write_tiny_folder

from fonte.models.registry import Remote, available, make_embedder
from fonte.protocols import Embedder
from fonte.types import Space

EMBEDDERS = ("tiny", "openai", "all-MiniLM-L6-v2", "multilingual-e5-small")
TEXTS = [
    "Employees get 25 days of leave.",
    "Il gatto dorme sul tavolo.\nE poi mangia.",
    "x",
    "The invoice is due in 30 days, says art. 5.",
    "A passage that is rather longer than the others so that, padded together, they differ in length.",
    "  leading and trailing space\t",
]


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    with ExitStack() as stack:
        if request.param == "tiny":
            folder = write_tiny_folder(tmp_path_factory.mktemp("tiny") / "tiny", positions=128)
            yield make_embedder(f"path:{folder}", threads=1)
        elif request.param == "openai":
            stub = stack.enter_context(stub_server(embedding_script))
            yield make_embedder("openai:stub", remote=Remote(base_url=stub.base_url, window=128))
        else:
            source = f"package:{request.param}"
            if not next(one.installed for one in available() if one.source == source):
                pytest.skip(f"{source} is not installed")
            yield make_embedder(source, threads=1)


def _of_tokens(embedder: Embedder, tokens: int) -> str:
    """A text of exactly ``tokens`` tokens."""
    text = "a" + " a" * (tokens - 1)
    assert embedder.tokenizer.count(text) == tokens
    return text


def test_space_is_complete_and_stays_the_same(embedder):
    space = embedder.space
    assert isinstance(space, Space)
    assert space == embedder.space
    assert len(space.id) >= 16
    assert space.model
    assert space.revision
    assert space.dimensions == embedder.embed_query("leave").shape[0]
    assert space.window == embedder.tokenizer.window > embedder.tokenizer.overhead >= 0


def test_passages_become_unit_rows_in_their_order(embedder):
    rows = embedder.embed_passages(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), embedder.space.dimensions)
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-3
    turned = embedder.embed_passages(TEXTS[::-1])
    assert np.abs(turned[::-1] - rows).max() < 1e-5


def test_a_row_does_not_depend_on_what_else_is_in_the_batch(embedder):
    together = embedder.embed_passages(TEXTS * 4)
    alone = np.stack([embedder.embed_passages([text])[0] for text in TEXTS])
    assert np.abs(together - np.tile(alone, (4, 1))).max() < 1e-5


def test_different_texts_get_different_vectors(embedder):
    rows = embedder.embed_passages(["employees get leave", "the cat eats an invoice"])
    assert rows[0] @ rows[1] < 0.999


def test_nothing_gives_no_rows(embedder):
    assert embedder.embed_passages([]).shape[0] == 0


@pytest.mark.parametrize("empty", ["", " ", "\n\t"])
def test_an_empty_text_is_refused_and_gets_no_vector(embedder, empty):
    with pytest.raises(ValueError, match="empty"):
        embedder.embed_passages(["leave", empty])
    with pytest.raises(ValueError, match="empty"):
        embedder.embed_query(empty)


def test_case_73_a_passage_that_fills_the_window_passes_and_one_token_more_is_refused(embedder):
    room = embedder.tokenizer.window - embedder.tokenizer.overhead
    assert embedder.embed_passages([_of_tokens(embedder, room)]).shape[0] == 1
    with pytest.raises(ValueError, match="token"):
        embedder.embed_passages(["leave", _of_tokens(embedder, room + 1)])


def test_a_question_longer_than_the_window_keeps_its_head(embedder):
    window = embedder.tokenizer.window
    head = _of_tokens(embedder, window)
    first, second = (embedder.embed_query(head + tail * 20) for tail in (" b", " c"))
    assert abs(float(np.linalg.norm(first)) - 1) < 1e-3
    assert np.abs(first - second).max() < 1e-6, "what lies beyond the window does not count"
    assert np.abs(first - embedder.embed_query("b c " * 20 + head)).max() > 1e-5, "the head does"


def test_a_question_gets_one_unit_vector_always_the_same(embedder):
    first = embedder.embed_query("how much leave do I have?")
    assert first.dtype == np.float32
    assert first.shape == (embedder.space.dimensions,)
    assert abs(float(np.linalg.norm(first)) - 1) < 1e-3
    assert np.abs(first - embedder.embed_query("how much leave do I have?")).max() < 1e-6


def test_threads_do_not_disturb_each_other(embedder):
    wanted = embedder.embed_passages(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: embedder.embed_passages(TEXTS), range(8)):
            assert np.abs(rows - wanted).max() < 1e-5


@settings(max_examples=40)
@given(text=st.text(max_size=120))
def test_token_offsets_lie_in_the_text_in_order(embedder, text):
    ranges = embedder.tokenizer.offsets(text)
    assert len(ranges) == embedder.tokenizer.count(text)
    assert all(0 <= start <= end <= len(text) for start, end in ranges)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(ranges))


def test_token_offsets_reach_every_word_beyond_the_basic_plane(embedder):
    text = "cat 𝒳𝒴 😀 naïve città the ﬁn İstanbul cat\u0301 日本 days"
    ranges = embedder.tokenizer.offsets(text)
    covered = {at for start, end in ranges for at in range(start, end)}
    for word in ("cat", "the", "days"):
        at = text.rindex(word)
        assert set(range(at, at + len(word))) <= covered
    pieces = [text[start:end].strip() for start, end in ranges]
    assert pieces[0] and "cat".startswith(pieces[0])
    assert pieces[-1] and "days".endswith(pieces[-1])


@settings(max_examples=15)
@given(text=st.text(min_size=1, max_size=60).filter(lambda one: one.strip()))
def test_what_fits_by_the_count_is_embedded(embedder, text):
    tokenizer = embedder.tokenizer
    if tokenizer.count(text) + tokenizer.overhead > tokenizer.window:
        return
    rows = embedder.embed_passages([text])
    assert abs(float(np.linalg.norm(rows[0])) - 1) < 1e-3
