"""Which watch can see what an event tells of. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOWS: Mapping[str, tuple[str, ...]] = {
    "files": ("push",),
    "github.commits": ("push",),
    "github.discussions": ("discussion", "discussion_comment"),
    "github.issues": ("issues", "issue_comment"),
    "github.pulls": ("pull_request", "pull_request_target", "pull_request_review"),
    "github.releases": ("release",),
    "github.runs": ("workflow_run", "workflow_job", "check_suite", "check_run"),
}
"""Kind of watch → events whose traces it can see. Any other kind may look at anything, so it may see all."""


def shows(kind: str, event: str) -> bool:
    """Whether a watch of this kind can see what such an event tells of."""
    return event in SHOWS.get(kind, (event,))


def kinds(event: str) -> tuple[str, ...]:
    """Return the kinds of watch that are made for such an event."""
    return tuple(kind for kind, events in SHOWS.items() if event in events)
