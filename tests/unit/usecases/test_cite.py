"""Drafts of every kind to cited sentences: only minted markers, quotes cut from stored text."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.cite import Citing, cite, mint
from fonte.errors import ModelUnavailable
from fonte.support import SupportChecker
from fonte.types import Draft, DraftSentence, Passage
from usecase_making import document, passage

LEAVE = document("Full-time staff get 26 days of leave. Part-time staff get a share of it.")
TRAVEL = document("Trains are booked in second class. A night in a hotel costs at most 120 euro.", "travel.md")


def test_markers_that_were_handed_out_become_citations() -> None:
    draft = Draft("Staff get 26 days of leave. [1] A hotel costs at most 120 euro [2].")
    cited = cite(draft, [passage(LEAVE, 1), passage(TRAVEL, 2)], language="en")
    assert [sentence.text for sentence in cited.sentences] == [
        "Staff get 26 days of leave [1].",
        "A hotel costs at most 120 euro [2].",
    ]
    assert [one.document_name for one in cited.citations] == ["policy.md", "travel.md"]
    assert cited.removed == ()


def test_each_sentence_says_which_sentence_of_its_source_it_goes_back_to() -> None:
    draft = Draft("Full-timers have 26 days of leave [1]. At most 120 euro are paid for a hotel [2]. So it is [1].")
    cited = cite(draft, [passage(LEAVE, 1), passage(TRAVEL, 2)], language="en")
    said = [
        [(marker, {1: LEAVE, 2: TRAVEL}[marker].text[start:end]) for marker, start, end in one.places]
        for one in cited.sentences
    ]
    assert said == [
        [(1, "Full-time staff get 26 days of leave.")],
        [(2, "A night in a hotel costs at most 120 euro.")],
        [],
    ]


def test_a_sentence_that_was_cut_says_from_where() -> None:
    start = LEAVE.text.index("Part-time")
    text = LEAVE.text[start:]
    draft = Draft(f"{text} [1]", taken=(DraftSentence(text, 1, start, len(LEAVE.text)),))
    cited = cite(draft, [passage(LEAVE, 1)], language="en")
    assert cited.sentences[0].places == ((1, start, len(LEAVE.text)),)


def test_case_8_and_13_invented_markers_are_removed_and_recorded() -> None:
    draft = Draft("Staff get 26 days [1][7]. Trains run [abcdefgh] often [5, 1].")
    cited = cite(draft, [passage(LEAVE, 1)], language="en")
    assert [one.index for one in cited.citations] == [1]
    assert cited.removed == ("[7]", "[5]")
    assert [sentence.citations for sentence in cited.sentences] == [(1,), (1,)]


def test_case_18_each_of_three_claims_carries_a_marker_of_its_own() -> None:
    third = document("The canteen opens at noon.", "canteen.md")
    draft = Draft(
        "Staff get 26 days of leave [1]. Trains are booked in second class [2]. The canteen opens at noon [3]."
    )
    cited = cite(draft, [passage(LEAVE, 1), passage(TRAVEL, 2), passage(third, 3)], language="en")
    assert [sentence.citations for sentence in cited.sentences] == [(1,), (2,), (3,)]
    assert {sentence.support for sentence in cited.sentences} == {"supported"}
    assert [one.document_name for one in cited.citations] == ["policy.md", "travel.md", "canteen.md"]


def test_case_15_the_marker_of_the_third_source_stays_three() -> None:
    third = document("The canteen opens at noon.", "canteen.md")
    passages = [passage(LEAVE, 1), passage(TRAVEL, 2), passage(third, 3)]
    cited = cite(Draft("The canteen opens at noon [3]."), passages, language="en")
    assert [(one.index, one.document_name) for one in cited.citations] == [(3, "canteen.md")]


def test_case_20_a_draft_without_markers_is_cited_where_a_passage_supports_it_and_refused_elsewhere() -> None:
    passages = [passage(TRAVEL, 1), passage(LEAVE, 2)]
    cited = cite(Draft("Staff get 26 days. The canteen is green. No."), passages, language="en")
    assert [sentence.citations for sentence in cited.sentences] == [(2,), (), ()]
    assert [sentence.support for sentence in cited.sentences] == ["supported", "unsupported", "unsupported"]
    assert cited.notes == ("a citation was found for a sentence without one",)
    none = cite(Draft("The canteen is green."), passages, language="en")
    assert none.citations == ()
    assert none.sentences[0].support == "unsupported"


def test_case_10_and_15_a_marker_by_position_moves_to_the_passage_that_supports_the_sentence() -> None:
    third = document("The canteen opens at noon.", "canteen.md")
    passages = [passage(LEAVE, 1), passage(TRAVEL, 2), passage(third, 3)]
    cited = cite(Draft("The canteen opens at noon [1]. Staff get 26 days [1][2]."), passages, language="en")
    assert [sentence.citations for sentence in cited.sentences] == [(3,), (1, 2)]
    assert cited.removed == ("[1]",)
    assert cited.notes == ("a citation was moved to the passage that holds the sentence",)


def test_an_answer_in_another_language_than_asked_is_noted() -> None:
    said = "Il personale a tempo pieno riceve ogni anno ventisei giorni di ferie retribuite [1]."
    for language, notes in (("en", ("written in it, asked for en",)), ("it", ())):
        assert cite(Draft(said), [passage(LEAVE, 1)], language=language).notes == notes


def test_a_figure_that_the_source_does_not_hold_is_unsupported() -> None:
    cited = cite(Draft("Staff get 27 days of leave [1]."), [passage(LEAVE)], language="en")
    assert cited.sentences[0].support == "unsupported"
    assert cited.sentences[0].checks["numbers"] == "missing: 27 days"


def test_what_was_not_checked_is_not_called_supported() -> None:
    german = document("Vollzeitkräfte haben 26 Tage Urlaub.", language="de")
    cited = cite(Draft("Das Personal hat 26 Tage Urlaub [1]."), [passage(german)], language="de")
    assert cited.sentences[0].support == "not_checked"
    assert cited.sentences[0].checks["numbers"] == "ok"
    assert cited.sentences[0].checks["negation"] == "not checked"


FALSE = Draft("Staff get 26 days of leave [1]. Staff get 99 days of leave [1]. Welcome to all of you.")


def test_a_sentence_without_support_is_shown_as_such_left_out_or_takes_the_answer_with_it() -> None:
    flagged = cite(FALSE, [passage(LEAVE)], language="en")
    assert [one.support for one in flagged.sentences] == ["supported", "unsupported", "unsupported"]
    dropped = cite(FALSE, [passage(LEAVE)], language="en", policy="drop")
    assert dropped.text == "Staff get 26 days of leave [1]."
    assert [one.text for one in dropped.dropped] == ["Staff get 99 days of leave [1].", "Welcome to all of you."]
    withheld = cite(FALSE, [passage(LEAVE)], language="en", policy="abstain")
    assert (withheld.text, withheld.citations, len(withheld.dropped)) == ("", (), 2)


def test_an_answer_whose_sentences_are_all_supported_is_the_same_under_every_policy() -> None:
    draft = Draft("Staff get 26 days of leave [1].")
    made = [cite(draft, [passage(LEAVE)], language="en", policy=one) for one in ("flag", "drop", "abstain")]
    assert made[0] == made[1] == made[2]


class _Judging:
    """An entailment model that is sure, or cannot be asked."""

    id = "judging"

    def __init__(self, *, fails: bool) -> None:
        self.fails = fails
        self.asked: list[str] = []

    def score(self, premise: str, hypothesis: str) -> float:
        self.asked.append(hypothesis)
        if self.fails:
            raise ModelUnavailable("the entailment endpoint at h cannot be reached")
        return 0.9


@pytest.mark.parametrize("fails", [True, False])
def test_an_entailment_model_is_asked_once_of_a_sentence_and_its_failure_is_noted(fails: bool) -> None:
    pages = [passage(document("The pump runs at six bar and stops at eight."), 1), passage(document("Cats sleep."), 2)]
    judge = _Judging(fails=fails)
    said = "At six bar the pump runs, and at eight it stops."
    cited = cite(Draft(said), pages, language="en", checker=SupportChecker(None, judge))
    assert judge.asked == [said]
    (sentence,) = cited.sentences
    assert (sentence.citations, sentence.support) == ((1,), "not_checked" if fails else "supported")
    note = "entailment was not checked: the entailment endpoint at h cannot be reached"
    assert (note in cited.notes) == fails


def test_links_and_html_of_a_draft_do_not_pass() -> None:
    draft = Draft('See [the policy](https://evil.example/x) <img src="x" onerror="y"> https://evil.example now [1].')
    cited = cite(draft, [passage(LEAVE)], language="en")
    assert "evil" not in cited.text
    assert "<" not in cited.text
    assert "the policy" in cited.text
    assert len(cited.removed) == 3


@pytest.mark.parametrize("linked", ["[1](https://evil.example/x)", "[[1]](https://evil.example/x)", '[1](x "title")'])
def test_a_marker_that_a_model_made_a_link_of_stays_a_marker(linked: str) -> None:
    cited = cite(Draft(f"Staff get 26 days of leave {linked}."), [passage(LEAVE)], language="en")
    assert [sentence.text for sentence in cited.sentences] == ["Staff get 26 days of leave [1]."]
    assert [one.index for one in cited.citations] == [1]
    assert cited.removed == (linked,)


def test_a_linked_marker_that_was_not_handed_out_goes_whole() -> None:
    cited = cite(Draft("Staff get 26 days [1] of leave [9](https://evil.example)."), [passage(LEAVE)], language="en")
    assert cited.text == "Staff get 26 days of leave [1]."
    assert cited.removed == ("[9](https://evil.example)", "[9]")


def test_a_taken_sentence_is_supported_and_its_place_is_checked() -> None:
    taken = DraftSentence(LEAVE.text[0:37], 1, 0, 37)
    cited = cite(Draft("ignored", taken=(taken,)), [passage(LEAVE)], language="en")
    assert cited.text == "Full-time staff get 26 days of leave [1]."
    assert cited.sentences[0].support == "supported"


def test_a_sentence_that_was_not_taken_from_where_it_says_is_dropped() -> None:
    false = DraftSentence("Full-time staff get 99 days of leave.", 1, 0, 37)
    cited = cite(Draft("x", taken=(false,)), [passage(LEAVE)], language="en")
    assert cited.sentences == ()
    assert cited.removed == ("[1]",)


def test_a_bracketed_number_of_the_source_is_no_marker_of_ours() -> None:
    source = document("Water boils at 100 degrees [2] at sea level.", "boiling.md")
    taken = DraftSentence(source.text, 1, 0, len(source.text))
    cited = cite(Draft("x", taken=(taken,)), [passage(source, 1), passage(LEAVE, 2)], language="en")
    assert [one.index for one in cited.citations] == [1]
    assert cited.text == "Water boils at 100 degrees at sea level [1]."


def test_case_6_one_sentence_in_three_files_cites_all_three() -> None:
    texts = [document("The gate closes at nine. " + extra, f"{extra}.md") for extra in ("One.", "Two.", "Three.")]
    taken = tuple(DraftSentence(text.text[:24], marker, 0, 24) for marker, text in enumerate(texts, start=1))
    cited = cite(Draft("x", taken=taken), [passage(text, n) for n, text in enumerate(texts, start=1)], language="en")
    assert cited.text == "The gate closes at nine [1][2][3]."
    assert [one.index for one in cited.citations] == [1, 2, 3]


@given(st.text(max_size=80), st.text(min_size=1, max_size=80), st.integers(0, 5))
def test_every_quote_is_the_slice_of_its_document_and_has_its_hash(before: str, content: str, marker: int) -> None:
    if not content.strip():
        content += "x"
    source = document(before + content, "any.md")
    citation = mint(passage(source, marker, len(before)))
    assert citation.quote == source.text[citation.locator.start : citation.locator.end] == content
    assert citation.quote_sha256 == hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


@given(st.text(alphabet="abc [1]2[]0.,;9【】\n!", max_size=120))
def test_no_draft_makes_a_citation_that_was_not_handed_out(text: str) -> None:
    passages = [passage(LEAVE, 1), passage(TRAVEL, 2)]
    cited = cite(Draft(text), passages, language="en")
    assert {one.index for one in cited.citations} <= {1, 2}
    assert {marker for sentence in cited.sentences for marker in sentence.citations} == {
        one.index for one in cited.citations
    }


@pytest.mark.parametrize("stop", ["", ".", "!", "?", "…", "..."])
def test_a_marker_stands_before_the_stop(stop: str) -> None:
    cited = cite(Draft(f"Staff get 26 days [1]{stop}"), [passage(LEAVE)], language="en")
    assert cited.sentences[0].text == f"Staff get 26 days [1]{stop or '.'}"


PARENT = document("Boats pay 5 euro. Cranes pay 7 euro. Nothing is given back. The office opens at 8.", "fees.md")


def _parent(start: int, end: int) -> Passage:
    return replace(passage(PARENT, 1), start=0, end=len(PARENT.text), found=(start, end))


def test_a_citation_of_a_parent_quotes_the_child_that_was_found() -> None:
    cited = cite(Draft("Cranes pay 7 euro [1]."), [_parent(18, 36)], language="en")
    assert [(one.quote, one.locator.start) for one in cited.citations] == [("Cranes pay 7 euro.", 18)]
    assert cited.sentences[0].support == "supported"


def test_a_figure_from_the_rest_of_the_parent_is_in_the_quote() -> None:
    cited = cite(Draft("Boats pay 5 euro [1]."), [_parent(18, 36)], language="en")
    assert cited.citations[0].quote == PARENT.text
    both = cite(Draft("Boats pay 9 euro [1]."), [_parent(18, 36)], language="en")
    assert both.citations[0].quote == "Cranes pay 7 euro."
    assert both.sentences[0].support == "unsupported"


def test_what_was_cut_from_the_rest_of_the_parent_is_in_the_quote() -> None:
    start = PARENT.text.index("Nothing")
    taken = DraftSentence("Nothing is given back.", 1, start, start + 22)
    cited = cite(Draft(taken.text, taken=(taken,)), [_parent(18, 36)], language="en")
    assert cited.citations[0].quote == "Cranes pay 7 euro. Nothing is given back."


def test_under_abstain_nothing_is_given_before_the_end_and_then_all_or_nothing() -> None:
    good = Citing([passage(LEAVE)], language="en", policy="abstain")
    assert good.feed("Staff get 26 days of leave [1]. ") == []
    assert [type(one).__name__ for one in good.close()] == ["Citation", "Sentence"]
    assert good.result().text == "Staff get 26 days of leave [1]."
    bad = Citing([passage(LEAVE)], language="en", policy="abstain")
    assert bad.feed(FALSE.text) + bad.close() == []
    assert (bad.result().text, bad.result().citations) == ("", ())


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("The answer to this question is 40.", "en"),
        ("Answer: 40", "en"),
        ("La risposta alla domanda è 40.", "it"),
    ],
)
def test_a_figure_in_a_frame_is_tied_to_nothing(said: str, language: str) -> None:
    source = passage(document("40 colleagues put 612 questions to the assistant."))
    assert cite(Draft(said), [source], language=language).citations == ()
    marked = cite(Draft(said.rstrip(".") + " [1]."), [source], language=language)
    assert [(one.text, one.support) for one in marked.sentences] == [("40 [1].", "not_checked")]


@pytest.mark.parametrize(
    "frame", ["The answer is: ", "The answer to your question is that ", "**Answer:** ", "La risposta è: "]
)
def test_what_frames_an_answer_is_none_of_it(frame: str) -> None:
    source = passage(document("40 colleagues put 612 questions to the assistant."))
    cited = cite(Draft(f"{frame}40 colleagues put 612 questions to the assistant."), [source], language="en")
    assert [one.support for one in cited.sentences] == ["supported"]
    assert cited.text == "40 colleagues put 612 questions to the assistant [1]."
