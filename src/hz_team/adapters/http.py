"""HTTP on `http.client`: one deadline, one size cap, vetted addresses, and redirects that we follow ourselves.

Connections are kept for further requests to the same origin. docs/decisions/0004 says why this is our own.
"""

from __future__ import annotations

import http.client
import os
import socket
from errno import EHOSTUNREACH, ENETDOWN, ENETUNREACH
from typing import TYPE_CHECKING, Self

from hz_team import __version__
from hz_team.adapters import address
from hz_team.adapters.address import Target
from hz_team.adapters.connection import Connection, Deadline, Peer, resolve
from hz_team.ports import HttpError, Request, Response

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

AGENT = f"hz-team/{__version__}"
MOVED = frozenset({301, 302, 303, 307, 308})
LISTS = frozenset({"cache-control", "content-encoding", "link", "vary"})
"""Headers whose repetitions are one list; of any other the first counts."""
KEPT = 8
"""Idle connections at most."""
_CHUNK = 65536
_PERSONAL = frozenset({"authorization", "cookie", "proxy-authorization"})
_UNREACHABLE = frozenset({EHOSTUNREACH, ENETDOWN, ENETUNREACH})


class HttpClient:
    """The real `Http`. Not for several threads at once."""

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        is_private: Callable[[str], bool] = address.is_private,
    ) -> None:
        """Proxies are read from `environ` (default: the process's own); `is_private` judges IP addresses."""
        self._idle: dict[tuple[str, str, int], Connection] = {}
        self._environ = os.environ if environ is None else environ
        self._is_private = is_private
        self._context: ssl.SSLContext | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections; the client may be used again."""
        while self._idle:
            self._idle.popitem()[1].close()

    def send(self, request: Request) -> Response:
        """Make one exchange within its deadline. Raises HttpError."""
        deadline = Deadline(request.deadline)
        target, headers, public = Target(request.url), _headers(request), False
        hops: list[tuple[int, str]] = []
        while True:
            try:
                answer, peer = self._visit(target, request, headers, deadline, public=public)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise _translated(error, target, deadline) from None
            public = public or not peer or not self._is_private(peer)
            location = answer.headers.get("location", "")
            if answer.status not in MOVED or not location or not request.redirects or request.method != "GET":
                return answer._replace(hops=tuple(hops))
            if len(hops) >= request.redirects:
                raise HttpError("broken", f"{target} leads on and on: more than {request.redirects} redirects")
            before, target = target, target.join(location)
            hops.append((answer.status, target.url))
            if target.origin != before.origin:
                headers = {name: text for name, text in headers.items() if name.lower() not in _PERSONAL}

    def _visit(
        self, target: Target, request: Request, headers: Mapping[str, str], deadline: Deadline, *, public: bool
    ) -> tuple[Response, str]:
        """Make one request without following; return the answer and the peer's IP address ("" behind a proxy)."""
        idle = self._idle.get(target.origin) if request.method == "GET" else None
        if idle is not None:
            self._vet(target, request, idle.peer, public=public)
            del self._idle[target.origin]
            idle.deadline = deadline
            try:
                return self._exchange(idle, target, request, headers), idle.peer
            except (http.client.RemoteDisconnected, ConnectionError):
                pass  # it was closed while it lay idle; a GET may be asked again
        connection = self._dial(target, request, deadline, public=public)
        return self._exchange(connection, target, request, headers), connection.peer

    def _dial(self, target: Target, request: Request, deadline: Deadline, *, public: bool) -> Connection:
        """Return a new connection to the target, or to the proxy that leads there. Raises OSError, HttpError."""
        proxy = address.proxy_of(target, self._environ)
        if not proxy:
            peers = self._vetted(target, request, deadline, public=public)
            connection = Connection(target.host, peers, deadline, port=target.port)
            tunnel = None
        else:
            if address.is_local_name(target.host):
                self._vet(target, request, target.host, public=public)
            place, tunnel = _proxy(proxy)
            connection = Connection(target.host, resolve(place.host, place.port, deadline), deadline, port=target.port)
            connection.proxy = tunnel
        if target.scheme == "https":
            connection.secure(self._tls(), tunnel=tunnel)
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return connection

    def _vetted(self, target: Target, request: Request, deadline: Deadline, *, public: bool) -> list[Peer]:
        peers = resolve(target.host, target.port, deadline)
        allowed = [peer for peer in peers if self._may(target, request, peer.address, public=public)]
        if not allowed:
            self._vet(target, request, peers[0].address, public=public)
        return allowed

    def _may(self, target: Target, request: Request, peer: str, *, public: bool) -> bool:
        return not self._is_private(peer) or (not public and target.listed(request.private))

    def _vet(self, target: Target, request: Request, peer: str, *, public: bool) -> None:
        """Refuse a peer that this request may not talk to. An unknown one (behind a proxy) passes."""
        if not peer or self._may(target, request, peer, public=public):
            return
        if public:
            raise HttpError("forbidden", f"a public address led to {target.authority}, which is private; not followed")
        raise HttpError("forbidden", f"{target.authority} is a private address that nobody listed; not asked")

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            import ssl

            self._context = ssl.create_default_context()
        return self._context

    def _exchange(
        self, connection: Connection, target: Target, request: Request, headers: Mapping[str, str]
    ) -> Response:
        """Ask, read the whole answer, and keep the connection if it can be used again."""
        plain_proxy = connection.proxy is not None and target.scheme == "http"
        sent = {**headers, **(connection.proxy or {})} if plain_proxy else dict(headers)
        try:
            path = target.url if plain_proxy else target.path + target.query
            connection.request(request.method, path, body=request.body or None, headers=sent)
            with connection.getresponse() as response:
                body = b"".join(_decoded(response, request, target))
        except BaseException:
            connection.close()
            raise
        if connection.sock is not None:
            self._keep(target, connection)
        return Response(response.status, _heads(response), body, target.url)

    def _keep(self, target: Target, connection: Connection) -> None:
        while target.origin in self._idle or len(self._idle) >= KEPT:
            oldest = target.origin if target.origin in self._idle else next(iter(self._idle))
            self._idle.pop(oldest).close()
        self._idle[target.origin] = connection


