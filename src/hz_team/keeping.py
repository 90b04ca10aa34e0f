"""What a working tick puts in order on the state branch while it writes anyway. Pure: contents in, files out.

Old receipts are sealed into segments, jobs that are gone are folded into a line, old drafts and snapshots that nobody
names are swept. Nothing of it causes a write, and a receipt's bytes never change.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.model.state import VERSION, Folded, stored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hz_team.model.facet import Cursor
    from hz_team.model.proposal import Proposal
    from hz_team.model.receipt import Runner
    from hz_team.model.state import Position, View

LOOSE = 1000
"""Unsealed receipts that a ledger may have before the oldest are sealed: a fresh runner pays for each of them."""
LINES = 1000
"""Receipts in a segment at most."""
LARGEST = 1_000_000
"""Bytes of a segment at most; a single receipt may be greater."""
SEGMENTS = 10
"""Segments made by one tick at most."""
KEEP = 90 * 86400
"""Seconds for which a job that is gone keeps its position, and a closed proposal its draft."""
LONGEST = 100
"""Characters of a runner's name in a path."""
Files = dict[str, "bytes | None"]


class Sealed(NamedTuple):
    """What sealing brings."""

    files: Mapping[str, bytes | None] = {}
    """Segments to write, receipts to remove."""
    receipts: int = 0
    """How many were sealed."""


class Shelved(NamedTuple):
    """What a shelf is afterwards."""

    content: bytes | None
    """None: it is empty and goes."""
    old: tuple[str, ...]
    """Drafts to remove, by their digests."""


class Loose(NamedTuple):
    """A receipt in a file of its own; in the order of these fields receipts are sealed."""

    as_of: str
    job: str
    seq: int
    path: str
    content: bytes


