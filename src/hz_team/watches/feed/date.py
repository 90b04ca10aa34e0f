"""Dates of feeds: an instant, implausible, or unknown. Nothing is guessed, and nothing becomes "now"."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import mktime_tz, parsedate_tz
from typing import NamedTuple

AHEAD = 86400
"""Seconds that a date may lie in the future: clocks and zones are off, but not by more."""
_ISO = re.compile(r"(\d{4,6})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s?(Z|z|[+-]\d\d:?\d\d)")
_RFC822 = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?\d{1,2}\s+[A-Za-z]{3,9}\s+(\d{2,6})\s+\d\d?:\d\d(?::\d\d)?\s*"
    r"(?:[+-]\d{4}|Z|UTC?|GMT|[AECMP][SD]T)",
    re.IGNORECASE,
)
_LAST_YEAR = 9999


class Date(NamedTuple):
    """What a date says."""

    iso: str = ""
    """`2026-11-30T08:00:00Z`, "" if unknown or implausible."""
    implausible: bool = False
    """It can be read, but lies before 1970 or more than a day ahead."""


def read(text: str, now: int) -> Date:
    """Read an RFC 822 or ISO 8601 date with a zone; anything else, a date without a zone too, is unknown."""
    text = text.strip()
    if match := _ISO.fullmatch(text):
        return _judge(_iso(match), int(match[1]), now)
    if match := _RFC822.fullmatch(text):
        return _judge(_rfc822(text), int(match[1]), now)
    return Date()


def _judge(instant: int | None, year: int, now: int) -> Date:
    if year > _LAST_YEAR:
        return Date(implausible=True)
    if instant is None:
        return Date()
    if not 0 <= instant <= now + AHEAD:
        return Date(implausible=True)
    return Date(f"{datetime.fromtimestamp(instant, UTC):%Y-%m-%dT%H:%M:%SZ}")


def _iso(match: re.Match[str]) -> int | None:
    year, month, day, hour, minute, second, zone = match.groups()
    shift = 0 if zone in "Zz" else int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    try:
        local = datetime(int(year), int(month), int(day), int(hour), int(minute), min(int(second or 0), 59), tzinfo=UTC)
    except ValueError:
        return None
    return int((local - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) - (-shift if zone[0] == "-" else shift)


def _rfc822(text: str) -> int | None:
    parts = parsedate_tz(text)
    if parts is None:
        return None
    try:
        datetime(*parts[:3], tzinfo=UTC)  # mktime_tz takes the 31st of February
        return mktime_tz(parts)
    except (ValueError, OverflowError):
        return None
