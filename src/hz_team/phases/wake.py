"""wake: an event becomes a Wake. Decides nothing about jobs; an event only says "look"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.model.wake import Said, Wake

if TYPE_CHECKING:
    from hz_team.model.wake import Poke


NOTHING = Said()


def wake(pokes: tuple[Poke, ...] = (), *, by: str = "", event: Said = NOTHING) -> Wake:
    """Return why we are awake: the clock, somebody who asked for jobs, or an event, which only says "look"."""
    who = event.by or by
    if not pokes:
        return Wake("external" if event.by else "schedule", event.by, text=event.text)
    jobs = ", ".join(sorted({poke.job for poke in pokes}))
    text = event.text if event.pokes else f"{who or 'somebody'} asked for {jobs}"
    return Wake(cause=pokes[0].cause, by=who, pokes=pokes, text=text)
