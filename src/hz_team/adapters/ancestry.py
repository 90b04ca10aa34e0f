"""Which commit comes after which, in a cache that may know only the newest part of a history."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hz_team.adapters.git import PARTIAL
from hz_team.adapters.git_runner import GitError, ask, run

if TYPE_CHECKING:
    from hz_team.adapters.git_runner import Repository


def is_ancestor(repository: Repository, old: str, new: str) -> bool | None:
    """Whether a commit is another's ancestor or the same; None if the history known here ends before it could tell.

    Raises GitError where one of the two is not here.
    """
    words = ("merge-base", "--is-ancestor", old, new)
    code, _, err = run(repository, *words)
    if code not in {0, 1}:
        raise GitError(words, code, err)
    if code == 0:
        return True
    cut = _cut(repository)  # Git says no as well where it merely knows no further
    if not cut:
        return False
    newer = ask(repository, "rev-list", new, f"^{old}").decode().split()
    return False if cut.isdisjoint(newer) else None


def _cut(repository: Repository) -> set[str]:
    """Return the commits whose parents were not brought here."""
    try:
        with open(os.path.join(repository.path, "shallow"), encoding="ascii") as stream:
            return set(stream.read().split())
    except FileNotFoundError:
        return set()
    except (OSError, ValueError) as error:
        raise GitError(("merge-base",), 1, f"shallow: {error}") from None


def deepen(repository: Repository, ref: str, by: int) -> None:
    """Bring so many older commits of a ref here, without what they hold. Raises GitError."""
    options = ("-q", f"--deepen={by}", "--filter=tree:0", "--no-tags", "--no-write-fetch-head")
    ask(repository, "fetch", *options, "origin", ref, settings=(*PARTIAL, *repository.access))
