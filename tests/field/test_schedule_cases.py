"""Field kind A and the probes about croniter: what went wrong elsewhere, with the value that is right here."""

import itertools
import subprocess
import sys
import time

import pytest

from hz_team import schedule
from hz_team.model.job import Trigger
from hz_team.model.state import Served
from hz_team.moment import Unreadable, iso, parse_iso

MINUTE, HOUR, DAY = 60, 3600, 86400


def cron(text: str, zone: str = "UTC", catch_up: str = "latest") -> Trigger:
    return Trigger("cron", identity="0" * 16, cron=schedule.parse(text), zone=zone, catch_up=catch_up)


def at(*texts: str) -> tuple[int, ...]:
    return tuple(parse_iso(text) for text in texts)


ENUMERATED = [
    pytest.param("30 2 * * *", "America/New_York", "2026-03-07T07:30Z", "2026-03-09T07:00Z",
                 ("2026-03-08T07:00Z", "2026-03-09T06:30Z"), id="A01"),
    pytest.param("*/10 2 * * *", "America/New_York", "2026-03-07T07:50Z", "2026-03-09T06:05Z",
                 ("2026-03-08T07:00Z", "2026-03-09T06:00Z"), id="A01-six-in-the-gap-are-one"),
    pytest.param("0 2,3 * * *", "America/New_York", "2026-03-08T00:00Z", "2026-03-09T00:00Z",
                 ("2026-03-08T07:00Z",), id="A01-meets-a-real-time"),
    pytest.param("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:45Z", "2026-10-25T02:00Z",
                 ("2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-25T02:00Z"),
                 id="A03"),
    pytest.param("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-26T12:00Z",
                 ("2026-10-25T00:30Z", "2026-10-26T01:30Z"), id="A03-fixed-time-once"),
    pytest.param("30 */2 * * *", "Europe/Berlin", "2026-10-24T23:00Z", "2026-10-25T04:00Z",
                 ("2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T03:30Z"), id="A03-starred-step-twice"),
    pytest.param("30 * * * *", "Europe/Berlin", "2026-03-29T00:00Z", "2026-03-29T02:00Z",
                 ("2026-03-29T00:30Z", "2026-03-29T01:30Z"), id="A03-no-make-up-in-the-gap"),
    pytest.param("0 * * * *", "Australia/Lord_Howe", "2019-10-05T15:13Z", "2019-10-05T16:30Z",
                 ("2019-10-05T16:00Z",), id="A04-starred"),
    pytest.param("15 2 * * *", "Australia/Lord_Howe", "2019-10-05T12:00Z", "2019-10-06T16:00Z",
                 ("2019-10-05T15:30Z", "2019-10-06T15:15Z"), id="A04-fixed"),
    pytest.param("45 * * * *", "Australia/Lord_Howe", "2019-04-06T14:00Z", "2019-04-06T16:30Z",
                 ("2019-04-06T14:45Z", "2019-04-06T15:15Z", "2019-04-06T16:15Z"), id="A04-half-an-hour-twice"),
    pytest.param("@daily", "America/Sao_Paulo", "2018-11-03T12:00-03:00", "2018-11-05T12:00Z",
                 ("2018-11-04T03:00Z", "2018-11-05T02:00Z"), id="A05"),
    pytest.param("0 20 * * *", "Europe/Paris", "2022-10-30T00:00+02:00", "2022-11-01T20:00Z",
                 ("2022-10-30T19:00Z", "2022-10-31T19:00Z", "2022-11-01T19:00Z"), id="A06"),
    pytest.param("0 9 13 * 5", "UTC", "2026-02-01T00:00Z", "2026-02-28T23:59Z",
                 ("2026-02-06T09:00Z", "2026-02-13T09:00Z", "2026-02-20T09:00Z", "2026-02-27T09:00Z"), id="A07"),
    pytest.param("0 16 */2 * SAT", "UTC", "2023-05-01T00:00Z", "2023-05-06T23:00Z",
                 ("2023-05-01T16:00Z", "2023-05-03T16:00Z", "2023-05-05T16:00Z", "2023-05-06T16:00Z"), id="A08"),
    pytest.param("0 0 * * 7", "UTC", "2026-12-01T00:00Z", "2026-12-14T00:00Z",
                 ("2026-12-06T00:00Z", "2026-12-13T00:00Z"), id="A10-seven"),
    pytest.param("0 0 * * 6-7", "UTC", "2026-12-01T00:00Z", "2026-12-12T00:00Z",
                 ("2026-12-05T00:00Z", "2026-12-06T00:00Z", "2026-12-12T00:00Z"), id="A10-range-to-seven"),
    pytest.param("0 0 * * mon-sun", "UTC", "2026-12-05T00:00Z", "2026-12-08T00:00Z",
                 ("2026-12-06T00:00Z", "2026-12-07T00:00Z", "2026-12-08T00:00Z"), id="A10-all-week"),
    pytest.param("0 0 29 2 *", "UTC", "2026-01-01T00:00Z", "2032-12-31T00:00Z",
                 ("2028-02-29T00:00Z", "2032-02-29T00:00Z"), id="A11a"),
    pytest.param("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", "2104-12-31T00:00Z",
                 ("2104-02-29T00:00Z",), id="A11a-eight-years-over-2100"),
    pytest.param("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00Z", "2011-12-31T21:00Z",
                 ("2011-12-29T22:00Z", "2011-12-30T10:00Z", "2011-12-30T22:00Z"), id="a-day-that-was-left-out"),
    pytest.param("0 * * * *", "America/Goose_Bay", "2010-11-07T02:00Z", "2010-11-07T05:30Z",
                 ("2010-11-07T03:00Z", "2010-11-07T04:00Z", "2010-11-07T05:00Z"), id="back-over-midnight"),
    pytest.param("30 * * * *", "America/Goose_Bay", "2010-11-07T03:00:30Z", "2010-11-07T04:30Z",
                 ("2010-11-07T03:30Z", "2010-11-07T04:30Z"), id="back-to-yesterday"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "zone", "after", "until", "slots"), ENUMERATED)
