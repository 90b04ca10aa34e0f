"""`hz-team plan [--next N | --out DIR]`: what a tick would run now, the next slots, or the first third of a split tick.

`--out` claims the leases and writes the plan down for `draft` and `settle`.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from hz_team import schedule
from hz_team.commands import assembly, document, option
from hz_team.commands.table import columns
from hz_team.errors import RemoteError, UsageError
from hz_team.moment import iso, moment, offset
from hz_team.phases.claim import term

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from hz_team.model.job import Job
    from hz_team.parcel.sheet import Parcel
    from hz_team.ports import Lease, World
    from hz_team.tick import Story


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("plan", __doc__ or "")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--next", type=option.count, metavar="N", help="print the next N slots of every helper instead")
    what.add_argument("--out", metavar="DIR", help="claim what is to be done and write the plan there (split mode)")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Print the plan, hand it over, or print the coming slots."""
    if options.out:
        return hand_over(options)
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


def hand_over(options: Namespace) -> int:
    """Look, claim, and write down what `draft` and `settle` need."""
    from hz_team.commands import delivery, tick
    from hz_team.model.observation import Heard
    from hz_team.parcel import standing
    from hz_team.tick import look

    if options.remote is None:
        raise UsageError(
            "plan --out: its drafts are settled by another process, which needs a state that both reach; "
            "add --remote URL, or use `hz-team tick`"
        )
    root, now = option.root_of(options), option.now_of(options)
    delivered = delivery.received()
    if delivered and (why := delivery.barred(delivered, root, options, now)):
        return _ignored(why, options)
    world = assembly.open_world(root, options, now)
    heard = delivery.heard(delivered, world, options, now) if delivered else Heard()
    if heard.event.ignored:
        return _ignored(heard.event.ignored, options)
    _make(options.out)
    before = world.notes.data_text()
    story = look(world, heard, now=now)
    planned = standing.by_themselves(story.plan, world.config, story.before, now)
    story = story._replace(plan=planned)
    quiet = bool(story.halted) or _is_quiet(world, story)
    story, digest, apart = _written(world, story, options.out, quiet=quiet)
    tick.remember(world, story, before)
    settle = bool(digest) and not quiet
    tick.say(world, story, options, dry_run=True, more={"digest": digest, "jobs": apart, "settle": settle})
    if not options.json and digest:
        print(f"plan {digest}")
    _tell_actions({"digest": digest, "jobs": json.dumps(apart), "count": len(apart), "settle": str(settle).lower()})
    return tick.code(story)


def _ignored(why: str, options: Namespace) -> int:
    """Say why nothing is planned, to the further jobs of the workflow as well."""
    from hz_team.commands import delivery

    _tell_actions({"digest": "", "jobs": "[]", "count": 0, "settle": "false"})
    return delivery.ignore(why, options)


def _make(folder: str) -> None:
    """Make the folder before anything is claimed for what goes there."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise RemoteError(f"{folder} cannot be made: {error.strerror}") from error


def _is_quiet(world: World, story: Story) -> bool:
    """Whether nothing is to be done; a machine that has never drawn the pages compares them first."""
    from hz_team import fingerprint, pages
    from hz_team.tick import is_quiet

    view, stamps = story.before, story.seen.heard.stamps
    shown = [view.tip, world.config.key]
    if world.notes.shown != shown and not story.plan.orders:
        drawn = pages.texts(world, view, pages.drafts_of(world, view))
        if stamps == {name: fingerprint.page(text) for name, text in drawn.items()}:
            world.notes.shown = shown
    return is_quiet(world, story)


def _written(world: World, story: Story, folder: str, *, quiet: bool) -> tuple[Story, str, list[str]]:
    """Claim and write the parcel; return the story, the digest and the jobs to draft apart. Nothing if it is halted."""
    from hz_team.parcel import sheet
    from hz_team.tick import take

    if not quiet:
        story = take(world, story, mode="split")
    if story.halted:
        return story, "", []
    leases: Mapping[str, Lease] = {}
    try:
        leases = world.leases.hand_over(story.leases.values()) if story.leases else {}
        parcel = _parcel(world, story._replace(leases=leases))
        digest = sheet.write(folder, parcel, _documents(world, story, parcel))
    except BaseException:
        _give_back(world, story, leases)
        raise
    return story._replace(leases=leases), digest, list(parcel.apart)


def _give_back(world: World, story: Story, handed: Mapping[str, Lease]) -> None:
    """Free leases for which there will be no drafts; those handed over already are taken back first."""
    back = story.leases
    if handed:
        seconds = term(world, handed.keys())
        back = world.leases.adopt(handed.values(), now=story.now, ttl=seconds, ledger=story.after.anchor)
    world.leases.release(back.values())


def _parcel(world: World, story: Story) -> Parcel:
    from hz_team.parcel import sheet, standing

    view = story.after
    orders = tuple(order for order in story.plan.orders if order.job in story.leases)
    drafted = {order.job for order in orders}
    jobs = [job for job in world.config.jobs if job.id in drafted]
    vain = {name for skip in story.plan.skips for name in skip.pokes}
    parcel = sheet.Parcel(
        v=sheet.VERSION,
        now=story.now,
        state=shown(world.state.url),
        repository=world.forge.repository,
        runner=world.runner,
        anchor=view.anchor,
        plan=story.plan._replace(orders=orders),
        apart=tuple(job.id for job in jobs if standing.is_apart(job)),
        contracts={job.id: job.contract for job in jobs},
        positions={name: view.positions[name] for name in story.leases if name in view.positions},
        leases=story.leases,
        woken=story.woken,
        pokes=tuple(poke for poke in story.pokes if poke.id not in vain),
    )
    return sheet.packed(parcel, view, story.seen)


def shown(url: str) -> str:
    """Return a state's URL without credentials."""
    from hz_team.adapters import refusal

    return refusal.shown(url)


def _documents(world: World, story: Story, parcel: Parcel) -> list[bytes]:
    """Return the snapshots that are new, and those of the state that an order reads; one that is lost is left out."""
    from hz_team.parcel import sheet

    looks = story.seen.looks.values()
    fresh = {look.cursor.snapshot: content for look in looks if (content := look.document) is not None}
    paths = [f"facets/{name[:2]}/{name}.json" for name in sorted(sheet.needed(parcel.plan) - fresh.keys())]
    stored = world.state.read(story.after, paths) if paths else {}
    return [*fresh.values(), *stored.values()]


def _tell_actions(values: dict[str, str | int]) -> None:
    """Append outputs for further jobs of a workflow, where GitHub Actions asks for them."""
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as stream:
            stream.write("".join(f"{name}={value}\n" for name, value in values.items()))
    except OSError as error:
        raise RemoteError(f"{path} (GITHUB_OUTPUT) cannot be written: {error.strerror}") from error
