"""`hz-team try JOB`: drafts one job, disabled or not, shows the draft and what would be published; changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hz_team import material, poke, registry, schedule
from hz_team.commands import assembly, document, option
from hz_team.errors import UsageError
from hz_team.markdown import plain
from hz_team.model.order import Order
from hz_team.moment import moment, parse_iso

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Container

    from hz_team.model.draft import Draft, Outcome
    from hz_team.model.facet import Item
    from hz_team.model.job import Job
    from hz_team.ports import World


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("try", __doc__ or "")
    parser.add_argument("job", metavar="JOB")
    parser.add_argument("--watch", action="append", default=[], metavar="NAME=FILE", help="items of a watch, as JSON")
    parser.add_argument("--at", metavar="ISO", help="the slot to draft for (default: the newest one before now)")
    parser.add_argument("--input", action="append", default=[], metavar="K=V", help="a declared input")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Draft, print, forget. Exit 1 if the draft failed."""
    from hz_team.phases.draft import Workshop, draft

    now = parse_iso(options.at) if options.at else option.now_of(options)
    world = assembly.open_world(option.root_of(options), options, now, looking=True)
    job = poke.find(world.config, options.job)
    given = dict(map(option.pair, options.input))
    told = dict(_watch(job, text) for text in options.watch)
    items = {**live(world, job, now, but=told), **told}
    order = _order(job, now, poke.inputs(job, given))
    facets = material.given(items)
    order = order._replace(snapshot=dict.fromkeys(items, ""))
    workshop = Workshop(world.root, world.config, world.processes, world.environ, now, lambda _: facets, world.withheld)
    outcome = draft((order,), workshop)[0]
    if options.json:
        document.show(outcome)
    else:
        print(document.lines(_text(outcome, order, job, world)))
    return 1 if outcome.status == "failed" else 0


def _order(job: Job, now: int, inputs: dict[str, Any]) -> Order:
    clocks = [trigger for trigger in job.triggers if trigger.identity]
    slot = max((s for t in clocks for s in schedule.slots(t, now - 400 * 86400, now)[-1:]), default=None)
    base = {name: spec.default for name, spec in job.inputs.items() if spec.default is not None}
    return Order(job.id, "manual", "tried by hand", slot=slot, inputs={**base, **inputs})


def live(world: World, job: Job, now: int, *, but: Container[str] = ()) -> dict[str, tuple[Item, ...]]:
    """Return what the job's other watches show now, everything in it counted as new; nothing is remembered."""
    from hz_team.phases.observe import glance

    return {watch: glance(world, watch, now) for watch in job.watches.values() if watch not in but}


def _watch(job: Job, text: str) -> tuple[str, tuple[Item, ...]]:
    name, equals, path = text.partition("=")
    if not equals or name not in job.watches:
        raise UsageError(f"--watch {text}: write NAME=FILE; {job.id} watches {', '.join(job.watches) or 'nothing'}")
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: {why}; it should hold a JSON list of items") from error
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise UsageError(f'{path}: should hold a JSON list of items, such as [{{"id": "1", "title": "…"}}]')
    return job.watches[name], tuple({"id": str(number), "title": "", **item} for number, item in enumerate(data))


def _text(outcome: Outcome, order: Order, job: Job, world: World) -> str:
    zone = job.triggers[0].zone if job.triggers else world.config.settings.timezone
    head = f"{job.id}" + (f", slot {moment(order.slot, zone)}" if order.slot is not None else "")
    parts = [f"{head}   {outcome.cost.ms / 1000:.1f} s, contained: {outcome.level or 'nothing ran'}"]
    if outcome.error:
        parts.append(f"failed: {outcome.error}" + (f"\n\n{outcome.tail}" if outcome.tail else ""))
    parts.extend(f"refused: asked for {one.asked}; `publish:` allows {one.ceiling}" for one in outcome.refusals)
    parts.extend(f"note: {warning}" for warning in outcome.warnings)
    parts.extend(_draft(draft) for draft in outcome.drafts)
    if not outcome.drafts and not outcome.error and not outcome.refusals:
        parts.append("nothing to say: no draft was written")
    parts.append(f"Nothing was recorded. `hz-team run {job.id}` does it for real.")
    return "\n\n".join(parts)


def _draft(draft: Draft) -> str:
    words = _words(draft) if draft.kind else "is kept, not proposed"
    rule = "-" * 60
    return f"{plain(draft.title) or '(no title)'}\nif approved: {words}\n{rule}\n{draft.body.rstrip()}\n{rule}"


def _words(draft: Draft) -> str:
    try:
        return registry.publisher(draft.kind).words(draft.payload())
    except UsageError:
        return f"nothing: {draft.kind} cannot be published here"
