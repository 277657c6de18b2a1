"""Parsers in child processes: limits, deaths, nonsense, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fonte.errors import EncryptedSource, FonteError, ParseError, ParserCrashed, ParseTimeout, UnsupportedMediaType
from fonte.parsers import pool as pool_module
from fonte.parsers.pool import ParserPool
from fonte.types import Acl, BlockKind, Parsed, Source, sha256_hex


def source(body: bytes, name: str = "a.txt") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def stored(path: Path, *, content_hash: str | None = None) -> Source:
    return Source(path.as_uri(), path.name, content_hash or sha256_hex(path.read_bytes()), Acl(), path=str(path))


def slow_html() -> bytes:
    """Half a minute of tags for one processor."""
    return b"<i>" * 3_000_000


@pytest.fixture(scope="module")
def parsers() -> Iterator[ParserPool]:
    with ParserPool(timeout_seconds=20) as made:
        yield made


def children_of(parsers: ParserPool) -> list[int]:
    return [child._process.pid for child in parsers._children]


def test_a_document_comes_back_whole(parsers: ParserPool) -> None:
    parsed = parsers.parse(source("Perché\r\n\r\ncosì \U0001f600".encode()))
    assert [block.text for block in parsed.blocks] == ["Perché", "così \U0001f600"]
    assert parsed.verbatim
    assert parsed.parser == "plain/1"
    assert parsed.media_type == "text/plain"


def test_a_file_is_opened_by_the_child(parsers: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    path.write_text("# Ferie\n\n26 giorni")
    parsed = parsers.parse(stored(path))
    assert [block.kind for block in parsed.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH]


def test_a_file_that_changed_since_it_was_hashed_is_refused(parsers: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    taken = stored(path)
    path.write_text("two")
    with pytest.raises(ParseError, match="changed while being read"):
        parsers.parse(taken)


def test_a_file_that_is_gone_or_no_file_is_a_parse_error(parsers: ParserPool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none.txt", tmp_path, tmp_path / "pipe"):
        with pytest.raises(ParseError):
            parsers.parse(stored(path, content_hash="0" * 64))


def test_unsupported_and_encrypted_keep_their_types(parsers: ParserPool) -> None:
    with pytest.raises(UnsupportedMediaType, match="fonte reads no files of this kind: audio/flac"):
        parsers.parse(source(b"fLaC\0\0\0", "notes.md"))
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(EncryptedSource):
        parsers.parse(source(locked, "a.docx"))


def test_case_91_an_empty_file_is_empty_and_no_failure(parsers: ParserPool) -> None:
    for name in ("a.txt", "a.pdf", "a.docx", "noname"):
        parsed = parsers.parse(source(b"", name))
        assert (parsed.blocks, parsed.empty_reason) == ((), "empty")


def test_case_43_a_hanging_document_is_killed_and_the_next_one_is_read() -> None:
    with ParserPool(timeout_seconds=1) as parsers:
        began = time.monotonic()
        with pytest.raises(ParseTimeout, match="time limit of 1 s"):
            parsers.parse(source(slow_html(), "slow.html"))
        assert time.monotonic() - began < 6
        assert parsers.parse(source(b"good")).blocks[0].text == "good"


def test_case_43_a_child_killed_in_mid_parse_is_a_crash_and_replaced() -> None:
    with ParserPool(timeout_seconds=20) as parsers:
        parsers.start()
        (pid,) = children_of(parsers)
        timer = threading.Timer(1.0, os.kill, (pid, signal.SIGKILL))
        timer.start()
        with pytest.raises(ParserCrashed, match="SIGKILL"):
            parsers.parse(source(slow_html(), "slow.html"))
        timer.join()
        assert parsers.parse(source(b"good")).blocks[0].text == "good"


def test_a_child_that_died_between_two_documents_is_not_noticed_outside() -> None:
    with ParserPool() as parsers:
        parsers.parse(source(b"one"))
        os.kill(children_of(parsers)[0], signal.SIGKILL)
        time.sleep(0.1)
        assert parsers.parse(source(b"two")).blocks[0].text == "two"


def test_the_memory_limit_holds_and_is_a_crash_of_that_document_only() -> None:
    with ParserPool(memory_bytes=256 << 20, timeout_seconds=30) as parsers:
        with pytest.raises(ParserCrashed, match="memory"):
            parsers.parse(source(b"word " * 12_000_000))
        assert parsers.parse(source(b"good")).blocks[0].text == "good"


def test_case_88_children_are_replaced_after_so_many_documents() -> None:
    with ParserPool(recycle_after=2) as parsers:
        seen = []
        for _ in range(4):
            parsers.parse(source(b"x"))
            seen += children_of(parsers)
        assert len(set(seen)) == 2
        assert not any(map(psutil.pid_exists, seen[:1]))


def test_many_keep_their_order_and_one_failure_stops_nothing() -> None:
    bodies = [(b"fLaC\0\0", "p.flac") if at % 5 == 2 else (b"text %d" % at, f"{at}.txt") for at in range(25)]
    sources = [source(*body) for body in bodies]
    with ParserPool(workers=2) as parsers:
        results = list(parsers.parse_many(iter(sources)))
    assert [taken for taken, _ in results] == sources
    for at, (_, outcome) in enumerate(results):
        if at % 5 == 2:
            assert isinstance(outcome, UnsupportedMediaType)
        else:
            assert isinstance(outcome, Parsed)
            assert outcome.blocks[0].text == f"text {at}"


def test_many_read_only_a_little_ahead() -> None:
    taken = []

    def feed() -> Iterator[Source]:
        for at in range(50):
            taken.append(at)
            yield source(b"x%d" % at)

    with ParserPool(workers=1) as parsers:
        results = parsers.parse_many(feed())
        next(results)
        assert len(taken) <= 4
        results.close()  # type: ignore[attr-defined] - it is a generator


def test_one_document_may_be_parsed_while_many_are() -> None:
    with ParserPool(workers=1) as parsers:
        results = parsers.parse_many(source(b"many %d" % at) for at in range(6))
        next(results)
        assert parsers.parse(source(b"one")).blocks[0].text == "one"
        assert sum(1 for _ in results) == 5


def test_closing_kills_every_child_at_once() -> None:
    parsers = ParserPool(workers=2)
    parsers.start()
    pids = children_of(parsers)
    outcome: list[FonteError] = []

    def run() -> None:
        try:
            parsers.parse(source(slow_html(), "slow.html"))
        except FonteError as error:
            outcome.append(error)

    running = threading.Thread(target=run)
    running.start()
    time.sleep(0.5)
    parsers.close()
    running.join(5)
    assert [type(error) for error in outcome] == [ParserCrashed]
    assert not any(map(psutil.pid_exists, pids))


@pytest.mark.parametrize(
    "script",
    [
        "import sys; sys.exit(3)",
        "import os; os.write(1, b'hello, this is no reply at all')",
        "import os; os.write(1, b'P' + bytes([0]) + (30).to_bytes(8, 'little') + b'x' * 30)",
        "import os; os.write(1, b'P' + bytes([0]) + (2**60).to_bytes(8, 'little'))",
        "import os; os.write(1, b'E' + bytes([0]) + (2).to_bytes(8, 'little') + b'{}')",
        "import os; os.write(1, b'P' + bytes([0]) + (99).to_bytes(8, 'little') + b'half')",
    ],
)
def test_nonsense_from_a_child_is_a_crash_and_never_trusted(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import sys; sys.stdin.buffer.read(9); {script}; sys.stdin.buffer.read(1)"
    monkeypatch.setattr(pool_module, "_COMMAND", (sys.executable, "-S", "-c", code))
    with ParserPool(timeout_seconds=1.5) as parsers, pytest.raises((ParserCrashed, ParseTimeout)):
        parsers.parse(source(b"x"))


def test_the_time_of_ocr_is_named_where_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, time; os.write(1, b'W' + bytes(9)); time.sleep(60)"
    monkeypatch.setattr(pool_module, "_COMMAND", (sys.executable, "-S", "-c", code))
    with (
        ParserPool(timeout_seconds=1.5, ocr_seconds=0.25) as parsers,
        pytest.raises(ParseTimeout, match=r"limit of 1\.75 s"),
    ):
        parsers.parse(source(b"x"))


def test_the_time_of_ocr_is_given_once_however_often_a_child_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, time; [os.write(1, b'W' + bytes(9)) for _ in range(4)]; time.sleep(60)"
    monkeypatch.setattr(pool_module, "_COMMAND", (sys.executable, "-S", "-c", code))
    began = time.monotonic()
    with (
        ParserPool(timeout_seconds=1.5, ocr_seconds=0.25) as parsers,
        pytest.raises(ParseTimeout, match=r"limit of 1\.75 s"),
    ):
        parsers.parse(source(b"x"))
    assert time.monotonic() - began < 6


def test_what_a_child_prints_does_not_reach_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with ParserPool() as parsers:
        with pytest.raises(ParseError):
            parsers.parse(source(b"{broken", "a.json"))
        parsers.parse(source(b"<p>\xff\xfe<table>", "a.html"))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_nothing_is_imported_from_the_folder_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    with ParserPool() as parsers:
        assert parsers.parse(source(b"fine")).blocks


def test_secrets_of_the_environment_stay_with_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with ParserPool() as parsers:
        parsers.parse(source(b"x"))
        environment = Path(f"/proc/{children_of(parsers)[0]}/environ").read_bytes()
    assert b"secret" not in environment


def test_a_killed_parent_leaves_no_child_behind() -> None:
    script = """
        import sys, threading
        from fonte.parsers.pool import ParserPool
        from fonte.types import Acl, Source
        pool = ParserPool()
        pool.start()
        print(next(iter(pool._children))._process.pid, flush=True)
        body = b"<i>" * 3_000_000
        pool.parse(Source("u", "a.html", "h", Acl(), body=body))
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.5)
        assert psutil.pid_exists(pid)
        parent.kill()
    deadline = time.monotonic() + 5
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.05)


def test_a_pool_refuses_impossible_settings() -> None:
    for settings in ({"workers": 0}, {"timeout_seconds": 0}, {"recycle_after": 0}):
        with pytest.raises(ValueError, match="a pool needs"):
            ParserPool(**settings)  # type: ignore[arg-type] - one of three numbers


def test_case_41_a_failed_file_is_read_once_it_is_repaired(parsers: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"days": 26')
    with pytest.raises(ParseError, match=r"not JSON: .* line 1"):
        parsers.parse(stored(path))
    path.write_text('{"days": 26}')
    assert parsers.parse(stored(path)).blocks[0].text == "days: 26"


def test_a_machine_that_starts_no_process_fails_the_document_and_not_the_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with ParserPool() as made:
        with monkeypatch.context() as patch:
            patch.setattr(subprocess, "Popen", refuse)
            ((_, outcome),) = made.parse_many([source(b"One.")])
            assert isinstance(outcome, ParserCrashed)
            assert outcome.message == "no parser process could be started: Resource temporarily unavailable"
            assert outcome.hint
        assert made.parse(source(b"One.")).blocks[0].text == "One."
