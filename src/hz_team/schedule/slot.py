"""Slots of a trigger, from its window as long as that reaches, else from the calendar."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from hz_team.model.job import Window

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hz_team.model.job import Trigger

DAY = 86400
LOOKS_BACK = (2 * DAY, 40 * DAY, 400 * DAY, 3000 * DAY)
"""How far to look for the newest slot, growing: 29 February may be eight years and a day ago."""
DENSE = 300
"""At most so many slots of a window are kept only to reach through a whole day."""


class Coming(NamedTuple):
    """One slot ahead, and the zone it is written in."""

    slot: int
    zone: str


def slots(trigger: Trigger, after: int, until: int, *, limit: int | None = None) -> tuple[int, ...]:
    """Return every slot s with after < s <= until, strictly increasing; the first `limit` of them if given."""
    coming = takewhile(lambda slot: slot <= until, _stream(trigger, after, until))
    return tuple(islice(coming, limit))


def next_slot(trigger: Trigger, after: int) -> int | None:
    """Return the first slot later than `after`; None if there is none."""
    return next(_stream(trigger, after), None)


def newest(trigger: Trigger, now: int) -> int | None:
    """Return the last slot that has come, `now` itself included; None if none has within eight years."""
    if trigger.kind == "once":
        return max((time for time in trigger.times if time <= now), default=None)
    if trigger.kind != "cron":
        return None
    known = trigger.window
    if known and known.slots and known.slots[0] <= now <= known.end:
        return known.slots[bisect_right(known.slots, now) - 1]
    past = _past(trigger, now, 1)
    return past[0] if past else None


def window(trigger: Trigger, now: int, *, ahead: int = 24) -> Window:
    """Enumerate ahead: two slots up to `now` and `ahead` after it, or a day's worth (300 at most) if that is more.

    A once trigger's window has all its times.
    """
    if trigger.kind != "cron":
        times = tuple(sorted(set(trigger.times)))
        return Window(min((now, *times)) - 1, max((now, *times)), times)
    bare = trigger._replace(window=None)
    past = _past(bare, now, 2)
    stream = _stream(bare, now)
    coming = [*islice(stream, ahead)]
    coming += takewhile(lambda slot: slot <= now + DAY, islice(stream, max(0, DENSE - ahead)))
    return Window(past[0] - 1 if past else now, coming[-1] if coming else now, (*past, *coming))


def preview(triggers: Sequence[Trigger], after: int, count: int) -> tuple[Coming, ...]:
    """Return the next slots of a job over all its triggers; slots that meet in one instant are one."""
    coming: dict[int, Coming] = {}
    for trigger in triggers:
        for slot in islice(_stream(trigger, after), count):
            coming.setdefault(slot, Coming(slot, trigger.zone))
    return tuple(coming[slot] for slot in sorted(coming)[:count])


def _past(trigger: Trigger, now: int, count: int) -> tuple[int, ...]:
    """Return the last `count` slots up to `now`; fewer if eight years have no more."""
    past: tuple[int, ...] = ()
    for span in LOOKS_BACK:
        past = slots(trigger, now - span, now)
        if len(past) >= count:
            break
    return past[-count:]


def _stream(trigger: Trigger, after: int, until: int | None = None) -> Iterator[int]:
    """Yield slots later than `after`; those later than `until` only if they cost nothing."""
    if trigger.kind == "once":
        yield from sorted({time for time in trigger.times if time > after})
    if trigger.kind != "cron":
        return
    known = trigger.window
    if known and known.start <= after <= known.end:
        yield from known.slots[bisect_right(known.slots, after) :]
        if until is not None and until <= known.end:
            return
        after = known.end
    from hz_team.schedule.calendar import walk

    yield from walk(trigger.cron, trigger.zone, after)
