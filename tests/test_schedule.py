"""Parsing, slots, windows and what is due."""

import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from hz_team import schedule
from hz_team.model.job import Trigger, Window
from hz_team.model.state import Served
from hz_team.moment import Unreadable, parse_iso

NOON = parse_iso("2026-12-01T12:00:00Z")
HOUR = 3600


def cron(text: str, zone: str = "UTC", *, catch_up: str = "latest", max_late: int | None = None) -> Trigger:
    made = Trigger("cron", cron=schedule.parse(text), zone=zone, catch_up=catch_up, max_late=max_late)
    return made._replace(identity=schedule.identity(made))


def once(*times: int, catch_up: str = "latest", max_late: int | None = None) -> Trigger:
    made = Trigger("once", times=times, catch_up=catch_up, max_late=max_late)
    return made._replace(identity=schedule.identity(made))


# the dialect ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("0 9 * * MON", "0 9 * * 1"),
        ("  0   9\t* * 1\n", "0 9 * * 1"),
        ("00 09 01 01 *", "0 9 1 1 *"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * sat,sun", "0 0 * * 0,6"),
        ("0 0 * * 6-7", "0 0 * * 0,6"),
        ("0 0 * * 7-2", "0 0 * * 0-2"),
        ("0 0 * * 7-7", "0 0 * * 0"),
        ("0 0 * * 7-0", "0 0 * * 0"),
        ("0 0 * * fri-sun", "0 0 * * 0,5,6"),
        ("0 0 * * mon-sun", "0 0 * * *"),
        ("0 0 * * 0-7", "0 0 * * *"),
        ("0 0 * * 1-7/2", "0 0 * * 0,1,3,5"),
        ("0 0 * * 7/2", "0 0 * * */2"),
        ("0 0 * jan-MAR *", "0 0 * 1-3 *"),
        ("0 0 * jan,feb,dec *", "0 0 * 1,2,12 *"),
        ("*/1 */1 1-31 1-12 *", "* * * * *"),
        ("0,30 * * * *", "*/30 * * * *"),
        ("*/7 * * * *", "*/7 * * * *"),
        ("20/15 * * * *", "20-50/15 * * * *"),
        ("5,3,4,4 * * * *", "3-5 * * * *"),
        ("1,2 * * * *", "1,2 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@MIDNIGHT", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("0 0 31 2 1", "0 0 31 2 1"),
        ("0 0 30 2,4 *", "0 0 30 2,4 *"),
    ],
)
def test_a_schedule_has_one_normal_form(text: str, normal: str) -> None:
    assert schedule.parse(text) == normal
    assert schedule.parse(normal) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("0 */2 * * *", "0 */2 * * *"),
        ("0 0-22/2 * * *", "0 0-22/2 * * *"),
        ("0 0-23/12 * * *", "0 0,12 * * *"),
        ("0 */12,5 * * *", "0 */12,5 * * *"),
        ("0 5,*/12 * * *", "0 0,5,12 * * *"),
        ("0 0-23 * * *", "0 * * * *"),
    ],
)
def test_a_star_stays_in_front_of_the_hours_only_where_it_was_written(text: str, normal: str) -> None:
    assert schedule.parse(text) == normal
    assert schedule.parse(normal) == normal


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0 0 5L * *", "list the dates under `once`"),
        ("0 0 L * *", "list the dates under `once`"),
        ("0 0 * * L5", "list the dates under `once`"),
        ("0 0 * * friL", "list the dates under `once`"),
        ("0 0 LW * *", "nearest working day"),
        ("0 0 15W * *", "nearest working day"),
        ("0 0 * * 5#2", "nth weekday"),
        ("0 0 ? * *", "write *"),
        ("1,2, * * * *", "remove the comma"),
        (",1 * * * *", "remove the comma"),
        ("*/0 * * * *", "steps begin at 1"),
        ("0-30/0 * * * *", "steps begin at 1"),
        ("*/60 * * * *", "never repeats within 0-59"),
        ("0 */24 * * *", "never repeats within 0-23"),
        ("*/ * * * *", "the step after / is missing"),
        ("*/x * * * *", "a step is a whole number"),
        ("*/1.5 * * * *", "a step is a whole number"),
        ("50-10 * * * *", "write 50-59,0-10"),
        ("0 0 * * sat-tue", "write 6-6,0-2"),
        ("60 * * * *", "minute field: 60 is not within 0-59"),
        ("0 24 * * *", "hour field: 24 is not within 0-23"),
        ("0 0 0 * *", "day of month field: 0 is not within 1-31"),
        ("0 0 * 13 *", "month field: 13 is not within 1-12"),
        ("0 0 * * 8", "weekday field: 8 is not within 0-7; 0 and 7 are Sunday"),
        ("0 0 * foo *", "names are jan feb"),
        ("0 0 * * jan", "names are sun mon"),
        ("mon * * * *", "it takes numbers only"),
        ("0 0 * * monday", "names have three letters"),
        ("0 0 * * we", "names have three letters"),
        ("-5 * * * *", "not negative"),
        ("1.5 * * * *", "write a number, a range a-b"),
        ("٣ * * * *", "write a number, a range a-b"),
        ("0 0 9 * * 1", "has 6 fields; seconds and years are not known"),
        ("0 9 * *", "has 4 fields; write five"),
        ("", "has 0 fields"),
        ("9", "has 1 field;"),
        ("@reboot", "use a poke"),
        ("@every 5m", "write the rhythm in fields"),
        ("@fortnightly", "there are @hourly, @daily"),
        ("@daily 5", "there are @hourly, @daily"),
        ("0 0 31 2 *", "never happens"),
        ("0 0 30 feb *", "never happens"),
        ("0 0 31 4,6,9,11 *", "never happens"),
        ("H * * * *", "there is none here"),
    ],
)
def test_what_is_not_accepted_comes_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(Unreadable) as refused:
        schedule.parse(text)
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    ("text", "job", "normal"),
    [
        ("H/5 * * * *", "lml-scamper", "*/5 * * * *"),
        ("H/5 * * * *", "weekly-digest", "4-59/5 * * * *"),
        ("H H * * *", "weekly-digest", "9 20 * * *"),
        ("H H(2-4) * * H", "changelog", "6 2 * * 0"),
        ("H H H H *", "quiet-issues", "18 18 3 3 *"),
        ("H(0-29)/10 * * * *", "quiet-issues", "8-28/10 * * * *"),
        ("H,30 9 * * 1-5", "a", "30,34 9 * * 1-5"),
    ],
)
def test_a_hashed_place_never_moves(text: str, job: str, normal: str) -> None:
    """Golden: a release that changes a line here moves every job of every team at once."""
    assert schedule.parse(text, job) == normal


