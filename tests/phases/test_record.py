"""One commit with everything that happened, or nothing; and nothing on the branch that nobody names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hz_team import chronicle
from hz_team.chronicle import Run
from hz_team.model.draft import Cost, Draft, Outcome, Refusal
from hz_team.model.job import Job, Settings, Trigger
from hz_team.model.order import Order
from hz_team.model.state import Position, Served
from tests.team import DAY, HOUR, LIST, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOTES = '{notes: {type: files, paths: ["notes/*.md"], every: 1m}}'
JOB = Job("news", "News", ".hz/jobs/news.yaml", contract="c" * 64, retries=2, backoff=60)
DRAFT = Draft("issue", "here", "News", "hello")
ORDER = Order("news", "schedule", "due", snapshot={"notes": "s" * 64}, memo_key="m" * 64, pokes=("p1",))


def run(outcome: Outcome, order: Order = ORDER, now: int = 1000) -> Run:
    return Run(JOB, order, outcome, now)


def test_a_run_that_proposes_moves_what_was_seen_but_not_the_base() -> None:
    position = chronicle.settled(run(Outcome("news", "rendered", (DRAFT,))), Position("news", failures=1, retry_at=900))
    assert (position.seen, position.base, position.memo_key) == ({"notes": "s" * 64}, {}, "m" * 64)
    assert (position.failures, position.retry_at, position.wakes) == (0, 0, {"p1": 1000})
    assert position.outcome == {"at": 1000, "text": "waiting"}


@pytest.mark.parametrize(
    ("outcome", "words", "base"),
    [
        (Outcome("news", "rendered"), "nothing to say", ORDER.snapshot),
        (Outcome("news", "rendered", (DRAFT._replace(kind=""),)), "drafted", ORDER.snapshot),
        (Outcome("news", "refused", refusals=(Refusal("a", "b"),)), "refused", {}),
    ],
)
def test_a_run_that_proposes_nothing(outcome: Outcome, words: str, base: Mapping[str, str]) -> None:
    position = chronicle.settled(run(outcome), Position("news"))
    assert (position.outcome["text"], position.base) == (words, base)


def test_an_older_draft_never_moves_the_base_back() -> None:
    position = chronicle.moved(Position("news"), {"notes": "b"}, 200)
    assert chronicle.moved(position, {"notes": "a"}, 100) == position
    assert chronicle.moved(position, {"notes": "c"}, 200).base == {"notes": "c"}


def test_what_cannot_be_helped_by_trying_again_parks_at_once() -> None:
    position = chronicle.settled(run(Outcome("news", "failed", error="no", retry=False)), Position("news"))
    assert (position.parked["failures"], position.parked["error"], position.parkings) == (1, "no", 1)


def test_back_off_doubles_and_has_an_end() -> None:
    waits = []
    position = Position("news")
    patient = JOB._replace(retries=9)
    for _ in range(9):
        position = chronicle.settled(Run(patient, ORDER, Outcome("news", "failed"), 1000), position)
        waits.append(position.retry_at - 1000)
    assert waits == [60, 120, 240, 480, 960, 1920, 3840, 3840, 3840]


def test_old_wakes_and_old_days_are_forgotten() -> None:
    now = 100 * DAY
    before = Position(
        "news",
        wakes={"old": now - 31 * DAY, "new": now - 29 * DAY},
        spent={f"1970-01-{n:02d}": 1 for n in range(1, 32)},
    )
    assert set(chronicle.settled(run(Outcome("news", "rendered"), now=now), before).wakes) == {"new", "p1"}
    dear = Run(JOB, ORDER, Outcome("news", "rendered", cost=Cost(usd_micros=5)), now)
    position = before
    for day in range(20):
        position = chronicle.spent(position, dear._replace(now=now + day * DAY), Settings(), others=0)
    assert (len(position.spent), position.spent["1970-04-11"]) == (chronicle.KEEP_DAYS, 5)


def test_skips_are_counted_once_and_the_slots_are_served() -> None:
    position = Position("news", triggers={"t": Served(0)})
    once = chronicle.skipped(position, "t", "unchanged", (10, 20))
    assert once.skips == {"unchanged": {"count": 2, "first": 10, "last": 20}}
    assert chronicle.skipped(once, "t", "unchanged", (10, 20)) == once
    twice = chronicle.skipped(once, "t", "unchanged", (20, 30))
    assert twice.skips == {"unchanged": {"count": 3, "first": 10, "last": 30}}
    assert twice.triggers["t"].last == 30
    assert chronicle.skipped(position, "other", "unchanged", (10,)) == position


def test_of_a_long_absence_a_receipt_names_the_newest_slots_and_counts_the_rest() -> None:
    passed = tuple(range(0, 30 * HOUR, HOUR))
    (receipt,) = chronicle.receipts(run(Outcome("news", "rendered"), ORDER._replace(passed=passed)))
    assert receipt.refs[:2] == ("p1", "10 from 1970-01-01T00:00:00Z")
    assert len(receipt.refs) == 2 + chronicle.NAMED


def test_a_trigger_that_is_gone_is_forgotten_and_a_new_one_is_noticed() -> None:
    jobs = JOB._replace(triggers=(Trigger("cron", "new", "0 9 * * *"), Trigger("poke")))
    position = chronicle.noticed(jobs, Position("news", triggers={"old": Served(1)}), 5)
    assert position.triggers == {"new": Served(5)}
    assert chronicle.noticed(jobs, position, 9) is position


def test_facets_that_nobody_names_are_removed(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST), "notes/a.md": "a"})
    for day, text in enumerate(("a", "b", "c", "d")):
        team.write("notes/a.md", text)
        now = MONDAY + day * DAY
        team.tick(now - HOUR)
        team.tick(now)
        team.tick(now + MINUTE, yes(team.only(), "local:mona", now + MINUTE))
    view = team.view()
    named = {*view.positions["news"].base.values(), *(one.snapshot for one in view.cursors.values())}
    assert {name.rpartition("/")[2].removesuffix(".json") for name in team.on_branch("facets")} == named
    assert len(named) == 1


@pytest.mark.parametrize(("days", "kept"), [(29, 2), (31, 1)])
def test_the_cursor_of_a_watch_that_is_gone_stays_for_a_month(days: int, kept: int, tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.write("news", job(watch=NOTES.replace("*", "**"), step=LIST))
    team.tick(MONDAY + days * DAY)
    assert len(team.on_branch("cursors")) == len(team.view().cursors) == kept


def test_the_base_of_an_open_draft_is_kept(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.write("notes/a.md", "b")
    team.tick(MONDAY + HOUR)
    assert len(team.on_branch("facets")) == 2
    old = team.only()
    team.tick(MONDAY + 2 * HOUR, yes(old, "local:mona", MONDAY + 2 * HOUR, verb="redraft", note="again"))
    assert team.draft(team.only().digest)["body"].strip() == "notes/a.md"


def test_a_write_is_one_commit_in_our_own_words(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(publish='{issue: {title: "$(rm -rf) @everyone"}}')})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    subjects = team.git("log", "--format=%s", "refs/heads/hz-state").splitlines()
    assert subjects == ["Record 1 rendered, 1 awaiting_approval (news)", "Record what was seen"]
    ledger = json.loads(team.git("show", "refs/heads/hz-state:ledger.json"))
    assert (ledger["count"], ledger["v"], ledger["repository"]) == (2, 1, "local")


def test_a_refused_draft_leaves_a_receipt_that_names_both(tmp_path: Path) -> None:
    step = "run: \"printf -- '---\\\\ntarget: acme/other\\\\n---\\\\nx\\\\n' > $HZ_DRAFT\""
    team = Team(tmp_path, {"news": job(step=step, publish="{issue: {}}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert team.steps() == ["refused"]
    assert "acme/other" in team.receipts()[0]["reason"]
    assert team.tick(MONDAY + MINUTE).plan.orders == ()


def test_a_lost_snapshot_fails_the_run_and_not_the_tick(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES, step=LIST), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.tick(MONDAY + MINUTE, yes(team.only(), "local:mona", MONDAY + MINUTE))
    team.write("notes/b.md", "b")
    view = team.view()
    (base,) = team.position().base.values()
    team.world(0).state.record(view, {f"facets/{base[:2]}/{base}.json": None}, "lost\n")
    team.tick(MONDAY + DAY)
    assert team.steps()[-1] == "failed"
    assert "is missing on the state branch" in team.receipts()[-1]["error"]
