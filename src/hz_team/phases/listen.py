"""listen, the other half of observe: reads what people said on the pages since they were drawn.

A page that still is what we drew last costs one read and one hash. Anything else is compared with the page as this
state draws it, so that only boxes which the renderer placed can count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import fingerprint
from hz_team.model.observation import Heard
from hz_team.ports import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hz_team.dashboard.hearing import Speaker
    from hz_team.model.proposal import Answer
    from hz_team.model.state import View
    from hz_team.ports import Remark, Survey, World


def listen(world: World, view: View, said: Heard, now: int) -> Heard:
    """Return everything people said: on pages, below them, and what the command itself brings along (`said`)."""
    survey = world.forge.survey(view.dashboard.get("forge") or {}, view.proposals.keys())
    damaged = {name: page.damaged for name, page in survey.pages.items() if page.damaged}
    stamps = {name: stamp for name, stamp in survey.stamps.items() if name not in damaged}
    said = said._replace(
        pages={name: page.text for name, page in survey.pages.items() if name not in damaged},
        stamps=stamps,
        remarks=survey.remarks,
        answers=tuple(_with_role(answer, world) for answer in said.answers),
        refused=(*said.refused, *damaged.values(), *survey.notes),
    )
    changed = [name for name, stamp in stamps.items() if world.notes.pages.get(name) != stamp]
    said = _reopened(said, view, survey)
    if not (changed or survey.remarks or survey.closed):
        return said
    heard = _compare(_Desk(world, view, survey, now), said, changed)
    if heard.rows == said.rows and heard.answers == said.answers:
        world.notes.pages.update({name: stamps[name] for name in changed})  # words of no consequence: not asked again
    return heard


def _reopened(said: Heard, view: View, survey: Survey) -> Heard:
    """Go on where the dashboard was closed, which paused everything, and is open again."""
    if view.paused.get("via") != "closed" or "dashboard" in survey.closed or "dashboard" not in survey.stamps:
        return said
    return said._replace(pause=(False, str(view.paused.get("by", ""))), closed=True)


class _Desk(NamedTuple):
    """What pages are read with."""

    world: World
    view: View
    survey: Survey
    now: int


def _with_role(answer: Answer, world: World) -> Answer:
    """Return a command's answer with what its author may do here."""
    return answer._replace(role=world.forge.role(answer.by)[0])


def _compare(desk: _Desk, said: Heard, changed: Iterable[str]) -> Heard:
    from hz_team import pages
    from hz_team.dashboard import hearing

    world, view, survey, now = desk
    drafts = pages.drafts_of(world, view)
    drawn = pages.texts(world, view, drafts)
    heard = said
    for name in changed:
        if name in drawn:
            heard = hearing.merge(heard, _page(desk, name, drawn[name]))
    for name, closing in survey.closed.items():
        who = _speaker(world, closing, now)
        heard = hearing.merge(heard, hearing.closed(name, who, view))
    for remark in survey.remarks:
        who = hearing.Speaker(remark.by, world.forge.role(remark.by)[0], remark.at, remark.ref)
        heard = hearing.merge(heard, _remark(desk, remark, who))
    payloads = {digest: draft.payload() for digest, draft in drafts.items()}
    return heard._replace(payloads=payloads)


def _remark(desk: _Desk, said: Remark, who: Speaker) -> Heard:
    from hz_team.dashboard import hearing

    return hearing.remark(said.page, said.text, who, said.doubt, config=desk.world.config)


def _page(desk: _Desk, name: str, drawn: str) -> Heard:
    """Return what was said on one page, by whoever changed it, one after the other."""
    from hz_team.dashboard import hearing

    world, view, survey, now = desk
    if fingerprint.page(drawn) == survey.stamps[name]:
        return Heard(pages={name: drawn})
    page = survey.pages.get(name) or world.forge.page(name)
    if page is None:
        return Heard()
    heard, before = Heard(pages={name: page.text}), drawn
    for edit in world.forge.edits(name) or (Edit(page.text, world.actor, now),):
        if not edit.ours:
            who = _speaker(world, edit, now)
            one = (
                hearing.page(name, edit.text, before, who)
                if name in view.proposals
                else hearing.dashboard(name, edit.text, before, who, view=view, config=world.config)
            )
            heard = hearing.merge(heard, one)
        before = edit.text
    return heard


def _speaker(world: World, edit: Edit, now: int) -> Speaker:
    from hz_team.dashboard import hearing

    return hearing.Speaker(edit.by, world.forge.role(edit.by)[0], edit.at or now, edit.ref)
