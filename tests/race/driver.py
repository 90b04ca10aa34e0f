"""Forks commands of hz-team: each is a process of its own, on a clock that the race moves.

    python driver.py

A request is one line of JSON on standard input; an answer is `ID pid N` when that process was started, and `ID end CODE`
when it is over (below 0: the signal that ended it). What a request says:

    id words            what it is called in answers; the command
    out err cwd environ where it writes, where it runs, its environment
    clock               16 bytes, see below
    forge               a folder: the outcomes of all machines land there, as on a forge; whoever looks for one finds it
    pid                 what the process takes for its own number, and calls itself after on a lease; 0: the true one

Forked, because a race starts hundreds of ticks and an interpreter is slow to start. The clock's first eight bytes are
the seconds (a double) by which that machine's time is ahead, so that hours pass in a moment; the second eight tell when
the kernel's real-time timer would end the process, by that time (0: it is not set).
"""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import struct
import sys
import tempfile
import time
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

OFFSET, ALARM = 0, 8
LIBRARIES = ("concurrent.futures", "email.utils", "http.client", "jinja2", "rfc8785", "ruamel.yaml")
"""What a working tick imports besides the package."""
Request = dict[str, Any]


class Clock:
    """The race's clock as one machine has it."""

    def __init__(self) -> None:
        self._memory: mmap.mmap | bytearray = bytearray(16)
        self._time, self._set = time.time, signal.setitimer

    def install(self) -> None:
        """Let everything that is imported from now on tell the time by it."""
        time.time = self.time
        signal.setitimer = self.set

    def open(self, path: str) -> None:
        """Go by a machine's clock from now on."""
        with open(path, "r+b") as stream:
            self._memory = mmap.mmap(stream.fileno(), 16)
        struct.pack_into("d", self._memory, ALARM, 0.0)

    def time(self) -> float:
        """Return the seconds since 1970 that the race is at."""
        return self._time() + float(struct.unpack_from("d", self._memory, OFFSET)[0])

    def set(self, which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        """Set a timer of the kernel, and note when it is over by this clock."""
        if which == signal.ITIMER_REAL:
            struct.pack_into("d", self._memory, ALARM, self.time() + seconds if seconds else 0.0)
        return self._set(which, seconds, interval)


class Family:
    """The processes that are at work."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._children: dict[int, str] = {}
        self._ear, self._bell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def prepare(self) -> None:
        """Import what commands need, and hear when a child ends."""
        self._clock.install()
        _load()
        signal.set_wakeup_fd(self._bell)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Fork what is asked for until standard input ends."""
        poll, heard = select.poll(), b""
        poll.register(0, select.POLLIN)
        poll.register(self._ear, select.POLLIN)
        while True:
            ready = {number for number, _ in poll.poll()}
            if self._ear in ready:
                os.read(self._ear, 1 << 12)
            if 0 in ready:
                said = os.read(0, 1 << 16)
                if not said:
                    return
                *lines, heard = (heard + said).split(b"\n")
                for line in lines:
                    self._fork(json.loads(line))
            self._reap()

    def _fork(self, request: Request) -> None:
        number = os.fork()
        if number == 0:
            os._exit(self._run(request))
        self._children[number] = request["id"]
        _say(f"{request['id']} pid {number}")

    def _reap(self) -> None:
        while self._children:
            number, status = os.waitpid(-1, os.WNOHANG)
            if not number:
                return
            _say(f"{self._children.pop(number)} end {os.waitstatus_to_exitcode(status)}")

    def _run(self, request: Request) -> int:
        """Run one command in this process, which is its own from now on."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for number, path in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
        os.environ.clear()
        os.environ.update(request["environ"])
        os.chdir(request["cwd"])
        tempfile.tempdir = None
        self._clock.open(request["clock"])
        _share(request["forge"])
        if request["pid"]:
            os.getpid = lambda: int(request["pid"])
        code = int(import_module("hz_team.cli").main(request["words"]))
        sys.stdout.flush()
        sys.stderr.flush()
        return code


def _load() -> None:
    for name in LIBRARIES:
        import_module(name)
    package = import_module("hz_team")
    for module in walk_packages(package.__path__, "hz_team."):
        if not module.name.endswith(("__main__", ".github")):
            import_module(module.name)


def _share(forge: str) -> None:
    """Put one forge behind all machines."""
    local, place = import_module("hz_team.adapters.local"), import_module("hz_team.adapters.outbox").Outbox

    class Shared(place):  # type: ignore[misc, valid-type]
        def __init__(self, root: str) -> None:
            super().__init__(forge)

    local.__dict__["Outbox"] = Shared


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Serve."""
    family = Family()
    family.prepare()
    family.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
