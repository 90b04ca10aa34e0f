"""What stands before the shared repository and behind the webhooks: servers on loopback that fail when they are told to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RDWR
from threading import Event, Lock, Thread
from typing import NamedTuple

from tests.git_server import Handler, Server

PATIENCE = 60.0
"""Seconds that a gate stays shut at most."""


class Gate:
    """A place where a request waits until somebody lets it go on."""

    def __init__(self) -> None:
        self._reached, self._open = Event(), Event()

    def wait(self) -> None:
        """Say that somebody is here, and wait."""
        self._reached.set()
        self._open.wait(PATIENCE)

    def reached(self) -> bool:
        """Wait until somebody is here; whether anybody came in time."""
        return self._reached.wait(PATIENCE)

    def open(self) -> None:
        """Let go on whoever is here or comes later."""
        self._open.set()


class Mischief(NamedTuple):
    """What happens to one push."""

    kind: str
    """
    pass     it goes through
    before   the connection is cut, and the server never applies it
    after    the server applies it, then the connection is cut
    busy     the server answers 503
    locked   another Git holds the lock of the ref, so that the server refuses it
    """
    ref: str = ""
    """Only a push that names a ref with this in it."""
    gate: Gate | None = None
    """Where it waits: before the server has seen it, with `after` between the server's work and the cut."""
    then: Callable[[], None] = lambda: None
    """Called when the push has come so far: where it would wait at the gate."""


class Desk:
    """The mischief that waits for each machine's pushes, and how many there were."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Mischief]] = {}
        self._looks: dict[str, Gate] = {}
        self._lock = Lock()
        self.pushes = 0
        self.done: dict[str, int] = {}
        """Mischief that happened, by kind."""

    def expect(self, machine: str, *mischief: Mischief) -> None:
        """Do these to the machine's next pushes that fit, one each."""
        with self._lock:
            self._waiting.setdefault(machine, []).extend(mischief)

    def delay(self, machine: str, gate: Gate) -> None:
        """Let the machine wait when it looks next where the refs stand in order to push, and answer then."""
        self._looks[machine] = gate

    def look(self, machine: str) -> None:
        """Wait if that was asked for."""
        if gate := self._looks.pop(machine, None):
            gate.wait()

    def forget(self, machine: str) -> None:
        """Leave the machine's pushes alone from now on."""
        with self._lock:
            self._waiting.pop(machine, None)

    def take(self, machine: str, refs: str) -> Mischief:
        """Return what is to be done to a push."""
        with self._lock:
            self.pushes += 1
            waiting = self._waiting.get(machine, [])
            found = next((one for one in waiting if one.ref in refs), None)
            if found is None:
                return Mischief("pass")
            waiting.remove(found)
            self.done[found.kind] = self.done.get(found.kind, 0) + 1
            return found


class Front(Handler):
    """Serves http://…/MACHINE/state.git: one repository, and it is known who pushes."""

    desk: Desk

    def do_GET(self) -> None:  # noqa: N802  (the name that the library gives it)
        """Answer with what the repository says."""
        machine = self._strip()
        if self.path.endswith("service=git-receive-pack"):
            self.desk.look(machine)
        super().do_GET()

    def do_POST(self) -> None:  # noqa: N802  (the same)
        """Apply a push, or do to it what the desk says."""
        machine = self._strip()
        body = self._body()
        if not self.path.endswith("/git-receive-pack") or not (refs := named(body)):
            self._answer(body)
            return
        mischief = self.desk.take(machine, refs)
        if mischief.kind == "after":
            self._run(body)
        mischief.then()
        if mischief.gate:
            mischief.gate.wait()
        if mischief.kind == "pass":
            self._answer(body)
        elif mischief.kind == "busy":
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
        elif mischief.kind == "locked":
            self._locked(body, refs)
        else:
            self.close_connection = True
            self.connection.shutdown(SHUT_RDWR)

    def _locked(self, body: bytes, refs: str) -> None:
        lock = self.root / "state.git" / f"{refs.rsplit(maxsplit=1)[-1]}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        try:
            self._answer(body)
        finally:
            lock.unlink(missing_ok=True)

    def _strip(self) -> str:
        _, machine, rest = self.path.split("/", 2)
        self.path = f"/{rest}"
        return machine


def named(body: bytes) -> str:
    """Return the refs that a push's body names, with blanks between; "" for the empty request that comes before some."""
    found, at = [], 0
    while size := int(body[at : at + 4] or b"0", 16):
        line = body[at + 4 : at + size].partition(b"\0")[0].decode().strip()
        found += line.split(" ")[2:]
        at += size
    return " ".join(found)


class Post(NamedTuple):
    """One request that a webhook's target took."""

    key: str
    path: str
    body: str


class Sink:
    """The target of all webhooks."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.url = ""
        self.gate: Gate | None = None
        """Where the next request waits, when it is taken and before it is answered."""

    def paths(self) -> set[str]:
        """Return where something arrived."""
        return {post.path for post in self.posts}


class Taker(BaseHTTPRequestHandler):
    """Takes every POST."""

    sink: Sink

    def do_POST(self) -> None:
        """Note it, and answer when the gate is open."""
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.sink.posts.append(Post(self.headers["Idempotency-Key"], self.path, str(json.loads(text)["body"])))
        gate, self.sink.gate = self.sink.gate, None
        if gate:
            gate.wait()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name that the library gives it)
        """Say nothing."""


class Quiet(ThreadingHTTPServer):
    """A server whose clients may die in the middle of a request."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: they are killed on purpose."""


@contextmanager
def fronted(place: Path) -> Iterator[tuple[Server, Desk]]:
    """Serve the repository place/state.git to machines; gives the server's clock and address, and the desk."""
    here, desk = Server(place), Desk()
    with _serving(type("Here", (Front,), {"here": here, "desk": desk})) as url:
        here.url = url
        yield here, desk


@contextmanager
def sunk() -> Iterator[Sink]:
    """Take webhooks."""
    sink = Sink()
    with _serving(type("There", (Taker,), {"sink": sink})) as url:
        sink.url = url
        yield sink


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = Quiet(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
