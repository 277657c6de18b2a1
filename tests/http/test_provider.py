"""Signing in through an identity provider: there, back, and everything that is no answer to one's own sign-in."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from fonte.http.provider import Provider
from fonte.http.tokens import JwtTokens, TokenRules, fetcher
from served import House, make_house
from test_tokens import key_set, signed

SECRET = "of-the-client"
BACK = "http://localhost/v1/session/return"


@dataclass
class Elsewhere:
    """A provider: codes that it gave, with the challenge and nonce that they were asked with; what it will say."""

    issuer: str = ""
    back: str = BACK
    codes: dict[str, tuple[str, str]] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    down: bool = False

    def allow(self, address: str) -> str:
        """Somebody signs in there: where their browser is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert asked["redirect_uri"] == self.back
        code = f"code{len(self.codes)}"
        self.codes[code] = asked["code_challenge"], asked["nonce"]
        return f"/v1/session/return?code={code}&state={asked['state']}"

    def token(self, form: dict[str, list[str]], authorization: str) -> tuple[int, dict[str, Any]]:
        """The token for a code, once."""
        expected = base64.b64encode(f"page:{SECRET}".encode()).decode()
        challenge, nonce = self.codes.pop(form["code"][0], ("", ""))
        digest = hashlib.sha256(form["code_verifier"][0].encode()).digest()
        if authorization != f"Basic {expected}" or challenge != base64.urlsafe_b64encode(digest).decode().rstrip("="):
            return 400, {"error": "invalid_grant"}
        moment = time.time()
        told = {"iss": self.issuer, "aud": "page", "sub": "ada", "nonce": nonce, "iat": moment, "exp": moment + 3600}
        return 200, {"id_token": signed(told | {"roles": ["hr"]} | self.changed), "access_token": "x"}


@contextmanager
def provider() -> Iterator[Elsewhere]:
    made = Elsewhere()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/authorize"):  # somebody's browser: whoever signs in is led back
                back = f"{made.back.removesuffix('/v1/session/return')}{made.allow(self.path)}"
                self._send(200, "text/html", f'<!doctype html><a href="{escape(back)}">Go on as ada</a>')
                return
            ends = {"authorization_endpoint": f"{made.issuer}/authorize", "token_endpoint": f"{made.issuer}/token"}
            discovery = {"issuer": made.issuer, "jwks_uri": f"{made.issuer}/keys", **ends}
            self._say(200, discovery if "well-known" in self.path else key_set())

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            self._say(*made.token(form, self.headers.get("authorization", "")))

        def _say(self, status: int, told: dict[str, Any]) -> None:
            self._send(503 if made.down else status, "application/json", json.dumps(told))

        def _send(self, status: int, kind: str, body: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        made.issuer = f"http://127.0.0.1:{server.server_port}"
        yield made
        server.shutdown()


@pytest.fixture
def both(home: Path) -> Iterator[tuple[House, Elsewhere]]:
    with provider() as elsewhere:
        tokens = JwtTokens(TokenRules(elsewhere.issuer, "page"), fetcher(elsewhere.issuer, None))
        way = Provider(elsewhere.issuer, "page", SECRET, BACK, "openid", tokens)
        house = make_house(home, local=False, provider=way)
        yield house, elsewhere
        house.served.corpus.close()


def browser(house: House) -> TestClient:
    return TestClient(house.app, base_url="http://localhost", follow_redirects=False, raise_server_exceptions=False)


def leave(client: TestClient) -> str:
    sent = client.get("/v1/session/provider")
    assert sent.status_code == 303
    return sent.headers["location"]


def test_who_comes_back_is_signed_in_with_the_providers_roles(both: tuple[House, Elsewhere]) -> None:
    house, elsewhere = both
    client = browser(house)
    assert client.get("/v1/session").json() == {"signed_in": False, "keys": False, "provider": True}
    back = client.get(elsewhere.allow(leave(client)))
    assert back.status_code == 200
    assert 'url=/"' in back.text
    session = next(one for one in back.headers.get_list("set-cookie") if one.startswith("fonte_session_"))
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in session.split(";")}
    told = client.get("/v1/session").json()
    assert (told["user"], told["roles"], told["actions"]) == ("ada", ["hr"], ["read"])
    found = client.post("/v1/search", json={"query": "salary", "k": 9}, headers={"origin": "http://localhost"}).json()
    assert {one["document_name"] for one in found["results"]} == {"pump.txt", "ada.txt", "salaries.txt"}
    client.delete("/v1/session", headers={"origin": "http://localhost"})
    assert client.get("/v1/documents").status_code == 401


def test_an_answer_to_somebody_elses_sign_in_signs_nobody_in(both: tuple[House, Elsewhere]) -> None:
    house, elsewhere = both
    mine, theirs = browser(house), browser(house)
    leave(mine)
    forged = elsewhere.allow(leave(theirs))
    for client in (mine, browser(house)):  # with a sign-in of one's own under way, and with none
        assert "signin=failed" in client.get(forged).text
        assert client.get("/v1/documents").status_code == 401
    # It still fits the browser that it was meant for, once.
    assert 'url=/"' in theirs.get(forged).text
    assert "signin=failed" in theirs.get(forged).text


@pytest.mark.parametrize(
    "changed",
    [{"nonce": "another"}, {"aud": "fonte"}, {"iss": "https://evil.example"}, {"exp": 1}, {"sub": ""}],
    ids=lambda one: next(iter(one)),
)
def test_a_token_that_is_no_answer_signs_nobody_in(both: tuple[House, Elsewhere], changed: dict[str, Any]) -> None:
    house, elsewhere = both
    client = browser(house)
    elsewhere.changed = changed
    assert "signin=failed" in client.get(elsewhere.allow(leave(client))).text
    assert client.get("/v1/documents").status_code == 401


def test_a_provider_that_is_away_is_told(both: tuple[House, Elsewhere]) -> None:
    house, elsewhere = both
    client = browser(house)
    back = elsewhere.allow(leave(client))
    elsewhere.down = True
    for path in (back, "/v1/session/provider"):
        refused = client.get(path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")


def test_without_a_provider_there_is_no_such_way(house: House) -> None:
    for path in ("/v1/session/provider", "/v1/session/return?code=a&state=b"):
        assert house.client().get(path).status_code == 404
