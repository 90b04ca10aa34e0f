"""`hz-team settle --plan DIR --digest SHA256 --drafts DIR…`: the last third of a split tick: approve, record, publish.

Its first act is to go on with the leases of the plan. What came from `draft` is foreign data.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from hz_team.commands import assembly, option, tick
from hz_team.commands.draft import bench, facets_of, in_turn
from hz_team.commands.plan import shown
from hz_team.errors import HzError, TryAgain, UsageError
from hz_team.model.draft import Outcome
from hz_team.model.observation import Heard
from hz_team.model.order import Plan, Skip
from hz_team.model.state import is_same
from hz_team.parcel import artefact, proof, sheet, standing
from hz_team.parcel.foreign import ForeignError
from hz_team.phases.claim import term
from hz_team.tick import conclude, look, switched

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from hz_team.model.job import Job
    from hz_team.model.observation import Observations
    from hz_team.model.order import Order
    from hz_team.model.wake import Poke
    from hz_team.parcel.sheet import Parcel
    from hz_team.ports import Lease, World
    from hz_team.tick import Story

MISSING = "its draft never arrived: the process that was to make it failed, was cancelled or handed nothing over"


class _Delivery(NamedTuple):
    """A plan that came back, and where its drafts are."""

    parcel: Parcel
    digest: str
    folder: str
    drafts: Sequence[str]


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("settle", __doc__ or "")
    parser.add_argument("--plan", required=True, metavar="DIR", help="what `plan --out` wrote")
    parser.add_argument("--digest", required=True, metavar="SHA256", help="the digest that `plan --out` printed")
    parser.add_argument("--drafts", nargs="*", default=[], metavar="DIR", help="what `draft --out` wrote")
    parser.add_argument("--no-publish", action="store_true", help="take answers, publish nothing")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Settle one plan, once."""
    if not options.digest.strip():
        raise UsageError("settle: --digest takes what `plan --out` printed; without it nobody knows whose plan this is")
    root = option.root_of(options)
    parcel, digest = sheet.read(options.plan, options.digest.strip())
    now = max(option.now_of(options), parcel.now)
    world = assembly.open_world(root, options, now, publishing=not options.no_publish)
    _check_place(parcel, world)
    before = world.notes.data_text()
    leases = _adopted(parcel, world, now)
    try:
        story = _settled(world, _Delivery(parcel, digest, options.plan, options.drafts), leases, now)
    finally:
        world.leases.release(leases.values())
    tick.remember(world, story, before)
    tick.say(world, story, options)
    return tick.code(story)


def _check_place(parcel: Parcel, world: World) -> None:
    """Refuse a plan of another state, repository or run. Raises UsageError."""
    ours, theirs = world.runner.run.partition("/")[0], parcel.runner.run.partition("/")[0]
    pairs = (
        ("state", shown(world.state.url), parcel.state),
        ("repository", world.forge.repository, parcel.repository),
        ("run", ours, theirs),
    )
    for what, here, there in pairs:
        if here != there and not (what == "repository" and is_same(there, here)):
            raise UsageError(f"settle: the plan was made for the {what} {there or 'of no workflow'}, here it is {here}")


def _adopted(parcel: Parcel, world: World, now: int) -> dict[str, Lease]:
    """Go on with the leases of the plan: the first thing that anybody else can see. Raises TryAgain."""
    if not parcel.leases:
        return {}
    seconds = term(world, parcel.leases.keys())
    return world.leases.adopt(parcel.leases.values(), now=now, ttl=seconds, ledger=parcel.anchor)


def _settled(world: World, delivery: _Delivery, leases: Mapping[str, Lease], now: int) -> Story:
    """Look again, take what may still be taken, conclude. Raises TryAgain if nothing may, and nothing is recorded."""
    parcel = delivery.parcel
    story = look(world._replace(drafting=False), Heard(), now=now)  # nothing new is polled or planned
    if story.halted:
        return story
    view = switched(story.before, story.seen.heard, now)
    objections = standing.objections(parcel, standing.Ground(world.config, view, story.asked.redrafts, now))
    mine = {job: lease for job, lease in leases.items() if job not in objections}
    if objections and not mine:
        said = "; ".join(f"{job}: {why}" for job, why in objections.items())
        raise TryAgain(f"nothing was recorded or published. {said}. Run the tick again")
    world.leases.release([lease for job, lease in leases.items() if job in objections])
    orders = tuple(order for order in parcel.plan.orders if order.job in mine)
    done = [
        pair for job in dict.fromkeys(order.job for order in orders) for pair in _made(world, delivery, job, orders)
    ]
    return conclude(
        world,
        story._replace(
            woken=parcel.woken if parcel.woken.pokes else story.woken,
            seen=_seen(world, delivery, story, orders),
            pokes=_pokes(parcel, story),
            plan=_plan(parcel, story, orders, objections),
            leases=mine,
            orders=tuple(order for order, _ in done),
            outcomes=tuple(outcome for _, outcome in done),
        ),
    )


