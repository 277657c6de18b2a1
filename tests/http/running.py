"""The application on a port of the loopback, by the server that fonte serve uses."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import uvicorn


@contextmanager
def listening(app: Any, given: socket.socket | None = None) -> Iterator[str]:
    """Its address, while it listens: at a free port, or where a socket was bound before."""
    with given or socket.socket() as bound:
        if given is None:
            bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        config = uvicorn.Config(app, log_level="warning", server_header=False, ws="none")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            until = time.monotonic() + 20
            while not server.started:
                assert time.monotonic() < until
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()
