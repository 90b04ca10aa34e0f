"""One tick: wake → observe → plan → claim → draft → approve → record → publish → record → show.

Level-triggered: every tick works from what is written down, whatever woke it. A dry run stops after plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import docket, fingerprint
from hz_team.docket import Docket
from hz_team.errors import TryAgain
from hz_team.model.observation import Heard, Observations
from hz_team.model.order import Plan
from hz_team.model.state import Anchor, is_same
from hz_team.model.wake import Poke, Wake
from hz_team.phases.claim import claim
from hz_team.phases.listen import listen
from hz_team.phases.observe import observe
from hz_team.phases.plan import Desk, plan
from hz_team.phases.wake import wake

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """The state that was planned from."""
    woken: Wake = Wake()
    seen: Observations = Observations()
    pokes: tuple[Poke, ...] = ()
    """Everything asked for and not drafted yet, old and new."""
    asked: Docket = Docket()
    plan: Plan = Plan()
    halted: str = ""
    """Why this tick only looks: the ledger is shorter than somebody has seen it, or the state is another's."""
    behind: bool = False
    """The former: a person has to look."""
    leases: Mapping[str, Lease] = {}
    claimed: View | None = None
    """The state after the claim: what was asked for stands there."""
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
        return last.view if last else self.claimed or self.before


def tick(world: World, said: Heard, *, now: int, dry_run: bool = False) -> Story:
    """Reconcile once. Raises TryAgain or RemoteError; what jobs, watches and publishers do wrong is in the story."""
    story = look(world, said, now=now)
    if dry_run or story.halted or is_quiet(world, story):
        return story
    story = take(world, story)
    if story.halted:
        return story
    try:
        return conclude(world, make(world, story))
    finally:
        world.leases.release(story.leases.values())


def look(world: World, said: Heard, *, now: int) -> Story:
    """Wake, observe, plan: what is to be done, and why not the rest. Nothing outside changes."""
    view = world.state.fetch()
    drawn = world.notes.pages.get("dashboard", "")
    heard = listen(world, view, said, now)
    woken = wake(heard.pokes, by=world.actor, event=heard.event)
    stored = {poke.id for poke in view.wakes}
    new = (poke for poke in woken.pokes if poke.id not in stored)
    story = Story(now, view, woken, pokes=tuple(sorted((*view.wakes, *new), key=lambda one: one.at)))
    paused = switched(view, heard, now)
    behind = _behind(world, view, heard, drawn)
    story = story._replace(halted=_foreign(world, view) or behind, behind=bool(behind))
    story = story._replace(seen=observe(world, paused, heard, story.pokes, now))
    story = story._replace(asked=docket.call(world, paused, heard, now))
    planned = plan(_desk(world, story), redrafts=story.asked.redrafts, settle=story.asked.settle)
    return story._replace(plan=planned)


def take(world: World, story: Story, mode: str = "full") -> Story:
    """Claim the leases of the plan's jobs; what was asked for just now is on record when they are ours."""
    stored = {poke.id for poke in story.before.wakes}
    new = [poke for poke in story.pokes if poke.id not in stored]
    claimed = claim(world, story.before, story.plan, story.now, pokes=new, mode=mode)
    halted, behind = claimed.behind, bool(claimed.behind)
    return story._replace(leases=claimed.leases, claimed=claimed.view, halted=halted, behind=behind)


def make(world: World, story: Story) -> Story:
    """Run the orders of the jobs whose leases are ours."""
    wanted = tuple(order for order in story.plan.orders if order.job in story.leases)
    orders, outcomes = _draft(world, story.after, wanted, story) if wanted else ((), ())
    return story._replace(orders=orders, outcomes=outcomes)


