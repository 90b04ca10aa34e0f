"""What must hold in every state of the protocol, and the search that visits them all."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tests.protocol.explore import explore
from tests.protocol.model import WORKING, Holder, Left, World, position, show, starts
from tests.protocol.move import moves

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.protocol.explore import Found
    from tests.protocol.model import Bounds, Branch, Rules, Token

    Invariant = Callable[[World], str]


def one_render(world: World) -> str:
    """Recorded renders per slot ≤ 1."""
    return "the slot has two recorded renders" if world.renders > 1 else ""


def one_effect(world: World) -> str:
    """Effects per key ≤ 1."""
    return "the key has two effects" if world.effects > 1 else ""


def nothing_lost(world: World) -> str:
    """No receipt of an acknowledged record is missing, and none that was called lost is there."""
    if world.acknowledged.difference(world.branch):
        return "an acknowledged receipt is missing"
    return "a record that stands was called lost" if world.lie else ""


def true_ledger(world: World) -> str:
    """What the ledger calls published is at the target."""
    published = position(world.branch).status == "published"
    return "published without an effect" if published and not world.effects else ""


def growing(world: World) -> str:
    """Generations strictly grow from claim to claim, and nobody works under one that does not exceed the recorded."""
    here, lease = position(world.branch), world.lease
    if not here.grows:
        return "a generation does not grow"
    if lease is None or lease.generation > here.claim[0] or (lease.generation, lease.nonce) == here.claim:
        return ""
    working = any(holder.lease == lease and holder.at in WORKING for holder in world.holders)
    return "a lease of an earlier generation is alive" if working else ""


def one_holder(world: World) -> str:
    """No two processes hold a lease that is alive by their own clocks, unless somebody removed the ref by hand."""
    if world.sabotaged:
        return ""
    alive = 0
    for holder, ahead in zip(world.holders, world.ahead, strict=True):
        if holder.at in WORKING and holder.lease:
            alive += world.time + ahead <= holder.lease.expires_at
    return "two processes hold the lease" if alive > 1 else ""


def open_or_published(rules: Rules, bounds: Bounds) -> Invariant:
    """Approved ⇒ published or still open: whoever comes later, undisturbed, brings it to its one effect."""

    @cache
    def dead(branch: Branch, lease: Token | None, effects: int) -> str:
        calm = World(bounds.horizon, (), branch, lease, (), (), effects, Left(0, 0, 0, 0))
        return "" if closable(calm, rules, bounds) else "an approved order can never be closed"

    def broken(world: World) -> str:
        settled = not world.flight and not world.sabotaged
        approved = settled and position(world.branch).status == "approved"
        return dead(world.branch, world.lease, world.effects) if approved else ""

    return broken


def closable(world: World, rules: Rules, bounds: Bounds) -> bool:
    """Can a new process that nothing disturbs, long afterwards, bring an approved order to its one effect?"""
    late = world.time + 10 * bounds.ttl + rules.margin + rules.quiet + bounds.skew
    pair, none = (Holder("gone"), Holder()), Left(0, 0, 0, 0)
    calm: World | None = World(late, (0, 0), world.branch, world.lease, pair, (), world.effects, none)
    last, far = world, bounds._replace(horizon=late)
    while calm:
        last = calm
        calm = next((after for action, after in moves(last, rules, far) if "no answer" not in action), None)
    return position(last.branch).status == "published" and last.effects == 1


INVARIANTS: tuple[Invariant, ...] = (one_render, one_effect, nothing_lost, true_ledger, growing, one_holder)
"""Those that a state alone can break."""


def search(rules: Rules, bounds: Bounds, *invariants: Invariant) -> Found:
    """Visit every state within the bounds; without named invariants, all of them are checked."""
    checked = invariants or (*INVARIANTS, open_or_published(rules, bounds))

    def broken(world: World) -> str:
        return next((fault for invariant in checked if (fault := invariant(world))), "")

    return explore(starts(bounds), lambda world: moves(world, rules, bounds), broken, show)
