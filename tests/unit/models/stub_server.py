"""An OpenAI-compatible server on the loopback, scripted by the test: it keeps what it was asked."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np


@dataclass
class Reply:
    """One HTTP answer.

    ``chunks`` are sent one by one, ``pause_seconds`` before each; ``cut`` breaks the connection off before the end.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunks: list[bytes] | None = None
    cut: bool = False
    pause_seconds: float = 0.0
    wait: threading.Event | None = None


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: dict


Script = Callable[[Asked], Reply]


class Stub:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.base_url = ""


def json_reply(value: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


def hashed_vector(text: str, dimensions: int = 24) -> list[float]:
    """A vector that depends on the text's words, not of length 1."""
    total = np.zeros(dimensions)
    for word in text.split():
        seed = int.from_bytes(hashlib.sha256(word.lower().encode("utf-8", "replace")).digest()[:4], "big")
        total += np.random.default_rng(seed).normal(size=dimensions)
    return [float(one) for one in total]


def embedding_script(asked: Asked) -> Reply:
    """What an obedient server does, but with its answers in reverse order: only ``index`` says which is which."""
    data = [
        {"object": "embedding", "index": index, "embedding": hashed_vector(text)}
        for index, text in enumerate(asked.body["input"])
    ]
    return json_reply({"object": "list", "data": data[::-1], "model": asked.body["model"]})


def chat_script(text: str, *, finish: str = "stop", piece: int = 3) -> Script:
    """Answers ``text``, streamed in pieces of ``piece`` characters when asked so."""

    def answer(asked: Asked) -> Reply:
        usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
        if not asked.body.get("stream"):
            message = {"role": "assistant", "content": text}
            return json_reply({"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage})
        pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
        events = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}]}]
        events += [{"choices": [{"index": 0, "delta": {"content": one}, "finish_reason": None}]} for one in pieces]
        events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}]
        lines = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
        chunks = [b": hello\n\n", *lines, b"data: [DONE]\n\n"]
        return Reply(headers={"Content-Type": "text/event-stream"}, chunks=chunks)

    return answer


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Clients that hang up are what some tests are about."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _handler(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            stub.asked.append(asked)
            reply = stub.script(asked)
            if reply.wait is not None:
                reply.wait.wait(5)
            try:
                self._send(reply)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.chunks is None:
                self.send_header("Content-Length", str(len(reply.body) + (10 if reply.cut else 0)))
                self.end_headers()
                self.wfile.write(reply.body)
            else:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for chunk in reply.chunks:
                    time.sleep(reply.pause_seconds)
                    self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                    self.wfile.flush()
                if not reply.cut:
                    self.wfile.write(b"0\r\n\r\n")
            if reply.cut:
                self.close_connection = True

    return Handler


@contextmanager
def stub_server(script: Script) -> Iterator[Stub]:
    stub = Stub(script)
    server = _Server(("127.0.0.1", 0), _handler(stub))
    server.daemon_threads = True
    stub.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
