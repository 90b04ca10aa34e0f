"""What the ledger lost: who vouches for more than stands there, and which receipts are gone, as far as is known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from hz_team import anchor
from hz_team.adapters.nearby import local_directory
from hz_team.errors import HzError
from hz_team.model.state import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hz_team.model.state import View
    from hz_team.ports import Standing, World

READ = 500
"""Lost receipts that are read to say what they were; of more, only the ids are told."""


class Cut(NamedTuple):
    """A receipt that stood on the branch when this machine last looked, and stands there no more."""

    id: str
    job: str = ""
    """"" and what follows: its content is not here any more."""
    seq: int = 0
    step: str = ""
    """Its disposition."""
    at: str = ""
    """When, as the receipt has it: 2026-11-30T09:05:00Z."""


class Loss(NamedTuple):
    """The state as it is, and what others know of it."""

    view: View
    standing: tuple[Standing, ...]
    """Every lease there is."""
    era: int
    """The greatest that anybody has seen."""
    told: tuple[str, ...]
    """A sentence for each that vouches for more, or for something else; empty: nothing was cut."""
    cut: tuple[Cut, ...] = ()
    """In the order they were made."""
    kept: str = ""
    """The commit before the loss, if this machine still has it and it goes on from where the branch stands now."""


def look(world: World) -> Loss:
    """Ask the dashboard, this machine and the leases. Raises RemoteError, TryAgain.

    The state is read last: a tick that records meanwhile makes it longer, and never looks like a loss.
    """
    board = _shown(world)
    standing = world.leases.standing()
    view = world.state.fetch()
    witnesses = [*_dashboard(board), *_machine(world, view), *_lease(standing)]
    chains = [anchor.Chain(one.job, one.seq, one.anchor.era) for one in standing]
    told = (*anchor.behind(view, witnesses), *anchor.shorter(view, chains))
    eras = [view.era, *(one.anchor.era for one in witnesses), *(one.anchor.era for one in standing)]
    seen = Loss(view, standing, max(eras), told)
    if not told or not (cut := _cut(world, view)):
        return seen
    tip = world.notes.anchor[3]
    near = bool(local_directory(world.state.url))  # the cache of another host's state holds what ticks have read of it
    return seen._replace(cut=cut, kept=tip if near and world.state.follows(view._replace(tip=tip), view.tip) else "")


def _shown(world: World) -> Anchor:
    """Return what the dashboard says of the ledger."""
    stored = world.forge.page("dashboard")
    if stored is None:
        return Anchor()
    from hz_team.dashboard import page

    return page.anchor(stored.text)


def _dashboard(board: Anchor) -> Iterator[anchor.Witness]:
    if board != Anchor():
        yield anchor.Witness("the dashboard", board)


def _machine(world: World, view: View) -> Iterator[anchor.Witness]:
    if world.notes.anchor:
        *seen, tip = world.notes.anchor
        follows = tip == view.tip or world.state.follows(view, tip)
        yield anchor.Witness("this machine", Anchor(*seen), follows)


def _lease(standing: Sequence[Standing]) -> Iterator[anchor.Witness]:
    """Yield the lease that knows the longest ledger: the others say nothing more."""
    if standing:
        longest = max(standing, key=lambda one: one.anchor[:2])
        yield anchor.Witness(f"the lease of {longest.job}", longest.anchor)


def _cut(world: World, view: View) -> tuple[Cut, ...]:
    """Return the receipts of the tip that this machine remembers that are gone; () where its cache has it no more."""
    tip = world.notes.anchor[3] if world.notes.anchor else ""
    if not tip or world.state.follows(view, tip) is not False:
        return ()
    old = view._replace(tip=tip)
    try:
        paths = {_id(path): path for path in world.state.names(old, "receipts")}
        left = {name for name, _ in world.state.receipts(view)}
    except HzError:
        return ()  # thrown away since, or never fetched
    gone = {name: path for name, path in paths.items() if name not in left}
    return tuple(sorted(_told(world, old, gone), key=lambda one: (one.at, one.job, one.seq, one.id)))


def _told(world: World, old: View, gone: dict[str, str]) -> Iterator[Cut]:
    contents: dict[str, bytes] = {}
    if len(gone) <= READ:
        try:
            contents = world.state.read(old, list(gone.values()))
        except HzError:
            contents = {}  # the server has them no more either, and their ids have to do
    for name, path in gone.items():
        yield _receipt(name, contents.get(path, b""))


def _receipt(name: str, content: bytes) -> Cut:
    try:
        said = json.loads(content)
        return Cut(name, str(said["job"]), int(said["seq"]), str(said["disposition"]), str(said["as_of"]))
    except (ValueError, KeyError, TypeError):
        return Cut(name)


def _id(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def lines(cut: Sequence[Cut]) -> list[str]:
    """Return a line for each receipt that was cut: "8a1b2c3d4e5f  2026-11-30T09:05:00Z  hello 4  published"."""
    return [
        f"{one.id[:12]}  {one.at}  {one.job} {one.seq}  {one.step.replace('_', ' ')}" if one.job else one.id[:12]
        for one in cut
    ]
