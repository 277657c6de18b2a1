"""A sync into PostgreSQL that breaks off at a statement, whoever dies: what was answers as before, or what comes does.

Broken off by the server ending every session, by the server dying, and by ``kill -9`` of the one who syncs.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from faults.postgres_worker import at_statement, corpus_of
from faults.small_corpus import begin, edit
from postgres_server import Server

from fonte.corpus import OpenCorpus
from fonte.errors import FonteError, StoreUnavailable
from fonte.stores.postgres.address import Address
from fonte.stores.postgres.connection import Connection
from fonte.types import Principal

QUERY = "pump P-7 pressure in hall 3"
Told = tuple[dict[str, Any], dict[str, str], list[tuple[str, ...]]]


@contextmanager
def statements(number: int, then: Callable[[], None]) -> Iterator[Callable[[], int]]:
    """Within the block something is done before a statement."""
    kept = {name: getattr(Connection, name) for name in ("execute", "script", "copy_in")}
    try:
        yield at_statement(number, then)
    finally:
        for name, inner in kept.items():
            setattr(Connection, name, inner)


def told(corpus: OpenCorpus) -> Told:
    """All that the active generation says."""
    orders = [
        tuple(
            one.stored.chunk.id
            for one in corpus.search(QUERY, principal=Principal(), mode=mode, k=8, rerank=False).results
        )
        for mode in ("bm25", "dense")
    ]
    store = corpus._store_of("default")
    active = store.catalog.active()
    assert active is not None
    chunks = [one.chunk for one in store.index.open(active).stored_chunks()]
    states = {one.uri: (one.status, one.version, one.chunks) for one in corpus.documents()}
    assert len({one.id for one in chunks}) == len(chunks) == active.chunks, "lost or doubled"
    assert sum(one.chunks for one in corpus.documents()) == active.chunks
    return states, {one.id: one.content for one in chunks}, orders


@pytest.fixture
def place(tmp_path: Path) -> Path:
    begin(tmp_path / "docs", 12)
    return tmp_path


@pytest.fixture
def wanted_of(postgres_server: Server, place: Path) -> Iterator[Callable[[], Told]]:
    """What a new database says of the folder as it is."""
    made: list[str] = []

    def look() -> Told:
        made.append(postgres_server.database())
        with corpus_of(place / f"fresh-{len(made)}", postgres_server.url(made[-1])) as fresh:
            fresh.sync(str(place / "docs"))
            return told(fresh)

    yield look
    for name in made:
        postgres_server.drop(name)


def sound(url: str, home: Path, folder: Path, before: Told, wanted: Told) -> bool:
    """Nothing is mixed, and the next sync leaves what a new database would say; whether what was still answered."""
    with corpus_of(home, url) as corpus:
        after = told(corpus)
        assert after in (before, wanted), "a mixture"
        assert corpus.sync(str(folder)).generation is not None or after == wanted
        assert told(corpus) == wanted
        assert list(corpus._parts.stores.faults()) == []  # type: ignore[attr-defined]  # of PostgreSQL
        store = corpus._store_of("default")
        assert {one.state for one in store.catalog.generations()} <= {"active", "retired", "candidate"}
    return after == before


def break_sessions(place: Path, url: str, server: Server, wanted_of: Callable[[], Told], times: int) -> None:
    """Sync, then edit and end every session at a statement of the sync, so many times over one database."""
    draw, folder, name = random.Random(5), place / "docs", Address.of(url).database
    with corpus_of(place / "home", url) as corpus:
        corpus.sync(str(folder))
        edit(folder, draw, 1)
        with statements(-1, lambda: None) as count:
            corpus.sync(str(folder))
        whole = count()
    assert whole > 40
    outcomes = []
    for number in range(times):
        edit(folder, draw, number + 2)
        wanted = wanted_of()
        with corpus_of(place / "home", url) as corpus:
            before = told(corpus)
            broken = False
            with statements(draw.randint(1, whole), lambda: server.kill_session("fonte", name) and None):
                try:
                    corpus.sync(str(folder))
                except FonteError as error:
                    assert isinstance(error, StoreUnavailable), error
                    assert error.retryable
                    broken = True
        outcomes.append((broken, sound(url, place / "home", folder, before, wanted)))
    assert any(broken for broken, _ in outcomes)
    assert (True, True) in outcomes


def test_sessions_that_end_at_any_statement(
    place: Path, postgres_url: str, postgres_server: Server, wanted_of: Callable[[], Told]
) -> None:
    break_sessions(place, postgres_url, postgres_server, wanted_of, 4)


@pytest.mark.soak
def test_sessions_that_end_at_many_statements(
    place: Path, postgres_url: str, postgres_server: Server, wanted_of: Callable[[], Told]
) -> None:
    break_sessions(place, postgres_url, postgres_server, wanted_of, 40)


def test_a_server_that_dies_in_a_sync(
    place: Path, postgres_url: str, postgres_server: Server, wanted_of: Callable[[], Told]
) -> None:
    draw, folder = random.Random(6), place / "docs"
    with corpus_of(place / "home", postgres_url) as corpus:
        corpus.sync(str(folder))
        for number in range(2):
            edit(folder, draw, number + 2)
            wanted, before = wanted_of(), told(corpus)
            with statements(20 + 40 * number, postgres_server.kill), pytest.raises(StoreUnavailable):
                corpus.sync(str(folder))
            postgres_server.restart()
            assert told(corpus) == before  # the same process goes on, without a person
            sound(postgres_url, place / "home", folder, before, wanted)


def test_a_sync_that_is_killed(place: Path, postgres_url: str, wanted_of: Callable[[], Told]) -> None:
    draw, folder = random.Random(7), place / "docs"
    with corpus_of(place / "home", postgres_url) as corpus:
        corpus.sync(str(folder))
    here = Path(__file__).resolve().parent.parent
    paths = [os.environ.get("PYTHONPATH", ""), str(here), str(here / "property")]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "FONTE_DATABASE_URL": postgres_url}
    for number in (25, 70):
        edit(folder, draw, number)
        wanted = wanted_of()
        with corpus_of(place / "home", postgres_url) as corpus:
            before = told(corpus)
        command = [sys.executable, "-m", "faults.postgres_worker", str(place / "home"), str(folder), str(number)]
        ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert ran.returncode == -signal.SIGKILL, ran.stderr
        sound(postgres_url, place / "home", folder, before, wanted)
