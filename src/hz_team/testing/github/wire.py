"""HTTP on loopback: reads a request, hands it to the desk or to Git, sends what comes back, or does not."""

from __future__ import annotations

import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from hz_team.testing.github.desk import Asked, Sent

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

LARGEST = 100_000_000
"""Bytes of one request."""
PATIENCE = 60.0
"""Seconds that a request without an answer is held at most."""


class Server(ThreadingHTTPServer):
    """A server whose open connections end with it."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, answer: Callable[[Asked], Sent], stopping: Event) -> None:
        """It listens at once, on a free port."""
        self.answer, self.stopping = answer, stopping
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Remember a connection."""
        if isinstance(request, socket.socket):
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Forget a connection."""
        if isinstance(request, socket.socket):
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Let a client leave in the middle; anything else is a bug of ours and shows itself."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def server_close(self) -> None:
        """Close the port and every connection."""
        super().server_close()
        for request in list(self._open):
            _cut(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "github.com", ""
    disable_nagle_algorithm = True
    timeout = 60
    server: Server

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815  (names of the standard library)

    def _serve(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        sent = self.server.answer(Asked(self.command, self.path, headers, self._body()))
        if sent.mishap:
            if sent.mishap == "timeout":
                self.server.stopping.wait(PATIENCE)
            self.close_connection = True
            _cut(self.connection)
            return
        self.send_response_only(sent.status)
        for name, value in sent.headers.items():
            self.send_header(name, value)
        if sent.status not in (204, 304):
            self.send_header("Content-Length", str(len(sent.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(sent.body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), LARGEST))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def log_message(self, *words: object) -> None:
        """Say nothing: `requests` remembers."""


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it was closed already
