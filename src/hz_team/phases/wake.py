"""wake: an event becomes a Wake. Decides nothing about jobs; an event only says "look"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.model.wake import Wake

if TYPE_CHECKING:
    from hz_team.model.wake import Poke


def wake(pokes: tuple[Poke, ...] = (), *, by: str = "") -> Wake:
    """Return why we are awake: the clock, or somebody who asked for jobs by hand."""
    if not pokes:
        return Wake()
    jobs = ", ".join(sorted({poke.job for poke in pokes}))
    return Wake(cause=pokes[0].cause, by=by, pokes=pokes, text=f"{by or 'somebody'} asked for {jobs}")
