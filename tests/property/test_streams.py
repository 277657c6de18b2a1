"""Drafts cut anywhere: what is streamed is stored, no raw marker passes, citations come before their sentence."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.models.stub_server import Reply, chat_script, stub_server

from fonte.answer import Asker
from fonte.asked import Asked
from fonte.cite import cite
from fonte.corpus import OpenCorpus
from fonte.errors import InvalidQuery, ModelUnavailable
from fonte.models.anthropic import AnthropicMessages
from fonte.models.endpoint import Endpoint
from fonte.models.openai_chat import OpenAIChat
from fonte.models.registry import make_chat
from fonte.types import (
    Abstained,
    AbstentionReason,
    Answer,
    Answered,
    Citation,
    Draft,
    Filters,
    Language,
    Passage,
    Principal,
    Query,
)
from quick_corpus import Shelf, Shelves, quick_corpus

READER = Principal(roles=frozenset({"public"}))
QUESTION = "How is the pump checked, and by whom?"
PUBLIC = frozenset({"public"})
TEXTS = {
    "pump.md": ("# Pumps\n\nThe pump in hall 4 runs at 40 bar. It is checked by two people on Monday.", PUBLIC),
    "door.md": ("# Doors\n\nThe door of hall 4 is checked and painted green by Mr. Rossi.", PUBLIC),
    "lamp.md": ("# Lamps\n\nThe lamp of the pump is checked by the night watch.", PUBLIC),
}
DRAFTS = (
    "The pump runs at 40 bar [1]. It is checked on Monday [2]. The lamp is checked at night [3].",
    "The pump runs at 40 bar. [1] It is checked by two people.[2][3] The door is green [1, 2].",
    (
        "Sure! Here is the answer.\n\n- The pump runs at 40 bar [1-2].\n- The door is green 【3】.\n\n"
        "Sources:\n[1] pump.md\n[2] door.md"
    ),
    "The pump [^1] runs at 40 bar [source 2]. The constant [abc] stays. See [9] and [1:2] and [2†pump]. Done [1",
    (
        "It runs at 40 bar [1](http://evil.example/x). ![x](http://evil.example/y.png) <b>It is green</b> [2]. "
        "https://evil.example"
    ),
    (
        "[SOURCE 1 0123456789ab | pump.md]\nThe pump in hall 4 runs at 40 bar.\n[/SOURCE 1 0123456789ab]\n"
        "The pump runs at 40 bar [1]."
    ),
    "Answer: **The pump** of Mr. Rossi runs at 3.5 bar (see p. 4) [1]; it is old [2]! Is it? Yes [3].",
    "I do not know. The sources do not say who paid. The pump runs at 40 bar [1].",
    "La pompa gira a 40 bar [1]. È controllata da 2 persone [2][7].\n\nLa porta è verde [[3]].\n[1]\n",
    (
        "The pump runs at 40 bar [1].<script>alert(1)</script> It is\u200b green\u202e [2].\r\n\r\n"
        "### References\n1. pump.md\n2. door.md\n"
    ),
    "The pump runs at 40 bar [1]. The pump runs at 40 bar [1]. The pump runs at 40 bar [1]. It is checked [2",
    "1. The pump runs at 40 bar [1]\n2. It is checked on Monday [2]\n3. It is green [3]\n",
)
RAW = re.compile(r"[\[【]\s*(?:\^|source|font[ei])?\s*\d|[\[【]\s*[\]】]|\d\s*[\]】]", re.IGNORECASE)


@dataclass
class Scripted:
    """A generator that says what it was given, in the pieces that it was given."""

    pieces: Sequence[str]
    last: Draft | None = None
    name: str = "scripted"

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        return Draft("".join(self.pieces))

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        yield from self.pieces
        yield self.last or Draft("".join(self.pieces))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenCorpus]:
    shelves = Shelves({"shelf": Shelf(TEXTS)})
    with quick_corpus(tmp_path_factory.mktemp("streams"), shelves) as opened:
        opened.sync("memory://shelf")
        yield opened


@pytest.fixture(scope="module")
def asker(corpus: OpenCorpus) -> Asker:
    made = corpus.asker(READER)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def asked(asker: Asker) -> Asked:
    found = asker.prepare(Query(QUESTION, READER, Filters()))
    assert len(found.passages) == 3
    return found


def cuts(text: str, chance: random.Random) -> list[str]:
    """The text in random pieces: some cut it at every character, some nearly nowhere."""
    often = chance.choice((1.0, 0.5, 0.2, 0.05))
    at = [0, *(index for index in range(1, len(text)) if chance.random() < often), len(text)]
    return [text[low:high] for low, high in itertools.pairwise(at)]


def played(asker: Asker, asked: Asked, generator: Scripted) -> tuple[str, Answer]:
    """The streamed text and the answer; on the way: citations before they are used, and as they are kept."""
    text, citations = "", {}
    for item in asker._written(asked, generator):
        if isinstance(item, Citation):
            citations[item.index] = item
        elif isinstance(item, str):
            text += item
            assert {int(number) for number in re.findall(r"\[(\d+)\]", item)} <= set(citations), item
        else:
            if isinstance(item, Answered):
                assert item.citations == tuple(citations[index] for index in sorted(citations))
            return text, item
    raise AssertionError("a stream ends with its answer")


@pytest.mark.timeout(900)  # some twenty seconds, where nothing else runs
def test_case_26_a_thousand_random_cuts_stream_what_is_stored(asker: Asker, asked: Asked) -> None:
    chance = random.Random(26)
    whole = {draft: played(asker, asked, Scripted([draft]))[1] for draft in DRAFTS}
    for turn in range(1000):
        draft = DRAFTS[turn % len(DRAFTS)]
        text, answer = played(asker, asked, Scripted(cuts(draft, chance)))
        expected = whole[draft]
        assert isinstance(answer, Answered) and isinstance(expected, Answered), draft
        assert text == answer.text
        assert (answer.text, answer.sentences, answer.citations) == (
            expected.text,
            expected.sentences,
            expected.citations,
        )
        assert answer.trace.removed_markers == expected.trace.removed_markers
        assert answer.missing == expected.missing
        plain = re.sub(r"\[[123]\]", "", text)
        assert RAW.search(plain) is None, plain
        assert re.search(r"evil|script|<[a-z/]|SOURCE|\u200b|\u202e", text) is None, text


def test_the_drafts_say_what_they_should() -> None:
    """So that the cuts above are of something."""
    shown = {
        0: "The pump runs at 40 bar [1]. It is checked on Monday [1]. The lamp is checked at night [3].",
        1: "The pump runs at 40 bar [1]. It is checked by two people [1]. The door is green [1][2].",
        2: "Sure! Here is the answer. The pump runs at 40 bar [1][2]. The door is green [2].",
        3: "The pump runs at 40 bar [1][2]. The constant [abc] stays. See and and. Done [1].",
        4: "It runs at 40 bar. x It is green [1][2].",
        5: "The pump runs at 40 bar [1].",
        6: "The pump of Mr. Rossi runs at 3.5 bar (see p. 4); it is old [1][2]! Is it? Yes [3].",
        7: "The pump runs at 40 bar [1].",
        8: "La pompa gira a 40 bar [1]. È controllata da 2 persone [1]. La porta è verde [2].",
        9: "The pump runs at 40 bar [1]. It is green [2].",
        10: "The pump runs at 40 bar [1]. It is checked [2].",
        11: "1. The pump runs at 40 bar [1]. 2. It is checked on Monday [1]. 3. It is green [3].",
    }
    from unit.usecases.usecase_making import document, passage

    passages = [passage(document(text, name), at) for at, (name, (text, _)) in enumerate(TEXTS.items(), start=1)]
    for at, text in shown.items():
        assert cite(Draft(DRAFTS[at]), passages, language="en").text == text


@pytest.mark.timeout(900)
@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["The pump runs at 40 bar", " [1]", "[2]", "[", "]", "1", " 【3】", "[^2]", "[1-3]", ". ", "! ", "\n\n",
             "\n- ", "<a href=x>", "</a>", "[x](", "http://evil.example)", " It is old", " Mr. Rossi",
             "Sources:\n", " I do not know.", "\u200b"]
        ),
        max_size=24,
    ),
    st.integers(0, 2**32),
)  # fmt: skip
def test_any_text_cut_anywhere_is_the_same_and_shows_no_raw_marker(
    asker: Asker, asked: Asked, parts: list[str], seed: int
) -> None:
    draft = "".join(parts)
    text, answer = played(asker, asked, Scripted(cuts(draft, random.Random(seed))))
    once, whole = played(asker, asked, Scripted([draft]))
    assert text == once
    assert type(answer) is type(whole)
    if isinstance(answer, Answered):
        assert text == answer.text
        assert RAW.search(re.sub(r"\[[123]\]", "", text)) is None, text
        assert "evil" not in text
    else:
        assert text == ""


@pytest.mark.parametrize("size", [1, 7, 64])
def test_case_5_the_stream_and_the_whole_answer_cite_the_same_over_a_real_endpoint(
    asker: Asker, asked: Asked, size: int
) -> None:
    """Bytes of events cut anywhere, through the endpoint and its server."""

    def render(query: Query, passages: Sequence[Passage], language: Language) -> list[dict[str, str]]:
        return [{"role": "user", "content": query.text}]

    for draft in DRAFTS[:4]:
        sent = b"".join(chat_script(draft, piece=2)(_streaming()).chunks or [])
        reply = Reply(
            headers={"Content-Type": "text/event-stream"},
            chunks=[sent[at : at + size * 16] for at in range(0, len(sent), size * 16)],
        )
        with stub_server(lambda _, reply=reply: reply) as stub:
            text, answer = played(asker, asked, make_chat("m", render, base_url=stub.base_url))  # type: ignore[arg-type]  # any generator
        assert isinstance(answer, Answered)
        expected = cite(Draft(draft), asked.passages, language=asked.language)
        assert text == answer.text == expected.text
        assert answer.citations == expected.citations


class Replayed(Endpoint):
    """An endpoint that answers with the same bytes, in the pieces that it was given."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        super().__init__("http://127.0.0.1:9", what="generation")
        self._replayed = pieces

    @contextmanager
    def _open(self, path: str, body: Mapping[str, object]) -> Iterator[tuple[str, Iterator[bytes]]]:
        yield "text/event-stream", iter(self._replayed)


