"""Endpoints that drip, pour, lie about what they used or fail with status 200: an error in time, never a crash."""

from __future__ import annotations

import json
import time

import pytest

from fonte.errors import BadModelOutput, ModelError, ModelUnavailable
from fonte.models import endpoint
from fonte.models.registry import make_anthropic, make_chat
from fonte.models.writing import ESTIMATED
from fonte.types import Draft, Principal, Query
from raw_server import EVENTS, JSON, pours, raw_server, says, trickles
from stub_server import chat_script, stub_server

TIMEOUT_SECONDS = 0.5
QUERY = Query("How is the pump checked?", Principal())
DONE = b"data: [DONE]\n\n"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(endpoint, "_FIRST_WAIT_SECONDS", 0.01)


def render(query, passages, language):
    return [{"role": "user", "content": query.text}]


def event(value):
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def text(said):
    return event({"choices": [{"delta": {"content": said}}]})


def failed(status, headers=b""):
    return b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\n" + headers + b"Connection: close\r\n\r\n"


def heard(play, make=make_chat):
    """What a generator over the endpoint gives, the Draft last."""
    with raw_server(play) as address:
        base = f"{address}/v1" if make is make_chat else address
        chat = make("m", render, base_url=base, timeout_seconds=TIMEOUT_SECONDS, max_tokens=64)
        return list(chat.stream(QUERY, (), language="en"))


ENDLESS = {
    "headers": trickles(b"HTTP/1.1 200 OK\r\nX-Slow: "),
    "informational answers": trickles(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the body of a failure": trickles(failed(b"400 No") + b'{"error": "'),
    "the body of a failure that is tried again": trickles(failed(b"503 Later") + b'{"error": "'),
    "comments": trickles(EVENTS, b": still here\n\n"),
    "events without text": trickles(EVENTS, text("")),
    "a line": trickles(EVENTS + b"data: "),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_never_ends_is_given_up_in_time(what):
    began = time.monotonic()
    with pytest.raises(ModelUnavailable):
        heard(ENDLESS[what])
    assert time.monotonic() - began < 3 * TIMEOUT_SECONDS + 4  # three tries at most, on a busy machine


def test_a_line_that_pours_is_too_long_before_it_is_slow(monkeypatch):
    with raw_server(pours(EVENTS + b"data: ", b"a" * 65536)) as address:
        asked = endpoint.Endpoint(address, what="generation", timeout_seconds=30, max_response_bytes=8_000_000)
        with pytest.raises(BadModelOutput, match="more than 8000000 bytes"):
            list(asked.stream("/x", {}))


def test_text_that_pours_is_cut():
    *pieces, draft = heard(pours(EVENTS, text("The pump runs at 40 bar [1]. ")))
    assert draft.cut
    assert draft.text == "".join(pieces)
    assert len(draft.text) == 64 * 16


@pytest.mark.parametrize("tokens", [10**400, -1, "12", True, 1.5, None, [3]])
def test_tokens_that_cannot_be_are_estimated(tokens):
    usage = event({"choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": tokens}})
    draft = heard(says(EVENTS, text("It runs [1]."), usage, DONE))[-1]
    assert draft.notes == (ESTIMATED,)
    assert 0 < draft.completion_tokens < 10
    told = [
        {"type": "message_start", "message": {"usage": {"input_tokens": tokens}}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "It runs [1]."}},
        {"type": "message_stop"},
    ]
    assert heard(says(EVENTS, *map(event, told)), make_anthropic)[-1].notes == (ESTIMATED,)


@pytest.mark.parametrize("make", [make_chat, make_anthropic])
@pytest.mark.parametrize("error", [{"message": "the quota is used up"}, "the quota is used up"])
def test_a_failure_with_status_200_is_no_silence(make, error):
    body = json.dumps({"type": "error", "error": error}).encode()
    with pytest.raises(ModelUnavailable, match="answered with an error: the quota is used up"):
        heard(says(JSON, body), make)
    with raw_server(says(JSON, body)) as address:
        chat = make("m", render, base_url=address, timeout_seconds=5)
        with pytest.raises(ModelUnavailable, match="the quota is used up"):
            chat.draft(QUERY, (), language="en")


@pytest.mark.parametrize("wait", ["²".encode(), b"soon", b"-1", b"Mon, 01 Jan 99999 00:00:00 GMT", b""])
def test_a_retry_after_that_says_nothing_is_passed_over(wait):
    with pytest.raises(ModelUnavailable, match="answered 503"):
        heard(says(failed(b"503 Later", b"Retry-After: " + wait + b"\r\n")))


@pytest.mark.parametrize(
    "said",
    [
        b'data: {"choices":[{"delta":{"content":"\xff\xfe"}}]}\n\n',
        b"data: {oops\n\n",
        b"data: [1]\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b'data: {"choices":[{"delta":{"content":"x"},"index":' + b"9" * 5000 + b"}]}\n\n",
        event({"choices": [{"delta": None}]}),
        event({"choices": [None]}),
        event({"choices": None}),
        event({"choices": [{"delta": {"content": 3}}]}),
        event({"choices": [{"delta": {"content": [{"type": "text", "text": "x"}]}}]}),
        event({"error": {"message": "over\x1b[31m load"}}),
        b"",
    ],
    ids=lambda said: said[:40].decode("ascii", "replace"),
)
def test_what_breaks_a_stream_is_told_by_its_draft_or_raised_before_it(said):
    *pieces, draft = heard(says(EVENTS, text("The pump runs."), said))
    assert pieces == ["The pump runs."]
    assert isinstance(draft, Draft)
    assert draft.broken.startswith("the generation endpoint at 127.0.0.1")
    assert "\x1b" not in draft.broken
    with pytest.raises(ModelError):
        heard(says(EVENTS, said))


@pytest.mark.parametrize("status", [b"302 Found", b"307 Temporary Redirect", b"204 No Content"])
def test_a_redirect_is_not_followed(status):
    answer = b"HTTP/1.1 " + status + b"\r\nLocation: /other\r\nConnection: close\r\n\r\n"
    with pytest.raises(ModelUnavailable, match=f"answered {status[:3].decode()}"):
        heard(says(answer))


def test_half_a_character_in_a_question_is_sent_as_a_mark():
    asked = []

    def script(one):
        asked.append(one.body["messages"][0]["content"])
        return chat_script("It runs [1].")(one)

    with stub_server(script) as stub:
        chat = make_chat("m", render, base_url=stub.base_url)
        assert list(chat.stream(Query("the pump \udcff è", Principal()), (), language="en"))[-1].text == "It runs [1]."
    assert asked == ["the pump ? è"]
