"""What doctor mends: leases that nobody can take, and a ledger that lost its tail and is to go on all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import health, ledger
from hz_team.adapters import cache
from hz_team.anchor import told
from hz_team.commands import loss
from hz_team.commands.checkup import ACCEPT, clock_of, generations, is_untouched
from hz_team.errors import RemoteError, TryAgain, UsageError
from hz_team.model.state import VERSION, stored
from hz_team.phases.claim import known

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from hz_team.model.state import View
    from hz_team.ports import Standing, World


class Repair(NamedTuple):
    """What became of one lease."""

    job: str
    text: str
    """What was wrong and what was done, or why it was left alone."""
    done: bool = True
    waits: bool = False
    """It is broken and its holder may be alive: to be repaired later."""


class Accepted(NamedTuple):
    """A ledger that goes on without its lost tail."""

    view: View
    loss: loss.Loss

    @property
    def text(self) -> str:
        """What was done, and what comes of it."""
        head = f", head {self.view.head[:12]}" if self.view.head else ""
        return (
            f"The ledger goes on with {told(self.view.anchor)}{head}. The next tick draws the dashboard anew; machines "
            "that remember the longer ledger go on with this one."
        )


def repair(world: World, options: Namespace, now: int) -> tuple[Repair, ...]:
    """Put a free lease where one cannot be used; never where its holder may be alive. Raises RemoteError, TryAgain."""
    if is_untouched(world):
        return ()
    seen = loss.look(world)
    _check_owner(world, seen.view)
    if seen.told:
        raise RemoteError(
            f"{seen.told[0]}: the leases are evidence of that and stay as they are; `hz-team doctor` says what is "
            f"missing, {ACCEPT}",
        )
    return tuple(_repaired(world, seen, clock_of(world, options, now)))


def _repaired(world: World, seen: loss.Loss, now: int) -> Iterator[Repair]:
    zone = world.config.settings.timezone
    for one in seen.standing:
        wrong = health.ailment(one, generations(seen)[one.job], now)
        if health.is_live(one, now):
            text = f"{health.held(one, zone)}, and left alone"
            yield Repair(one.job, f"{wrong}; it is {text}" if wrong else text, done=False, waits=bool(wrong))
        elif wrong:
            _mend(world, seen, one, now)
            yield Repair(one.job, f"{wrong}; a free lease stands there now")


def _mend(world: World, seen: loss.Loss, one: Standing, now: int) -> None:
    world.leases.mend(one, known(seen.view, one.job), now=now, ledger=seen.view.anchor)


def accept(world: World) -> Accepted:
    """Let the ledger go on as it is, in an era of its own. Raises UsageError if nothing was cut, RemoteError, TryAgain.

    One record that changes ledger.json alone. Nobody else's lease is needed: it moves the branch from the very commit
    that was looked at, or not at all.
    """
    if is_untouched(world):
        raise UsageError("nothing to accept: nothing is on record yet; `hz-team tick` begins")
    seen = loss.look(world)
    _check_owner(world, seen.view)
    if not seen.told:
        raise UsageError(
            f"nothing to accept: nobody has seen a longer ledger than the one that stands there with "
            f"{seen.view.count:,} receipts",
        )
    era = seen.era + 1
    files = {"ledger.json": _summary(world, seen.view, era)}
    after = world.state.record(seen.view, files, _message(world, seen.view))
    if after.era != era:
        raise TryAgain("another tick recorded meanwhile, so nothing was accepted; look again with `hz-team doctor`")
    world.notes.anchor = [*after.anchor, after.tip]
    cache.save_notes(cache.folder_of(world.root, world.state.url), world.notes)
    return Accepted(after, seen)


def _summary(world: World, view: View, era: int) -> bytes:
    """Return ledger.json, computed anew from what is there."""
    count, head = ledger.head(view.positions, view.folded)
    every = sum(1 for _ in world.state.receipts(view))
    sealed = every - len(world.state.names(view, "receipts"))
    summary = {"count": count, "era": era, "head": head, "repository": view.repository, "sealed": sealed, "v": VERSION}
    return stored(summary)


def _message(world: World, view: View) -> str:
    """Return who accepted what, in our own words but for a name without surprises."""
    who = "".join(mark for mark in world.actor if mark.isalnum() or mark in ":.@_-")[:100]
    return f"Accept the ledger as it is, with {view.count} receipts, on the word of {who}\n"


def _check_owner(world: World, view: View) -> None:
    owner = health.owner(view.repository, world.forge.repository)
    if owner.level != health.OK:
        raise RemoteError(owner.text)
