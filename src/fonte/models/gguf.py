"""A GGUF file as a ``Generator``: llama.cpp in a child process, asked over the loopback like any endpoint.

The child starts with the first question and ends with this process; its threads are capped, and nobody without the key
that was made for it can ask it. A model that crashes takes the child with it, not the corpus, and the next question
starts another.
"""

from __future__ import annotations

import json
import secrets
import select
import subprocess
import sys
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from fonte.errors import ConfigError, ModelNotInstalled, ModelUnavailable
from fonte.models.endpoint import Endpoint
from fonte.models.openai_chat import OpenAIChat
from fonte.models.writing import Render
from fonte.types import Draft, Language, Passage, Query

INSTALL = "pip install 'fonte[gguf]'"
_MAGIC = b"GGUF"
_LOAD_SECONDS = 300.0
"""A model of some ten gigabytes from a slow disk."""
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LocalLimits:
    """What the model may use. The context holds the prompt and the answer, in the model's own tokens."""

    threads: int
    context_tokens: int = 8192
    max_tokens: int = 512
    timeout_seconds: float = 60.0


def checked(file: Path) -> Path:
    """The file, where it is a model and there is what runs it.

    Raises:
        ModelNotInstalled: the package or the file is missing, or the file is no GGUF.
    """
    if find_spec("xllamacpp") is None:
        raise ModelNotInstalled("local models need the package xllamacpp", hint=INSTALL)
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(_MAGIC))
    except OSError as error:
        raise ModelNotInstalled(f"the model {file} cannot be read", hint="name a .gguf file") from error
    if magic != _MAGIC:
        raise ModelNotInstalled(f"{file} is no GGUF file", hint="name a .gguf file")
    return file


class GgufChat:
    """Implements ``fonte.protocols.Generator``. Safe for several threads, which wait for each other."""

    def __init__(self, file: Path, render: Render, limits: LocalLimits) -> None:
        """Nothing is started yet.

        Raises:
            ConfigError: limits that cannot be. ModelNotInstalled: as ``checked``.
        """
        if min(limits.threads, limits.context_tokens, limits.max_tokens) < 1:
            raise ConfigError("threads, context_tokens and max_tokens must be at least 1")
        self._file = checked(file)
        self._render = render
        self._limits = limits
        self._lock = Lock()
        self._running: tuple[subprocess.Popen[bytes], OpenAIChat] | None = None

    @property
    def name(self) -> str:
        """Name shown in answers."""
        return f"gguf:{self._file.name}"

    def draft(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Draft:
        """The model's text, with its tokens counted; costs nothing.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput
        """
        return self._chat().draft(query, passages, language=language)

    def stream(self, query: Query, passages: Sequence[Passage], *, language: Language) -> Iterator[str | Draft]:
        """Pieces of text as they come, then the Draft of them all. A declined draft comes without pieces.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput: before the first piece; later the Draft tells of it.
        """
        yield from self._chat().stream(query, passages, language=language)

    def close(self) -> None:
        """End the child; another question would start it again."""
        with self._lock:
            if self._running is not None:
                _end(self._running[0])
            self._running = None

    def _chat(self) -> OpenAIChat:
        with self._lock:
            if self._running is None or self._running[0].poll() is not None:
                self._running = self._started()
            return self._running[1]

    def _started(self) -> tuple[subprocess.Popen[bytes], OpenAIChat]:
        key = secrets.token_hex(16)
        child = subprocess.Popen(
            [sys.executable, "-m", "fonte.models.gguf_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _end, child)
        wanted = {
            "model": str(self._file.absolute()),
            "threads": self._limits.threads,
            "context_tokens": self._limits.context_tokens,
            "key": key,
        }
        address = _address(child, wanted, self._file.name)
        endpoint = Endpoint(
            f"{address}/v1", what="local generation", key=key, timeout_seconds=self._limits.timeout_seconds
        )
        return child, OpenAIChat(self._file.stem, endpoint, self._render, max_tokens=self._limits.max_tokens)


def _address(child: subprocess.Popen[bytes], wanted: dict[str, object], name: str) -> str:
    """Where the child serves, once it does."""
    if child.stdin is None or child.stdout is None:
        raise AssertionError("both are pipes")
    try:
        child.stdin.write(json.dumps(wanted).encode() + b"\n")
        child.stdin.flush()
        ready, _, _ = select.select([child.stdout], [], [], _LOAD_SECONDS)
        line = child.stdout.readline() if ready else b""
        told = json.loads(line) if line else {}
    except (OSError, ValueError):
        told = {}
    if "address" in told:
        return str(told["address"])
    _end(child)
    why = str(told.get("error", "it ended or took too long")).partition("\n")[0][:160]
    raise ModelUnavailable(f"the model {name} could not be started: {why}", hint="see fonte doctor; is the file whole?")


def _end(child: subprocess.Popen[bytes]) -> None:
    """Closing its stdin ends a child that is well; one that is not is killed."""
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    try:
        child.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
