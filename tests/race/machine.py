"""Machines that run hz-team, and the clock that goes on for all of them."""

from __future__ import annotations

import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, NamedTuple

from tests.race.driver import ALARM, OFFSET

DRIVER = Path(__file__).with_name("driver.py")
SOURCE = Path(__file__).parents[2] / "src"
PATIENCE = 120.0
"""Seconds after which a command hangs."""


class Clock:
    """The time of the race. It goes on by itself as well."""

    def __init__(self, start: int) -> None:
        self._ahead = start - time.time()
        self._memories: list[mmap.mmap] = []

    def now(self) -> float:
        """Return the seconds since 1970."""
        return time.time() + self._ahead

    def ahead(self) -> int:
        """Return by how many seconds it is ahead of ours."""
        return int(self._ahead)

    def add(self, path: Path) -> mmap.mmap:
        """Make the file by which a machine tells the time."""
        path.write_bytes(bytes(16))
        with path.open("r+b") as stream:
            memory = mmap.mmap(stream.fileno(), 16)
        self._memories.append(memory)
        self.advance(0)
        return memory

    def advance(self, seconds: int) -> None:
        """Let so much time pass for everybody, whoever is stopped included."""
        self._ahead += seconds
        for memory in self._memories:
            struct.pack_into("d", memory, OFFSET, self._ahead)


def iso(at: float) -> str:
    """Return a moment as commands take it."""
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Done(NamedTuple):
    """How a command ended."""

    machine: str
    number: int
    words: tuple[str, ...]
    code: int
    """Below 0: the signal that ended it."""
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Return what it printed as JSON; {} if it printed none."""
        try:
            found = json.loads(self.out)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def __str__(self) -> str:
        """Return one line for the timeline."""
        words, report = " ".join(self.words[:3]), self.json
        said = [f"{one['phase']} {one['subject']} {one['text']}" for one in report.get("lines", ())]
        counted = f"{report.get('receipts')} receipts, head {str(report.get('head'))[:12]}" if report else ""
        told = "; ".join(said[1:]) or " ".join((self.err or self.out).split())[-300:]
        return f"{self.machine}/{self.number} {words} ended with {self.code}: {told} [{counted}]"


class Forker:
    """The process that forks all commands of a race."""

    def __init__(self, source: Path = SOURCE) -> None:
        """`source`: whose hz-team is run."""
        self.source = source
        self._said = Path(tempfile.mkstemp(prefix="race-driver-")[1])
        self._answers: dict[str, Queue[tuple[str, int]]] = {}
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(source)}
        pipe = subprocess.PIPE
        with self._said.open("wb") as stderr:
            words = (sys.executable, str(DRIVER))
            self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=stderr, env=environ)
        Thread(target=self._listen, daemon=True).start()

    def fork(self, **request: Any) -> int:
        """Start a command; return the number of its process."""
        name = str(request["id"])
        self._answers[name] = Queue()
        assert self._process.stdin
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return self.answer(name, "pid", PATIENCE)

    def answer(self, name: str, word: str, timeout: float) -> int:
        """Return the number behind the next word about a command. Raises TimeoutError."""
        try:
            said, number = self._answers[name].get(timeout=timeout)
        except Empty:
            raise TimeoutError(f"{name}: no {word!r} within {timeout:.0f} s") from None
        assert said == word, (name, said, self._said.read_text()[-2000:])
        return number

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()
        self._said.unlink()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            name, word, number = line.decode().split()
            self._answers[name].put((word, int(number)))
        for waiting in tuple(self._answers.values()):
            waiting.put(("gone", 0))


class Job:
    """One command that runs."""

    def __init__(self, machine: Machine, number: int, words: tuple[str, ...]) -> None:
        self.machine, self.number, self.words = machine, number, words
        self.name = f"{machine.place}/{number}"
        self.pid = 0
        self.is_over = False

    def done(self, timeout: float = PATIENCE) -> Done:
        """Wait for its end. Raises TimeoutError."""
        code = self.machine.forker.answer(self.name, "end", timeout)
        self.is_over = True
        out, err = (self.machine.said(self.number, name).read_text() for name in ("out", "err"))
        return Done(self.machine.name, self.number, self.words, code, out, err)

    def kill(self) -> None:
        """End it at once."""
        _send(self.pid, signal.SIGKILL)

    def stop(self, *, whole: bool) -> None:
        """Stop it, and (`whole`) everything it started, as a machine does that goes to sleep."""
        for pid in (self.pid, *(descendants(self.pid) if whole else ())):
            _send(pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Continue it; if the kernel's timer ran out meanwhile, that comes first."""
        if 0 < self.machine.alarm() <= self.machine.clock.now():
            _send(self.pid, signal.SIGALRM)
        for pid in (self.pid, *descendants(self.pid)):
            _send(pid, signal.SIGCONT)


