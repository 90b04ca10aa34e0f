"""What of a record still holds on a branch that others moved meanwhile. Pure: blob ids and contents in, files out.

A write stands where the blob it was computed from still is the one at the tip. What only rides along (a cursor, skip
counters of a job whose lease is another's, receipts to be sealed, a job to be folded) gives way; summaries are computed
anew; anything else means: plan again.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import keeping, ledger
from hz_team.adapters import view as views
from hz_team.model.state import FOLDED, Folded, Position

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from hz_team.model.state import View

Files = dict[str, "bytes | None"]
SUMMARIES = ("ledger.json", "dashboard.json", FOLDED)
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


def asked(files: Mapping[str, bytes | None]) -> list[str]:
    """Return the paths whose blobs tell what of a record still holds."""
    return [path for path, content in files.items() if not _is_sealing(path, content)]


def replay(old: Tree, new: Tree, files: Mapping[str, bytes | None], leased: Collection[str]) -> Files | Moved:
    """Return what is left to write at `new` of a record that was computed at `old`; `leased`: the jobs we hold.

    {} if nothing is left.
    """
    kept: Files = {}
    for path, content in files.items():
        if path in SUMMARIES or _is_sealing(path, content) or _is_there(path, content, new):
            continue
        if (
            old.blobs.get(path) == new.blobs.get(path)
            or _is_ours(path, content)
            or (content is not None and _is_leased(path, old, new, leased))
        ):
            kept[path] = content
        elif not _gives_way(path, content, leased):
            return Moved(path)
    kept = _without_orphans(kept)
    if swept := _named(kept.values(), _snapshots(old.blobs) - _snapshots(new.blobs)):
        return Moved(f"facets/{swept[:2]}/{swept}.json")
    if all(path.startswith("fleet/") for path in kept):
        return {}
    return {**kept, **_summaries(old.view, new.view, files, kept)}


def _is_sealing(path: str, content: bytes | None) -> bool:
    """Whether it is part of folding receipts into segments: that is done at a tip, or by the next tick."""
    return path.startswith("segments/") or (path.startswith("receipts/") and content is None)


def _is_ours(path: str, content: bytes | None) -> bool:
    """Whether it stands whatever others did: a sign of life, a draft (named by its content) that another removed."""
    return path.startswith("fleet/") or (path.startswith("drafts/") and content is not None)


def _is_leased(path: str, old: Tree, new: Tree, leased: Collection[str]) -> bool:
    """Whether it is the position of a job that is ours, about which others only noted what rides along."""
    job = path.removeprefix("jobs/").removesuffix(".json")
    if job not in leased:
        return False
    before, now = (tree.view.positions.get(job) or Position(job) for tree in (old, new))
    return (before.seq, before.last, before.lease_generation) == (now.seq, now.last, now.lease_generation)


def _is_there(path: str, content: bytes | None, new: Tree) -> bool:
    """Whether the branch has it as we want it already, or must keep it: others may have come to need it."""
    if content is None:
        return path not in new.blobs or _is_seen(path, new.view) or _is_open(path, new.view)
    return path in new.blobs and path.startswith(("facets/", "drafts/", "wakes/"))


def _is_seen(path: str, view: View) -> bool:
    """Whether it is a snapshot that something names."""
    if not path.startswith("facets/"):
        return False
    return _digest(path) in keeping.snapshots(view.positions, view.proposals.values(), view.cursors)


def _is_open(path: str, view: View) -> bool:
    """Whether it is the draft of an open proposal."""
    if not path.startswith("drafts/"):
        return False
    return _digest(path) in {proposal.digest for proposal in view.proposals.values()}


def _gives_way(path: str, content: bytes | None, leased: Collection[str]) -> bool:
    folder, _, name = path.partition("/")
    return folder == "cursors" or (folder == "jobs" and (content is None or name.removesuffix(".json") not in leased))


def _digest(path: str) -> str:
    return os.path.basename(path).removesuffix(".json")


def _snapshots(paths: Iterable[str]) -> set[str]:
    return {_digest(path) for path in paths if path.startswith("facets/")}


def _without_orphans(kept: Files) -> Files:
    """Leave out new snapshots whose cursor gave way and that nothing else names."""
    naming = b"".join(content or b"" for path, content in kept.items() if not path.startswith("facets/"))
    new = [path for path, content in kept.items() if content is not None]
    loose = {name for name in _snapshots(new) if name.encode() not in naming}
    return {path: content for path, content in kept.items() if not _snapshots((path,)) & loose}


def _named(contents: Iterable[bytes | None], snapshots: Iterable[str]) -> str:
    """Return a snapshot that these files name, "" if they name none."""
    text = b"".join(content or b"" for content in contents)
    return next((name for name in sorted(snapshots) if name.encode() in text), "")


def _summaries(old: View, new: View, files: Mapping[str, bytes | None], kept: Files) -> Files:
    found: Files = {}
    if files.get("ledger.json"):
        after = views.applied(new, kept, new.tip)
        lines = _folded(after, files, kept)
        if lines != new.folded:
            found[FOLDED] = keeping.folded(lines)
        count, head = ledger.head(after.positions, lines)
        theirs = {"era": new.era, "repository": new.repository, "sealed": new.sealed}
        found["ledger.json"] = _changed(files["ledger.json"], count=count, head=head, **theirs)
    if files.get("dashboard.json"):
        ours = [one for one in _read(files["dashboard.json"]).get("decisions", ()) if one not in old.decisions]
        decisions = [*ours, *(one for one in new.decisions if one not in ours)][:DECISIONS]
        found["dashboard.json"] = _changed(files["dashboard.json"], **new.dashboard, decisions=decisions)
    return found


def _folded(after: View, files: Mapping[str, bytes | None], kept: Files) -> dict[str, Folded]:
    """Return the lines of jobs without a position: those that are there, and ours where the job did not move."""
    ours = _read(files.get(FOLDED)).get("jobs", {})
    lines = {job: Folded(**line) for job, line in ours.items() if kept.get(f"jobs/{job}.json", b"") is None}
    return {job: line for job, line in {**after.folded, **lines}.items() if job not in after.positions}


def _read(content: bytes | None) -> dict[str, Any]:
    return dict(json.loads(content or b"{}"))


def _changed(content: bytes | None, **values: Any) -> bytes:
    data = {**_read(content), **values}
    return (json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