def _headers(request: Request) -> dict[str, str]:
    return {"User-Agent": AGENT, "Accept-Encoding": "gzip, deflate", **request.headers}


def _heads(response: http.client.HTTPResponse) -> dict[str, str]:
    heads: dict[str, str] = {}
    for name, text in response.getheaders():
        name, text = name.lower(), " ".join(text.splitlines())  # noqa: PLW2901  (a folded header is one line)
        if name in LISTS and name in heads:
            heads[name] += f", {text}"
        heads.setdefault(name, text)
    return heads


def _decoded(response: http.client.HTTPResponse, request: Request, target: Target) -> Iterator[bytes]:
    """Yield the decoded body. Raises HttpError when it is too large, cut short, or not what its headers say."""
    size = 0
    chunks: Iterator[bytes] = iter(lambda: response.read(_CHUNK), b"")
    if encoding := response.headers.get("Content-Encoding", "").strip().lower():
        from hz_team.adapters.inflate import inflated

        chunks = inflated(chunks, encoding, target)
    for chunk in chunks:
        size += len(chunk)
        if size > request.limit:
            raise HttpError("too-large", f"{target} is larger than {request.limit} bytes; not read")
        yield chunk
    if response.length:
        raise HttpError("broken", f"{target} broke off, {response.length} bytes before its end")


def _proxy(url: str) -> tuple[Target, dict[str, str]]:
    """Take a proxy's address apart into where it is and the header that lets us use it."""
    scheme, _, rest = url.partition("://")
    secret, _, place = rest.rpartition("@")
    if scheme != "http":
        raise HttpError("forbidden", "only an http:// proxy can be used; see HTTPS_PROXY and HTTP_PROXY")
    if not secret:
        return Target(f"http://{place}"), {}
    from base64 import b64encode
    from urllib.parse import unquote_to_bytes

    return Target(f"http://{place}"), {"Proxy-Authorization": "Basic " + b64encode(unquote_to_bytes(secret)).decode()}


def _translated(error: Exception, target: Target, deadline: Deadline) -> HttpError:
    """Say what went wrong without repeating a header or a query."""
    if isinstance(error, TimeoutError):
        return HttpError("timeout", f"{target} was not done after {deadline}")
    if isinstance(error, socket.gaierror):
        return HttpError("offline", f"the name {target.host} cannot be looked up")
    if isinstance(error, OSError) and error.errno in _UNREACHABLE:
        return HttpError("offline", f"there is no way to {target.host}")
    if isinstance(error, ConnectionRefusedError):
        return HttpError("refused", f"{target.authority} takes no connections")
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return HttpError("broken", f"the certificate of {target.host} is not valid for it")
    return HttpError("broken", f"{target} did not answer as HTTP does ({type(error).__name__})")
