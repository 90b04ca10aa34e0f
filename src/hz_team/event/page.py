"""Issues and comments: they count on our own pages, and where a helper wakes on them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hz_team.event.payload import number, part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.event.payload import Event, Ground
    from hz_team.model.wake import Said

_PAGE = re.compile(r"<!-- hz:(?:dashboard|proposal)\b")
_TICKED = re.compile(r"\[[xX]\] <!-- hz:")
_LABEL = re.compile(r"hz(?::[a-z-]+)?")


def issues(event: Event, ground: Ground) -> Said:
    """An issue counts if it is a page of ours, or if a helper wakes on what was done to it."""
    del ground
    issue = part(event.payload, "issue")
    place = number(issue)
    if not _is_page(event.payload):
        if not event.woken:
            return event.ignored(f"#{place} is no page of ours, and no helper wakes on issues that are {event.deed}")
        return event.said(f"{event.deed} #{place}", issue=place)
    if event.is_bot:
        return event.ignored(f"{event.by} is a bot, and bots answer nothing on #{place}")
    before = part(part(event.payload, "changes"), "body").get("from")
    more = _ticks(issue.get("body")) - _ticks(before) if isinstance(before, str) else 0
    return event.said(f"{'ticked a box on' if more > 0 else event.deed} #{place}", issue=place)


def comment(event: Event, ground: Ground) -> Said:
    """A comment counts if it is new, a person's, and stands below an open page of ours."""
    del ground
    issue = part(event.payload, "issue")
    place = number(issue)
    why = ""
    if event.action != "created":
        why = f"a comment on #{place} was {event.action or 'changed'}, and only new ones count"
    elif event.is_bot:
        why = f"{event.by} is a bot, and bots answer nothing on #{place}"
    elif "pull_request" in issue:
        why = f"#{place} is a pull request, where comments answer nothing"
    elif not _is_page(event.payload):
        why = f"#{place} is no page of ours"
    elif issue.get("state") == "closed":
        why = f"#{place} is closed, and nothing is answered there any more"
    if why and not event.woken:
        return event.ignored(why)
    return event.said(f"commented on #{place}", issue=place)


def _ticks(text: Any) -> int:
    return len(_TICKED.findall(text)) if isinstance(text, str) else 0


def _is_page(payload: Mapping[str, Any]) -> bool:
    """Whether an issue is a page of ours, as far as it shows: by its label, or its first mark now or before an edit."""
    issue = part(payload, "issue")
    labels = issue.get("labels")
    names = [str(part({"": one}, "").get("name")) for one in labels] if isinstance(labels, list) else []
    texts = (issue.get("body"), part(part(payload, "changes"), "body").get("from"))
    marked = any(isinstance(text, str) and _PAGE.search(text) for text in texts)
    return marked or any(_LABEL.fullmatch(name) for name in names)