def test_hashed_days_exist_in_every_month() -> None:
    days = {int(schedule.parse("0 0 H * *", f"job-{number}").split()[2]) for number in range(500)}
    assert days == set(range(1, 29))


def test_a_hashed_range_is_checked_like_another() -> None:
    for text, hint in [("H(9-3) * * * *", "runs backwards"), ("H(0-70) * * * *", "70"), ("H/0 * * * *", "begin at 1")]:
        with pytest.raises(Unreadable, match=hint):
            schedule.parse(text, "job")


def test_identity_is_over_pattern_and_zone_alone() -> None:
    monday = cron("0 9 * * MON", "Europe/Berlin")
    assert schedule.identity(monday) == "51a48e34fe9135cd"  # golden: another value makes every trigger a new one
    assert schedule.identity(monday._replace(catch_up="all", max_late=5, window=Window(0, 1, ()))) == monday.identity
    assert schedule.identity(cron("0 9 * * 1", "Europe/Berlin")) == monday.identity
    assert schedule.identity(cron("0 9 * * 1", "Europe/Paris")) != monday.identity
    assert schedule.identity(once(5, 3)) == schedule.identity(once(3, 5)) != schedule.identity(once(3, 6))
    assert schedule.identity(Trigger("poke")) == ""


# slots ----------------------------------------------------------------------------------------------------------------


