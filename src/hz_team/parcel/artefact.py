"""<job>.json: what the draft process of one job hands back. Foreign data: it may speak for its own orders only."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from hz_team.model.job import plain
from hz_team.parcel import foreign, sheet
from hz_team.parcel.foreign import ForeignError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hz_team.model.draft import Outcome

VERSION = 1
BYTES = 8_000_000
"""Of one artefact at most; more is not even parsed."""
NOTED = 20
"""Files that speak for nobody are named up to this number."""


class Artefact(NamedTuple):
    """The outcomes of one job's orders, in their order; after a failed one the others were not run."""

    v: int
    plan: str
    """Digest of the plan that it answers."""
    job: str
    outcomes: tuple[Outcome, ...] = ()


def write(folder: str, artefact: Artefact) -> str:
    """Write <job>.json into a folder and return its path. Raises RemoteError."""
    name = f"{artefact.job}.json"
    sheet.put(folder, {name: json.dumps(plain(artefact), sort_keys=True).encode()})
    return os.path.join(folder, name)


def read(folders: Sequence[str], job: str, digest: str, orders: int) -> tuple[str, tuple[Outcome, ...]]:
    """Return the path of a job's artefact and what it says; ("", ()) if none arrived.

    Raises ForeignError if it is not what it must be, or if there are two.
    """
    name = f"{job}.json"
    places = [folder for folder in folders if os.path.lexists(os.path.join(folder, name))]
    if not places:
        return "", ()
    if len(places) > 1:
        both = " and ".join(os.path.join(place, name) for place in places[:2])
        raise ForeignError(f"{both} both speak for {job}; one job has one")
    path = os.path.join(places[0], name)
    try:
        raw = foreign.content(places[0], name, largest=BYTES) or b""
    except OSError as error:
        raise ForeignError(f"{path} cannot be read: {error.strerror}") from None
    said = foreign.value(Artefact, raw, path)
    if wrong := _mistaken(said, job, digest, orders):
        raise ForeignError(f"{path} {wrong}")
    return path, said.outcomes


def _mistaken(said: Artefact, job: str, digest: str, orders: int) -> str:
    if said.v != VERSION:
        return f"has format {said.v}; this hz-team reads {VERSION}"
    if said.plan != digest:
        return "answers another plan"
    if {said.job, *(one.job for one in said.outcomes)} != {job}:
        return f"speaks for another job than {job}"
    if len(said.outcomes) > orders:
        return f"has {len(said.outcomes)} outcomes; there {'was 1 order' if orders == 1 else f'were {orders} orders'}"
    return ""


def strays(folders: Sequence[str], jobs: Collection[str]) -> tuple[str, ...]:
    """Return the files that speak for no job that was to be drafted apart; nothing of them is read."""
    return tuple(_strays(folders, {f"{job}.json" for job in jobs}))[:NOTED]


def _strays(folders: Sequence[str], expected: Collection[str]) -> Iterator[str]:
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue  # a folder that is missing holds no draft: each order without one says so
        yield from (os.path.join(folder, name) for name in names if name not in expected)
