"""A web site on the loopback interface whose pages are functions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


def page(body: bytes | str, status: int = 200, **headers: str) -> Answer:
    """An answer; ``etag="x"`` and the like become headers, and conditions on an entity tag are looked at."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        data = body.encode() if isinstance(body, str) else body
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        named.setdefault("content-type", "text/html; charset=utf-8")
        same = named.get("etag") and request.headers.get("If-None-Match") == named["etag"]
        request.send_response(304 if same else status)
        for key, value in named.items():
            request.send_header(key, value)
        if not same:
            request.send_header("content-length", str(len(data)))
        request.end_headers()
        if not same:
            request.wfile.write(data)

    return answer


def leads_to(url: str, status: int = 302) -> Answer:
    return page(b"", status, location=url)


class Site:
    """``pages`` by path; ``asked`` are the paths in the order of requests."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.host = f"127.0.0.1:{port}"
        self.port = port
        self.pages: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.answered: list[tuple[str, int]] = []

    def sitemap(self, *paths: str) -> None:
        places = "".join(f"<url><loc>{one if '://' in one else self.base + one}</loc></url>" for one in paths)
        xml = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
        self.pages["/sitemap.xml"] = page(xml, content_type="application/xml")


@contextmanager
def running_site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.asked.append(self.path)
            site.pages.get(self.path, page("nothing here", 404))(self)

        def send_response(self, code: int, message: str | None = None) -> None:
            site.answered.append((self.path, code))
            super().send_response(code, message)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # a client that went away, as tests of limits do

    server = Server(("127.0.0.1", 0), Handler)
    site = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
