"""`hz-team demo --github`: the same story on a GitHub on loopback, where people click and comment.

Every tick is a process of its own with a fresh machine and a token of its own, as a run of Actions.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from hz_team.errors import HzError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hz_team.testing.github import GitHub, Issue, Person, Repository

REPOSITORY = "acme/housework"
PERMISSIONS = {"contents": "write", "issues": "write", "pull_requests": "write", "actions": "read"}
"""What the pasted workflow gives the built-in token."""
TIMEOUT = 120


class GitHubDemoFailed(HzError):
    """The story did not go as told."""

    code = 3


class Told(NamedTuple):
    """One tick, in numbers."""

    requests: int
    writes: int


class Stage:
    """The repository, the people, and the runs."""

    def __init__(self, github: GitHub, root: str, files: Iterable[tuple[str, str]], start: int) -> None:
        """`files`: of the checkout, path and content; `start`: when the story begins."""
        self.github, self.root, self.now, self.runs = github, root, start, 0
        github.now = lambda: float(self.now)
        self.repository: Repository = github.repository(REPOSITORY)
        self.mona: Person = github.person("mona", "maintain", repo=REPOSITORY)
        self.hubot: Person = github.person("hubot", "write", repo=REPOSITORY)
        for name, text in files:
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)

    def tick(self, title: str, after: int) -> Told:
        """Let a run tick `after` seconds later; print what it says and what it asked."""
        self.now += after
        self.runs += 1
        self.github.forget()
        print(f"{title:<9}a run of Actions on a fresh machine")
        with tempfile.TemporaryDirectory(prefix="hz-demo-") as folder:
            print(self._run("tick", folder), end="")
        told = self._told()
        print(f"  asked    {told.requests} requests, {told.writes} of them writes\n")
        return told

    def verify(self) -> str:
        """Return what `receipts verify` says."""
        with tempfile.TemporaryDirectory(prefix="hz-demo-") as folder:
            return self._run("receipts verify", folder).strip()

    def issue(self, marker: str) -> Issue:
        """Return the open issue that carries a marker of ours."""
        for issue in self.repository.issues:
            if marker in issue.text and issue.state == "open":
                return issue
        raise GitHubDemoFailed(f"no open issue has {marker}; the demo has a bug")

    def _run(self, words: str, folder: str) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now))
        command = [sys.executable, "-m", "hz_team", *words.split(), "--root", self.root, "--now", at]
        environ = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ},
            "HOME": folder,
            "RUNNER_TEMP": folder,
            "RUNNER_ENVIRONMENT": "github-hosted",
            "GITHUB_ACTIONS": "true",
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": str(700 + self.runs),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_TOKEN": self.github.token("actions", REPOSITORY, permissions=PERMISSIONS),
        }
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=TIMEOUT)
        if done.returncode:
            raise GitHubDemoFailed(f"`hz-team {words}` ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def _told(self) -> Told:
        asked = [seen for seen in self.github.requests if ".git/" not in seen.path]
        questions = ("GET", "HEAD")
        writes = [one for one in asked if one.method not in questions and "operation=BodyEdits" not in one.path]
        return Told(len(asked), len(writes))


def play(root: str, files: Iterable[tuple[str, str]], start: int) -> None:
    """Play the story and print it. Raises GitHubDemoFailed where it does not go as told."""
    from hz_team.testing.github import GitHub

    with GitHub() as github:
        stage = Stage(github, root, files, start)
        print(f"A GitHub is served on 127.0.0.1; {REPOSITORY} has two people and no workflow file yet\n")
        stage.tick("tick 1", 0)
        page = stage.issue("<!-- hz:proposal")
        board = stage.issue("<!-- hz:dashboard")
        print(f"mona ticks the box on the dashboard, issue #{board.number}, in her browser\n")
        stage.mona.ticks(board, "approve")
        stage.tick("tick 2", 240)
        print(f"published: #{stage.issue('<!-- hz:key').number}; the decision, #{page.number}, closed itself\n")
        print(f"hubot, on a phone, comments on #{board.number}: /hz run weekly-digest\n")
        stage.hubot.comments(board, "/hz run weekly-digest")
        stage.tick("tick 3", 3600)
        again = stage.issue("<!-- hz:proposal")
        print(f"and on #{again.number}: /hz reject one a week is enough\n")
        stage.hubot.comments(again, "/hz reject one a week is enough")
        stage.tick("tick 4", 240)
        quiet = stage.tick("tick 5", 1800)
        if quiet.writes:
            raise GitHubDemoFailed(f"an idle tick made {quiet.writes} writes; the demo has a bug")
        print(stage.verify())
