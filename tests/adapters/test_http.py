"""The HTTP adapter against servers on loopback that stall, lie and redirect."""

from __future__ import annotations

import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import time
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from hz_team.adapters import address
from hz_team.adapters.http import AGENT, HttpClient
from hz_team.ports import HttpError, Request, Response
from hz_team.testing.feedserver import Answer, FeedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOOPBACK = ("127.0.0.1",)


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


@pytest.fixture
def client() -> Iterator[HttpClient]:
    with HttpClient({}) as running:
        yield running


def get(client: HttpClient, url: str, **more: object) -> Response:
    return client.send(Request(url, private=LOOPBACK, **more))  # type: ignore[arg-type]


@contextmanager
def raw(talk: Callable[[socket.socket], None], *, times: int = 1) -> Iterator[int]:
    """Serve so many connections with a function over the socket; yield the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)

    def serve() -> None:
        for _ in range(times):
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                try:
                    talk(connection)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.close()
        thread.join(10)


def quietly(talk: Callable[[socket.socket], None], connection: socket.socket) -> None:
    """Talk until the other side leaves."""
    with connection:
        try:
            talk(connection)
        except OSError:
            return


def asked(connection: socket.socket) -> bytes:
    """Read one request's head."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError
        head += piece
    return head


def answering(*pieces: bytes, pause: float = 0.0) -> Callable[[socket.socket], None]:
    def talk(connection: socket.socket) -> None:
        asked(connection)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)

    return talk


def failure(client: HttpClient, url: str, **more: object) -> HttpError:
    with pytest.raises(HttpError) as caught:
        get(client, url, **more)
    return caught.value


def test_an_ordinary_get(server: FeedServer, client: HttpClient) -> None:
    server.put("a.xml", "<a>ü</a>")
    response = get(client, server.url("a.xml?q=ü b&c=%20"), headers={"X-One": "1"})
    assert (response.status, response.body, response.hops) == (200, "<a>ü</a>".encode(), ())
    assert response.headers["etag"] == server.etag("a.xml")
    seen = server.seen[0]
    assert seen.path == "/a.xml?q=%C3%BC%20b&c=%20"
    assert (seen.headers["user-agent"], seen.headers["x-one"]) == (AGENT, "1")
    assert seen.headers["host"] == f"127.0.0.1:{server.port}"


def test_statuses_are_answers(server: FeedServer, client: HttpClient) -> None:
    server.script("x", Answer(500, {}, b"oh"), Answer(204), Answer(304))
    assert [get(client, server.url("x")).status for _ in range(4)] == [500, 204, 304, 404]


def test_a_post_is_sent_once_and_not_redirected(server: FeedServer, client: HttpClient) -> None:
    server.script("hook", Answer(307, {"Location": "/other"}))
    response = get(client, server.url("hook"), method="POST", body=b"{}", headers={"Idempotency-Key": "k"})
    assert (response.status, response.hops, server.count()) == (307, (), 1)
    assert (server.seen[0].body, server.seen[0].headers["idempotency-key"]) == (b"{}", "k")


def test_connections_are_kept_for_gets_only(client: HttpClient) -> None:
    peers: list[int] = []
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    def talk(connection: socket.socket) -> None:
        while True:
            asked(connection)
            peers.append(connection.getpeername()[1])
            connection.sendall(ok)

    with raw(talk, times=1) as port:
        for _ in range(3):
            assert get(client, f"http://127.0.0.1:{port}/").body == b"hi"
        assert len(set(peers)) == 1
        client.close()


def test_a_post_never_rides_on_a_kept_connection(client: HttpClient) -> None:
    peers: list[int] = []

    def talk(connection: socket.socket) -> None:
        while True:
            asked(connection)
            peers.append(connection.getpeername()[1])
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with raw(
        lambda connection: threading.Thread(target=quietly, args=(talk, connection.dup())).start(), times=2
    ) as port:
        get(client, f"http://127.0.0.1:{port}/")
        get(client, f"http://127.0.0.1:{port}/", method="POST")
        client.close()
    assert len(set(peers)) == 2


def test_a_kept_connection_that_died_is_replaced(client: HttpClient) -> None:
    with raw(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), times=3) as port:
        assert [get(client, f"http://127.0.0.1:{port}/").body for _ in range(3)] == [b"hi"] * 3


