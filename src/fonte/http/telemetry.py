"""What is counted of requests, as Prometheus reads it, and a trace of each where a collector is named.

Labels and attributes are names of routes, stages and outcomes. No tenant, no name, no word of a question or a document
is in them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from fonte.errors import FonteError, StoreError
from fonte.http.limits import Room
from fonte.http.streaming import BROKEN_OFF

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_FAULT: Final = 500


@dataclass(frozen=True, slots=True)
class Over:
    """A request that is over. ``answer`` is ``answered`` or the reason of an abstention, empty for other requests."""

    method: str
    route: str
    status: int
    seconds: float
    request_id: str
    outcome: str
    answer: str
    timings_ms: Mapping[str, float]
    traceparent: str = ""


def codes(kind: type[FonteError] = FonteError) -> frozenset[str]:
    """Every code of an error, so that a label has one of a known number of values."""
    return frozenset({kind.code}).union(*(codes(one) for one in kind.__subclasses__()))


@dataclass(frozen=True)
class _Kept(Collector):
    """What is kept, by one label, counted where it is kept when somebody asks."""

    name: str
    about: str
    label: str
    count: Callable[[], Mapping[str, int]]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        told = GaugeMetricFamily(self.name, self.about, labels=(self.label,))
        try:
            found = self.count()
        except StoreError:
            return  # nothing rather than zeros
        for state, many in sorted(found.items()):
            told.add_metric((state,), many)
        yield told


class Telemetry:
    """The counters of one application; ``jobs`` counts them by state, ``tended`` sources that are looked after."""

    def __init__(
        self,
        room: Room,
        tracer: Tracer | None = None,
        jobs: Callable[[], Mapping[str, int]] | None = None,
        tended: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        self._tracer = tracer
        self._registry = registry = CollectorRegistry()
        self._requests = Counter("fonte_requests", "Requests", ("method", "route", "status"), registry=registry)
        self._seconds = Histogram(
            "fonte_request_seconds", "From the first byte in to the last one out", ("route",), buckets=_SECONDS,
            registry=registry,
        )  # fmt: skip
        self._stages = Histogram(
            "fonte_stage_seconds", "Stages of searches and answers", ("stage",), buckets=_SECONDS, registry=registry
        )
        self._answers = Counter("fonte_answers", "Answers, and abstentions by reason", ("outcome",), registry=registry)
        self._refused = Counter(
            "fonte_refused", "Requests that ended in an error, by its code", ("reason",), registry=registry
        )
        self._codes = codes()
        if jobs is not None:
            registry.register(_Kept("fonte_jobs", "Jobs that are kept, by state", "state", jobs))
        if tended is not None:
            about = "Sources that are looked after, of these with an open breaker, documents given up"
            registry.register(_Kept("fonte_standing", about, "what", tended))
        working = Gauge("fonte_working", "Questions that are worked on", registry=registry)
        working.set_function(lambda: room.working)
        waiting = Gauge("fonte_waiting", "Questions that wait for a place", registry=registry)
        waiting.set_function(lambda: room.waiting)
        ProcessCollector(registry=registry)

    def over(self, request: Over) -> None:
        """Count a request, and trace it."""
        method = request.method if request.method in _METHODS else "other"
        self._requests.labels(method, request.route, str(request.status)).inc()
        self._seconds.labels(request.route).observe(request.seconds)
        for stage, milliseconds in request.timings_ms.items():
            self._stages.labels(stage).observe(milliseconds / 1000)
        if request.answer or request.outcome == BROKEN_OFF:
            self._answers.labels(request.answer or BROKEN_OFF).inc()
        if request.outcome in self._codes:
            self._refused.labels(request.outcome).inc()
        if self._tracer is not None:
            _trace(self._tracer, request, method)

    def text(self) -> bytes:
        """All of it in Prometheus' text form."""
        return generate_latest(self._registry)


def _trace(tracer: Tracer, request: Over, method: str) -> None:
    """A span of the request with one for each stage.

    Stages tell how long they took and not when they began: they are laid end to end, and say so.
    """
    from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    end = time.time_ns()
    begin = end - int(request.seconds * 1e9)
    parent = TraceContextTextMapPropagator().extract({"traceparent": request.traceparent})
    span = tracer.start_span(
        f"{method} {request.route}".strip(),
        context=parent,
        kind=SpanKind.SERVER,
        start_time=begin,
        attributes={
            "http.request.method": method,
            "http.route": request.route,
            "http.response.status_code": request.status,
            "fonte.request_id": request.request_id,
            "fonte.outcome": request.outcome,
        },
    )
    at, inside = begin, set_span_in_context(span)
    for stage, milliseconds in request.timings_ms.items():
        if stage == "total":
            continue
        until = min(end, at + int(milliseconds * 1e6))
        child = tracer.start_span(
            stage, context=inside, start_time=at, attributes={"fonte.start": "estimated", "fonte.ms": milliseconds}
        )
        child.end(until)
        at = until
    if request.status >= _FAULT:
        span.set_status(Status(StatusCode.ERROR))
    span.end(end)
