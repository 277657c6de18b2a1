"""Keys of a tenant, for whoever runs it: listed, made, ended. A key's text is told once, in the answer that made it."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fonte.access.keys import key_told, mint
from fonte.errors import InvalidRequest, NotFound
from fonte.http import schemas_out as out
from fonte.http.identity import Admin
from fonte.http.replies import note, reply
from fonte.http.schemas import KeyBody
from fonte.http.served import Served
from fonte.types import Acl, Principal


def routes(served: Served) -> APIRouter:
    """For administrators, of their own tenant."""
    router = APIRouter(tags=["keys"])

    @router.get("/v1/keys", response_model=out.KeysTold)
    def keys(who: Admin) -> Response:
        """All keys, those that are over too, oldest first."""
        now, tenant = served.now(), who.principal.tenant
        found = [one for one in served.keys.every_key() if one.principal.tenant == tenant]
        return reply({"keys": [key_told(one) | {"good": one.good_at(now)} for one in found]})

    @router.post("/v1/keys", response_model=out.NewKey)
    def create(body: KeyBody, who: Admin, request: Request) -> Response:
        """Make a key. Whoever runs a tenant may give any of its roles."""
        note(request, body.user)
        try:
            principal = Principal(who.principal.tenant, body.user, Acl(frozenset(body.roles)).roles)
        except ValueError as error:
            raise InvalidRequest(f"roles: {error}", hint="name some; user:NAME goes with the user") from error
        lifetime = timedelta(days=body.days) if body.days is not None else None
        made = mint(served.keys, principal, body.actions, now=served.now(), lifetime=lifetime)
        note(request, f"{made.record.id} for {body.user}")
        return reply(key_told(made.record) | {"key": made.text, "good": True})

    @router.post("/v1/keys/{key_id}/revoke", response_model=out.Revoked)
    def revoke(key_id: str, who: Admin, request: Request) -> Response:
        """End a key, and the sessions that were begun with it, at once."""
        note(request, key_id)
        found = served.keys.key(key_id)
        if found is None or found.principal.tenant != who.principal.tenant:
            raise NotFound(f"there is no key {key_id!r}", hint="GET /v1/keys tells what is there")
        served.keys.end_key(key_id, served.now())
        return reply({"revoked": key_id})

    return router
