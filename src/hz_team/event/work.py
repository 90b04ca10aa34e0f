"""Pull requests, pushes, workflow runs, and whatever else only makes us look. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.event.payload import WORD, is_count, number, part, shown
from hz_team.model.wake import Said

if TYPE_CHECKING:
    from hz_team.event.payload import Event, Ground


def pull(event: Event, ground: Ground) -> Said:
    """A pull request of a fork is seen by the next tick: its own run may write nothing, and its files are foreign."""
    asked = part(event.payload, "pull_request")
    place = number(asked) or number(event.payload)
    head = str(part(part(asked, "head"), "repo").get("full_name") or "")
    ours = ground.repository or str(part(event.payload, "repository").get("full_name") or "")
    if event.name == "pull_request" and head.casefold() != ours.casefold():
        return event.ignored(f"#{place} comes from a fork, so this run may not write; the next tick sees it")
    merged = event.action == "closed" and asked.get("merged") is True
    return event.said(f"{'merged' if merged else event.deed} #{place}", issue=place)


def push(event: Event, ground: Ground) -> Said:
    """Only the default branch counts: what a helper says elsewhere is not decided yet."""
    del ground
    default, ref = part(event.payload, "repository").get("default_branch"), event.payload.get("ref")
    if isinstance(default, str) and ref != f"refs/heads/{default}":
        return event.ignored(f"{shown(ref)} is not the default branch, whose files alone count")
    return event.said("pushed")


def workflow_run(event: Event, ground: Ground) -> Said:
    """A run of another workflow, whoever started it."""
    del ground
    run = part(event.payload, "workflow_run")
    ended = str(run.get("conclusion") or "")
    ending = f" ({ended.replace('_', ' ')})" if WORD.fullmatch(ended) else ""
    name = f"workflow run {run['id']}" if is_count(run.get("id")) else "a workflow run"
    return Said(f"{name} {event.deed}{ending}", event.by, woken=event.woken)


def other(event: Event, ground: Ground) -> Said:
    """Any other event wakes; whoever listens for it in the workflow wants that."""
    del ground
    what = event.name.replace("_", " ") if WORD.fullmatch(event.name) else "nameless event"
    place = number(part(event.payload, event.name))
    named = f"{what} #{place}" if place else f"a {what}"
    return event.said(f"{event.deed if event.action else 'caused'} {named}", issue=place)
