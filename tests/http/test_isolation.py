"""Random people of two tenants ask every route for everything that exists: nothing comes out that is not theirs.

Each document has a word of its own in its text and another in its name, so that a leak anywhere in an answer (body or
headers) is seen. A route that is not in ``ASKED`` fails the test, so that none is forgotten.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fonte.access.identity import Action
from fonte.access.jobs import JobLimits
from fonte.access.keys import mint
from fonte.config import load_settings
from fonte.homes import stores_of
from fonte.http.app import create_app
from fonte.http.page import ADDRESSES
from fonte.http.served import Limits, Served
from fonte.types import DocumentState, Principal
from fonte.working import Worker
from quick_corpus import Shelf, Shelves, quick_corpus
from routes import api_routes

REQUESTS = 5_000
TENANTS = ("alfa", "beta")
ROLES = ("staff", "hr", "legal")
USERS = ("ada", "bob", None)
MARKS = re.compile(r"(?:word|name)(?:alfa|beta)\d\d")
ACCEPT = {"accept": "application/json, text/event-stream"}
WIDE = Limits(requests_per_minute=10**9, failures_per_minute=10**9)


@dataclass
class World:
    """Who may read what, kept by hand beside the server, and every id that was ever seen by anybody."""

    draw: random.Random
    roles: dict[str, frozenset[str]] = field(default_factory=dict)
    documents: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=lambda: ["a00000000000000000000"])
    conversations: list[str] = field(default_factory=lambda: ["v00000000000000000000"])
    generations: list[str] = field(default_factory=lambda: ["g0000000000000000"])
    jobs: list[str] = field(default_factory=lambda: ["j00000000000000000000"])

    def allowed(self, who: Principal, actions: frozenset[Action]) -> set[str]:
        """Words that may be in an answer for somebody."""
        found = set()
        for mark, roles in self.roles.items():
            if not mark.startswith(who.tenant):
                continue
            if roles & who.held_roles:
                found |= {f"word{mark}", f"name{mark}"}
            elif Action.ADMIN in actions:
                found.add(f"name{mark}")
        return found


def _document(world: World) -> str:
    return world.draw.choice(world.documents)


def _question(world: World) -> str:
    topic = world.draw.choice(("pump", "archive", "salary", "tower", "room 4", "yearly report", "euro"))
    return world.draw.choice((f"Where is the {topic}?", f"Who keeps the {topic} of the tower?", topic))


def _message(world: World) -> dict[str, Any]:
    tool, arguments = world.draw.choice(
        (
            ("search", {"query": _question(world), "k": 50}),
            ("fetch", {"id": world.draw.choice((_document(world), f"{_document(world)}#char=0,9"))}),
            ("ask", {"question": _question(world)}),
            ("list_documents", {}),
            ("", {}),
        )
    )
    if tool:
        return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    read = {"method": "resources/read", "params": {"uri": f"fonte://documents/{_document(world)}"}}
    return world.draw.choice((read, {"method": "resources/list"}))


Asked = Callable[[World], tuple[str, dict[str, Any] | None]]
ASKED: dict[tuple[str, str], Asked] = {
    ("POST", "/v1/search"): lambda w: (
        "/v1/search",
        {"query": _question(w), "k": 50, "mode": w.draw.choice(("hybrid", "bm25", "dense"))}
        | w.draw.choice(({}, {"filters": {"document": [_document(w)]}})),
    ),
    ("POST", "/v1/ask"): lambda w: (
        "/v1/ask",
        {"question": _question(w), "stream": w.draw.random() < 0.5}
        | w.draw.choice(({}, {"conversation_id": w.draw.choice(["new", *w.conversations])})),
    ),
    ("GET", "/v1/models"): lambda _: ("/v1/models", None),
    ("POST", "/v1/chat/completions"): lambda w: (
        "/v1/chat/completions",
        {"model": "fonte", "messages": [{"role": "user", "content": _question(w)}], "stream": w.draw.random() < 0.5},
    ),
    ("POST", "/mcp"): lambda w: ("/mcp", {"jsonrpc": "2.0", "id": 1, **_message(w)}),
    ("POST", "/v1/why"): lambda w: ("/v1/why", {"question": _question(w), "expect": f"{_document(w)}#char=0,9"}),
    ("GET", "/v1/answers/{answer_id}"): lambda w: (f"/v1/answers/{w.draw.choice(w.answers)}", None),
    ("GET", "/v1/conversations"): lambda _: ("/v1/conversations", None),
    ("DELETE", "/v1/conversations/{conversation_id}"): lambda w: (
        f"/v1/conversations/{w.draw.choice(w.conversations)}",
        None,
    ),
    ("GET", "/v1/conversations/{conversation_id}"): lambda w: (
        f"/v1/conversations/{w.draw.choice(w.conversations)}",
        None,
    ),
    ("GET", "/v1/documents"): lambda _: ("/v1/documents", None),
    ("GET", "/v1/documents/{document_id}"): lambda w: (f"/v1/documents/{_document(w)}", None),
    ("GET", "/v1/documents/{document_id}/text"): lambda w: (f"/v1/documents/{_document(w)}/text", None),
    ("GET", "/v1/documents/{document_id}/table"): lambda w: (f"/v1/documents/{_document(w)}/table?from=0&to=9", None),
    ("GET", "/v1/documents/{document_id}/pages/{page}.png"): lambda w: (
        f"/v1/documents/{_document(w)}/pages/1.png?from=0&to=9",
        None,
    ),
    ("DELETE", "/v1/documents/{document_id}"): lambda w: (f"/v1/documents/{_document(w)}", None),
    ("POST", "/v1/documents/{document_id}/retry"): lambda w: (f"/v1/documents/{_document(w)}/retry", None),
    ("POST", "/v1/documents"): lambda _: ("/v1/documents", None),
    ("POST", "/v1/sync"): lambda w: ("/v1/sync", {"sources": [f"memory://{w.draw.choice(TENANTS)}"]}),
    ("GET", "/v1/jobs"): lambda _: ("/v1/jobs", None),
    ("GET", "/v1/jobs/{job_id}"): lambda w: (f"/v1/jobs/{w.draw.choice(w.jobs)}", None),
    ("POST", "/v1/feedback"): lambda w: ("/v1/feedback", {"answer_id": w.draw.choice(w.answers), "verdict": "right"}),
    ("GET", "/v1/feedback"): lambda _: ("/v1/feedback", None),
    ("GET", "/v1/status"): lambda _: ("/v1/status", None),
    ("GET", "/v1/generations"): lambda _: ("/v1/generations", None),
    ("GET", "/v1/generations/{a}/diff/{b}"): lambda w: (
        f"/v1/generations/{w.draw.choice(w.generations)}/diff/{w.draw.choice(w.generations)}",
        None,
    ),
    ("POST", "/v1/generations/{generation}/publish"): lambda w: (
        f"/v1/generations/{w.draw.choice(w.generations)}/publish",
        {},
    ),
    ("POST", "/v1/rollback"): lambda _: ("/v1/rollback", None),
    ("GET", "/v1/audit"): lambda _: ("/v1/audit?limit=1000", None),
    ("GET", "/v1/keys"): lambda _: ("/v1/keys", None),
    ("POST", "/v1/keys"): lambda w: ("/v1/keys", {"user": "eve", "roles": [w.draw.choice(ROLES)], "days": 1}),
    ("POST", "/v1/keys/{key_id}/revoke"): lambda _: ("/v1/keys/aaaaaaaaaa/revoke", None),
    ("GET", "/v1/session"): lambda _: ("/v1/session", None),
    ("GET", "/v1/session/provider"): lambda _: ("/v1/session/provider", None),
    ("GET", "/v1/session/return"): lambda _: ("/v1/session/return?code=a&state=b", None),
    ("POST", "/v1/session"): lambda _: ("/v1/session", {"key": "fonte_aaaaaaaaaa_" + "a" * 43}),
    ("DELETE", "/v1/session"): lambda _: ("/v1/session", None),
    ("GET", "/static/{name}"): lambda _: ("/static/main.js", None),
    **{
        ("GET", path): lambda w, path=path: (path.format(document_id=_document(w), conversation_id="v"), None)
        for path in ADDRESSES
    },
    ("GET", "/metrics"): lambda _: ("/metrics", None),
    ("GET", "/healthz"): lambda _: ("/healthz", None),
    ("GET", "/readyz"): lambda _: ("/readyz", None),
}
"""How each route is asked. Deletes are seldom, or nothing would be left to leak."""


def _shelf(world: World, tenant: str) -> Shelf:
    texts = {}
    for at in range(14):
        mark = f"{tenant}{at:02}"
        given = frozenset(world.draw.sample([*ROLES, "public", "user:ada"], world.draw.randint(0, 2)))
        world.roles[mark] = given
        said = f"The pump and the archive of the tower in room {at} cost {at + 2} euro a year, says word{mark}."
        texts[f"name{mark}.txt"] = (said, given)
    return Shelf(texts, root=f"memory://{tenant}/")


@dataclass(frozen=True)
class Person:
    who: Principal
    actions: frozenset[Action]
    headers: dict[str, str]


def _people(served: Served, draw: random.Random) -> list[Person]:
    found = []
    for tenant in TENANTS:
        for user in USERS:
            for actions in ((Action.READ,), (Action.READ, Action.WRITE), tuple(Action)):
                who = Principal(tenant, user, frozenset(draw.sample(ROLES, draw.randint(0, 2))))
                key = mint(served.keys, who, actions, now=served.now())
                found.append(Person(who, frozenset(actions), {"authorization": f"Bearer {key.text}"}))
    return found


@pytest.fixture
def world(home: Path) -> Iterator[tuple[World, Served]]:
    yield from _world(home, {})


@pytest.fixture
def world_in_a_database(home: Path, postgres_url: str) -> Iterator[tuple[World, Served]]:
    yield from _world(home, {"FONTE_DATABASE_URL": postgres_url})


def _world(home: Path, environ: Mapping[str, str]) -> Iterator[tuple[World, Served]]:
    world = World(random.Random(20261130))
    corpus = quick_corpus(home, Shelves({tenant: _shelf(world, tenant) for tenant in TENANTS}), environ=environ)
    for tenant in TENANTS:
        corpus.sync(f"memory://{tenant}", tenant=tenant)
        world.documents += [one.document_id for one in corpus.documents(tenant=tenant)]
        world.documents += [one.name for one in corpus.documents(tenant=tenant)]
        world.generations += [one.id for one in corpus.generations(tenant=tenant)[1]]
    stores = stores_of(home, load_settings(None, home, environ))
    # Jobs wait: what they do has tests of its own, and here documents should stay what the world says of them.
    work = Worker(corpus, stores.jobs, JobLimits(at_once=0, waiting=REQUESTS))
    yield (
        world,
        Served(
            corpus,
            stores.keys(),
            stores.sessions(),
            stores.audit(),
            None,
            work=work,
            feedback=stores.feedback,
            limits=WIDE,
            now=lambda: datetime.now(UTC),
        ),
    )
    corpus.close()


def _learned(world: World, body: str) -> None:
    """Ids that an answer names: everybody tries them from now on."""
    world.jobs += [one for one in re.findall(r'"job": {"id": "(j\w+)"', body) if len(world.jobs) < 100]
    world.answers += [one for one in re.findall(r'"answer_id": "(a\w+)"', body) if len(world.answers) < 200]
    world.conversations += [
        one for one in re.findall(r'"conversation_id": "(v\w+)"', body) if len(world.conversations) < 100
    ]


@dataclass
class Outcome:
    """How often each route was asked, how many words it showed, and every answer that showed one too many."""

    asked: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    leaks: list[tuple[str, Person, set[str]]] = field(default_factory=list)


def _ask_everything(made: World, served: Served, requests: int) -> Outcome:
    people, outcome = _people(served, made.draw), Outcome()
    order, typed = list(ASKED), {tenant: set[str]() for tenant in TENANTS}
    with TestClient(create_app(served), base_url="http://localhost", raise_server_exceptions=False) as client:
        for at in range(requests):
            person = made.draw.choice(people)
            method, path = order[at % len(order)]
            if method == "DELETE" and path.startswith(("/v1/documents", "/v1/conv")) and made.draw.random() < 0.9:
                method, path = "POST", "/v1/search"
            address, body = ASKED[method, path](made)
            sent = client.request(method, address, json=body, headers=person.headers | ACCEPT)
            assert sent.status_code < 500, (method, address, sent.text)
            told = sent.text + " ".join(f"{name}:{value}" for name, value in sent.headers.items())
            # What was asked for by its name stands in a refusal as it was asked.
            seen = set(MARKS.findall(told.replace(address, "")))
            typed[person.who.tenant] |= set(MARKS.findall(f"{address} {body}"))
            # So does what people of the tenant typed, in its audit log.
            seen -= typed[person.who.tenant] if path == "/v1/audit" else set(MARKS.findall(f"{address} {body}"))
            outcome.asked[f"{method} {path}"] += 1
            outcome.shown[f"{method} {path}"] += len(seen)
            if too_many := seen - made.allowed(person.who, person.actions):
                outcome.leaks.append((f"{method} {address} {body}", person, too_many))
            if method == "DELETE" and sent.status_code == 200:
                gone = MARKS.findall(told)
                made.roles |= {mark: frozenset() for mark in made.roles if f"name{mark}" in gone}
            _learned(made, sent.text)
    return outcome


def test_every_route_is_asked(world: tuple[World, Served]) -> None:
    assert {(method, path) for method, path, _ in api_routes(create_app(world[1]))} == set(ASKED)


@pytest.mark.timeout(600)
def test_nobody_sees_what_is_not_theirs_on_any_route(world: tuple[World, Served]) -> None:
    outcome = _ask_everything(*world, REQUESTS)
    assert outcome.leaks == []
    assert min(outcome.asked.values()) > 5
    # It could have been seen: these routes do show documents to those who may read them.
    for route in (
        "POST /v1/search",
        "POST /v1/ask",
        "GET /v1/documents/{document_id}/text",
        "GET /v1/documents",
        "POST /mcp",
    ):
        assert outcome.shown[route] > 20, outcome.shown


def test_nobody_sees_what_is_not_theirs_in_a_database(world_in_a_database: tuple[World, Served]) -> None:
    outcome = _ask_everything(*world_in_a_database, 400)
    assert outcome.leaks == []
    for route in ("POST /v1/search", "POST /v1/ask", "GET /v1/documents"):
        assert outcome.shown[route] > 5, outcome.shown


def test_rights_that_are_not_asked_would_be_noticed(
    world: tuple[World, Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = world[1].corpus

    def everything(who: Principal, *, document: str | None = None) -> list[DocumentState]:
        return [one for one in corpus.documents(tenant=who.tenant) if document in (None, one.document_id, one.name)]

    monkeypatch.setattr(corpus, "readable", everything)
    leaking = {told.split("?")[0].rsplit(" ", 1)[0] for told, _, _ in _ask_everything(*world, 400).leaks}
    assert any(told.startswith("GET /v1/documents") for told in leaking)
