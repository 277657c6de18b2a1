"""Who gets in, and what they may do."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from fonte.access.identity import Action, Identity
from fonte.access.keys import identify, mint, rotate
from fonte.cli import main
from fonte.errors import Unauthenticated
from fonte.http.identity import May
from fonte.http.page import ADDRESSES
from fonte.http.served import Limits
from fonte.types import Principal
from routes import api_routes
from served import NOW, House, make_house

PROVIDER = ("/v1/session/provider", "/v1/session/return")
OPEN = {"/healthz", "/readyz", "/v1/session", *PROVIDER, "/static/{name}", *ADDRESSES}
"""Whether it lives; signing in, which asks for the key itself; the page's files, which say nothing of documents."""
ADA = Principal("default", "ada", frozenset())


def _rules(route: APIRoute) -> list[May]:
    found, pending = [], [route.dependant]
    while pending:
        one = pending.pop()
        found += [one.call] if isinstance(one.call, May) else []
        pending += one.dependencies
    return found


def test_every_route_but_the_open_ones_has_one_rule(house: House) -> None:
    routes = [route for _, _, route in api_routes(house.app)]
    assert len(routes) > 10
    for route in routes:
        assert len(_rules(route)) == (0 if route.path in OPEN else 1), route.path


def test_who_sits_at_the_machine_acts_for_the_default_tenant_until_a_key_is_made(house: House) -> None:
    nobody = house.client()
    assert nobody.get("/v1/documents").status_code == 200
    key = house.client(ADA)
    assert nobody.get("/v1/documents").status_code == 401
    assert key.get("/v1/documents").status_code == 200


def test_a_name_that_points_to_the_loopback_is_not_the_loopback(house: House) -> None:
    refused = house.client(host="evil.example").get("/v1/documents")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_permitted")


