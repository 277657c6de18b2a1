"""Tokens of an identity provider: what is taken for who asks, and everything that is not."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from fonte.access.identity import Action
from fonte.errors import ConfigError, Overloaded, Unauthenticated
from fonte.http import tokens
from fonte.http.tokens import JwtTokens, TokenRules, fetcher
from served import make_house

RULES = TokenRules(
    "https://id.example",
    "fonte",
    tenant_claim="org",
    roles_claim="realm_access.roles",
    write_roles=frozenset({"editors"}),
    admin_roles=frozenset({"it"}),
)


@cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:
    del name
    return rsa.generate_private_key(65537, 2048)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def key_set() -> dict[str, Any]:
    one = RSAAlgorithm.to_jwk(rsa_key("good").public_key(), as_dict=True) | {"kid": "one", "use": "sig"}
    two = ECAlgorithm.to_jwk(ec_key().public_key(), as_dict=True) | {"kid": "two", "use": "sig"}
    return {"keys": [one, two]}


def claims(**changed: Any) -> dict[str, Any]:
    moment = time.time()
    told = {
        "iss": "https://id.example",
        "aud": ["fonte", "other"],
        "sub": "ada",
        "org": "meridian",
        "iat": moment,
        "exp": moment + 300,
        "realm_access": {"roles": ["staff", "user:bob", "", 7]},
    }
    return {name: value for name, value in (told | changed).items() if value is not None}


def signed(told: Mapping[str, Any], kid: str = "one", key: Any = None, algorithm: str = "RS256", **header: Any) -> str:
    return jwt.encode(dict(told), key or rsa_key("good"), algorithm, headers={"kid": kid, **header})


@pytest.fixture
def checked() -> JwtTokens:
    return JwtTokens(RULES, key_set)


def test_a_good_token_says_who_asks(checked: JwtTokens) -> None:
    found = checked.identify(signed(claims()))
    assert found.id == "token:ada"
    assert (found.principal.tenant, found.principal.user) == ("meridian", "ada")
    assert found.principal.roles == {"staff"}
    assert found.actions == {Action.READ}
    assert checked.identify(signed(claims(), "two", ec_key(), "ES256")).principal.user == "ada"


def test_roles_give_actions(checked: JwtTokens) -> None:
    editor = checked.identify(signed(claims(realm_access={"roles": ["editors"]})))
    runs_it = checked.identify(signed(claims(realm_access={"roles": "it staff"})))
    assert editor.actions == {Action.READ, Action.WRITE}
    assert runs_it.actions == set(Action)
    assert runs_it.principal.roles == {"it", "staff"}
    assert checked.identify(signed(claims(realm_access=None))).principal.roles == frozenset()


def _unsigned() -> str:
    return jwt.encode(claims(), None, "none", headers={"kid": "one"})


def _public_as_secret() -> str:
    """The provider's public key, used as if it were a shared secret."""
    public = rsa_key("good").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    part = [{"alg": "HS256", "typ": "JWT", "kid": "one"}, claims()]
    head = b".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in part)
    import hashlib
    import hmac

    mac = hmac.new(public, head, hashlib.sha256).digest()
    return (head + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


def _own_key() -> str:
    """Signed by somebody else, who puts their key into the header."""
    own = RSAAlgorithm.to_jwk(rsa_key("other").public_key(), as_dict=True)
    return signed(claims(), key=rsa_key("other"), jwk=own, jku="https://evil.example/keys", x5u="https://evil.example")


def _altered() -> str:
    head, body, mac = signed(claims()).split(".")
    told = json.loads(base64.urlsafe_b64decode(body + "==")) | {"org": "other"}
    return ".".join((head, base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("="), mac))


@pytest.mark.parametrize(
    "make",
    [
        _unsigned,
        _public_as_secret,
        _own_key,
        _altered,
        lambda: signed(claims(iss="https://id.example.evil")),
        lambda: signed(claims(aud="other")),
        lambda: signed(claims(aud=None)),
        lambda: signed(claims(exp=None)),
        lambda: signed(claims(exp=time.time() - 61)),
        lambda: signed(claims(nbf=time.time() + 120)),
        lambda: signed(claims(sub=None)),
        lambda: signed(claims(sub="  ")),
        lambda: signed(claims(org=None)),
        lambda: signed(claims(org=["meridian"])),
        lambda: signed(claims(), "three"),
        lambda: signed(claims(), "two"),
        lambda: signed(claims(), algorithm="RS512"),
        lambda: signed(claims(), crit=["exp", "made-up"]),
        lambda: "a.b.c",
        lambda: "",
        lambda: "x" * 20_000,
        lambda: "é.é.é",
    ],
)
def test_every_other_token_is_refused(checked: JwtTokens, make: Callable[[], str]) -> None:
    with pytest.raises(Unauthenticated):
        checked.identify(make())


def test_a_clock_may_be_a_little_wrong(checked: JwtTokens) -> None:
    assert checked.identify(signed(claims(exp=time.time() - 30))).principal.user == "ada"


@pytest.mark.parametrize("algorithms", [("HS256",), ("none",), ("RS256", "HS512"), ()])
def test_shared_secrets_cannot_be_set(algorithms: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        JwtTokens(TokenRules("i", "a", algorithms=algorithms), key_set)


def test_keys_are_fetched_seldom_and_again_when_the_provider_changes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched, moment, kids = [], [0.0], ["old"]

    def fetch() -> dict[str, Any]:
        fetched.append(moment[0])
        public = RSAAlgorithm.to_jwk(rsa_key("good").public_key(), as_dict=True)
        return {"keys": [public | {"kid": kids[-1]}]}

    monkeypatch.setattr(tokens.time, "monotonic", lambda: moment[0])
    checked = JwtTokens(RULES, fetch)
    for _ in range(3):
        checked.identify(signed(claims(), "old"))
    assert fetched == [0.0]
    kids.append("new")
    for at in range(50):  # made-up ids do not make us ask more often
        moment[0] = 30.0 + at / 10
        with pytest.raises(Unauthenticated):
            checked.identify(signed(claims(), f"made-up-{at}"))
    assert fetched == [0.0, 30.0]
    assert checked.identify(signed(claims(), "new")).principal.user == "ada"
    with pytest.raises(Unauthenticated):
        checked.identify(signed(claims(), "old"))


def test_a_provider_that_is_away_stops_nobody_who_is_known_and_everybody_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away, moment = [True], [0.0]

    def fetch() -> dict[str, Any]:
        if away[0]:
            raise httpx.ConnectError("away")
        return key_set()

    monkeypatch.setattr(tokens.time, "monotonic", lambda: moment[0])
    checked = JwtTokens(RULES, fetch)
    with pytest.raises(Overloaded):
        checked.identify(signed(claims()))
    away[0], moment[0] = False, 60.0
    assert checked.identify(signed(claims())).principal.user == "ada"
    away[0], moment[0] = True, 4000.0
    assert checked.identify(signed(claims())).principal.user == "ada"
    moment[0] = 60.0 + tokens.STALE_SECONDS + 1
    with pytest.raises(Overloaded):
        checked.identify(signed(claims()))


def test_who_is_known_does_not_wait_while_the_provider_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    moment, asked, answer = [0.0], Event(), Event()

    def fetch() -> dict[str, Any]:
        if moment[0]:
            asked.set()
            answer.wait(20)
        return key_set()

    monkeypatch.setattr(tokens.time, "monotonic", lambda: moment[0])
    checked = JwtTokens(RULES, fetch)
    checked.identify(signed(claims()))
    moment[0] = tokens.KEPT_SECONDS + 1
    with ThreadPoolExecutor(2) as beside:
        first = beside.submit(checked.identify, signed(claims()))
        assert asked.wait(20)
        assert beside.submit(checked.identify, signed(claims())).result(5).principal.user == "ada"
        answer.set()
        assert first.result(20).principal.user == "ada"


def test_where_keys_lie_is_what_the_provider_says_of_itself(home: Path) -> None:
    class Provider(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            base = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]  # HTTPServer's
            told = {"issuer": base, "jwks_uri": f"{base}/keys"} if "well-known" in self.path else key_set()
            body = json.dumps(told).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        issuer = f"http://127.0.0.1:{server.server_port}"
        rules = TokenRules(issuer, "fonte", tenant="meridian")
        house = make_house(home, local=False, tokens=JwtTokens(rules, fetcher(issuer, None)))
        client = house.client()
        token = signed(claims(iss=issuer))
        found = client.get("/v1/documents", headers={"authorization": f"Bearer {token}"})
        assert {one["document_name"] for one in found.json()["documents"]} == {"pump.txt", "ada.txt"}
        assert client.get("/v1/documents").status_code == 401
        with pytest.raises(ValueError, match="another name"):
            fetcher(issuer + "/", None)()
        server.shutdown()
    house.served.corpus.close()
