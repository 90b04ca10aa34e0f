"""Dispatches: somebody asks for a helper by name, or says that something happened for which helpers wait. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hz_team import poke
from hz_team.errors import UsageError
from hz_team.event.payload import part, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hz_team.event.payload import Event, Ground
    from hz_team.model.job import Job
    from hz_team.model.wake import Poke, Said

POKE = "hz-poke"
"""The type of dispatch that names a job itself; any other is for the jobs whose `on` names it."""
KEYS, CHARACTERS = 10, 65_535
"""What GitHub takes of a dispatch's `client_payload`: keys at its top, characters of JSON."""


def dispatch(event: Event, ground: Ground) -> Said:
    """A dispatch counts whoever sent it: this program sends none, and another workflow has no other account."""
    kind = event.payload.get("action")
    client = event.payload.get("client_payload")
    client = {} if client is None else client
    if wrong := _misshapen(client):
        return event.said("sent a dispatch", refused=(f"{event.by}: {wrong}; nothing was asked for",))
    if kind == POKE:
        return _poked(event, client, ground)
    jobs = [job for job in ground.config.jobs if any(t.kind == "dispatch" and t.name == kind for t in job.triggers)]
    if not jobs:
        return event.ignored(f"no helper wakes on the dispatch {shown(kind)}")
    asked = [_asked(event, job, _declared(job, client), ground) for job in jobs]
    return event.said(f"sent {shown(kind)}", **_together(asked))


def _poked(event: Event, client: Mapping[str, Any], ground: Ground) -> Said:
    """`hz-poke`: `{job, inputs}` and nothing else."""
    odd = sorted(client.keys() - {"job", "inputs"})
    given = client.get("inputs")
    given = {} if given is None else given
    if odd or not isinstance(given, dict):
        wrong = f"it says {shown(odd[0])}" if odd else "its inputs are no mapping"
        text = f"{event.by}: {POKE} takes {{job, inputs: {{name: value}}}}, and {wrong}; nothing was asked for"
        return event.said(f"sent {POKE}", refused=(text,))
    return _named(event, client.get("job"), lambda _: given, ground)


def by_hand(event: Event, ground: Ground) -> Said:
    """A workflow started by hand may name a job; of its other inputs those count that the job declares."""
    given = {name: value for name, value in part(event.payload, "inputs").items() if value not in ("", None)}
    name = given.pop("job", "")
    if not name:
        return event.said("started this run by hand")
    said = _named(event, name, lambda job: _declared(job, given), ground)
    job = next((job for job in ground.config.jobs if job.id == name), None)
    odd = sorted(given.keys() - job.inputs.keys()) if job else []
    left = tuple(f"{event.by}: {name} has no input {shown(one)}; it was left out" for one in odd)
    return said._replace(refused=(*said.refused, *left))


def _named(event: Event, name: Any, given: Callable[[Job], Mapping[str, Any]], ground: Ground) -> Said:
    """Return the poke of a job by its id."""
    try:
        if not isinstance(name, str) or not name:
            raise UsageError("it names no helper; `job` is the helper's id")  # noqa: TRY301  (said as the others are)
        job = poke.find(ground.config, shown(name))
    except UsageError as error:
        return event.said("asked for a helper", refused=(f"{event.by}: {error}",))
    return event.said(f"poked {job.id}", **_together([_asked(event, job, given(job), ground)]))


def _asked(event: Event, job: Job, given: Mapping[str, Any], ground: Ground) -> tuple[Poke | None, str]:
    """Return the poke, or why there is none."""
    by_person = event.name == "workflow_dispatch" and not event.is_bot
    try:
        made = poke.make(
            job,
            by=event.by,
            via="dispatch",
            at=ground.now,
            inputs=poke.inputs(job, given),
            cause="manual" if by_person else "external",
            delivery=ground.run,
        )
    except UsageError as error:
        return None, f"{event.by}: {error}"
    return made, ""


def _together(asked: list[tuple[Poke | None, str]]) -> dict[str, Any]:
    return {"pokes": tuple(one for one, _ in asked if one), "refused": tuple(wrong for _, wrong in asked if wrong)}


def _declared(job: Job, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a job declares of values that were not written for it alone."""
    return {name: value for name, value in given.items() if name in job.inputs}


def _misshapen(client: Any) -> str:
    """Return what is wrong with a dispatch's payload before anybody reads it, "" if nothing is."""
    if not isinstance(client, dict):
        return "the payload of this dispatch is no mapping"
    if len(client) > KEYS:
        return f"the payload of this dispatch has {len(client)} keys, and {KEYS} are taken"
    try:
        size = len(json.dumps(client, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        return "the payload of this dispatch is nested too deeply"
    return f"the payload of this dispatch has {size:,} characters, and {CHARACTERS:,} are taken" * (size > CHARACTERS)
