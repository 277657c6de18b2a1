"""What whoever runs a tenant sees and does: status, generations, publish, rollback, audit."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fonte import contract, told_diff
from fonte.access.records import entry_told
from fonte.access.standing import standing_told
from fonte.http import schemas_index as out_index
from fonte.http import schemas_out as out
from fonte.http.identity import Admin
from fonte.http.outward import outward
from fonte.http.replies import note, reply
from fonte.http.schemas import PublishBody
from fonte.http.served import Served


def routes(served: Served) -> APIRouter:
    """For administrators, of their own tenant."""
    router = APIRouter(tags=["running"])
    corpus = served.corpus

    @router.get("/v1/status", response_model=out_index.StatusTold)
    def status(who: Admin) -> Response:
        """What is there, and what is stale and why."""
        tenant = who.principal.tenant
        standing = standing_told(corpus.standing(tenant), served.rules, served.now())
        return reply(outward(contract.status(corpus.status(tenant=tenant)) | {"standing": standing}, who))

    @router.get("/v1/generations", response_model=out_index.Generations)
    def generations(who: Admin) -> Response:
        """States of the index, oldest first."""
        tenant = who.principal.tenant
        active, known = corpus.generations(tenant=tenant)
        judged, checked = corpus.judgments(tenant=tenant), corpus.checks(tenant=tenant)
        return reply(contract.generations(active, known, judged, checked, corpus.held(tenant=tenant)))

    @router.get("/v1/generations/{a}/diff/{b}", response_model=out_index.GenerationsDiffer)
    def diff(a: str, b: str, who: Admin, limit: Annotated[int, Query(ge=0, le=1000)] = 100) -> Response:
        """What generation B is beside A; each list names the first documents, with how many there are."""
        return reply(told_diff.diff(corpus.diff(a, b, tenant=who.principal.tenant), limit))

    @router.post("/v1/generations/{generation}/publish", response_model=out_index.Switched)
    def publish(generation: str, who: Admin, request: Request, body: PublishBody = PublishBody()) -> Response:  # noqa: B008 - frozen
        """Make a generation active, where it passes its checks or there is a reason."""
        note(request, generation if body.override is None else f"{generation}: {body.override}")
        active, before = corpus.publish(generation, tenant=who.principal.tenant, override=body.override)
        if body.override is not None:
            note(request, f"{generation}: {corpus.verdict(generation, tenant=who.principal.tenant)}")
        return reply({"generation": active, "previous": before})

    @router.post("/v1/rollback", response_model=out_index.Switched)
    def rollback(who: Admin, request: Request) -> Response:
        """Go back to the generation before."""
        active, left = corpus.rollback(tenant=who.principal.tenant)
        note(request, f"from {left} to {active}")
        return reply({"generation": active, "previous": left})

    @router.get("/v1/audit", response_model=out.Entries)
    def audit(
        who: Admin,
        before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        user: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    ) -> Response:
        """Who asked what, what was shown, what was denied; newest first."""
        found = served.audit.entries(who.principal.tenant, before=before, limit=limit, user=user)
        return reply({"entries": [entry_told(number, entry) for number, entry in found]})

    return router