def test_bounds_exclude_the_first_and_include_the_last() -> None:
    hourly = cron("0 * * * *")
    assert schedule.slots(hourly, NOON, NOON + 2 * HOUR) == (NOON + HOUR, NOON + 2 * HOUR)
    assert schedule.slots(hourly, NOON, NOON) == ()
    assert schedule.slots(hourly, NOON, NOON + 9 * HOUR, limit=1) == (NOON + HOUR,)
    assert schedule.slots(once(3, 1, 2, 2), 1, 3) == (2, 3)
    assert schedule.slots(Trigger("poke"), 0, NOON) == ()


def test_next_and_newest_meet_at_a_slot() -> None:
    hourly = cron("0 * * * *")
    assert schedule.next_slot(hourly, NOON) == NOON + HOUR
    assert schedule.next_slot(hourly, NOON - 1) == NOON
    assert schedule.newest(hourly, NOON) == NOON
    assert schedule.newest(hourly, NOON - 1) == NOON - HOUR
    assert (schedule.next_slot(once(5), 5), schedule.newest(once(5), 5), schedule.newest(once(5), 4)) == (None, 5, None)
    assert (schedule.next_slot(Trigger("poke"), 5), schedule.newest(Trigger("poke"), 5)) == (None, None)


def test_the_newest_of_a_rare_pattern_is_found() -> None:
    leap = cron("0 0 29 2 *")
    assert schedule.newest(leap, parse_iso("1904-02-28T00:00:00Z")) == parse_iso("1896-02-29T00:00:00Z")


def test_the_end_of_the_calendar_is_an_end() -> None:
    late = parse_iso("9999-12-30T12:00:00Z")
    assert schedule.slots(cron("0 0 1 1 *"), late, 2**40) == ()


@pytest.mark.parametrize("text", ["*/5 * * * *", "0 9 * * 1", "0 0 29 2 *", "0 4 1 1 *", "30 2 * * *"])
def test_a_window_holds_two_slots_before_and_enough_after(text: str) -> None:
    trigger = cron(text, "Europe/Berlin")
    window = schedule.window(trigger, NOON)
    past = [slot for slot in window.slots if slot <= NOON]
    assert len(past) == 2
    assert len(window.slots) >= 26
    assert (window.start, window.end) == (past[0] - 1, window.slots[-1])
    assert schedule.slots(trigger, window.start, window.end) == window.slots


def test_a_dense_window_reaches_through_a_day_and_stays_small() -> None:
    assert schedule.window(cron("*/5 * * * *"), NOON).end == NOON + 24 * HOUR
    assert len(schedule.window(cron("* * * * *"), NOON).slots) == 302


def test_a_once_window_has_every_time() -> None:
    assert schedule.window(once(NOON + 5, 7), NOON) == Window(6, NOON + 5, (7, NOON + 5))


def test_answers_are_the_same_with_a_window_and_without() -> None:
    bare = cron("30 */3 * * *", "Australia/Lord_Howe")
    ready = bare._replace(window=schedule.window(bare, NOON))
    for after in range(NOON - 9 * HOUR, NOON + 5 * 24 * HOUR, 1777):
        assert schedule.next_slot(ready, after) == schedule.next_slot(bare, after)
        assert schedule.newest(ready, after) == schedule.newest(bare, after)
        assert schedule.slots(ready, after, after + 86400) == schedule.slots(bare, after, after + 86400)