def _plan(parcel: Parcel, story: Story, orders: tuple[Order, ...], objections: Mapping[str, str]) -> Plan:
    refused = tuple(Skip(job, "changed", f"{why}; nothing of it was recorded") for job, why in objections.items())
    here = story.plan
    return parcel.plan._replace(
        orders=orders, skips=(*parcel.plan.skips, *refused), settle=here.settle, jobs=here.jobs, next=here.next
    )


def _made(world: World, delivery: _Delivery, name: str, orders: Sequence[Order]) -> list[tuple[Order, Outcome]]:
    """Return a job's orders that were run, and what came of them: drafted elsewhere and proven, or drafted here."""
    mine = [order for order in orders if order.job == name]
    if name not in delivery.parcel.apart:
        workshop = bench(world.root, world.config, delivery.parcel, delivery.folder, world.processes)
        return list(zip(mine, in_turn(mine, workshop), strict=False))
    job = next(job for job in world.config.jobs if job.id == name)
    try:
        path, said = artefact.read(delivery.drafts, name, delivery.digest, len(mine))
    except HzError as error:
        return [(mine[0], Outcome(name, "failed", error=str(error)))]
    shop = proof.Shop(
        root=world.root,
        settings=world.config.settings,
        processes=world.processes,
        now=delivery.parcel.now,
        facets=facets_of(world.config, delivery.folder),
    )
    done: list[tuple[Order, Outcome]] = []
    for order, outcome in zip_longest(mine, said):
        if done and done[-1][1].status == "failed":
            break
        done.append((order, _proven(order, job, outcome, shop, path)))
    return done


def _proven(order: Order, job: Job, said: Outcome | None, shop: proof.Shop, path: str) -> Outcome:
    if said is None:
        return Outcome(order.job, "failed", error=f"{path} ends too early" if path else MISSING)
    try:
        return proof.proven(order, job, said, shop)
    except HzError as error:
        return Outcome(order.job, "failed", error=f"its draft was not taken: {error}")


def _seen(world: World, delivery: _Delivery, story: Story, orders: tuple[Order, ...]) -> Observations:
    """Return what the plan saw, but for watches that somebody looked at since; and what orders read and is swept."""
    parcel, view, looks = delivery.parcel, story.before, dict(story.seen.looks)
    for name, seen in sheet.looks(parcel, delivery.folder).items():
        path = f"{seen.cursor.watch}/{seen.cursor.key}"
        here = looks.get(name)
        same = sheet.mark(view.cursors.get(path)) == parcel.cursors.get(path)
        if here and here.cursor.key == seen.cursor.key and same:
            looks[name] = seen
    lost = sheet.needed(Plan(orders))
    if lost:
        lost -= {_digest(path) for path in world.state.names(view, "facets")}
    kept = {name: content for name in sorted(lost) if (content := _facet(delivery.folder, name))}
    return story.seen._replace(looks=looks, unchanged=parcel.unchanged, notes=parcel.notes, kept=kept)


def _digest(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def _facet(folder: str, name: str) -> bytes:
    """Return a snapshot, b"" for one that was lost before it was planned: the order that reads it has failed."""
    try:
        return sheet.facet(folder, name)
    except ForeignError:
        return b""


def _pokes(parcel: Parcel, story: Story) -> tuple[Poke, ...]:
    """Return what was asked for by now, and what the plan heard and nobody recorded."""
    known = {poke.id for poke in story.pokes}
    found = (*story.pokes, *(poke for poke in parcel.pokes if poke.id not in known))
    return tuple(sorted(found, key=lambda poke: poke.at))
