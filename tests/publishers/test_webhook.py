from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hz_team.adapters.http import HttpClient
from hz_team.adapters.local import LocalForge
from hz_team.errors import PublishRefused, PublishUnknown, TryAgain
from hz_team.model.draft import Draft
from hz_team.model.proposal import Part
from hz_team.ports import PublishTools
from hz_team.publishers import webhook
from hz_team.testing.feedserver import Answer, FeedServer
from tests.publishers.sample import settle, tools_of

SECRET = "T0KEN-in-the-path"
KEY = "5d" * 32
HERE = Path(__file__).parents[2]


def part_to(url: str) -> Part:
    return Part(0, KEY, "webhook", url, "Digest, week 49", "Ünï “body”\n", job="weekly-digest", proposal="p-5d5d5d5d")


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer(limit=20, lifetime=60) as server:
        yield server


def tools(*hosts: str, deadline: float = 20.0) -> PublishTools:
    return tools_of(LocalForge("/nowhere"), HttpClient({}), hosts=hosts)._replace(deadline=deadline)


def send(server: FeedServer, *answers: Answer, deadline: float = 20.0) -> str:
    server.script("/hook", *answers)
    return webhook.publish(part_to(server.url(f"hook?{SECRET}")), tools(f"127.0.0.1:{server.port}", deadline=deadline))


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_it_is_published_when_the_host_says_so(server: FeedServer, status: int) -> None:
    assert send(server, Answer(status)) == f"127.0.0.1 {status}"
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", f"/hook?{SECRET}")
    assert seen.headers["idempotency-key"] == KEY
    assert seen.headers["content-type"] == "application/json; charset=utf-8"
    assert json.loads(seen.body) == {
        "title": "Digest, week 49",
        "body": "Ünï “body”\n",
        "job": "weekly-digest",
        "proposal": "p-5d5d5d5d",
        "key": KEY,
    }


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 429])
def test_a_host_that_says_no_is_not_asked_again(server: FeedServer, status: int) -> None:
    with pytest.raises(PublishRefused, match=rf"127\.0\.0\.1 answered {status} and did not take it") as refused:
        send(server, Answer(status))
    assert len(server.seen) == 1
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_host_in_trouble_may_have_taken_it(server: FeedServer, status: int) -> None:
    with pytest.raises(PublishUnknown, match=f"answered {status}: nobody can tell") as unknown:
        send(server, Answer(status))
    assert len(server.seen) == 1
    assert SECRET not in str(unknown.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(server: FeedServer, status: int) -> None:
    with pytest.raises(PublishRefused, match="write the final address"):
        send(server, Answer(status, {"Location": server.url("elsewhere")}))
    assert [seen.path for seen in server.seen] == [f"/hook?{SECRET}"]


def test_silence_until_the_deadline_is_unknown(server: FeedServer) -> None:
    before = time.monotonic()
    with pytest.raises(PublishUnknown, match=r"no answer came back \(timeout\)"):
        send(server, Answer(200, delay=3), deadline=0.3)
    assert time.monotonic() - before < 2
    assert len(server.seen) == 1


def test_an_answer_that_breaks_off_is_unknown(server: FeedServer) -> None:
    with pytest.raises(PublishUnknown, match=r"no answer came back \(broken\)"):
        send(server, Answer(200, body=b"half", length=100))
    assert len(server.seen) == 1


def test_a_connection_that_ends_without_an_answer_is_unknown() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(10)
        heard: list[bytes] = []

        def hang_up() -> None:
            peer, _ = listening.accept()
            with peer:
                heard.append(peer.recv(65536))

        thread = threading.Thread(target=hang_up)
        thread.start()
        port = listening.getsockname()[1]
        with pytest.raises(PublishUnknown, match="no answer came back"):
            webhook.publish(part_to(f"http://127.0.0.1:{port}/"), tools("127.0.0.1"))
        thread.join()
    assert heard[0].startswith(b"POST / ")


def test_nothing_was_sent_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(TryAgain, match="nothing was sent"):
        webhook.publish(part_to(f"http://127.0.0.1:{port}/{SECRET}"), tools("127.0.0.1"))


@pytest.mark.parametrize("hosts", [(), ("hooks.example.org",), ("127.0.0.1:1",), ("127.0.0.2",), ("0.0.1",)])
def test_a_host_that_is_not_listed_gets_nothing(server: FeedServer, hosts: tuple[str, ...]) -> None:
    with pytest.raises(PublishRefused, match=r"127\.0\.0\.1 is not among `publish: \{hosts: \[…\]\}`") as refused:
        webhook.publish(part_to(server.url(SECRET)), tools(*hosts))
    assert not server.seen
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("by", ["127.0.0.1", "127.0.0.1:{port}"])
def test_a_loopback_address_is_posted_to_when_it_is_listed_by_itself(server: FeedServer, by: str) -> None:
    server.put("/hook", b"ok")
    assert webhook.publish(part_to(server.url("hook")), tools(by.format(port=server.port))) == "127.0.0.1 200"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "is no address"),
        ("hooks.example.org/x", "is no address"),
        ("ftp://hooks.example.org/x", "is no address"),
        ("file:///etc/passwd", "is no address"),
        ("http:///x", "is no address"),
        ("https://hooks.example.org:port/x", "is no address"),
        ("https://me:secret@hooks.example.org/x", "carries a user or password"),
        ("https://hooks.example.org@evil.example/x", "carries a user or password"),
        ("https://hooks.example.org.evil.example/x", "is not among"),
        ("https://evil.example/hooks.example.org", "is not among"),
        ("https://evil.example#@hooks.example.org/", "is not among"),
        ("https://evil.example\\@hooks.example.org/", "carries a user or password|is not among"),
        ("https://hooks.example.org:8443/x", None),
        ("https://HOOKS.example.org./x", None),
    ],
)
def test_addresses(url: str, why: str | None) -> None:
    if why is None:
        assert webhook.where(url).host == "hooks.example.org"
        return
    with pytest.raises(PublishRefused, match=why) as refused:
        webhook.publish(part_to(url), tools("hooks.example.org"))
    assert "secret" not in str(refused.value)


def test_nobody_can_look_whether_it_arrived() -> None:
    assert webhook.find(part_to("https://hooks.example.org/"), tools()).status == "unknown"
    assert not webhook.UNDOABLE


def test_words_show_the_host_and_never_the_path() -> None:
    payload = Draft("webhook", f"https://hooks.Example.org/{SECRET}", "t", "b").payload()
    assert webhook.words(payload) == "sends to hooks.example.org"
    assert webhook.becomes(payload) == (
        "exactly the text between the lines is sent to hooks.example.org. This cannot be undone"
    )
    odd = Draft("webhook", f"javascript:{SECRET}", "t", "b").payload()
    assert webhook.words(odd) == "sends to no address"


@pytest.mark.parametrize("when", ["before", "after"])
def test_e12_it_arrives_once_at_most_when_its_sender_is_killed(server: FeedServer, when: str) -> None:
    server.put("/hook", b"ok")
    url = server.url("hook")
    code = (
        "import os, signal, sys\n"
        "from tests.publishers.test_webhook import part_to, tools, webhook\n"
        "if sys.argv[2] == 'after': webhook.publish(part_to(sys.argv[1]), tools('127.0.0.1'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(HERE / "src"), str(HERE)])}
    child = subprocess.run((sys.executable, "-c", code, url, when), check=False, cwd=HERE, env=environ)
    assert child.returncode == -signal.SIGKILL
    for _ in range(2):
        assert settle(part_to(url), tools("127.0.0.1")) == ""
    assert server.count("/hook") == (when == "after")
