"""Counters, traces and the log tell how it goes, and nothing of what was asked, found, or by whom."""

from __future__ import annotations

import io
import json
import logging
import re
from dataclasses import replace
from gzip import decompress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fonte.access.identity import Action
from fonte.http.app import create_app
from fonte.http.logs import Lines
from fonte.http.served import Limits
from fonte.http.telemetry import codes
from fonte.serving import make_tracer
from fonte.types import Principal
from served import House, make_house

ADA = Principal("default", "ada", frozenset())
QUESTION = "At how many bar does the pump of the north tower run, zyzzyva?"
PLANTED = ("zyzzyva", "pump", "tower", "seven", "meridian", "ada", "salaries", "fonte_")
"""Words of the question, of texts, of names of documents, tenants and users, and what keys begin with."""


def test_counters_need_an_administrator_unless_they_are_open(home: Path) -> None:
    house = make_house(home, open_metrics=False)
    client, runs_it = house.client(ADA), house.client(ADA, *Action)
    assert client.get("/metrics").status_code == 403
    assert house.client().get("/metrics").status_code == 401
    assert runs_it.get("/metrics").headers["content-type"].startswith("text/plain")
    opened = House(house.served, make_house(home, open_metrics=True).app)
    assert opened.client().get("/metrics").status_code == 200
    house.served.corpus.close()


def test_counters_tell_requests_stages_and_answers(house: House) -> None:
    client = house.client(ADA, *Action)
    client.post("/v1/ask", json={"question": QUESTION})
    client.post("/v1/ask", json={"question": QUESTION, "stream": True})
    client.post("/v1/search", json={"query": QUESTION})
    client.get("/v1/documents/nothing")
    told = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in told.splitlines() if not line.startswith("#"))
    assert lines['fonte_requests_total{method="POST",route="/v1/ask",status="200"}'] == "2.0"
    assert lines['fonte_requests_total{method="GET",route="/v1/documents/{document_id}",status="404"}'] == "1.0"
    assert sum(float(value) for name, value in lines.items() if name.startswith("fonte_answers_total")) == 2
    assert float(lines['fonte_stage_seconds_count{stage="dense"}']) == 3
    assert float(lines['fonte_request_seconds_count{route="/v1/search"}']) == 1
    assert "fonte_working" in lines and "fonte_waiting" in lines and "process_resident_memory_bytes" in lines


def test_counters_tell_jobs_by_state_and_refusals_by_reason(home: Path) -> None:
    house = make_house(home, limits=Limits(requests_per_minute=6, body_bytes=1000))
    client, runs_it = house.client(ADA), house.client(Principal("default", "max", frozenset()), *Action)
    job = runs_it.post("/v1/sync").json()["job"]["id"]
    house.served.work.close()  # waits for what runs
    assert runs_it.get(f"/v1/jobs/{job}").json()["state"] == "done"
    client.get("/v1/documents/nothing")
    client.get("/metrics")
    client.post("/v1/search", json={"query": "x" * 2000})
    client.post("/v1/search", json={"query": ""})
    house.client().get("/v1/documents")
    while client.get("/v1/documents").status_code == 200:
        pass
    told = runs_it.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in told.splitlines() if not line.startswith("#"))
    jobs = {state: lines[f'fonte_jobs{{state="{state}"}}'] for state in ("queued", "running", "done", "failed")}
    assert jobs == {"queued": "0.0", "running": "0.0", "done": "1.0", "failed": "0.0"}
    reasons = {name.split('"')[1]: value for name, value in lines.items() if name.startswith("fonte_refused_total")}
    wanted = ("not_found", "not_permitted", "source_too_large", "invalid_request", "unauthenticated", "rate_limited")
    assert {name: reasons[name] for name in wanted} == dict.fromkeys(wanted, "1.0")
    assert set(reasons) <= codes()
    house.served.corpus.close()


def test_a_trace_has_a_span_of_the_request_and_one_of_each_stage(home: Path) -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    house = make_house(home, tracer=provider.get_tracer("fonte"))
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    house.client(ADA).post("/v1/ask", json={"question": QUESTION}, headers={"traceparent": parent})
    spans = kept.get_finished_spans()
    whole = next(one for one in spans if one.name == "POST /v1/ask")
    stages = [one for one in spans if one is not whole]
    assert {"bm25", "dense", "fuse"} <= {one.name for one in stages}
    assert all(one.parent is not None and one.parent.span_id == whole.context.span_id for one in stages)
    assert all(whole.start_time <= one.start_time <= one.end_time <= whole.end_time for one in stages)
    assert f"{whole.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert whole.attributes["http.response.status_code"] == 200
    told = " ".join(one.to_json() for one in spans).casefold()
    assert [word for word in PLANTED if word in told] == []
    house.served.corpus.close()


@pytest.mark.parametrize("form", ["json", "plain"])
def test_the_log_holds_no_word_of_what_was_asked_or_found(
    house: House, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Lines(form))  # type: ignore[arg-type]  # one of the two
    root, own = logging.getLogger(), logging.getLogger("fonte")
    root.addHandler(handler)
    before = own.level
    own.setLevel(logging.INFO)
    try:
        client = house.client(ADA)
        client.post("/v1/ask", json={"question": QUESTION})
        client.post("/v1/ask", json={"question": QUESTION, "stream": True})
        client.get("/v1/documents/salaries.txt/text")
        client.post(
            "/v1/chat/completions", json={"model": "fonte", "messages": [{"role": "user", "content": QUESTION}]}
        )

        def broken(*_args: object, **_kwargs: object) -> None:
            raise RuntimeError("the pump of the north tower")

        monkeypatch.setattr(house.served.corpus, "search", broken)
        assert client.post("/v1/search", json={"query": QUESTION}).status_code == 500
    finally:
        root.removeHandler(handler)
        own.setLevel(before)
    told = written.getvalue()
    assert "/v1/ask" in told
    assert "RuntimeError" in told
    # From a word's start: a random id may hold three letters that are somebody's name.
    assert [word for word in PLANTED if re.search(rf"\b{word}", told.casefold())] == []
    if form == "json":
        lines = [json.loads(line) for line in told.splitlines()]
        asked = [one for one in lines if one.get("route") == "/v1/ask"]
        assert {"at", "level", "logger", "message", "request_id", "method", "status", "milliseconds"} <= set(asked[0])


def test_counters_hold_no_name_and_no_word(house: House) -> None:
    client = house.client(ADA, *Action)
    other = house.client(Principal("meridian", "zoe", frozenset()))
    for one in (client, other):
        one.post("/v1/ask", json={"question": QUESTION})
        one.get("/v1/documents/salaries.txt/text")
        one.request("ZYZZYVA", "/v1/search")
        one.get("/pump/of/the/tower")
    told = client.get("/metrics").text.casefold()
    assert [word for word in PLANTED[:-1] if word in told] == []


def test_spans_go_to_the_collector_that_the_environment_names(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Silent."""

    assert make_tracer() is None
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        beside = Thread(target=collector.serve_forever)
        beside.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        traces = make_tracer()
        assert traces is not None
        told = replace(house.served, tracer=traces.get_tracer("fonte"))
        House(told, create_app(told)).client(ADA).post("/v1/ask", json={"question": QUESTION})
        traces.shutdown()
        collector.shutdown()
        beside.join()
    assert {path for path, _ in taken} == {"/v1/traces"}
    sent = b"".join(decompress(body) if body[:2] == b"\x1f\x8b" else body for _, body in taken)
    assert b"POST /v1/ask" in sent
    assert b"bm25" in sent
    assert b"zyzzyva" not in sent
