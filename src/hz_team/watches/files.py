"""`files`: files of the checkout by pattern; looked at by stat, read only where that differs.

Patterns are paths below the root: `*` and `?` stay within a name, `[…]` is one character, `**` is any folders, a
leading `!` takes files out again; the last pattern that fits decides. Names with a leading dot are names like others.
`.git` and `.hz/local` are never looked at, nor is anything beyond a link to a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

from hz_team.model.facet import LARGEST, Cursor, Item, Polled, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hz_team.model.job import Watch
    from hz_team.ports import WatchTools

MOST = 20_000
"""Files that one watch looks at."""
FRESH = 2_000_000_000
"""Nanoseconds: a file changed so shortly ago may change again within one tick of its clock, so it is read each time."""
_NEVER = (".git", ".hz/local")
_LISTING = ""
"""Key in the stats under which the last listing is remembered; no path is empty."""


class UnreadableError(Exception):
    """The files cannot be told; the text says which and why."""


def poll(watch: Watch, cursor: Cursor, tools: WatchTools) -> Polled:
    """Look at the files; trouble changes nothing but is said."""
    ignore = frozenset(watch.spec.get("ignore") or ()) - {"id", "title"}
    try:
        items = _items(tools.root, watch.spec["paths"], tools.stats, ignore)
    except UnreadableError as error:
        return _failed(watch, cursor, tools.now, str(error))
    before = cursor.sources.get(watch.kind, Source())
    after = cursor._replace(polled_at=tools.now, sources={watch.kind: Source(polled_at=tools.now)})
    done = Polled(after, None, requests=0, unchanged=1, urgent=bool(before.failures))
    listing = hashlib.sha256(json.dumps(items).encode()).hexdigest()
    if cursor.snapshot and tools.stats.get(_LISTING) == [cursor.snapshot, listing]:
        return done
    old = tools.items()
    if cursor.snapshot and old == items:
        tools.stats[_LISTING] = [cursor.snapshot, listing]
        return done
    known = {item["id"] for item in old}
    return done._replace(items=items, unchanged=0, added=sum(item["id"] not in known for item in items))


def _failed(watch: Watch, cursor: Cursor, now: int, reason: str) -> Polled:
    before = cursor.sources.get(watch.kind, Source())
    source = before._replace(
        polled_at=now, failures=before.failures + 1, failing_since=before.failing_since or now, error=reason
    )
    after = cursor._replace(polled_at=now, sources={watch.kind: source})
    return Polled(after, None, notes=(f"{watch.id}: {reason}",), urgent=not before.failures)


def _items(root: str, patterns: Sequence[str], stats: dict[str, Any], ignore: frozenset[str]) -> tuple[Item, ...]:
    """Return the matching files as items, by path; `stats` is brought up to date. Raises UnreadableError."""
    remembered: dict[str, Any] = {_LISTING: stats.get(_LISTING)}
    items: list[Item] = []
    size = 0
    for path, entry in sorted(_matching(root, patterns), key=lambda pair: pair[0]):
        told = _told(path, entry, stats)
        if told is None:
            continue
        remembered[path] = told
        name = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        item: Item = {"id": name, "title": name, "path": name, "size": told[0], "sha256": told[3]}
        items.append({key: value for key, value in item.items() if key not in ignore})
        size += len(json.dumps(items[-1])) + 1
        if len(items) > MOST or size > LARGEST - 100:
            raise UnreadableError(f"{len(items)} files and more match, which no snapshot holds; narrow `paths`")
    stats.clear()
    stats.update(remembered)
    return tuple(items)


def _told(path: str, entry: os.DirEntry[str], stats: Mapping[str, Any]) -> list[Any] | None:
    """Return size, mtime, inode, SHA-256 and when it was read, None if the file just went. Raises UnreadableError."""
    try:
        stat = entry.stat()
        known = stats.get(path)
        seen = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
        if known and known[:3] == seen and stat.st_mtime_ns < known[4] - FRESH:
            return list(known)
        with open(entry.path, "rb") as stream:
            return [*seen, hashlib.file_digest(stream, "sha256").hexdigest(), time.time_ns()]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}") from None


def _matching(root: str, patterns: Iterable[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield path below the root and entry of every file that the patterns name. Raises UnreadableError."""
    rules = [(not pattern.startswith("!"), pattern.lstrip("!").strip("/").split("/")) for pattern in patterns]
    tests = [(wanted, re.compile(_expression(segments), re.DOTALL)) for wanted, segments in rules]
    wanted = [segments for keep, segments in rules if keep]
    home = os.path.realpath(root)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in _entries(home, folder):
            path = f"{folder}{entry.name}"
            if path in _NEVER or entry.name == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                if any(_leads(segments, path.split("/")) for segments in wanted):
                    waiting.append(f"{path}/")
            elif _is_named(path, tests) and _is_inside(home, entry):
                yield path, entry


def _entries(home: str, folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(home, folder)) as entries:
            return list(entries)
    except FileNotFoundError:
        if folder:
            return []  # it went while we looked
        raise UnreadableError(f"there is no folder {home}") from None
    except OSError as error:
        raise UnreadableError(f"{folder or home} cannot be listed: {error.strerror}") from None


def _is_named(path: str, tests: Iterable[tuple[bool, re.Pattern[str]]]) -> bool:
    named = False
    for wanted, test in tests:
        if named is not wanted and test.fullmatch(path):
            named = wanted
    return named


def _is_inside(home: str, entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a file, or a link to one below the root and not in a folder that is never looked at."""
    if not entry.is_symlink():
        return entry.is_file()
    real = os.path.realpath(entry.path)
    path = real[len(home) + 1 :]
    hidden = any(path == name or path.startswith(f"{name}/") for name in _NEVER)
    return real.startswith(home + os.sep) and not hidden and entry.is_file()


def _leads(segments: Sequence[str], folder: Sequence[str]) -> bool:
    """Whether files below the folder may fit the pattern."""
    for place, name in enumerate(folder):
        if place >= len(segments) - 1:
            return segments[-1] == "**"
        if segments[place] == "**":
            return True
        if not re.fullmatch(_segment(segments[place]), name, re.DOTALL):
            return False
    return True


def _expression(segments: Sequence[str]) -> str:
    """Return the pattern as a regular expression over whole paths."""
    *folders, name = segments
    parts = ["(?:[^/]+/)*" if folder == "**" else f"{_segment(folder)}/" for folder in folders]
    return "".join(parts) + ("(?:[^/]+/)*[^/]+" if name == "**" else _segment(name))


def _segment(pattern: str) -> str:
    """Return one name's pattern as a regular expression."""
    parts = re.findall(r"\[!?\]?[^\]]*\]|\*+|\?|.", pattern, re.DOTALL)
    return "".join(_piece(part) for part in parts)


def _piece(part: str) -> str:
    if part.startswith("*"):
        return "[^/]*"
    if part == "?":
        return "[^/]"
    if part.startswith("[") and len(part) > 2:  # noqa: PLR2004  (a bracket alone is a character)
        inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^").replace("]", "\\]")
        return f"(?!/)[^{inner[1:]}]" if inner.startswith("!") else f"(?!/)[{inner}]"
    return re.escape(part)
