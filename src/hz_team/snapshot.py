"""Snapshots: what a watch saw, as one canonical document; and a snapshot against a job's base. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hz_team.errors import RemoteError
from hz_team.fingerprint import canonical
from hz_team.model.facet import LARGEST, NEWEST, Facets, Item

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = 1
_FRAME = len(b'{"items":[],"v":1}')


def document(items: Sequence[Item]) -> bytes:
    """Return the stored form: canonical JSON of {"items", "v"}. Its SHA-256 is the snapshot's name."""
    return canonical({"items": list(items), "v": VERSION})


def items(content: bytes) -> tuple[Item, ...]:
    """Read a stored snapshot. Raises RemoteError for a format that this program does not know."""
    data = json.loads(content)
    if data["v"] != VERSION:
        raise RemoteError(f"a snapshot of format {data['v']} is newer than this program; update hz-team")
    return tuple(data["items"])


def compare(now: Sequence[Item], base: Sequence[Item], *, accumulates: bool = False) -> Facets:
    """Return the snapshot against a base: new ids, ids whose item differs, and ids that are gone (the base's items).

    `accumulates`: it holds what was ever listed (a feed's does), so an id that is gone is only older than it reaches.
    """
    before = {item["id"]: item for item in base}
    here = {item["id"] for item in now}
    return Facets(
        added=tuple(item for item in now if item["id"] not in before),
        changed=tuple(item for item in now if item["id"] in before and item != before[item["id"]]),
        removed=() if accumulates else tuple(item for item in base if item["id"] not in here),
        all=tuple(now),
    )


def trim(
    now: Sequence[Item], *, newest: int = NEWEST, largest: int = LARGEST
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Split items in canonical order into those that fit a snapshot and the rest, which is older."""
    size = _FRAME
    for place, item in enumerate(now):
        size += len(canonical(item)) + 1
        if place == newest or size > largest:
            return tuple(now[:place]), tuple(now[place:])
    return tuple(now), ()
