"""One tick: wake → observe → plan → claim → draft → approve → record → publish → record → show.

Level-triggered: every tick works from what is written down, whatever woke it. A dry run stops after plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import docket
from hz_team.model.observation import Heard, Observations
from hz_team.model.order import Plan
from hz_team.model.wake import Wake
from hz_team.phases.claim import claim
from hz_team.phases.listen import listen
from hz_team.phases.observe import observe
from hz_team.phases.plan import Desk, plan
from hz_team.phases.wake import wake

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.docket import Docket
    from hz_team.model.draft import Outcome
    from hz_team.model.order import Order
    from hz_team.model.ruling import Ruling
    from hz_team.model.state import View
    from hz_team.phases.publish import Published
    from hz_team.phases.record import Recorded
    from hz_team.phases.show import Shown
    from hz_team.ports import Lease, World


class Story(NamedTuple):
    """Everything one tick did, phase by phase; `hz_team.account` tells it."""

    now: int
    before: View
    woken: Wake = Wake()
    seen: Observations = Observations()
    plan: Plan = Plan()
    leases: Mapping[str, Lease] = {}
    orders: tuple[Order, ...] = ()
    """Those that were run, and `outcomes` with them."""
    outcomes: tuple[Outcome, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    recorded: Recorded | None = None
    """Before anything left."""
    published: Published | None = None
    confirmed: Recorded | None = None
    """After it left."""
    shown: Shown | None = None

    @property
    def after(self) -> View:
        """The state as the tick left it."""
        last = self.confirmed or self.recorded
        return last.view if last else self.before


def tick(world: World, said: Heard, *, now: int, dry_run: bool = False) -> Story:
    """Reconcile once. Raises TryAgain or RemoteError; what jobs, watches and publishers do wrong is in the story."""
    view = world.state.fetch()
    heard = listen(world, view, said, now)
    woken = wake(heard.pokes, by=world.actor)
    stored = {poke.id for poke in view.wakes}
    pokes = tuple(sorted((*view.wakes, *(new for new in woken.pokes if new.id not in stored)), key=lambda one: one.at))
    switched = _switched(view, heard, now)
    seen = observe(world, switched, heard, pokes, now)
    asked = docket.call(world, switched, heard, now)
    notes = world.notes.considered
    desk = Desk(world.config, switched, seen, pokes, now, notes, world.scope, world.only, world.drafting)
    desk = desk._replace(retried=dict(heard.retries), counting=asked.counting)
    planned = plan(desk, redrafts=asked.redrafts, settle=asked.settle)
    story = Story(now, view, woken, seen, planned)
    if dry_run or is_quiet(world, story):
        return story
    leases = claim(world, view, planned, now)
    try:
        return _work(world, story._replace(leases=leases), asked, desk)
    finally:
        world.leases.release(leases.values())


def _switched(view: View, heard: Heard, now: int) -> View:
    """Return the view with the pause as it was heard just now: it holds from this tick on, and ends with this one."""
    if heard.pause is None or heard.pause[0] == bool(view.paused):
        return view
    return view._replace(paused={"at": now, "by": heard.pause[1], "via": "dashboard"} if heard.pause[0] else {})


def is_quiet(world: World, story: Story) -> bool:
    """Whether there is nothing to write anywhere: nothing ordered, said, seen, new or out of date."""
    heard = story.seen.heard
    asked = story.plan.orders or story.plan.settle or heard.pokes or heard.retries or heard.pause or heard.rows
    seen = any(look.must_write for look in story.seen.looks.values())
    shown = world.notes.shown == [story.before.tip, world.config.key]
    shown = shown and {"dashboard", *story.before.proposals} <= set(heard.pages)
    return not (asked or seen or _news(world, story.before)) and shown


def _news(world: World, view: View) -> bool:
    """Whether a trigger is seen for the first time: from now on it owes its slots, and that is written down."""
    return any(
        job.id not in view.positions
        or any(t.identity and t.identity not in view.positions[job.id].triggers for t in job.triggers)
        for job in world.config.jobs
        if job.scope == world.scope
    )


def _work(world: World, story: Story, asked: Docket, desk: Desk) -> Story:
    from hz_team.phases.approve import Case, approve
    from hz_team.phases.plan import passed_over
    from hz_team.phases.publish import intend, publish
    from hz_team.phases.record import Entries, record
    from hz_team.phases.show import show
    from hz_team.verdict import Question

    view, now, heard, leases = story.before, story.now, story.seen.heard, story.leases
    wanted = tuple(order for order in story.plan.orders if order.job in leases)
    orders, outcomes = _draft(world, view, wanted, story) if wanted else ((), ())
    question = asked.question or Question(world.config, desk.view, (), (), {}, now)
    rulings = approve(Case(question, asked.verdicts, leases.keys(), orders, outcomes))
    intended = intend(world, rulings, heard, now)
    noted = Plan(orders, passed_over(desk), story.plan.settle)
    last = not any(ruling.publish and ruling.open for ruling in intended.rulings)
    entries = Entries(noted, story.seen, outcomes, intended.rulings, leases, desk.pokes, now, last=last)
    recorded = record(world, view, entries)
    published = publish(world, recorded.view, intended.rulings, leases=leases, heard=heard, now=now)
    published = published._replace(stopped=published.stopped or intended.stopped)
    confirmed = None
    if published.rulings:
        later = Entries(Plan(), story.seen, (), published.rulings, leases, now=now, looking=False, last=True)
        confirmed = record(world, recorded.view, later)
    done = story._replace(
        orders=orders,
        outcomes=outcomes,
        rulings=rulings,
        recorded=recorded,
        published=published,
        confirmed=confirmed,
    )
    return done._replace(shown=show(world, done.after, heard))


def _draft(
    world: World,
    view: View,
    orders: tuple[Order, ...],
    story: Story,
) -> tuple[tuple[Order, ...], tuple[Outcome, ...]]:
    """Run the orders, one of each job after the other; after a failure the job's later slots wait for another tick."""
    from hz_team.material import Material
    from hz_team.phases.draft import Workshop, draft

    material = Material(world, view, story.seen)
    workshop = Workshop(
        root=world.root,
        config=world.config,
        processes=world.processes,
        environ=world.environ,
        now=story.now,
        facets=material.facets,
        withheld=world.withheld,
    )
    kept: list[tuple[Order, Outcome]] = []
    failed: set[str] = set()
    left = list(orders)
    while left:
        turn = tuple({order.job: order for order in reversed(left)}.values())[::-1]
        left = [order for order in left if order not in turn]
        for order, outcome in zip(turn, draft(turn, workshop), strict=True):
            sources = material.sources(order) if outcome.status == "rendered" else {}
            kept.append((order, outcome._replace(sources=sources)))
            failed |= {order.job} if outcome.status == "failed" else set()
        left = [order for order in left if order.job not in failed]
    return tuple(order for order, _ in kept), tuple(outcome for _, outcome in kept)