def test_slots(text: str, zone: str, after: str, until: str, slots: tuple[str, ...]) -> None:
    trigger = cron(text, zone)
    since, end = parse_iso(after), parse_iso(until)
    wanted = at(*slots)
    began = time.monotonic()
    assert [iso(slot) for slot in schedule.slots(trigger, since, end)] == [iso(slot) for slot in wanted]
    assert time.monotonic() - began < 1
    assert tuple(coming.slot for coming in schedule.preview([trigger], since, len(wanted))) == wanted
    assert schedule.next_slot(trigger, since) == wanted[0]
    assert schedule.newest(trigger, end) == wanted[-1]
    assert schedule.due(trigger._replace(catch_up="all"), Served(0, since), end, limit=99).run == wanted


def test_a01_ticks_every_five_minutes_run_the_skipped_time_once() -> None:
    trigger, record = cron("30 2 * * *", "America/New_York"), Served(0, parse_iso("2026-03-07T07:30Z"))
    ran: list[int] = []
    for now in range(parse_iso("2026-03-08T06:00Z"), parse_iso("2026-03-08T08:01Z"), 5 * MINUTE):
        due = schedule.due(trigger, record, now, limit=10)
        ran += due.run
        record = schedule.served(record, due, now)
    assert tuple(ran) == at("2026-03-08T07:00Z")


def test_a07_both_day_fields_are_shown_with_their_dates() -> None:
    (doubt,) = schedule.lint(cron("0 9 13 * 5"), parse_iso("2026-02-01T00:00Z"))
    assert "Fri 6 Feb 2026, Fri 13 Feb 2026, Fri 20 Feb 2026, Fri 27 Feb 2026, Fri 6 Mar 2026" in doubt
    assert "either is enough" in doubt


def test_a08_a_stepped_star_with_a_weekday_is_shown_with_its_dates() -> None:
    (doubt,) = schedule.lint(cron("*/20 16 */2 * SAT"), parse_iso("2023-05-01T00:00Z"))
    assert "Mon 1 May 2023, Wed 3 May 2023, Fri 5 May 2023, Sat 6 May 2023, Sun 7 May 2023" in doubt


def test_a10_weekday_eight_names_the_field() -> None:
    with pytest.raises(Unreadable, match="weekday"):
        schedule.parse("0 0 * * 8")


def test_a11b_a_date_that_never_happens_is_refused_at_load() -> None:
    with pytest.raises(Unreadable, match="never happens"):
        schedule.parse("0 0 31 2 *")


def test_a11c_the_last_leap_day_is_found() -> None:
    trigger, now = cron("0 0 29 * *"), parse_iso("2024-03-02T00:00Z")
    assert schedule.newest(trigger, now) == parse_iso("2024-02-29T00:00Z")
    assert schedule.due(trigger, Served(0, parse_iso("2024-01-29T00:00Z")), now, limit=1).run == at("2024-02-29T00:00Z")


