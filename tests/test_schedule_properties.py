"""What holds for every pattern, zone and sequence of ticks."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from croniter import croniter
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hz_team import schedule
from hz_team.model.job import Trigger
from hz_team.model.state import Served
from hz_team.moment import parse_iso
from hz_team.schedule.dialect import FIELDS, HOUR, values

ODD = {
    "Australia/Lord_Howe": ("2019-10-05T15:30Z", "2019-04-06T15:00Z"),
    "America/Sao_Paulo": ("2018-11-04T03:00Z", "2018-02-18T02:00Z"),
    "Europe/Dublin": ("2026-03-29T01:00Z", "2026-10-25T01:00Z"),
    "Pacific/Apia": ("2011-12-30T10:00Z", "2011-04-02T14:00Z"),
    "Pacific/Kiritimati": ("1994-12-31T10:00Z", "2026-01-01T00:00Z"),
    "America/Goose_Bay": ("2010-11-07T03:01Z", "2010-03-14T03:31Z"),
    "Africa/Casablanca": ("2026-02-15T02:00Z", "2026-03-22T02:00Z"),
    "UTC": ("2026-01-01T00:00Z", "2024-02-29T00:00Z"),
}
"""Zones with moments at which something odd happens."""


@st.composite
def fields(draw: st.DrawFn) -> str:
    written = []
    for field in FIELDS:
        number = st.integers(field.low, field.high)
        step = st.integers(1, field.high - field.low)
        term = st.one_of(
            number.map(str),
            st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}"),
            st.tuples(number, number, step).map(lambda three: f"{min(three[:2])}-{max(three[:2])}/{three[2]}"),
            step.map(lambda by: f"*/{by}"),
        )
        terms = st.lists(term, min_size=1, max_size=3).map(",".join)
        written.append(draw(st.one_of(st.just("*"), terms)))
    return " ".join(written)


@st.composite
def places(draw: st.DrawFn) -> tuple[str, int]:
    zone = draw(st.sampled_from(sorted(ODD)))
    moment = parse_iso(draw(st.sampled_from(ODD[zone])))
    return zone, moment + draw(st.integers(-3 * 86400, 3 * 86400))


def made(text: str, zone: str, catch_up: str = "latest") -> Trigger:
    try:
        pattern = schedule.parse(text)
    except ValueError:
        assume(False)  # noqa: FBT003
        raise
    return Trigger("cron", identity="0" * 16, cron=pattern, zone=zone, catch_up=catch_up)


@given(fields())
def test_the_normal_form_is_stable_and_means_the_same(text: str) -> None:
    normal = made(text, "UTC").cron
    assert schedule.parse(normal) == normal
    for before, after, field in zip(text.split(), normal.split(), FIELDS, strict=True):
        assert values(before, field) == values(after, field)
        if field is HOUR and before.startswith("*"):
            assert after.startswith("*")


@given(fields(), places())
@example("*/30 * * * *", ("Europe/Dublin", parse_iso("2026-10-24T23:45Z")))
@example("*/7 */5 * * *", ("Australia/Lord_Howe", parse_iso("2019-04-06T10:00Z")))
def test_slots_rise_and_preview_next_and_due_agree(text: str, place: tuple[str, int]) -> None:
    zone, after = place
    trigger = made(text, zone, catch_up="all")
    coming = tuple(slot for slot, _ in schedule.preview([trigger], after, 40))
    assert len(coming) == 40
    assert after < coming[0]
    assert all(one < other for one, other in pairwise(coming))
    assert schedule.slots(trigger, after, coming[-1]) == coming
    assert schedule.next_slot(trigger, after) == coming[0]
    assert schedule.newest(trigger, coming[-1]) == coming[-1]
    assert schedule.due(trigger, Served(0, after), coming[-1], limit=100).run == coming
    assert schedule.due(trigger._replace(catch_up="latest"), Served(0, after), coming[-1], limit=1).run == coming[-1:]


@given(fields(), places())
def test_slots_are_the_planned_local_times(text: str, place: tuple[str, int]) -> None:
    """Checked minute by minute against the fields and zoneinfo: nothing of ours but the two rules of odd days."""
    zone, after = place
    trigger = made(text, zone)
    until = after + 2 * 86400
    rules = ZoneInfo(zone)
    minute, hour, day, month, weekday = (set(values(w, f)) for w, f in zip(trigger.cron.split(), FIELDS, strict=True))
    free_day, free_weekday = trigger.cron.split()[2] == "*", trigger.cron.split()[4] == "*"

    def planned(local: datetime) -> bool:
        dates, names = local.day in day, local.isoweekday() % 7 in weekday
        either = dates and names if free_day or free_weekday else dates or names
        return local.minute in minute and local.hour in hour and local.month in month and either

    wanted = set()
    starred = trigger.cron.split()[1].startswith("*")
    start = after // 60 * 60 + 60
    for instant in range(start, until + 1, 60):
        local = datetime.fromtimestamp(instant, rules)
        if planned(local) and (starred or not local.fold):
            wanted.add(instant)
        before = datetime.fromtimestamp(instant - 60, rules)
        missing = (local.replace(tzinfo=None) - before.replace(tzinfo=None)) // timedelta(minutes=1) - 1
        if not starred and any(planned(before + timedelta(minutes=m)) for m in range(1, missing + 1)):
            wanted.add(instant)
    assert schedule.slots(trigger, after, until) == tuple(sorted(wanted))


@given(fields(), st.integers(1_700_000_000, 1_900_000_000))
def test_days_and_times_apart_are_what_croniter_finds_together(text: str, after: int) -> None:
    trigger = made(text, "UTC")
    naive = datetime.fromtimestamp(after, UTC).replace(tzinfo=None)
    other = croniter(trigger.cron, naive, ret_type=datetime)
    for slot, _ in schedule.preview([trigger], after, 10):
        assert other.get_next().replace(tzinfo=UTC).timestamp() == slot


@given(fields(), places(), st.lists(st.integers(-4 * 86400, 40 * 86400), max_size=8), st.integers(0, 30))
def test_a_window_changes_no_answer(text: str, place: tuple[str, int], moments: list[int], ahead: int) -> None:
    zone, now = place
    bare = made(text, zone)
    window = schedule.window(bare, now, ahead=ahead)
    ready = bare._replace(window=window)
    assert window.slots == schedule.slots(bare, window.start, window.end)
    assert sum(slot > now for slot in window.slots) >= ahead
    for shift in (*moments, window.start - now, window.end - now):
        assert schedule.next_slot(ready, now + shift) == schedule.next_slot(bare, now + shift)
        assert schedule.newest(ready, now + shift) == schedule.newest(bare, now + shift)


@given(
    st.sampled_from(["0 * * * *", "30 2 * * *", "*/30 */3 * * *", "15,45 1-3 * * *", "0 0 * * *"]),
    places(),
    st.lists(st.integers(0, 14 * 3600), min_size=1, max_size=40),
    st.integers(1, 4),
    st.sampled_from(["latest", "all", "skip"]),
)
def test_no_slot_is_lost_or_doubled_between_ticks(
    text: str, place: tuple[str, int], waits: list[int], limit: int, catch_up: str
) -> None:
    """Every slot is run or passed over, exactly once; under `all` each one runs."""
    zone, start = place
    trigger = made(text, zone, catch_up)
    now, record = start, Served(start)
    ran: list[int] = []
    passed: list[int] = []
    behind = -(-schedule.BEHIND // limit) + 1  # so many more ticks at the end run whatever is left
    for wait in (*waits, *[0] * behind):
        now += wait
        due = schedule.due(trigger, record, now, limit=limit)
        ran += due.run
        passed += [slot for slots in due.passed.values() for slot in slots]
        record = schedule.served(record, due, now)
    everything = schedule.slots(trigger, start - 1, now)
    assert sorted(ran + passed) == list(everything)
    assert ran == sorted(ran)
    if catch_up == "all" and len(everything) <= schedule.BEHIND:
        assert ran == list(everything)


@given(places(), st.lists(st.integers(-5 * 3600, 9 * 3600), min_size=1, max_size=30))
def test_no_slot_runs_twice_whatever_the_clock_does(place: tuple[str, int], jumps: list[int]) -> None:
    zone, now = place
    trigger, record = made("0 * * * *", zone), Served(now)
    ran: list[int] = []
    for jump in jumps:
        now += jump
        due = schedule.due(trigger, record, now, limit=5)
        assert all(slot <= now for slot in due.run)
        assert (due.skew > 0) == ((record.first_seen if record.last is None else record.last) > now)
        ran += due.run
        record = schedule.served(record, due, now)
    assert len(ran) == len(set(ran))
