"""`issue`: opens an issue, here or in another repository that the team's settings allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.publishers import is_here, marker, shown, spelled, targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.proposal import Part
    from hz_team.ports import Found, PublishTools

KIND = "issue"
UNDOABLE = True


def find(part: Part, tools: PublishTools) -> Found:
    """List the issues that carry the part's key."""
    return tools.forge.find(KIND, marker(part.key), target=part.target, since=tools.since)


def publish(part: Part, tools: PublishTools) -> str:
    """Open the issue; return its ref."""
    content = {**part.fields, "target": part.target, "title": part.title, "labels": part.labels, "body": part.body}
    return tools.forge.create(KIND, content, marker(part.key))


def words(payload: Mapping[str, Any]) -> str:
    """Return "opens an issue here, labelled newsletter"."""
    labels = ", ".join(shown(label) for label in payload["labels"])
    return _opens(targets(payload)) + (f", labelled {labels}" if labels else "")


def _opens(where: tuple[str, ...]) -> str:
    if len(where) > 1:
        return f"opens {len(where)} issues"
    return "opens an issue here" if is_here(where[0]) else f"opens an issue in {shown(where[0])}"


def becomes(payload: Mapping[str, Any], repository: str = "") -> str:
    """Return "exactly the text between the lines becomes an issue in acme/housework, labelled `newsletter`"."""
    from hz_team.markdown import literal

    labels = f", labelled {spelled(tuple(payload['labels']))}" if payload["labels"] else ""
    where = targets(payload)
    if len(where) > 1:
        return f"exactly the {len(where)} texts between the lines become issues{labels}"
    target = repository if is_here(where[0]) else where[0]
    place = f"in {literal(target)}" if "/" in target else "here"
    return f"exactly the text between the lines becomes an issue {place}{labels}"
