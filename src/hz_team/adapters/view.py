"""The documents of the state branch as one View, and the copy of it that an idle tick reads instead of asking Git."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hz_team.errors import RemoteError
from hz_team.model import facet, proposal, state, wake
from hz_team.model.job import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.state import View

PLACES = ("ledger.json", "switches.json", "dashboard.json", "jobs", "proposals", "cursors", "wakes")
"""What a View is made of; everything else on the branch is read when it is asked for."""
SHAPE = ",".join(
    "+".join(kind._fields)
    for kind in (
        state.View,
        state.Folded,
        state.Position,
        state.Served,
        proposal.Proposal,
        proposal.Answer,
        facet.Cursor,
        facet.Source,
        wake.Poke,
    )
)
"""A copy made by a program with other fields is no copy."""


def applied(view: View, files: Mapping[str, bytes | None], tip: str) -> View:
    """Return the view after these files were written (None: removed) and `tip` became the branch's commit.

    Raises RemoteError for a document that is unreadable or of a newer format.
    """
    maps: dict[str, dict[str, Any]] = {
        "jobs": dict(view.positions),
        "proposals": dict(view.proposals),
        "cursors": dict(view.cursors),
        "wakes": {f"{poke.job}/{poke.id}": poke for poke in view.wakes},
    }
    for path, content in files.items():
        folder, _, name = path.partition("/")
        if path == state.FOLDED or (not name and path in PLACES):
            view = _whole(view, path, _document(path, content) if content is not None else {})
        elif folder in maps and content is None:
            maps[folder].pop(name.removesuffix(".json"), None)
        elif folder in maps and content is not None:
            maps[folder][name.removesuffix(".json")] = _value(folder, path, content)
    return view._replace(
        tip=tip,
        positions=dict(sorted(maps["jobs"].items())),
        proposals=dict(sorted(maps["proposals"].items())),
        cursors=dict(sorted(maps["cursors"].items())),
        wakes=tuple(sorted(maps["wakes"].values(), key=lambda poke: (poke.at, poke.job, poke.id))),
    )


def _whole(view: View, path: str, data: Mapping[str, Any]) -> View:
    try:
        if path == "ledger.json":
            repository = data.get("repository", view.repository)
            count, era, sealed = (int(data.get(name, 0)) for name in ("count", "era", "sealed"))
            head = str(data.get("head", ""))
            return view._replace(count=count, head=head, era=era, sealed=sealed, repository=repository)
        if path == state.FOLDED:
            lines = dict(data.get("jobs", {}))
            return view._replace(folded={job: state.Folded(**line) for job, line in sorted(lines.items())})
        if path == "switches.json":
            return view._replace(paused=dict(data.get("paused") or {}))
        board = {name: value for name, value in data.items() if name not in {"v", "decisions"}}
        return view._replace(dashboard=board, decisions=tuple(data.get("decisions", ())))
    except (TypeError, ValueError, AttributeError) as error:
        raise _unreadable(path, error) from None


def _value(folder: str, path: str, content: bytes) -> Any:
    data = _document(path, content)
    try:
        if folder == "jobs":
            return state.position_from(data)
        if folder == "proposals":
            return proposal.proposal_from(data)
        if folder == "cursors":
            return state.cursor_from(data)
        return wake.Poke(**{name: value for name, value in data.items() if name != "v"})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(path, error) from None


def _document(path: str, content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content)
        version = data["v"]
        newer = version > state.VERSION
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from None
    if newer:
        raise RemoteError(
            f"{path} on the state branch has format {version}; this hz-team reads up to {state.VERSION}: upgrade it",
        )
    return dict(data)


def _unreadable(path: str, error: Exception) -> RemoteError:
    why = f"{type(error).__name__}: {error}"[:200]
    return RemoteError(
        f"{path} on the state branch cannot be read ({why}): `hz-team receipts verify` tells whether the ledger is "
        f"whole, `git log hz-state -- {path}` who wrote it",
    )


def load(folder: str, tip: str) -> View | None:
    """Return the copy of a view that `save` left in a folder; None if there is none that this program can trust."""
    try:
        with open(_place(folder, tip), "rb") as stream:
            data = json.loads(stream.read())
        if data["shape"] != SHAPE or data["view"]["tip"] != tip:
            return None
        return state.view_from(data["view"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(folder: str, view: View) -> None:
    """Leave a copy of a view, whole or not at all, and remove other copies. A full disk costs speed, no fact."""
    path = _place(folder, view.tip)
    content = json.dumps({"shape": SHAPE, "view": plain(view)}, ensure_ascii=False, separators=(",", ":"))
    try:
        with open(f"{path}.{os.getpid()}", "wb") as stream:
            stream.write(content.encode("utf-8", "surrogatepass"))
        os.replace(f"{path}.{os.getpid()}", path)
        for name in os.listdir(folder):
            if name.startswith("view-") and name != os.path.basename(path):
                os.unlink(os.path.join(folder, name))
    except OSError:
        return


def _place(folder: str, tip: str) -> str:
    return os.path.join(folder, f"view-{tip}.json")
