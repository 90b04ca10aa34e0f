"""The one line of a tick that did nothing; an idle tick imports no more than this to say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.model.proposal import AWAITING
from hz_team.moment import moment, told

if TYPE_CHECKING:
    from hz_team.model.job import Index
    from hz_team.model.proposal import Proposal
    from hz_team.tick import Story


def is_idle(story: Story) -> bool:
    """Whether nothing was written, and nobody said anything; a tick that was halted only looked."""
    if story.halted:
        return True
    wrote = story.recorded and story.recorded.wrote
    shown = story.shown and (story.shown.wrote or story.shown.note)
    return not wrote and not shown and not story.seen.heard.refused


def words(story: Story, config: Index) -> str:
    """Return the one line of an idle tick: what holds things up, else what comes next."""
    if story.halted:
        return _halted(story)
    waiting = sum(item.state == AWAITING for item in story.before.proposals.values())
    stuck = len(story.before.proposals) - waiting
    notes = "".join(f" {note}" for note in story.seen.notes)
    if config.settings.paused or story.before.paused:
        return f"Paused: nothing is drafted or published.{notes}"
    zone = config.settings.timezone
    late = [waits(item, zone, story.now) for item in story.before.proposals.values()]
    counts = (f"{waiting} waiting for a yes" * bool(waiting), f"{stuck} approved and not published" * bool(stuck))
    held = [f"{skip.job} waits ({skip.text})" for skip in story.plan.skips if skip.reason == "watch-unavailable"]
    taken = dict.fromkeys(order.job for order in story.plan.orders if order.job not in story.leases)
    held += [f"{job} waits (another tick works on it)" for job in taken]
    first = f"{', '.join(part for part in ('Nothing run' if held else 'Nothing due', *held, *counts, *late) if part)}."
    if not story.plan.next:
        return first + notes
    job, slot = story.plan.next
    zones = {t.zone for one in config.jobs if one.id == job for t in one.triggers}
    zone = next(iter(zones)) if len(zones) == 1 else zone
    return f"{first} Next: {moment(slot, zone)}, {job}.{notes}"


def waits(proposal: Proposal, zone: str, now: int) -> str:
    """Return why an approved draft is not tried yet: "p-3f9c21ab waits until 30 Nov 10:12 UTC: …"; "" if it may be."""
    if now >= proposal.quiet_until:
        return ""
    whole = -(-proposal.quiet_until // 60) * 60  # a minute that is not over is not promised
    return f"{proposal.id} waits until {told(whole, zone)}: an earlier run may still be sending it"


def _halted(story: Story) -> str:
    """Return why a tick only looked, and what to do about it."""
    if not story.behind:
        return f"Nothing done: {story.halted}."
    return (
        f"Only looked: {story.halted}. Nothing is drafted or published until a person has looked: "
        "`hz-team doctor` says what is missing, `hz-team doctor --accept-head` goes on without it."
    )
