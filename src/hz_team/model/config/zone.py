"""Names of time zones: exact case on every machine, from the bundled database, with a hint for what is none."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator

from hz_team.model.config.value import Misfit, text_of

ABBREVIATIONS = {
    "BST": "Europe/London",
    "CEST": "Europe/Berlin",
    "CST": "America/Chicago or Asia/Shanghai",
    "CDT": "America/Chicago",
    "EDT": "America/New_York",
    "IST": "Asia/Kolkata, Europe/Dublin or Asia/Jerusalem",
    "JST": "Asia/Tokyo",
    "MDT": "America/Denver",
    "PDT": "America/Los_Angeles",
    "PST": "America/Los_Angeles",
}
FIXED = {"EST": "America/New_York", "MST": "America/Denver", "HST": "Pacific/Honolulu"}
"""Zones that are one offset all year, though their names are those of zones that are not."""


@cache
def zones() -> frozenset[str]:
    """Return every IANA name, from this machine and from the bundled tzdata, links included."""
    from importlib import resources
    from zoneinfo import available_timezones

    bundled = (resources.files("tzdata") / "zones").read_text("utf-8").split()
    return frozenset({*available_timezones(), *bundled} - {"localtime", "Factory", "posixrules"})


def a_zone(value: Any) -> str:
    """Check a zone's name, in exactly its case on every machine."""
    text = text_of(value)
    if text in zones():
        return text
    if not text:
        raise Misfit("no time zone is written; write an IANA name such as Europe/Berlin, or leave the key out")
    raise Misfit(f"`{text}` is not a time zone; {_nearest(text)}")


def _nearest(text: str) -> str:
    by_case = {name.lower(): name for name in sorted(zones())}
    if text.lower() in by_case:
        return f"write {by_case[text.lower()]} (upper and lower case count)"
    if text.upper() in ABBREVIATIONS:
        return f"an abbreviation names several places or half a year; write {ABBREVIATIONS[text.upper()]}"
    shift = re.fullmatch(r"(?:UTC|GMT)?([+-])0?([0-9]{1,2})(?::?00)?", text, re.IGNORECASE)
    if shift:
        inverted = "-" if shift[1] == "+" else "+"
        fixed = f"Etc/GMT{inverted}{shift[2]}"
        return f"an offset knows no summer time; write a place such as Europe/Berlin, or {fixed} (its sign is inverted)"
    from difflib import get_close_matches

    near = get_close_matches(text.lower(), by_case, n=1)
    return f"did you mean {by_case[near[0]]}?" if near else "write an IANA name such as Europe/Berlin or UTC"


Zone = Annotated[str, BeforeValidator(a_zone, json_schema_input_type=str)]
