"""`file`: writes a file of the working folder, from given text or from another file there.

Links are followed as long as they stay inside: where a path really leads decides, not how it is written.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from hz_team import workroom
from hz_team.errors import HzError

if TYPE_CHECKING:
    from hz_team.model.job import Step
    from hz_team.ports import Command
    from hz_team.workroom import Workroom


class OutsideError(HzError):
    """A path that leads out of the working folder."""


def command(step: Step, room: Workroom) -> Command:
    """Return the child that writes the file; it is contained like every other step."""
    told = room.put(f"step-{room.number}.json", json.dumps(_request(step.spec)))
    return room.command(step, workroom.child("hz_team.steps.file", told))


def _request(spec: Any) -> dict[str, Any]:
    """Return path, and content or from. `file: PATH` and `file: {path: PATH, …}` are the same."""
    inner = spec.get("file")
    given = {**spec, **(inner if isinstance(inner, dict) else {"path": inner} if inner else {})}
    return {name: given[name] for name in ("path", "content", "from", "append") if name in given}


def main() -> int:
    """Do what the request file (first word) says, below the current folder."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        request: dict[str, Any] = json.load(stream)
    try:
        write(os.getcwd(), request)
    except HzError as problem:
        sys.stderr.write(f"{problem}\n")
        return workroom.INVALID
    except OSError as problem:
        sys.stderr.write(f"file {request.get('path')}: {problem.strerror}\n")
        return workroom.INVALID
    return 0


def write(folder: str, request: dict[str, Any]) -> None:
    """Write one file below the folder. Raises OutsideError before anything is touched, OSError if it cannot."""
    target = inside(folder, str(request["path"]))
    content = str(request.get("content", "")).encode("utf-8", "surrogateescape")
    if "from" in request:
        with open(inside(folder, str(request["from"])), "rb") as stream:
            content = stream.read()
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "ab" if request.get("append") else "wb") as stream:
        stream.write(content)


def inside(folder: str, path: str) -> str:
    """Return where a path really leads. Raises OutsideError if that is not below the folder."""
    top = os.path.realpath(folder)
    real = os.path.realpath(os.path.join(top, path))
    if os.path.isabs(path) or ".." in path.split("/") or not real.startswith(top + os.sep):
        raise OutsideError(f"file {path}: leads out of the working folder; write below it")
    return real


if __name__ == "__main__":
    sys.exit(main())
