"""Conversations: history for whoever asked, answers as they were given, nothing of what may not be read any more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluating_making import PUBLIC, WORDS
from fonte import contract
from fonte.corpus import OpenCorpus
from fonte.errors import NotFound
from fonte.processing import Processing
from fonte.support import SupportPolicy
from fonte.types import Abstained, AbstentionReason, Acl, Answer, Answered, Draft, Language, Passage, Principal, Query
from quick_corpus import Shelf, Shelves, quick_corpus, quick_parts

ADA, BOB = Principal(user="ada"), Principal(user="bob")
KEY = "Where does the key of the archive hang?"


@pytest.fixture
def shelf() -> Shelf:
    return Shelf(dict(WORDS))


@pytest.fixture
def corpus(tmp_path: Path, shelf: Shelf) -> OpenCorpus:
    made = quick_corpus(tmp_path / "home", Shelves({"shelf": shelf}))
    made.sync("memory://shelf")
    return made


def begun(corpus: OpenCorpus) -> tuple[str, Answered]:
    answer = corpus.ask(KEY, principal=ADA, conversation="new")
    assert isinstance(answer, Answered)
    assert answer.trace.conversation
    return answer.trace.conversation, answer


def test_a_follow_up_is_read_with_what_was_asked_and_kept_as_it_was_asked(corpus: OpenCorpus) -> None:
    talk, _ = begun(corpus)
    second = corpus.ask("And who has it?", principal=ADA, conversation=talk)
    (step,) = second.trace.steps
    assert (step.name, step.texts) == ("history", ("And who has it? (key archive hang)",))
    assert second.question == "And who has it?"
    assert second.trace.conversation == talk
    found = corpus.conversation(talk, principal=ADA)
    assert [turn.question for turn in found.turns] == [KEY, "And who has it?"]


def test_case_3_a_reload_gives_every_answer_byte_for_byte(corpus: OpenCorpus) -> None:
    talk, first = begun(corpus)
    corpus.ask("How many days of annual leave do staff get?", principal=ADA, conversation=talk)
    once, again = (corpus.conversation(talk, principal=ADA) for _ in range(2))
    assert once == again
    assert once.turns[0].answer == corpus.answer(first.answer_id, principal=ADA)
    assert json.loads(once.turns[0].answer or "")["conversation_id"] == talk


def test_case_4_citations_are_there_after_another_conversation(corpus: OpenCorpus) -> None:
    one, first = begun(corpus)
    other, _ = begun(corpus)
    assert one != other
    back = corpus.conversation(one, principal=ADA).turns[0]
    assert json.loads(back.answer or "")["citations"] == contract.answer(first)["citations"]


def test_case_14_an_answer_cites_its_own_sources_only(corpus: OpenCorpus) -> None:
    talk, _ = begun(corpus)
    question = "How many working days of annual leave do staff get?"
    second, alone = corpus.ask(question, principal=ADA, conversation=talk), corpus.ask(question, principal=ADA)
    assert isinstance(second, Answered)
    assert isinstance(alone, Answered)
    assert second.citations == alone.citations
    assert second.trace.steps == ()


def test_another_user_s_conversation_is_absent(corpus: OpenCorpus) -> None:
    talk, _ = begun(corpus)
    for stranger in (BOB, Principal(), Principal(tenant="other", user="ada")):
        with pytest.raises(NotFound, match="there is no conversation"):
            corpus.conversation(talk, principal=stranger)
    for stranger in (BOB, Principal()):
        with pytest.raises(NotFound, match="there is no conversation"):
            corpus.ask(KEY, principal=stranger, conversation=talk)
    with pytest.raises(NotFound, match="there is no conversation"):
        corpus.ask(KEY, principal=ADA, conversation="v-never")


def test_the_answer_of_a_deleted_document_is_gone_from_its_conversation(corpus: OpenCorpus) -> None:
    talk, first = begun(corpus)
    for cited in {one.document_id for one in first.citations}:
        corpus.delete(cited)
    turn = corpus.conversation(talk, principal=ADA).turns[0]
    assert (turn.question, turn.answer, turn.changed) == (KEY, None, ())
    with pytest.raises(NotFound):
        corpus.answer(first.answer_id, principal=ADA)
    # The asker's own words are still what the next question is read with; the answer's are not.
    after = corpus.ask("The second one?", principal=ADA, conversation=talk)
    assert not any("archive hangs behind" in text for step in after.trace.steps for text in step.texts)


def test_what_may_not_be_read_any_more_is_not_served(corpus: OpenCorpus) -> None:
    talk, first = begun(corpus)
    catalog = corpus._store_of("default").catalog
    catalog.narrow_all({one.document_id: Acl(frozenset({"guards"})) for one in first.citations})
    assert corpus.conversation(talk, principal=ADA).turns[0].answer is None


def test_text_of_an_answer_that_came_into_a_question_keeps_its_rights(corpus: OpenCorpus) -> None:
    talk, first = begun(corpus)
    second = corpus.ask("What about working days, the first one?", principal=ADA, conversation=talk)
    (step,) = second.trace.steps
    assert step.documents
    corpus.delete(first.citations[0].document_id)
    assert corpus.conversation(talk, principal=ADA).turns[1].answer is None


def test_after_an_update_a_citation_says_that_its_source_changed(corpus: OpenCorpus, shelf: Shelf) -> None:
    talk, first = begun(corpus)
    assert corpus.changed(first.answer_id, principal=ADA) == ()
    shelf.texts["keys.md"] = ("# Keys\n\nThe key of the archive lies in the safe.\n", PUBLIC)
    corpus.sync("memory://shelf")
    turn = corpus.conversation(talk, principal=ADA).turns[0]
    moved = [one.index for one in first.citations if one.document_name == "keys.md"]
    assert list(turn.changed) == moved != []
    assert json.loads(turn.answer or "")["citations"][0]["quote"] == first.citations[0].quote
    assert contract.conversation(corpus.conversation(talk, principal=ADA))["turns"][0]["source_changed"] == moved


PUMP = {
    "pump.md": ("# Pump\n\nThe pump runs at 40 bar. The pump is checked on Monday.\n", PUBLIC),
    "merger.md": (
        "# Pump merger\n\nThe pump maker will be sold to Falcon Industries for 90 million.\n",
        PUBLIC,
    ),
}
PRESSURE = "What pressure does the pump run at, and who makes it?"


class Writer:
    """A generator that writes a text with the markers of documents, by their names, put into it."""

    name = "writer"

    def __init__(self, text: str) -> None:
        self.text = text

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        return Draft(self.text.format(**{one.document.name.split(".")[0]: f"[{one.marker}]" for one in passages}))

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        draft = self.draft(query, passages, language=language)
        yield draft.text
        yield draft


def written(tmp_path: Path, text: str, support: SupportPolicy = "flag") -> tuple[OpenCorpus, Answered]:
    writer = Writer(text)
    parts = quick_parts(tmp_path / "home", Shelves({"shelf": Shelf(dict(PUMP))}))
    made = OpenCorpus(replace(parts, make_generator=lambda *_: writer))
    made.sync("memory://shelf")
    asker = made.asker(ADA)
    assert asker is not None
    query = Query(PRESSURE, ADA)
    *_, last = replace(asker, settings=replace(asker.settings, support=support)).stream(query, writer)
    assert isinstance(last, Answered)
    assert [one.document_name for one in last.citations] == ["pump.md"]
    return made, made._kept(last, ADA, "")  # type: ignore[return-value]


def narrowed(corpus: OpenCorpus, name: str) -> None:
    (state,) = (one for one in corpus.documents(tenant="default") if one.name == name)
    corpus._store_of("default").catalog.narrow_all({state.document_id: Acl(frozenset({"guards"}))})


def deleted(corpus: OpenCorpus, name: str) -> None:
    corpus.delete(name)


@pytest.mark.parametrize("gone", [narrowed, deleted])
@pytest.mark.parametrize(
    ("second", "support"),
    [
        ("Its vendor changes hands: Falcon buys, ninety millions, springtime.", "flag"),
        ("Falcon Industries will not be sold in June for 95 million {merger}.", "drop"),
    ],
)
def test_an_answer_needs_all_that_its_generator_was_shown(
    tmp_path: Path, second: str, support: SupportPolicy, gone: Callable[[OpenCorpus, str], None]
) -> None:
    corpus, answer = written(tmp_path, f"The pump runs at 40 bar {{pump}}. {second}", support)
    assert "Falcon" in corpus.answer(answer.answer_id, principal=ADA)
    gone(corpus, "merger.md")
    with pytest.raises(NotFound):
        corpus.answer(answer.answer_id, principal=ADA)


def test_a_sentence_that_came_into_a_question_needs_all_that_its_answer_was_written_from(tmp_path: Path) -> None:
    uncited = "Its vendor changes hands: Falcon buys, ninety millions, springtime."
    corpus, _ = written(tmp_path, f"The pump runs at 40 bar {{pump}}. {uncited}")
    first = corpus.ask(PRESSURE, principal=ADA, conversation="new")
    _, (said,) = corpus._said(first.trace.conversation, ADA)
    ids = {one.document_id for one in corpus.documents(tenant="default")}
    assert all(set(documents) == ids for _, documents in said.sentences)


def test_the_names_that_a_question_was_narrowed_to_are_needed(tmp_path: Path) -> None:
    texts = {
        "payroll 2024 layoffs.md": ("# Layoffs\n\nThe list.\n", PUBLIC),
        "travel 2024.md": ("# Travel\n\nTravel is paid by the company in the policy version.\n", PUBLIC),
    }
    corpus = quick_corpus(tmp_path / "home", Shelves({"shelf": Shelf(texts)}))
    corpus.sync("memory://shelf")
    asker = corpus.asker(ADA)
    assert asker is not None
    asker = replace(asker, settings=replace(asker.settings, processing=Processing(filters="first")))
    (step,) = asker.processed(Query("What does the 2024 version say is paid?", ADA)).steps
    assert "layoffs" in step.outcome
    assert set(step.documents) == {one.document_id for one in corpus.documents(tenant="default")}


SEAL = "The seal of the pump is changed every 12 months by the maintenance crew."
OIL = "The oil of the pump is changed every 3 months by the shift leader."
GUARNIZIONE = "La guarnizione della pompa si cambia ogni 12 mesi, a cura della manutenzione."
OLIO = "L'olio della pompa si cambia ogni 3 mesi, a cura del capoturno."


def asked_on(home: Path, texts: Sequence[str], *questions: str) -> list[Answer]:
    """Answers of one conversation over documents of a sentence each."""
    shelf = Shelf({f"n{at}.txt": (text, PUBLIC) for at, text in enumerate(texts)})
    with quick_corpus(home, Shelves({"shelf": shelf})) as corpus:
        corpus.sync("memory://shelf")
        talk, answers = "new", []
        for question in questions:
            answers.append(corpus.ask(question, principal=ADA, conversation=talk))
            talk = answers[-1].trace.conversation
        return answers


@pytest.mark.parametrize(
    ("first", "second", "other", "then", "old", "new"),
    [
        (
            SEAL,
            OIL,
            "The pump room is painted green.",
            ("How often is the seal changed?", "And the oil?"),
            "12",
            "3 months",
        ),
        (
            GUARNIZIONE,
            OLIO,
            "La sala pompe è verde.",
            ("Ogni quanto si cambia la guarnizione?", "E l'olio?"),
            "12",
            "3 mesi",
        ),
    ],
    ids=("en", "it"),
)
def test_another_thing_gets_its_own_answer_or_none(
    tmp_path: Path, first: str, second: str, other: str, then: tuple[str, str], old: str, new: str
) -> None:
    _, there = asked_on(tmp_path / "one", (first, second, other), *then)
    assert isinstance(there, Answered)
    assert new in there.text
    assert old not in there.text
    before, absent = asked_on(tmp_path / "two", (first, other), *then)
    assert isinstance(before, Answered)
    assert isinstance(absent, Abstained), "what was said of the seal is nothing about the oil"
    assert absent.reason is AbstentionReason.WEAK_EVIDENCE
    assert absent.nearest


def test_where_it_cannot_be_told_what_gives_way_the_new_word_has_to_be_there(tmp_path: Path) -> None:
    text = "Full-time staff get 27 days of leave a year."
    _, absent = asked_on(
        tmp_path / "one", (text,), "How many days of leave do full-time staff get?", "And apprentices?"
    )
    assert isinstance(absent, Abstained)
    more = (text, "Apprentices get 30 days of leave a year, full-time staff or not.")
    _, there = asked_on(tmp_path / "two", more, "How many days of leave do full-time staff get?", "And apprentices?")
    assert isinstance(there, Answered)
    assert "30 days" in there.text
