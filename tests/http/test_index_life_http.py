"""The life of an index over HTTP: what two generations differ in, publishing with a reason, going back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fonte.access.identity import Action
from fonte.access.standing import Pass, PassState
from fonte.types import Principal
from served import House

BOSS = Principal(user="boss", roles=frozenset({"hr"}))
STRANGER = Principal(tenant="meridian", user="eve")


def test_two_generations_are_compared_published_and_left_and_the_log_says_by_whom(house: House) -> None:
    corpus, boss = house.served.corpus, house.client(BOSS, *Action)
    corpus.sync("memory://two", publish=False)
    first, second = (one["id"] for one in boss.get("/v1/generations").json()["generations"])
    found = boss.get(f"/v1/generations/{first}/diff/{second}?limit=2").json()
    modified = found["documents"]["modified"]
    assert (modified["total"], len(modified["listed"]), found["documents"]["unchanged"]) == (3, 2, 0)
    assert (found["a"]["id"], found["b"]["state"], found["recipe"]) == (first, "candidate", [])
    assert boss.get(f"/v1/generations/{first}/diff/{second}?limit=0").json()["documents"]["modified"]["listed"] == []
    assert boss.get(f"/v1/generations/{first}/diff/{second}?limit=1001").status_code == 422

    published = boss.post(f"/v1/generations/{second}/publish", json={"override": "the texts were checked by hand"})
    assert published.json() == {"generation": second, "previous": first}
    checks = boss.get("/v1/generations").json()["generations"][1]["checks"]
    assert (checks["faults"], checks["chunks"], checks["searched"]) == ([], 3, 3)
    assert boss.post("/v1/rollback").json() == {"generation": first, "previous": second}
    assert boss.get("/v1/status").json()["held"]["left"] == second
    assert boss.get("/v1/generations").json()["held"]["left"] == second
    log = {one["action"]: one for one in boss.get("/v1/audit").json()["entries"]}
    override = log["POST /v1/generations/{generation}/publish"]
    assert (override["user"], override["outcome"]) == ("boss", "ok")
    assert override["subject"].startswith(f"{second}: passed: data checks (all 3 chunks")
    assert override["subject"].endswith("; a reason was given: the texts were checked by hand")
    assert log["POST /v1/rollback"]["subject"] == f"from {second} to {first}"


def test_sources_that_are_looked_after_stand_in_the_status_without_words_of_the_machine(house: House) -> None:
    store, moment = house.served.corpus.standing("default"), datetime(2026, 1, 1, tzinfo=UTC)
    begun = store.take("memory://default", "worker", moment, moment + timedelta(minutes=1), moment)
    assert isinstance(begun, Pass)
    error = {"code": "store_unavailable", "message": "catalog.sqlite is full", "hint": "see --home", "retryable": True}
    store.end(replace(begun, state=PassState.FAILED, ended_at=moment, error=error), failures=2, next_try=moment)
    standing = house.client(BOSS, *Action).get("/v1/status").json()["standing"]
    assert [(one["source"], one["failures"], one["breaker"]) for one in standing["sources"]] == [
        ("memory://default", 2, "closed")
    ]
    assert [(one["state"], one["error"]["code"]) for one in standing["passes"]] == [("failed", "store_unavailable")]
    assert "catalog.sqlite" not in str(standing)
    assert "--home" not in str(standing)
    assert house.client(STRANGER, *Action).get("/v1/status").json()["standing"]["sources"] == []


def test_generations_of_another_tenant_and_absent_ones_look_the_same(house: House) -> None:
    mine, theirs = (house.served.corpus.generations(tenant=tenant)[1][0].id for tenant in ("meridian", "default"))
    eve = house.client(STRANGER, *Action)
    told = []
    for other in (theirs, "g0123456789abcdef"):
        refused = eve.get(f"/v1/generations/{mine}/diff/{other}")
        told.append((refused.status_code, refused.json()["error"]["message"].replace(other, "X")))
    assert told[0] == told[1]
    assert told[0][0] == 404
