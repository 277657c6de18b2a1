"""Clients that go away, forms and names that are none: nothing is done by halves, nothing is shown without a note."""

from __future__ import annotations

import json
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fonte.access.identity import Action
from fonte.access.keys import mint
from fonte.answer import now
from fonte.cli.serving import _all_files_allowed
from fonte.errors import InvalidQuery
from fonte.stores.home import Home
from fonte.text.expected import read_expected
from fonte.types import Principal
from running import listening
from served import House

ADA = Principal("default", "ada", frozenset({"staff"}))
ROOT = Principal("default", "root", frozenset())


def _sent(house: House, address: str, path: str, body: bytes, length: int) -> socket.socket:
    key = mint(house.served.keys, ROOT, Action, now=house.served.now()).text
    taker = socket.create_connection((urlsplit(address).hostname or "", urlsplit(address).port or 0), timeout=20)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    taker.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode() + body)
    return taker


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ask", {"question": "Is it broken?", "stream": True}),
        ("/v1/chat/completions", {"model": "fonte", "messages": [{"role": "user", "content": "Is it broken?"}],
                                  "stream": True}),
    ],
)  # fmt: skip
def test_a_stream_whose_taker_goes_away_stands_in_the_log(
    house: House, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, Any]
) -> None:
    def pouring(*_args: object, **_kwargs: object) -> Iterator[str]:
        for at in range(2000):
            yield f"word {at} " * 50
            time.sleep(0.005)

    monkeypatch.setattr(house.served.corpus, "stream", pouring)
    with listening(house.app) as address:
        told = json.dumps(body).encode()
        with _sent(house, address, path, told, len(told)) as taker:
            while b"word 0" not in taker.recv(4096):
                pass
        until = time.monotonic() + 20
        while not (entries := house.served.audit.entries("default")) and time.monotonic() < until:
            time.sleep(0.05)
    (entry,) = [one for _, one in entries]
    assert (entry.user, entry.action, entry.subject, entry.outcome) == (
        "root",
        f"POST {path}",
        "Is it broken?",
        "broken_off",
    )


def test_a_body_that_is_cut_off_does_nothing(house: House, home: Path) -> None:
    with listening(house.app) as address:
        _sent(house, address, "/v1/sync", b"", 40).close()
        _sent(house, address, "/v1/documents", b"", 40).close()
        assert house.client(ROOT, *Action).get("/v1/jobs").json() == {"jobs": []}
        time.sleep(0.3)
        assert house.client(ROOT, *Action).get("/v1/jobs").json() == {"jobs": []}
    assert [one.outcome for _, one in house.served.audit.entries("default") if "POST" in one.action] in (
        [],
        ["invalid_request"],
    )
    assert not Home(home).with_jobs()


def test_a_form_in_no_charset_is_refused(house: House) -> None:
    form = b'--B\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\ntext\r\n--B--\r\n'
    kind = {"content-type": "multipart/form-data; boundary=B; charset=undefined"}
    answer = house.client(ADA, *Action).post("/v1/documents", content=form, headers=kind)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_request")


@pytest.mark.parametrize("said", [{"roles": ["user:root"]}, {"roles": [" "]}, {"roles": ["\0"]}, {"user": " "}])
def test_a_key_for_what_is_no_user_or_role_is_refused(house: House, said: dict[str, Any]) -> None:
    answer = house.client(ROOT, *Action).post("/v1/keys", json={"user": "x"} | said)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_request")


def test_half_a_character_in_a_chat_is_refused_and_noted(house: House) -> None:
    body = json.dumps({"model": "fonte", "messages": [{"role": "user", "content": "pump \ud800"}]})
    answer = house.client(ADA).post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert [one.subject for _, one in house.served.audit.entries("default")] == ["pump ?"]


def test_one_character_that_stands_for_eighteen_is_counted_so() -> None:
    read_expected("\ufdfa" * 50)
    with pytest.raises(InvalidQuery, match="more than"):
        read_expected("\ufdfa" * 60)


def test_an_answer_that_an_erasure_has_overtaken_is_not_kept(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, erased = house.served.corpus, []

    def after_erasing() -> Any:
        erased.extend(corpus.erase("pump.txt") if not erased else [])
        return now()

    monkeypatch.setattr("fonte.conversing.now", after_erasing)
    asked = {"question": "At how many bar does the pump of the north tower run?", "conversation_id": "new"}
    told = house.client(ADA).post("/v1/ask", json=asked).json()
    assert erased
    assert told["answer_id"] == ""
    assert any("not kept" in one for one in told["notes"])


def test_as_many_files_as_the_system_allows() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[0] // 2, before[1]))
    try:
        _all_files_allowed()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
