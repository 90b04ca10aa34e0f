"""Publishes one part and is killed before its Nth call to the file system, for every N; then settles it in peace.

    python -m tests.publishers.rehearsal KIND FOLDER

Prints a JSON list with, for each moment: what was about to happen, and the refs that carry the key after a clean try.
The last moment lies behind the last call: published, and no receipt yet.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from hz_team.adapters.local import LocalForge
from hz_team.model.proposal import Part
from tests.publishers.sample import part_of, settle, tools_of

EVENTS = {"os.rename", "os.link", "os.mkdir", "os.remove", "os.chmod", "fcntl.flock"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def die(number: int, report: int) -> None:
    """Make this process end before its Nth call; tell through `report` which one it was."""
    left = number

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & WRITING):
            return
        if event != "open" and event not in EVENTS:
            return
        left -= 1
        if not left:
            os.write(report, f"{event} {arguments[0]}".encode())
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def killed(part: Part, root: str, number: int) -> str:
    """Publish in a process of its own that is killed; return what it was about to do, "" if it came through."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        die(number, writing)
        settle(part, tools_of(LocalForge(root)))
        os.kill(os.getpid(), signal.SIGKILL)  # published, and nothing is known of it
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, encoding="utf-8") as stream:
        told = stream.read()
    if not os.WIFSIGNALED(status):
        raise SystemExit(f"the child of moment {number} ended by itself: {status}")
    return told


def main(kind: str, folder: str) -> None:
    """Go through all moments."""
    moments: list[dict[str, object]] = []
    part = part_of(kind)
    while not moments or moments[-1]["event"]:
        root = os.path.join(folder, str(len(moments)))
        os.mkdir(root)
        event = killed(part, root, len(moments) + 1)
        ref = settle(part, tools_of(LocalForge(root)))
        again = settle(part, tools_of(LocalForge(root)))
        found = LocalForge(root).find(kind, f"<!-- hz:key {part.key} -->")
        moments.append({"event": event, "refs": [ref, again, *found.refs], "root": root})
    sys.stdout.write(json.dumps(moments))


if __name__ == "__main__":
    main(*sys.argv[1:])
