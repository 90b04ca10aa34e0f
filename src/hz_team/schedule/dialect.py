"""The cron dialect: five fields, read strictly, written back in one normal form.

    minute 0-59 · hour 0-23 · day of month 1-31 · month 1-12 or jan-dec · weekday 0-7 or sun-sat, 0 and 7 are Sunday

A field is a comma list of `*`, a number or name, a range `a-b`, each with an optional step `/n`; `5/15` counts from 5
to the field's end, as on GitHub. `H`, `H/n`, `H(a-b)` and `H(a-b)/n` take their place from the job's id, so that many
jobs do not all start at minute 0; days of the month by `H` stay below 29. Or one of @hourly @daily @midnight @weekly
@monthly @yearly @annually. Upper and lower case are the same, and so are one blank and many.
When both day fields are restricted, either is enough (POSIX); a field that names every value is `*`.

Not accepted, each with a hint: seconds or years, `L`, `W`, `#`, `?`, ranges that run backwards, steps that never
repeat, @reboot, @every, and dates that never happen. In the normal form `*/n` stands in the hour field only if it was
written so, because a star there decides what happens when clocks change.
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from hz_team.moment import Unreadable


class Field(NamedTuple):
    """One of the five: its name in messages and its bounds."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    """Words for the values, from `low` on."""

    @property
    def last(self) -> int:
        """The greatest value a written number may have: 7 is Sunday too."""
        return 7 if self.name == "weekday" else self.high


MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day of month", 1, 31)
MONTH = Field("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))
WEEKDAY = Field("weekday", 0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat"))
FIELDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)

NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Days of each month, leap years included."""
SAFE_DAY = 28
"""Every month has it."""

TERM = re.compile(
    r"(?P<star>\*)(?:/(?P<star_step>[0-9]+))?"
    r"|H(?:\((?P<from>[0-9]+)-(?P<to>[0-9]+)\))?(?:/(?P<hash_step>[0-9]+))?"
    r"|(?P<first>[0-9]+|[A-Z]{3})(?:-(?P<second>[0-9]+|[A-Z]{3}))?(?:/(?P<step>[0-9]+))?",
)


def parse(text: str, job_id: str = "") -> str:
    """Return the five normalised fields. Raises Unreadable."""
    words = text.split()
    if words and words[0].startswith("@"):
        words = _nickname(words).split()
    if len(words) != len(FIELDS):
        raise Unreadable(f"`{text.strip()}` has {_count(words)}; {_which(words)}")
    found = [_values(word, field, job_id) for word, field in zip(words, FIELDS, strict=True)]
    written = [_write(values, word, field) for values, word, field in zip(found, words, FIELDS, strict=True)]
    if written[4] == "*" and min(found[2]) > max(LONGEST[month - 1] for month in found[3]):
        raise Unreadable(
            f"`{text.strip()}` never happens: no such month has a day {min(found[2])}; change day or month"
        )
    return " ".join(written)


def values(text: str, field: Field) -> tuple[int, ...]:
    """Return the values of one normalised field, ascending."""
    return tuple(sorted(_values(text, field, "")))


def _count(words: list[str]) -> str:
    return f"{len(words)} field{'s' if len(words) != 1 else ''}"


def _which(words: list[str]) -> str:
    if len(words) == len(FIELDS) + 1:
        return "seconds and years are not known here: write five, minute hour day month weekday"
    return "write five, minute hour day month weekday, such as `0 9 * * 1`, or @daily"


def _nickname(words: list[str]) -> str:
    name = words[0].lower()
    if len(words) == 1 and name in NICKNAMES:
        return NICKNAMES[name]
    if name == "@reboot":
        raise Unreadable("`@reboot`: a tick has no start-up to wait for; write a time, or use a poke")
    if name == "@every":
        raise Unreadable(
            f"`{' '.join(words)}`: write the rhythm in fields, such as `*/5 * * * *` for every five minutes"
        )
    known = ", ".join(NICKNAMES)
    raise Unreadable(f"`{' '.join(words)}` is not a name for a schedule; there are {known}")


def _values(text: str, field: Field, job_id: str) -> set[int]:
    found: set[int] = set()
    for term in text.upper().split(","):
        match = TERM.fullmatch(term)
        if not match:
            raise _unreadable(text, field, _hint(term))
        found.update(_term(match, text, field, job_id))
    return found


def _term(match: re.Match[str], text: str, field: Field, job_id: str) -> set[int]:
    part = match.groupdict()
    if part["star"]:
        return _stepped(field.low, field.high, part["star_step"], text, field)
    if part["first"] is None:
        return _hashed(part, text, field, job_id)
    first = _number(part["first"], text, field)
    if part["second"] is None:
        first = first % 7 if field is WEEKDAY else first
        return _stepped(first, first if part["step"] is None else field.high, part["step"], text, field)
    second = _number(part["second"], text, field)
    if field is WEEKDAY:
        first, second = _sundays(first, second)
    if first > second:
        twice = f"{first}-{field.high},{field.low}-{second}"
        raise _unreadable(text, field, f"the range runs backwards; write {twice}")
    return _stepped(first, second, part["step"], text, field)


