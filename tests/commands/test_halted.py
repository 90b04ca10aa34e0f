"""A tick that only looks: the ledger lost its tail, or the state came along with a fork."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.commands.terminal import HELLO, LATER, MONDAY, NEXT, NOON, Team

if TYPE_CHECKING:
    from pathlib import Path


def cut(team: Team, commits: int = 1) -> None:
    """Set the branch back by hand, as nobody should."""
    subprocess.run(
        ("git", "-C", str(team.local / "state.git"), "update-ref", "refs/heads/hz-state", f"hz-state~{commits}"),
        check=True,
    )


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """Something was published, and everything is on record."""
    made = Team(tmp_path / "team")
    made.job("hello")
    made.tick(NOON)
    made.tick(MONDAY)
    made.tick_box()
    made.tick(LATER)
    return made


def cold(team: Team) -> dict[str, str]:
    """Another machine: nothing is remembered."""
    return {"XDG_CACHE_HOME": str(team.root / "other-cache")}


def test_a_ledger_that_lost_its_tail_halts_every_tick_until_a_person_has_looked(team: Team) -> None:
    cut(team)
    before = team.contents()
    for now in (LATER, NEXT):
        done = team.hz("tick", "--now", now, code=4)
        assert done.out.startswith("Only looked: this machine vouches for 4 receipts (head ")
        assert "the ledger has 3." in done.out
        assert "`hz-team doctor --accept-head`" in done.out
        assert team.contents() == before


def test_whoever_removes_the_whole_folder_begins_anew(team: Team) -> None:
    shutil.rmtree(team.local)
    team.hz("plan", "--now", NEXT)
    team.tick(NEXT)
    team.tick("2026-12-14T09:01:00Z")
    assert [receipt["seq"] for receipt in team.receipts("rendered")] == [1]


def test_removing_the_state_alone_does_not(team: Team) -> None:
    shutil.rmtree(team.local / "state.git")
    assert "vouches for 4 receipts" in team.hz("tick", "--now", NEXT, code=4).out


def test_the_dashboard_vouches_for_it_on_a_machine_that_has_seen_nothing(team: Team) -> None:
    cut(team)
    before = team.contents()
    for _ in range(2):
        done = team.hz("tick", "--now", NEXT, code=4, environ=cold(team))
        assert done.out.startswith("Only looked: the dashboard vouches for 4 receipts (head ")
        shutil.rmtree(team.root / "other-cache")
        assert team.contents() == before


def test_another_history_is_found_though_it_is_as_long(team: Team) -> None:
    cut(team, 2)
    for page in (team.local / "DASHBOARD.md", *(team.local / "outbox").iterdir()):
        page.unlink()
    team.hz("run", "hello", "--now", "2026-11-30T10:00:00Z", environ=cold(team))
    name = team.hz("inbox", "--json", environ=cold(team)).json[0]["id"]
    team.hz("inbox", "approve", name, "--now", "2026-11-30T10:05:00Z", environ=cold(team))
    done = team.hz("tick", "--now", NEXT, code=4)
    assert "this machine" in done.out


@pytest.mark.parametrize("command", ["plan", "tick --dry-run", "run hello", "inbox reject {id}"])
def test_no_command_goes_on_from_a_cut_ledger(team: Team, command: str) -> None:
    team.tick(NEXT)
    command = command.format(id=team.waiting[0])
    team.job("other")
    team.hz("run", "other", "--now", NEXT)
    cut(team)
    before = team.contents()
    done = team.hz(*command.split(), "--now", NEXT, code=4)
    assert "Only looked: this machine vouches for 8 receipts" in done.out + done.err
    assert team.contents() == before


def test_programs_are_told_as_well(team: Team) -> None:
    cut(team)
    told = team.hz("tick", "--now", NEXT, "--json", code=4).json
    assert told["halted"].startswith("this machine vouches for 4 receipts")
    assert (told["orders"] == [], told["receipts"]) == (False, 3)


def test_in_a_fork_nothing_is_done(tmp_path: Path) -> None:
    state = tmp_path / "state.git"
    subprocess.run(("git", "init", "-q", "--bare", str(state)), check=True)
    home, fork = Team(tmp_path / "home"), Team(tmp_path / "fork")
    for team, name in ((home, "acme/housework"), (fork, "someone/housework")):
        team.job("hello", HELLO)
        subprocess.run(("git", "init", "-q", str(team.root)), check=True)
        subprocess.run(
            ("git", "-C", str(team.root), "remote", "add", "origin", f"https://github.com/{name}.git"), check=True
        )
    home.tick(NOON, "--remote", str(state))
    home.tick(MONDAY, "--remote", str(state))
    copied = tmp_path / "copied.git"
    shutil.copytree(state, copied)
    refs = subprocess.run(("git", "-C", str(copied), "show-ref"), check=True, capture_output=True).stdout
    done = fork.tick(NEXT, "--remote", str(copied))
    assert (
        done.out == "Nothing done: hz-state belongs to acme/housework; here, in someone/housework, nothing is done.\n"
    )
    assert subprocess.run(("git", "-C", str(copied), "show-ref"), check=True, capture_output=True).stdout == refs
    assert not fork.local.exists() or not list(fork.local.rglob("*.md"))
