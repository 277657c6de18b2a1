"""sync --watch: goes on until it is stopped."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Event
from types import FrameType

from fonte.access.standing import Breaker, PassState, pass_told
from fonte.cli.arguments import UsageError
from fonte.cli.opening import corpus, settings_of
from fonte.cli.output import Output, one_line
from fonte.corpus import source_spec
from fonte.parts import SourceOptions
from fonte.standing import Looked, Standing
from fonte.tending import ears, pace_of, rules_of
from fonte.watching import Watch

_MOST_MOVES = 3
"""Moves that a line names."""


def watch(options: argparse.Namespace, how: SourceOptions, output: Output) -> int:
    """Sync the sources now and whenever they change."""
    if options.no_publish:
        raise UsageError("--no-publish leaves a candidate for a person, --watch is without one", hint="use one of them")
    home = Path(options.home)
    settings = settings_of(options)
    sources = [source_spec(one) for one in options.sources]
    with _until_told(), corpus(options, must_exist=False) as opened:
        known = opened.sources(tenant=options.tenant)
        for one in sources:
            if one not in known:  # a name that never was a source is a slip of the pen; one that was may come back
                opened.check_source(one, tenant=options.tenant, options=how)
        standing = Standing(opened, rules_of(settings))
        with output.progress() as progress:

            def look(source: str, since: datetime) -> Looked:
                return standing.look(
                    source,
                    tenant=options.tenant,
                    since=since,
                    progress=progress,
                    options=how,
                    workers=options.workers,
                )

            watching = Watch(
                sources,
                look,
                ears(home),
                pace=pace_of(settings),
                narrow=lambda source: opened.narrow(source, tenant=options.tenant),
                told=_Telling(output).tell,
            )
            output.note(f"watching {', '.join(sources)}; Ctrl-C ends it")
            watching.run(Event())
    return 0


@contextmanager
def _until_told() -> Iterator[None]:
    """Until Ctrl-C or SIGTERM: a sync that runs is abandoned, as if it had not begun."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)


class _Telling:
    """One line for each pass that changed something; what is wrong once, and when it is over."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._wrong: dict[str, str] = {}
        self._open: set[str] = set()

    def tell(self, looked: Looked) -> None:
        """Tell of a look."""
        ended, source = looked.ended, looked.source
        if ended is None:
            return
        error = ended.error or {}
        why, hint = str(error.get("message", "")), str(error.get("hint", ""))
        if why and self._wrong.get(source) != why:
            again = "; it is tried again" if ended.state is PassState.FAILED else ""
            self._output.warning(str(error.get("code", "")), f"{source}: {why}{again}", hint)
        if looked.breaker is not Breaker.CLOSED and source not in self._open:
            self._open.add(source)
            self._output.note(f"{source} failed often: it is asked only now and then until it is back")
        if why:
            self._wrong[source] = why
        elif self._wrong.pop(source, None) is not None:
            self._open.discard(source)
            self._output.note(f"{source}: all is well again")
        if ended.changed:
            self._changed(looked)

    def _changed(self, looked: Looked) -> None:
        if looked.ended is None or looked.report is None:
            return
        if self._output.json_mode:
            moved = [{"from": before, "to": now} for before, now in looked.report.moved]
            self._output.json_line(pass_told(looked.ended) | {"moved": moved})
            return
        report = looked.report
        parts = [f"{number} {name}" for name, number in report.documents.items() if number and name != "unchanged"]
        parts += [f"moved {before} → {now}" for before, now in report.moved[:_MOST_MOVES]]
        if len(report.moved) > _MOST_MOVES:
            parts.append(f"{len(report.moved) - _MOST_MOVES} more moved")
        if looked.tried is not None:
            parts.append(f"{sum(looked.tried.documents.get(one, 0) for one in ('modified', 'failed'))} tried again")
        parts.append(f"{report.embedded_texts} embedded")
        at = (looked.ended.ended_at or looked.ended.started_at).astimezone()
        told = f"{looked.source}: {', '.join(parts)} in {report.seconds:.1f} s; generation {report.generation}"
        self._output.line(one_line(f"{at:%Y-%m-%d %H:%M:%S} {told}"))
