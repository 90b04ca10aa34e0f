"""Pokes and their inputs: declared, typed, bounded; never template, never shell text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hz_team.errors import UsageError
from hz_team.model.wake import Poke

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.job import Index, Input, Job

LONGEST = 1000
"""Characters of one input's value."""


def find(index: Index, name: str) -> Job:
    """Return the job of that id. Raises UsageError with the nearest ids."""
    for job in index.jobs:
        if job.id == name:
            return job
    from difflib import get_close_matches

    near = get_close_matches(name, [job.id for job in index.jobs], n=1)
    hint = f"; did you mean {near[0]}?" if near else "; `hz-team jobs` lists them"
    broken = " (its file has an error: `hz-team validate`)" if name in index.broken else ""
    message = f"no helper called {name}{broken}{hint}"
    raise UsageError(message)


def inputs(job: Job, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given inputs as their declared types. Raises UsageError for the first that does not fit."""
    for name in given:
        if name not in job.inputs:
            known = ", ".join(sorted(job.inputs)) or "none"
            shown = name if re.fullmatch(r"[\w-]{1,63}", name) else ascii(name)[:63]
            message = f"{job.id} has no input {shown}; declared: {known}"
            raise UsageError(message)
    missing = [
        name for name, spec in job.inputs.items() if spec.required and name not in given and spec.default is None
    ]
    if missing:
        message = f"{job.id} needs the input {missing[0]}"
        raise UsageError(message)
    return {name: _typed(job.id, name, job.inputs[name], value) for name, value in given.items()}


def misfit(job: Job, given: Mapping[str, Any]) -> str:
    """Return why inputs that were taken before do not fit the job as it is now, "" if they do."""
    try:
        taken = inputs(job, given)
    except UsageError as error:
        return str(error)
    other = sorted(name for name, value in given.items() if taken[name] != value)
    return f"{job.id}: input {other[0]} is another type now" if other else ""


def _typed(job: str, name: str, spec: Input, value: Any) -> Any:
    if not isinstance(value, str | int | float):
        message = f"{job}: input {name} is neither text nor a number nor true or false"
        raise UsageError(message)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    wrong = _problem(spec, text)
    if wrong:
        message = f"{job}: input {name} {wrong}"
        raise UsageError(message)
    if spec.type == "boolean":
        return text == "true"
    return int(text) if spec.type == "number" else text


def _problem(spec: Input, text: str) -> str:
    if len(text) > LONGEST or "\0" in text:
        return f"is longer than {LONGEST} characters or holds a NUL"
    if re.search("[\ud800-\udfff]", text):
        return "holds bytes that are no text"
    if spec.type == "boolean" and text not in ("true", "false"):
        return "must be true or false"
    if spec.type == "number" and not re.fullmatch(r"-?[0-9]{1,15}", text):
        return "must be a whole number"
    if spec.type == "choice" and text not in spec.options:
        return f"must be one of {', '.join(spec.options)}"
    if spec.pattern and text and not re.fullmatch(spec.pattern, text):
        return f"must match {spec.pattern}"
    return ""


def make(
    job: Job,
    *,
    by: str,
    via: str,
    at: int,
    inputs: Mapping[str, Any],
    cause: str = "manual",
    delivery: str = "",
) -> Poke:
    """Return a poke whose id is the same for the same asking, so that a doubled delivery counts once.

    `delivery`: what identifies an asking that a machine delivers, however often and whenever that happens.
    """
    from hashlib import sha256

    asked = (delivery,) if delivery else (by, via, at)
    name = sha256(repr((job.id, *asked, sorted(inputs.items()))).encode()).hexdigest()[:16]
    return Poke(name, job.id, cause, by, via, at, dict(inputs))
