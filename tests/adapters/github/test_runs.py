"""What became of a run that holds a lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team.adapters.github.address import address_of
from hz_team.adapters.github.api import GitHubApi
from hz_team.adapters.github.runs import Runs
from hz_team.adapters.http import HttpClient
from hz_team.testing.feedserver import Answer, FeedServer
from hz_team.testing.github import GitHub

if TYPE_CHECKING:
    from collections.abc import Iterator

REPO = "acme/housework"
UNKNOWN = ("unknown", 0)


@pytest.fixture
def github() -> Iterator[GitHub]:
    with GitHub() as made:
        made.repository(REPO)
        yield made


def runs(github: GitHub | FeedServer, token: str = "") -> Runs:
    url = github.url if isinstance(github, GitHub) else github.url("").rstrip("/")
    return Runs(GitHubApi(HttpClient({}), address_of({"GITHUB_SERVER_URL": url}), token, REPO))


@pytest.mark.parametrize(("status", "told"), [("in_progress", "running"), ("queued", "queued")])
def test_a_run_that_goes_on(github: GitHub, status: str, told: str) -> None:
    run = github.run(REPO, status=status)
    assert runs(github, github.token("actions", REPO)).state(str(run.id), 1) == (told, 0)


def test_a_run_that_ended_and_when(github: GitHub) -> None:
    github.now = lambda: 1_796_000_000.0
    run = github.run(REPO, status="completed")
    assert runs(github, github.token("actions", REPO)).state(str(run.id), 1) == ("ended", 1_796_000_000)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"status": "completed", "updated_at": "2026-12-01T08:00:00Z"}', ("ended", 1_796_112_000)),
        (b'{"status": "completed", "updated_at": null}', ("ended", 0)),
        (b'{"status": "completed", "updated_at": "soon"}', ("ended", 0)),
        (b'{"status": "requested"}', ("queued", 0)),
        (b'{"status": "waiting"}', ("queued", 0)),
        (b'{"status": "pending"}', ("queued", 0)),
        (b'{"status": "something new"}', UNKNOWN),
        (b'{"status": null}', UNKNOWN),
        (b"{}", UNKNOWN),
        (b"[]", UNKNOWN),
        (b"null", UNKNOWN),
        (b"<html>", UNKNOWN),
    ],
)
def test_every_status(body: bytes, told: tuple[str, int]) -> None:
    with FeedServer() as server:
        server.script(f"/api/v3/repos/{REPO}/actions/runs/31/attempts/2", Answer(body=body))
        assert runs(server).state("31", 2) == told


@pytest.mark.parametrize(("run", "attempt"), [("x", 1), ("", 1), ("31", 0), ("²", 1), ("3/../1", 1), ("-1", 1)])
def test_what_is_no_run_is_not_asked(github: GitHub, run: str, attempt: int) -> None:
    assert runs(github).state(run, attempt) == UNKNOWN
    assert github.count() == 0


@pytest.mark.parametrize("kind", ["before-500", "forbidden", "too-many", "dropped", "dead-token", "not-found"])
def test_what_cannot_be_asked_is_unknown(github: GitHub, kind: str) -> None:
    run = github.run(REPO, status="completed")
    github.fault("GET", "/actions/", kind)
    assert runs(github, github.token("actions", REPO)).state(str(run.id), 1) == UNKNOWN
    assert github.count() == 1


def test_a_token_that_may_not_read_actions(github: GitHub) -> None:
    run = github.run(REPO, status="completed")
    assert runs(github, github.token("actions", REPO, permissions={"issues": "write"})).state(str(run.id), 1) == UNKNOWN
