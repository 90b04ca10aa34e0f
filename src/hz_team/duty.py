"""Which jobs have a reason to run now: one answer for observe (which watches to read) and plan (what to order)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import schedule
from hz_team.model.state import Position

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hz_team.model.job import Index, Job, Settings, Trigger
    from hz_team.model.state import View
    from hz_team.schedule import Due


class Clock(NamedTuple):
    """A trigger with slots that are owed: to run, to pass over, or both."""

    trigger: Trigger
    due: Due


def position_of(view: View, job: Job, retried: Collection[str] = ()) -> Position:
    """Return where the job stands, at its beginning if it has never been written; `retried`: jobs to try again."""
    position = view.positions.get(job.id) or Position(job=job.id)
    return unparked(position) if job.id in retried else position


def unparked(position: Position) -> Position:
    """Return the position of a job that is tried again as if it had never failed."""
    return position._replace(parked={}, failures=0, retry_at=0)


def clocks(job: Job, position: Position, now: int, *, considered: Mapping[str, int], limit: int) -> tuple[Clock, ...]:
    """Return the job's triggers with slots that are owed, leaving out those already looked at and found unchanged."""
    found = []
    for trigger in job.triggers:
        newest = schedule.newest(trigger, now) if trigger.identity else None
        if newest is None or newest <= considered.get(f"{job.id}/{trigger.identity}", 0):
            continue
        due = schedule.due(trigger, position.triggers.get(trigger.identity), now, limit=limit)
        if due.run or due.passed:
            found.append(Clock(trigger, due))
    return tuple(found)


def stale(job: Job, position: Position, now: int) -> int:
    """Return how many `fresh_for` periods have ended since the last render."""
    if not job.fresh_for or not position.rendered_at:
        return 0
    return max(0, (now - position.rendered_at) // job.fresh_for)


def obstacle(job: Job, position: Position, index: Index, view: View, now: int) -> tuple[str, str]:
    """Return why the job may not run at all now, as a counter word and plain words; ("", "") if it may."""
    settings = index.settings
    if settings.paused or view.paused:
        return "paused", f"paused by {view.paused.get('by') or '.hz/control.yaml'}"
    if not job.enabled or job.id in settings.disabled:
        return "disabled", "disabled in " + (".hz/control.yaml" if job.id in settings.disabled else job.file)
    if position.parked and position.parked.get("contract") == job.contract:
        return "parked", "parked after failures; try again from the dashboard"
    if position.retry_at > now:
        return "retry", f"tried again after {schedule.moment(position.retry_at, settings.timezone)}"
    return _too_dear(job, position, view, settings, now)


def is_held(job: str, index: Index, view: View) -> bool:
    """Whether nothing of the job is published for now: a switch is off, or its file is gone or invalid."""
    known = next((one for one in index.jobs if one.id == job), None)
    off = index.settings.paused or bool(view.paused) or job in index.settings.disabled
    return off or known is None or not known.enabled


def is_gone(job: str, index: Index) -> bool:
    """Whether there is no file of the job any more, not even an invalid one."""
    return job not in index.broken and all(one.id != job for one in index.jobs)


def ceiling(job: Job, spent: int, everyone: int, settings: Settings) -> str:
    """Return which cost ceiling a day's spending has reached, in micro-dollars: "its", "the team's", or ""."""
    if job.usd_micros_per_day is not None and spent >= job.usd_micros_per_day:
        return "its"
    if settings.usd_micros_per_day is not None and everyone >= settings.usd_micros_per_day:
        return "the team's"
    return ""


def _too_dear(job: Job, position: Position, view: View, settings: Settings, now: int) -> tuple[str, str]:
    if job.usd_micros_per_day is None and settings.usd_micros_per_day is None:
        return "", ""
    day = schedule.day(now, settings.timezone)
    everyone = sum(other.spent.get(day, 0) for other in view.positions.values())
    whose = ceiling(job, position.spent.get(day, 0), everyone, settings)
    return ("cost", f"{whose} cost ceiling is reached; it goes on tomorrow by itself") if whose else ("", "")


def changed(job: Job, position: Position, snapshots: Mapping[str, str]) -> tuple[str, ...]:
    """Return the watches that wake this job because their snapshot is another than at its last render."""
    names = (trigger.name for trigger in job.triggers if trigger.kind == "watch")
    return tuple(name for name in names if snapshots.get(name) and snapshots[name] != position.seen.get(name))


def next_slot(jobs: Sequence[Job], settings: Settings, now: int) -> tuple[str, int] | None:
    """Return the job that is due next by the clock, and when."""
    coming = [
        (slot, job.id)
        for job in jobs
        if job.enabled and job.id not in settings.disabled
        for trigger in job.triggers
        if trigger.identity and (slot := schedule.next_slot(trigger, now)) is not None
    ]
    if not coming:
        return None
    slot, name = min(coming)
    return name, slot
