"""The lease and record protocol of one job with one slot: what there is and where it starts.

Time is a whole number (`Rules.margin` units are the margin); the server's clock is the true one and each holder's clock
is ahead of it by a fixed amount. `move.py` says what can happen next, `check.py` what must hold.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = "ABCDEF"
WORKING = frozenset(("held", "ready", "sent"))
"""Where a process takes the lease for its own."""


class Rules(NamedTuple):
    """What the protocol demands of a tick; a mutant leaves one demand out."""

    nonce: bool = True
    """A lease commit carries random bits, so two processes never make equal bytes."""
    ancestor: bool = True
    """After no answer, a commit that is an ancestor of the tip was applied; without: only one that is the tip."""
    expects_old: bool = True
    """A lease push names the old value it expects; without: whatever is a fast-forward, so an absent ref too."""
    expects_parent: bool = True
    """A record expects its first parent at the branch; without: whatever it reads there right before the push."""
    margin: int = 1
    """An expired lease, or the lease of an ended run, is taken over when this much more has passed."""
    quiet: int = 2
    """An order approved under another generation stays unknown until this long after the end of that lease."""
    fence: int = 1
    """A process sends nothing when its lease has less than this left."""
    recorded_end: bool = True
    """The lease's end that quiet and fence count from stands in the record; without: read from the lease ref."""
    reread: bool = True
    """A claim that created its ref counts only when the position, read again after it, has not moved."""
    own_seq: bool = True
    """A lease says how many receipts its own job has; without: how many the whole ledger has."""


class Bounds(NamedTuple):
    """How far a search goes."""

    holders: int = 2
    horizon: int = 7
    """Time stops here."""
    ttl: int = 2
    skew: int = 1
    """Two clocks are apart by this at most."""
    late: int = 2
    """An effect without an answer arrives this long after it was sent, or earlier, or never."""
    faults: int = 1
    """Cuts, crashes, stops and acts of sabotage together."""
    sabotage: int = 1
    """Removals of the lease ref and resets of the branch together."""
    others: int = 1
    """Records that other jobs append to the branch."""
    renewals: int = 1
    """Renewals and early releases beyond those that ride in a record."""


class Token(NamedTuple):
    """A lease commit; equal fields are equal bytes, hence the same commit."""

    nonce: int
    """Number of the process that drew it, 0 for everybody in a protocol without."""
    generation: int
    expires_at: int
    seq: int
    """Receipts that the ledger had at least when this was pushed."""
    released: bool = False


class Entry(NamedTuple):
    """A commit on the branch; its place in the tuple is its parent."""

    kind: str
    """`rendered` (and approved, about to be sent), `attempt` (about to be sent by a successor), `published`, `other`."""
    token: Token | None = None
    """The renewal pushed with it in one atomic push, None for another job's."""


Branch = tuple[Entry, ...]


class Holder(NamedTuple):
    """A process that ticks."""

    at: str = "idle"
    """idle, seen (state read), taken (ref created), held (lease sure), ready (order durable), sent (effect seen), unsure
    (a push without an answer), gone."""
    stopped: bool = False
    base: Branch = ()
    """The tip that what it does next is computed from."""
    lease: Token | None = None
    """What it found at the ref, then what it put there."""
    pushed: Token | Entry | None = None
    """What it waits to hear of."""
    after: str = ""
    """Where it goes when the push is known to have been applied."""
    since: str = ""
    """Where it goes back to when it was not and may be tried again."""
    ended: int = 0
    """When its run ended, by the server."""
    replaced: int = 0
    """The end of the lease it took over, for a protocol that does not record it."""


class Left(NamedTuple):
    """What of the bounds is left."""

    faults: int
    sabotage: int
    others: int
    renewals: int


class World(NamedTuple):
    """Everything, at one moment."""

    time: int
    ahead: tuple[int, ...]
    """Each holder's clock less the server's."""
    branch: Branch
    lease: Token | None
    holders: tuple[Holder, ...]
    flight: tuple[int, ...]
    """Until when each effect without an answer may arrive, sorted."""
    effects: int
    """Effects with the slot's one key at the target."""
    left: Left
    acknowledged: frozenset[Entry] = frozenset()
    """Ghost: records whose makers know that they stand; one that a person cut away is taken out."""
    renders: int = 0
    """Ghost: renders ever recorded."""
    lie: bool = False
    """Ghost: a holder called a record lost that stands."""
    sabotaged: bool = False


class Position(NamedTuple):
    """What the branch says of the job."""

    status: str
    """"" (slot owed), approved, published."""
    claim: tuple[int, int]
    """Generation and nonce of the claim under which it was last written."""
    end: int
    """The latest end of a lease under which an effect may have been sent."""
    grows: bool
    """Is each claim's generation greater than that of the claim before it?"""
    own: Branch
    """Its receipts; their bytes decide whether a record may be replayed on another tip."""


@cache
def position(branch: Branch) -> Position:
    """Read the job's position."""
    own = tuple(entry for entry in branch if entry.token)
    tokens = [entry.token for entry in own if entry.token]
    kinds = {entry.kind for entry in own}
    status = "published" if "published" in kinds else "approved" if kinds else ""
    ends = [entry.token.expires_at for entry in own if entry.token and entry.kind != "published"]
    claims = dict.fromkeys((token.generation, token.nonce) for token in tokens)
    grows = all(one[0] < two[0] for one, two in pairwise(claims))
    return Position(status, next(reversed(claims), (0, 0)), max(ends, default=0), grows, own)


def seq(branch: Branch, rules: Rules) -> int:
    """Return the number that a lease remembers and a tick compares."""
    return len(position(branch).own) if rules.own_seq else len(branch)


def cut(world: World, rules: Rules) -> bool:
    """Is the ledger shorter than the lease says? Then a tick only observes."""
    return world.lease is not None and world.lease.seq > seq(world.branch, rules)


def starts(bounds: Bounds) -> Iterator[World]:
    """Yield an empty repository for every way the clocks may be apart; holders are alike, so order does not count."""
    left = Left(bounds.faults, bounds.sabotage, bounds.others, bounds.renewals)
    for ahead in combinations_with_replacement(range(bounds.skew + 1), bounds.holders - 1):
        yield World(0, (0, *ahead), (), None, (Holder(),) * bounds.holders, (), 0, left)


def show(world: World) -> str:
    """Return a state on one line."""
    clocks = " ".join(
        f"{name}={world.time + ahead} {_holder(holder)}"
        for name, ahead, holder in zip(NAMES, world.ahead, world.holders, strict=False)
    )
    chain = " ← ".join(entry.kind + (f" by {_token(entry.token)}" if entry.token else "") for entry in world.branch)
    flight = f" in flight until {', '.join(map(str, world.flight))}" if world.flight else ""
    ref = _token(world.lease) if world.lease else "absent"
    return f"t={world.time} | {clocks} | ref {ref} | branch {chain or 'empty'} | effects {world.effects}{flight}"


def _holder(holder: Holder) -> str:
    lease = f" {_token(holder.lease)}" if holder.lease and holder.at in WORKING else ""
    return f"{holder.at}{lease}{' stopped' if holder.stopped else ''}"


def _token(token: Token) -> str:
    who = NAMES[token.nonce - 1] if token.nonce else "?"
    return f"{who}/g{token.generation}/{'released' if token.released else f'to {token.expires_at}'}"
