"""`hz-team plan [--next N]`: what a tick would run now, and the next slots of every helper, with the zone's offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team import schedule
from hz_team.commands import assembly, document, option
from hz_team.commands.table import columns
from hz_team.moment import iso, moment, offset

if TYPE_CHECKING:
    from argparse import Namespace

    from hz_team.model.job import Job


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("plan", __doc__ or "")
    parser.add_argument("--next", type=option.count, metavar="N", help="print the next N slots of every helper instead")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Print the plan, or the coming slots."""
    if options.next is None:
        from hz_team.commands import tick

        options.dry_run = True
        return tick.perform(options)
    root, now = option.root_of(options), option.now_of(options)
    index = assembly.index_of(root, now)
    rows = [row for job in index.jobs for row in coming(job, now, options.next)]
    if options.json:
        document.show([{"job": job, "slot": iso(slot), "zone": zone} for job, slot, zone in rows])
        return 0
    texts = [(job, moment(slot, zone), offset(slot, zone), iso(slot)) for job, slot, zone in rows]
    print(columns(("helper", "next", "offset", "UTC"), texts) if texts else "no slot is to come")
    return 0


def coming(job: Job, now: int, count: int) -> list[tuple[str, int, str]]:
    """Return the job's next slots with the zone each is written in; `schedule.preview` decides, as in a tick."""
    return [(job.id, slot, zone) for slot, zone in schedule.preview(job.triggers, now, count)]
