"""Which orders may be drafted side by side, and which may still be settled when their drafts come back. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import duty, registry, schedule
from hz_team.model.order import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hz_team.model.job import Index, Job, Policy
    from hz_team.model.order import Order, Plan, Redraft
    from hz_team.model.state import Position, View
    from hz_team.parcel.sheet import Parcel

ALONE = "a policy may approve it, so it is drafted in a run of its own"


def is_apart(job: Job) -> bool:
    """Whether a job is drafted in a process without write tokens: templates alone run no code of the team."""
    return any(step.kind != "template" for step in job.steps)


def may_be_approved(job: Job, policies: Sequence[Policy], now: int) -> bool:
    """Whether a policy could say yes to what the job drafts, whatever its target will be."""
    return any(
        policy.job == job.id and policy.kind in job.publish and now < policy.until and registry.undoable(policy.kind)
        for policy in policies
    )


def by_themselves(plan: Plan, index: Index, view: View, now: int) -> Plan:
    """Return the plan with orders that a policy may approve in a run of their own.

    One draft process could upload its artefact under another's name, and nobody would read what a policy approves.
    Whoever was rendered longest ago goes first, so nobody waits for ever.
    """
    jobs = {job.id: job for job in index.jobs}
    drafted = {order.job for order in plan.orders if is_apart(jobs[order.job])}
    approved = {name for name in drafted if may_be_approved(jobs[name], index.settings.policies, now)}
    if not approved or len(drafted) == 1:
        return plan
    first = min(drafted, key=lambda name: (view.positions[name].rendered_at if name in view.positions else 0, name))
    waiting = drafted - ({first} if first in approved else drafted - approved)
    held = tuple(Skip(name, "later", ALONE if name in approved else _behind(first)) for name in sorted(waiting))
    return plan._replace(
        orders=tuple(order for order in plan.orders if order.job not in waiting), skips=(*plan.skips, *held)
    )


def _behind(first: str) -> str:
    return f"{first} is drafted in a run of its own, because a policy may approve it"


class Ground(NamedTuple):
    """What stands now, when drafts come back."""

    config: Index
    view: View
    """With the pause as it was heard just now."""
    redrafts: Mapping[str, Redraft]
    """Drafts that people want written again by now, by job."""
    now: int


def objections(parcel: Parcel, ground: Ground) -> dict[str, str]:
    """Return why what was planned for a job is not settled any more, by leased job."""
    jobs = {job.id: job for job in ground.config.jobs}
    found = {name: _moved(parcel, name, ground) for name in parcel.leases}
    for order in parcel.plan.orders:
        if not found.get(order.job):
            found[order.job] = next((why for why in _changed(parcel, order, jobs.get(order.job), ground) if why), "")
    return {name: why for name, why in found.items() if why}


def _moved(parcel: Parcel, name: str, ground: Ground) -> str:
    """Skips and triggers are noted by whoever writes, so they are no sign that somebody worked on the job."""
    before, now = parcel.positions.get(name), ground.view.positions.get(name)
    return "" if _bare(before) == _bare(now) else "somebody recorded something about it since it was planned"


def _bare(position: Position | None) -> Position | None:
    return position._replace(skips={}, triggers={}, gone_at=0) if position else None


def _changed(parcel: Parcel, order: Order, job: Job | None, ground: Ground) -> Iterator[str]:
    if job is None:
        yield "its file is gone or has an error"
        return
    position = duty.position_of(ground.view, job)
    reason, text = duty.obstacle(job, position, ground.config, ground.view, ground.now)
    yield text if reason in ("paused", "disabled") else ""
    yield "" if parcel.contracts.get(job.id) == job.contract else "its files were changed since it was planned"
    yield _too_late(order, job, position, ground.now)
    shared = len(parcel.apart) > 1 and job.id in parcel.apart
    yield ALONE if shared and may_be_approved(job, ground.config.settings.policies, ground.now) else ""
    yield _unwanted(order, ground)


def _too_late(order: Order, job: Job, position: Position, now: int) -> str:
    if order.slot is None or not order.trigger:
        return ""
    trigger = next((one for one in job.triggers if one.identity == order.trigger), None)
    if trigger is None:
        return "its clock was changed since it was planned"
    due = schedule.due(trigger, position.triggers.get(trigger.identity), now, limit=1)
    late = order.slot in due.passed.get("too-late", ())
    return f"its slot of {schedule.moment(order.slot, trigger.zone)} is over by now (max_late)" if late else ""


def _unwanted(order: Order, ground: Ground) -> str:
    asked, wish = order.redraft, ground.redrafts.get(order.job)
    if asked is None:
        return ""
    same = wish is not None and (wish.proposal, wish.digest, wish.note) == (asked.proposal, asked.digest, asked.note)
    return "" if same else f"what was asked about {asked.proposal} is another thing by now"
