"""Anthropic's Messages API as a generator, against a scripted server."""

from __future__ import annotations

import json

import pytest
from unit.models.stub_server import Reply, json_reply, stub_server

from fonte.errors import BadModelOutput, ConfigError, ModelUnavailable
from fonte.models.registry import make_anthropic
from fonte.models.writing import CUT, ESTIMATED, Prices
from fonte.types import Principal, Query

QUERY = Query("How many days?", Principal())


def render(query, passages, language):
    return [{"role": "system", "content": language}, {"role": "user", "content": query.text}]


def event(kind, **told):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **told})}\n\n".encode()


def delta(text):
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def begun(**usage):
    return event("message_start", message={"role": "assistant", "content": [], "usage": usage})


def ended(reason="end_turn", output=5):
    return event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": output})


STOP = event("message_stop")


def streamed(text, *, reason="end_turn", piece=3):
    pieces = [delta(text[at : at + piece]) for at in range(0, len(text), piece)]
    block = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    return [begun(input_tokens=11, output_tokens=1), block, event("ping"), *pieces, ended(reason), STOP]


def script(text, **options):
    def answer(asked):
        if asked.body.get("stream"):
            return Reply(headers={"Content-Type": "text/event-stream"}, chunks=streamed(text, **options))
        usage = {"input_tokens": 11, "output_tokens": 5}
        reason = options.get("reason", "end_turn")
        content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
        return json_reply({"type": "message", "content": content, "stop_reason": reason, "usage": usage})

    return answer


def made(stub, **options):
    return make_anthropic("claude", render, base_url=stub.base_url.removesuffix("/v1"), timeout_seconds=3, **options)


def test_the_request_is_the_documented_one(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    with stub_server(script("Yes [1].")) as stub:
        made(stub, max_tokens=77).draft(QUERY, (), language="it")
    (asked,) = stub.asked
    assert asked.path == "/v1/messages"
    assert asked.body == {
        "model": "claude",
        "max_tokens": 77,
        "system": "it",
        "messages": [{"role": "user", "content": "How many days?"}],
    }
    assert asked.headers["x-api-key"] == "sk-ant"
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in asked.headers


def test_the_key_may_be_in_a_file(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("sk-file\n")
    (tmp_path / "key").chmod(0o600)
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(tmp_path / "key"))
    with stub_server(script("Yes [1].")) as stub:
        made(stub).draft(QUERY, (), language="en")
    assert stub.asked[0].headers["x-api-key"] == "sk-file"


@pytest.mark.parametrize("text", ["Twenty-five [1].", "NO_ANSWER", ""])
def test_the_stream_ends_in_the_draft_that_a_whole_answer_gives(text):
    with stub_server(script(text)) as stub:
        generator = made(stub, prices=Prices(3.0, 15.0))
        whole = generator.draft(QUERY, (), language="en")
        *pieces, last = generator.stream(QUERY, (), language="en")
    assert last == whole
    assert "".join(pieces) == ("" if whole.declined else text)
    assert (whole.prompt_tokens, whole.completion_tokens, whole.notes) == (11, 5, ())
    assert whole.cost == pytest.approx((11 * 3 + 5 * 15) / 1e6)


def test_what_was_read_from_a_cache_is_counted():
    reply = [
        begun(input_tokens=2, cache_read_input_tokens=40, cache_creation_input_tokens=1),
        delta("Yes"),
        ended(),
        STOP,
    ]
    with stub_server(lambda _: Reply(chunks=reply)) as stub:
        *_, last = made(stub).stream(QUERY, (), language="en")
    assert (last.prompt_tokens, last.completion_tokens) == (43, 5)


def test_an_answer_cut_at_the_limit_is_told():
    with stub_server(script("Twenty", reason="max_tokens")) as stub:
        *_, last = made(stub).stream(QUERY, (), language="en")
    assert last.missing == (CUT,)


def test_a_stream_that_breaks_in_the_middle_tells_so():
    overloaded = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    for tail in ([overloaded], []):
        reply = [begun(input_tokens=11), delta("Twenty days"), *tail]
        with stub_server(lambda _, reply=reply: Reply(chunks=reply)) as stub:
            *pieces, last = made(stub).stream(QUERY, (), language="en")
        assert "".join(pieces) == last.text == "Twenty days"
        assert "broke off" in last.broken and ("Overloaded" in last.broken) == bool(tail)
        assert last.notes == (ESTIMATED,), "the tokens of the answer were not told yet"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(chunks=[event("error", error={"message": "Overloaded"})]), ModelUnavailable),
        (Reply(chunks=[begun(), event("content_block_delta", delta={"type": "text_delta"})]), BadModelOutput),
        (Reply(chunks=[begun(), event("content_block_delta", delta=7)]), BadModelOutput),
        (Reply(chunks=[b"data: {}\n\n"]), BadModelOutput),
        (json_reply({"type": "message", "content": "Yes"}), BadModelOutput),
        (json_reply({"error": {"type": "authentication_error", "message": "no"}}, 401), ModelUnavailable),
    ],
)
def test_nonsense_raises(reply, error):
    with stub_server(lambda _: reply) as stub, pytest.raises(error):
        list(made(stub).stream(QUERY, (), language="en"))


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(ConfigError):
        make_anthropic("", render)
    with pytest.raises(ConfigError):
        make_anthropic("m", render, max_tokens=0)
    assert make_anthropic("m", render).name == "anthropic:m"
