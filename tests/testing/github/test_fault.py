"""Mishaps on demand: what was done, what is said, and how often."""

from __future__ import annotations

import json
from http.client import BadStatusLine, RemoteDisconnected
from typing import TYPE_CHECKING

import pytest

from tests.testing.github.asking import HERE, NAME, Client

if TYPE_CHECKING:
    from hz_team.testing.github import GitHub, Person, Repository

ISSUES = f"{HERE}/issues"
NEW = {"title": "New", "body": "text"}


@pytest.fixture
def ask(github: GitHub, repo: Repository) -> Client:
    return Client(github, github.token("actions", NAME, permissions={"issues": "write"}))


@pytest.mark.parametrize(
    ("kind", "status", "made"),
    [
        ("before-500", 502, 0),
        ("after-500", 502, 1),
        ("forbidden", 403, 0),
        ("secondary", 403, 0),
        ("too-many", 429, 0),
        ("rate", 403, 0),
        ("not-found", 404, 0),
        ("null-body", 201, 1),
        ("null-user", 201, 1),
        ("oversize", 201, 1),
        ("not-stored", 201, 0),
        ("not-json", 201, 1),
    ],
)
def test_what_is_done_and_what_is_said(
    github: GitHub, repo: Repository, ask: Client, kind: str, status: int, made: int
) -> None:
    github.fault("POST", r"/issues$", kind)
    assert ask("POST", ISSUES, NEW).status == status
    assert len(repo.issues) == made
    assert ask("POST", ISSUES, NEW).status == 201
    assert len(repo.issues) == made + 1


@pytest.mark.parametrize(("kind", "made"), [("dropped", 0), ("after-dropped", 1)])
def test_a_connection_is_cut(github: GitHub, repo: Repository, ask: Client, kind: str, made: int) -> None:
    github.fault("POST", r"/issues$", kind)
    with pytest.raises((RemoteDisconnected, ConnectionError, BadStatusLine)):
        ask("POST", ISSUES, NEW)
    assert len(repo.issues) == made
    assert github.requests[-1].status == 0


def test_nothing_is_said_although_it_was_done(github: GitHub, repo: Repository, ask: Client) -> None:
    github.fault("POST", r"/issues$", "timeout")
    from socket import create_connection

    body = json.dumps(NEW).encode()
    head = f"POST /api/v3{ISSUES} HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nAuthorization: token {ask.token}\r\n"
    with create_connection(("127.0.0.1", int(github.url.rpartition(":")[2])), 5) as link:
        link.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        link.settimeout(0.3)
        with pytest.raises(TimeoutError):
            link.recv(1)
    assert [issue.title for issue in repo.issues] == ["New"]


def test_limits_say_when(github: GitHub, ask: Client) -> None:
    github.now = lambda: 1_790_000_000
    for kind in ("rate", "secondary", "too-many"):
        github.fault("GET", "issues", kind)
    rate, secondary, many = (ask("GET", ISSUES) for _ in range(3))
    assert (rate.headers["x-ratelimit-remaining"], rate.headers["x-ratelimit-reset"]) == ("0", "1790003300")
    assert "retry-after" not in secondary.headers
    assert "secondary rate limit" in secondary.data["message"]
    assert secondary.headers["x-ratelimit-remaining"] != "0"
    assert many.headers["retry-after"] == "90"


def test_a_token_dies_for_good(github: GitHub, repo: Repository, ask: Client) -> None:
    github.fault("POST", r"/comments$", "dead-token")
    assert ask("POST", ISSUES, NEW).status == 201
    assert ask("POST", f"{ISSUES}/1/comments", {"body": "x"}).status == 401
    assert ask("GET", ISSUES).status == 401
    assert ask("GET", ISSUES).data["message"] == "Bad credentials"
    assert repo.issues[1].comments == []


def test_lists_lag_for_some_requests(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    mona.opens(repo, "Old")
    github.fault("GET", r"/issues$", "lag", times=2)
    ask("POST", ISSUES, NEW)
    assert ask("GET", f"{ISSUES}/2").status == 200
    seen = [[one["title"] for one in ask("GET", ISSUES).data] for _ in range(3)]
    assert seen == [["Old"], ["Old"], ["New", "Old"]]


def test_bodies_and_users_are_null(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    mona.comments(mona.opens(repo, "One", "text"), "words")
    github.fault("GET", "issues", "null-body", times=3)
    assert ask("GET", f"{ISSUES}/1").data["body"] is None
    assert [one["body"] for one in ask("GET", ISSUES).data] == [None]
    assert [one["body"] for one in ask("GET", f"{ISSUES}/comments").data] == [None]
    github.fault("GET", "issues", "null-user")
    assert ask("GET", f"{ISSUES}/1").data["user"] is None
    assert ask("GET", f"{ISSUES}/1").data["body"] == "text"


def test_an_answer_is_too_large(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    github.fault("GET", "issues", "oversize")
    got = ask("GET", ISSUES)
    assert (len(got.body) > 8_000_000, got.data) == (True, [])


def test_what_is_not_stored_is_answered_as_if(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    issue = mona.opens(repo, "One", "text")
    events = len(github.events)
    github.fault("PATCH", r"/issues/1$", "not-stored")
    assert ask("PATCH", f"{ISSUES}/1", {"body": "new"}).data["body"] == "new"
    assert (issue.body, repo.issues[1], len(issue.edits), len(github.events)) == ("text", issue, 1, events)
    assert ask("GET", f"{ISSUES}/1").data["body"] == "text"


def test_a_ref_that_is_not_stored_stays(github: GitHub, repo: Repository, mona: Person) -> None:
    first = mona.pushes(repo, {"a": "1"})
    second = mona.pushes(repo, {"a": "2"})
    ask = Client(github, github.token("app", NAME))
    github.fault("PATCH", r"/git/refs/heads/main$", "not-stored")
    moved = ask("PATCH", f"{HERE}/git/refs/heads/main", {"sha": first, "force": True})
    assert (moved.status, repo.bare.branch("main")) == (200, second)
    assert ask("GET", f"{HERE}/git/ref/heads/main").data["object"]["sha"] == second


def test_faults_can_last_and_end(github: GitHub, ask: Client) -> None:
    github.fault("*", "issues", "before-500", times=0)
    assert [ask("GET", ISSUES).status for _ in range(4)] == [502] * 4
    github.calm()
    assert ask("GET", ISSUES).status == 200
    with pytest.raises(ValueError, match="use one of before-500"):
        github.fault("GET", "x", "explode")


def test_graphql_and_git_have_faults_too(github: GitHub, repo: Repository, ask: Client) -> None:
    github.fault("POST", r"graphql\?operation=DiscussionCategories", "before-500")
    assert ask.query("Discussions", {})["errors"]
    assert ask.query("DiscussionCategories", {})["message"] == "Server Error"
    github.fault("GET", r"housework\.git/info/refs", "before-500")
    place = f"/{NAME}.git/info/refs?service=git-upload-pack"
    wide = Client(github, github.token("classic", who="mona"))
    github.person("mona", "write", repo=NAME)
    assert [wide.raw("GET", place, None, {}).status for _ in range(2)] == [502, 200]