def test_a13_a_hashed_step_keeps_minute_zero_and_its_rhythm_in_every_process() -> None:
    trigger = cron(schedule.parse("H/5 * * * *", "lml-scamper"))
    hour = parse_iso("2026-12-01T09:00Z")
    found = schedule.slots(trigger, hour - 1, hour + HOUR - 1)
    assert [slot - hour for slot in found] == [minute * MINUTE for minute in range(0, 60, 5)]
    script = "from hz_team.schedule import parse; print(parse('H/5 * * * *', 'lml-scamper'))"
    for seed in ("1", "2"):
        said = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        )
        assert said.stdout.strip() == trigger.cron


LAST, NOW = at("2026-12-01T06:00Z", "2026-12-01T11:20Z")
MISSED = tuple(LAST + hours * HOUR for hours in (1, 2, 3, 4, 5))


@pytest.mark.parametrize(
    ("catch_up", "run", "passed"),
    [
        pytest.param("latest", MISSED[4:], {"overlapped": MISSED[:4]}, id="A16-latest"),
        pytest.param("all", MISSED, {}, id="A16-all"),
        pytest.param("skip", (), {"skip-policy": MISSED}, id="A16-skip"),
    ],
)
def test_missed_slots_leave_a_trace_under_every_policy(
    catch_up: str, run: tuple[int, ...], passed: dict[str, tuple[int, ...]]
) -> None:
    trigger = cron("0 * * * *", catch_up=catch_up)
    due = schedule.due(trigger, Served(0, LAST, (LAST,)), NOW, limit=10)
    assert (due.run, due.passed, due.skew) == (run, passed, 0)
    assert schedule.served(Served(0, LAST), due, NOW).last == MISSED[-1]
    noon = LAST + 6 * HOUR
    assert schedule.next_slot(trigger, NOW) == noon
    assert schedule.due(trigger, schedule.served(Served(0, LAST), due, NOW), noon, limit=10).run == (noon,)


def test_a18_a_clock_set_back_by_two_hours_silences_nothing_and_doubles_nothing() -> None:
    trigger = cron("*/5 * * * *")
    right, wrong = at("2026-12-01T14:55Z", "2026-12-01T17:00Z")
    record = Served(0, wrong, (right, wrong))
    now = parse_iso("2026-12-01T15:01Z")
    due = schedule.due(trigger, record, now, limit=10)
    assert due.skew == wrong - now
    assert due.run == at("2026-12-01T15:00Z")
    ran: list[int] = []
    for tick in range(now, now + 3 * HOUR, MINUTE):
        due = schedule.due(trigger, record, tick, limit=10)
        ran += due.run
        record = schedule.served(record, due, tick)
    assert ran == [slot for slot in range(now - MINUTE, now + 3 * HOUR, 5 * MINUTE) if slot != wrong]


def test_a18_a_jump_ahead_follows_the_policy_instead_of_running_288_times() -> None:
    last = parse_iso("2026-12-01T15:00Z")
    due = schedule.due(cron("*/5 * * * *"), Served(0, last, (last,)), last + DAY, limit=10)
    assert due.run == (last + DAY,)
    assert len(due.passed["overlapped"]) == 287


def test_d07_sixty_one_days_of_an_hourly_job_are_capped() -> None:
    now = parse_iso("2026-12-01T09:20Z")
    record = Served(0, now - 61 * DAY - 20 * MINUTE)
    trigger = cron("0 * * * *", catch_up="all")
    due = schedule.due(trigger, record, now, limit=10)
    assert (len(due.run), len(due.passed["too-late"])) == (10, 1464 - schedule.BEHIND)
    total = 0
    for _ in itertools.count():
        due = schedule.due(trigger, record, now, limit=10)
        if not due.run:
            break
        total += len(due.run)
        record = schedule.served(record, due, now)
    assert total == schedule.BEHIND


def test_p1_a_tick_on_the_second_finds_the_slot() -> None:
    nine = parse_iso("2026-12-01T09:00Z")
    for record in (Served(0, nine - DAY), Served(nine - HOUR), Served(nine)):
        assert schedule.due(cron("0 9 * * *"), record, nine, limit=1).run == (nine,)
    assert schedule.due(cron("0 9 * * *"), Served(0, nine, (nine,)), nine, limit=1).run == ()


@pytest.mark.parametrize("text", ["5L", "LW", "L5", "15W", "?", "50-10", "1,2,", "*/0"])
def test_p3_forms_that_other_tools_read_differently_are_refused_with_a_hint(text: str) -> None:
    for fields in (f"0 0 {text} * *", f"0 0 * * {text}"):
        with pytest.raises(Unreadable, match=r"field: .*[a-z]{3}"):
            schedule.parse(fields)


def test_p3_blanks_and_a_final_newline_do_not_matter() -> None:
    assert schedule.parse("  0  9 * * 1 \n") == "0 9 * * 1"
