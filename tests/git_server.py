"""A Git server on loopback for tests: smart HTTP by `git http-backend`. It stops with the block that started it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RDWR
from threading import Thread
from time import time
from typing import NamedTuple

LIMIT = 50_000_000
"""Bytes of one request."""
DEADLINE = 60
"""Seconds for one answer."""


class Asked(NamedTuple):
    """One request, and what it cost."""

    method: str
    path: str
    """With its query."""
    authorizations: tuple[str, ...]
    """Every Authorization header it came with."""
    received: int = 0
    """Bytes of its body."""
    sent: int = 0
    """Bytes of the answer's body."""


class Server:
    """A running server: what it was asked, and how it behaves."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.url = ""
        self.asked: list[Asked] = []
        self.demanded = ""
        """An Authorization that every request must carry; others get 401, which quotes what they sent."""
        self.elsewhere = ""
        """The address of another server, to which everything is redirected."""
        self.ahead = 0
        """Seconds by which the server's clock goes ahead of ours."""
        self.look: Callable[[], None] = lambda: None
        """Called while the client waits for an answer."""
        self.speaks_2 = True
        """Whether it knows Git's protocol 2."""

    def since(self) -> list[Asked]:
        """Return what was asked since the last question."""
        asked, self.asked = self.asked, []
        return asked


class Handler(BaseHTTPRequestHandler):
    """Hands each request to `git http-backend`, as a web server with CGI does.

    A file `cut` in the root cuts the next push's connection: `before` or `after` the server applied it; `late`: it is
    applied right before the push that comes next; `off`: nothing is answered from then on.
    """

    here: Server

    @property
    def root(self) -> Path:
        return self.here.root

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        body = self._body()
        mischief = self.root / "cut"
        cut = mischief.read_text() if mischief.exists() and self.path.endswith("/git-receive-pack") else ""
        if not cut:
            self._catch_up()
            self._answer(body)
            return
        mischief.unlink()
        self.close_connection = True
        if cut == "after":
            self._run(body)
        if cut == "late":
            (self.root / "late").write_bytes(body)
        if cut == "off":
            (self.root / "down").touch()
        self.connection.shutdown(SHUT_RDWR)

    def _catch_up(self) -> None:
        """Apply the push that was held back."""
        late = self.root / "late"
        if late.exists() and self.path.endswith("/git-receive-pack"):
            body = late.read_bytes()
            late.unlink()
            self._run(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the same)
        """Say nothing: pytest shows what fails."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(min(int(self.headers.get("Content-Length", 0)), LIMIT))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, body: bytes) -> None:
        if (self.root / "down").exists():
            self.close_connection = True
            self.connection.shutdown(SHUT_RDWR)
            return
        sent = tuple(self.headers.get_all("Authorization", ()))
        asked = Asked(self.command, self.path, sent, len(body))
        self.here.look()
        if self.here.elsewhere:
            self._send(asked, HTTPStatus.FOUND, {"Location": f"{self.here.elsewhere}{self.path}"}, b"")
        elif self.here.demanded and sent != (self.here.demanded,):
            headers = {"WWW-Authenticate": 'Basic realm="x"', "Content-Type": "text/plain"}
            self._send(asked, HTTPStatus.UNAUTHORIZED, headers, f"not with {' and '.join(sent)}\n".encode())
        else:
            head, _, content = self._run(body).partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
            self._send(asked, int(headers.pop("Status", "200").split()[0]), headers, content)

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the time that answers carry."""
        return super().date_time_string((time() if timestamp is None else timestamp) + self.here.ahead)

    def _send(self, asked: Asked, status: int, headers: dict[str, str], content: bytes) -> None:
        self.here.asked.append(asked._replace(sent=len(content)))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _run(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        environ = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", "") if self.here.speaks_2 else "",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "PATH": os.environ["PATH"],
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_ADDR": "127.0.0.1",
            "REQUEST_METHOD": self.command,
        }
        words = ("git", "http-backend")
        return subprocess.run(words, input=body, env=environ, capture_output=True, timeout=DEADLINE, check=False).stdout


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serve the bare repositories in a folder; gives the URL of that folder."""
    with watched(root) as server:
        yield server.url


@contextmanager
def watched(root: Path) -> Iterator[Server]:
    """Serve the bare repositories in a folder; gives the server, which tells what it was asked."""
    here = Server(root)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Handler,), {"here": here}))
    server.daemon_threads = True
    here.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def bare(path: Path, **settings: str) -> Path:
    """Make a bare repository that takes pushes over HTTP and serves partial clones."""
    subprocess.run(("git", "init", "-q", "--bare", str(path)), check=True)
    for name, value in {"http.receivepack": "true", "uploadpack.allowFilter": "true", **settings}.items():
        subprocess.run(("git", "-C", str(path), "config", name.replace("_", "."), value), check=True)
    return path


def count_pushes(repository: Path) -> Path:
    """Let a hook of the repository note every push it takes or refuses; return the file with one line a push."""
    log = repository / "pushes"
    log.touch()
    hook = repository / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\nsed "s/^[^ ]* [^ ]* //" | tr "\\n" " " >> "{log}"\necho >> "{log}"\n')
    hook.chmod(0o755)
    return log
