"""What an order is told before it is worked on, and what its drafts are judged against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team import workroom
from hz_team.ceiling import Home
from hz_team.errors import HzError
from hz_team.workroom import Workroom

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.facet import Facets
    from hz_team.model.job import Job, Settings
    from hz_team.model.order import Order
    from hz_team.ports import Processes

RENDERED = ("title", "branch", "path", "target", "url", "repository")
"""Keys of `publish` that may be templates."""


class TitleError(HzError):
    """A title, branch or path of `publish` that cannot be rendered."""


def room(order: Order, job: Job, settings: Settings, seen: Mapping[str, Facets], *, now: int) -> Workroom:
    """Return the room of an order, still without a folder. `seen`: what its watches saw, by watch id."""
    zone = next((trigger.zone for trigger in job.triggers if trigger.identity == order.trigger), settings.timezone)
    told = order.redraft
    defaults = {name: spec.default for name, spec in job.inputs.items() if spec.default is not None}
    return Workroom(
        folder="",
        root="",
        job=job.id,
        variables={
            "slot": workroom.slot(now if order.slot is None else order.slot, zone),
            "job": {"id": job.id, "name": job.name},
            "inputs": {**defaults, **order.inputs},
            "note": told.note if told else "",
            "draft": {"title": told.title, "body": told.body} if told else {"title": "", "body": ""},
        },
        facets={name: _plain(seen[watch]) for name, watch in job.watches.items() if watch in seen},
        zone=settings.timezone,
        timeout=job.timeout,
        modules=settings.modules,
    )


def home(job: Job, room: Workroom, settings: Settings) -> Home:
    """Return what a ceiling is looked at from."""
    return Home(
        job=job.id,
        name=job.name,
        date=str(room.variables["slot"]["date"]),
        repository=settings.repository,
        repositories=settings.repositories,
        hosts=settings.hosts,
    )


def rendered(
    processes: Processes,
    room: Workroom,
    publish: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Return `publish` with its titles, branches and paths rendered, in one contained child if there is any template.

    Raises TitleError.
    """
    made = {kind: dict(spec) for kind, spec in publish.items()}
    sources = {
        f"publish.{kind}.{key}": spec[key]
        for kind, spec in made.items()
        for key in RENDERED
        if isinstance(spec.get(key), str) and "{" in spec[key]
    }
    if not sources:
        return made
    request = {"texts": sources, "variables": room.told()}
    answer, finished = workroom.ask(processes, "hz_team.steps.template", request, zone=room.zone)
    if not isinstance(answer, dict):
        raise TitleError(finished.stderr.strip().rpartition("\n")[2] or "publish: its titles were not rendered in time")
    for name, text in answer.items():
        kind, _, key = name.removeprefix("publish.").rpartition(".")
        made[kind][key] = str(text)
    return made


def _plain(facets: Facets) -> dict[str, list[dict[str, object]]]:
    return {part: [dict(item) for item in items] for part, items in facets._asdict().items()}
