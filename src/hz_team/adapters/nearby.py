"""A repository on this machine, looked at without starting Git: where it lies, and where a branch of it stands."""

from __future__ import annotations

import os

BRANCH = "refs/heads/hz-state"
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~")
"""Characters that stand for themselves in a URL."""


def file_url(path: str) -> str:
    """Return the URL of an absolute path."""
    if set(path) <= PLAIN:
        return f"file://{path}"
    from urllib.parse import quote

    return "file://" + quote(os.fsencode(path))


def local_directory(url: str) -> str:
    """Return the Git directory that a file URL or an absolute path names, "" if there is none on this machine."""
    path = url.removeprefix("file://") if url.startswith("file:///") else url
    if not path.startswith("/"):
        return ""
    if "%" in path and path != url:
        from urllib.parse import unquote

        path = unquote(path, errors="surrogateescape")
    for folder in (path, os.path.join(path, ".git")):
        if os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects")):
            return os.path.normpath(folder)
    return ""


def loose_ref(path: str, ref: str) -> str:
    """Return the value of a ref if it has a file of its own in this Git directory, else "" (ask `commit_of` then)."""
    try:
        with open(os.path.join(path, ref), "rb") as stream:
            value = stream.read(64).strip().decode("ascii", "replace")
    except OSError:
        return ""
    return value if is_id(value) else ""


def is_id(text: str) -> bool:
    """Whether a text is the full name of an object."""
    return len(text) in {40, 64} and not text.strip("0123456789abcdef")
