"""Several machines tick against one remote state: real processes, one repository, and each slot's work is done once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.terminal import HELLO, LATER, MONDAY, NOON, Team
from tests.git_server import bare, count_pushes, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLOW = HELLO.replace("echo", "sleep 1; echo")
AFTER_EXPIRY = "2026-11-30T10:18:00Z"
"""One default timeout, two intervals and the margin after Monday's tick, and a little more."""


class Machines:
    """Machines with the same team files, and the state they share."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.remote = bare(place / "state.git")
        self.url = self.remote.as_uri()
        self.log = count_pushes(self.remote)

    def machine(self, name: str, **jobs: str) -> Team:
        """A machine with a clone of the team's files."""
        team = Team(self.place / name)
        for job, text in jobs.items():
            team.job(job, text)
        return team

    def start(self, team: Team, *words: str) -> subprocess.Popen[str]:
        """Start a command on a machine."""
        command = (sys.executable, "-m", "hz_team", *words, "--root", str(team.root), "--remote", self.url)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def tick(self, team: Team, now: str, *words: str) -> str:
        """Tick to the end and return what it says."""
        return team.tick(now, "--remote", self.url, *words).out

    def receipts(self, team: Team) -> list[dict[str, Any]]:
        """Return all receipts; the ledger verifies."""
        assert "all good" in team.hz("receipts", "verify", "--remote", self.url).out
        found = team.hz("receipts", "list", "--lines", "0", "--json", "--remote", self.url).json
        return list(found)

    def pushes(self) -> int:
        """How many pushes there were since the last question."""
        count = len(self.log.read_text().splitlines())
        self.log.write_text("")
        return count

    def held(self) -> dict[str, Any]:
        """What the lease of `hello` says; {} without one."""
        ref = "refs/hz/lease/job/hello"
        done = subprocess.run(
            ("git", "-C", str(self.remote), "log", "-1", "--format=%B", ref),
            capture_output=True,
            text=True,
            check=False,
        )
        return dict(json.loads(done.stdout.strip().splitlines()[-1])) if done.returncode == 0 else {}


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


