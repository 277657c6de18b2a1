"""BM25 across languages: passages in another language than the question's are found by translated words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fonte.corpus import OpenCorpus
from fonte.evidence import EvidenceScorer
from fonte.retrieve import ACROSS, BM25, RetrievalSettings, Retrieved, Retriever
from fonte.types import Filters, Principal, Query
from fonte.words import terms_of, weighted_words
from quick_corpus import Shelf, Shelves, quick_corpus

WHO = Principal()
PUBLIC = frozenset({"public"})
TEXTS = {
    "armadietti.txt": "Per la chiave dell'armadietto si versa una cauzione di quindici euro.",
    "mensa.txt": "La mensa resta aperta nei giorni feriali e il pranzo costa otto euro.",
    "parking.txt": "The car park behind the building is free for visitors on Sundays.",
    "lift.txt": "The lift is inspected by the maker every six months.",
}
QUESTION = "How much is the deposit for the key of a locker?"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> OpenCorpus:
    shelf = {name: (text, frozenset({"staff"}) if name == "mensa.txt" else PUBLIC) for name, text in TEXTS.items()}
    made = quick_corpus(
        tmp_path_factory.mktemp("across") / "home",
        Shelves({"docs": Shelf(shelf, italian=frozenset({"armadietti.txt", "mensa.txt"}))}),
    )
    made.sync("docs")
    return made


def ask(corpus: OpenCorpus, query: Query, **changed: object) -> Retrieved:
    asker = corpus.asker(query.principal, k=None, mode=None, max_distance=None)
    assert asker is not None
    wanted = replace(RetrievalSettings(), **changed)
    return Retriever(asker.reader, asker.embedder, asker.terms).retrieve(query, (), wanted)


def leg(found: Retrieved, stage: str) -> list[str]:
    names = {one.stored.chunk.id: one.stored.document_name for one in found.found}
    return [names[hit.chunk_id] for ranking in found.rankings if ranking.stage == stage for hit in ranking.hits]


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_an_english_question_finds_an_italian_passage_by_its_words(corpus: OpenCorpus, mode: str) -> None:
    found = ask(corpus, Query(QUESTION, WHO, languages=("en",)), mode=mode)
    assert leg(found, ACROSS)[0] == "armadietti.txt"
    assert "armadietti.txt" not in leg(found, BM25)
    assert found.found[0].stored.document_name == "armadietti.txt"
    assert found.found[0].hit.bm25 is None, "scores of two questions are not comparable"


def test_the_leg_holds_passages_of_the_other_language_alone(corpus: OpenCorpus) -> None:
    found = ask(corpus, Query("Quanto costa il parcheggio per i visitatori?", WHO, languages=("it",)))
    assert leg(found, ACROSS) == ["parking.txt"]


def test_rights_and_filters_hold_in_it(corpus: OpenCorpus) -> None:
    lunch = "How much is lunch in the canteen?"
    staff = Principal(roles=frozenset({"staff"}))
    assert "mensa.txt" in leg(ask(corpus, Query(lunch, staff, languages=("en",))), ACROSS)
    assert "mensa.txt" not in leg(ask(corpus, Query(lunch, WHO, languages=("en",))), ACROSS)
    english = Filters(languages=("en",))
    assert leg(ask(corpus, Query(lunch, staff, languages=("en",), filters=english)), ACROSS) == []


@pytest.mark.parametrize("languages", [(), ("en", "it"), ("fr",)])
def test_without_one_sure_language_nothing_is_translated(corpus: OpenCorpus, languages: tuple[str, ...]) -> None:
    assert leg(ask(corpus, Query(QUESTION, WHO, languages=languages)), ACROSS) == []


def test_with_one_language_in_the_index_nothing_changes(tmp_path: Path) -> None:
    english = {name: (text, PUBLIC) for name, text in TEXTS.items() if name in ("parking.txt", "lift.txt")}
    with quick_corpus(tmp_path / "home", Shelves({"docs": Shelf(english)})) as made:
        made.sync("docs")
        found = ask(made, Query("Who inspects the lift?", WHO, languages=("en",)))
        assert [ranking.stage for ranking in found.rankings] == ["bm25", "dense", "fusion"]


def test_a_passage_in_the_other_language_holds_the_words_of_a_question(corpus: OpenCorpus) -> None:
    asker = corpus.asker(WHO, k=None, mode=None, max_distance=None)
    assert asker is not None
    query = Query(QUESTION, WHO, languages=("en",))
    words = {word.text: word for word in weighted_words(query, asker.terms, asker.reader)}
    held = terms_of(asker.terms, TEXTS["armadietti.txt"], query, "it")
    assert {name for name, word in words.items() if word.terms & held} == {"deposit", "key", "locker"}
    passages = asker.prepare(query).passages
    best = EvidenceScorer(asker.embedder, asker.terms).score(query, passages, words=list(words.values()))
    assert max(one.coverage for one in best.scored) > 0.5
