"""The files below `.hz/`, and the key of what they say together. Standard library only: every tick reads this."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import TYPE_CHECKING

from hz_team import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = ".hz"
FORM = 2
"""Of the compiled index; raised when its fields change."""
_SKIPPED = ("__pycache__", ".hypothesis", ".pytest_cache", ".venv")


def read(root: str) -> dict[str, bytes | None]:
    """Return path below the root → bytes of every file below `.hz/` but `local/`, sorted; None: it cannot be read."""
    return {path: _bytes(os.path.join(root, path)) for path in sorted(_walk(root, FOLDER))}


def key(files: Mapping[str, bytes | None]) -> str:
    """Return 64 hex digits over program version, paths and bytes."""
    whole = hashlib.sha256(f"{__version__}\0{FORM}\0".encode())
    for path, content in files.items():
        part = hashlib.sha256(content).hexdigest() if content is not None else "-"
        whole.update(f"{path}\0{part}\0".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def surroundings() -> str:
    """Return what changes when a package is installed or removed: when the folders that Python imports from did."""
    whole = hashlib.sha256()
    for path in sys.path:
        try:
            whole.update(f"{path}\0{os.stat(path or os.curdir).st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        except OSError:
            whole.update(f"{path}\0-\0".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _walk(root: str, folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(os.path.join(root, folder)))
    except OSError:
        return
    for entry in entries:
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if path != f"{FOLDER}/local" and entry.name not in _SKIPPED:
                yield from _walk(root, path)
        elif not entry.is_dir():
            yield path


def _bytes(path: str) -> bytes | None:
    try:
        if not os.path.isfile(path):  # a pipe would never end
            return None
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None
