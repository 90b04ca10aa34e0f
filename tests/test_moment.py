"""Instants as text."""

import pytest

from hz_team.errors import UsageError
from hz_team.moment import Unreadable, clock, day, iso, moment, offset, parse_iso, utc_offset

MONDAY = 1796029200
"""2026-11-30T09:00:00Z"""


@pytest.mark.parametrize(
    ("zone", "text", "distance"),
    [
        ("UTC", "Mon 30 Nov 2026 09:00 UTC", "+00:00"),
        ("Europe/Berlin", "Mon 30 Nov 2026 10:00 CET", "+01:00"),
        ("America/New_York", "Mon 30 Nov 2026 04:00 EST", "-05:00"),
        ("America/St_Johns", "Mon 30 Nov 2026 05:30 NST", "-03:30"),
        ("Pacific/Kiritimati", "Mon 30 Nov 2026 23:00 +14", "+14:00"),
        ("Pacific/Pago_Pago", "Sun 29 Nov 2026 22:00 SST", "-11:00"),
    ],
)
def test_a_moment_names_day_time_and_zone(zone: str, text: str, distance: str) -> None:
    assert moment(MONDAY, zone) == text
    assert offset(MONDAY, zone) == distance


def test_seconds_of_historic_offsets_are_left_out_of_the_text_only() -> None:
    assert offset(-3_000_000_000, "Europe/Paris") == "+00:09"
    assert utc_offset(-3_000_000_000, "Europe/Paris") == 561
    assert utc_offset(MONDAY, "America/New_York") == -18000


def test_the_clock_drops_the_day_while_it_lasts() -> None:
    assert clock(MONDAY, "Europe/Berlin", MONDAY + 14 * 3600 - 1) == "10:00"
    assert clock(MONDAY, "Europe/Berlin", MONDAY + 14 * 3600) == "Mon 30 Nov 10:00"


def test_a_day_is_the_zones_own() -> None:
    assert day(MONDAY, "Pacific/Pago_Pago") == "2026-11-29"
    assert day(MONDAY + 4 * 3600, "Pacific/Kiritimati") == "2026-12-01"


@pytest.mark.parametrize(
    ("text", "epoch"),
    [
        ("2026-11-30T09:00:00Z", MONDAY),
        ("2026-11-30T10:00:00+01:00", MONDAY),
        ("2026-11-30T10:00+01:00", MONDAY),
        ("2026-11-30 05:30:00-03:30", MONDAY),
        ("2026-11-30T09:00:00.999999Z", MONDAY),
        ("1969-12-31T23:59:59.5Z", -1),
        (" 2026-11-30T09:00:00Z\n", MONDAY),
    ],
)
def test_times_with_an_offset_are_read(text: str, epoch: int) -> None:
    assert parse_iso(text) == epoch


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("2026-11-30T09:00:00", "add an offset"),
        ("2026-11-30", "add an offset"),
        ("yesterday", "write it as 2026-12-07T09:00:00+01:00"),
        ("2026-02-30T09:00:00Z", "is not a time"),
        ("", "is not a time"),
    ],
)
def test_other_times_are_refused_with_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(Unreadable, match=hint.replace("+", r"\+")):
        parse_iso(text)


@pytest.mark.parametrize("epoch", [0, -1, MONDAY, 253402300799])
def test_iso_text_reads_back(epoch: int) -> None:
    assert parse_iso(iso(epoch)) == epoch


def test_iso_text_is_utc_in_whole_seconds() -> None:
    assert iso(MONDAY) == "2026-11-30T09:00:00Z"


@pytest.mark.parametrize("name", ["Europe/Atlantis", "", "../../etc/passwd", "/etc/localtime", "Europe"])
def test_an_unknown_zone_is_the_users_to_mend(name: str) -> None:
    with pytest.raises(UsageError, match="IANA name"):
        moment(MONDAY, name)
