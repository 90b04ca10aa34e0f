"""Every page of a state: read by listen, drawn by show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hz_team import registry
from hz_team.dashboard import compose, page
from hz_team.dashboard import proposal as proposal_page
from hz_team.dashboard.compose import Context, Effect
from hz_team.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.draft import Draft
    from hz_team.model.state import View
    from hz_team.ports import World


def texts(world: World, view: View, drafts: Mapping[str, Draft]) -> dict[str, str]:
    """Return every page of a state, proposals before the dashboard that links to them."""
    context = Context(drafts, {name: _effect(draft, view) for name, draft in drafts.items()}, world.forge.link)
    made = {
        item.id: proposal_page.draw(compose.proposal(view, world.config, item, context))
        for item in view.proposals.values()
    }
    first, *more = page.pages(compose.dashboard(view, world.config, context))
    further = {f"dashboard-{number}": text for number, text in enumerate(more, 2)}
    return {**made, **further, "dashboard": first}


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
