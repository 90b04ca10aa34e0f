"""What a job file says that is accepted and has no behaviour yet: one phrase each, never silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.config import setting
from hz_team.model.config import step
from hz_team.model.config.publish import LATER
from hz_team.model.config.value import added
from hz_team.model.written import Fields, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.config.setting import Team
    from hz_team.config.source import Source
    from hz_team.model.config import JobFile
    from hz_team.model.config.trigger import Trigger
    from hz_team.model.job import Approve

Phrase = tuple[str, int]
"""Words, and their line."""
KEYS = ("ttl", "access_control", "share")
ENVIRONMENT = "`environment` (outside Actions, where its secrets are)"


def phrases(where: Source, checked: JobFile, approve: Approve, team: Team) -> Iterator[Phrase]:
    """Yield what a job file says that is not run yet."""
    document = where.document
    yield from _steps(document, checked)
    for place, entry in enumerate(checked.on or ()):
        yield from ((text, line_of(document, ("on", place))) for text in _entry(entry))
    for phase in ("resume", "end"):
        if getattr(checked, phase).steps:
            yield f"`{phase}.steps`", line_of(document, (phase, "steps"))
    yield from ((f"`{key}`", line_of(document, (key,))) for key in KEYS if getattr(checked, key))
    if checked.environment:
        yield ENVIRONMENT, line_of(document, ("environment",))
    yield from ((text, line_of(document, ("owner",))) for text in setting.unknown_teams("owner", checked.owner, team))
    if checked.approve:
        yield from ((text, line_of(document, ("approve",))) for text in setting.late(approve, team))
    yield from ((text, line_of(document, ("publish",))) for text in publishers(checked.publish.ceilings()))


def publishers(ceilings: dict[str, Any]) -> Iterator[str]:
    """Yield the publishers that do not run yet."""
    return (f"publisher `{kind}`" for kind in ceilings if kind in LATER)


def _steps(document: Any, checked: JobFile) -> Iterator[Phrase]:
    path = ("steps",) if "steps" in document else ("init", "steps")
    written = document[path[0]] if len(path) == 1 else document["init"]["steps"]
    for place, one in enumerate(checked.drafting):
        line = line_of(document, (*path, place))
        if isinstance(one, step.Tool):
            yield f"`tool` (step {place + 1})", line
        elif isinstance(one, step.Other) and one.type not in added("steps"):
            yield f"step type `{one.type}` (step {place + 1})", line
        elif isinstance(written[place].get("env"), Fields):
            yield f"values of `env` (step {place + 1}: names only are passed on)", line


def _entry(entry: Trigger) -> Iterator[str]:
    if entry.kind == "lark_bot":
        yield f"trigger `{entry.kind}`"
    if entry.mode == "resume":
        yield "`mode: resume`"
    if entry.workspace_key:
        yield "`workspace_key`"