@pytest.fixture
def running() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes of a test; none outlives it."""
    found: list[subprocess.Popen[str]] = []
    yield found
    for process in found:
        process.kill()
        process.communicate()


def test_two_that_race_for_a_slot_record_it_once(machines: Machines, running: list[subprocess.Popen[str]]) -> None:
    teams = [machines.machine(name, hello=SLOW) for name in ("ann", "ben")]
    machines.tick(teams[0], NOON)
    running += [machines.start(team, "tick", "--now", MONDAY) for team in teams]
    said = [process.communicate(timeout=100) for process in running]
    assert {process.returncode for process in running} <= {0, 75}, said
    assert 0 in {process.returncode for process in running}
    found = machines.receipts(teams[0])
    assert sorted(one["disposition"] for one in found) == ["awaiting_approval", "rendered"]
    assert machines.held()["mode"] == "free"


def test_what_a_killed_holder_held_is_taken_over_when_it_ran_out(
    machines: Machines, running: list[subprocess.Popen[str]]
) -> None:
    ann, ben = (
        machines.machine("ann", hello=HELLO.replace("echo", "sleep 60; echo")),
        machines.machine("ben", hello=HELLO),
    )
    machines.tick(ann, NOON)
    running.append(machines.start(ann, "tick", "--now", MONDAY))
    until = time.monotonic() + 60
    while not machines.held():
        assert time.monotonic() < until
        time.sleep(0.05)
    running[0].send_signal(signal.SIGKILL)
    running[0].communicate()
    old = machines.held()
    machines.tick(ben, LATER)
    assert machines.receipts(ben) == []
    assert machines.held() == old
    machines.tick(ben, AFTER_EXPIRY)
    found = machines.receipts(ben)
    assert sorted(one["disposition"] for one in found) == ["awaiting_approval", "rendered"]
    assert machines.held()["generation"] == old["generation"] + 1


def test_a_tick_pushes_three_times_at_most_and_an_idle_one_never(machines: Machines) -> None:
    jobs = {name: HELLO.replace("Hello", name) for name in ("hello", "second", "third", "fourth")}
    ann = machines.machine("ann", **jobs)
    machines.tick(ann, NOON)
    machines.pushes()
    machines.tick(ann, MONDAY)
    assert machines.pushes() == 2  # claim four jobs; record and give back
    waiting = ann.hz("inbox", "--json", "--remote", machines.url).json
    assert len(waiting) == 4
    for proposal in waiting:
        ann.tick_box("approve", f"inbox/{proposal['id']}.md")
    machines.tick(ann, LATER)
    assert machines.pushes() == 3  # claim; record the yes; record what left, and give back
    assert len(ann.out) == 4
    machines.tick(ann, LATER)
    assert machines.pushes() == 0
    assert len(machines.receipts(ann)) == 16


def test_what_was_asked_for_is_recorded_with_the_claim(machines: Machines) -> None:
    ann = machines.machine("ann", hello=HELLO)
    machines.tick(ann, NOON)
    machines.pushes()
    assert ann.hz("run", "hello", "--remote", machines.url).code == 0
    assert machines.pushes() == 2  # claim, with what was asked for; record and give back
    log = ("git", "-C", str(machines.remote), "log", "--format=%s", "hz-state")
    said = subprocess.run(log, check=True, capture_output=True, text=True).stdout.splitlines()
    assert said[1] == "asked for: hello"


def test_two_that_were_told_yes_publish_it_once(machines: Machines, running: list[subprocess.Popen[str]]) -> None:
    """E12: two ticks at once, one post."""
    teams = [machines.machine(name, hello=HELLO) for name in ("ann", "ben")]
    machines.tick(teams[0], NOON)
    machines.tick(teams[0], MONDAY)
    machines.tick(teams[1], MONDAY)
    for team in teams:
        team.tick_box()
    running += [machines.start(team, "tick", "--now", LATER) for team in teams]
    said = [process.communicate(timeout=100) for process in running]
    assert {process.returncode for process in running} <= {0, 75}, said
    assert [name for team in teams for name in team.out] == ["issue-1.md"], said
    found = [one["disposition"] for one in machines.receipts(teams[0])]
    assert sorted(found) == ["approved", "awaiting_approval", "published", "rendered"]


def test_three_that_append_at_once_all_come_through(machines: Machines, running: list[subprocess.Popen[str]]) -> None:
    """D01, over smart HTTP."""
    jobs = dict.fromkeys(("ann", "ben", "cas"), SLOW)
    teams = [machines.machine(name, **jobs) for name in jobs]
    machines.tick(teams[0], NOON)
    with served(machines.place) as url:
        remote = machines.url
        machines.url = f"{url}/state.git"
        running += [machines.start(team, "run", team.root.name) for team in teams]
        said = [process.communicate(timeout=110) for process in running]
        assert [process.returncode for process in running] == [0, 0, 0], said
        machines.url = remote
    rendered = [one["job"] for one in machines.receipts(teams[0]) if one["disposition"] == "rendered"]
    assert sorted(rendered) == ["ann", "ben", "cas"]


def test_what_another_tick_notes_at_a_job_that_is_being_drafted_costs_nobody_a_draft(
    machines: Machines, running: list[subprocess.Popen[str]]
) -> None:
    """The job is new: every tick sees its clock for the first time, and only one holds its lease."""
    ann = machines.machine("ann", hello=HELLO.replace("echo", "sleep 3; echo"))
    ben = machines.machine("ben", hello=HELLO, bye=HELLO.replace("Hello", "Bye"))
    running.append(machines.start(ann, "run", "hello", "--now", NOON))
    until = time.monotonic() + 60
    while machines.held().get("mode") != "full":
        assert time.monotonic() < until
        time.sleep(0.05)
    machines.tick(ben, NOON)
    said, wrong = running[0].communicate(timeout=60)
    assert running[0].returncode == 0, wrong
    assert "2 receipts" in said
    assert [one["job"] for one in machines.receipts(ben)] == ["hello", "hello"]


def test_a_job_that_another_tick_works_on_is_said(machines: Machines, running: list[subprocess.Popen[str]]) -> None:
    ann, ben = (machines.machine(name, hello=HELLO.replace("echo", "sleep 3; echo")) for name in ("ann", "ben"))
    machines.tick(ann, NOON)
    machines.tick(ben, NOON)
    running.append(machines.start(ann, "tick", "--now", MONDAY))
    until = time.monotonic() + 60
    while machines.held().get("mode") != "full":
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "hello waits (another tick works on it)" in machines.tick(ben, MONDAY)
    running[0].communicate(timeout=60)
