"""What the event that started this run says: who asked for what, which helpers look now, or why it is ignored. Pure.

An event only wakes. What became of an answer or a source is read from the page or the watch, so an event that is lost,
late or doubled changes nothing; only a dispatch says something itself. All of a payload is data from strangers: what is
shown of it are logins, numbers, and words of GitHub's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.event import dispatch, page, work
from hz_team.event.payload import Event, Ground, part, read, shown
from hz_team.model.wake import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hz_team.model.job import Index

ACTIONS = "github-actions[bot]"
"""Who the built-in token is."""
UNSIGNED = ("repository_dispatch", "schedule", "workflow_dispatch", "workflow_run")
"""Events that count whoever caused them: this program causes none of them, and other workflows have our account."""


def heard(
    name: str,
    payload: Any,
    *,
    config: Index,
    repository: str,
    now: int,
    own: str = "",
    home: str = "",
    run: str = "",
) -> Said:
    """Return what an event of that name says; whatever its payload holds, nothing is raised.

    `repository`: owner/name of the team's own, "" if nobody knows; `home`: the one that the configuration or a command
    names as the state's; `own`: the login of our app, where it is no built-in token; `run`: the id of the workflow run,
    which all its attempts share, so that a dispatch that is run again counts once.
    """
    data: Mapping[str, Any] = payload if isinstance(payload, dict) else {}
    event = read(name, data, config)
    if why := stranger(data, repository=repository, home=home):
        return event.ignored(why)
    if name not in UNSIGNED and event.by in (ACTIONS, own):
        return event.ignored(f"{event.by} is this program's own account")
    return READERS.get(name, work.other)(event, Ground(config, repository, run, now))


def stranger(payload: Any, *, repository: str, home: str = "") -> str:
    """Return why nothing is done in the repository of an event: it is a copy of the team's; "" if it is the team's."""
    place = part(payload, "repository")
    name = str(place.get("full_name") or "")
    if name and repository and name.casefold() != repository.casefold():
        return f"{shown(name)} is not the home repository, that is {repository}"
    if place.get("fork") is True and name.casefold() != home.casefold():
        return (
            f"{shown(name)} is a fork and not the home repository (if your helpers are to live there, say so: "
            "`state: {repository: owner/name}` in .hz/hz.yaml)"
        )
    return ""


def is_fork(payload: Any) -> bool:
    """Whether the event's repository is a fork of another one."""
    return part(payload, "repository").get("fork") is True


def schedule(event: Event, ground: Ground) -> Said:
    """The clock says nothing; each helper's own schedule decides."""
    del event, ground
    return Said()


READERS: Mapping[str, Callable[[Event, Ground], Said]] = {
    "schedule": schedule,
    "issues": page.issues,
    "issue_comment": page.comment,
    "repository_dispatch": dispatch.dispatch,
    "workflow_dispatch": dispatch.by_hand,
    "pull_request": work.pull,
    "pull_request_target": work.pull,
    "push": work.push,
    "workflow_run": work.workflow_run,
}
"""Events that say more than their name."""
