"""What a tick is going to do, and why not the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Redraft(NamedTuple):
    """A person asked for another draft of an open proposal."""

    proposal: str
    note: str
    digest: str
    """The digest the note answers."""
    title: str
    body: str
    """The old draft."""
    by: str = ""


class Order(NamedTuple):
    """One run of one job: everything the draft process is told."""

    job: str
    cause: str
    """schedule, input, external or manual."""
    why: str
    """Plain words for the plan line: "due since 09:00"."""
    slot: int | None = None
    trigger: str = ""
    """Identity of the trigger whose slot this is."""
    passed: tuple[int, ...] = ()
    """Slots that this run stands for as well (overlapped, caught up)."""
    marks: Mapping[str, tuple[int, ...]] = {}
    """The same slots by the trigger whose they are."""
    pokes: tuple[str, ...] = ()
    by: str = ""
    """Who poked, "" for clock and change."""
    inputs: Mapping[str, Any] = {}
    snapshot: Mapping[str, str] = {}
    """Watch id → SHA-256 of the facets document to read; watches never seen are absent."""
    base: Mapping[str, str] = {}
    """Watch id → SHA-256 of the document "added" is counted against; absent: everything is added."""
    memo_key: str = ""
    redraft: Redraft | None = None
    attempt: int = 1
    since: int = 0
    """When the job was last rendered: a snapshot that comes back later is another wake."""
    again: str = ""
    """Who asked for another try of the parked job."""
    epoch: int = 0
    """What the memo key counted: a slot, or how often `fresh_for` has run out."""
    skew: int = 0
    """Seconds by which the clock was set back behind the last slot on record; 0 if it was not."""

    @property
    def wake_id(self) -> str:
        """What the proposal key calls this wake: slot, poke id, or snapshot."""
        if self.redraft:
            return f"redraft:{self.redraft.proposal}:{self.redraft.digest}"
        if self.slot is not None:
            return f"slot:{self.slot}"
        if self.pokes:
            return f"poke:{self.pokes[0]}"
        seen = ",".join(f"{name}={value}" for name, value in sorted(self.snapshot.items()))
        return f"snapshot:{seen}@{self.since}"


class Skip(NamedTuple):
    """A job that is not run this tick, though something asked for it."""

    job: str
    reason: str
    """A word for the skip counters: unchanged, paused, disabled, parked, overlapped, too-late, skip-policy, cost,
    watch-unavailable, later."""
    text: str
    """Plain words."""
    slots: tuple[int, ...] = ()
    """Slots that passed without a draft for good: they are counted with the next write."""
    trigger: str = ""
    """job/trigger of those slots; "" if none passed."""
    pokes: tuple[str, ...] = ()
    """What was asked for from outside and brought nothing new: it is answered with that, and kept no longer."""


class Plan(NamedTuple):
    """Orders, skips, and the next wake."""

    orders: tuple[Order, ...] = ()
    skips: tuple[Skip, ...] = ()
    settle: tuple[str, ...] = ()
    """Jobs whose open proposals need a decision, a publication or an expiry this tick."""
    jobs: int = 0
    next: tuple[str, int] | None = None
    """Job and instant of the next slot of all."""
