"""What a tick orders, and what it leaves out: scripted time on a real root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team.model.observation import Heard
from tests.team import DAY, HOUR, LIST, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from pathlib import Path

NOTES = '{notes: {type: files, paths: ["notes/*.md"], every: 1m}}'
BAD = "run: exit 1"
DEAR = """\
run: |
      echo x > "$HZ_DRAFT"
      echo '{"usd": "1.5"}' > $HZ_COST"""


def test_a_trigger_seen_for_the_first_time_owes_no_past_slots(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    story = team.tick(MONDAY + HOUR)
    assert story.plan.orders == ()
    assert team.steps() == []


def test_a_slot_is_served_once_and_its_receipt_names_it(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY + MINUTE)
    team.tick(MONDAY + 2 * MINUTE)
    assert team.steps() == ["rendered", "awaiting_approval"]
    assert team.receipts()[0]["wake"] == {"cause": "schedule", "slot": "2026-11-30T09:00:00Z", "refs": []}


@pytest.mark.parametrize(
    ("policy", "slots", "refs"),
    [
        ("latest", ["2026-12-03T09:00:00Z"], [3]),
        (
            "all",
            ["2026-11-30T09:00:00Z", "2026-12-01T09:00:00Z", "2026-12-02T09:00:00Z", "2026-12-03T09:00:00Z"],
            [0] * 4,
        ),
        ("skip", [], []),
    ],
)
def test_slots_missed_over_three_days(policy: str, slots: list[str], refs: list[int], tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(on=f'{{cron: "0 9 * * *", catch_up: {policy}}}')})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY + 3 * DAY + 8 * HOUR)
    ran = [one for one in team.receipts() if one["disposition"] == "rendered"]
    assert [one["wake"]["slot"] for one in ran] == slots
    assert [len(one["wake"]["refs"]) for one in ran] == refs
    team.tick(MONDAY + 3 * DAY + 9 * HOUR)
    assert len([one for one in team.receipts() if one["disposition"] == "rendered"]) == len(slots)


def test_slots_that_a_policy_skips_are_counted_when_something_is_written(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(on='{cron: "0 9 * * *", catch_up: skip}'), "other": job()})
    team.tick(MONDAY - HOUR)
    late = MONDAY + 3 * DAY + 8 * HOUR
    team.tick(late, only="news")
    assert team.position().skips == {}
    team.tick(late + MINUTE)
    assert team.steps("other")[0] == "rendered"
    first, last = MONDAY, MONDAY + 3 * DAY
    assert team.position().skips == {"skip-policy": {"count": 4, "first": first, "last": last}}


def test_too_late_is_counted_as_too_late(tmp_path: Path) -> None:
    on = '{cron: "0 9 * * *", max_late: 1h}'
    team = Team(tmp_path, {"news": job(on=on), "other": job(on='{cron: "0 12 * * *"}')})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY + 2 * HOUR)
    assert team.steps() == []
    team.tick(MONDAY + 3 * HOUR)
    assert team.position().skips == {"too-late": {"count": 1, "first": MONDAY, "last": MONDAY}}


def test_an_unchanged_memo_key_is_skipped_without_a_write_and_not_asked_again(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    tip = team.view().tip
    files = {name: content for name, content in team.bytes().items() if "tick.lock" not in name}
    story = team.tick(MONDAY + DAY)
    assert [(skip.reason, skip.text) for skip in story.plan.skips if skip.text] == [("unchanged", "nothing new")]
    assert (team.view().tip, story.recorded) == (tip, None)
    assert {name: content for name, content in team.bytes().items() if "tick.lock" not in name} == files
    assert team.tick(MONDAY + DAY + MINUTE).plan.skips == ()


def test_unchanged_slots_are_counted_with_the_next_write_of_any_job(tmp_path: Path) -> None:
    files = {"news": job(watch=NOTES, on='{cron: "0 9 * * *"}'), "other": job(on='{cron: "0 12 * * 4"}')}
    team = Team(tmp_path, {**files, "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    for day in range(1, 4):
        team.tick(MONDAY + day * DAY)
    assert team.position().skips == {}
    team.tick(MONDAY + 3 * DAY + 3 * HOUR)
    assert team.steps("other")[0] == "rendered"
    skips = team.position().skips
    assert sum(one["count"] for one in skips.values()) == 3
    assert skips["unchanged"]["last"] == MONDAY + 3 * DAY
    assert min(one["first"] for one in skips.values()) == MONDAY + DAY
    team.tick(MONDAY + 4 * DAY)
    assert team.position().skips == skips


def test_fresh_for_drafts_the_same_again_and_it_can_be_published_again(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, on="{watch: notes}", more="fresh_for: 2d"), "notes/a.md": "a"})
    team.tick(MONDAY)
    team.tick(MONDAY + MINUTE, yes(team.only(), "local:mona", MONDAY + MINUTE))
    assert team.outbox() == ["issue-1.md"]
    assert team.tick(MONDAY + DAY).plan.orders == ()
    team.tick(MONDAY + 2 * DAY + MINUTE)
    again = MONDAY + 2 * DAY + 2 * MINUTE
    team.tick(again, yes(team.only(), "local:mona", again))
    assert team.outbox() == ["issue-1.md", "issue-2.md"]


def test_a_snapshot_that_comes_back_is_published_again(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, on="{watch: notes}"), "notes/a.md": "a"})
    for number, text in enumerate(("a", "b", "a")):
        team.write("notes/a.md", text)
        now = MONDAY + number * HOUR
        team.tick(now)
        team.tick(now + MINUTE, yes(team.only(), "local:mona", now + MINUTE))
    assert team.outbox() == ["issue-1.md", "issue-2.md", "issue-3.md"]


def body(team: Team) -> str:
    return str(team.draft(team.only().digest)["body"]).strip()


def noted(tmp_path: Path, **more: str) -> Team:
    """A job that lists what is new in its notes, every day at nine."""
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST, **more), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert body(team) == "notes/a.md"
    team.write("notes/b.md", "b")
    return team


def test_a_superseded_draft_does_not_count(tmp_path: Path) -> None:
    team = noted(tmp_path)
    old = team.only()
    team.tick(MONDAY + DAY)
    new = team.only()
    assert (body(team), new.replaces) == ("notes/a.md notes/b.md", old.id)
    assert new.id != old.id
    assert team.steps()[-2:] == ["superseded", "awaiting_approval"]


def test_an_expired_draft_does_not_count(tmp_path: Path) -> None:
    team = noted(tmp_path, more="approve: {by: write, expires: 2h}")
    team.tick(MONDAY + 3 * HOUR)
    assert team.steps()[-1] == "expired"
    team.tick(MONDAY + DAY)
    assert body(team) == "notes/a.md notes/b.md"


@pytest.mark.parametrize("verb", ["reject", "approve"])
def test_a_rejected_or_published_draft_counts(verb: str, tmp_path: Path) -> None:
    team = noted(tmp_path)
    team.tick(MONDAY + HOUR, yes(team.only(), "local:mona", MONDAY + HOUR, verb=verb))
    team.tick(MONDAY + DAY)
    assert body(team) == "notes/b.md"


@pytest.mark.parametrize("verb", ["reject", "approve"])
def test_an_answer_heard_in_the_very_tick_of_the_next_draft_counts(verb: str, tmp_path: Path) -> None:
    team = noted(tmp_path)
    team.tick(MONDAY + DAY, yes(team.only(), "local:mona", MONDAY + DAY, verb=verb))
    assert body(team) == "notes/b.md"


def test_a_yes_that_is_not_taken_does_not_move_the_base(tmp_path: Path) -> None:
    team = noted(tmp_path, more="approve: {by: [octocat]}")
    team.tick(MONDAY + DAY, yes(team.only(), "local:mona", MONDAY + DAY))
    assert body(team) == "notes/a.md notes/b.md"


def test_an_approved_draft_on_its_way_out_counts(tmp_path: Path) -> None:
    team = noted(tmp_path)
    team.tick(MONDAY + HOUR, yes(team.only(), "local:mona", MONDAY + HOUR), publishing=False)
    assert team.only().state == "approved"
    team.tick(MONDAY + DAY, publishing=False)
    new = next(one for one in team.view().proposals.values() if one.state == "awaiting")
    assert team.draft(new.digest)["body"].strip() == "notes/b.md"


def test_an_older_draft_that_is_published_late_does_not_move_the_base_back(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    first = team.only()
    team.write("news", job(watch=NOTES, step=LIST, publish='{file: {path: "n.md"}}'))
    team.write("notes/b.md", "b")
    team.tick(MONDAY + DAY)
    second = next(one for one in team.view().proposals.values() if one.kind == "file")
    now = MONDAY + DAY + HOUR
    team.tick(now, yes(second, "local:mona", now))
    team.tick(now + MINUTE, yes(first, "local:mona", now + MINUTE))
    assert team.view().proposals == {}
    team.write("notes/c.md", "c")
    team.tick(MONDAY + 2 * DAY)
    assert body(team) == "notes/c.md"


def test_retries_across_ticks_back_off_and_then_the_job_parks(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step=BAD, more="retries: {max: 2, backoff: 5m}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert (team.position().failures, team.position().retry_at) == (1, MONDAY + 5 * MINUTE)
    assert team.tick(MONDAY + MINUTE).plan.skips[0].reason == "retry"
    team.tick(MONDAY + 5 * MINUTE)
    assert team.position().retry_at == MONDAY + 15 * MINUTE
    team.tick(MONDAY + 15 * MINUTE)
    parked = team.position().parked
    assert (parked["failures"], parked["n"], team.steps()) == (3, 1, ["failed"] * 3)
    assert "step 1 (run) ended with 1" in parked["error"]
    assert team.tick(MONDAY + DAY).plan.skips[0].reason == "parked"


def test_a_job_that_says_nothing_about_retries_is_tried_three_times_more(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step=BAD)})
    team.tick(MONDAY - HOUR)
    now = MONDAY
    for failures in (1, 2, 3):
        team.tick(now)
        assert (team.position().failures, team.position().parked) == (failures, {})
        now = team.position().retry_at
    team.tick(now)
    assert team.position().parked["failures"] == 4


def parked_team(tmp_path: Path) -> Team:
    team = Team(tmp_path, {"news": job(step=BAD, more="retries: 0")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert team.position().parked
    return team


def test_the_retry_box_clears_the_parking_and_the_same_tick_tries_again(tmp_path: Path) -> None:
    team = parked_team(tmp_path)
    team.box("retry", "news")
    team.tick(MONDAY + MINUTE)
    position = team.position()
    assert (team.steps(), position.parked["n"], position.parked["failures"]) == (["failed", "failed"], 2, 1)
    assert "asked" in team.receipts()[-1]["reason"] or "again" in team.receipts()[-1]["reason"]
    assert "hz:retry news 2" in team.page()
    team.tick(MONDAY + 2 * MINUTE)
    assert len(team.steps()) == 2


def test_a_changed_contract_clears_the_parking(tmp_path: Path) -> None:
    team = parked_team(tmp_path)
    team.write("news", job(step="run: exit 2", more="retries: 1"))
    team.tick(MONDAY + MINUTE)
    assert (team.position().failures, team.position().parked) == (1, {})
    team.write("news", job())
    team.tick(MONDAY + DAY)
    assert (team.position().failures, team.position().parked, team.steps()[-1]) == (0, {}, "awaiting_approval")


def test_pokes_with_inputs_run_oldest_first_and_the_slot_waits(tmp_path: Path) -> None:
    step = 'run: cat "$HZ_INPUTS" > "$HZ_DRAFT"'
    team = Team(tmp_path, {"news": job(step=step, more="inputs: {who: {}}")})
    team.tick(MONDAY - HOUR)
    first, second = team.poke(MONDAY - 2, who="ada"), team.poke(MONDAY - 1, who="bob")
    story = team.tick(MONDAY, Heard(pokes=(*second.pokes, *first.pokes)))
    assert story.plan.orders[0].inputs == {"who": "ada"}
    assert [one.inputs["who"] for one in team.view().wakes] == ["bob"]
    assert team.receipts()[0]["wake"]["refs"] == [first.pokes[0].id]
    assert team.tick(MONDAY + MINUTE).plan.orders[0].inputs == {"who": "bob"}
    assert (team.view().wakes, team.on_branch("wakes")) == ((), [])
    assert team.tick(MONDAY + 2 * MINUTE).plan.orders[0].slot == MONDAY


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ("{}", "news has no input since; declared: none"),
        ("{since: {type: number}}", "news: input since must be a whole number"),
        ("{since: {}, who: {required: true}}", "news needs the input who"),
    ],
)
def test_a_poke_that_waited_is_held_against_the_inputs_as_they_are_now(inputs: str, words: str, tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(on="poke", more="inputs: {since: {}}")})
    team.tick(MONDAY - HOUR, Heard(pause=(True, "local:mona")))
    team.tick(MONDAY, team.poke(MONDAY, since="v1"))
    assert [one.inputs for one in team.view().wakes] == [{"since": "v1"}]
    team.write("news", job(on="poke", more=f"inputs: {inputs}"))
    story = team.tick(MONDAY + MINUTE, Heard(pause=(False, "local:mona")))
    assert [one.error for one in story.outcomes] == [words]
    assert [(one["disposition"], one["reason"]) for one in team.receipts()] == [("refused", words)]
    assert (team.view().wakes, team.on_branch("wakes"), team.position().failures) == ((), [], 0)
    assert team.tick(MONDAY + 2 * MINUTE).plan.orders == ()


def test_a_poke_outlives_a_run_that_fails_and_counts_once(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step=BAD)})
    team.tick(MONDAY - HOUR)
    said = team.poke(MONDAY - HOUR)
    team.tick(MONDAY - HOUR + 1, said)
    assert [one.id for one in team.view().wakes] == [said.pokes[0].id]
    team.write("news", job())
    team.tick(MONDAY - HOUR + 10 * MINUTE)
    assert team.view().wakes == ()
    assert team.tick(MONDAY - HOUR + 11 * MINUTE, said).plan.orders == ()


def test_a_person_who_asks_gets_a_draft_though_nothing_changed(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.box("run", "news")
    story = team.tick(MONDAY + MINUTE)
    assert [order.cause for order in story.plan.orders] == ["manual"]
    assert team.tick(MONDAY + 2 * MINUTE).plan.orders == ()


def test_one_tick_drafts_no_more_than_its_limit(tmp_path: Path) -> None:
    files = {name: job() for name in ("a", "b", "c")}
    team = Team(tmp_path, {**files, ".hz/hz.yaml": "limits: {drafts_per_tick: 2}\n"})
    team.tick(MONDAY - HOUR)
    story = team.tick(MONDAY)
    assert ([one.job for one in story.plan.orders], [one.reason for one in story.plan.skips]) == (["a", "b"], ["later"])
    assert [one.job for one in team.tick(MONDAY + MINUTE).plan.orders] == ["c"]


def test_a_job_at_its_cost_ceiling_is_held_until_the_next_day_and_told_once(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(on='{cron: "0 * * * *"}', step=DEAR, more="cost: {usd_per_day: 1}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert "held until tomorrow" in team.position().outcome["text"]
    tip = team.view().tip
    assert team.tick(MONDAY + HOUR).plan.skips[0].reason == "cost"
    assert team.view().tip == tip
    assert len(team.tick(MONDAY + DAY).plan.orders) == 1


def test_the_teams_ceiling_holds_every_job_and_the_one_that_reached_it_says_so(tmp_path: Path) -> None:
    files = {"news": job(step=DEAR), "other": job(on='{cron: "0 12 * * *"}')}
    team = Team(tmp_path, {**files, ".hz/hz.yaml": "budget: {usd_per_day: 1}\n"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert "held until tomorrow" in team.position().outcome["text"]
    assert team.tick(MONDAY + 3 * HOUR).plan.skips[0].reason == "cost"
    assert team.tick(MONDAY + DAY + 3 * HOUR).plan.orders


def test_nothing_is_drafted_in_the_tick_that_hears_the_pause(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.box("pause")
    story = team.tick(MONDAY)
    assert ([one.reason for one in story.plan.skips], team.steps()) == (["paused"], [])
    assert team.view().paused["by"].startswith("local:")
    team.tick(MONDAY + MINUTE)
    assert team.view().paused
    team.box("pause", mark=" ")
    assert len(team.tick(MONDAY + 2 * MINUTE).plan.orders) == 1
    assert team.view().paused == {}


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        (".hz/control.yaml", "paused: true\n", "paused"),
        (".hz/control.yaml", "disabled: [news]\n", "disabled"),
        ("news", job(more="enabled: false"), "disabled"),
    ],
)
def test_switches_of_the_configuration(file: str, text: str, reason: str, tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    before = team.root / (file if "/" in file else f".hz/jobs/{file}.yaml")
    old = before.read_text() if before.exists() else ""
    team.write(file, text)
    assert [one.reason for one in team.tick(MONDAY).plan.skips] == [reason]
    before.write_text(old)
    assert len(team.tick(MONDAY + HOUR).plan.orders) == 1


def test_a_failed_slot_of_catch_up_all_lets_the_later_ones_wait(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(on='{cron: "0 9 * * *", catch_up: all}', step="run: exit 1")})
    team.tick(MONDAY - HOUR)
    story = team.tick(MONDAY + 2 * DAY)
    assert len(story.plan.orders) == 3
    assert team.steps() == ["failed"]
    team.write("news", job(on='{cron: "0 9 * * *", catch_up: all}'))
    team.tick(MONDAY + 2 * DAY + HOUR)
    slots = [one["wake"]["slot"][:10] for one in team.receipts() if one["disposition"] == "rendered"]
    assert slots == ["2026-11-30", "2026-12-01", "2026-12-02"]


def test_a_person_who_asks_does_not_wait_for_the_next_try(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step="run: exit 1", more="retries: {max: 5, backoff: 1h}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert [skip.reason for skip in team.tick(MONDAY + MINUTE).plan.skips] == ["retry"]
    team.tick(MONDAY + 2 * MINUTE, team.poke(MONDAY + 2 * MINUTE))
    assert [skip.reason for skip in team.tick(MONDAY + 3 * MINUTE).plan.skips] == ["retry"]
    assert team.steps() == ["failed", "failed"]
    assert team.position().failures == 2
