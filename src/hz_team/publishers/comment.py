"""`comment`: writes under an issue or a pull request, one or several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hz_team.errors import PublishRefused
from hz_team.publishers import counted, marker, shown, spelled, targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.proposal import Part
    from hz_team.ports import Found, PublishTools

KIND = "comment"
UNDOABLE = True
_TARGET = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+)?#[1-9][0-9]*", re.ASCII)


def find(part: Part, tools: PublishTools) -> Found:
    """List the comments that carry the part's key."""
    return tools.forge.find(KIND, marker(part.key), target=part.target, since=tools.since)


def publish(part: Part, tools: PublishTools) -> str:
    """Write the comment; return its ref. Raises PublishRefused if the target is no issue's number."""
    if not _TARGET.fullmatch(part.target):
        raise PublishRefused(f"{shown(part.target) or 'no target'} is no issue; a comment's target is one such as #7")
    content = {**part.fields, "target": part.target, "body": part.body}
    return tools.forge.create(KIND, content, marker(part.key))


def words(payload: Mapping[str, Any]) -> str:
    """Return "comments on #7", "comments on 4 issues"."""
    return f"comments on {counted(targets(payload), 'issue')}"


def becomes(payload: Mapping[str, Any], repository: str = "") -> str:  # noqa: ARG001  (every kind is asked alike)
    """Return "exactly the text between the lines becomes a comment on `#7`"."""
    where = targets(payload)
    if len(where) > 1:
        return f"exactly the {len(where)} texts between the lines become comments on {spelled(where)}"
    return f"exactly the text between the lines becomes a comment on {spelled(where)}"
