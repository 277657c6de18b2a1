"""One OpenAI-compatible HTTP endpoint: bounded in time, size and tries; every failure is one clear line.

Messages name the host only: a path or query could hold what nobody should read. The key comes from the environment or
a file and goes nowhere but into the request's header.
"""

from __future__ import annotations

import json
import os
import stat
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fonte.errors import BadModelOutput, ConfigError, ModelNotInstalled, ModelUnavailable

if TYPE_CHECKING:
    import httpx

    from fonte.deadlines import Deadline

_TRIES = 3
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 20.0
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_FORBIDDEN = frozenset({401, 403})
_NOT_FOUND = 404
_JSON = {"Content-Type": "application/json"}
_EXCERPT_CHARACTERS = 160
_EXCERPT_BYTES = 64 * 1024
MAX_RESPONSE_BYTES = 64 * 1024 * 1024


def read_key(variables: Sequence[str], notify: Callable[[str], None]) -> str | None:
    """The key of the first variable that is set, or of the file that the variable with ``_FILE`` names; else None.

    ``notify`` is told when others than its owner may read the file.

    Raises:
        ConfigError: both variables are set, an unreadable or empty file, or a key that no HTTP header can carry.
    """
    for name in variables:
        key, file = (os.environ.get(one, "").strip() for one in (name, f"{name}_FILE"))
        if key and file:
            raise ConfigError(f"{name} and {name}_FILE are both set", hint="unset one of them")
        if file:
            key = _key_in(Path(file).expanduser(), notify)
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ConfigError("the API key holds characters that a header cannot carry", hint="copy it again")
        if key:
            return key
    return None


