"""claim: takes the leases of every job this tick will write about, in one push; what was asked for rides along."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import duty
from hz_team.errors import Behind, TryAgain
from hz_team.ports import Claim, Known, Riding

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hz_team.model.order import Plan
    from hz_team.model.state import View
    from hz_team.model.wake import Poke
    from hz_team.ports import Lease, World

INTERVAL = 1800
"""Assumed seconds between ticks: half an hour, as the pasted workflow has it."""


class Claimed(NamedTuple):
    """What claiming brought."""

    leases: Mapping[str, Lease]
    """By job; jobs that another holder works on are left out."""
    view: View
    """The state now: what was asked for stands there."""
    behind: str = ""
    """Who vouches for a longer ledger than this one, "" if nobody does."""


def claim(
    world: World,
    view: View,
    plan: Plan,
    now: int,
    *,
    pokes: Collection[Poke] = (),
    mode: str = "full",
) -> Claimed:
    """Take the leases of the plan's jobs. `pokes` are put on record in the same push, before anybody acts on them."""
    wanted = {order.job for order in plan.orders} | set(plan.settle)
    if not wanted:
        return Claimed({}, view)
    riding = _riding(view, pokes)
    asked = Claim(
        jobs={job: known(view, job) for job in sorted(wanted)},
        now=now,
        ttl=term(world, wanted),
        ledger=view.anchor,
        mode=mode,
        gone=_gone(world, view),
        riding=riding,
    )
    try:
        granted = world.leases.acquire(asked)
    except Behind as behind:
        if world.state.fetch().tip != view.tip:
            raise TryAgain("another tick recorded meanwhile, so this one took nothing; run it again") from None
        return Claimed({}, view, str(behind))
    try:
        leases = _seen_in_time(world, view, granted.leases)
        if riding and leases and granted.view is None:
            return Claimed(leases, world.state.record(view, riding.files, riding.message))
    except BaseException:
        world.leases.release(granted.leases.values())
        raise
    return Claimed(leases, granted.view or view)


def term(world: World, jobs: Collection[str]) -> int:
    """Return for how many seconds the leases of these jobs are taken: the longest time-out and two intervals."""
    timeouts = [job.timeout for job in world.config.jobs if job.id in jobs]
    return max(timeouts, default=900) + 2 * INTERVAL


def known(view: View, job: str) -> Known:
    """Return what the state says of a job, or said before its position was folded."""
    if position := view.positions.get(job):
        return Known(position.lease_generation, position.seq)
    folded = view.folded.get(job)
    return Known(folded.generation, folded.seq) if folded else Known()


def _riding(view: View, pokes: Collection[Poke]) -> Riding | None:
    if not pokes:
        return None
    from hz_team.model.state import document, stored

    files = {f"wakes/{poke.job}/{poke.id}.json": stored(document(poke)) for poke in pokes}
    return Riding(view, files, f"asked for: {', '.join(sorted({poke.job for poke in pokes}))}")


def _gone(world: World, view: View) -> dict[str, Known]:
    """Return the jobs that no file names any more, in any scope."""
    names = sorted(view.positions.keys() | view.folded.keys())
    return {job: known(view, job) for job in names if duty.is_gone(job, world.config)}


def _seen_in_time(world: World, view: View, leases: Mapping[str, Lease]) -> dict[str, Lease]:
    """Leave out leases of jobs that moved between our look at the state and the making of their ref (decision 9)."""
    made = [job for job, lease in leases.items() if lease.made]
    if not made:
        return dict(leases)
    after = world.state.fetch()
    late = [job for job in made if known(after, job) != known(view, job)] if after.tip != view.tip else []
    if late:
        world.leases.release([leases[job] for job in late])
    return {job: lease for job, lease in leases.items() if job not in late}
