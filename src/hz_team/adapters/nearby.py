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


def origin_of(folder: str) -> str:
    """Return the URL that the clone in this folder or around it came from, "" if there is none."""
    while not os.path.exists(os.path.join(folder, ".git")):
        if folder == (folder := os.path.dirname(folder)):
            return ""
    section, found = "", ""
    try:
        with open(os.path.join(folder, ".git", "config"), encoding="utf-8", errors="surrogateescape") as stream:
            for line in map(str.strip, stream):
                name, _, value = line.partition("=")
                section = line if line.startswith("[") else section
                found = value.strip() if (section, name.strip()) == ('[remote "origin"]', "url") else found
    except OSError:
        return ""  # a linked working tree keeps its settings elsewhere
    return found


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
