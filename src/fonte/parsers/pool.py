"""Parsers in child processes that can be killed: one document at a time, limits on time and memory.

A child is replaced after a fault and after some hundred documents. Children are started by the pool's own threads,
which live as long as the pool (Linux kills a child when the thread that started it ends).
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from types import TracebackType
from typing import Final, Self, TypeVar

from fonte.errors import (
    FonteError,
    ParseError,
    ParserCrashed,
    ParseTimeout,
)
from fonte.parsers.codec import BadReply, decode_contents, decode_error, decode_parsed
from fonte.parsers.ocr.settings import DEFAULT_LANGUAGES, DEFAULT_SECONDS
from fonte.parsers.pictures import decode_picture
from fonte.types import Contents, Parsed, Picture, Source

MEBIBYTE: Final = 1 << 20
DEFAULT_MEMORY_BYTES: Final = 1400 * MEBIBYTE
"""With room to 1.5·10⁹ bytes."""
_COMMAND = (sys.executable, "-P", "-m", "fonte.parsers.child")
"""-P: nothing is imported from the current folder, which may be the one that is being read."""
_PARSED, _LISTED, _PICTURE, _FAILED = b"P", b"C", b"I", b"E"
"""What a child is asked for, and how it says that there is none."""
_REQUEST_HEAD = 8
_REPLY_HEAD = 10
_READ_AHEAD = 2
_PIPE_BYTES = 1 << 20
_LAST_WORDS_SECONDS = 2.0
_CRASH_HINT = "the file may be damaged, or need more memory than a parser is given"
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "TZ")


_Answer = TypeVar("_Answer")


class _Timeout(Exception):
    """The deadline passed."""


class _Died(Exception):
    """The child is gone or answers nonsense."""


class ParserPool:
    """Child processes that parse; usable from several threads.

    Args:
        workers: how many documents are parsed at the same time.
        timeout_seconds: wall clock for one document.
        memory_bytes: address space of one child.
        recycle_after: documents after which a child is replaced.
        ocr_languages: tesseract's names joined by ``+``.
        ocr_seconds: wall clock that a document gets in addition when its pictures are read.

    """

    def __init__(
        self,
        workers: int = 1,
        *,
        timeout_seconds: float = 60.0,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        recycle_after: int = 200,
        ocr_languages: str = DEFAULT_LANGUAGES,
        ocr_seconds: float = DEFAULT_SECONDS,
    ) -> None:
        if workers < 1 or timeout_seconds <= 0 or recycle_after < 1:
            raise ValueError("a pool needs workers, a time limit and documents before a child is replaced")
        self._workers = workers
        self._timeout_seconds = timeout_seconds
        self._memory_bytes = memory_bytes
        self._recycle_after = recycle_after
        self._ocr_languages = ocr_languages
        self._ocr_seconds = ocr_seconds
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="fonte-parser")
        self._lock = threading.Lock()
        self._children: set[_Child] = set()
        self._idle: list[_Child] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start every child now rather than with the first documents (they get ready in the background)."""
        for future in [self._threads.submit(self._spawn) for _ in range(self._workers)]:
            child = future.result()
            with self._lock:
                self._idle.append(child)

    def close(self) -> None:
        """Kill every child; what is being parsed ends with ParserCrashed."""
        with self._lock:
            self._closed = True
            children = list(self._children)
        for child in children:
            child.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for child in list(self._children):
            self._bury(child)

    def parse(self, source: Source) -> Parsed:
        """One document.

        Raises:
            ParseError: bytes that could not become text; ParseTimeout, ParserCrashed, EncryptedSource by name.
            UnsupportedMediaType: a kind of file that no parser reads.
        """
        return self._threads.submit(self._parse, source).result()

    def may_hold(self, head: bytes, name: str) -> bool:
        """Whether a file that begins with these bytes may be a container, by a cheap look."""
        from fonte.parsers.containers.looks import may_hold

        return may_hold(head, name)

    def contents(self, source: Source) -> Contents:
        """What a file holds in other files; for one that is no container, itself alone.

        Raises:
            ParseError: a container that could not be opened; ParseTimeout, ParserCrashed by name.
            SourceTooLarge: one that grows beyond the limits.
        """
        return self._threads.submit(self._list, source).result()

    def parse_many(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Parsed | FonteError]]:
        """Every source with its result or its error, in order; a few are parsed ahead of the one that is taken."""
        waiting: deque[tuple[Source, Future[Parsed]]] = deque()
        try:
            for source in sources:
                waiting.append((source, self._threads.submit(self._parse, source)))
                if len(waiting) > _READ_AHEAD * self._workers:
                    yield _outcome(*waiting.popleft())
            while waiting:
                yield _outcome(*waiting.popleft())
        finally:
            for _, future in waiting:
                future.cancel()

    def picture(self, source: Source, media_type: str, page: int) -> Picture:
        """A page (from 1) as a picture.

        Raises:
            ParseError: it cannot be drawn; ParseTimeout, ParserCrashed by name.
        """
        known = replace(source, media_type=media_type)
        return self._threads.submit(self._asked, _PICTURE, known, decode_picture, page).result()

    def _parse(self, source: Source) -> Parsed:
        return self._asked(_PARSED, source, decode_parsed)

    def _list(self, source: Source) -> Contents:
        return self._asked(_LISTED, source, decode_contents)

    def _asked(self, task: bytes, source: Source, decoded: Callable[[bytearray], _Answer], page: int = 0) -> _Answer:
        child = self._take()
        try:
            kind, data = child.ask(task, source, page, self._timeout_seconds, self._ocr_seconds)
            return _result(kind, data, task, source, decoded)
        except _Timeout:
            child.kill()
            limit = f"{child.allowed:g} s"
            raise ParseTimeout(f"parsing passed its time limit of {limit}", uri=source.uri) from None
        except _Died as death:
            raise child.obituary(source.uri, str(death)) from None
        finally:
            self._give_back(child)

    def _take(self) -> _Child:
        while True:
            with self._lock:
                child = self._idle.pop() if self._idle else None
            if child is None:
                return self._spawn()
            if child.alive:
                return child
            self._bury(child)

    def _spawn(self) -> _Child:
        try:
            child = _Child(self._memory_bytes, self._timeout_seconds, self._ocr_languages, self._ocr_seconds)
        except OSError as error:
            raise ParserCrashed(
                f"no parser process could be started: {error.strerror or error}",
                hint="free some memory or process slots, then fonte retry",
            ) from error
        with self._lock:
            closed = self._closed
            self._children.add(child)
        if closed:
            self._bury(child)
            raise ParserCrashed("the parser pool is closed")
        return child

    def _give_back(self, child: _Child) -> None:
        if child.finished or child.parsed >= self._recycle_after or not child.alive:
            self._bury(child)
        else:
            with self._lock:
                self._idle.append(child)

    def _bury(self, child: _Child) -> None:
        child.kill()
        child.release()
        with self._lock:
            self._children.discard(child)


