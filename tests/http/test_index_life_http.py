"""The life of an index over HTTP: what two generations differ in, publishing with a reason, going back."""

from __future__ import annotations

from fonte.access.identity import Action
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
    log = {one["action"]: one for one in boss.get("/v1/audit").json()["entries"]}
    override = log["POST /v1/generations/{generation}/publish"]
    assert (override["user"], override["outcome"]) == ("boss", "ok")
    assert override["subject"].startswith(f"{second}: passed: data checks (all 3 chunks")
    assert override["subject"].endswith("; a reason was given: the texts were checked by hand")
    assert log["POST /v1/rollback"]["subject"] == f"from {second} to {first}"


def test_generations_of_another_tenant_and_absent_ones_look_the_same(house: House) -> None:
    mine, theirs = (house.served.corpus.generations(tenant=tenant)[1][0].id for tenant in ("meridian", "default"))
    eve = house.client(STRANGER, *Action)
    told = []
    for other in (theirs, "g0123456789abcdef"):
        refused = eve.get(f"/v1/generations/{mine}/diff/{other}")
        told.append((refused.status_code, refused.json()["error"]["message"].replace(other, "X")))
    assert told[0] == told[1]
    assert told[0][0] == 404
