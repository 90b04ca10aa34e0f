"""What Git and the server of a state can do and refuse, asked without writing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.adapters import git_runner, refusal
from hz_team.adapters.git import PARTIAL
from hz_team.adapters.git_runner import GitError, Repository, scrubbed
from hz_team.ports import Guard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.adapters.mirror import Mirror

NOWHERE = "refs/hz/probe"
"""A ref that is never made."""


def version(environ: Mapping[str, str]) -> tuple[int, ...]:
    """Return the version of Git on this machine, (2, 39, 5); () if it does not say. Raises OSError without Git."""
    code, out, _ = git_runner.run(Repository(".", scrubbed(environ)), "version")
    words = out.decode("utf-8", "replace").split()
    parts = words[2].split(".") if not code and len(words) > 2 else []  # noqa: PLR2004  ("git version 2.39.5 …")
    numbers = []
    for part in parts:
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def takes_atomic(mirror: Mirror, tip: str) -> bool | None:
    """Whether the server moves several refs all or nothing; None if it does not answer. `tip`: a commit of the cache.

    Git compares what the server offers before it would send anything, so a dry run is enough; of a ref that is there
    already it would not even ask.
    """
    words = ("push", "--porcelain", "--dry-run", "--atomic", "--no-verify", "origin", f"{tip}:{NOWHERE}")
    with mirror.writing() as repository:
        code, _, said = git_runner.run(repository, *words, settings=(*PARTIAL, *repository.access))
    if refusal.CANNOT in said:
        return False
    return True if code == 0 else None


def guarded(path: str, environ: Mapping[str, str]) -> Guard | None:
    """Return what the settings of a repository on this machine refuse to every push; None if it cannot be read."""
    repository = Repository(path, scrubbed(environ))
    try:
        return Guard(_is_set(repository, "receive.denyNonFastForwards"), _is_set(repository, "receive.denyDeletes"))
    except GitError:
        return None


def _is_set(repository: Repository, name: str) -> bool:
    """Whether a setting is on; one that is not there is off. Raises GitError."""
    words = ("config", "--type=bool", "--get", name)
    code, out, said = git_runner.run(repository, *words)
    if code not in {0, 1}:
        raise GitError(words, code, said)
    return out.strip() == b"true"