class Machine:
    """One machine: a clone of the team's files, a cache and a clock."""

    def __init__(self, place: Path, name: str, url: str, clock: Clock, forge: Path, forker: Forker) -> None:
        self.name, self.url, self.clock, self.forker = name, url, clock, forker
        self.skew = 0
        """Seconds by which its clock is off."""
        self.place = place / name
        self.root = self.place / "root"
        (self.root / ".hz/jobs").mkdir(parents=True)
        (self.place / "tmp").mkdir()
        self._memory = clock.add(self.place / "clock")
        self._forge = forge
        self._jobs: list[Job] = []

    def write(self, name: str, text: str) -> None:
        """Write a file below `.hz/`."""
        path = self.root / ".hz" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def start(self, *words: str, now: float | None = None, pid: int = 0) -> Job:
        """Start a command at this machine's present moment."""
        job = Job(self, len(self._jobs) + 1, words)
        self._jobs.append(job)
        for stream in ("out", "err"):
            self.said(job.number, stream).touch()  # it may be killed before it opens them
        at = self.clock.now() + self.skew if now is None else now
        job.pid = self.forker.fork(
            id=job.name,
            words=[*words, "--root", str(self.root), "--remote", self.url, "--now", iso(at)],
            out=str(self.said(job.number, "out")),
            err=str(self.said(job.number, "err")),
            cwd=str(self.place),
            environ=self._environ(),
            clock=str(self.place / "clock"),
            forge=str(self._forge),
            pid=pid,
        )
        return job

    def run(self, *words: str, **more: Any) -> Done:
        """Run a command to its end."""
        return self.start(*words, **more).done()

    def folder(self) -> Path:
        """Return a new folder for what processes hand over to each other."""
        return Path(tempfile.mkdtemp(prefix="split-", dir=self.place))

    def said(self, number: int, stream: str) -> Path:
        """Return where the output of a command is kept."""
        return self.place / f"{number}.{stream}"

    def alarm(self) -> float:
        """Return when the timer of its process runs out, 0 if it is not set."""
        return float(struct.unpack_from("d", self._memory, ALARM)[0])

    def close(self) -> None:
        """End whatever still runs."""
        for job in self._jobs:
            if not job.is_over:
                for pid in (job.pid, *descendants(job.pid)):
                    _send(pid, signal.SIGKILL)

    def _environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.place),
            "XDG_CACHE_HOME": str(self.place / "cache"),
            "TMPDIR": str(self.place / "tmp"),
            "PYTHONPATH": str(self.forker.source),
            "GIT_ALLOW_PROTOCOL": "file:http",
        }


def descendants(pid: int) -> list[int]:
    """Return the processes that a process started, directly or through others."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(entry.parent.name))
    found, left = [], [pid]
    while left:
        left = [child for one in left for child in children.get(one, ())]
        found += left
    return found


def strays(place: Path, seconds: float = 10.0) -> list[str]:
    """Wait until nothing works below a folder any more; return what still does."""
    end = time.monotonic() + seconds
    while (found := list(_at_work(place))) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def _at_work(place: Path) -> Iterator[str]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
            told = line + (entry / "environ").read_bytes() + os.readlink(entry / "cwd").encode()
        except OSError:
            continue
        if str(place).encode() in told and int(entry.name) != os.getpid():
            yield f"{entry.name} {line.replace(bytes(1), b' ').decode(errors='replace')}"


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
