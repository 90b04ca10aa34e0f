"""Runs one command, sees its parent's pipe close, and leaves no process behind.

Started by `process.py` for every command, so it imports little. Standard input carries one line of JSON (the order) and
then stays open as the lifeline: when it closes, our parent is gone and the whole tree is killed. Standard output
carries one line of JSON, the result. On Linux it is the subreaper: whoever detaches, forks twice or starts a session
becomes its child again, and the tree is only over when the kernel says that there are no children left.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any

from hz_team.adapters import landlock, tree

LIFELINE, RESULT = 0, 1
SUBREAPER, DEATH_SIGNAL = 36, 1
CHUNK = 1 << 18
GRACE = 1.0
"""Seconds between the polite signal and the other one, after a time-out."""
COUNT_EVERY = 0.25
STUBBORN = 10.0
"""Seconds to wait for processes that the kernel does not let die (a dead network disk)."""


class Kept:
    """The head and the tail of a stream; what lies between is counted and forgotten."""

    def __init__(self, size: int) -> None:
        self.size, self.total = size, 0
        self.head, self.tail = bytearray(), bytearray()

    def add(self, data: bytes) -> None:
        """Take in what was read; memory stays within four times the size."""
        self.total += len(data)
        room = self.size - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        self.tail += data
        if len(self.tail) > 2 * self.size:
            del self.tail[: -self.size]

    def result(self) -> dict[str, Any]:
        """Return head, tail and how many bytes there were."""
        parts = {"head": self.head, "tail": self.tail[-self.size :]}
        return {"total": self.total, **{name: base64.b64encode(part).decode() for name, part in parts.items()}}


class Run:
    """One command from its start to the end of its last process."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.bell = -1
        self.streams: dict[int, Kept] = {}
        self.results = (Kept(0), Kept(0))
        self.stdin = base64.b64decode(order["stdin"])
        self.input = -1
        self.pid = 0
        self.status: int | None = None
        self.reason = ""
        self.failure = ""

    def start(self) -> None:
        """Fork the child; it says on a pipe that closes at exec if it could not get that far."""
        prctl(SUBREAPER)
        self.bell = listen_for_children()
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        said, said_end = os.pipe()
        stdin, self.input = os.pipe() if self.stdin else (os.open(os.devnull, os.O_RDONLY), -1)
        self.pid = os.fork()
        if self.pid == 0:
            become(self.order, (stdin, out_end, err_end), said_end)
        for end in (stdin, out_end, err_end, said_end):
            os.close(end)
        with os.fdopen(said, "rb") as stream:
            self.failure = stream.read(4096).decode("utf-8", "backslashreplace")
        size = self.order["keep"]
        self.streams = {out: Kept(size), err: Kept(size)}
        self.results = (self.streams[out], self.streams[err])
        for end in (out, err, self.input):
            if end >= 0:
                os.set_blocking(end, False)

    def watch(self) -> None:
        """Feed and read the child until it ends, its time is over, its tree grows too large or our parent is gone."""
        deadline = time.monotonic() + self.order["timeout"]
        counted = time.monotonic()
        while self.status is None and not self.reason:
            limit = deadline
            if self.order["processes"]:
                limit = min(deadline, counted + COUNT_EVERY)
            self._turn(max(0.0, limit - time.monotonic()), self.bell)
            self._reap()
            now = time.monotonic()
            if now >= deadline:
                self.reason = "timeout"
            elif self.order["processes"] and now >= counted + COUNT_EVERY:
                counted = now
                if len(tree.descendants()) > self.order["processes"]:
                    self.reason = "processes"

    def finish(self) -> None:
        """Ask politely after a time-out, then kill what is left and read what the pipes still hold."""
        if self.reason == "timeout" and self.status is None:
            for pid in tree.descendants() or {self.pid}:
                tree.send(pid, signal.SIGTERM)
            end = time.monotonic() + GRACE
            while self._reap() and time.monotonic() < end:
                self._turn(0.02, -1)
        self._kill()
        for end in list(self.streams):
            while end in self.streams and self._read(end):
                pass

    def result(self) -> dict[str, Any]:
        """Return what happened, as the parent reads it."""
        code = None if self.status is None else os.waitstatus_to_exitcode(self.status)
        out, err = (kept.result() for kept in self.results)
        return {"code": code, "reason": self.reason, "failure": self.failure, "stdout": out, "stderr": err}

    def _turn(self, seconds: float, bell: int) -> None:
        poll = select.poll()
        poll.register(LIFELINE, select.POLLIN | select.POLLHUP)
        for end in (*self.streams, *((bell,) if bell >= 0 else ())):
            poll.register(end, select.POLLIN)
        if self.input >= 0:
            poll.register(self.input, select.POLLOUT)
        for end, _ in poll.poll(seconds * 1000 + 1):
            if end == LIFELINE:
                self.reason = "parent"
            elif end == self.input:
                self._write()
            elif end == bell:
                os.read(bell, 4096)
            else:
                self._read(end)

    def _read(self, end: int) -> bool:
        try:
            data = os.read(end, CHUNK)
        except BlockingIOError:
            return False
        if data:
            self.streams[end].add(data)
            return True
        del self.streams[end]
        os.close(end)
        return False

    def _write(self) -> None:
        try:
            self.stdin = self.stdin[os.write(self.input, self.stdin[:CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.stdin = b""
        if not self.stdin:
            os.close(self.input)
            self.input = -1

    def _reap(self) -> bool:
        """Take the status of everything that ended; False when no child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self.pid:
                self.status = status

    def _kill(self) -> None:
        """Kill what is left of the tree, until the kernel says that no child is left."""
        tree.freeze()
        end = time.monotonic() + STUBBORN
        while time.monotonic() < end:
            tree.kill(self.pid)
            if not self._reap():
                return
            time.sleep(0.002)
        count = len(tree.descendants())
        self.failure = f"left {count} processes that cannot be ended (they wait for a device)"


def become(order: dict[str, Any], ends: tuple[int, int, int], said: int) -> None:
    """Turn the forked child into the command: own session, no terminal, limits, containment. Does not return."""
    try:
        os.setsid()  # also a group of its own: all there is to kill where there is no /proc
        prctl(DEATH_SIGNAL, signal.SIGKILL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        for place, end in enumerate(ends):
            os.dup2(end, place)
        os.chdir(order["cwd"])
        os.umask(0o022)
        limit(order)
        if sys.platform.startswith("linux"):
            landlock.drop_capabilities()
            landlock.confine(order["read"], order["write"], order["browse"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606  (the command itself; no shell is wanted)
    except (OSError, ValueError) as problem:
        words = getattr(problem, "strerror", None) or str(problem)
        where = f"{order['cwd']}: " if getattr(problem, "filename", None) == order["cwd"] else ""
        os.write(said, f"could not be run: {where}{words}".encode())
    os._exit(126)


def limit(order: dict[str, Any]) -> None:
    """Set the limits of one process. On Linux memory is what it may write to: address space alone costs nothing."""
    memory = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_CORE
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: order["open_files"],
        resource.RLIMIT_FSIZE: order["file_size"],
        resource.RLIMIT_CPU: int(order["timeout"]) * 4 + 60,
    }
    if memory != resource.RLIMIT_CORE:
        wanted[memory] = order["memory"]
    for name, value in wanted.items():
        _, most = resource.getrlimit(name)
        ceiling = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(name, (ceiling, ceiling))


def prctl(option: int, value: int = 1) -> None:
    """Set one of Linux's process options; elsewhere nothing."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def listen_for_children() -> int:
    """Return a descriptor that becomes readable when a child ends."""
    bell, ring = os.pipe()
    os.set_blocking(ring, False)
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return bell


def receive() -> dict[str, Any]:
    """Read the order: one line of JSON. Ends this process if the parent is gone before the line is whole."""
    data = bytearray()
    while not data.endswith(b"\n"):
        more = os.read(LIFELINE, CHUNK)
        if not more:
            os._exit(1)
        data += more
    order: dict[str, Any] = json.loads(data)
    return order


def main() -> None:
    """Run the one command that the parent asks for."""
    run = Run(receive())
    run.start()
    run.watch()
    run.finish()
    if run.reason != "parent":
        with os.fdopen(RESULT, "wb") as stream:
            stream.write(json.dumps(run.result()).encode())
