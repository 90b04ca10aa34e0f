"""`pull_request`: the difference that a step made `in: repo`, put up for review."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hz_team.errors import PublishRefused
from hz_team.publishers import counted, marker, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.proposal import Part
    from hz_team.ports import Found, PublishTools

KIND = "pull_request"
UNDOABLE = True
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def find(part: Part, tools: PublishTools) -> Found:
    """List the pull requests, open and closed, that carry the part's key."""
    return tools.forge.find(KIND, marker(part.key), target=part.target, since=tools.since)


def publish(part: Part, tools: PublishTools) -> str:
    """Open the pull request; return its ref. Raises PublishRefused if there is nothing to pull."""
    if not part.files or not part.fields.get("patch"):
        raise PublishRefused("there is no difference to pull; a pull request comes from a step that says `in: repo`")
    content = {**part.fields, "title": part.title, "labels": part.labels, "files": part.files, "body": part.body}
    return tools.forge.create(KIND, content, marker(part.key))


def words(payload: Mapping[str, Any]) -> str:
    """Return "pull request, +38 −2 in CHANGELOG.md"."""
    added, removed = size(str(payload["fields"].get("patch", "")))
    amount = f"+{added} −{removed} in " if added or removed else ""
    return f"pull request, {amount}{counted(tuple(payload['files']), 'file')}"


def becomes(payload: Mapping[str, Any], repository: str = "") -> str:
    """Return "exactly the changes between the lines become a pull request to `main` in acme/housework"."""
    labels = f", labelled {spelled(tuple(payload['labels']))}" if payload["labels"] else ""
    place = f" in {repository}" if "/" in repository else ""
    base = payload["fields"].get("base", "")
    to = f" to {spelled((str(base),))}" if base else ""
    return f"exactly the changes between the lines become a pull request{to}{place}{labels}"


def size(patch: str) -> tuple[int, int]:
    """Return how many lines a patch adds and removes: those that its hunks announce, whatever they look like."""
    added = removed = old = new = 0
    for line in patch.split("\n"):
        if old <= 0 and new <= 0:
            found = _HUNK.match(line)
            old, new = (int(found[1] or 1), int(found[2] or 1)) if found else (0, 0)
            continue
        added, removed = added + line.startswith("+"), removed + line.startswith("-")
        old, new = old - (not line.startswith(("+", "\\"))), new - (not line.startswith(("-", "\\")))
    return added, removed
