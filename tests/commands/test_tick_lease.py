"""Machines that share leases: who dies on the way out is waited for, and who lost a lease says what he had."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hz_team.moment import iso
from tests.commands.terminal import HELLO, LATER, MONDAY, NOON, Team
from tests.commands.test_shared_state import Machines

DRIVER = Path(__file__).parents[1] / "crash" / "driver.py"
SLOW = HELLO.replace("echo", "sleep 3; echo")
LEASE = "refs/hz/lease/job/hello"


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def dies_sending(team: Team, machines: Machines, now: str) -> None:
    """Tick, and die right before the first file of the outbox is made: the approval and the attempt are on record."""
    listing = str(machines.place / "moments")
    words = (sys.executable, str(DRIVER), "publish", "os.link", "1", listing, "--", "tick", "--now", now)
    done = subprocess.run(
        (*words, "--root", str(team.root), "--remote", machines.url), capture_output=True, check=False
    )
    assert done.returncode == -9, done.stdout + done.stderr


def test_what_a_killed_machine_may_still_send_is_waited_for_and_then_sent_once(machines: Machines) -> None:
    ann, ben = (machines.machine(name, hello=HELLO) for name in ("ann", "ben"))
    machines.tick(ann, NOON)
    machines.tick(ann, MONDAY)
    ann.tick_box()
    dies_sending(ann, machines, LATER)
    (waiting,) = ben.hz("inbox", "--json", "--remote", machines.url).json
    until, lease = waiting["attempted"]["until"], machines.held()
    assert (until, waiting["attempted"]["generation"]) == (lease["expires_at"], lease["generation"])

    machines.tick(ben, iso(until + 60))  # draws its pages
    machines.pushes()
    files = ben.contents()
    said = machines.tick(ben, iso(until + 119))
    assert f"{waiting['id']} waits until 30 Nov 10:22 UTC: an earlier run may still be sending it" in said
    assert (machines.pushes(), ben.contents()) == (0, files)

    machines.tick(ben, iso(until + 121))
    assert (ann.out, ben.out) == ([], ["issue-1.md"])
    assert machines.pushes() == 3  # claim; its own attempt; what left, and give back
    machines.tick(ben, iso(until + 200))
    machines.tick(ann, iso(until + 200))
    assert (ann.out, ben.out, machines.pushes()) == ([], ["issue-1.md"], 0)
    found = [one["disposition"] for one in machines.receipts(ben)]
    assert sorted(found) == ["approved", "awaiting_approval", "published", "rendered"]


def test_a_draft_whose_lease_was_lost_is_reported_and_not_recorded(machines: Machines) -> None:
    ann = machines.machine("ann", hello=SLOW)
    machines.tick(ann, NOON)
    process = machines.start(ann, "tick", "--now", MONDAY)
    try:
        until = time.monotonic() + 60
        while not machines.held():
            assert time.monotonic() < until
            time.sleep(0.05)
        git = ("git", "-C", str(machines.remote))
        moved = subprocess.run(
            (
                *git,
                "-c",
                "user.name=x",
                "-c",
                "user.email=x@example.org",
                "commit-tree",
                f"{LEASE}^{{tree}}",
                "-p",
                LEASE,
            ),
            input=machines_note(git),
            capture_output=True,
            check=True,
        )
        subprocess.run((*git, "update-ref", LEASE, moved.stdout.decode().strip()), check=True)
        out, err = process.communicate(timeout=100)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out) == (75, "")
    assert err.startswith("hz-team: the lease of hello is not ours any more")
    assert err.endswith('; drafted in vain: hello "Hello"\n')
    assert machines.receipts(ann) == []
    assert ann.waiting == []


def machines_note(git: tuple[str, ...]) -> bytes:
    """Return the message of the lease as it stands: another commit with the same words is still another's."""
    return subprocess.run((*git, "log", "-1", "--format=%B", LEASE), capture_output=True, check=True).stdout
