"""One tick as a whole: idle it writes nothing, dry it stops after plan, and it gives back what it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team import tick as page
from hz_team.errors import RemoteError, TryAgain
from hz_team.model.observation import Heard
from hz_team.ports import Claim, Known
from tests.team import DAY, HOUR, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from pathlib import Path

NOTES = '{notes: {type: files, paths: ["notes/*.md"], every: 1m}}'


def test_an_idle_tick_writes_nothing_and_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.tick(MONDAY + MINUTE)
    files, tip = team.bytes(), team.view().tip
    times = {path: path.stat().st_mtime_ns for path in team.root.rglob("*")}
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))  # no Git to be found
    with pytest.raises((FileNotFoundError, RemoteError)):
        team.world(0).state.record(team.view(), {"x.json": b"{}"}, "x\n")
    story = team.tick(MONDAY + 2 * MINUTE)
    assert (story.recorded, story.shown, story.leases) == (None, None, {})
    assert (team.bytes(), team.view().tip) == (files, tip)
    assert {path: path.stat().st_mtime_ns for path in team.root.rglob("*")} == times


def test_a_dry_run_stops_after_plan(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    files = team.bytes()
    story = page.tick(team.world(MONDAY), Heard(), now=MONDAY, dry_run=True)
    assert ([order.slot for order in story.plan.orders], story.recorded, story.shown) == ([MONDAY], None, None)
    assert team.bytes() == files


def test_only_one_job(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(), "other": job()})
    team.tick(MONDAY - HOUR)
    assert [order.job for order in team.tick(MONDAY, only="other").plan.orders] == ["other"]
    assert [order.job for order in team.tick(MONDAY + MINUTE).plan.orders] == ["news"]


def test_jobs_of_another_scope_are_left_alone(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(more="scope: personal"), "other": job()})
    team.tick(MONDAY - HOUR)
    assert set(team.view().positions) == {"other"}
    assert [order.job for order in team.tick(MONDAY).plan.orders] == ["other"]


def test_another_tick_at_work_is_waited_for(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    other = team.world(MONDAY)
    held = other.leases.acquire(Claim({"news": Known()}, MONDAY, 60)).leases
    with pytest.raises(TryAgain) as lost:
        team.tick(MONDAY)
    assert lost.value.code == 75
    other.leases.release(held.values())
    assert len(team.tick(MONDAY).orders) == 1


def test_a_tick_that_ends_early_gives_its_leases_back(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    world = team.world(MONDAY)

    def record(view: object, files: object, message: str, **more: object) -> object:
        raise RemoteError("the disk is full")

    world.state.record = record  # type: ignore[assignment,method-assign]
    with pytest.raises(RemoteError):
        page.tick(world, Heard(), now=MONDAY)
    assert len(team.tick(MONDAY).orders) == 1


def test_a_failing_job_does_not_stop_the_others(tmp_path: Path) -> None:
    team = Team(tmp_path, {"bad": job(step="run: exit 1"), "news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert (team.steps("bad"), team.steps()) == (["failed"], ["rendered", "awaiting_approval"])


def test_the_whole_story_verifies(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    for day in range(3):
        now = MONDAY + day * DAY
        team.tick(now)
        story = team.tick(now + MINUTE, yes(team.only(), "local:mona", now + MINUTE))
        assert story.confirmed
        assert story.after.head == team.view().head
    assert team.outbox() == ["issue-1.md", "issue-2.md", "issue-3.md"]
    assert team.steps() == ["rendered", "awaiting_approval", "approved", "published"] * 3
