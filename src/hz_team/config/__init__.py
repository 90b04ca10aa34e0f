"""The front of the configuration: `.hz/` as a compiled index, from the cache where no file changed.

Everything that reads YAML or checks shapes is imported inside: an idle tick hashes the files and reads one JSON file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.config import cache, tree
from hz_team.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hz_team.model.job import Finding, Index, Trigger

    Declare = Callable[[str, tuple[str, ...]], dict[str, Any] | Finding]

__all__ = ["effective", "index", "load"]

DOUBTED = 600
"""Seconds that an index is believed whose reading failed somewhere in a way that no file explains."""


def index(root: str, *, cache_dir: str, declare: Declare, now: int) -> Index:
    """Return the compiled configuration of the valid files.

    `declare(path, modules)` reads the declarations of a `.hz/jobs/*.py` (path below the root) in a child process that
    may import `modules`; it is called only when a file changed. Raises UsageError if there is no configuration or two
    jobs have one id.
    """
    files = _files(root)
    key = tree.key(files)
    known = cache.read(cache_dir, key)
    known = known if known and _stands(known, now) else None
    if known and _reaches(known, now):
        return known
    if known:
        fresh = _ahead(known, now)
        cache.write(cache_dir, fresh)
        return fresh
    from hz_team.config import catalog

    made = catalog.build(files, key=key, declare=declare, now=now)
    if made.collisions:
        raise UsageError("; ".join(finding.text for finding in made.collisions))
    compiled = made.compiled if made.lasting else made.compiled._replace(doubt=tree.surroundings())
    cache.write(cache_dir, compiled)
    return compiled


def load(root: str, *, declare: Declare, now: int) -> Index:
    """Read everything anew and return it with all findings of all files; raises UsageError without any file."""
    from hz_team.config import catalog

    files = _files(root)
    return catalog.build(files, key=tree.key(files), declare=declare, now=now).compiled


def effective(root: str, *, declare: Declare, now: int) -> tuple[tuple[str, Any, str], ...]:
    """Return (key, value, where from) for every effective value; where from is `file:line` or `default`."""
    from hz_team.config import catalog, effect

    files = _files(root)
    return effect.rows(catalog.build(files, key=tree.key(files), declare=declare, now=now))


def _files(root: str) -> dict[str, bytes | None]:
    files = tree.read(root)
    if not files:
        raise UsageError(f"{root} has no configuration: there is no file in .hz/; `hz-team init` makes the first two")
    return files


def _stands(known: Index, now: int) -> bool:
    """Whether reading the same files again would give the same.

    An index in doubt holds for a while, and only as long as no package comes or goes.
    """
    return not known.doubt or (known.doubt == tree.surroundings() and 0 <= now - known.compiled_at < DOUBTED)


def _reaches(known: Index, now: int) -> bool:
    """Whether the slots that were enumerated ahead still say what comes next."""
    return all(_covers(trigger, now) for job in known.jobs for trigger in job.triggers)


def _covers(trigger: Trigger, now: int) -> bool:
    ahead = trigger.window
    return not ahead or trigger.kind != "cron" or (ahead.start <= now < ahead.end)


def _ahead(known: Index, now: int) -> Index:
    """Return the index with slots enumerated from now on."""
    from hz_team import schedule

    def moved(trigger: Trigger) -> Trigger:
        return trigger if _covers(trigger, now) else trigger._replace(window=schedule.window(trigger, now))

    jobs = tuple(job._replace(triggers=tuple(map(moved, job.triggers))) for job in known.jobs)
    return known._replace(jobs=jobs, compiled_at=now)
