"""claim: takes the leases of every job this tick will write about, in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hz_team.model.order import Plan
    from hz_team.model.state import View
    from hz_team.ports import Lease, World

INTERVAL = 1800
"""Assumed seconds between ticks: half an hour, as the pasted workflow has it."""


def claim(world: World, view: View, plan: Plan, now: int) -> dict[str, Lease]:
    """Return the leases granted, by job; jobs that another holder works on are left out."""
    wanted = {order.job for order in plan.orders} | set(plan.settle)
    if not wanted:
        return {}
    generations = {job: view.positions[job].lease_generation if job in view.positions else 0 for job in wanted}
    timeouts = [job.timeout for job in world.config.jobs if job.id in wanted]
    ttl = max(timeouts, default=900) + 2 * INTERVAL
    return world.leases.acquire(generations, now=now, ttl=ttl, ledger=(view.count, view.head))