def overdue(view: View) -> int:
    """Return how many segments are to be made now, 0 as long as few receipts are loose."""
    return max(0, min(SEGMENTS, -(-(view.count - view.sealed - LOOSE) // LINES)))


def oldest(paths: Iterable[str], count: int) -> tuple[str, ...]:
    """Return the paths of the oldest months (receipts/YYYY/MM/…) that hold so many receipts."""
    months: dict[str, list[str]] = {}
    for path in paths:
        months.setdefault(path.rpartition("/")[0], []).append(path)
    found: list[str] = []
    for month in sorted(months):
        if len(found) >= count:
            break
        found += months[month]
    return tuple(found)


def seal(loose: Mapping[str, bytes], present: Iterable[str], *, segments: int) -> Sealed:
    """Fold the oldest of these receipts (path → content) into so many segments after those that are present (paths).

    Nothing is sealed if one of them is damaged: `verify` has to find it where it is.
    """
    entries = [_loose(path, content) for path, content in loose.items()]
    ordered = sorted(entry for entry in entries if entry)
    if len(ordered) < len(entries):
        return Sealed()
    first = 1 + max(map(number_of, present), default=0)
    files: Files = {}
    done = 0
    for number in range(first, first + segments):
        batch = _batch(ordered[done:])
        if batch:
            path, content = segment(number, [entry.content for entry in batch])
            files |= {path: content, **dict.fromkeys((entry.path for entry in batch), None)}
            done += len(batch)
    return Sealed(files, done)


def segment(number: int, receipts: Sequence[bytes]) -> tuple[str, bytes]:
    """Return path and content of a segment: the exact bytes of the receipts, each ended by a newline."""
    content = b"".join(receipt + b"\n" for receipt in receipts)
    return f"segments/{number}-{hashlib.sha256(content).hexdigest()}.jsonl", content


def number_of(path: str) -> int:
    """Return the number of a segment, 0 for a file that is none."""
    number = path.rpartition("/")[2].partition("-")[0]
    return int(number) if number.isdigit() else 0


def marked(position: Position, *, gone: bool, now: int) -> Position:
    """Return the position with the time since which no file names its job, or without it."""
    if gone == bool(position.gone_at):
        return position
    return position._replace(gone_at=now if gone else 0)


def retired(positions: Mapping[str, Position], *, busy: Collection[str], now: int) -> dict[str, Folded]:
    """Return the lines of jobs that have been gone for 90 days; `busy`: jobs about which something is still open."""
    return {
        job: Folded(position.seq, position.last, position.lease_generation)
        for job, position in positions.items()
        if position.gone_at and now - position.gone_at >= KEEP and job not in busy
    }


def folded(lines: Mapping[str, Folded]) -> bytes | None:
    """Return the content of jobs/.folded.json, None (no file) without any line."""
    jobs = {job: line._asdict() for job, line in sorted(lines.items())}
    return stored({"jobs": jobs, "v": VERSION}) if jobs else None


def draft(digest: str) -> str:
    """Return where a draft lies."""
    return f"drafts/{digest[:2]}/{digest}.json"


def shelf(job: str) -> str:
    """Return where it is written down since when drafts of a job belong to nothing open."""
    return f"closed/{job}.json"


def turn(shelves: Sequence[str], now: int) -> str:
    """Return the job whose shelf is looked at on that day beside others, "" if there is none; `shelves`: paths."""
    if not shelves:
        return ""
    return shelves[now // 86400 % len(shelves)].rpartition("/")[2].removesuffix(".json")


def shelve(content: bytes | None, closed: Iterable[str], *, named: Collection[str], now: int) -> Shelved:
    """Put drafts on a shelf that holds `content`, and take those off that have been there for more than 90 days.

    `named`: drafts of open proposals; they are no longer on the shelf.
    """
    days = {digest: day for digest, day in _shelved(content).items() if digest not in named}
    days |= dict.fromkeys(closed, _day(now))
    limit = _day(now - KEEP)
    old = tuple(sorted(digest for digest, day in days.items() if day < limit))
    kept = {digest: day for digest, day in days.items() if digest not in old}
    return Shelved(stored({"drafts": kept, "v": VERSION}) if kept else None, old)


def facets(snapshot: str) -> str:
    """Return where a snapshot lies."""
    return f"facets/{snapshot[:2]}/{snapshot}.json"


def snapshots(
    positions: Mapping[str, Position],
    proposals: Iterable[Proposal],
    cursors: Mapping[str, Cursor],
) -> set[str]:
    """Return the snapshots that something names."""
    names = {name for position in positions.values() for name in (*position.base.values(), *position.seen.values())}
    names |= {name for item in proposals for name in (*item.snapshot.values(), *item.base.values())}
    return {name for name in names | {cursor.snapshot for cursor in cursors.values()} if name}


def heartbeat(runner: Runner, now: int) -> tuple[str, bytes]:
    """Return path and content of a runner's sign of life; all runs on Actions share one for each who."""
    host = "actions" if runner.kind == "actions" else runner.host
    life = {**runner._asdict(), "at": now, "host": host, "v": VERSION}
    return f"fleet/{_path_of(runner.who)}@{_path_of(host)}.json", stored(life)


def _path_of(name: str) -> str:
    """Return a name as a part of a path on the state branch."""
    allowed = (mark if mark.isascii() and (mark.isalnum() or mark in "-_.+[]") else "-" for mark in name)
    return "".join(allowed)[:LONGEST]


def _loose(path: str, content: bytes) -> Loose | None:
    """Return a receipt if it is what its name says, None if it is damaged."""
    name = path.rpartition("/")[2].removesuffix(".json")
    if hashlib.sha256(content).hexdigest() != name or b"\n" in content or b"\r" in content:
        return None
    try:
        document: dict[str, Any] = json.loads(content)
        return Loose(str(document["as_of"]), str(document["job"]), int(document["seq"]), path, content)
    except (ValueError, KeyError, TypeError):
        return None


def _batch(ordered: Sequence[Loose]) -> Sequence[Loose]:
    """Return as many of the first receipts as a segment may hold."""
    size = 0
    for at, entry in enumerate(ordered[:LINES]):
        size += len(entry.content) + 1
        if size > LARGEST and at:
            return ordered[:at]
    return ordered[:LINES]


def _shelved(content: bytes | None) -> dict[str, str]:
    """Read a shelf; one that cannot be read is begun anew: all it costs is that its drafts stay."""
    try:
        drafts = json.loads(content or b"{}")["drafts"]
        return {str(digest): str(day) for digest, day in drafts.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _day(at: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))
