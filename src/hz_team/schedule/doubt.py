"""Patterns that are right and often not meant: shown with their dates, so that a person can see what they get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.moment import day, moment
from hz_team.schedule.calendar import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.model.job import Trigger

SHOWN = 5
"""Dates in a warning."""


def doubts(trigger: Trigger, now: int) -> tuple[str, ...]:
    """Return one sentence for each doubt about a trigger."""
    if trigger.kind != "cron":
        return ()
    _, _, date, _, weekday = trigger.cron.split()
    if "*" in (date, weekday):
        return ()
    either = (
        f"`{trigger.cron}` restricts day of month ({date}) and weekday ({weekday}), and either is enough: "
        f"next on {', '.join(_dates(trigger, now))}; write * in one of the two to mean the other alone"
    )
    return (either,)


def _dates(trigger: Trigger, now: int) -> Iterator[str]:
    """Yield the next five days on which it runs: `Fri 13 Feb 2026`."""
    seen: set[str] = set()
    for slot in walk(trigger.cron, trigger.zone, now):
        date = day(slot, trigger.zone)
        if date not in seen:
            seen.add(date)
            yield moment(slot, trigger.zone).rsplit(" ", 2)[0]
        if len(seen) == SHOWN:
            return
