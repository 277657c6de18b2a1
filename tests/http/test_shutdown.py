"""A server that is told to stop: what it streams ends whole, and nobody new is let in."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from fonte.cli import main

SENTENCE = "The pump of the north tower runs at seven bar [1]."


class Slow(BaseHTTPRequestHandler):
    """A model that takes its time: a word, a pause, a word."""

    begun = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for word in [*SENTENCE.split(), ""]:
            delta = {"content": f" {word}"} if word else {}
            choice = {"index": 0, "delta": delta, "finish_reason": None if word else "stop"}
            self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
            self.wfile.flush()
            Slow.begun.set()
            time.sleep(0.3)
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_args: object) -> None:
        """Silent."""


@pytest.mark.timeout(300)
def test_an_answer_that_streams_ends_whole_when_the_server_is_told_to_stop(tmp_path: Path) -> None:
    (tmp_path / "pump.md").write_text("# Pumps\n\nThe pump of the north tower runs at seven bar.\n")
    model = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    beside = threading.Thread(target=model.serve_forever)
    beside.start()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "FONTE_HOME": str(tmp_path / "home"),
        "FONTE_GENERATION_NAME": "openai",
        "FONTE_GENERATION_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1",
        "FONTE_GENERATION_MODEL": "slow",
        "FONTE_SERVE_LOGS": "json",
    }
    command = [sys.executable, "-m", "fonte"]
    subprocess.run([*command, "sync", str(tmp_path / "pump.md"), "--quiet"], check=True, env=environment)
    address, asked = f"http://127.0.0.1:{port}", {"question": "At how many bar does the pump of the north tower run?"}
    with subprocess.Popen(
        [*command, "serve", "--port", str(port)], env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            _wait(address)
            with httpx.stream("POST", f"{address}/v1/ask", json=asked | {"stream": True}, timeout=120) as streaming:
                assert streaming.status_code == 200 or streaming.read()
                assert Slow.begun.wait(60)
                server.send_signal(signal.SIGTERM)
                told = time.monotonic()
                time.sleep(0.5)
                with pytest.raises(httpx.ConnectError):
                    httpx.get(f"{address}/healthz", timeout=5)
                events = streaming.read().decode()
            assert server.wait(30) == 0
            assert time.monotonic() - told < 30
        finally:
            server.kill()
            model.shutdown()
            model.server_close()
            beside.join()
            assert server.stderr is not None
            log = server.stderr.read()
    names = [block.split("\n")[0] for block in events.split("\n\n") if block]
    assert names[-1] == "event: done", events
    assert json.loads(events.strip().rsplit("data: ", 1)[1])["answer"] == SENTENCE
    assert '"message": "request"' in log
    assert "north tower" not in log


def _wait(address: str) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            if httpx.get(f"{address}/readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError("the server did not start")


@pytest.mark.parametrize(
    ("given", "believed"), [((), None), (("--proxy", "10.0.0.1,10.0.0.2"), ["10.0.0.1", "10.0.0.2"])]
)
def test_forwarded_headers_are_believed_from_named_proxies_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], believed: list[str] | None
) -> None:
    seen: dict[str, object] = {}
    monkeypatch.setattr("uvicorn.run", lambda _app, **options: seen.update(options))
    monkeypatch.setattr("fonte.corpus.OpenCorpus.warm", lambda _corpus: None)
    monkeypatch.setattr("fonte.http.logs.log_to_stderr", lambda _form: None)
    home = str(tmp_path / "home")
    assert main(["keys", "create", "--home", home, "--quiet"]) == 0
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["serve", "--home", home, "--quiet", *given]) == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (seen["proxy_headers"], seen["forwarded_allow_ips"]) == (believed is not None, believed)
