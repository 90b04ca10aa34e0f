"""Who runs, and for which repository: a workflow run of Actions, or a user of this machine."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from hz_team.model.receipt import Runner


class Hosted(NamedTuple):
    """A run on a machine of GitHub's: when it has ended, so has every process of it."""

    run: str = ""
    """"" on any other machine."""
    attempt: int = 0
    """0: the machine is not GitHub's, and may go on when the run has ended."""


def on_actions() -> bool:
    """Whether GitHub Actions runs this."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def runner_of() -> Runner:
    """Return who executes: the workflow run, or this user; the machine's name only as a short hash."""
    from hz_team import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    if on_actions():
        run = f"{os.environ.get('GITHUB_RUN_ID', '')}/{os.environ.get('GITHUB_RUN_ATTEMPT', '')}".strip("/")
        return Runner("actions", "actions", "actions", run=run, hz=__version__, python=python)
    from hashlib import sha256

    from hz_team.adapters.local import local_user

    host = sha256(os.uname().nodename.encode()).hexdigest()[:12]
    return Runner("local", local_user(), host, hz=__version__, python=python)


def holder_of(runner: Runner) -> str:
    """Return how a lease names this process: by the attempt of its run, or by user, machine and process."""
    run, _, attempt = runner.run.partition("/")
    return f"run {run} attempt {attempt or '1'}" if run else f"{runner.who}@{runner.host}/{os.getpid()}"


def hosted() -> Hosted:
    """Return the run whose end would tell that this process has ended."""
    if not on_actions():
        return Hosted()
    theirs = os.environ.get("RUNNER_ENVIRONMENT") == "github-hosted"
    attempt = os.environ.get("GITHUB_RUN_ATTEMPT", "") if theirs else ""
    return Hosted(os.environ.get("GITHUB_RUN_ID", ""), int(attempt) if attempt.isdigit() else 0)


def repository_of(root: str, url: str) -> str:
    """Return owner/name of the team's repository, "local" if it is not on GitHub; `url`: where its state lives.

    It is what Actions says, else where the clone around the root came from, else where the state lives.
    """
    if on_actions() and (name := os.environ.get("GITHUB_REPOSITORY", "")):
        return name
    from hz_team.adapters import nearby, remote

    names = (remote.name_of(place, os.environ) for place in (nearby.origin_of(os.path.abspath(root)), url))
    return next((name for name in names if name), "local")