def test_a_post_that_broke_is_never_sent_again(client: HttpClient) -> None:
    heads: list[bytes] = []
    with raw(lambda connection: heads.append(asked(connection))) as port:
        error = failure(client, f"http://127.0.0.1:{port}/", method="POST", body=b"x", deadline=2)
        assert error.kind == "broken", "and no time-out, which a second try would have met"
    assert len(heads) == 1


def test_http_1_0(client: HttpClient) -> None:
    with raw(answering(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\n", b"to the ", b"end"), times=2) as port:
        assert [get(client, f"http://127.0.0.1:{port}/").body for _ in range(2)] == [b"to the end"] * 2


HEAD = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "status line": [bytes([byte]) for byte in HEAD * 2],
    "headers": [HEAD, *[b"X-%d: y\r\n" % number for number in range(30)]],
    "body": [HEAD + b"Content-Length: 100\r\n\r\n", *[b"x"] * 30],
    "chunk sizes": [HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[b"0"] * 30],
    "to the end": [HEAD + b"Connection: close\r\n\r\n", *[b"x"] * 30],
    "100 Continue": [*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 30],
    "silence": [b"", *[b""] * 30],
}


@pytest.mark.parametrize("pieces", DRIPS.values(), ids=DRIPS)
def test_one_deadline_cuts_every_drip(client: HttpClient, pieces: list[bytes]) -> None:
    with raw(answering(*pieces, pause=0.05)) as port:
        started = time.monotonic()
        error = failure(client, f"http://127.0.0.1:{port}/x?key=sesame", deadline=0.4)
        assert 0.35 < time.monotonic() - started < 1.5
    assert (error.kind, str(error)) == ("timeout", f"http://127.0.0.1:{port}/x was not done after 0.4 s")


def test_the_deadline_spans_redirects(server: FeedServer, client: HttpClient) -> None:
    server.script("x", *[Answer(302, {"Location": "/x"}, delay=0.3)] * 5)
    started = time.monotonic()
    assert failure(client, server.url("x"), deadline=0.7).kind == "timeout"
    assert time.monotonic() - started < 2


def test_a_dead_peer_that_takes_no_bytes(client: HttpClient) -> None:
    with raw(lambda _: time.sleep(1)) as port:
        error = failure(client, f"http://127.0.0.1:{port}/", method="POST", body=bytes(30_000_000), deadline=0.4)
    assert error.kind == "timeout"


PACKED = {
    "gzip": gzip.compress(b"words " * 1000, mtime=0),
    "x-gzip": gzip.compress(b"words " * 500, mtime=0) + gzip.compress(b"words " * 500, mtime=0) + b"\0" * 9,
    "deflate": zlib.compress(b"words " * 1000),
    "identity": b"words " * 1000,
    "GZIP": gzip.compress(b"words " * 1000, mtime=0),
}


@pytest.mark.parametrize(("encoding", "body"), PACKED.items())
def test_packed_bodies(server: FeedServer, client: HttpClient, encoding: str, body: bytes) -> None:
    server.script("x", Answer(200, {"Content-Encoding": encoding}, body))
    assert get(client, server.url("x")).body == b"words " * 1000
    assert server.seen[0].headers["accept-encoding"] == "gzip, deflate"


def test_raw_deflate(server: FeedServer, client: HttpClient) -> None:
    packer = zlib.compressobj(wbits=-15)
    server.script("x", Answer(200, {"Content-Encoding": "deflate"}, packer.compress(b"words") + packer.flush()))
    assert get(client, server.url("x")).body == b"words"


BAD = {
    "no gzip": ({"Content-Encoding": "gzip"}, b"words", "is not the gzip it says"),
    "half a gzip": ({"Content-Encoding": "gzip"}, PACKED["gzip"][:40], "is not the gzip it says, or broke off"),
    "brotli": ({"Content-Encoding": "br"}, b"x", "packed as br, which was not asked for"),
}


@pytest.mark.parametrize(("headers", "body", "text"), BAD.values(), ids=BAD)
def test_bodies_that_lie(
    server: FeedServer, client: HttpClient, headers: dict[str, str], body: bytes, text: str
) -> None:
    server.script("x", Answer(200, headers, body))
    error = failure(client, server.url("x"))
    assert error.kind == "broken"
    assert text in str(error)


@pytest.mark.parametrize(
    "pieces",
    [
        [HEAD + b"Content-Length: 10\r\n\r\n12345"],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n123"],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\n"],
        [b"hello\r\n\r\n"],
        [b""],
        [b"HTTP/1.1 abc OK\r\n\r\n"],
        [HEAD + b"X: y\r\n" * 101 + b"\r\n"],
    ],
)
def test_answers_that_break_off(client: HttpClient, pieces: list[bytes]) -> None:
    with raw(answering(*pieces)) as port:
        assert failure(client, f"http://127.0.0.1:{port}/").kind == "broken"


