"""Requests over the network that end by a deadline, however busy they look: a byte now and then is no answer.

Timeouts of HTTP clients are for one read; here every step of a connection is given what is left of the whole.
"""

from __future__ import annotations

import threading
import time
import typing
from collections.abc import Iterable

import httpcore


class Deadline(threading.local):
    """When the running request must be over, on the monotonic clock: each thread has its own."""

    at: float = float("inf")

    def left(self, timeout: float | None) -> float:
        """Seconds that a step may take. Raises httpcore.ReadTimeout when none are left."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("it took too long")
        return left if timeout is None else min(left, timeout)


class TimedStream(httpcore.NetworkStream):
    """A connection whose every step ends by the deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """As the inner one's."""
        return self._inner.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """As the inner one's."""
        self._inner.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        """As the inner one's."""
        self._inner.close()

    def start_tls(
        self, ssl_context: typing.Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """As the inner one's."""
        secured = self._inner.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return TimedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> typing.Any:
        """As the inner one's."""
        return self._inner.get_extra_info(info)


class TimedBackend(httpcore.NetworkBackend):
    """Makes connections whose every step ends by the deadline."""

    def __init__(self, inner: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """As the inner one's."""
        left = self._deadline.left(timeout)
        return TimedStream(self._inner.connect_tcp(host, port, left, local_address, socket_options), self._deadline)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.NetworkStream:
        """As the inner one's."""
        left = self._deadline.left(timeout)
        return TimedStream(self._inner.connect_unix_socket(path, left, socket_options), self._deadline)
