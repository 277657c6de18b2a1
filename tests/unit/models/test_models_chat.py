"""A chat endpoint as a generator: its sentinel, its silence, its nonsense."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.models.stub_server import Reply, chat_script, json_reply, stub_server

from fonte.errors import BadModelOutput, ConfigError, ModelUnavailable
from fonte.models.endpoint import Endpoint, _events
from fonte.models.openai_chat import OpenAIChat
from fonte.models.registry import make_chat
from fonte.models.writing import CUT, ESTIMATED, Prices, _may_decline
from fonte.types import Principal, Query

QUERY = Query("How many days?", Principal())


def render(query, passages, language):
    return [{"role": "system", "content": language}, {"role": "user", "content": query.text}]


def _chat(stub, **options):
    return OpenAIChat("m", Endpoint(stub.base_url, what="generation", timeout_seconds=3), render, **options)


def _both(text, **options):
    """The draft, and the pieces of the stream with its last draft."""
    with stub_server(chat_script(text, **options)) as stub:
        chat = _chat(stub)
        return chat.draft(QUERY, (), language="en"), list(chat.stream(QUERY, (), language="en"))


def test_the_request_is_the_documented_one():
    with stub_server(chat_script("Yes [1].")) as stub:
        _chat(stub, max_tokens=77).draft(QUERY, (), language="it")
    (asked,) = stub.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "m",
        "temperature": 0,
        "max_tokens": 77,
        "messages": [{"role": "system", "content": "it"}, {"role": "user", "content": "How many days?"}],
    }
    assert "authorization" not in asked.headers


def test_tokens_are_counted_in_both_forms():
    draft, stream = _both("Twenty-five [1].")
    assert (draft.prompt_tokens, draft.completion_tokens) == (11, 5)
    assert stream[-1] == draft
    assert len(stream) > 3, "pieces come one by one"


@pytest.mark.parametrize(
    "text", ["NO_ANSWER", "NO_ANSWER.", " `NO_ANSWER`\n", "**NO_ANSWER**", "NO_ANSWER: nothing there", "", " \n"]
)
def test_the_sentinel_and_silence_decline_and_nothing_of_them_is_shown(text):
    draft, stream = _both(text)
    assert draft.declined
    assert draft.text == ""
    assert stream == [draft]


@pytest.mark.parametrize(
    "text", ["NO_ANSWERS are kept [1].", "No [1].", "N", "The constant NO_ANSWER is used [1].", "  Yes [1]."]
)
def test_other_text_is_an_answer_whole_and_in_order(text):
    draft, stream = _both(text, piece=1)
    assert not draft.declined
    assert draft.text == text
    assert "".join(stream[:-1]) == text


@given(st.text(alphabet="NO_ANSWER. `x", max_size=14))
def test_a_held_back_start_can_still_become_the_sentinel(text):
    if not _may_decline(text):
        assert not any(_may_decline(text + more) for more in ("R", "WER", " NO_ANSWER"))


def test_an_answer_cut_at_the_limit_is_told():
    draft, stream = _both("Twenty-five", finish="length")
    assert draft.missing == (CUT,)
    assert stream[-1] == draft


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choices": []},
        {"choices": "x"},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"message": "x"}]},
        {"choices": [{"message": {"content": 7}}]},
        {"choices": [{"message": {"content": ["x"]}}]},
    ],
)
def test_nonsense_is_bad_output(answer):
    with stub_server(lambda _: json_reply(answer)) as stub, pytest.raises(BadModelOutput):
        _chat(stub).draft(QUERY, (), language="en")


@pytest.mark.parametrize("usage", [{"prompt_tokens": -4, "completion_tokens": "many"}, None, {}])
def test_tokens_that_are_not_told_are_estimated_and_it_is_said(usage):
    answer = {"choices": [{"message": {"content": "Yes"}}], "usage": usage}
    with stub_server(lambda _: json_reply(answer)) as stub:
        draft = _chat(stub, prices=Prices(1e6, 2e6)).draft(QUERY, (), language="en")
    # "en" and "How many days?" at most three letters a token, and the mark; "Yes"
    assert (draft.prompt_tokens, draft.completion_tokens) == (1 + 6, 1)
    assert draft.cost == 7 * 1 + 1 * 2
    assert draft.notes == (ESTIMATED,)


def test_the_endpoints_own_count_is_priced():
    with stub_server(chat_script("Yes [1].")) as stub:
        *_, draft = _chat(stub, prices=Prices(3.0, 15.0)).stream(QUERY, (), language="en")
    assert draft.cost == pytest.approx((11 * 3 + 5 * 15) / 1e6)
    assert draft.notes == ()


def test_an_endpoint_that_never_ends_is_cut():
    with stub_server(chat_script("word " * 2000, piece=100)) as stub:
        *pieces, draft = _chat(stub, max_tokens=10).stream(QUERY, (), language="en")
    assert draft.missing == (CUT,)
    assert len(draft.text) == len("".join(pieces)) == 160


def test_an_endpoint_that_does_not_stream_answers_whole():
    with stub_server(lambda _: json_reply({"choices": [{"message": {"content": "Yes [1]."}}]})) as stub:
        *pieces, draft = _chat(stub).stream(QUERY, (), language="en")
    assert pieces == ["Yes [1]."]
    assert draft.text == "Yes [1]."


def _event(text):
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"


BROKEN_LATE = {
    "no end": Reply(chunks=[_event("Twenty"), _event(" days")]),
    "cut": Reply(chunks=[_event("Twenty"), _event(" days")], cut=True),
    "no JSON": Reply(chunks=[_event("Twenty"), _event(" days"), b"data: {oops\n\n"]),
    "an error": Reply(chunks=[_event("Twenty days"), b'data: {"error": {"message": "out of memory"}}\n\n']),
}


@pytest.mark.parametrize("how", BROKEN_LATE)
def test_a_stream_that_breaks_in_the_middle_tells_so_in_its_draft_and_is_not_tried_again(how):
    with stub_server(lambda _: BROKEN_LATE[how]) as stub:
        *pieces, draft = _chat(stub).stream(QUERY, (), language="en")
    assert "".join(pieces) == draft.text == "Twenty days"
    assert draft.broken.startswith("the generation endpoint at 127.0.0.1")
    assert ("out of memory" in draft.broken) == (how == "an error")
    assert draft.notes == (ESTIMATED,)
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    ("reply", "error", "tries"),
    [
        (Reply(chunks=[]), ModelUnavailable, 1),
        (Reply(chunks=[], cut=True), ModelUnavailable, 1),
        (Reply(chunks=[b'data: {"choices": [{"delta": 3}]}\n\n']), BadModelOutput, 1),
        (Reply(chunks=[b'data: {"error": {"message": "out of memory"}}\n\n']), ModelUnavailable, 1),
        (Reply(chunks=[b'data: {"choices": []}\n\n', b"data: [DONE]\n\n"]), BadModelOutput, 1),
        (Reply(200, b"<html>", {"Content-Type": "text/html"}), BadModelOutput, 1),
        (Reply(500, b"{}"), ModelUnavailable, 3),
    ],
)
def test_a_stream_that_never_begins_raises(reply, error, tries):
    with stub_server(lambda _: reply) as stub:
        endpoint = Endpoint(stub.base_url, what="generation", timeout_seconds=3, sleep=lambda _: None)
        with pytest.raises(error):
            list(OpenAIChat("m", endpoint, render).stream(QUERY, (), language="en"))
    assert len(stub.asked) == tries


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), max_size=6), st.integers(1, 9))
def test_events_are_the_same_however_the_bytes_are_cut(texts, size):
    data = b": comment\r\n\r\n" + b"".join(f"event: x\ndata: {text}\n\n".encode() for text in texts)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert list(_events(iter(chunks))) == [text.encode() for text in texts]


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(ConfigError):
        make_chat("", render, base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ConfigError):
        make_chat("m", render, base_url="http://127.0.0.1:1/v1", max_tokens=0)
    assert make_chat("m", render, base_url="http://127.0.0.1:1/v1").name == "openai:m"


def test_a_generators_own_key_comes_first(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    monkeypatch.setenv("FONTE_GENERATION_API_KEY", "own")
    with stub_server(chat_script("Yes [1].")) as stub:
        make_chat("m", render, base_url=stub.base_url).draft(QUERY, (), language="en")
    assert stub.asked[0].headers["authorization"] == "Bearer own"
