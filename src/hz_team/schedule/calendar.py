"""Enumeration: croniter finds the days, the fields give the times of day, and our zone rules make instants of them.

Asking croniter for days rather than for minutes costs the same for `*/5 * * * *` as for `@daily`, and keeps it away
from zones, where it repeats fixed times and loses half-hour shifts.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hz_team.moment import utc_offset, zone_of
from hz_team.schedule import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY = 86400
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  (local times are naive here; the zone comes last)


def walk(cron: str, zone: str, after: int) -> Iterator[int]:
    """Yield every slot of a normalised pattern later than `after`, strictly increasing, without end.

    Instants of one local day may come after the next day has begun (clocks set back over midnight), so each day's are
    held until the first instant of the next planned day is known.
    """
    minute, hour, days = cron.split(" ", 2)
    times = [
        60 * (60 * h + m) for h in dialect.values(hour, dialect.HOUR) for m in dialect.values(minute, dialect.MINUTE)
    ]
    both = hour.startswith("*")
    last, held = after, list[int]()
    for midnight in _days(days, (after + utc_offset(after, zone)) // DAY * DAY - DAY):
        begins = first(midnight, zone)
        for slot in (slot for slot in held if slot < begins):
            last = _later(slot, last)
            yield slot
        fresh = {slot for slot in _instants(midnight, times, zone, both=both) if slot > last}
        held = sorted(fresh.union(slot for slot in held if slot >= begins))
    yield from held


def _later(slot: int, last: int) -> int:
    """Let a bug fail instead of hanging the tick or running a slot twice."""
    if slot <= last:
        raise AssertionError(f"slot {slot} does not follow {last}")
    return slot


def _days(days: str, start: int) -> Iterator[int]:
    """Yield local midnights of planned days from `start` on, as if they were UTC."""
    from croniter import croniter

    found = croniter(f"0 0 {days}", EPOCH + timedelta(seconds=start - 60), ret_type=datetime)
    while True:
        try:
            date = found.get_next()
        except (ValueError, OverflowError):  # CroniterBadDateError: no such day; the others: the year 10000
            return
        yield (date - EPOCH).days * DAY


def _instants(midnight: int, times: list[int], zone: str, *, both: bool) -> Iterator[int]:
    before, after = _offset(midnight, zone, fold=0), _offset(midnight + DAY, zone, fold=1)
    if before == after:
        yield from (midnight + time - before for time in times)
    elif both:
        yield from (instant for time in times for instant in every(midnight + time, zone))
    else:
        yield from (first(midnight + time, zone) for time in times)


def first(local: int, zone: str) -> int:
    """Return when a local time comes first; one that a jump leaves out comes with the jump."""
    before, after = _offset(local, zone, fold=0), _offset(local, zone, fold=1)
    return local - before if before >= after else _jump(local - after, local - before, zone)


def every(local: int, zone: str) -> tuple[int, ...]:
    """Return when clocks show a local time: once, twice, or never."""
    before, after = _offset(local, zone, fold=0), _offset(local, zone, fold=1)
    if before < after:
        return ()
    return (local - before,) if before == after else (local - before, local - after)


def _jump(early: int, late: int, zone: str) -> int:
    """Return the first instant after `early` with another offset; `late` has it already."""
    old = utc_offset(early, zone)
    while late - early > 1:
        middle = (early + late) // 2
        early, late = (middle, late) if utc_offset(middle, zone) == old else (early, middle)
    return late


def _offset(local: int, zone: str, *, fold: int) -> int:
    """Return the seconds ahead of UTC at a local time: the first time it is shown, or (fold=1) the second."""
    shown = (EPOCH + timedelta(seconds=local)).replace(tzinfo=zone_of(zone), fold=fold)
    shift = shown.utcoffset() or timedelta()
    return DAY * shift.days + shift.seconds
