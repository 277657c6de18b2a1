"""Browsers: signing in and out, what a session is worth, the keys of a tenant, the shell and its files."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from fonte.access.identity import Action, Identity
from fonte.access.keys import hashed, mint
from fonte.access.sessions import begin_told
from fonte.http.identity import COOKIE
from fonte.http.page import ADDRESSES, preferred
from fonte.stores.sqlite_stores import SqliteSessions
from fonte.types import Principal
from served import NOW, House, make_house

ADA = Principal("default", "ada", frozenset())
EVA = Principal("default", "eva", frozenset({"hr"}))
OTHER = Principal("meridian", "zoe", frozenset())
ORIGIN = {"origin": "http://localhost"}


def test_a_key_becomes_a_session_that_scripts_cannot_read(house: House) -> None:
    made = mint(house.served.keys, EVA, [Action.READ], now=NOW)
    browser = house.client()
    assert browser.get("/v1/session").json() == {"signed_in": False, "keys": True, "provider": False}
    answer = browser.post("/v1/session", json={"key": f" {made.text}\n"}, headers=ORIGIN)
    assert answer.json() | {"tenant": 0} == {
        "signed_in": True,
        "local": False,
        "tenant": 0,
        "user": "eva",
        "roles": ["hr"],
        "actions": ["read"],
        "keys": True,
    }
    cookie = answer.headers["set-cookie"].lower()
    assert all(one in cookie for one in ("httponly", "samesite=strict", "path=/", "max-age=43200"))
    assert "secure" not in cookie
    assert made.text.lower() not in cookie
    names = {one["document_name"] for one in browser.get("/v1/documents").json()["documents"]}
    assert names == {"pump.txt", "salaries.txt"}
    assert browser.delete("/v1/session", headers=ORIGIN).json()["signed_in"] is False
    assert browser.get("/v1/documents").status_code == 401


def test_over_https_the_cookie_is_secure(house: House) -> None:
    made = mint(house.served.keys, ADA, [Action.READ], now=NOW)
    browser = house.client()
    answer = browser.post("https://localhost/v1/session", json={"key": made.text})
    assert "secure" in answer.headers["set-cookie"].lower()


def test_a_session_changes_nothing_without_an_origin_of_ours(house: House) -> None:
    made = mint(house.served.keys, ADA, [Action.READ], now=NOW)
    browser = house.client()
    browser.post("/v1/session", json={"key": made.text}, headers=ORIGIN)
    asked = {"query": "pump"}
    assert browser.post("/v1/search", json=asked, headers=ORIGIN).status_code == 200
    for headers in ({}, {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://localhost:81"}):
        assert browser.post("/v1/search", json=asked, headers=headers).status_code == 403
    assert browser.post("/v1/session", json={"key": made.text}, headers={"origin": "http://e.x"}).status_code == 403


def test_a_session_ends_with_its_key_and_with_its_time(home: Path) -> None:
    clock = [NOW]
    house = make_house(home, now=lambda: clock[0])
    made = mint(house.served.keys, ADA, [Action.READ], now=NOW)
    first, second = house.client(), house.client()
    for browser in (first, second):
        browser.post("/v1/session", json={"key": made.text})
        assert browser.get("/v1/documents").status_code == 200
    clock[0] = NOW + timedelta(hours=11)
    assert second.get("/v1/documents").status_code == 200
    clock[0] = NOW + timedelta(hours=12)
    assert second.get("/v1/documents").status_code == 401
    assert second.get("/v1/session").json()["signed_in"] is False
    clock[0] = NOW + timedelta(hours=1)
    house.served.keys.end_key(made.record.id, clock[0])
    assert first.get("/v1/documents").status_code == 401
    house.served.corpus.close()


def test_a_session_is_kept_as_a_hash(house: House, home: Path) -> None:
    made = mint(house.served.keys, ADA, [Action.READ], now=NOW)
    browser = house.client()
    browser.post("/v1/session", json={"key": made.text})
    ((_, text),) = browser.cookies.items()
    secret = text.encode()
    assert len(secret) == 43
    for path in home.rglob("*"):
        if path.is_file():
            assert secret not in path.read_bytes(), path.name


def test_wrong_keys_and_wrong_cookies_are_told_alike_and_noted(house: House) -> None:
    runs_it = house.client(EVA, *Action)
    browser = house.client()
    wrong = browser.post("/v1/session", json={"key": "fonte_aaaaaaaaaa_" + "a" * 43})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (401, "unauthenticated")
    assert "set-cookie" not in wrong.headers
    browser.cookies[f"{COOKIE}_{house.served.sessions.mark()}"] = "x" * 43
    assert browser.get("/v1/documents").json() == wrong.json()
    assert runs_it.get("/v1/documents").status_code == 200
    noted = [(one.action, one.outcome) for _, one in house.served.audit.entries("")]
    assert ("POST /v1/session", "unauthenticated") in noted


def test_whoever_runs_a_tenant_makes_and_ends_its_keys_and_no_others(house: House) -> None:
    runs_it, other = house.client(EVA, *Action), house.client(OTHER, *Action)
    made = runs_it.post("/v1/keys", json={"user": "bob", "roles": ["hr"], "actions": ["read"], "days": 2}).json()
    bob = house.client()
    bob.headers["authorization"] = f"Bearer {made['key']}"
    assert {one["document_name"] for one in bob.get("/v1/documents").json()["documents"]} == {
        "pump.txt",
        "salaries.txt",
    }
    assert bob.get("/v1/keys").status_code == 403
    listed = runs_it.get("/v1/keys").text
    assert made["id"] in listed
    assert made["key"].rsplit("_", 1)[1] not in listed
    assert made["id"] not in other.get("/v1/keys").text
    assert other.post(f"/v1/keys/{made['id']}/revoke").status_code == 404
    assert runs_it.post("/v1/keys", json={"user": "x", "tenant": "meridian"}).status_code == 422
    assert runs_it.post("/v1/keys", json={"user": "x", "actions": ["fly"]}).status_code == 422
    assert runs_it.post(f"/v1/keys/{made['id']}/revoke").json() == {"revoked": made["id"]}
    assert bob.get("/v1/documents").status_code == 401
    kept = [one["subject"] for one in runs_it.get("/v1/audit").json()["entries"]]
    assert all(made["key"] not in one for one in kept)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("", "en"), ("it-IT,it;q=0.9", "it"), ("en-US,it;q=0.5", "en"), ("de, it;q=0.3, en;q=0.2", "it"), ("*;q=x", "en")],
)
def test_the_shell_speaks_what_the_browser_wants(house: House, accepted: str, language: str) -> None:
    assert preferred(accepted) == language
    shell = house.client().get("/", headers={"accept-language": accepted})
    assert f'<html lang="{language}">' in shell.text
    assert shell.headers["vary"] == "Accept-Language"
    assert "script-src 'self'" in shell.headers["content-security-policy"]


def test_one_shell_for_all_addresses_and_files_with_their_types(house: House) -> None:
    browser = house.client()
    shells = {browser.get(one.replace("{", "").replace("}", "")).content for one in ADDRESSES}
    assert len(shells) == 1
    script = browser.get("/static/main.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert browser.get("/static/page.css").headers["content-type"].startswith("text/css")
    again = browser.get("/static/main.js", headers={"if-none-match": script.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for name in ("nothing.js", "index.html", "..%2fapp.py", "%2e%2e/app.py"):
        assert browser.get(f"/static/{name}").status_code == 404


def test_signing_out_of_no_session_writes_nothing(house: House, home: Path) -> None:
    out = house.client().delete("/v1/session", headers={"cookie": f"{COOKIE}_=made-up"})
    assert (out.status_code, out.json()["signed_in"]) == (200, False)
    assert not (home / "sessions.sqlite").exists()


def test_two_homes_on_one_host_do_not_share_a_cookie(tmp_path: Path) -> None:
    houses = [make_house(tmp_path / name) for name in ("one", "two")]
    keys = [mint(one.served.keys, ADA, [Action.READ], now=NOW).text for one in houses]
    browser: dict[str, str] = {}  # sends every cookie of the host to every port
    for house, key in zip(houses, keys, strict=True):
        browser |= dict(house.client().post("/v1/session", json={"key": key}).cookies)
    assert len(browser) == 2
    for house in houses:
        client = house.client()
        client.cookies.update(browser)
        assert client.get("/v1/documents").status_code == 200
    out = houses[0].client()
    out.cookies.update(browser)
    out.delete("/v1/session", headers={"origin": "http://localhost"})
    still = houses[1].client()
    still.cookies.update(browser)
    assert still.get("/v1/documents").status_code == 200
    gone = houses[0].client()
    gone.cookies.update(browser)
    assert gone.get("/v1/documents").status_code == 401
    for house in houses:
        house.served.corpus.close()


def test_sessions_of_the_version_before_go_on_under_a_name_of_their_home(home: Path) -> None:
    home.mkdir(exist_ok=True)
    with sqlite3.connect(home / "sessions.sqlite") as old:
        old.executescript(
            "CREATE TABLE sessions (secret_sha256 TEXT PRIMARY KEY, ends_at TEXT NOT NULL, key_id TEXT, identity TEXT)"
            " WITHOUT ROWID; PRAGMA user_version = 2;"
        )
    sessions = SqliteSessions(home / "sessions.sqlite", prepare=lambda: None)
    secret = begin_told(sessions, Identity("x", ADA, frozenset({Action.READ})), now=NOW)
    assert len(sessions.mark()) == 8
    assert sessions.mark() == sessions.mark()
    assert sessions.session(hashed(secret)) is not None
