"""The glossary: its file, and a question's words in the other language."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

import pytest

from fonte.text.glossary import MOST, OTHER, Glossary
from fonte.text.terms import Analyser, folded


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return Analyser()


def _lines() -> list[list[str]]:
    text = (files("fonte.text") / "data" / "glossary-en-it.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def test_every_line_is_a_word_of_a_language_with_its_translations() -> None:
    lines = _lines()
    assert len(lines) > 7000
    for line in lines:
        language, word, translations = line
        assert language in OTHER
        assert word == word.strip() != ""
        parts = translations.split("|")
        assert 1 <= len(parts) <= MOST
        assert all(part == part.strip() != "" for part in parts)
        assert word not in parts


def test_no_word_is_listed_twice() -> None:
    counts = Counter((language, word) for language, word, _ in _lines())
    assert [word for word, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    ("word", "source", "translation"),
    [
        ("deposit", "en", "cauzione"),
        ("deposits", "en", "cauzione"),
        ("Deposit", "en", "cauzione"),
        ("cauzione", "it", "deposit"),
        ("cauzioni", "it", "deposit"),
        ("armadietto", "it", "locker"),
        ("lockers", "en", "armadietto"),
        ("ferie", "it", "holiday"),
    ],
)
def test_inflected_words_have_the_translations_of_their_stem(word: str, source: str, translation: str) -> None:
    analyser = Analyser()
    assert translation in Glossary(folded, analyser.stem).of(word, source)


def test_what_it_does_not_know_has_no_translation() -> None:
    glossary = Glossary(folded, lambda word, _: word)
    assert list(glossary.of("Zrblf", "en")) == []
    assert list(glossary.of("deposit", "fr")) == []


def test_a_question_becomes_terms_of_the_other_language(analyser: Analyser) -> None:
    across = analyser.terms_across("How much is the deposit for a locker in Udine, form MOD-19?", ["en"])
    assert set(across) == {"it"}
    terms = across["it"]
    assert set(analyser.document_terms("la cauzione", "it")) - {"it=la"} <= set(terms)
    assert set(analyser.document_terms("armadietto", "it")) <= set(terms)
    assert "it=udine" in terms, "names stand for themselves"
    assert analyser.document_terms("MOD-19", "it")[0] in terms, "and so do codes"
    assert not [term for term in terms if term.startswith(("en:", "en=", "und:"))]
    assert len(terms) == len(set(terms))


@pytest.mark.parametrize("languages", [[], ["en", "it"], ["fr"], ["de"]])
def test_a_question_of_no_sure_language_is_not_translated(analyser: Analyser, languages: list[str]) -> None:
    assert analyser.terms_across("How much is the deposit?", languages) == {}


def test_words_that_say_nothing_are_not_translated(analyser: Analyser) -> None:
    assert analyser.terms_across("How can I do it?", ["en"])["it"] == []
