"""listen, the other half of observe: reads what people said on the pages since they were drawn.

A page that still is what we drew last costs one read and one hash. Anything else is compared with the page as this
state draws it, so that only boxes which the renderer placed can count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team import fingerprint
from hz_team.model.observation import Heard

if TYPE_CHECKING:
    from hz_team.model.proposal import Answer
    from hz_team.model.state import View
    from hz_team.ports import World


def listen(world: World, view: View, said: Heard, now: int) -> Heard:
    """Return everything people said: on pages, and what the command itself brings along (`said`)."""
    found = {name: page for name in world.forge.pages() if (page := world.forge.page(name))}
    stored = {name: page.text for name, page in found.items() if not page.damaged}
    read = {name: fingerprint.page(text) for name, text in stored.items()}
    changed = {name: text for name, text in stored.items() if world.notes.pages.get(name) != read[name]}
    damaged = tuple(page.damaged for page in found.values() if page.damaged)
    answers = tuple(_with_role(answer, world) for answer in said.answers)
    said = said._replace(pages=stored, answers=answers, refused=(*said.refused, *damaged))
    if not changed:
        return said
    heard = _compare(world, view, said, changed, now)
    if heard.rows == said.rows and heard.answers == said.answers:
        world.notes.pages.update({name: read[name] for name in changed})  # words of no consequence: not asked again
    return heard


def _with_role(answer: Answer, world: World) -> Answer:
    """Return a command's answer with what its author may do here."""
    return answer._replace(role=world.forge.role(answer.by)[0])


def _compare(world: World, view: View, said: Heard, changed: dict[str, str], now: int) -> Heard:
    from hz_team import pages
    from hz_team.dashboard import hearing

    drafts = pages.drafts_of(world, view)
    drawn = pages.texts(world, view, drafts)
    who = hearing.Speaker(world.actor, world.forge.role(world.actor)[0], now)
    heard = said
    for name, text in changed.items():
        if name not in drawn:
            continue
        if name in view.proposals:
            heard = hearing.merge(heard, hearing.page(name, text, drawn[name], who))
        else:
            heard = hearing.merge(
                heard, hearing.dashboard(name, text, drawn[name], who, view=view, config=world.config)
            )
    payloads = {digest: draft.payload() for digest, draft in drafts.items()}
    return heard._replace(payloads=payloads)
