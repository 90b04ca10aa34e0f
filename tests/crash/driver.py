"""Runs one tick and dies by SIGKILL right before the Nth call of one kind to the outside, or lists all of them.

    python driver.py PHASE EVENT N LIST -- tick --root …

N is counted within its phase and event, since the calls of a phase before may come out differently from run to run (a
process that ends a little sooner is asked once less). N = 0 lists the calls instead.

The moments come from Python's audit events: every file opened for writing, renamed, linked, removed, every folder made,
every process started, every connection. Between two of them nothing outside this process changes but the bytes of a file
that is open already. LIST gets one line a moment: phase, event, N, what.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
from collections import Counter
from types import FrameType

EVENTS = {
    "os.rename",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "os.chmod",
    "os.symlink",
    "subprocess.Popen",
    "os.posix_spawn",
    "socket.connect",
    "fcntl.flock",
}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Moments:
    """Counts moments, and ends the process at the chosen one."""

    def __init__(self, kind: tuple[str, str], chosen: int, path: str) -> None:
        self.kind = kind
        self.chosen = chosen
        self.path = path
        self.numbers: Counter[tuple[str, str]] = Counter()
        self.lines: list[str] = []

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        """Take one audit event."""
        if event == "open":
            flags = arguments[2]
            if not isinstance(flags, int) or not flags & WRITING or str(arguments[0]) == self.path:
                return
        elif event not in EVENTS:
            return
        if arguments and "__pycache__" in str(arguments[0]):
            return  # Python's own: there once and not the next time
        kind = (phase(inspect.currentframe()), event)
        self.numbers[kind] += 1
        if (kind, self.numbers[kind]) == (self.kind, self.chosen):
            os.kill(os.getpid(), signal.SIGKILL)
        if not self.chosen:
            what = str(arguments[1] if event in ("subprocess.Popen", "os.posix_spawn") else arguments[0])
            self.lines.append("\t".join((*kind, str(self.numbers[kind]), repr(what[-160:]))))

    def write(self) -> None:
        """Store the list of moments."""
        if not self.chosen:
            with open(self.path, "w", encoding="utf-8") as stream:
                stream.write("\n".join(self.lines) + "\n")


def phase(frame: FrameType | None) -> str:
    """Return the phase at work: the outermost frame of a file in hz_team/phases, else where the tick is."""
    found = "outside"
    while frame:
        _, inside, file = frame.f_code.co_filename.rpartition("hz_team/phases/")
        if inside:
            found = file.partition("/")[0].removesuffix(".py")
        frame = frame.f_back
    return found


def main() -> int:
    """Run the command under the hook."""
    kind, chosen, path, rest = (sys.argv[1], sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[6:]
    from hz_team import cli

    moments = Moments(kind, chosen, path)
    sys.addaudithook(moments.hook)
    code = cli.main(rest)
    moments.write()
    return code


if __name__ == "__main__":
    sys.exit(main())
