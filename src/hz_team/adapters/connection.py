"""One connection to a vetted address, on which every wait is cut by one deadline.

`http.client` and `ssl` set a time-out for each silence; a server that sends one byte every ten seconds never hits it.
So each single read and write gets what is left of the whole exchange.
"""

from __future__ import annotations

import http.client
import io
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.adapters.address import literal
from hz_team.ports import HttpError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence


class Peer(NamedTuple):
    """One address a name stands for."""

    family: int
    address: str
    port: int


class Deadline:
    """The moment at which an exchange ends, whatever it is doing."""

    def __init__(self, seconds: float) -> None:
        """Start to count."""
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left. Raises TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def __str__(self) -> str:
        """The whole time that was given."""
        return f"{self._seconds:g} s"


def resolve(host: str, port: int, deadline: Deadline) -> list[Peer]:
    """Return the addresses of a host, asking the resolver no longer than the deadline. Raises OSError."""
    ip = literal(host)
    if ip is not None:
        return [Peer(socket.AF_INET if ip.version == 4 else socket.AF_INET6, host, port)]  # noqa: PLR2004
    answers: list[list[tuple[Any, ...]] | OSError] = []

    def ask() -> None:
        try:
            answers.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            answers.append(error)
        except UnicodeError:
            answers.append(socket.gaierror(socket.EAI_NONAME, "no such name"))

    thread = threading.Thread(target=ask, daemon=True)  # getaddrinfo takes no time-out
    thread.start()
    thread.join(deadline.left())
    if not answers:
        raise TimeoutError
    if isinstance(answers[0], OSError):
        raise answers[0]
    return [Peer(family, place[0], port) for family, _, _, _, place in answers[0]]


class Connection(http.client.HTTPConnection):
    """A connection to one of the given peers, with TLS for `context`, through a tunnel for `tunnel`."""

    def __init__(self, host: str, peers: Sequence[Peer], deadline: Deadline, *, port: int) -> None:
        """`host` is whom we mean to talk to: it is sent as Host and the certificate must be for it."""
        super().__init__(host, port)
        self.deadline = deadline
        self.peer = ""
        """The host's IP address, "" if a proxy leads there."""
        self.proxy: dict[str, str] | None = None
        """Headers for the proxy that the peers are; None: they are the host itself."""
        self._peers = peers
        self._tls: tuple[ssl.SSLContext, dict[str, str] | None] | None = None

    def secure(self, context: ssl.SSLContext, *, tunnel: dict[str, str] | None = None) -> None:
        """Speak TLS; if `tunnel` is given, first have the peer (a proxy) connect us, with these headers."""
        self.default_port = 443
        self._tls = context, tunnel

    def connect(self) -> None:
        """Connect within the deadline. Raises OSError, HttpError when a proxy refuses."""
        wire = Wire(self._dial(), self)
        self.sock = wire  # all that http.client asks of a socket
        if self._tls is None:
            return
        context, tunnel = self._tls
        if tunnel is not None:
            self._ask_proxy(wire, tunnel)
        wire.socket.settimeout(self.deadline.left())
        wire.socket = context.wrap_socket(wire.socket, server_hostname=self.host)

    def _dial(self) -> socket.socket:
        failure = OSError("no address")
        for number, peer in enumerate(self._peers):
            left = self.deadline.left()
            sock = socket.socket(peer.family, socket.SOCK_STREAM)
            try:
                sock.settimeout(left / min(2, len(self._peers) - number))
                sock.connect((peer.address, peer.port))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as error:
                sock.close()
                failure = error
                continue
            self.peer = peer.address if self.proxy is None else ""
            return sock
        raise failure

    def _ask_proxy(self, wire: Wire, headers: dict[str, str]) -> None:
        place = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}", *(f"{name}: {text}" for name, text in headers.items())]
        wire.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
        response = http.client.HTTPResponse(wire, method="CONNECT")  # type: ignore[arg-type]  # (as in connect)
        response.begin()
        if response.status != http.client.OK:
            response.close()
            raise HttpError("refused", f"the proxy did not connect to {self.host}: it answered {response.status}")
        response.close()


class Wire:
    """What http.client needs of a socket, with the time-out set anew before each wait."""

    def __init__(self, sock: socket.socket, connection: Connection) -> None:
        """The socket stays open until the connection and all its readers have let go of it."""
        self.socket = sock
        self._connection = connection
        self._holders = 1

    def arm(self) -> socket.socket:
        """Return the socket, to wait no longer than is left."""
        self.socket.settimeout(self._connection.deadline.left())
        return self.socket

    def sendall(self, content: bytes) -> None:
        """Send everything. Raises TimeoutError at the deadline."""
        self.arm().sendall(content)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return a reader of its own."""
        self._holders += 1
        return io.BufferedReader(_Reader(self), 65536)

    def close(self) -> None:
        """Let go."""
        self._holders -= 1
        if not self._holders:
            self.socket.close()


class _Reader(io.RawIOBase):
    def __init__(self, wire: Wire) -> None:
        self._wire: Wire | None = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._wire.arm().recv_into(buffer) if self._wire else 0

    def close(self) -> None:
        super().close()
        if self._wire:
            self._wire.close()
        self._wire = None
