"""A feed server double for tests and demos: loopback, strong ETags, scripted mishaps; it stops by itself."""

from __future__ import annotations

import hashlib
import os
import socket
import socketserver
import threading
import time
from http.client import responses as REASONS  # noqa: N812  (a table)
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, NamedTuple, Self

from hz_team.testing.feed_document import with_item

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

TYPES = {
    ".xml": "application/xml",
    ".rss": "application/rss+xml",
    ".atom": "application/atom+xml",
    ".json": "application/feed+json",
}


class Answer(NamedTuple):
    """One scripted answer, given instead of the document."""

    status: int = 200
    headers: Mapping[str, str] = {}
    """Sent as they are; nothing is added but Content-Length, and that only if `length` is left alone."""
    body: bytes = b""
    delay: float = 0.0
    """Seconds of silence before the first byte."""
    drip: float = 0.0
    """Seconds between single bytes of the body."""
    length: int | None = None
    """Content-Length to claim; -1: none, the connection's end ends the body."""


class Seen(NamedTuple):
    """One request that arrived, and how it was answered."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Lower-case names."""
    body: bytes
    status: int


class _Document(NamedTuple):
    content: bytes
    type: str
    modified: float
    etag: str


class FeedServer:
    """Serves documents at `url(path)`; a context manager.

    A document has a strong ETag over its bytes; a request that names it byte for byte is answered 304. It serves at
    most `limit` requests and lives at most `lifetime` seconds. Everything that was asked is in `seen`.
    """

    def __init__(
        self,
        documents: Mapping[str, bytes | str] | str | os.PathLike[str] | None = None,
        *,
        limit: int = 1000,
        lifetime: float = 600,
    ) -> None:
        """`documents`: path → content, or a folder whose files are served under their names."""
        if documents is None:
            documents = {}
        self.seen: list[Seen] = []
        self._documents: dict[str, _Document] = {}
        self._scripts: dict[str, list[Answer]] = {}
        self._lock = threading.Lock()
        self._left = limit
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._timer = threading.Timer(lifetime, self.stop)
        self._timer.daemon = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        for path, content in _contents(documents or {}):
            self.put(path, content)

    def __enter__(self) -> Self:
        self._thread.start()
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The TCP port on 127.0.0.1."""
        return int(self._server.server_address[1])

    def url(self, path: str = "/") -> str:
        """Return the address of a path."""
        return f"http://127.0.0.1:{self.port}/{path.lstrip('/')}"

    def stop(self) -> None:
        """Close the port and every connection; doing it twice does no harm."""
        self._timer.cancel()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def put(self, path: str, content: bytes | str, content_type: str | None = None) -> None:
        """Add a document or replace it; its type follows from the name unless given."""
        content = content.encode("utf-8") if isinstance(content, str) else content
        name = _name(path)
        kind = content_type or TYPES.get(os.path.splitext(name)[1], "application/octet-stream")
        etag = '"' + hashlib.sha256(content).hexdigest()[:16] + '"'
        self._documents[name] = _Document(content, kind, time.time(), etag)

    def remove(self, path: str) -> None:
        """Take a document away: from now on 404."""
        del self._documents[_name(path)]

    def read(self, path: str) -> bytes:
        """Return a document as it is served now."""
        return self._documents[_name(path)].content

    def etag(self, path: str) -> str:
        """Return a document's ETag, quotes included."""
        return self._documents[_name(path)].etag

    def add_item(self, path: str, title: str, *, link: str, published: int | None = None, summary: str = "") -> None:
        """Let a feed (RSS, RDF, Atom or JSON Feed) gain one item at its head, in its own encoding.

        The item's identity is its link; `published` is an instant. Raises ValueError if the document is no feed.
        """
        document = self._documents[_name(path)]
        content = with_item(document.content, title, link=link, published=published, summary=summary)
        self.put(path, content, document.type)

    def script(self, path: str, *answers: Answer, forever: bool = False) -> None:
        """Give these answers to the next requests for a path, one each; `forever` repeats the last."""
        self._scripts[_name(path)] = [*answers, *([answers[-1]] * 10_000 if forever else [])]

    def count(self, path: str | None = None, status: int | None = None) -> int:
        """Return how many requests came, for a path or with a status."""
        return sum(
            (path is None or request.path.partition("?")[0] == _name(path)) and status in (None, request.status)
            for request in self.seen
        )

    def _answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        with self._lock:
            answer = self._scripted(path) or self._stored(path, headers)
            self.seen.append(Seen(method, path, headers, body, answer.status))
            return answer

    def _served(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left == 0:
                threading.Thread(target=self.stop, daemon=True).start()

    def _scripted(self, path: str) -> Answer | None:
        waiting = self._scripts.get(path.partition("?")[0])
        return waiting.pop(0) if waiting else None

    def _stored(self, path: str, headers: Mapping[str, str]) -> Answer:
        document = self._documents.get(path.partition("?")[0])
        if document is None:
            return Answer(404, {"Content-Type": "text/plain"}, b"no such document\n")
        validators = {"ETag": document.etag, "Last-Modified": _http_date(document.modified)}
        if headers.get("if-none-match") == document.etag:
            return Answer(304, validators)
        return Answer(200, {"Content-Type": document.type, **validators}, document.content)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, place: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(place, handler)
        self._open: set[socket.socket] = set()

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        if isinstance(request, socket.socket):
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        if isinstance(request, socket.socket):
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that left in the middle is no event."""

    def server_close(self) -> None:
        super().server_close()
        for request in list(self._open):
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                self._open.discard(request)


def _handler(server: FeedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            heads = {name.lower(): text for name, text in self.headers.items()}
            answer = server._answer(self.command, self.path, heads, body)  # noqa: SLF001  (one thing in two classes)
            time.sleep(answer.delay)
            self.wfile.write(_head(answer))
            if answer.drip:
                self._drip(answer)
            elif answer.body:
                self.wfile.write(answer.body)
            self.close_connection = answer.length is not None or heads.get("connection") == "close"
            server._served()  # noqa: SLF001  (the same)

        def _drip(self, answer: Answer) -> None:
            for byte in answer.body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(answer.drip)

        def log_message(self, *words: object) -> None:
            """Say nothing: `seen` remembers."""

    return Handler


def _head(answer: Answer) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Odd')}"]
    lines += [f"{name}: {text}" for name, text in answer.headers.items()]
    length = len(answer.body) if answer.length is None else answer.length
    if answer.status not in (204, 304) and length >= 0 and "Transfer-Encoding" not in answer.headers:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _contents(documents: Mapping[str, bytes | str] | str | os.PathLike[str]) -> list[tuple[str, bytes | str]]:
    if not isinstance(documents, str | os.PathLike):
        return list(documents.items())
    found: list[tuple[str, bytes | str]] = []
    for entry in sorted(os.scandir(documents), key=lambda entry: entry.name):
        if entry.is_file():
            with open(entry.path, "rb") as stream:
                found.append((entry.name, stream.read()))
    return found


def _name(path: str) -> str:
    return "/" + path.lstrip("/")


def _http_date(moment: float) -> str:
    from email.utils import formatdate

    return formatdate(moment, usegmt=True)