@pytest.mark.parametrize("packed", [False, True])
def test_the_cap_counts_decoded_bytes(server: FeedServer, client: HttpClient, *, packed: bool) -> None:
    body = bytes(50_000_000) if packed else bytes(200_000)
    answer = (
        Answer(200, {"Content-Encoding": "gzip"}, gzip.compress(body, mtime=0)) if packed else Answer(200, {}, body)
    )
    server.script("x", answer, answer)
    started = time.process_time()
    assert failure(client, server.url("x"), limit=100_000).kind == "too-large"
    assert time.process_time() - started < 1
    if not packed:
        assert len(get(client, server.url("x"), limit=200_000).body) == 200_000


def test_redirects_are_followed_and_told(server: FeedServer, client: HttpClient) -> None:
    server.script("a", Answer(301, {"Location": "b?x=1"}, b"moved"))
    server.script("b", Answer(302, {"Location": "//127.0.0.1:%d/c" % server.port}))  # noqa: UP031
    server.put("c", "end")
    response = get(client, server.url("a"))
    assert (response.body, response.url) == (b"end", server.url("c"))
    assert response.hops == ((301, server.url("b?x=1")), (302, server.url("c")))
    server.script("a", Answer(301, {"Location": "/c"}))
    assert get(client, server.url("a"), redirects=0).status == 301


def test_too_many_redirects(server: FeedServer, client: HttpClient) -> None:
    server.script("a", Answer(302, {"Location": "/a"}), forever=True)
    assert "more than 5 redirects" in str(failure(client, server.url("a")))
    assert server.count() == 6


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://x/", "http://u:p@127.0.0.1/", "http://[::1/"])
def test_redirects_to_other_things(server: FeedServer, client: HttpClient, place: str) -> None:
    server.script("a", Answer(302, {"Location": place}))
    error = failure(client, server.url("a"))
    assert error.kind == "forbidden"
    assert "u:p" not in str(error)


def test_secrets_stay_with_their_host(server: FeedServer, client: HttpClient) -> None:
    with FeedServer({"b": "end"}) as other:
        server.script("a", Answer(302, {"Location": "/a2"}))
        server.script("a2", Answer(302, {"Location": other.url("b")}))
        get(
            client, server.url("a"), headers={"Authorization": "Bearer sesame", "Cookie": "a=b", "If-None-Match": '"x"'}
        )
        assert server.seen[1].headers["authorization"] == "Bearer sesame"
        assert {"authorization", "cookie"} & set(other.seen[0].headers) == set()
        assert other.seen[0].headers["if-none-match"] == '"x"'


def test_private_addresses_are_asked_only_when_listed(server: FeedServer, client: HttpClient) -> None:
    server.put("a", "x")
    for private in ((), ("127.0.0.1:1",), ("localhost",)):
        with pytest.raises(HttpError, match="private address that nobody listed") as caught:
            client.send(Request(server.url("a"), private=private))
        assert caught.value.kind == "forbidden"
    assert client.send(Request(server.url("a"), private=(f"127.0.0.1:{server.port}",))).status == 200
    with pytest.raises(HttpError, match="nobody listed"):
        client.send(Request(server.url("a")))  # though a connection to it is kept
    assert server.count() == 1


@pytest.mark.parametrize("host", ["localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"])  # noqa: S104  (asked, not bound)
def test_private_addresses_in_disguise(server: FeedServer, client: HttpClient, host: str) -> None:
    with pytest.raises(HttpError, match="private") as caught:
        client.send(Request(f"http://{host}:{server.port}/a", private=("127.0.0.1",)))
    assert caught.value.kind == "forbidden"
    assert server.count() == 0


def test_a_public_name_with_a_private_address(
    server: FeedServer, client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.port))]
    monkeypatch.setattr("hz_team.adapters.connection.socket.getaddrinfo", lambda *_, **__: place)
    with pytest.raises(HttpError, match=r"feeds\.example:.* private address that nobody listed"):
        client.send(Request(f"http://feeds.example:{server.port}/", private=LOOPBACK))
    assert server.count() == 0


