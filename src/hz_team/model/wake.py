"""Why this tick runs: an event becomes a Wake; what somebody asked for becomes pokes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

CAUSES = ("schedule", "input", "external", "manual")
"""Wake causes of receipts: a clock, a watch, a dispatch or event, a person."""


class Poke(NamedTuple):
    """Somebody asked for a job: run-now box, `run JOB`, `/hz run`, `repository_dispatch` hz-poke."""

    id: str
    """Stable for one asking: the same delivery twice counts once."""
    job: str
    cause: str
    """manual or external."""
    by: str
    via: str
    """box, command, comment, dispatch."""
    at: int
    inputs: Mapping[str, Any] = {}
    """Declared inputs, already checked against the job."""


class Wake(NamedTuple):
    """What woke this tick."""

    cause: str = "schedule"
    by: str = ""
    pokes: tuple[Poke, ...] = ()
    text: str = "schedule"
    """The words of the `wake` line."""
