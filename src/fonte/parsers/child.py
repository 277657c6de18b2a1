"""The process that reads hostile bytes: ``python -P -m fonte.parsers.child``.

Arguments: bytes of memory, seconds for a document, the parent's id, languages of OCR, seconds that OCR gets more.

Stdin brings pickled sources from the parent, each after its length (eight bytes); the answers go to the former stdout,
each after its kind, whether it is the last, and its length. Whatever libraries print goes nowhere. The process ends
when stdin closes or the parent dies. A message without bytes of the kind ``WAITS`` says that the document is being read
by OCR, which takes longer.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import resource
import signal
import stat
import struct
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, cast

from fonte.errors import FonteError, ParseError, ParserCrashed
from fonte.parsers.codec import encode_contents, encode_error, encode_parsed
from fonte.parsers.ocr.settings import OcrSettings, configure
from fonte.parsers.pictures import encode_picture, picture_of
from fonte.parsers.registry import parse_body
from fonte.types import Source, sha256_hex

if TYPE_CHECKING:
    from fonte.parsers.containers.walk import MemberReader

REQUEST = struct.Struct("<Q")
REPLY = struct.Struct("<cBQ")
PARSED, LISTED, PICTURE, FAILED, WAITS = b"P", b"C", b"I", b"E", b"W"
_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS = 5
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def main(memory_bytes: int, timeout_seconds: int, parent: int, ocr: OcrSettings) -> None:
    """Answer sources until stdin closes, or until memory does not come back."""
    _die_with(parent)
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def ask_for_time() -> None:
        _limit_cpu(timeout_seconds + int(ocr.seconds))
        replies.write(REPLY.pack(WAITS, 0, 0))
        replies.flush()

    configure(ocr, ask_for_time)
    last = False
    while not last and (size := _next_size(requests)) is not None:
        _limit_cpu(timeout_seconds)
        kind, answer, broken = _answer(requests, size)
        last = broken or _resident_bytes() > memory_bytes // 2
        replies.write(REPLY.pack(kind, last, len(answer)))
        replies.write(answer)
        replies.flush()


def _answer(requests: BinaryIO, size: int) -> tuple[bytes, bytes | bytearray, bool]:
    """(kind, bytes, whether this process should not go on)."""
    try:
        task, source, page = pickle.loads(requests.read(size))  # noqa: S301 - written by our parent
        if task == PICTURE:
            return PICTURE, encode_picture(picture_of(_with_body(source), page)), False
        if task == LISTED:
            return LISTED, encode_contents(_walk().list_contents(source)), False
        return PARSED, encode_parsed(parse_body(_with_body(source))), False
    except FonteError as error:
        return FAILED, encode_error(error), False
    except (MemoryError, RecursionError) as error:
        crash = ParserCrashed(f"the parser passed its memory limit ({type(error).__name__})")
        return FAILED, encode_error(crash), True
    except Exception as error:  # noqa: BLE001 - an edge: a parser's bug must not look like anything but a failed document
        return FAILED, encode_error(ParseError(f"{type(error).__name__}: {error}")), True


@cache
def _walk() -> ModuleType:
    """What opens containers: only for those who meet some."""
    return importlib.import_module("fonte.parsers.containers.walk")


@cache
def _members() -> MemberReader:
    """The containers' reader of this process, which keeps the last one open."""
    return cast("MemberReader", _walk().MemberReader())


def _next_size(requests: BinaryIO) -> int | None:
    """Size of the next request, None when stdin has closed."""
    head = requests.read(REQUEST.size)
    return int(REQUEST.unpack(head)[0]) if len(head) == REQUEST.size else None


def _with_body(source: Source) -> Source:
    """The source with its bytes, which are those that its hash was taken of.

    Raises:
        ParseError: a file that is gone, may not be read or has changed.
    """
    if source.inside:
        body = _members().read(source)
        if sha256_hex(body) != source.content_hash:
            raise ParseError("changed while being read", hint="sync again when nothing writes to it", uri=source.uri)
        return replace(source, body=body, path=None, inside=())
    if source.body is not None:
        return source
    if source.path is None:
        raise ParseError("a source without bytes and without a path", uri=source.uri)
    try:
        descriptor = os.open(source.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ParseError("not a regular file", uri=source.uri)
            body = file.read()
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise ParseError(message, hint="it was there when the sync began; sync again", uri=source.uri) from error
    if sha256_hex(body) != source.content_hash:
        raise ParseError("changed while being read", hint="sync again when nothing writes to it", uri=source.uri)
    return replace(source, body=body)


def _limit_cpu(timeout_seconds: int) -> None:
    """Let this process use the time limit from now on: the limit counts from its start."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(usage.ru_utime + usage.ru_stime) + timeout_seconds + _GRACE_SECONDS
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE_BYTES


def _die_with(parent: int) -> None:
    """Be killed when the parent dies (Linux); it may have died before we could ask."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


if __name__ == "__main__":
    main(
        int(sys.argv[1]),
        int(sys.argv[2]),
        int(sys.argv[3]),
        OcrSettings(sys.argv[4], float(sys.argv[5]), memory_bytes=int(sys.argv[1])),
    )
