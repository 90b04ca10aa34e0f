"""plan.json: everything `settle` needs of what `plan` saw and decided, in canonical bytes, and their digest.

Snapshots lie beside it in facets/, each under the hash of its bytes: so the one digest covers them all.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from hz_team import fingerprint
from hz_team.errors import RemoteError, UsageError
from hz_team.fingerprint import NotCanonical, canonical, sha256
from hz_team.model.facet import LARGEST
from hz_team.model.job import plain
from hz_team.model.observation import Look
from hz_team.model.order import Plan
from hz_team.model.state import Anchor, document, stored
from hz_team.model.wake import Wake
from hz_team.parcel import foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hz_team.model.facet import Cursor
    from hz_team.model.observation import Observations
    from hz_team.model.receipt import Runner
    from hz_team.model.state import Position, View
    from hz_team.model.wake import Poke
    from hz_team.ports import Lease

VERSION = 1
NAME, FACETS = "plan.json", "facets"
BYTES = 16_000_000
"""Of plan.json at most."""
SNAPSHOT = LARGEST + 1_000


class Parcel(NamedTuple):
    """What one process of a run hands to the next ones."""

    v: int
    now: int
    """When it was planned; drafts are made for this moment."""
    state: str
    """The state's URL, without credentials."""
    repository: str
    runner: Runner
    """Who planned: the same run drafts and settles."""
    anchor: Anchor
    """The ledger after the claim."""
    plan: Plan
    """Orders of jobs whose leases are ours, and no others."""
    apart: tuple[str, ...] = ()
    """Jobs that run more than templates: each is drafted in a process of its own, without a token that may write."""
    contracts: Mapping[str, str] = {}
    positions: Mapping[str, Position] = {}
    """Of the leased jobs, after the claim."""
    leases: Mapping[str, Lease] = {}
    woken: Wake = Wake()
    pokes: tuple[Poke, ...] = ()
    looks: Mapping[str, Look] = {}
    """Those to be written, without their documents."""
    fresh: tuple[str, ...] = ()
    """Watches of `looks` whose snapshot is new."""
    memories: Mapping[str, str] = {}
    """Watch → its cursor's own `state` as JSON text: a watch in Python may keep what has no canonical form."""
    cursors: Mapping[str, str] = {}
    """`<watch>/<key>` of `looks` → hash of the cursor they were computed from; "" if there was none."""
    unchanged: int = 0
    notes: tuple[str, ...] = ()


def packed(parcel: Parcel, view: View, seen: Observations) -> Parcel:
    """Return the parcel with what was seen that is to be written, and what it was computed from."""
    dirty = {name: look for name, look in seen.looks.items() if look.dirty or look.must_write}
    paths = {f"{look.cursor.watch}/{look.cursor.key}" for look in dirty.values()}
    return parcel._replace(
        looks={name: _without(look) for name, look in dirty.items()},
        fresh=tuple(name for name, look in dirty.items() if look.document is not None),
        memories={name: json.dumps(look.cursor.state) for name, look in dirty.items() if look.cursor.state is not None},
        cursors={path: mark(view.cursors.get(path)) for path in sorted(paths)},
        unchanged=seen.unchanged,
        notes=seen.notes,
    )


def _without(look: Look) -> Look:
    return look._replace(document=None, cursor=look.cursor._replace(state=None))


def mark(cursor: Cursor | None) -> str:
    """Return what tells one cursor from another, "" for none."""
    return sha256(stored(document(cursor))) if cursor else ""


def looks(parcel: Parcel, folder: str) -> dict[str, Look]:
    """Return what was seen, whole again. Raises ForeignError."""
    return {name: _whole(parcel, name, look, folder) for name, look in parcel.looks.items()}


def _whole(parcel: Parcel, name: str, look: Look, folder: str) -> Look:
    kept = parcel.memories.get(name)
    try:
        cursor = look.cursor._replace(state=json.loads(kept)) if kept is not None else look.cursor
    except ValueError as error:
        raise foreign.ForeignError(f"{folder}/{NAME}: what {name} remembers is no JSON ({error})") from None
    return look._replace(cursor=cursor, document=facet(folder, cursor.snapshot) if name in parcel.fresh else None)


def needed(plan: Plan) -> set[str]:
    """Return the snapshots that the orders read."""
    return {name for order in plan.orders for name in (*order.snapshot.values(), *order.base.values()) if name}


def write(folder: str, parcel: Parcel, documents: Iterable[bytes]) -> str:
    """Write plan.json and the snapshots; return the digest. Raises RemoteError, UsageError for a value of no form."""
    try:
        content = canonical(plain(parcel))
    except NotCanonical as error:
        raise UsageError(f"this plan cannot be handed over: {error}") from None
    if len(content) > BYTES:
        raise UsageError(f"this plan has {len(content):,} bytes; at most {BYTES:,} are handed over")
    files = {NAME: content, **{os.path.join(FACETS, f"{sha256(one)}.json"): one for one in documents}}
    put(folder, files)
    return sha256(content)


def put(folder: str, files: Mapping[str, bytes]) -> None:
    """Write files below a folder, made if need be. Raises RemoteError."""
    try:
        for name, content in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as stream:
                stream.write(content)
    except OSError as error:
        raise RemoteError(f"{error.filename or folder} cannot be written: {error.strerror}") from error


def read(folder: str, digest: str = "") -> tuple[Parcel, str]:
    """Return the parcel of a folder and its digest. Raises ForeignError, also when it is not the one that is named."""
    place = os.path.join(folder, NAME)
    try:
        raw = foreign.content(folder, NAME, largest=BYTES)
    except OSError as error:
        raise foreign.ForeignError(f"{folder} cannot be read: {error.strerror}") from None
    if raw is None:
        raise foreign.ForeignError(f"{place} is not there; `hz-team plan --out {folder}` writes it")
    found = sha256(raw)
    if digest and found != digest.lower():
        short = f"{fingerprint.short(found)}, not {fingerprint.short(digest)}"
        raise foreign.ForeignError(f"{place} is another plan than the one that was made (digest {short}); nothing done")
    parcel = foreign.value(Parcel, raw, place)
    if parcel.v != VERSION:
        raise foreign.ForeignError(f"{place} has format {parcel.v}; this hz-team reads {VERSION}")
    return parcel, found


def facet(folder: str, name: str) -> bytes:
    """Return a snapshot of the parcel. Raises ForeignError if it is missing or not what its name says."""
    place = os.path.join(folder, FACETS)
    if len(name) != 64 or name.strip("0123456789abcdef"):  # noqa: PLR2004  (hex digits of SHA-256)
        raise foreign.ForeignError(f"{place}: {name[:80]!r} is the name of no snapshot")
    try:
        found = foreign.content(place, f"{name}.json", largest=SNAPSHOT)
    except OSError as error:
        raise foreign.ForeignError(f"{place} cannot be read: {error.strerror}") from None
    if found is None or sha256(found) != name:
        what = "is missing" if found is None else "holds other bytes than its name says"
        raise foreign.ForeignError(f"{place}/{name}.json {what}")
    return found
