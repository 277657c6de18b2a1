"""Terms: identifiers whole and by part, languages apart, stems and exact forms, data that stays data."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.text.language import question_languages
from fonte.text.sentences import sentences
from fonte.text.terms import Analyser

ANALYSER = Analyser()


def meets(question: str, text: str, *, asked: tuple[str, ...] = ("en",), written: str = "en") -> set[str]:
    return set(ANALYSER.query_terms(question, asked)) & set(ANALYSER.document_terms(text, written))


@pytest.mark.parametrize(
    "question", ["CVE-2024-1234", "cve-2024-1234?", "1234", "CVE 2024", "2024-1234", "CVE20241234"]
)
def test_case_67_a_code_is_found_whole_and_by_part(question: str) -> None:
    assert meets(question, "Patched in release 7: CVE-2024-1234.")


@pytest.mark.parametrize("question", ["AB-1234-X", "ab1234x", "AB-1234", "1234", "AB 1234 X", "part AB/1234/X"])
def test_case_66_a_part_number_is_found_whole_and_by_part(question: str) -> None:
    assert meets(question, "Part: AB-1234-X; Price: 10")


def test_case_68_an_order_number_is_kept_in_the_question() -> None:
    assert "ord889812" in ANALYSER.query_terms("Where is my order ORD-889812 now, please?", ("en",))


@pytest.mark.parametrize("question", ["D.Lgs. 81/2008", "decreto 81/2008", "d. lgs. 81 del 2008", "dlgs 81/2008"])
def test_an_italian_law_is_found_in_every_spelling(question: str) -> None:
    found = meets(question, "ai sensi del D.Lgs. n. 81/2008", asked=("it",), written="it")
    assert {term for term in found if "81" in term or "2008" in term}


def test_case_64_chinese_is_found_by_pairs() -> None:
    assert meets("年假几天", "员工每年享有二十六天年假。", asked=("zh",), written="zh") == {"cjk:年假"}
    assert meets("有薪", "有薪年假", asked=("en", "it"), written="und")


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("it", "contratto azienda", "I contratti dell'azienda"),
        ("it", "perche l'attivita", "Perché l’attività"),
        ("en", "employees' entitlement", "The employee is entitled"),
        ("de", "Häuser", "das Haus der Häuser"),
        ("ru", "договоры", "по договору"),
        ("fr", "l'élève", "Les élèves"),
    ],
)
def test_case_65_each_language_has_its_own_analysis(language: str, question: str, text: str) -> None:
    assert meets(question, text, asked=(language,), written=language)


def test_words_do_not_match_across_languages_but_identifiers_do() -> None:
    assert not meets("pane", "pane of glass", asked=("it",), written="en")
    assert meets("errore E-4012", "error E-4012", asked=("it",), written="en") == {"e4012", "4012"}


def test_a_document_of_no_known_language_is_reachable() -> None:
    assert meets("Zanzibar ferry", "zanzibar", written="und") == {"und:zanzibar"}
    assert "und:the" not in ANALYSER.query_terms("the ferry", ("en",))


def test_stop_words_go_unless_there_is_nothing_else() -> None:
    assert not meets("What is the cost?", "This is what the law is")
    assert meets("the who", "The Who") == {"en=the", "en=who"}


def test_exact_forms_stand_beside_stems() -> None:
    assert ANALYSER.document_terms("Policies", "en") == ["en:polici", "en=policies"]


def test_case_71_a_question_of_a_hundred_words_is_never_an_error() -> None:
    question = " ".join(f'word{number} AND (NOT "x" OR title:y^2)' for number in range(100))
    terms = ANALYSER.query_terms(question, ("en", "it"))
    assert len(terms) == len(set(terms)) > 100


@pytest.mark.parametrize(
    "text", ['"unclosed AND NOT -(x OR *) ~2 [a TO b]', "'; DROP TABLE chunks; --", "a:b^3 +c -d", "\\"]
)
def test_operators_are_data(text: str) -> None:
    assert all(" " not in term and '"' not in term for term in ANALYSER.query_terms(text, ("en",)))


def test_case_84_to_86_ligatures_soft_hyphens_and_line_ends() -> None:
    assert meets("office", "the o\ufb03ce")
    assert meets("cooperate", "co\u00adoperate")
    assert meets("international", "interna-\ntional law")
    assert meets("well-known", "a well-\nknown rule")
    assert meets("known", "a well-\nknown rule")


def test_joined_and_hyphenated_spellings_meet() -> None:
    assert meets("email", "Send an e-mail")
    assert meets("S.p.A.", "Alfa SpA", asked=("it",), written="it")


@given(st.text(max_size=60), st.sampled_from(["en", "it", "und", "zh", "xx"]))
def test_no_term_holds_white_space_and_every_text_finds_itself(text: str, language: str) -> None:
    terms = ANALYSER.document_terms(text, language)
    asked = ANALYSER.query_terms(text, (language,))
    assert all(term and term.split() == [term] for term in [*terms, *asked])
    assert bool(terms) == bool(set(terms) & set(asked))


def test_the_version_is_that_of_the_rules() -> None:
    assert ANALYSER.version == Analyser().version
    assert len(ANALYSER.version) == 16


@pytest.mark.parametrize(
    "text", ["." * 60_000, "a" * 60_000, "é" * 60_000, "a-" * 30_000, "1." * 30_000, "-\n" * 30_000]
)
def test_hostile_runs_take_no_time_squared(text: str) -> None:
    began = time.process_time()
    assert all(len(term) < 200 for term in ANALYSER.document_terms(text, "en"))
    ANALYSER.query_terms(text, ("en", "it"))
    question_languages(text)
    sentences(text, "en")
    assert time.process_time() - began < 8
