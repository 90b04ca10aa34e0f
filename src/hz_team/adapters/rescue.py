"""Receipts of a record whose push nobody acknowledged, saved before a damaged cache is thrown away. Best effort.

They are kept as `rescued/<id>.json` beside the cache, until a person has looked; what turns out to stand on the branch
is dropped.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from hz_team.adapters import ancestry, git
from hz_team.adapters.git_runner import GitError
from hz_team.adapters.nearby import loose_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hz_team.adapters.git_runner import Repository

NEW = "refs/hz/new"
"""The last state commit that was made here, pushed or not."""
UNTOLD = "untold"
"""Stands in the folder until somebody was told of what lies there."""


def place_of(cache: str) -> str:
    """Return the folder for what is saved from a cache."""
    return os.path.join(os.path.dirname(cache), "rescued")


def save(repository: Repository, doomed: str, tip: str, place: str) -> None:
    """Keep the receipts of the last state commit made here, unless it is known to stand on the remote.

    `repository` is sound, and borrows the objects of the doomed cache; `tip`: the commit that was fetched last. Raises
    OSError when they cannot be written.
    """
    commit = loose_ref(doomed, NEW)
    if not commit or os.path.exists(os.path.join(doomed, f"view-{commit}.json")):
        return  # a view is only saved once its commit is on the branch
    reading = repository._replace(environ={**repository.environ, **_borrowing(doomed)})
    with suppress(GitError):
        if tip and ancestry.is_ancestor(reading, commit, tip):
            return
    try:
        found = _read(reading, [blob.id for blob in git.added(reading, commit, "receipts/")])
    except (GitError, ValueError):
        found = {}
    found = found or _packed(reading, os.path.join(doomed, "objects", "pack"))
    if not found:
        return
    os.makedirs(place, mode=0o700, exist_ok=True)
    for name, content in found.items():
        with open(os.path.join(place, f"{name}.json"), "wb") as stream:
            stream.write(content)
    with open(os.path.join(place, UNTOLD), "wb"):
        pass


def untold(place: str) -> bool:
    """Whether something lies there that nobody was told of."""
    return os.path.exists(os.path.join(place, UNTOLD))


def settle(place: str, on_branch: Callable[[], Collection[str]], url: str) -> str:
    """Drop what stands on the branch (its receipts' ids) after all; return a sentence about the rest, "" for none."""
    known, left = on_branch(), 0
    with suppress(OSError):
        for file in os.listdir(place):
            if file.removesuffix(".json") in known:
                os.unlink(os.path.join(place, file))
            elif file.endswith(".json"):
                left += 1
        os.unlink(os.path.join(place, UNTOLD))
    if not left:
        return ""
    what = "a receipt that" if left == 1 else f"{left} receipts that"
    return (
        f"the cache of {url} was damaged and made anew; {what} had not arrived there: kept in {place}, and not part of "
        "the ledger; this tick plans that work again"
    )


def _read(repository: Repository, ids: list[str]) -> dict[str, bytes]:
    """Return id → bytes of those objects that are receipts."""
    from hashlib import sha256

    contents = git.contents(repository, ids).values() if ids else ()
    return {sha256(content).hexdigest(): content for content in contents if _is_receipt(content)}


def _packed(repository: Repository, folder: str) -> dict[str, bytes]:
    """Return the receipts in those packs that were made here, each pack for itself: the others may be damaged."""
    found: dict[str, bytes] = {}
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in (name.removesuffix(".idx") for name in names if name.endswith(".idx")):
        if f"{name}.promisor" in names:
            continue  # it was fetched
        with suppress(GitError, OSError, ValueError):
            found |= _read(repository, git.indexed(repository, os.path.join(folder, f"{name}.idx")))
    return found


def _is_receipt(content: bytes) -> bool:
    import json

    try:
        data = json.loads(content)
    except ValueError:
        return False
    return isinstance(data, dict) and data.keys() >= {"v", "job", "seq", "prev", "disposition"}


def _borrowing(doomed: str) -> dict[str, str]:
    """Return what lets Git read another repository's objects, and know where its history ends."""
    objects = os.path.join(doomed, "objects").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    borrowed = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{objects}"'}
    cut = os.path.join(doomed, "shallow")
    return {**borrowed, "GIT_SHALLOW_FILE": cut} if os.path.exists(cut) else borrowed