def test_an_idle_check_needs_neither_croniter_nor_zones() -> None:
    trigger = cron("0 9 * * 1", "Europe/Berlin")
    trigger = trigger._replace(window=schedule.window(trigger, NOON))
    script = f"""
import sys
from hz_team import schedule
from hz_team.model.job import Trigger, Window
from hz_team.model.state import Served
trigger = {trigger!r}
last = schedule.newest(trigger, {NOON})
assert schedule.next_slot(trigger, {NOON}) > {NOON}
assert schedule.due(trigger, Served(0, last), {NOON}, limit=10) == schedule.Due()
assert schedule.due(trigger, Served(0, last - 7 * 86400), {NOON}, limit=10).run == (last,)
assert schedule.preview([trigger], {NOON}, 1)
assert schedule.slots(trigger, {NOON}, trigger.window.end)[-1] == trigger.window.end
for heavy in ("croniter", "zoneinfo", "datetime", "dateutil", "hz_team.schedule.calendar", "hz_team.schedule.dialect"):
    assert heavy not in sys.modules, heavy
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_thousand_next_slots_come_from_windows_in_a_blink() -> None:
    triggers = [cron(f"{number % 60} {number % 24} * * {number % 7}", "Europe/Berlin") for number in range(1000)]
    ready = [trigger._replace(window=schedule.window(trigger, NOON, ahead=2)) for trigger in triggers[:50]] * 20
    began = time.process_time()
    assert all(schedule.preview([trigger], NOON, 1) for trigger in ready)
    assert time.process_time() - began < 0.5


def test_a_next_slot_without_a_window_costs_a_millisecond_or_so() -> None:
    triggers = [cron(f"{number % 60} 9 * * {number % 7}", "Europe/Berlin") for number in range(200)]
    began = time.process_time()
    assert all(schedule.next_slot(trigger, NOON) for trigger in triggers)
    assert (time.process_time() - began) / 200 < 0.004  # 0.3 ms where it was written


def test_preview_merges_triggers_and_keeps_each_ones_zone() -> None:
    berlin, york = cron("0 9 * * *", "Europe/Berlin"), cron("0 3 * * *", "America/New_York")
    once_more = once(NOON + 60)
    coming = schedule.preview([york, berlin, once_more, Trigger("poke")], NOON, 3)
    assert coming == (
        (NOON + 60, "UTC"),
        (parse_iso("2026-12-02T08:00:00Z"), "America/New_York"),  # both at once: one
        (parse_iso("2026-12-03T08:00:00Z"), "America/New_York"),
    )


# due ------------------------------------------------------------------------------------------------------------------


def due(trigger: Trigger, served: Served | None, now: int, limit: int = 10) -> schedule.Due:
    return schedule.due(trigger, served, now, limit=limit)


def test_a_trigger_seen_for_the_first_time_owes_nothing_past() -> None:
    hourly = cron("0 * * * *")
    assert due(hourly, None, NOON + 60) == schedule.Due()
    assert due(hourly, Served(first_seen=NOON + 60), NOON + 120) == schedule.Due()
    assert due(hourly, None, NOON).run == (NOON,)  # now is not past
    assert due(hourly, Served(first_seen=NOON + 60), NOON + HOUR).run == (NOON + HOUR,)


@pytest.mark.parametrize(
    ("age", "max_late", "run"),
    [(86400, None, True), (86401, None, False), (60, 59, False), (60, 60, True), (0, None, True), (-1, None, False)],
)
def test_a_once_time_is_owed_while_it_is_young(age: int, max_late: int | None, run: bool) -> None:  # noqa: FBT001
    trigger = once(NOON - age, max_late=max_late)
    assert bool(due(trigger, None, NOON).run) is run
    assert bool(due(trigger, Served(first_seen=NOON - 5), NOON).run) is run


def test_a_once_time_runs_once() -> None:
    trigger = once(NOON)
    first = due(trigger, None, NOON + 5)
    record = schedule.served(None, first, NOON + 5)
    assert record == Served(first_seen=NOON + 5, last=NOON, recent=(NOON,))
    assert due(trigger, record, NOON + 10) == schedule.Due()


def test_what_is_too_late_is_passed_whatever_the_policy() -> None:
    last = NOON - 4 * HOUR
    for catch_up, run in [("latest", (NOON,)), ("all", (NOON - HOUR, NOON)), ("skip", (NOON,))]:
        found = due(cron("0 * * * *", catch_up=catch_up, max_late=5400), Served(0, last), NOON + 600)
        assert found.run == run
        assert found.passed["too-late"] == (NOON - 3 * HOUR, NOON - 2 * HOUR)
    gone = due(cron("0 * * * *", max_late=60), Served(0, NOON - HOUR), NOON + 61)
    assert gone == schedule.Due((), {"too-late": (NOON,)})


def test_all_runs_the_oldest_first_and_the_rest_later() -> None:
    trigger = cron("0 * * * *", catch_up="all")
    record = Served(0, NOON - 5 * HOUR)
    ran: list[int] = []
    for _ in range(4):
        now = due(trigger, record, NOON + 60, limit=2)
        ran += now.run
        record = schedule.served(record, now, NOON + 60)
    assert ran == [NOON - 4 * HOUR, NOON - 3 * HOUR, NOON - 2 * HOUR, NOON - HOUR, NOON]


def test_skip_needs_no_memory_of_what_it_passed_over() -> None:
    """Nothing is written for a skip, so the next tick asks from the same record."""
    trigger = cron("0 * * * *", catch_up="skip")
    record = Served(0, NOON - 6 * HOUR)
    missed = tuple(NOON - hours * HOUR for hours in (5, 4, 3, 2, 1))
    assert due(trigger, record, NOON - 2400) == schedule.Due((), {"skip-policy": missed})
    assert due(trigger, record, NOON + 300) == schedule.Due((NOON,), {"skip-policy": missed})
    assert due(trigger, Served(0, NOON - HOUR), NOON + 3500).run == (NOON,)  # alone: not missed yet


def test_a_record_remembers_fifty_runs() -> None:
    trigger = cron("0 * * * *", catch_up="all")
    found = due(trigger, Served(0, NOON - 80 * HOUR), NOON, limit=70)
    record = schedule.served(Served(0), found, NOON)
    assert len(found.run) == 70
    assert record.recent == found.run[-50:]
    assert record.last == found.run[-1]
    assert schedule.served(record, schedule.Due(), NOON) == record


def test_one_run_serves_the_slots_of_all_its_triggers() -> None:
    hourly, daily = cron("0 * * * *"), cron("0 12 * * *")
    passed = (NOON - 2 * HOUR, NOON - HOUR, NOON)
    assert schedule.serve(daily, Served(0), (), passed) == Served(0, NOON)
    assert schedule.serve(hourly, Served(0), (NOON,), passed[:2]) == Served(0, NOON, (NOON,))
    assert schedule.serve(daily, Served(0, NOON), (), passed[:2]) == Served(0, NOON)
    assert schedule.serve(cron("5 * * * *"), Served(0), (), passed) == Served(0)
    assert schedule.serve(hourly, Served(0, NOON), (), passed[:1]).last == NOON  # an older one takes nothing back


# the clock is set back ------------------------------------------------------------------------------------------------


def test_without_a_run_in_the_past_only_the_newest_slot_is_owed() -> None:
    trigger = cron("0 * * * *")
    for record in [Served(first_seen=NOON + 9 * HOUR), Served(0, NOON + 9 * HOUR), Served(0, NOON + 60, (NOON + 60,))]:
        found = due(trigger, record, NOON + 30)
        assert (found.run, found.passed) == ((NOON,), {})
        assert found.skew == (record.last or record.first_seen) - NOON - 30


def test_a_slot_that_ran_early_does_not_run_again() -> None:
    trigger = cron("0 * * * *")
    record = Served(0, NOON + 2 * HOUR, (NOON - HOUR, NOON + 2 * HOUR))
    ran: list[int] = []
    for now in range(NOON + 60, NOON + 4 * HOUR, 1200):
        found = due(trigger, record, now)
        ran += found.run
        record = schedule.served(record, found, now)
    assert ran == [NOON, NOON + HOUR, NOON + 3 * HOUR]


def test_a_slot_run_after_setting_back_is_remembered_among_fifty_later_ones() -> None:
    ahead: Sequence[int] = [NOON + hours * HOUR for hours in range(5, 55)]
    record = schedule.served(Served(0, ahead[-1], tuple(ahead)), schedule.Due((NOON,)), NOON)
    assert record == Served(0, NOON, (NOON, *ahead[1:]))
    assert not due(cron("0 * * * *"), record, NOON + 60).run


# doubts ---------------------------------------------------------------------------------------------------------------


def test_most_patterns_raise_no_doubt() -> None:
    assert schedule.lint(cron("0 9 * * 1"), NOON) == ()
    assert schedule.lint(cron("0 9 13 * mon-sun"), NOON) == ()
    assert schedule.lint(once(NOON), NOON) == ()