def test_a_public_address_never_leads_to_a_private_one(server: FeedServer) -> None:
    """Loopback plays the public address here: nothing beyond it may be reached."""
    judged = {"127.0.0.1": False}
    server.script("a", Answer(302, {"Location": f"http://[::1]:{server.port}/b"}))
    with HttpClient({}, is_private=lambda ip: judged.get(ip, True)) as client:
        with pytest.raises(HttpError, match="public address led to") as caught:
            client.send(Request(server.url("a"), private=("127.0.0.1", "::1", f"::1:{server.port}")))
        assert caught.value.kind == "forbidden"


PRIVATE = """
127.0.0.1 127.8.8.8 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1
255.255.255.255 240.0.0.1 192.0.2.1 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd12::1 ff02::1 ::ffff:10.0.0.1 2002:7f00:1::1
64:ff9b::7f00:1 2001:db8::1 words
"""
PUBLIC = "93.184.216.34 172.32.0.1 192.167.1.1 2606:2800:220:1::1 ::ffff:93.184.216.34 64:ff9b::5db8:d822"


@pytest.mark.parametrize(
    ("ip", "private"), [*((ip, True) for ip in PRIVATE.split()), *((ip, False) for ip in PUBLIC.split())]
)
def test_which_addresses_are_private(ip: str, *, private: bool) -> None:
    assert address.is_private(ip) is private


