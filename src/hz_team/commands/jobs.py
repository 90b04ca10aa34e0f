"""`hz-team jobs`: helpers, their last and next run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team import duty, schedule
from hz_team.commands import assembly, document, option
from hz_team.commands.table import columns
from hz_team.moment import moment

if TYPE_CHECKING:
    from argparse import Namespace

    from hz_team.model.job import Job
    from hz_team.model.state import Position
    from hz_team.ports import World


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    return option.parser("jobs", __doc__ or "").parse_args(words)


def run(options: Namespace) -> int:
    """Print one line a job."""
    now = option.now_of(options)
    world = assembly.open_world(option.root_of(options), options, now)
    rows = [_row(world, job, now) for job in world.config.jobs]
    if options.json:
        document.show(rows)
        return 0
    texts = [(row["job"], row["last"], row["next"]) for row in rows]
    print(columns(("helper", "last", "next"), texts) if texts else "no helpers yet; put a job into .hz/jobs/")
    return 0


def _row(world: World, job: Job, now: int) -> dict[str, str]:
    view = world.state.fetch()
    position = duty.position_of(view, job)
    zone = job.triggers[0].zone if job.triggers else world.config.settings.timezone
    last = "never"
    if position.outcome:
        last = f"{moment(position.outcome['at'], zone)} {position.outcome['text']}"
    reason, text = duty.obstacle(job, position, world.config, view, now)
    return {
        "job": job.id,
        "name": job.name,
        "file": job.file,
        "last": last,
        "next": text if reason else _next(job, position, now),
    }


def _next(job: Job, position: Position, now: int) -> str:
    if 0 < position.retry_at <= now or duty.clocks(job, position, now, considered={}, limit=1):
        return "with the next tick"
    return upcoming(job, now)


def upcoming(job: Job, now: int) -> str:
    """Return when the job runs next, in plain words."""
    coming = [(slot, t.zone) for t in job.triggers if t.identity and (slot := schedule.next_slot(t, now)) is not None]
    if coming:
        slot, zone = min(coming)
        return moment(slot, zone)
    return "on change" if any(t.kind == "watch" for t in job.triggers) else "when asked"
