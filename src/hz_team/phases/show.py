"""show: draws the dashboard and every proposal's page. Level-triggered, no lease; writes only what differs.

A tick that a person makes while we work is carried over: the page is read again right before it is replaced, and boxes
that this tick has not read stay as they are.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from hz_team import anchor, fingerprint, pages
from hz_team.dashboard import page, row
from hz_team.model.state import Anchor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hz_team.model.observation import Heard
    from hz_team.model.state import View
    from hz_team.ports import Cover, World

TRIES = 5


class Shown(NamedTuple):
    """What was drawn."""

    wrote: tuple[str, ...] = ()
    """Names of the pages that were written or removed."""
    note: str = ""
    """Why the dashboard was left alone, "" if it was not."""


class Ending(NamedTuple):
    """What pages have to know of the tick that draws them."""

    fates: Mapping[str, str] = {}
    """What became of proposals that were closed, in a sentence each."""
    unsettled: Collection[str] = ()
    """Proposals whose answers were heard and not decided, because another holds their jobs' leases: boxes stay."""


def show(world: World, view: View, heard: Heard, ending: Ending | None = None) -> Shown:
    """Bring every page up to date; return the names of those that changed."""
    ending = ending or Ending()
    drafts = pages.drafts_of(world, view)
    wanted = pages.texts(world, view, drafts)
    results: dict[str, Written] = {}
    new = [name for name in view.proposals if name not in heard.stamps]
    links = [world.forge.link(name) for name in new]
    for name in new:
        results[name] = _write(
            world, name, wanted[name], heard, Manner(pages.cover(world, view, name), ending.unsettled)
        )
    if links != [world.forge.link(name) for name in new]:
        wanted = pages.texts(world, view, drafts)  # other pages link to these, and only now it is known where they are
    note = _ahead(world, view, heard, wanted["dashboard"])
    for name, text in wanted.items():
        if name not in results and not (note and name.startswith("dashboard")):
            results[name] = _write(world, name, text, heard, Manner(pages.cover(world, view, name), ending.unsettled))
    wrote = [name for name, result in results.items() if result is Written.YES]
    for name in world.forge.pages():
        if name not in wanted:
            world.forge.drop_page(name, ending.fates.get(name, ""))
            world.notes.pages.pop(name, None)
            wrote.append(name)
    for remark in heard.remarks:
        world.forge.acknowledge(remark, done=True)
    if Written.LATER not in results.values() and not note:
        world.notes.shown = [view.tip, world.config.key]
    return Shown(tuple(wrote), note)


def _ahead(world: World, view: View, heard: Heard, wanted: str) -> str:
    """Return what to say of a dashboard that vouches for more receipts than there are: it is evidence, and stays."""
    if heard.stamps.get("dashboard") == fingerprint.page(wanted):
        return ""
    stored = world.forge.page("dashboard")
    seen = page.anchor(stored.text) if stored else Anchor()
    if (seen.era, seen.count) <= (view.era, view.count):
        return ""
    (said,) = anchor.behind(view, [anchor.Witness("the dashboard", seen)])
    return f"{said}: it is left alone"


class Manner(NamedTuple):
    """How one page is written."""

    cover: Cover
    unsettled: Collection[str] = ()


class Written(Enum):
    """What became of a page."""

    YES = "written"
    NO = "as it should be"
    LATER = "left to the next tick: a person is at it"


def _write(world: World, name: str, text: str, heard: Heard, manner: Manner) -> Written:
    """Replace a page; try again while people are faster. One that stood as it should be is not asked for again.

    A decision's own page that changed since it was read is left alone: somebody may be editing the draft.
    """
    if heard.stamps.get(name) == fingerprint.page(text):
        world.notes.pages[name] = heard.stamps[name]
        return Written.NO
    for _ in range(TRIES):
        stored = world.forge.page(name)
        if stored and not name.startswith("dashboard") and _is_late(stored.text, name, heard):
            return Written.LATER
        wanted = _carried(stored.text, text, name, heard, manner.unsettled) if stored else text
        world.notes.pages[name] = fingerprint.page(text)
        if stored and fingerprint.page(stored.text) == fingerprint.page(wanted):
            return Written.NO
        if world.forge.put_page(name, wanted, expected=stored.text if stored else None, cover=manner.cover):
            return Written.YES
    return Written.LATER


def _is_late(stored: str, name: str, heard: Heard) -> bool:
    return name in heard.pages and fingerprint.page(heard.pages[name]) != fingerprint.page(stored)


def _carried(stored: str, text: str, name: str, heard: Heard, unsettled: Collection[str]) -> str:
    """Return the new page with the boxes as people left them after this tick had read the page, and undecided ones."""
    if name not in heard.pages:
        return text
    undecided = (tick for tick in row.read(stored, text) if tick.ticked and tick.subject in unsettled)
    return row.with_boxes(text, (*undecided, *row.read(stored, heard.pages[name])))
