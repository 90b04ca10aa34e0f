"""What of a record still holds on a branch that others moved meanwhile. Pure: blob ids and contents in, files out.

A write stands where the blob it was computed from still is the one at the tip. What only rides along (a cursor, skip
counters of a job whose lease is another's) gives way; summaries are computed anew; anything else means: plan again.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import ledger
from hz_team.adapters import view as views

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from hz_team.model.state import View

Files = dict[str, "bytes | None"]
SUMMARIES = ("ledger.json", "dashboard.json")
DECISIONS = 10
"""As many as the dashboard shows (DESIGN §6)."""


class Tree(NamedTuple):
    """What stands on the branch at one commit."""

    view: View
    blobs: Mapping[str, str]
    """Path → blob id, of the paths that a record writes and of all snapshots."""


class Moved(NamedTuple):
    """What cannot be replayed."""

    path: str


def replay(old: Tree, new: Tree, files: Mapping[str, bytes | None], leased: Collection[str]) -> Files | Moved:
    """Return what is left to write at `new` of a record that was computed at `old`; `leased`: the jobs we hold.

    {} if nothing is left.
    """
    kept: Files = {}
    for path, content in files.items():
        if path in SUMMARIES or _is_there(path, content, new.blobs):
            continue
        if old.blobs.get(path) == new.blobs.get(path):
            kept[path] = content
        elif not _gives_way(path, leased):
            return Moved(path)
    kept = _without_orphans(kept)
    if swept := _named(kept.values(), _snapshots(old.blobs) - _snapshots(new.blobs)):
        return Moved(f"facets/{swept[:2]}/{swept}.json")
    return {**kept, **_summaries(old.view, new.view, files, kept)} if kept else {}


def _is_there(path: str, content: bytes | None, blobs: Mapping[str, str]) -> bool:
    """Whether the branch has it as we want it already, or must keep it: others may have come to need a snapshot."""
    if content is None:
        return path not in blobs or path.startswith("facets/")
    return path in blobs and path.startswith(("facets/", "drafts/", "wakes/"))


def _gives_way(path: str, leased: Collection[str]) -> bool:
    folder, _, name = path.partition("/")
    return folder == "cursors" or (folder == "jobs" and name.removesuffix(".json") not in leased)


def _snapshots(paths: Iterable[str]) -> set[str]:
    return {os.path.basename(path).removesuffix(".json") for path in paths if path.startswith("facets/")}


def _without_orphans(kept: Files) -> Files:
    """Leave out new snapshots whose cursor gave way and that nothing else names."""
    naming = b"".join(content or b"" for path, content in kept.items() if not path.startswith("facets/"))
    loose = {name for name in _snapshots(kept) if name.encode() not in naming}
    return {path: content for path, content in kept.items() if not _snapshots((path,)) & loose}


def _named(contents: Iterable[bytes | None], snapshots: Iterable[str]) -> str:
    """Return a snapshot that these files name, "" if they name none."""
    text = b"".join(content or b"" for content in contents)
    return next((name for name in sorted(snapshots) if name.encode() in text), "")


def _summaries(old: View, new: View, files: Mapping[str, bytes | None], kept: Files) -> Files:
    found: Files = {}
    if files.get("ledger.json"):
        after = views.applied(new, kept, new.tip)
        count, head = ledger.head(after.positions)
        found["ledger.json"] = _changed(files["ledger.json"], count=count, head=head, repository=new.repository)
    if files.get("dashboard.json"):
        ours = [one for one in _read(files["dashboard.json"]).get("decisions", ()) if one not in old.decisions]
        decisions = [*ours, *(one for one in new.decisions if one not in ours)][:DECISIONS]
        found["dashboard.json"] = _changed(files["dashboard.json"], **new.dashboard, decisions=decisions)
    return found


def _read(content: bytes | None) -> dict[str, Any]:
    return dict(json.loads(content or b"{}"))


def _changed(content: bytes | None, **values: Any) -> bytes:
    data = {**_read(content), **values}
    return (json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
