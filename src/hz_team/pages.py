"""Every page of a state: read by listen, drawn by show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hz_team import registry
from hz_team.dashboard import compose, page
from hz_team.dashboard import proposal as proposal_page
from hz_team.dashboard.compose import Context, Effect
from hz_team.errors import UsageError
from hz_team.ports import Cover

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.draft import Draft
    from hz_team.model.state import View
    from hz_team.ports import World


LABEL, WAITING = "hz", "hz:awaiting-approval"
"""Labels of all our pages, and of those that wait for a decision."""
ASSIGNED = 10
"""People who are told of one decision, at most."""


def texts(world: World, view: View, drafts: Mapping[str, Draft]) -> dict[str, str]:
    """Return every page of a state, proposals before the dashboard that links to them."""
    effects = {name: _effect(draft, view) for name, draft in drafts.items()}
    context = Context(drafts, effects, world.forge.link, world.forge.web)
    made = {
        item.id: proposal_page.draw(compose.proposal(view, world.config, item, context))
        for item in view.proposals.values()
    }
    first, *more = page.pages(compose.dashboard(view, world.config, context))
    further = {f"dashboard-{number}": text for number, text in enumerate(more, 2)}
    return {**made, **further, "dashboard": first}


def cover(world: World, view: View, name: str) -> Cover:
    """Return how a page presents itself on a forge: a decision is assigned to those who are named to decide."""
    proposal = view.proposals.get(name)
    if proposal is None:
        return Cover(compose.TITLE, (LABEL,))
    job = next((job for job in world.config.jobs if job.id == proposal.job), None)
    named = [entry for entry in proposal.by["by"] if entry != "write" and not {":", "/"} & set(entry)]
    people = named or [name for name in (job.owner if job else ()) if "/" not in name]
    return Cover(proposal.title, (LABEL, WAITING), tuple(people[:ASSIGNED]))


def _effect(draft: Draft, view: View) -> Effect:
    """Return what a yes does; a kind whose package is gone says so instead of ending the tick."""
    try:
        kind = registry.publisher(draft.kind)
    except UsageError:
        return Effect(f"nothing: {draft.kind} cannot be published here", "nothing can be published yet", undoable=False)
    payload = draft.payload()
    return Effect(kind.words(payload), kind.becomes(payload, view.repository), kind.undoable)


def drafts_of(world: World, view: View) -> dict[str, Draft]:
    """Read the drafts of all open proposals in one batch, by digest."""
    paths = {item.digest: f"drafts/{item.digest[:2]}/{item.digest}.json" for item in view.proposals.values()}
    found = world.state.read(view, sorted(paths.values())) if paths else {}
    return {digest: compose.draft_of(json.loads(found[path])) for digest, path in paths.items()}
