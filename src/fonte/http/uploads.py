"""Documents that are handed over: streamed to the disk, and read by a job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from fonte.access.identity import Identity
from fonte.access.jobs import Job, JobKind
from fonte.access.uploads import Draft, Upload, allowed_roles, checked_name, upload_id
from fonte.errors import InvalidRequest, Overloaded, StoreUnavailable
from fonte.http import schemas_out as out
from fonte.http.identity import Writer
from fonte.http.jobs import ACCEPTED, begun
from fonte.http.limits import Room
from fonte.http.replies import note, reply
from fonte.http.schemas import UploadFields
from fonte.http.served import Served
from fonte.types import document_id

_FIELDS = ("allow", "title", "language")
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1},
                        "allow": {"type": "string", "description": "roles with commas between; public where left out"},
                        "title": {"type": "string", "maxLength": 500},
                        "language": {"type": "string", "pattern": "^[a-z]{2}$"},
                    },
                }
            }
        },
    }
}


def routes(served: Served) -> APIRouter:
    """Upload."""
    router = APIRouter(tags=["documents"])
    limits = served.limits
    # One for each tenant: slow uploads of one are not waited for by another.
    rooms = defaultdict[str, Room](lambda: Room(limits.concurrent, limits.waiting, limits.wait_seconds))

    @router.post("/v1/documents", status_code=ACCEPTED, response_model=out.Uploaded, openapi_extra=_FORM)
    async def upload(who: Writer, request: Request) -> Response:
        """Hand over documents. They are read by a job; until it is done they answer 404.

        A document of the same name that the caller handed over before is replaced, nobody else's ever is.
        """
        async with rooms[who.principal.tenant].enter():
            await run_in_threadpool(served.work.check, who.principal.tenant)
            try:
                async with request.form(max_files=limits.upload_files, max_fields=len(_FIELDS)) as form:
                    wanted, files = _read(form, who, served)
                    note(request, ", ".join(one.name for one in wanted))
                    job = await run_in_threadpool(_take, served, who, wanted, files)
            except UnicodeError as error:  # the form's own charset may be one that decodes nothing
                raise InvalidRequest("a form that cannot be decoded", hint="send it as UTF-8") from error
            except OSError as error:
                message = f"the upload cannot be written: {error.strerror or type(error).__name__}"
                raise StoreUnavailable(message, hint="free some space and try again") from error
        tenant = who.principal.tenant
        told = [{"name": one.name, "document_id": document_id(tenant, one.uri)} for one in wanted]
        return reply({**begun(job, who), "documents": told}, ACCEPTED)

    return router


def _read(form: FormData, who: Identity, served: Served) -> tuple[list[Upload], list[UploadFile]]:
    """What is handed over, and what is said of it.

    Raises:
        InvalidRequest, NotPermitted
    """
    files = [one for key, one in form.multi_items() if key == "files" and isinstance(one, UploadFile)]
    said = [(key, one) for key, one in form.multi_items() if key in _FIELDS and isinstance(one, str)]
    if len(files) + len(said) != len(form.multi_items()) or len(dict(said)) != len(said) or not files:
        raise InvalidRequest(
            "a form with files, and allow, title and language once at most", hint="send each file as a part named files"
        )
    fields = UploadFields.of(dict(said))
    allow = allowed_roles(who, fields.roles())
    names = [checked_name(one.filename) for one in files]
    if len(set(names)) != len(names):
        raise InvalidRequest("two files of one name", hint="one of them would take the other's place")
    whole = Upload("", "", who.principal.user or who.id, allow, served.now(), "", fields.title, fields.language)
    wanted = [
        replace(whole, id=upload_id(who, name), name=name, media_type=(one.content_type or "")[:100])
        for name, one in zip(names, files, strict=True)
    ]
    return wanted, files


def _take(served: Served, who: Identity, wanted: Sequence[Upload], files: Sequence[UploadFile]) -> Job:
    """All files on the disk, then all of them in their places, then the job that reads them."""
    tenant = who.principal.tenant
    store = served.corpus.uploads(tenant)
    before = {one.id for one, _ in store.scan()}
    with ExitStack() as drafts:
        written: list[Draft] = [
            drafts.enter_context(store.draft(one, file.file)) for one, file in zip(wanted, files, strict=True)
        ]
        for draft in written:
            draft.commit()
    told = {"uris": [one.uri for one in wanted], "documents": [document_id(tenant, one.uri) for one in wanted]}
    try:
        return served.work.begin(JobKind.UPLOAD, who, told)
    except (Overloaded, StoreUnavailable):
        for one in wanted:
            if one.id not in before:
                store.forget(one.uri)
        raise
