"""Runs one job of a team in a unit test: the same contained child as at night, nothing recorded."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hz_team import plugin, workroom
from hz_team.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.ports import Processes


def run_job(name: str, *, root: str = ".", at: int = 0, **facets: Any) -> list[plugin.Proposal]:
    """Return what a Python job below `root`/.hz/jobs proposes when its watches saw these items.

    A watch is given as a list of items (all of them new), as Facets, or as {"added": […], "changed": […], …}; one
    that is left out saw nothing. `inputs={…}` is what a poke carried, `at` the slot in seconds since 1970. Raises
    UsageError with the job's own file and line if it fails.
    """
    from hz_team.adapters.process import SupervisedProcesses

    processes = SupervisedProcesses(private=(root,))
    file, job = _find(processes, name, root)
    path = os.path.abspath(os.path.join(root, file))
    request = {
        "action": "call",
        "file": path,
        "shown": file,
        "function": job["function"],
        "variables": {
            "inputs": facets.pop("inputs", {}),
            "note": facets.pop("note", ""),
            "slot": workroom.slot(at, "UTC"),
        },
        "facets": {watch: _facets(facets.pop(watch, ())) for watch in job["watch"]},
    }
    if facets:
        raise UsageError(
            f"{name} watches {', '.join(job['watch']) or 'nothing'}; it has no {', '.join(sorted(facets))}"
        )
    plain = json.loads(json.dumps(request, default=_iso))
    answer, finished = workroom.ask(processes, "hz_team.steps.python", plain, read=(path,), timeout=300)
    if not isinstance(answer, list):
        raise UsageError(f"{name} failed\n{finished.stdout}{finished.stderr}".rstrip())
    return [plugin.Proposal(**one) for one in answer]


def _find(processes: Processes, name: str, root: str) -> tuple[str, dict[str, Any]]:
    """Return the file and the declaration of a job, by its function, id or name."""
    folder = os.path.join(root, ".hz", "jobs")
    known: list[str] = []
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if not entry.endswith(".py"):
            continue
        file = f".hz/jobs/{entry}"
        said = plugin.declare(processes, file, root)
        for error in said["errors"]:
            raise UsageError(f"{file}:{error['line']}: {error['text']}")
        for job in said["jobs"]:
            if name in (job["function"], job.get("id"), job["name"]):
                return file, job
            known.append(job["function"])
    raise UsageError(f"there is no Python job {name} below {folder}; there is {', '.join(known) or 'none'}")


def _facets(given: Any) -> dict[str, list[Mapping[str, Any]]]:
    if isinstance(given, plugin.Facets):
        return {part: list(getattr(given, part)) for part in ("added", "changed", "removed", "all")}
    if isinstance(given, dict):
        parts = {part: list(given.get(part, ())) for part in ("added", "changed", "removed")}
        return {**parts, "all": list(given.get("all", [*parts["added"], *parts["changed"]]))}
    return {"added": list(given), "changed": [], "removed": [], "all": list(given)}


def _iso(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise TypeError(f"an item has JSON values and dates; {type(value).__name__} is neither")
