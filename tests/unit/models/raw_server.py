"""A server on the loopback that writes what the test says, byte for byte, as HTTP servers should not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Play = Callable[[socket.socket, threading.Event], None]
"""Writes to one connection, whose request has been read, until it is done or the event is set."""

EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
_STEP_SECONDS = 0.02


def says(*parts: bytes) -> Play:
    """All of it at once."""
    return lambda one, _ended: one.sendall(b"".join(parts))


def trickles(head: bytes, drop: bytes = b"a") -> Play:
    """The head, then a drop now and then, for ever."""

    def play(one: socket.socket, ended: threading.Event) -> None:
        one.sendall(head)
        while not ended.wait(_STEP_SECONDS):
            one.sendall(drop)

    return play


def pours(head: bytes, piece: bytes) -> Play:
    """The head, then the piece again and again, as fast as it is read."""

    def play(one: socket.socket, ended: threading.Event) -> None:
        one.sendall(head)
        while not ended.is_set():
            one.sendall(piece)

    return play


@contextmanager
def raw_server(play: Play) -> Iterator[str]:
    """Its address; each connection is played in a thread of its own."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(_STEP_SECONDS)
        threads = [threading.Thread(target=_serve, args=(listening, play, ended))]
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            ended.set()
            threads[0].join()


def _serve(listening: socket.socket, play: Play, ended: threading.Event) -> None:
    threads = []
    while not ended.is_set():
        try:
            one, _ = listening.accept()
        except TimeoutError:
            continue
        threads.append(threading.Thread(target=_played, args=(one, play, ended)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def _played(one: socket.socket, play: Play, ended: threading.Event) -> None:
    one.settimeout(2)
    with one:
        try:
            _read_request(one)
            play(one, ended)
            one.shutdown(socket.SHUT_WR)
        except OSError:  # it hung up, or does not read any more
            return


def _read_request(one: socket.socket) -> None:
    head, _, body = b"", b"", b""
    while b"\r\n\r\n" not in head:
        head += one.recv(65536)
    head, _, body = head.partition(b"\r\n\r\n")
    lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
    length = next(int(value) for name, _, value in lines if name == b"content-length")
    while len(body) < length:
        body += one.recv(65536)
