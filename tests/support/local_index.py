"""A package index on a loopback port that can be told to misbehave, and that remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote, unquote, urlsplit

Request = tuple[str, str, str | None]
"""Method, path, and the value of the ``Range`` header."""


@dataclass
class LocalIndex:
    """Serves a folder at ``/``, and at ``/simple/triton/`` a page that lists its wheels.

    :param folder: What to serve. ``index.html`` stands for a folder that has one.
    :param ranges: Whether the server continues a download.
    :param cut_after: Lengths of the pieces after which connections break, one a request for a file; then no more break.
    :param statuses: Statuses to answer the next requests with, before any is served.
    :param file_statuses: The same, but for requests for wheels alone.
    :param bodies: Other bytes to send for a file name.
    :param etag: Entity tag of all files.
    :param declare_length: Whether answers say how long they are.
    """

    folder: Path
    ranges: bool = True
    cut_after: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    file_statuses: list[int] = field(default_factory=list)
    bodies: dict[str, bytes] = field(default_factory=dict)
    etag: str | None = '"one"'
    declare_length: bool = True
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"index": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def root(self) -> str:
        """URL of the folder."""
        return f"http://127.0.0.1:{self.server.server_port}"

    @property
    def url(self) -> str:
        """URL of the index."""
        return f"{self.root}/simple/"

    @property
    def file_requests(self) -> list[Request]:
        """The requests for wheels."""
        return [request for request in self.requests if request[1].endswith(".whl")]

    def content(self, path: str) -> bytes | None:
        """Give what lies at a path, or ``None``."""
        file = self.folder / path.lstrip("/")
        if file.name in self.bodies:
            return self.bodies[file.name]
        file = file / "index.html" if file.is_dir() else file
        if file.is_file():
            return file.read_bytes()
        if path == "/simple/triton/":
            names = sorted(wheel.name for wheel in self.folder.glob("*.whl"))
            return "".join(f'<a href="../../{quote(name)}">{name}</a>\n' for name in names).encode()
        return None


class _Handler(BaseHTTPRequestHandler):
    index: LocalIndex
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        asked = self.headers.get("Range")
        self.index.requests.append((self.command, path, asked))
        wheel = path.endswith(".whl")
        planned = self.index.file_statuses if wheel and self.index.file_statuses else self.index.statuses
        body = self.index.content(path)
        if planned or body is None:
            self.send_error(planned.pop(0) if planned else 404)
            return
        start = self.continuation(asked, len(body))
        if start is None:
            self.send_response(416)
            if self.index.declare_length:
                self.send_header("Content-Range", f"bytes */{len(body)}")
            self.end_headers()
            return
        self.send_head(start, body, wheel)
        if self.command == "GET":
            piece = body[start:]
            self.wfile.write(piece[: self.index.cut_after.pop(0)] if wheel and self.index.cut_after else piece)

    def do_HEAD(self) -> None:
        self.do_GET()

    def continuation(self, asked: str | None, size: int) -> int | None:
        """Where to begin; ``None`` if there is nothing from there on."""
        if not asked or not self.index.ranges or self.headers.get("If-Range") not in (None, self.index.etag):
            return 0
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        return start if start < size else None

    def send_head(self, start: int, body: bytes, wheel: bool) -> None:
        """Send status and headers."""
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", "application/octet-stream" if wheel else "text/html")
        if self.index.declare_length:
            self.send_header("Content-Length", str(len(body) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if self.index.etag:
            self.send_header("ETag", self.index.etag)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class gives it
        pass


@contextmanager
def unreachable_url() -> Iterator[str]:
    """Give the URL of an index on a port that nothing listens on."""
    with LocalIndex(Path()) as index:
        url = index.url
    yield url
