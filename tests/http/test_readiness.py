"""Whether the server says that it can answer exactly while it can."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fonte.corpus import OpenCorpus
from fonte.errors import StoreUnavailable
from fonte.http import readiness
from fonte.http.readiness import Readiness
from fonte.stores.sqlite_stores import SqliteKeys
from fonte.types import Principal
from served import House, make_house


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "KEPT_SECONDS", 0.0)


def test_it_is_ready_while_keys_and_generations_can_be_read(house: House, home: Path) -> None:
    client = house.client()
    assert client.get("/readyz").json() == {"status": "ready", "checks": {"keys": "ok", "index": "ok"}}
    lance = home / "tenants" / "default" / "lance"
    lance.rename(lance.with_name("away"))
    told = client.get("/readyz")
    assert (told.status_code, told.json()["checks"]) == (503, {"keys": "ok", "index": "failed"})
    assert str(home) not in told.text
    lance.with_name("away").rename(lance)
    assert client.get("/readyz").status_code == 200


def test_a_tenant_counts_once_it_was_asked_for(house: House, home: Path) -> None:
    client = house.client(Principal("meridian", "ada", frozenset()))
    house.served.corpus._stores.clear()  # as in a server that has just started
    shutil.rmtree(home / "tenants" / "meridian" / "lance")
    assert client.get("/readyz").status_code == 200
    client.post("/v1/search", json={"query": "pump"})
    assert client.get("/readyz").json()["checks"] == {"keys": "ok", "index": "failed"}


def test_keys_that_cannot_be_read_are_told_as_such(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: SqliteKeys) -> bool:
        raise StoreUnavailable("/secret/place is away")

    monkeypatch.setattr(SqliteKeys, "any_key", away)
    told = house.client().get("/readyz")
    assert (told.status_code, told.json()["checks"]) == (503, {"keys": "failed", "index": "ok"})
    assert "secret" not in told.text


def test_a_home_without_an_index_is_ready_to_be_given_one(tmp_path: Path) -> None:
    house = make_house(tmp_path / "home")
    house.served.corpus.erase_tenant("default")
    assert house.client().get("/readyz").status_code == 200
    house.served.corpus.close()


def test_what_was_found_is_kept_for_a_moment(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "KEPT_SECONDS", 1.0)
    looked, clock = [], [0.0]
    monkeypatch.setattr(OpenCorpus, "probe", lambda _, tenant: looked.append(tenant))
    made = Readiness(house.served, lambda: clock[0])
    made.checks()
    many = len(looked)
    clock[0] = 0.9
    made.checks()
    assert len(looked) == many > 0
    clock[0] = 1.1
    made.checks()
    assert len(looked) == 2 * many
