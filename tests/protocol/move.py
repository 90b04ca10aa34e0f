"""What can happen next in the lease and record protocol: one function a step of a tick, and what the world does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.protocol.model import NAMES, Entry, Holder, Token, World, cut, position, seq
from tests.protocol.push import Turn, push, record, resolve

if TYPE_CHECKING:
    from tests.protocol.model import Bounds, Rules
    from tests.protocol.push import Moves


def moves(world: World, rules: Rules, bounds: Bounds) -> Moves:
    """Yield everything that can happen next, as (action, world after it)."""
    yield from _time(world, bounds)
    yield from _others(world)
    for number, holder in enumerate(world.holders):
        if holder.at == "gone":
            continue
        turn, who = Turn(world, number, rules, bounds), NAMES[number]
        for action, reached in _process(turn) if holder.stopped else (*_process(turn), *STEPS[holder.at](turn)):
            yield f"{who}: {action}", reached


def _time(world: World, bounds: Bounds) -> Moves:
    begun = world.lease or world.branch or world.sabotaged
    if begun and world.time < bounds.horizon and all(until > world.time for until in world.flight):
        yield "time passes", world._replace(time=world.time + 1)
    for place, until in enumerate(world.flight):
        if until in world.flight[:place]:
            continue
        rest = (*world.flight[:place], *world.flight[place + 1 :])
        yield "effect arrives late", world._replace(flight=rest, effects=world.effects + 1)
        yield "effect never arrives", world._replace(flight=rest)


def _others(world: World) -> Moves:
    left = world.left
    if left.others:
        entry = Entry(f"other{left.others}")
        yield (
            "another job records",
            world._replace(
                branch=(*world.branch, entry),
                acknowledged=world.acknowledged | {entry},
                left=left._replace(others=left.others - 1),
            ),
        )
    if not (left.sabotage and left.faults):
        return
    less = left._replace(faults=left.faults - 1, sabotage=left.sabotage - 1)
    if world.lease:
        yield "delete-ref", world._replace(lease=None, left=less, sabotaged=True)
    for length in range(len(world.branch)):
        kept = world.branch[:length]
        known = world.acknowledged.intersection(kept)
        yield f"reset-branch to {length}", world._replace(branch=kept, acknowledged=known, left=less, sabotaged=True)


def _process(turn: Turn) -> Moves:
    """A process stops, goes on, crashes; the timer of one about to send goes off while it is stopped."""
    holder, left = turn.holder, turn.world.left
    if holder.stopped and holder.at == "ready" and turn.now > _end(turn) - turn.rules.fence:
        yield "continue, the timer goes off", turn.becomes(Holder("gone", ended=turn.world.time))
    elif holder.stopped:
        yield "continue", turn.becomes(holder._replace(stopped=False))
    if not left.faults or holder.at == "idle":
        return
    less = left._replace(faults=left.faults - 1)
    yield "crash", turn.becomes(Holder("gone", ended=turn.world.time), left=less)
    if not holder.stopped:
        yield "stop", turn.becomes(holder._replace(stopped=True), left=less)


def _look(turn: Turn) -> Moves:
    """Read branch and lease; go on when the job owes something and nobody alive has it."""
    world = turn.world
    if position(world.branch).status == "published" or cut(world, turn.rules):
        return
    if reason := _free(turn):
        end = world.lease.expires_at if world.lease and not turn.rules.recorded_end else 0
        yield reason, turn.becomes(Holder("seen", base=world.branch, lease=world.lease, replaced=end))


def _free(turn: Turn) -> str:
    lease, margin = turn.world.lease, turn.rules.margin
    if lease is None or lease.released:
        return "acquire"
    if turn.now > lease.expires_at + margin:
        return "takeover by clock"
    owner = turn.world.holders[lease.nonce - 1] if lease.nonce else Holder()
    return "takeover by run end" if owner.at == "gone" and turn.now > owner.ended + margin else ""


def _claim(turn: Turn) -> Moves:
    holder, rules = turn.holder, turn.rules
    known = max(holder.lease.generation if holder.lease else 0, position(holder.base).claim[0])
    nonce = turn.number + 1 if rules.nonce else 0
    token = Token(nonce, known + 1, turn.now + turn.bounds.ttl, seq(holder.base, rules))
    created = holder.lease is None and rules.reread
    yield from push(turn, "claim", token, "taken" if created else "held", "idle")


def _reread(turn: Turn) -> Moves:
    """Absent is not a value that comes only once: what was read before may be older than the removal of another's ref."""
    world, holder = turn.world, turn.holder
    same = position(world.branch).own == position(holder.base).own
    yield "reads again", turn.becomes(holder._replace(at="held", base=world.branch) if same else Holder())


def _work(turn: Turn) -> Moves:
    """Render what is owed, or take up what another left approved once that can no longer be on its way."""
    here = position(turn.holder.base)
    yield from _renew(turn)
    if here.status == "published":
        yield "nothing is left to do", turn.becomes(Holder())
    elif not here.status:
        yield from record(turn, "rendered", "ready")
    elif turn.now > _unknown_until(turn):
        yield from record(turn, "attempt", "ready")


def _unknown_until(turn: Turn) -> int:
    holder, rules = turn.holder, turn.rules
    end = position(holder.base).end if rules.recorded_end else holder.replaced
    return end + rules.quiet if rules.quiet else -1


def _renew(turn: Turn) -> Moves:
    holder, left = turn.holder, turn.world.left
    if not left.renewals or holder.lease is None:
        return
    spent = turn._replace(world=turn.world._replace(left=left._replace(renewals=left.renewals - 1)))
    later = turn.now + turn.bounds.ttl
    if holder.lease.expires_at < later:
        yield from push(spent, "renew", holder.lease._replace(expires_at=later), holder.at, holder.at)
    yield from push(spent, "release", holder.lease._replace(expires_at=turn.now, released=True), "idle", holder.at)


def _effect(turn: Turn) -> Moves:
    """Look for the key, then write; no answer ends the tick, nothing is sent twice."""
    world, holder = turn.world, turn.holder
    yield from _renew(turn)
    if turn.now > _end(turn) - turn.rules.fence:
        yield "the timer goes off", turn.becomes(Holder("gone", ended=world.time))
    elif world.effects:
        yield "finds the effect", turn.becomes(holder._replace(at="sent"))
    else:
        yield "effect", turn.becomes(holder._replace(at="sent"), effects=world.effects + 1)
        flight = tuple(sorted((*world.flight, world.time + turn.bounds.late)))
        yield "effect, no answer", turn.becomes(Holder(), flight=flight)


def _end(turn: Turn) -> int:
    """The lease's end that the fence counts from: the one that this process itself put on record."""
    holder = turn.holder
    claim = holder.lease and holder.lease[:2]
    if not turn.rules.recorded_end:
        return holder.lease.expires_at if holder.lease else 0
    return next((e.token.expires_at for e in reversed(holder.base) if e.token and e.token[:2] == claim), 0)


def _close(turn: Turn) -> Moves:
    yield from record(turn, "published", "idle")


STEPS = {
    "idle": _look,
    "seen": _claim,
    "taken": _reread,
    "held": _work,
    "ready": _effect,
    "sent": _close,
    "unsure": resolve,
}
"""Where a process stands → what it may do next."""
