"""Instants as people and documents write them, and the only place that looks a zone up.

An instant is whole seconds since 1970-01-01 UTC; a zone is an IANA name. Names of days and months are English whatever
the machine's language. zoneinfo is imported when a zone is asked for: an idle tick needs none.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

from hz_team.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Unreadable(UsageError, ValueError):
    """A time, zone or schedule that cannot be taken as written; the message says why and what to write instead.

    It is a ValueError as well, so that a pydantic shape may raise it and add file and line.
    """


def moment(epoch: int, zone: str) -> str:
    """Return an instant as people read it: `Mon 7 Dec 2026 09:00 CET`."""
    local = _local(epoch, zone)
    return f"{_day(local)} {local.year} {_time(local)} {local.tzname()}"


def when(epoch: int, zone: str) -> str:
    """Return an instant without its year, as pages write it: `Mon 7 Dec 09:00 CET`."""
    local = _local(epoch, zone)
    return f"{_day(local)} {_time(local)} {local.tzname()}"


def short(epoch: int, zone: str) -> str:
    """Return day and time, shorter still: `7 Dec 09:00`."""
    return f"{date(epoch, zone)} {_time(_local(epoch, zone))}"


def told(epoch: int, zone: str) -> str:
    """Return day and time with the zone: `7 Dec 09:00 CET`."""
    return f"{short(epoch, zone)} {_local(epoch, zone).tzname()}"


def date(epoch: int, zone: str) -> str:
    """Return the day alone: `7 Dec`."""
    local = _local(epoch, zone)
    return f"{local.day} {MONTHS[local.month - 1]}"


def clock(epoch: int, zone: str, now: int) -> str:
    """Return the time of day alone if it is still that day, else with the day: `09:00`, `Mon 30 Nov 09:00`."""
    local = _local(epoch, zone)
    today = local.date() == _local(now, zone).date()
    return _time(local) if today else f"{_day(local)} {_time(local)}"


def day(epoch: int, zone: str) -> str:
    """Return the calendar day in the zone: `2026-12-07`."""
    return _local(epoch, zone).date().isoformat()


def offset(epoch: int, zone: str) -> str:
    """Return the zone's distance from UTC at an instant: `+01:00`; seconds of historic local times are left out."""
    minutes = abs(utc_offset(epoch, zone)) // 60
    sign = "-" if utc_offset(epoch, zone) < 0 else "+"
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def utc_offset(epoch: int, zone: str) -> int:
    """Return how many seconds the zone's clocks are ahead of UTC at an instant."""
    shift = _local(epoch, zone).utcoffset()
    return 86400 * shift.days + shift.seconds if shift else 0


def iso(epoch: int) -> str:
    """Return an instant as documents keep it: `2026-12-07T08:00:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))


def parse_iso(text: str) -> int:
    """Read `2026-12-07T09:00:00+01:00` or `…Z`; parts of a second are cut. Raises Unreadable without an offset."""
    from datetime import UTC, datetime

    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Unreadable(f"`{text}` is not a time; write it as 2026-12-07T09:00:00+01:00") from None
    if read.tzinfo is None:
        raise Unreadable(f"`{text}` does not say where on earth; add an offset such as +01:00, or Z for UTC")
    past = read - datetime(1970, 1, 1, tzinfo=UTC)
    return past.days * 86400 + past.seconds


@cache
def zone_of(name: str) -> tzinfo:
    """Return the rules of a zone. Raises Unreadable if there is none of that name, in exactly that case."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError):
        raise Unreadable(f"`{name}` is not a time zone; write an IANA name such as Europe/Berlin or UTC") from None


def _local(epoch: int, zone: str) -> datetime:
    from datetime import datetime

    return datetime.fromtimestamp(epoch, zone_of(zone))


def _day(local: datetime) -> str:
    return f"{DAYS[local.weekday()]} {local.day} {MONTHS[local.month - 1]}"


def _time(local: datetime) -> str:
    return f"{local.hour:02d}:{local.minute:02d}"