def _sundays(first: int, second: int) -> tuple[int, int]:
    """Return a range of weekdays with Sunday at the end it is meant for: 0 in front, 7 behind."""
    first = 0 if first == 7 and second != 7 else first  # noqa: PLR2004
    return first, 7 if second == 0 and first > 0 else second


def _stepped(first: int, last: int, step: str | None, text: str, field: Field) -> set[int]:
    by = int(step) if step else 1
    if step and not by:
        raise _unreadable(text, field, "a step of 0 stands still; steps begin at 1")
    if by > field.high - field.low:
        raise _unreadable(
            text, field, f"a step of {by} never repeats within {field.low}-{field.high}; write one number"
        )
    found = set(range(first, last + 1, by))
    return {value % 7 for value in found} if field is WEEKDAY else found


def _hashed(part: dict[str, str | None], text: str, field: Field, job_id: str) -> set[int]:
    if not job_id:
        raise _unreadable(text, field, "H takes its place from a job's id, and there is none here")
    low, high = field.low, SAFE_DAY if field is DAY else field.high
    if part["from"] is not None and part["to"] is not None:
        low, high = _number(part["from"], text, field), _number(part["to"], text, field)
    if low > high:
        raise _unreadable(text, field, f"H({low}-{high}) runs backwards; write the smaller number first")
    seed = int.from_bytes(sha256(f"{job_id}\n{field.name}".encode()).digest()[:8], "big")
    step = part["hash_step"]
    width = high - low + 1
    if step is None:
        return _stepped(low + seed % width, low + seed % width, None, text, field)
    return _stepped(low + seed % max(1, min(int(step), width)), high, step, text, field)


def _number(word: str, text: str, field: Field) -> int:
    if word.isdecimal():
        if field.low <= int(word) <= field.last:
            return int(word)
        sunday = "; 0 and 7 are Sunday" if field is WEEKDAY else ""
        raise _unreadable(text, field, f"{word} is not within {field.low}-{field.last}{sunday}")
    if word.lower() in field.names:
        return field.low + field.names.index(word.lower())
    known = f"; names are {' '.join(field.names)}" if field.names else "; it takes numbers only"
    raise _unreadable(text, field, f"{word.lower()} is no name in this field{known}")


def _unreadable(text: str, field: Field, hint: str) -> Unreadable:
    return Unreadable(f"`{text}` in the {field.name} field: {hint}")


HINTS = (
    (r"", "an item is missing beside a comma; remove the comma"),
    (r"\?", "? is not known here; write *"),
    (r".*#.*", "the nth weekday (#) is not known here; list the dates under `once`"),
    (r"L|.*[0-9]L|L-?[0-9]+|[A-Z]{3}L", "the last day (L) is not known here; list the dates under `once`"),
    (r"LW|WL|[0-9]+W|W", "the nearest working day (W) is not known here; list the dates under `once`"),
    (r"-[0-9]+.*", "numbers are not negative; write a range as a-b"),
    (r"[A-Z]{4,}(-[A-Z]+)?", "names have three letters, such as mon or jan"),
    (r".*/", "the step after / is missing"),
    (r".*/-?[0-9.]*[^0-9].*", "a step is a whole number"),
    (r"[A-Z]+", "it is no name of a day or month; names have three letters, such as mon or jan"),
)


def _hint(term: str) -> str:
    for pattern, hint in HINTS:
        if re.fullmatch(pattern, term):
            return hint
    return "write a number, a range a-b, a list a,b or a step */n"


def _write(found: set[int], text: str, field: Field) -> str:
    every = field.high - field.low + 1
    if len(found) == every:
        return "*"
    star = re.match(r"\*/([0-9]+)", text)
    if field is HOUR and star:
        rest = found - set(range(0, every, int(star[1])))
        return ",".join((f"*/{int(star[1])}", *_runs(sorted(rest))))
    step = _rhythm(sorted(found))
    whole = step and min(found) == field.low and max(found) + step > field.high
    if whole and field is not HOUR and (every % step == 0 or len(found) > 2):  # noqa: PLR2004
        return f"*/{step}"
    if step and len(found) > 2:  # noqa: PLR2004  (two numbers read better as a list)
        return f"{min(found)}-{max(found)}/{step}"
    return ",".join(_runs(sorted(found)))


def _rhythm(found: list[int]) -> int:
    """Return the one distance between neighbours if it is greater than 1, else 0."""
    steps = {after - before for before, after in pairwise(found)}
    return steps.pop() if len(steps) == 1 and steps != {1} else 0


def _runs(found: list[int]) -> list[str]:
    runs: list[list[int]] = []
    for value in found:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return [part for run in runs for part in _run(run)]


def _run(run: list[int]) -> list[str]:
    return [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(value) for value in run]  # noqa: PLR2004
