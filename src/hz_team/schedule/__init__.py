"""When jobs wake by the clock: one set of pure functions for due-check, catch-up and preview.

A *slot* is one planned time of a cron or once trigger, in seconds since 1970 UTC; `slots` and everything built on it
is strictly increasing. croniter finds the days, the zone is ours (`calendar`): it is imported only when a trigger's
window does not reach, so that an idle tick pays for neither.

Rules of odd days, for a pattern whose hour field
  names hours        a time inside a spring gap runs right after the jump, once; a repeated time runs once, the first
  starts with `*`    no make-up in the gap; both copies of a repeated hour run
Slots that meet in one instant are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.moment import clock, day, iso, moment, offset
from hz_team.schedule.debt import BEHIND, Due, due, serve, served
from hz_team.schedule.slot import Coming, newest, next_slot, preview, slots, window

if TYPE_CHECKING:
    from hz_team.model.job import Trigger

__all__ = [
    "BEHIND",
    "Coming",
    "Due",
    "clock",
    "day",
    "due",
    "identity",
    "iso",
    "lint",
    "moment",
    "newest",
    "next_slot",
    "offset",
    "parse",
    "preview",
    "serve",
    "served",
    "slots",
    "window",
]


def parse(text: str, job_id: str = "") -> str:
    """Return five normalised fields (`schedule.dialect` states what is accepted).

    `H` is replaced by what the job's id makes of it. Raises Unreadable with a hint for everything else, dates that
    never happen included.
    """
    from hz_team.schedule import dialect

    return dialect.parse(text, job_id)


def identity(trigger: Trigger) -> str:
    """Return 16 hex digits over the normalised cron or the timestamps, and the zone; "" if it has no slots.

    Place and policy do not enter: a moved entry, or one with another `catch_up`, keeps the slots it has served.
    """
    from hashlib import sha256

    if trigger.kind not in ("cron", "once"):
        return ""
    when = trigger.cron or " ".join(str(time) for time in sorted(set(trigger.times)))
    return sha256(f"{trigger.kind}\n{when}\n{trigger.zone}".encode()).hexdigest()[:16]


def lint(trigger: Trigger, now: int) -> tuple[str, ...]:
    """Return what a person should look at twice, one sentence each, with dates."""
    from hz_team.schedule import doubt

    return doubt.doubts(trigger, now)