def conclude(world: World, story: Story) -> Story:
    """Approve, record, publish, record, show."""
    from hz_team.phases.approve import Case, approve
    from hz_team.phases.plan import passed_over
    from hz_team.phases.publish import intend, publish
    from hz_team.phases.record import Entries, record
    from hz_team.phases.show import Ending, show
    from hz_team.verdict import Question

    view, now, heard, leases = story.after, story.now, story.seen.heard, story.leases
    desk = _desk(world, story)
    question = story.asked.question or Question(world.config, desk.view, (), (), {}, now)
    rulings = approve(Case(question, story.asked.verdicts, leases.keys(), story.orders, story.outcomes))
    leases = world.leases.extended(leases.values(), now=now)
    intended = intend(world, rulings, leases=leases, heard=heard, now=now)
    noted = Plan(story.orders, passed_over(desk), story.plan.settle)
    last = not any(ruling.publish and ruling.open for ruling in intended.rulings)
    entries = Entries(noted, story.seen, story.outcomes, intended.rulings, leases, story.pokes, now, last=last)
    try:
        recorded = record(world, view, entries)
    except TryAgain as lost:
        raise _in_vain(lost, story.outcomes) from None
    published = publish(world, recorded.view, intended.rulings, leases=leases, heard=heard, now=now)
    published = published._replace(stopped=published.stopped or intended.stopped)
    confirmed = None
    if published.rulings:
        ours = {job: lease for job, lease in leases.items() if job not in published.lost}
        later = Entries(Plan(), story.seen, (), published.rulings, ours, now=now, looking=False, last=True)
        try:
            confirmed = record(world, recorded.view, later)
        except TryAgain:
            raise _unconfirmed(published) from None
    done = story._replace(rulings=rulings, recorded=recorded, published=published, confirmed=confirmed)
    fates = {one.proposal.id: one.text for one in (*rulings, *published.rulings) if not one.open}
    asked = {answer.proposal: view.proposals.get(answer.proposal) for answer in heard.answers}
    unsettled = [name for name, one in asked.items() if one and one.job not in story.leases]
    return done._replace(shown=show(world, done.after, heard, Ending(fates, unsettled)))


def _in_vain(lost: TryAgain, outcomes: tuple[Outcome, ...]) -> TryAgain:
    """Return the error with the drafts that are lost with it: made, and on no record."""
    made = [f'{one.job} "{draft.title}"' for one in outcomes for draft in one.drafts]
    return TryAgain(f"{lost}; drafted in vain: {', '.join(made)}") if made else lost


def _unconfirmed(published: Published) -> TryAgain:
    """Return the error of a tick that sent something and could not record that; nothing has to be done about it."""
    sent = [str(item["ref"]) for ruling in published.rulings for item in ruling.proposal.published]
    what = f"{', '.join(sent)} went out, and that" if sent else "what was held back"
    return TryAgain(f"{what} is not on record, for another tick was faster or took over; the next one looks first")


def _desk(world: World, story: Story) -> Desk:
    """Return what planning looks at."""
    heard, asked = story.seen.heard, story.asked
    view, notes = switched(story.after, heard, story.now), world.notes.considered
    desk = Desk(world.config, view, story.seen, story.pokes, story.now, notes, world.scope, world.only, world.drafting)
    return desk._replace(retried=dict(heard.retries), counting=asked.counting)


def switched(view: View, heard: Heard, now: int) -> View:
    """Return the view with the pause as it was heard just now: it holds from this tick on, and ends with this one."""
    if heard.pause is None or heard.pause[0] == bool(view.paused):
        return view
    return view._replace(paused={"at": now, "by": heard.pause[1], "via": "dashboard"} if heard.pause[0] else {})


def _foreign(world: World, view: View) -> str:
    """Return why nothing is done in a copy: the state came with a fork and is another repository's."""
    ours = world.forge.repository
    if not view.tip or "local" in {ours, view.repository} or is_same(view.repository, ours):
        return ""
    return f"hz-state belongs to {view.repository}; here, in {ours}, nothing is done"


def _behind(world: World, view: View, heard: Heard, drawn: str) -> str:
    """Return who saw a longer ledger, or another one, than the one that stands there; "" if nobody did.

    `drawn`: the hash of the dashboard as this machine left it.
    """
    *seen, tip = world.notes.anchor or (0, 0, "", view.tip)
    text = heard.pages.get("dashboard", "")
    others = bool(text) and drawn != fingerprint.page(text)
    if tip == view.tip and not others:
        return ""
    from hz_team import anchor

    witnesses = []
    if tip != view.tip:
        witnesses.append(anchor.Witness("this machine", Anchor(*seen), world.state.follows(view, tip)))
    if others:
        from hz_team.dashboard import page

        witnesses.append(anchor.Witness("the dashboard", page.anchor(text)))
    return "; ".join(anchor.behind(view, witnesses))


def is_quiet(world: World, story: Story) -> bool:
    """Whether there is nothing to write anywhere: nothing ordered, said, seen, new or out of date."""
    heard = story.seen.heard
    asked = story.plan.orders or story.plan.settle or heard.pokes or heard.retries or heard.pause or heard.rows
    asked = asked or heard.remarks
    seen = any(look.must_write for look in story.seen.looks.values())
    shown = world.notes.shown == [story.before.tip, world.config.key]
    shown = shown and {"dashboard", *story.before.proposals} <= set(heard.stamps)
    return not (asked or seen or _news(world, story.before)) and shown


def _news(world: World, view: View) -> bool:
    """Whether a trigger is seen for the first time: from now on it owes its slots, and that is written down."""
    return any(
        job.id not in view.positions
        or any(t.identity and t.identity not in view.positions[job.id].triggers for t in job.triggers)
        for job in world.config.jobs
        if job.scope == world.scope
    )


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