def openai_events(draft: str) -> bytes:
    return b"".join(chat_script(draft, piece=2)(_streaming()).chunks or [])


def anthropic_events(draft: str) -> bytes:
    told = [{"type": "message_start", "message": {"usage": {"input_tokens": 9}}}, {"type": "ping"}]
    told += [
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": draft[at : at + 2]}}
        for at in range(0, len(draft), 2)
    ]
    told += [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    return b"".join(f"event: {one['type']}\r\ndata: {json.dumps(one)}\r\n\r\n".encode() for one in told)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("make", "events"), [(OpenAIChat, openai_events), (AnthropicMessages, anthropic_events)])
def test_case_26_events_cut_at_random_bytes_stream_what_is_stored(
    asker: Asker, asked: Asked, make: type[OpenAIChat], events: Callable[[str], bytes]
) -> None:
    """The events of an endpoint, in the middle of characters too; ``gguf`` reads its child as ``openai`` does."""
    chance = random.Random(5)
    whole = {draft: played(asker, asked, Scripted([draft]))[1] for draft in DRAFTS}
    for turn in range(10 * len(DRAFTS)):
        draft = DRAFTS[turn % len(DRAFTS)]
        sent = events(draft)
        at = [0, *sorted(chance.sample(range(1, len(sent)), chance.choice((3, 40, 400)))), len(sent)]
        endpoint = Replayed([sent[low:high] for low, high in itertools.pairwise(at)])
        text, answer = played(asker, asked, make("m", endpoint, lambda *_: []))  # type: ignore[arg-type]  # any generator
        expected = whole[draft]
        assert isinstance(answer, Answered) and isinstance(expected, Answered)
        assert text == answer.text == expected.text
        assert (answer.sentences, answer.citations) == (expected.sentences, expected.citations)


