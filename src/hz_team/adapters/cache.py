"""This machine's cache folder: compiled configuration, a mirror of the state, notes. Losing it costs time, no fact."""

from __future__ import annotations

import json
import os
import sys

from hz_team.model.observation import Notes


def folder_of(root: str, url: str) -> str:
    """Return the cache folder of one root and one state (or of `config`)."""
    from hashlib import sha256

    name = sha256(f"{os.path.realpath(root)}\0{url}".encode()).hexdigest()[:16]
    return os.path.join(_home(), "hz-team", name)


def _home() -> str:
    """Return the run's own folder on Actions, else the user's cache folder.

    platformdirs is asked only where the answer is not one environment variable.
    """
    if os.environ.get("GITHUB_ACTIONS") == "true" and os.environ.get("RUNNER_TEMP", "").startswith("/"):
        return os.environ["RUNNER_TEMP"]
    if os.environ.get("XDG_CACHE_HOME", "").startswith("/"):
        return os.environ["XDG_CACHE_HOME"]
    if sys.platform == "linux" and os.environ.get("HOME", "").startswith("/"):
        return os.path.join(os.environ["HOME"], ".cache")
    from platformdirs import user_cache_dir

    return user_cache_dir()


def load_notes(folder: str) -> Notes:
    """Read what this machine remembers; anything unreadable is forgotten."""
    try:
        with open(os.path.join(folder, "notes.json"), encoding="utf-8") as stream:
            return Notes(json.load(stream))
    except (OSError, ValueError, AttributeError, TypeError):
        return Notes()


def forget_notes(folder: str) -> None:
    """Remove what this machine remembers, if it remembers anything."""
    try:
        os.unlink(os.path.join(folder, "notes.json"))
    except FileNotFoundError:
        return


def save_notes(folder: str, notes: Notes) -> None:
    """Store what this machine remembers, whole or not at all."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, "notes.json")
    with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as stream:
        stream.write(notes.data_text())
    os.replace(f"{path}.{os.getpid()}", path)