def test_a_page_of_another_site_cannot_send_anything(house: House) -> None:
    client = house.client()
    asked = {"query": "pump"}
    assert client.post("/v1/search", json=asked, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post("/v1/search", json=asked, headers={"origin": "null"}).status_code == 403
    assert client.post("/v1/search", json=asked, headers={"origin": "http://localhost"}).status_code == 200


def test_every_way_of_not_being_known_looks_the_same(house: House) -> None:
    store = house.served.keys
    good = mint(store, ADA, [Action.READ], now=NOW)
    over = mint(store, ADA, [Action.READ], now=NOW - timedelta(days=2), lifetime=timedelta(days=1))
    revoked = mint(store, ADA, [Action.READ], now=NOW)
    store.end_key(revoked.record.id, NOW)
    tried = [
        "",
        "x",
        "fonte_aaaaaaaaaa_" + "a" * 43,
        good.text[:-1] + ("A" if good.text[-1] != "A" else "B"),
        over.text,
        revoked.text,
        good.text + "=",
        f"{good.record.id}",
    ]
    client = house.client()
    answers = [client.get("/v1/documents", headers={"authorization": f"Bearer {text}"}) for text in tried]
    answers.append(client.get("/v1/documents", headers={"authorization": f"Basic {good.text}"}))
    assert {one.status_code for one in answers} == {401}
    assert len({one.content for one in answers}) == 1
    assert {one.headers["www-authenticate"] for one in answers} == {"Bearer"}


def test_a_key_is_kept_as_a_hash_and_nowhere_else(house: House, home: Path) -> None:
    made = mint(house.served.keys, ADA, [Action.READ], now=NOW)
    house.client().get("/v1/documents", headers={"authorization": f"Bearer {made.text}"})
    secret = made.text.rsplit("_", 1)[1].encode()
    for path in home.rglob("*"):
        if path.is_file():
            assert secret not in path.read_bytes(), path.name


def test_a_rotated_key_works_until_its_grace_is_over(house: House) -> None:
    store = house.served.keys
    old = mint(store, ADA, [Action.READ, Action.WRITE], now=NOW, lifetime=timedelta(days=90))
    new = rotate(store, old.record.id, now=NOW + timedelta(days=10), grace=timedelta(hours=2))
    assert new.record.principal == ADA
    assert new.record.actions == {"read", "write"}
    assert new.record.expires_at == NOW + timedelta(days=100)
    soon, later = NOW + timedelta(days=10, hours=1), NOW + timedelta(days=10, hours=3)
    assert identify(store, old.text, now=soon).principal == ADA
    with pytest.raises(Unauthenticated):
        identify(store, old.text, now=later)
    assert identify(store, new.text, now=later).principal == ADA


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/status"),
        ("GET", "/v1/generations"),
        ("GET", "/v1/generations/g0/diff/g1"),
        ("GET", "/v1/audit"),
        ("POST", "/v1/rollback"),
        ("DELETE", "/v1/documents/pump.txt"),
    ],
)
def test_a_key_to_read_does_nothing_else(house: House, method: str, path: str) -> None:
    refused = house.client(ADA).request(method, path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_permitted")
    assert house.client(ADA).get("/v1/documents/pump.txt").status_code == 200


def test_keys_are_guessed_slowly(home: Path) -> None:
    house = make_house(home, limits=Limits(failures_per_minute=5))
    good = house.client(ADA)
    tries = [house.client().get("/v1/documents", headers={"authorization": f"Bearer no{at}"}) for at in range(8)]
    assert [one.status_code for one in tries] == [401] * 5 + [429] * 3
    assert int(tries[-1].headers["retry-after"]) >= 1
    # Nor can a good key be tried from there while the bucket is empty: the right guess would be told by its answer.
    assert good.get("/v1/documents").status_code == 429
    house.served.corpus.close()


def test_a_flood_is_refused_and_does_not_fill_the_log(home: Path) -> None:
    house = make_house(home, limits=Limits(failures_per_minute=3, requests_per_minute=2))
    good, nobody = house.client(ADA), house.client()
    assert [good.get("/v1/documents").status_code for _ in range(5)] == [200] * 2 + [429] * 3
    wrong = {"authorization": "Bearer no"}
    assert [nobody.get("/v1/documents", headers=wrong).status_code for _ in range(6)] == [401] * 3 + [429] * 3
    assert [nobody.post("/v1/session", json={"key": "no"}).status_code for _ in range(2)] == [429] * 2
    assert len(house.served.audit.entries("default")) == 2
    assert len(house.served.audit.entries("")) == 3
    house.served.corpus.close()


def test_people_of_one_name_in_two_tenants_have_requests_of_their_own(home: Path) -> None:
    class Known:
        def identify(self, token: str) -> Identity:
            return Identity("token:ada", Principal(token, "ada", frozenset()), frozenset({Action.READ}))

    house = make_house(home, limits=Limits(requests_per_minute=1), tokens=Known(), local=False)
    tenants = ["default", "default", "meridian"]
    asked = [house.client().get("/v1/documents", headers={"authorization": f"Bearer {one}"}) for one in tenants]
    assert [one.status_code for one in asked] == [200, 429, 200]
    house.served.corpus.close()


@pytest.mark.parametrize("where", [("--host", "0.0.0.0"), ("--proxy", "127.0.0.1")])
def test_without_keys_a_server_answers_nobody_from_elsewhere(
    home: Path, where: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--home", str(home), "--port", "1", *where]) == 2
    assert "make one first" in capsys.readouterr().err


def test_failures_from_one_network_of_version_6_are_counted_together(home: Path) -> None:
    house = make_house(home, limits=Limits(failures_per_minute=2))
    tried = [
        TestClient(house.app, base_url="http://localhost", client=(f"2001:db8:1:{net}::{at}", 1)).get(
            "/v1/documents", headers={"authorization": "Bearer no"}
        )
        for net, at in ((1, 1), (1, 2), (1, 3), (2, 1))
    ]
    assert [one.status_code for one in tried] == [401, 401, 429, 401]
    house.served.corpus.close()
