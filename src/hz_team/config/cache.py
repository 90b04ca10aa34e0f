"""What was compiled before, on this machine, by content. Losing it costs time, never a fact. Standard library only."""

from __future__ import annotations

import json
import os

from hz_team.model.job import Index, index_from, plain

KEPT = 4
"""Newest indexes kept, so that switching between branches stays quick."""


def read(folder: str, key: str) -> Index | None:
    """Return the index of that key; None if there is none, or none that can be read."""
    try:
        with open(_path(folder, key), encoding="utf-8") as stream:
            index = index_from(json.load(stream))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return index if index.key == key else None


def write(folder: str, index: Index) -> None:
    """Store an index, whole or not at all, and drop the oldest; a cache that cannot be written is no failure."""
    path = _path(folder, index.key)
    fresh = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(fresh, "w", encoding="utf-8") as stream:
            json.dump(plain(index), stream, ensure_ascii=False, separators=(",", ":"))
        os.replace(fresh, path)
        _prune(folder)
    except OSError:
        return


def _path(folder: str, key: str) -> str:
    return os.path.join(folder, f"index-{key}.json")


def _prune(folder: str) -> None:
    found = [entry for entry in os.scandir(folder) if entry.name.startswith("index-")]
    for entry in sorted(found, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)[KEPT:]:
        os.unlink(entry.path)
