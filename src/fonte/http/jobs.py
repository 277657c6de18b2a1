"""Work beside requests: syncs, retries, and how far they are. And what askers say of their answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fonte.access.identity import Identity
from fonte.access.jobs import Job, JobKind, job_told
from fonte.access.records import Feedback, feedback_told
from fonte.errors import NotFound
from fonte.http import schemas_out as out
from fonte.http.documents import one_visible
from fonte.http.identity import Admin, Reader, Writer
from fonte.http.outward import outward
from fonte.http.replies import note, reply
from fonte.http.schemas import FeedbackBody, SyncBody
from fonte.http.served import Served

ACCEPTED = 202


def routes(served: Served) -> APIRouter:
    """Sync, retry, jobs, feedback."""
    router = APIRouter(tags=["jobs"])
    corpus, work = served.corpus, served.work

    @router.post("/v1/sync", status_code=ACCEPTED, response_model=out.Begun)
    def sync(who: Admin, request: Request, body: SyncBody = SyncBody()) -> Response:  # noqa: B008 - frozen
        """Sync sources again that were synced before, all or some by their names. No path of a request is ever read."""
        note(request, ", ".join(body.sources))
        known = corpus.sources(tenant=who.principal.tenant)
        strange = [one for one in body.sources if one not in known]
        if strange or not known:
            raise NotFound("that was never synced here", hint="fonte sync FOLDER on the server's machine")
        job = work.begin(JobKind.SYNC, who, {"sources": list(body.sources), "publish": body.publish})
        return reply(begun(job, who), ACCEPTED)

    @router.post("/v1/documents/{document_id}/retry", status_code=ACCEPTED, response_model=out.Begun)
    def retry(document_id: str, who: Writer, request: Request) -> Response:
        """Read a document again that failed or is partial."""
        note(request, document_id)
        found = one_visible(served, who, document_id)
        note(request, document_id, (found.document_id,))
        return reply(begun(work.begin(JobKind.RETRY, who, {"documents": [found.document_id]}), who), ACCEPTED)

    @router.get("/v1/jobs", response_model=out.Jobs)
    def jobs(who: Admin, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
        """Newest first."""
        return reply({"jobs": [outward(job_told(one), who) for one in work.jobs(who.principal.tenant, limit)]})

    @router.get("/v1/jobs/{job_id}", response_model=out.JobTold)
    def job(job_id: str, who: Reader, request: Request) -> Response:
        """How far a job is, for whoever began it or runs the tenant."""
        note(request, job_id)
        return reply(outward(job_told(work.job(job_id, who)), who))

    @router.post("/v1/feedback", response_model=out.Said)
    def say(body: FeedbackBody, who: Reader, request: Request) -> Response:
        """An asker's word on one of their answers; a later one takes its place."""
        note(request, body.answer_id)
        corpus.answer(body.answer_id, principal=who.principal)  # NotFound where it is not theirs
        said = Feedback(body.answer_id, who.id, who.principal.user, body.verdict, body.comment, served.now())
        served.feedback(who.principal.tenant).say(said)
        return reply(feedback_told(said))

    @router.get("/v1/feedback", response_model=out.Feedbacks)
    def feedback(who: Admin, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
        """What askers said, newest first."""
        return reply({"feedback": [feedback_told(one) for one in served.feedback(who.principal.tenant).said(limit)]})

    return router


def begun(job: Job, who: Identity) -> dict[str, object]:
    """A job that was just queued."""
    return {"job": outward(job_told(job), who)}
