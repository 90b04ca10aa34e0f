"""The one line of a tick that did nothing; an idle tick imports no more than this to say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.model.proposal import AWAITING
from hz_team.moment import moment

if TYPE_CHECKING:
    from hz_team.model.job import Index
    from hz_team.tick import Story


def is_idle(story: Story) -> bool:
    """Whether nothing was written, and nobody said anything."""
    wrote = story.recorded and story.recorded.wrote
    shown = story.shown and (story.shown.wrote or story.shown.note)
    return not wrote and not shown and not story.seen.heard.refused


def words(story: Story, config: Index) -> str:
    """Return the one line of an idle tick: what holds things up, else what comes next."""
    waiting = sum(item.state == AWAITING for item in story.before.proposals.values())
    stuck = len(story.before.proposals) - waiting
    notes = "".join(f" {note}" for note in story.seen.notes)
    if config.settings.paused or story.before.paused:
        return f"Paused: nothing is drafted or published.{notes}"
    told = (f"{waiting} waiting for a yes" * bool(waiting), f"{stuck} approved and not published" * bool(stuck))
    held = [f"{skip.job} waits ({skip.text})" for skip in story.plan.skips if skip.reason == "watch-unavailable"]
    first = f"{', '.join(part for part in ('Nothing run' if held else 'Nothing due', *held, *told) if part)}."
    if not story.plan.next:
        return first + notes
    job, slot = story.plan.next
    zones = {t.zone for one in config.jobs if one.id == job for t in one.triggers}
    zone = next(iter(zones)) if len(zones) == 1 else config.settings.timezone
    return f"{first} Next: {moment(slot, zone)}, {job}.{notes}"