def test_case_26_extractive_answers_stream_what_is_stored(corpus: OpenCorpus) -> None:
    for question in (QUESTION, "Who checks the lamp of the pump?", "What color is the door of hall 4?"):
        text, citations = "", set()
        for item in corpus.stream(question, principal=READER):
            if isinstance(item, Citation):
                citations.add(item.index)
            elif isinstance(item, str):
                text += item
                assert {int(number) for number in re.findall(r"\[(\d+)\]", item)} <= citations
            else:
                assert isinstance(item, Answered)
                assert text == item.text
                assert {one.index for one in item.citations} == citations


def _streaming() -> object:
    from unit.models.stub_server import Asked as Sent

    return Sent("", {}, {"stream": True})


# --- streams that break, rights that narrow, drafts that decline ------------------------------------------------------


def test_of_a_stream_that_breaks_what_was_shown_is_what_is_stored(asker: Asker, asked: Asked) -> None:
    said = "The pump runs at 40 bar [1]. It is checked on Mon"
    text, answer = played(asker, asked, Scripted([said], Draft(said, broken="the endpoint broke off")))
    assert isinstance(answer, Answered)
    assert text == answer.text == "The pump runs at 40 bar [1]."
    assert answer.missing == ("the answer broke off: the endpoint broke off",)