def _outcome(source: Source, future: Future[Parsed]) -> tuple[Source, Parsed | FonteError]:
    try:
        return source, future.result()
    except FonteError as error:
        return source, error


def _result(
    kind: bytes, data: bytearray, task: bytes, source: Source, decoded: Callable[[bytearray], _Answer]
) -> _Answer:
    """The child's answer, checked. Raises the error that it tells of, or _Died for nonsense."""
    try:
        if kind == task:
            return decoded(data)
        error = decode_error(data, source.uri)
    except BadReply as nonsense:
        raise _Died(f"answered nonsense ({nonsense})") from nonsense
    raise error


class _Child:
    """One process and the two pipes to it."""

    def __init__(self, memory_bytes: int, timeout_seconds: float, ocr_languages: str, ocr_seconds: float) -> None:
        limits = [str(memory_bytes), str(math.ceil(timeout_seconds)), str(os.getpid())]
        arguments = [*limits, ocr_languages, str(ocr_seconds)]
        self._process = subprocess.Popen(  # noqa: S603 - our own module in our own interpreter
            [*_COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=_environment(),
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:  # pragma: no cover - both were asked for
            raise ParserCrashed("a parser process without pipes")
        self._requests, self._replies = self._process.stdin, self._process.stdout
        os.set_blocking(self._requests.fileno(), False)
        os.set_blocking(self._replies.fileno(), False)
        self._memory_bytes = memory_bytes
        self._burial = threading.Lock()
        self.parsed = 0
        self.finished = False
        self.allowed = 0.0
        """Seconds that the document in hand may take."""

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self, task: bytes, source: Source, page: int, timeout_seconds: float, ocr_seconds: float
    ) -> tuple[bytes, bytearray]:
        """Send a source and wait for (kind, bytes), once longer where it is read by OCR. Raises _Timeout or _Died."""
        self.allowed = timeout_seconds
        deadline = time.monotonic() + timeout_seconds
        plain = replace(source, metadata=dict(source.metadata))  # a mapping proxy cannot be pickled
        request = pickle.dumps((task, plain, page), pickle.HIGHEST_PROTOCOL)
        self._write(len(request).to_bytes(_REQUEST_HEAD, "little"), deadline)
        self._write(request, deadline)
        head = self._read(_REPLY_HEAD, until := deadline)
        while head[:1] == b"W":  # however often it asks, it gets the time of OCR once
            self.allowed = timeout_seconds + ocr_seconds
            head = self._read(_REPLY_HEAD, until := deadline + ocr_seconds)
        kind, size = bytes(head[:1]), int.from_bytes(head[2:], "little")
        if kind not in (task, _FAILED) or size > self._memory_bytes:
            raise _Died("answered nonsense")
        self.finished = bool(head[1])
        reply = self._read(size, until)
        self.parsed += 1
        return kind, reply

    def kill(self) -> None:
        """Kill the process with all that it started, and reap it. Safe to repeat, from any thread."""
        with self._burial:
            if self._process.poll() is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()

    def release(self) -> None:
        """Close the pipes; only once nobody reads from them."""
        self._requests.close()
        self._replies.close()

    def obituary(self, uri: str, reason: str) -> ParseError:
        """What is to be said of a child that went away or answered nonsense; it is gone afterwards."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS_SECONDS)
        status = self._process.poll()
        self.kill()
        if reason or status is None:
            return ParserCrashed(f"the parser process {reason or 'closed its pipe'}", uri=uri)
        if status == -signal.SIGXCPU:
            return ParseTimeout("parsing passed its processor time limit", uri=uri)
        if status >= 0:
            return ParserCrashed(f"the parser process ended with status {status}", uri=uri)
        name = signal.Signals(-status).name
        return ParserCrashed(f"the parser process was ended by {name}", hint=_CRASH_HINT, uri=uri)

    def _write(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._requests.fileno(), select.POLLOUT, deadline)
            try:
                view = view[os.write(self._requests.fileno(), view[:_PIPE_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise _Died from error

    def _read(self, size: int, deadline: float) -> bytearray:
        data = bytearray()
        while len(data) < size:
            self._wait(self._replies.fileno(), select.POLLIN, deadline)
            try:
                piece = os.read(self._replies.fileno(), min(_PIPE_BYTES, size - len(data)))
            except BlockingIOError:
                continue
            if not piece:
                raise _Died
            data += piece
        return data

    @staticmethod
    def _wait(descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(math.ceil(left * 1000)):
            raise _Timeout


def _environment() -> dict[str, str]:
    """What a child may know of ours: where things are, no secrets; and no threads of its own."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return {**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
