"""Which watches are polled, and what becomes of those that cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team import registry
from hz_team.errors import HzError
from tests.team import DAY, HOUR, LIST, MINUTE, MONDAY, Team, job

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOTES = '{notes: {type: files, paths: ["notes/*.md"], every: 2h}}'


def polled(team: Team, now: int) -> list[str]:
    return sorted(name for name, look in team.tick(now).seen.looks.items() if look.polled)


def test_a_watch_is_polled_when_its_time_has_come_and_when_a_due_job_reads_it(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST), "notes/a.md": "a"})
    assert polled(team, MONDAY - HOUR) == ["news.notes"]
    assert polled(team, MONDAY - HOUR + MINUTE) == []
    assert polled(team, MONDAY) == ["news.notes"]
    assert polled(team, MONDAY + MINUTE) == []
    assert polled(team, MONDAY + 2 * HOUR) == ["news.notes"]


def test_a_poll_that_found_nothing_new_is_remembered_here_and_not_written(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, on="poke"), "notes/a.md": "a"})
    team.tick(MONDAY)
    tip = team.view().tip
    team.tick(MONDAY + 2 * HOUR)
    assert team.view().tip == tip
    assert team.world(0).notes.polls["news.notes/" + _key(team)]["polled_at"] == MONDAY + 2 * HOUR
    assert polled(team, MONDAY + 3 * HOUR) == []


def _key(team: Team) -> str:
    return team.world(0).config.watches[0].key


def test_jobs_that_may_not_run_poll_nothing(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, more="enabled: false"), "notes/a.md": "a"})
    assert polled(team, MONDAY) == []


def test_a_kind_of_watch_that_is_not_there_holds_its_job_up_and_nothing_else(tmp_path: Path) -> None:
    files = {"news": job(watch="{new: {type: github.issues, every: 1h}}"), "other": job()}
    team = Team(tmp_path, files)
    team.tick(MONDAY - HOUR)
    story = team.tick(MONDAY)
    assert [order.job for order in story.plan.orders] == ["other"]
    assert [(skip.job, skip.reason) for skip in story.plan.skips] == [("news", "watch-unavailable")]
    assert "github.issues" in " ".join(story.seen.notes)
    tip = team.view().tip
    team.tick(MONDAY + MINUTE)
    assert team.view().tip == tip


def test_a_kind_of_step_that_is_not_there_is_a_failed_receipt(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step="{tool: claude, prompt: hello}"), "other": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert (team.steps("other"), team.steps()) == (["rendered", "awaiting_approval"], ["failed"])
    assert "not run yet" in team.receipts()[0]["error"]
    assert team.position().parked


def test_a_watch_that_raises_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        @staticmethod
        def poll(watch: object, cursor: object, tools: object) -> object:
            raise HzError("the source is upside down")

    team = Team(tmp_path, {"news": job(watch=NOTES), "notes/a.md": "a"})
    monkeypatch.setattr(registry, "watch", lambda kind: Broken)
    story = team.tick(MONDAY - HOUR)
    assert story.seen.notes == ("news.notes: the source is upside down",)
    assert team.tick(MONDAY).plan.skips[0].reason == "watch-unavailable"
    monkeypatch.undo()
    assert [order.slot for order in team.tick(MONDAY + DAY).plan.orders] == [MONDAY + DAY]


def test_a_parked_job_that_is_tried_again_reads_its_watches(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step="run: exit 1", more="retries: 0"), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert polled(team, MONDAY + DAY) == []
    team.box("retry", "news")
    assert polled(team, MONDAY + DAY + MINUTE) == ["news.notes"]
