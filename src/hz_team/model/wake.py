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
    """manual: a person asked, and it is drafted in any case; external: if anything changed."""
    by: str
    via: str
    """box, command, comment, dispatch."""
    at: int
    inputs: Mapping[str, Any] = {}
    """Declared inputs, already checked against the job."""


class Said(NamedTuple):
    """What the event that started this run says (`hz_team.event`); without one the clock woke us."""

    text: str = "schedule"
    """The words of the `wake` line: "octocat ticked a box on #1"."""
    by: str = ""
    """Login of who caused it, "somebody" if none can be read, "" for the clock."""
    pokes: tuple[Poke, ...] = ()
    woken: tuple[str, ...] = ()
    """Jobs whose `on` names it: they look at their watches now."""
    issue: int = 0
    """Number of the issue, pull request or discussion that it is about; 0 if it is about none."""
    refused: tuple[str, ...] = ()
    """Sentences about what was not taken (a wrong input, an unknown job)."""
    ignored: str = ""
    """Why it does not count, "" if it does."""


class Wake(NamedTuple):
    """What woke this tick."""

    cause: str = "schedule"
    by: str = ""
    """A login, or `local:NAME`; "" for the clock."""
    pokes: tuple[Poke, ...] = ()
    text: str = "schedule"
    """The words of the `wake` line."""
