"""What watches saw: items, snapshots, cursors, facets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Item = dict[str, Any]
"""One canonical item. Always `id` (stable identity) and `title`; a feed's has also link, published, updated, summary,
author, source; a file's path, size, sha256. JSON values; times are ISO 8601 strings; no volatile field."""

NEWEST = 500
"""A snapshot keeps at most this many items …"""
LARGEST = 1_000_000
"""… and this many bytes."""


class Source(NamedTuple):
    """The state of one source of a watch (one feed URL, one file pattern, …)."""

    validators: Mapping[str, str] = {}
    """etag and last_modified, opaque, as a pair from the latest answer."""
    polled_at: int = 0
    not_before: int = 0
    """Do not ask again before (Retry-After, back-off). 0: whenever due."""
    failures: int = 0
    failing_since: int = 0
    error: str = ""
    paused: str = ""
    """Why no tick asks any more (410 Gone, …), "" if it does. A person resumes it."""
    moved: Mapping[str, Any] = {}
    """A permanent redirect that was seen: {"to": url, "since": time}."""
    aliases: Mapping[str, str] = {}
    """Further keys under which an item was known → its id."""


class Cursor(NamedTuple):
    """Where a watch stands; saved in the same write as what it stands for."""

    watch: str
    key: str
    polled_at: int = 0
    sources: Mapping[str, Source] = {}
    snapshot: str = ""
    """SHA-256 of the facets document these sources stand for; "" before the first success."""
    seen: tuple[str, ...] = ()
    """Short hashes of identities older than the snapshot reaches, so that they never come back as new."""
    state: Any = None
    """A Python watch's own cursor (JSON)."""
    warnings: tuple[str, ...] = ()


class Polled(NamedTuple):
    """What one poll of a watch brought."""

    cursor: Cursor
    """The next cursor; its `snapshot` still names the old document (observe fills in the new one)."""
    items: tuple[Item, ...] | None
    """The whole snapshot in canonical order, newest first; None: unchanged."""
    requests: int = 0
    unchanged: int = 0
    """Sources that said "not modified"."""
    added: int = 0
    notes: tuple[str, ...] = ()
    """Sentences for the summary and the receipts: failures, moves, odd feeds."""
    urgent: bool = False
    """The cursor must be written now (first or last failure, a pause, a wait over an hour), not only ride along."""


class Facets(NamedTuple):
    """A watch as a job sees it: the snapshot against the job's base."""

    added: tuple[Item, ...] = ()
    changed: tuple[Item, ...] = ()
    removed: tuple[Item, ...] = ()
    all: tuple[Item, ...] = ()
