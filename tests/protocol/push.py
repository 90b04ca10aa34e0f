"""Pushes of the lease and record protocol: what the server does with one, and what the process learns of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.protocol.model import Entry, Holder, Token, World, cut, position, seq

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.protocol.model import Bounds, Rules

    Moves = Iterator[tuple[str, World]]
"""What can happen next: (action, world after it)."""


class Turn(NamedTuple):
    """One holder's turn."""

    world: World
    number: int
    rules: Rules
    bounds: Bounds

    @property
    def holder(self) -> Holder:
        """The process whose turn it is."""
        return self.world.holders[self.number]

    @property
    def now(self) -> int:
        """Its own clock."""
        return self.world.time + self.world.ahead[self.number]

    def becomes(self, holder: Holder, **more: Any) -> World:
        """Return the world with this holder, and more, changed."""
        all_ = self.world.holders
        return self.world._replace(holders=(*all_[: self.number], holder, *all_[self.number + 1 :]), **more)


def push(turn: Turn, verb: str, token: Token, after: str, since: str) -> Moves:
    """Push a lease commit alone."""
    world, holder = turn.world, turn.holder
    lands = world.lease == holder.lease or (world.lease is None and not turn.rules.expects_old)
    unsure = holder._replace(at="unsure", pushed=token, after=after, since=since)
    if lands or world.lease == token:
        yield verb, turn.becomes(_has(holder, token, after), lease=token)
    else:
        yield f"{verb} is refused", turn.becomes(Holder())
    yield from _cuts(turn, verb, unsure, {"lease": token} if lands else {})


def _has(holder: Holder, token: Token, at: str) -> Holder:
    return Holder() if at == "idle" else Holder(at, base=holder.base, lease=token, replaced=holder.replaced)


def record(turn: Turn, kind: str, after: str) -> Moves:
    """Push a state commit and the renewal it relies on, both or neither."""
    world, holder, rules = turn.world, turn.holder, turn.rules
    if holder.lease is None:
        return
    lease = holder.lease._replace(
        expires_at=turn.now + turn.bounds.ttl, seq=seq(holder.base, rules) + 1, released=kind == "published"
    )
    entry = Entry(kind, lease)
    tip = (*holder.base, entry)
    unsure = holder._replace(at="unsure", pushed=entry, after=after, since=holder.at)
    lands = world.lease == holder.lease and (world.branch == holder.base or not rules.expects_parent)
    changed: dict[str, Any] = {}
    if lands:
        changed = {"branch": tip, "lease": lease, "renders": world.renders + (kind == "rendered")}
        yield f"record {kind}", _stands(turn._replace(world=world._replace(**changed)), entry, after)
    elif world.branch == tip and world.lease == lease:
        yield f"record {kind}, up to date", _stands(turn, entry, after)
    else:
        yield f"record {kind} is refused", _read_back(turn._replace(world=turn.becomes(unsure)))
    yield from _cuts(turn, f"record {kind}", unsure, changed)


def _cuts(turn: Turn, verb: str, unsure: Holder, changed: dict[str, Any]) -> Moves:
    left = turn.world.left
    if not left.faults:
        return
    less = left._replace(faults=left.faults - 1)
    yield f"{verb}, cut-before", turn.becomes(unsure, left=less)
    if changed:
        yield f"{verb}, cut-after", turn.becomes(unsure, left=less, **changed)


def resolve(turn: Turn) -> Moves:
    """No answer is unknown: fetch and look."""
    holder, world = turn.holder, turn.world
    if isinstance(holder.pushed, Entry):
        yield "fetch and compare", _read_back(turn)
    elif holder.pushed and world.lease == holder.pushed:
        yield "fetch and compare", turn.becomes(_has(holder, holder.pushed, holder.after))
    elif holder.since != "idle" and holder.lease and world.lease == holder.lease:
        yield "fetch and compare", turn.becomes(_has(holder, holder.lease, holder.since))
    else:
        yield "fetch and compare", turn.becomes(Holder())


def _read_back(turn: Turn) -> World:
    """Applied if an ancestor of the tip; replayed if lease and position are still what it was computed from; else lost."""
    world, holder, rules = turn.world, turn.holder, turn.rules
    entry = holder.pushed
    if not isinstance(entry, Entry):
        raise TypeError(entry)
    if entry in (world.branch if rules.ancestor else world.branch[-1:]):
        return _stands(turn, entry, holder.after)
    if cut(world, rules):
        return turn.becomes(Holder())
    if world.lease == holder.lease and position(world.branch).own == position(holder.base).own:
        return turn.becomes(holder._replace(at=holder.since, base=world.branch, pushed=None, after="", since=""))
    return turn.becomes(Holder(), lie=world.lie or entry in world.branch)


def _stands(turn: Turn, entry: Entry, after: str) -> World:
    known = turn.world.acknowledged | {entry}
    done = Holder() if after == "idle" else Holder(after, base=turn.world.branch, lease=entry.token)
    return turn.becomes(done, acknowledged=known)
