"""A local web server with configurable faults, for the tests of downloads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Site:
    """The files of the server and its faults; tests change them while it runs."""

    files: dict[str, bytes] = field(default_factory=dict)
    address: str = ""
    tag: str = '"first"'
    date: str = "Wed, 01 Jan 2020 00:00:00 GMT"
    content_type: str = "application/octet-stream"
    resumes: bool = True
    range_error: int = 0  # bytes by which one response misses the requested range
    cuts: list[int] = field(default_factory=list)  # bytes after which each response is cut
    statuses: list[int] = field(default_factory=list)  # error statuses to return first
    redirects: dict[str, str] = field(default_factory=dict)
    ranges: list[str | None] = field(default_factory=list)  # the requested ranges


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server on a free port, reached without a proxy."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site, asked = self.site, self.headers.get("Range")
        site.ranges.append(asked)
        if self.path in site.redirects:
            self.send_response(302)
            self.send_header("Location", site.redirects[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif site.statuses:
            self.send_error(site.statuses.pop(0))
        elif self.path not in site.files:
            self.send_error(404)
        else:
            self._send(site.files[self.path], asked)

    def _send(self, data: bytes, asked: str | None) -> None:
        site = self.site
        first = 0
        if asked and site.resumes and self.headers.get("If-Range") in (site.tag, site.date):
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
            if first >= len(data):
                self.send_error(416)
                return
            first, site.range_error = first + site.range_error, 0
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - first))
        self.send_header("Content-Type", site.content_type)
        for name, value in (("ETag", site.tag), ("Last-Modified", site.date)):
            if value:
                self.send_header(name, value)
        self.end_headers()
        body = data[first:]
        if site.cuts:
            body = body[: site.cuts.pop(0)]
            self.close_connection = True
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
