"""`hz-team tick` and the switches: its options, its lock, its exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.terminal import HELLO, LATER, MONDAY, NOON, Team, hz


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A team whose one helper is due on Monday."""
    made = Team(tmp_path / "team")
    made.job("hello")
    made.tick(NOON)
    return made


def test_no_publish_keeps_the_yes(team: Team) -> None:
    team.tick(MONDAY)
    name = team.tick_box()
    out = team.tick(LATER, "--no-publish").out
    assert f"  approve  {name}    by you, bound to " in out
    assert "  publish  held back: not published because of --no-publish\n" in out
    assert team.out == []
    assert "  publish  issue         " in team.tick("2026-11-30T09:10:00Z").out
    assert team.out == ["issue-1.md"]


def test_a_quiet_tick_does_not_write_down_again_how_long_the_ledger_was(team: Team) -> None:
    team.tick(MONDAY)
    (notes,) = Path(os.environ["XDG_CACHE_HOME"]).rglob("notes.json")
    before = os.stat(notes)
    era, count, head, tip = json.loads(notes.read_text())["anchor"]
    assert (era, count, len(head), tip) == (0, 2, 64, team.git("rev-parse", "hz-state"))
    assert team.tick(LATER).out.startswith("Nothing due")
    after = os.stat(notes)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_only_one_job(team: Team) -> None:
    team.job("other")
    team.tick("2026-11-29T12:01:00Z")
    assert '"Hello"' in team.tick(MONDAY, "--job", "other").out
    assert {receipt["job"] for receipt in team.receipts()} == {"other"}
    assert team.tick(MONDAY, "--job", "hello").out.count("hello") == 2
    assert "no helper called nix" in team.hz("tick", "--job", "nix", code=2).said


def test_scopes_are_apart(team: Team) -> None:
    team.job("mine", f"scope: personal\n{HELLO}")
    team.tick("2026-11-29T12:01:00Z", "--scope", "personal")
    team.tick(MONDAY)
    assert {receipt["job"] for receipt in team.receipts()} == {"hello"}
    team.tick(LATER, "--scope", "personal")
    assert {receipt["job"] for receipt in team.receipts()} == {"hello", "mine"}
    assert "argument --scope: invalid choice" in team.hz("tick", "--scope", "odd", code=2).said


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("noon", "`noon` is not a time; write it as 2026-12-07T09:00:00+01:00"),
        ("2026-11-30T09:00:00", "`2026-11-30T09:00:00` does not say where on earth; add an offset"),
    ],
)
def test_a_moment_that_is_none(team: Team, now: str, said: str) -> None:
    assert team.hz("tick", "--now", now, code=2).said.startswith(f"hz-team: {said}")


def test_state_at_another_place(team: Team, tmp_path: Path) -> None:
    bare = tmp_path / "else where.git"
    subprocess.run(("git", "init", "-q", "--bare", str(bare)), check=True)
    url = bare.as_uri()
    team.tick(NOON, "--remote", url)
    assert '"Hello"' in team.tick(MONDAY, "--remote", url).out
    verified = team.hz("receipts", "verify", "--remote", url)
    assert verified.out.startswith("verify   2 receipts, 1 chain, all good")
    assert team.receipts() == []
    assert (
        "else%20where.git/nowhere: there is no repository" in team.hz("tick", "--remote", f"{url}/nowhere", code=4).said
    )
    assert "--remote needs a URL here" in team.hz("tick", "--remote", code=2).said


def test_a_false_history_is_not_written_elsewhere(team: Team) -> None:
    said = team.hz("tick", "--now", MONDAY, "--remote", "https://git.example.org/x.git", code=2).said
    assert said == "hz-team: --now with a state on another host would write a false history; add --dry-run"


def test_two_ticks_at_once(team: Team) -> None:
    team.job("hello", HELLO.replace("echo", "sleep 30; echo"))
    words = (sys.executable, "-m", "hz_team", "tick", "--now", MONDAY, "--root", str(team.root))
    first = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        lock = team.local / "tick.lock"
        until = time.monotonic() + 30
        while not (lock.exists() and lock.read_text().strip() == str(first.pid)):
            assert time.monotonic() < until
            time.sleep(0.05)
        said = team.hz("tick", "--now", MONDAY, code=75).said
        assert said == f"hz-team: another tick (pid {first.pid}) is at work here; it ends by itself"
    finally:
        first.kill()
        first.wait()


def test_pause_and_resume(team: Team) -> None:
    assert "  wake     you paused everything\n" in team.hz("pause", "--now", "2026-11-29T13:00:00Z").out
    assert "Paused by" in team.board
    assert team.hz("pause").out == "Paused: nothing is drafted or published.\n"
    assert team.tick(MONDAY).out == "Paused: nothing is drafted or published.\n"
    assert "not run: paused by" in team.hz("plan", "--now", MONDAY).out
    assert team.receipts() == []
    assert "  wake     you ended the pause\n" in team.hz("resume", "--now", "2026-11-30T09:02:00Z").out
    assert "- [ ] <!-- hz:pause -->" in team.board
    before = team.contents()
    assert team.hz("resume", "--now", "2026-11-30T09:02:00Z").out.startswith("Nothing due")
    assert team.contents() == before
    assert '"Hello"' in team.tick(LATER).out


@pytest.mark.parametrize(
    ("switch", "why"),
    [
        ("paused: true\n", "paused in .hz/control.yaml"),
        ("disabled: [hello]\n", "hello is disabled in .hz/control.yaml"),
    ],
)
def test_a_kill_switch_holds_what_was_approved(team: Team, switch: str, why: str) -> None:
    team.tick(MONDAY)
    team.tick_box()
    team.tick(LATER, "--no-publish")
    team.write(".hz/control.yaml", switch)
    team.tick("2026-11-30T09:10:00Z")
    assert team.out == []
    (team.root / ".hz/control.yaml").unlink()
    team.tick("2026-11-30T09:15:00Z")
    assert team.out == ["issue-1.md"]


def test_the_pause_box_holds_what_was_approved(team: Team) -> None:
    team.tick(MONDAY)
    team.tick_box()
    team.tick(LATER, "--no-publish")
    team.tick_box("pause")
    out = team.tick("2026-11-30T09:10:00Z").out
    assert "  wake     you paused everything\n" in out
    assert team.out == []


def test_a_root_that_cannot_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("NOT RUN: root writes everywhere")
    team = Team(tmp_path)
    team.job("hello")
    (tmp_path / ".hz").chmod(0o500)
    try:
        assert "denied" in hz("tick", "--root", str(tmp_path), code=4).said
    finally:
        (tmp_path / ".hz").chmod(0o700)
