"""plan: configuration, positions, wake, observations and now → work orders, skips, and the reason for each.

Touches nothing. The order of asking is redraft, pokes with inputs (oldest first), slot, change; whatever asks for the
same inputs is one run, the rest waits for the next tick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import duty, schedule
from hz_team.model.order import Order, Plan, Skip

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hz_team.duty import Clock
    from hz_team.model.job import Index, Job
    from hz_team.model.observation import Observations
    from hz_team.model.order import Redraft
    from hz_team.model.proposal import Proposal
    from hz_team.model.state import Position, View
    from hz_team.model.wake import Poke


class Desk(NamedTuple):
    """What planning looks at."""

    config: Index
    view: View
    """With the pause as it was heard a moment ago."""
    seen: Observations
    pokes: tuple[Poke, ...]
    now: int
    considered: Mapping[str, int]
    scope: str
    only: str
    drafting: bool = True
    retried: Mapping[str, str] = {}
    """Parked jobs that are tried again, and who asked."""
    counting: Collection[str] = ()
    """Open proposals whose drafts count already: on their way out, or rejected just now."""


def plan(desk: Desk, *, redrafts: Mapping[str, Redraft], settle: Sequence[str]) -> Plan:
    """Return what this tick is going to do. `redrafts` by job; `settle`: jobs whose proposals need a decision."""
    orders: list[Order] = []
    skips: list[Skip] = []
    jobs = [job for job in desk.config.jobs if job.scope == desk.scope]
    for job in jobs:
        wanted, skipped = _job(desk, job, redrafts.get(job.id))
        orders.extend(wanted)
        skips.extend(skipped)
    limit = desk.config.settings.drafts_per_tick
    skips.extend(Skip(order.job, "later", "more is due than one tick drafts") for order in orders[limit:])
    return Plan(
        tuple(orders[:limit]),
        tuple(skips),
        tuple(sorted(settle)),
        len(jobs),
        duty.next_slot(jobs, desk.config.settings, desk.now),
    )


def passed_over(desk: Desk) -> tuple[Skip, ...]:
    """Return the slots that every job passed over for good since its last write, those considered before included.

    With them the pokes that brought nothing new.
    """
    planned = plan(desk._replace(considered={}), redrafts={}, settle=())
    ordered = {order.job for order in planned.orders}
    return tuple(skip for skip in planned.skips if (skip.trigger or skip.pokes) and skip.job not in ordered)


def _job(desk: Desk, job: Job, redraft: Redraft | None) -> tuple[tuple[Order, ...], tuple[Skip, ...]]:
    if not desk.drafting or (desk.only and job.id != desk.only):
        return (), ()
    position = duty.position_of(desk.view, job, desk.retried)
    pokes = tuple(poke for poke in desk.pokes if poke.job == job.id and poke.id not in position.wakes)
    if any(poke.cause == "manual" and poke.at > position.outcome.get("at", 0) for poke in pokes):
        position = position._replace(retry_at=0)  # whoever asks after a failure need not wait for the next try
    limit = desk.config.settings.drafts_per_tick
    owed = duty.clocks(job, position, desk.now, considered=desk.considered, limit=limit)
    clocks = tuple(clock for clock in owed if clock.due.run)
    missed = tuple(skip for clock in owed if not clock.due.run for skip in _passed(job, clock))
    changes = duty.changed(job, position, _snapshots(desk, job))
    stale = duty.stale(job, position, desk.now)
    if not (redraft or pokes or clocks or changes or stale):
        return (), missed
    reason, text = duty.obstacle(job, position, desk.config, desk.view, desk.now)
    if not (reason or redraft):
        reason, text = _blind(desk, job)
    if reason:
        return (), (Skip(job.id, reason, text), *missed)
    orders, skips = _orders(desk, job, position, _Asked(redraft, pokes, clocks, changes, stale))
    by = desk.retried.get(job.id, "")
    return tuple(_tried_again(order, by) for order in orders) if by else orders, (*skips, *missed)


def _tried_again(order: Order, by: str) -> Order:
    return order._replace(again=by, why=f"{order.why}, tried again for {by}")


class _Asked(NamedTuple):
    redraft: Redraft | None
    pokes: tuple[Poke, ...]
    clocks: tuple[Clock, ...]
    changes: tuple[str, ...]
    stale: int


def _orders(
    desk: Desk,
    job: Job,
    position: Position,
    asked: _Asked,
) -> tuple[tuple[Order, ...], tuple[Skip, ...]]:
    proposals = [item for item in desk.view.proposals.values() if item.job == job.id]
    if asked.redraft:
        old = desk.view.proposals[asked.redraft.proposal]
        return (_finish(job, position, _redraft(asked.redraft, old), asked),), ()
    special = next((poke for poke in asked.pokes if poke.inputs), None)
    base = base_of(position, proposals, desk.counting)
    common = Order(
        job=job.id,
        cause="input",
        why="",
        snapshot=_snapshots(desk, job),
        base=base,
        inputs={name: spec.default for name, spec in job.inputs.items() if spec.default is not None},
        attempt=position.failures + 1,
        since=position.rendered_at,
    )
    if special:
        poked = common._replace(
            cause=special.cause,
            why=f"asked for by {special.by}",
            pokes=(special.id,),
            by=special.by,
            inputs={**common.inputs, **special.inputs},
        )
        return (_finish(job, position, poked, asked),), ()
    orders = tuple(_finish(job, position, order, asked) for order in _by_clock(desk, common, asked))
    if not _is_forced(job, asked) and orders and all(order.memo_key == position.memo_key for order in orders):
        slots = (skip for clock in asked.clocks for skip in _passed(job, clock, "unchanged"))
        vain = tuple(poke.id for poke in asked.pokes)
        return (), (Skip(job.id, "unchanged", "nothing new", pokes=vain), *slots)
    return orders, ()


def _is_forced(job: Job, asked: _Asked) -> bool:
    """Whether it is drafted even if nothing changed: a person asked, or nobody but who asked can know what changed."""
    return any(poke.cause == "manual" for poke in asked.pokes) or bool(asked.pokes and not job.watches)


def _by_clock(desk: Desk, common: Order, asked: _Asked) -> tuple[Order, ...]:
    pokes = tuple(poke.id for poke in asked.pokes)
    if not asked.clocks:
        if asked.pokes:
            poke = asked.pokes[0]
            return (common._replace(cause=poke.cause, why=f"asked for by {poke.by}", pokes=pokes, by=poke.by),)
        why = f"{' and '.join(asked.changes)} changed" if asked.changes else "its last draft is too old (fresh_for)"
        return (common._replace(why=why),)
    first = min(asked.clocks, key=lambda clock: clock.due.run[0])
    zone = first.trigger.zone
    made = [
        common._replace(
            cause="schedule",
            slot=slot,
            trigger=first.trigger.identity,
            why=f"due since {schedule.clock(slot, zone, desk.now)}{_skewed(first.due.skew)}",
            skew=first.due.skew,
        )
        for slot in first.due.run
    ]
    marks = _marks(first, asked.clocks)
    passed = {slot for slots in marks.values() for slot in slots} - set(first.due.run)
    by = asked.pokes[0].by if asked.pokes else ""
    made[-1] = made[-1]._replace(passed=tuple(sorted(passed)), marks=marks, pokes=pokes, by=by)
    return tuple(made)


def _skewed(skew: int) -> str:
    return f" (the clock was set back by {skew} s)" if skew else ""


def _marks(first: Clock, clocks: Sequence[Clock]) -> dict[str, tuple[int, ...]]:
    """Return the slots besides `first`'s own that its last run stands for, by trigger.

    Another trigger under `catch_up: all` gives only the slots that meet this run's in one instant; the rest waits.
    """
    marks = {}
    for clock in clocks:
        passed = [slot for slots in clock.due.passed.values() for slot in slots]
        if clock is first:
            mine = passed
        elif clock.trigger.catch_up == "all":
            mine = [slot for slot in clock.due.run if slot in first.due.run]
        else:
            mine = [*passed, *clock.due.run]
        if mine:
            marks[clock.trigger.identity] = tuple(sorted(mine))
    return marks


def _redraft(redraft: Redraft, old: Proposal) -> Order:
    return Order(
        job=old.job,
        cause="manual",
        why=f"{old.id} is written again for {redraft.by}",
        by=redraft.by,
        slot=old.slot,
        pokes=old.refs,
        inputs=old.inputs,
        snapshot=old.snapshot,
        base=old.base,
        redraft=redraft,
    )


def _finish(job: Job, position: Position, order: Order, asked: _Asked) -> Order:
    from hz_team.fingerprint import digest

    epoch = _epoch(job, position, order, asked.stale)
    note = [order.redraft.note, order.redraft.digest] if order.redraft else None
    parts = [job.contract, dict(order.snapshot), dict(order.inputs), note, epoch]
    return order._replace(memo_key=digest(parts), epoch=epoch)


def _epoch(job: Job, position: Position, order: Order, stale: int) -> int:
    """Return the slot for a job without watches and under catch_up: all, else how often `fresh_for` has run out."""
    trigger = next((t for t in job.triggers if t.identity == order.trigger), None)
    if order.slot is not None and (not job.watches or (trigger and trigger.catch_up == "all")):
        return order.slot
    return position.epoch + stale if job.fresh_for else 0


def base_of(position: Position, proposals: Sequence[Proposal], counting: Collection[str]) -> Mapping[str, str]:
    """Return what "added" is counted against: the last draft that counts, an approved one on its way out included."""
    last = max(
        (proposal for proposal in proposals if proposal.id in counting),
        key=lambda proposal: (proposal.created_at, proposal.id),
        default=None,
    )
    return last.snapshot if last and last.created_at >= position.based_at else position.base


def _passed(job: Job, clock: Clock, reason: str = "") -> Iterator[Skip]:
    """Yield what passes without a draft, oldest first: slots passed over; with a reason, those that were to run too."""
    trigger = f"{job.id}/{clock.trigger.identity}"
    slots = [(slots, why) for why, slots in clock.due.passed.items() if slots]
    if reason:
        slots.append((clock.due.run, reason))
    for passed, why in sorted(slots):
        yield Skip(job.id, why, "", passed, trigger)


def _snapshots(desk: Desk, job: Job) -> dict[str, str]:
    found = {watch: desk.seen.snapshot(watch) for watch in job.watches.values()}
    return {watch: snapshot for watch, snapshot in found.items() if snapshot}


def _blind(desk: Desk, job: Job) -> tuple[str, str]:
    missing = sorted(watch for watch in job.watches.values() if not desk.seen.snapshot(watch))
    if not missing:
        return "", ""
    return "watch-unavailable", f"{', '.join(missing)} could not be read yet"
