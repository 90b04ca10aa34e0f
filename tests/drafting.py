"""A workshop for tests: a team's folder, real contained processes, and one job at a time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hz_team.adapters.process import SupervisedProcesses, contained
from hz_team.model.job import Index, Job, Settings, Step
from hz_team.model.order import Order, Redraft
from hz_team.phases.draft import Workshop, draft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.draft import Outcome
    from hz_team.model.facet import Facets

NOW = 1_796_200_000
"""2 December 2026, 08:26:40 UTC."""
LANDLOCK = contained() != "none"
WHY_NOT = "NOT CONTAINED HERE: this kernel has no Landlock, so files and environment of a job are within its reach"


def shell(run: str, **more: Any) -> Step:
    """Return a `run` step."""
    return Step("shell", {"run": run}, **more)


def team(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a team's files and commit them; return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "all")):
        git(folder, *words)
    return folder


def git(folder: Path, *words: str) -> str:
    """Ask Git in a folder."""
    who = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org"}
    env = {**os.environ, **who, "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org"}
    return subprocess.run(("git", *words), cwd=folder, env=env, check=True, capture_output=True, text=True).stdout


def run(
    root: Path,
    *steps: Step,
    publish: Mapping[str, Mapping[str, Any]] | None = None,
    facets: Mapping[str, Facets] | None = None,
    environ: Mapping[str, str] | None = None,
    withheld: tuple[str, ...] = (),
    settings: Settings | None = None,
    redraft: Redraft | None = None,
    inputs: Mapping[str, Any] | None = None,
    **more: Any,
) -> Outcome:
    """Draft one job with these steps; its watches have the names of the facets."""
    facets = facets or {}
    job = Job(
        "digest",
        "A digest",
        ".hz/jobs/digest.yaml",
        steps=steps,
        publish={"issue": {}} if publish is None else publish,
        watches={name: f"{name}-watch" for name in facets},
        **more,
    )
    workshop = Workshop(
        root=str(root),
        config=Index("key", 0, (job,), settings=settings or Settings(repository="acme/housework")),
        processes=SupervisedProcesses(private=(str(root),)),
        environ=environ or {},
        now=NOW,
        facets=lambda _: {f"{name}-watch": seen for name, seen in facets.items()},
        withheld=withheld,
    )
    order = Order("digest", "schedule", "due", redraft=redraft, inputs=inputs or {})
    return draft((order,), workshop)[0]


def running(marker: str) -> list[int]:
    """Return the processes whose command line holds the marker, this one left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if marker in (entry / "cmdline").read_bytes().decode("utf-8", "replace"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
