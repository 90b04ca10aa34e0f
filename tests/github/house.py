"""A team on a GitHub on loopback: every tick is a process of its own, as a run of Actions, with a token of its own."""

from __future__ import annotations

import calendar
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hz_team.testing.github import GitHub
from tests.commands.terminal import Run

if TYPE_CHECKING:
    from hz_team.testing.github import Issue, Person, Repository

REPO = "acme/housework"
RIGHTS = {"issues": "write", "contents": "write", "pull_requests": "write", "actions": "read", "metadata": "read"}
NOON, MONDAY, LATER, NEXT = (
    "2026-11-29T12:00:00Z",
    "2026-11-30T09:01:00Z",
    "2026-11-30T09:05:00Z",
    "2026-12-07T09:01:00Z",
)
DIGEST = """\
name: Weekly digest
on: {cron: "0 9 * * MON"}
steps:
  - run: printf '### Digest\\n\\n- one\\n' > "$HZ_DRAFT"
publish: {issue: {title: "Digest, week {{ slot.week }}", labels: [newsletter]}}
"""


class House:
    """The repository, its people, and its runs."""

    def __init__(self, github: GitHub, place: Path, **jobs: str) -> None:
        self.github, self.root = github, place / "checkout"
        self.repo: Repository = github.repository(REPO)
        self.runs = 700
        self.place = place
        self.rights = dict(RIGHTS)
        for name, text in (jobs or {"weekly_digest": DIGEST}).items():
            self.write(f".hz/jobs/{name.replace('_', '-')}.yaml", text)
        self.at(NOON)

    def write(self, name: str, text: str) -> None:
        """Write a file of the checkout."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def at(self, when: str) -> None:
        """Let it be that time everywhere."""
        seconds = calendar.timegm(time.strptime(when, "%Y-%m-%dT%H:%M:%SZ"))
        self.github.now = lambda: float(seconds)
        self.now = when

    def person(self, login: str = "mona", role: str = "write") -> Person:
        return self.github.person(login, role, repo=REPO)

    def hz(self, *words: str, code: int = 0, **environ: str) -> Run:
        """Run a command as the next run of the workflow."""
        self.runs += 1
        with tempfile.TemporaryDirectory(dir=self.place) as folder:
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "RUNNER_TEMP": folder,
                "GITHUB_ACTIONS": "true",
                "GITHUB_SERVER_URL": self.github.url,
                "GITHUB_REPOSITORY": REPO,
                "GITHUB_RUN_ID": str(self.runs),
                "GITHUB_RUN_ATTEMPT": "1",
                "RUNNER_ENVIRONMENT": "github-hosted",
                "GITHUB_TOKEN": self.github.token("actions", REPO, permissions=self.rights),
                **environ,
            }
            command = (sys.executable, "-m", "hz_team", *words, "--root", str(self.root), "--now", self.now)
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == code, done.stdout + done.stderr
        return Run(done.returncode, done.stdout, done.stderr)

    def tick(self, when: str, *words: str, code: int = 0) -> Any:
        """Tick at a time; return its report."""
        self.at(when)
        self.github.forget()
        return self.hz("tick", "--json", *words, code=code).json

    def asked(self) -> int:
        """How many requests the API had since the last tick began."""
        return sum(".git/" not in seen.path for seen in self.github.requests)

    def writes(self) -> list[str]:
        """What was written by the API since the last tick began."""
        changing = (seen for seen in self.github.requests if seen.method in ("POST", "PATCH", "PUT", "DELETE"))
        return [
            f"{one.method} {one.path.rpartition('/')[2]}"
            for one in changing
            if "/graphql" not in one.path and ".git/" not in one.path
        ]

    @property
    def board(self) -> Issue:
        """The dashboard."""
        return next(issue for issue in self.repo.issues if "hz:dashboard" in issue.text)

    @property
    def pages(self) -> list[Issue]:
        """The pages of open decisions."""
        return [issue for issue in self.repo.issues if "hz:proposal" in issue.text and issue.state == "open"]

    @property
    def digests(self) -> list[Issue]:
        """What was published."""
        return [issue for issue in self.repo.issues if issue.text.startswith("<!-- hz:key")]

    def receipts(self, *wanted: str) -> list[dict[str, Any]]:
        """Receipts of these dispositions (none: all), oldest first; the ledger verifies."""
        assert "all good" in self.hz("receipts", "verify").out
        found = self.hz("receipts", "list", "--lines", "0", "--json").json
        return [one for one in reversed(found) if not wanted or one["disposition"] in wanted]