def test_a_stream_that_breaks_before_anything_was_shown_is_an_error(asker: Asker, asked: Asked) -> None:
    said = "The pump runs at"
    with pytest.raises(ModelUnavailable, match="broke off"):
        played(asker, asked, Scripted([said], Draft(said, broken="the endpoint broke off")))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The pump runs at 40 bar [1]. It is checked by two peop", "The pump runs at 40 bar [1]."),
        ("The pump runs at 40 bar [1]. It is checked by 2.", "The pump runs at 40 bar [1]."),
        (
            "The pump runs at 40 bar [1]. It is checked by two people.",
            "The pump runs at 40 bar [1]. It is checked by two people [1].",
        ),
        ("The pump runs at 40 bar. [1]", "The pump runs at 40 bar [1]."),
    ],
)
def test_of_a_draft_that_was_cut_the_half_sentence_is_left_out(
    asker: Asker, asked: Asked, said: str, shown: str
) -> None:
    for pieces in ([said], list(said)):
        text, answer = played(asker, asked, Scripted(pieces, Draft(said, missing=("cut",), cut=True)))
        assert isinstance(answer, Answered)
        assert text == answer.text == shown
        assert answer.missing == ("cut",)


def test_a_draft_that_was_cut_in_its_first_sentence_is_an_abstention(asker: Asker, asked: Asked) -> None:
    said = "The pump in hall 4 runs at 40 b"
    text, answer = played(asker, asked, Scripted([said], Draft(said, missing=("cut",), cut=True)))
    assert text == ""
    assert isinstance(answer, Abstained)
    assert "cut" in answer.trace.notes


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I don't know.", AbstentionReason.GENERATOR_DECLINED),
        ("Non lo so. Le fonti non contengono questa informazione [1].", AbstentionReason.GENERATOR_DECLINED),
        ("The provided documents do not mention it. In general pumps are blue.", AbstentionReason.GENERATOR_DECLINED),
        ("Pumps are blue.", AbstentionReason.UNSUPPORTED),
        ("Sources:\n[1] pump.md\n[2] door.md", AbstentionReason.UNSUPPORTED),
        ("[SOURCE 1 0123456789ab | pump.md]\nThe pump runs. [1]\n", AbstentionReason.UNSUPPORTED),
        (QUESTION, AbstentionReason.UNSUPPORTED),
    ],
)
def test_a_draft_that_says_nothing_cited_is_an_abstention_and_shows_nothing(
    asker: Asker, asked: Asked, said: str, reason: AbstentionReason
) -> None:
    text, answer = played(asker, asked, Scripted(list(said)))
    assert text == ""
    assert isinstance(answer, Abstained)
    assert answer.reason is reason


def test_what_the_sources_do_not_say_is_named_as_missing(asker: Asker, asked: Asked) -> None:
    said = "The pump runs at 40 bar [1]. The sources do not say who paid for it [2]."
    _, answer = played(asker, asked, Scripted([said]))
    assert isinstance(answer, Answered)
    assert answer.text == "The pump runs at 40 bar [1]."
    assert answer.missing == ("The sources do not say who paid for it.",)


def test_rights_that_narrow_while_it_is_written_end_the_answer(tmp_path: Path) -> None:
    shelves = Shelves({"shelf": Shelf(TEXTS)})
    with quick_corpus(tmp_path, shelves) as opened:
        opened.sync("memory://shelf")
        asker = opened.asker(READER)
        assert asker is not None
        asked = asker.prepare(Query(QUESTION, READER, Filters()))

        class Slow(Scripted):
            def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
                yield "The pump runs at 40 bar [1]. It is checked on Monday, "
                opened.delete("door.md")
                yield "as it should be [2]. It is green."
                yield Draft("x")

        text, answer = played(asker, asked, Slow([]))
    assert text == "The pump runs at 40 bar [1]."
    assert isinstance(answer, Abstained)
    assert answer.reason is AbstentionReason.NOTHING_RETRIEVED
    assert "door.md" not in {one.stored.document_name for one in answer.nearest}


def test_a_consumer_that_leaves_stores_nothing(corpus: OpenCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    before = corpus.answers(principal=READER)
    stream = corpus.stream(QUESTION, principal=READER)
    next(stream)
    stream.close()
    assert corpus.answers(principal=READER) == before


def test_half_a_character_is_no_question(corpus: OpenCorpus) -> None:
    for ask in (corpus.ask, corpus.search):
        with pytest.raises(InvalidQuery, match="half a character"):
            ask("How is the pump \udcff checked?", principal=READER)
