"""`tick --remote URL`: what it costs the remote, who it says it is, and which URLs and tokens it takes."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.terminal import HELLO, LATER, MONDAY, NOON, Team
from tests.git_server import bare, count_pushes, watched

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.git_server import Server

TOKEN = "github_pat_11ABCDEFG0abcdefghij"
ACTIONS = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "acme/housework",
    "GITHUB_RUN_ID": "4711",
    "GITHUB_RUN_ATTEMPT": "2",
    "RUNNER_ENVIRONMENT": "github-hosted",
}


class Site:
    """A remote state, a team, and a count of pushes."""

    def __init__(self, place: Path, url: str, server: Server | None = None) -> None:
        self.place, self.url, self.server = place, url, server
        self.remote = place / "state.git"
        self.log = count_pushes(self.remote)
        self.team = Team(place / "ann")

    def tick(self, now: str, *words: str, **environ: str) -> str:
        """Tick to the end and return what it says."""
        return self.team.hz("tick", "--now", now, "--remote", self.url, *words, environ=environ).out

    def pushes(self) -> list[str]:
        """The refs of each push since the last question."""
        lines = self.log.read_text().splitlines()
        self.log.write_text("")
        return lines

    def state(self, path: str) -> Any:
        """A document of the branch."""
        return json.loads(self.git("show", f"hz-state:{path}"))

    def git(self, *words: str) -> str:
        command = ("git", f"--git-dir={self.remote}", *words)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=["file", "http"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    remote = bare(tmp_path / "state.git")
    if request.param == "file":
        yield Site(tmp_path, remote.as_uri())
        return
    with watched(tmp_path) as server:
        yield Site(tmp_path, f"{server.url}/state.git", server)


@pytest.fixture
def far(tmp_path: Path) -> Iterator[tuple[Site, Server]]:
    bare(tmp_path / "state.git")
    with watched(tmp_path) as server:
        yield Site(tmp_path, f"{server.url}/state.git", server), server


def test_a_tick_pushes_three_times_at_most_however_many_jobs_and_an_idle_one_never(site: Site) -> None:
    """Twelve jobs that are due, asked for, and publish."""
    site.team.write(".hz/hz.yaml", "limits: {drafts_per_tick: 20}\n")
    for number in range(12):
        site.team.job(f"job-{number:02}", HELLO.replace("Hello", f"Hello {number}"))
    site.tick(NOON)
    site.pushes()
    for _ in range(12):
        site.team.tick_box("run")
    site.tick(MONDAY)
    pushed = site.pushes()
    assert 1 <= len(pushed) <= 3, pushed
    assert not site.git("ls-tree", "-r", "--name-only", "hz-state", "wakes/").split()
    for path in sorted((site.team.local / "inbox").glob("p-*.md")):
        site.team.tick_box("approve", f"inbox/{path.name}")
    for _ in range(3):
        site.team.tick_box("run")
    site.tick(LATER)
    pushed = site.pushes()
    assert 1 <= len(pushed) <= 3, pushed
    assert len(site.team.out) >= 12
    site.tick(LATER)
    site.pushes()
    site.tick(LATER)
    assert site.pushes() == []


def test_an_idle_tick_is_two_requests_and_a_cold_one_five(far: tuple[Site, Server]) -> None:
    site, server = far
    site.team.job("hello")
    site.tick(NOON)
    site.tick(NOON)
    server.since()
    assert "Nothing due" in site.tick(NOON)
    assert [one.method for one in server.since()] == ["GET", "POST"]
    other = Team(site.place / "ben")
    other.job("hello")
    other.tick(NOON, "--remote", site.url)
    assert len(server.since()) == 5


def test_a_token_of_the_environment_opens_the_remote_and_is_shown_to_nobody(
    far: tuple[Site, Server], nobodys_home: Path
) -> None:
    site, server = far
    site.team.job("hello")
    server.demanded = f"Basic {b64encode(f'x-access-token:{TOKEN}'.encode()).decode()}"
    refused = site.team.hz("tick", "--now", NOON, "--remote", site.url, code=4)
    assert "put a token that may read and write it into HZ_TOKEN" in refused.said
    server.demanded += "x"
    wrong = site.team.hz("tick", "--now", NOON, "--remote", site.url, code=4, environ={"HZ_TOKEN": TOKEN})
    server.demanded = server.demanded[:-1]
    told = [site.tick(now, HZ_TOKEN=TOKEN) for now in (NOON, MONDAY)]
    server.since()
    told += [site.tick(LATER, GITHUB_TOKEN=TOKEN, GITHUB_SERVER_URL=server.url), wrong.err]
    assert {one.authorizations for one in server.since()} == {(server.demanded,)}
    files = (*site.place.rglob("*"), *nobodys_home.rglob("*"))
    everything = [path.read_text(errors="replace") for path in files if path.is_file()]
    assert list(nobodys_home.glob(".cache/hz-team/*/state.git/HEAD"))
    assert not any(TOKEN in text or server.demanded[6:] in text for text in (*told, *everything))


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("https://x:hunter2@github.com/a/b.git", "put the token into HZ_TOKEN"),
        ("ext::sh -c id", "no Git URL"),
        ("git://github.com/a/b.git", "reached by https, http, ssh or as a file"),
        ("acme/housework", "--now with a state on another host"),
    ],
)
@pytest.mark.parametrize("place", ["option", "file"])
def test_urls_that_are_refused(tmp_path: Path, url: str, says: str, place: str) -> None:
    team = Team(tmp_path)
    team.job("hello")
    if place == "file":
        team.write(".hz/hz.yaml", f"state: {{repository: {json.dumps(url)}}}\n")
    words = ("--remote", url) if place == "option" else ("--remote",)
    refused = team.hz("tick", "--now", NOON, *words, code=2)
    assert says in refused.said
    assert "hunter2" not in refused.err


def test_a_run_of_actions_says_so(site: Site) -> None:
    temporary = site.place / "temp"
    environ = {**ACTIONS, "RUNNER_TEMP": str(temporary)}
    site.team.job("hello")
    site.tick(NOON, **environ)
    site.tick(MONDAY, **environ)
    assert site.state("ledger.json")["repository"] == "acme/housework"
    receipt = site.team.hz("receipts", "list", "--lines", "1", "--json", "--remote", site.url).json[0]
    assert {name: receipt["runner"][name] for name in ("kind", "who", "host", "run")} == {
        "kind": "actions",
        "who": "actions",
        "host": "actions",
        "run": "4711/2",
    }
    held = site.git("log", "--format=%B", "refs/hz/lease/job/hello")
    assert "run 4711 attempt 2" in held
    assert list((temporary / "hz-team").glob("*/state.git/HEAD"))


def test_a_self_hosted_run_is_not_known_by_its_end(site: Site) -> None:
    """Its machine goes on after the run has ended: nobody takes its lease early."""
    for hosted in ("self-hosted", "github-hosted"):
        environ = {**ACTIONS, "RUNNER_ENVIRONMENT": hosted, "RUNNER_TEMP": str(site.place / "temp")}
        site.team.job("hello")
        site.tick(NOON if hosted == "self-hosted" else LATER, **environ)
        if hosted == "self-hosted":
            site.tick(MONDAY, **environ)
            notes = site.git("log", "--format=%B", "refs/hz/lease/job/hello").split("\n")
            said = [json.loads(line) for line in notes if line.startswith("{")]
            assert {(note["run"], note["attempt"]) for note in said} == {("4711", 0)}, "asked about as long as it runs"


def test_a_clone_of_another_repository_does_nothing(site: Site) -> None:
    """The state came with the fork; its name says whose it is."""
    site.team.job("hello")
    for path, name in (("ann", "acme/housework"), ("fork", "mona/housework")):
        folder = site.place / path / ".git"
        folder.mkdir(parents=True)
        (folder / "config").write_text(f'[remote "origin"]\n\turl = https://github.com/{name}.git\n')
    site.tick(NOON)
    assert site.state("ledger.json")["repository"] == "acme/housework"
    fork = Team(site.place / "fork")
    fork.job("hello")
    site.pushes()
    fork.tick(MONDAY, "--remote", site.url)
    assert site.pushes() == []
    assert "due since" in site.tick(MONDAY)  # at home it is done


def test_a_receipt_saved_from_a_damaged_cache_is_told(site: Site, nobodys_home: Path) -> None:
    site.team.job("hello")
    site.tick(NOON)
    hook = site.remote / "hooks/update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    site.team.hz("tick", "--now", MONDAY, "--remote", site.url, code=4)
    hook.unlink()
    (cache,) = nobodys_home.glob(".cache/hz-team/*/state.git")
    (cache / "HEAD").write_text("")
    for path in cache.glob("view-*"):
        path.unlink()
    told = site.team.hz("tick", "--now", LATER, "--remote", site.url)
    assert "2 receipts that had not arrived there: kept in" in told.err
    assert len(list((cache.parent / "rescued").glob("*.json"))) == 2