def test_what_refuses_is_said(client: HttpClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = failure(client, f"http://127.0.0.1:{port}/?key=sesame")
    assert (error.kind, str(error)) == ("refused", f"127.0.0.1:{port} takes no connections")


def test_a_name_nobody_knows_is_offline(client: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    monkeypatch.setattr("hz_team.adapters.connection.socket.getaddrinfo", nobody)
    error = failure(client, "https://feeds.example/a")
    assert (error.kind, str(error)) == ("offline", "the name feeds.example cannot be looked up")


def test_a_resolver_that_hangs_is_left(client: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hz_team.adapters.connection.socket.getaddrinfo", lambda *_, **__: time.sleep(2))
    started = time.monotonic()
    assert failure(client, "https://feeds.example/a", deadline=0.3).kind == "timeout"
    assert time.monotonic() - started < 1.5


def test_the_address_that_was_vetted_is_the_one_that_is_asked(
    server: FeedServer, client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.put("a", "x")
    answers = ["127.0.0.1", "10.0.0.1"]

    def rebinding(_: str, port: int, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    monkeypatch.setattr("hz_team.adapters.connection.socket.getaddrinfo", rebinding)
    response = client.send(Request(f"http://feeds.example:{server.port}/a", private=("feeds.example",)))
    assert (response.status, answers) == (200, ["10.0.0.1"])
    assert server.seen[0].headers["host"] == f"feeds.example:{server.port}"


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://a.example/", {"HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
        ("https://a.example/", {"https_proxy": "p:3128", "HTTPS_PROXY": "http://q:1"}, "http://p:3128"),
        ("http://a.example/", {"HTTPS_PROXY": "http://p:3128"}, ""),
        ("http://a.example/", {"HTTP_PROXY": "http://p:3128"}, "http://p:3128"),
        ("http://a.example/", {"HTTP_PROXY": "http://p:3128", "REQUEST_METHOD": "GET"}, ""),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "x.example, .a.example"}, ""),
        ("https://b.a.example/", {"HTTPS_PROXY": "http://p:3128", "no_proxy": "a.example"}, ""),
        ("https://ba.example/", {"HTTPS_PROXY": "http://p:3128", "no_proxy": "a.example"}, "http://p:3128"),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:3128", "no_proxy": "a.example:8443"}, "http://p:3128"),
        ("https://a.example:8443/", {"HTTPS_PROXY": "http://p:3128", "no_proxy": "a.example:8443"}, ""),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:3128", "no_proxy": "*"}, ""),
        ("http://127.0.0.1:8000/", {"HTTP_PROXY": "http://p:3128"}, ""),
        ("http://localhost/", {"HTTP_PROXY": "http://p:3128"}, ""),
        ("http://[::1]/", {"HTTP_PROXY": "http://p:3128"}, ""),
    ],
)
def test_which_proxy(url: str, environ: dict[str, str], proxy: str) -> None:
    assert address.proxy_of(address.Target(url), environ) == proxy


def test_a_plain_request_through_a_proxy() -> None:
    heads: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        heads.append(asked(connection))
        connection.sendall(HEAD + b"Content-Length: 2\r\n\r\nhi")

    with raw(talk) as port, HttpClient({"HTTP_PROXY": f"http://us%40er:sesame@127.0.0.1:{port}"}) as client:
        assert client.send(Request("http://feeds.example/a?b")).body == b"hi"
    assert heads[0].startswith(b"GET http://feeds.example/a?b HTTP/1.1\r\nHost: feeds.example\r\n")
    assert b"Proxy-Authorization: Basic dXNAZXI6c2VzYW1l\r\n" in heads[0]


def test_a_proxy_does_not_open_private_addresses() -> None:
    with HttpClient({"HTTP_PROXY": "http://127.0.0.1:1"}) as client:
        for url in ("http://10.0.0.1/", "http://x.localhost/"):
            with pytest.raises(HttpError, match="private"):
                client.send(Request(url))


def test_a_proxy_that_refuses() -> None:
    with (
        raw(answering(b"HTTP/1.1 403 No\r\n\r\n")) as port,
        HttpClient({"HTTPS_PROXY": f"http://u:sesame@127.0.0.1:{port}"}) as client,
        pytest.raises(HttpError, match=r"did not connect to feeds\.example: it answered 403") as caught,
    ):
        client.send(Request("https://feeds.example/"))
    assert caught.value.kind == "refused"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("openssl"):
        pytest.skip("NOT RUN: there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    names = "subjectAltName=DNS:feeds.example,IP:127.0.0.1"
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=test",
        "-addext",
        names,
    ]
    subprocess.run(
        [*words, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True
    )
    return folder


def tls(folder: Path, *, tunnel: list[bytes] | None = None) -> Callable[[socket.socket], None]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")

    def talk(connection: socket.socket) -> None:
        if tunnel is not None:
            tunnel.append(asked(connection))
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with context.wrap_socket(connection, server_side=True) as secure:
            for _ in range(2):
                asked(secure)
                secure.sendall(HEAD + b"Content-Length: 2\r\n\r\nhi")

    return talk


def test_https_and_its_certificates(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw(tls(certificate), times=3) as port:
        url = f"https://127.0.0.1:{port}/a"
        with HttpClient({}) as client:
            error = failure(client, url)
            assert (error.kind, str(error)) == ("broken", "the certificate of 127.0.0.1 is not valid for it")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
        with HttpClient({}) as client:
            assert [get(client, url).body for _ in range(2)] == [b"hi"] * 2
            client.close()
            with pytest.raises(HttpError, match="certificate"):
                client.send(Request(f"https://localhost:{port}/", private=("localhost",)))


def test_https_through_a_proxy(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    heads: list[bytes] = []
    with raw(tls(certificate, tunnel=heads)) as port, HttpClient({"https_proxy": f"u:p@127.0.0.1:{port}"}) as client:
        assert client.send(Request("https://feeds.example/a")).body == b"hi"
        assert client.send(Request("https://feeds.example/b")).body == b"hi"
    assert len(heads) == 1
    assert heads[0].startswith(b"CONNECT feeds.example:443 HTTP/1.1\r\nHost: feeds.example:443\r\n")
    assert b"Proxy-Authorization: Basic dTpw\r\n" in heads[0]


def test_a_handshake_that_never_ends(client: HttpClient) -> None:
    with raw(lambda _: time.sleep(1)) as port:
        assert failure(client, f"https://127.0.0.1:{port}/", deadline=0.4).kind == "timeout"


@pytest.mark.parametrize(
    "url", ["", "a.example", "/x", "ftp://a/", "http://", "http://a:b/", "http://a:99999/", "http://[x/"]
)
def test_what_is_no_address(client: HttpClient, url: str) -> None:
    assert failure(client, url).kind == "forbidden"


def test_headers_cannot_be_smuggled(server: FeedServer, client: HttpClient) -> None:
    assert failure(client, server.url("a"), headers={"If-None-Match": 'x"\r\nX-Evil: 1'}).kind == "broken"
    with raw(
        answering(HEAD + b'ETag: "a\r\n b"\r\nLink: <1>\r\nLink: <2>\r\nETag: "c"\r\nContent-Length: 0\r\n\r\n')
    ) as port:
        headers = get(client, f"http://127.0.0.1:{port}/").headers
    assert (headers["etag"], headers["link"]) == ('"a  b"', "<1>, <2>")