def _key_in(file: Path, notify: Callable[[str], None]) -> str:
    try:
        key = file.read_text("utf-8").strip()
        shared = os.name == "posix" and bool(file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the key file {file.name} cannot be read", hint="check its path and rights") from error
    if not key:
        raise ConfigError(f"the key file {file.name} is empty", hint="write the key into it")
    if shared:
        notify(f"others may read the key file {file.name}: chmod 600 would keep it to you")
    return key


class Endpoint:
    """POST of JSON to one base URL, with retries. Safe for several threads."""

    def __init__(
        self,
        base_url: str,
        *,
        what: str,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 60.0,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``what`` names the endpoint in messages, such as "embedding"; ``timeout_seconds`` bounds one whole try.

        ``key`` goes as a bearer's, beside ``headers``.

        Raises:
            ConfigError: no http(s) URL, one with a password or a query in it, or an impossible timeout.
        """
        import httpx

        try:
            url = httpx.URL(base_url)
        except httpx.InvalidURL as error:
            raise ConfigError(f"the {what} base_url is not a URL") from error
        if url.scheme not in {"http", "https"} or not url.host:
            raise ConfigError(f"the {what} base_url must begin with http:// or https:// and name a host")
        if url.userinfo or url.query or url.fragment:
            raise ConfigError(
                f"the {what} base_url must hold no user, query or fragment",
                hint="give the key by the environment",
            )
        if not timeout_seconds > 0:
            raise ConfigError(f"the {what} timeout must be above 0 seconds")
        self.host = f"{url.host}:{url.port}" if url.port else url.host
        self._what = what
        self._base = str(url).rstrip("/")
        self._timeout = timeout_seconds
        self._limit = max_response_bytes
        self._sleep = sleep
        own = {**({"Authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
        self._client = httpx.Client(headers=own, timeout=timeout_seconds)
        self._deadline = _bounded(self._client)
        weakref.finalize(self, self._client.close)

    @property
    def where(self) -> str:
        """The endpoint in words."""
        return f"the {self._what} endpoint at {self.host}"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, path: str, body: Mapping[str, object]) -> Mapping[str, object]:
        """The JSON object that the endpoint answers.

        Raises:
            ModelUnavailable: down, slow or refusing. ModelNotInstalled: it knows no such model or path.
            BadModelOutput: not a JSON object, or longer than the limit.
        """
        with self._open(path, body) as (_, chunks):
            data = b"".join(chunks)
        return self._told(data)

    def post_list(self, path: str, body: Mapping[str, object]) -> list[object]:
        """The JSON array that the endpoint answers. Raises as ``post``."""
        with self._open(path, body) as (_, chunks):
            data = b"".join(chunks)
        value = self._json(data)
        if not isinstance(value, list):
            raise BadModelOutput(f"{self.where} did not answer with a JSON array")
        return value

    def stream(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        ends: Callable[[Mapping[str, object]], bool] = lambda _event: False,
    ) -> Iterator[Mapping[str, object]]:
        """The JSON objects of a stream of server-sent events until ``[DONE]``, or until one that ``ends`` it.

        An endpoint that does not stream and answers with one JSON object gives that. Tries again only before the
        first byte.

        Raises:
            As ``post``; also ModelUnavailable when the stream breaks off without its end, or tells an error.
        """
        with self._open(path, body) as (kind, chunks):
            if kind not in ("", "text/event-stream"):
                yield self._told(b"".join(chunks))
                return
            for data in _events(chunks):
                if data.strip() == b"[DONE]":
                    return
                event = self._object(data)
                if event.get("error"):
                    raise ModelUnavailable(f"{self.where} broke off its answer{_words(event)}", hint="ask again")
                yield event
                if ends(event):
                    return
        raise ModelUnavailable(f"{self.where} broke off its answer", hint="ask again")

    def _told(self, data: bytes) -> Mapping[str, object]:
        """The object of a whole answer, which some endpoints give a failure in, with status 200."""
        value = self._object(data)
        if value.get("error"):
            raise ModelUnavailable(f"{self.where} answered with an error{_words(value)}", hint="ask again")
        return value

    def _json(self, data: bytes) -> object:
        try:
            value: object = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadModelOutput(f"{self.where} did not answer in JSON") from error
        return value

    def _object(self, data: bytes) -> Mapping[str, object]:
        value = self._json(data)
        if not isinstance(value, dict):
            raise BadModelOutput(f"{self.where} did not answer with a JSON object")
        return value

    @contextmanager
    def _open(self, path: str, body: Mapping[str, object]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """The media type of the first try that is answered with 200 (empty where none is told), and its pieces."""
        import httpx

        response = self._respond(path, body)
        pieces = self._pieces(response, self._deadline.at)
        try:
            yield response.headers.get("content-type", "").partition(";")[0].strip().lower(), pieces
        except httpx.TimeoutException as error:
            raise self._slow() from error
        except httpx.HTTPError as error:
            raise ModelUnavailable(f"{self.where} broke off its answer", hint="ask again") from error
        finally:
            response.close()

    def _respond(self, path: str, body: Mapping[str, object]) -> httpx.Response:
        import httpx

        # Half a character, out of a question or a document, would be no UTF-8.
        sent = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
        wait = _FIRST_WAIT_SECONDS
        for left in reversed(range(_TRIES)):
            self._deadline.at = time.monotonic() + self._timeout
            try:
                request = self._client.build_request("POST", self._base + path, content=sent, headers=_JSON)
                response = self._client.send(request, stream=True)
            except httpx.TimeoutException as error:  # slow once is slow again: no second try
                raise self._slow() from error
            except httpx.TransportError as error:
                if not left:
                    raise ModelUnavailable(
                        f"{self.where} cannot be reached",
                        hint="check base_url and that the server runs",
                    ) from error
                pause = wait
            else:
                if response.status_code == httpx.codes.OK:
                    return response
                failure = self._refusal(response)
                if not left or response.status_code not in _RETRIED:
                    raise failure
                pause = max(wait, _retry_after(response.headers.get("retry-after", "")))
            self._sleep(min(pause, _LONGEST_WAIT_SECONDS))
            wait *= 2
        raise AssertionError("the last try returns or raises")

    def _pieces(self, response: httpx.Response, until: float) -> Iterator[bytes]:
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > self._limit:
                raise BadModelOutput(f"{self.where} answered more than {self._limit} bytes")
            if time.monotonic() > until:
                raise self._slow()
            yield piece
            self._deadline.at = until  # whoever reads on may be another thread, or have asked something else meanwhile

    def _slow(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self.where} did not answer within {self._timeout:g} seconds",
            hint="try again, or raise timeout_seconds",
        )

    def _refusal(self, response: httpx.Response) -> ModelUnavailable | ModelNotInstalled:
        """Read and close a response other than 200, and say what it means."""
        said = self._excerpt(response)
        status = response.status_code
        line = f"{self.where} answered {status}{said}"
        if status in _FORBIDDEN:
            return ModelUnavailable(line, hint="check the API key in the environment")
        if status == _NOT_FOUND:
            return ModelNotInstalled(line, hint="check the model's name and base_url")
        if status in _RETRIED:
            return ModelUnavailable(line, hint="try again later")
        return ModelUnavailable(line, hint="check base_url and the model's name")

    def _excerpt(self, response: httpx.Response) -> str:
        """The endpoint's own words on a failure, cut and on one line; nothing where it gave none."""
        import httpx

        data = b""
        try:
            for piece in response.iter_bytes():
                data += piece
                if len(data) > _EXCERPT_BYTES:
                    break
            told = json.loads(data)
        except (httpx.HTTPError, ValueError, RecursionError):
            return ""
        finally:
            response.close()
        return _words(told) if isinstance(told, dict) else ""


def _words(told: Mapping[str, object]) -> str:
    """An endpoint's own words on a failure, cut and on one line, after a colon; nothing where it gave none."""
    error = told.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    if not isinstance(words, str) or not words.strip():
        return ""
    line = "".join(one if one.isprintable() else " " for one in " ".join(words.split()))
    return ": " + line[:_EXCERPT_CHARACTERS]


def _retry_after(value: str) -> float:
    """Seconds that a ``Retry-After`` header asks for, as a number or as a date (RFC 9110, 10.2.3); 0 for nothing."""
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
        return max(0.0, moment.timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _bounded(client: httpx.Client) -> Deadline:
    """The deadline by which everything ends that the client does, its proxies too."""
    import httpx

    from fonte.deadlines import Deadline, TimedBackend

    deadline = Deadline()
    # httpx has no setting for it, and a transport of one's own would do without the proxies of the environment.
    for one in (client._transport, *client._mounts.values()):  # noqa: SLF001 - as above; a test drips
        if isinstance(one, httpx.HTTPTransport):
            pool = one._pool  # noqa: SLF001 - as above
            pool._network_backend = TimedBackend(pool._network_backend, deadline)  # noqa: SLF001 - as above
    return deadline


def _events(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The data of each server-sent event (WHATWG HTML, "Server-sent events"): its data lines joined."""
    begun: list[bytes] = []
    data: list[bytes] = []
    for chunk in chunks:
        begun.append(chunk)
        if b"\n" not in chunk:  # a line that goes on is put together once
            continue
        *lines, rest = b"".join(begun).split(b"\n")
        begun = [rest]
        for raw in lines:
            line = raw.rstrip(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data = []
    rest = b"".join(begun)
    if rest.startswith(b"data:"):
        data.append(rest.rstrip(b"\r")[5:].removeprefix(b" "))
    if data:
        yield b"\n".join(data)
