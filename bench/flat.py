"""What a tick costs beside a short and a long ledger, side by side in one run: it must not grow with the past.

Two states of 20 jobs, served over smart HTTP on loopback. Each is as large as it ever gets between two sealings: about
a thousand of its receipts have files of their own, all older ones stand in segments. Idle and working ticks, each a
process, on a fresh machine (cold) and on one that ticked before (warm), take turns at the two.

The last line needs no goal: a ledger sealed down to its last receipt, which only a longer one ever is. It is the
smallest branch there is, and shows what does grow: the list of segments, by one line for a thousand receipts.

    python bench/flat.py [--short 1000] [--long 100000] [--rounds 15]
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from hz_team.keeping import LOOSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.git_server import Server

HERE = Path(__file__).parent.parent
GOAL = 1.2
"""Times the short ledger."""
JOBS = 20
JOB = """name: Digest {n}
on: {{cron: "0 9 1 1 *"}}
steps:
  - run: echo hello > "$HZ_DRAFT"
publish: {{issue: {{title: "Digest {n}"}}}}
"""
BEGIN = 1_796_032_800
"""The first tick: an hour after the newest receipt."""
ADDED = 2
"""Receipts of a working tick: rendered, and waiting for a yes."""
KINDS = ("cold idle", "cold working", "warm idle", "warm working")


class Cost(NamedTuple):
    """Of one tick."""

    ms: float
    fetched: int
    """Bytes of the server's answers."""


class Line(NamedTuple):
    """One thing that was measured: the medians of the short and of the long ledger."""

    name: str
    unit: str
    short: float
    long: float
    goal: float = 0
    """0: none."""

    @property
    def ratio(self) -> float:
        """How many times the short ledger's."""
        return self.long / self.short


class Machine:
    """One machine, and the state it ticks against."""

    def __init__(self, place: Path, name: str, server: Server) -> None:
        """The state is there already."""
        self._home, self._root = place / f"{name}.home", place / f"{name}.team"
        self._url, self._server = f"{server.url}/{name}.git", server
        for number in range(JOBS):
            path = self._root / f".hz/jobs/job-{number:02}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(JOB.format(n=number), encoding="utf-8")

    def tick(self, at: int, *, job: str = "", cold: bool = False) -> Cost:
        """Tick to the end; with a job, it is asked for. `cold`: as a machine that never saw this state."""
        if cold:
            shutil.rmtree(self._home, ignore_errors=True)
            shutil.rmtree(self._root / ".hz/local", ignore_errors=True)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        words = (*(("run", job) if job else ("tick",)), "--root", str(self._root), "--remote", self._url, "--now", now)
        argv = (sys.executable, "-m", "hz_team", *words)
        self._server.since()
        started = time.perf_counter()
        done = subprocess.run(argv, env=self._environ(), capture_output=True, text=True, check=False, timeout=300)
        took = time.perf_counter() - started
        asked = self._server.since()
        pushed = any(one.method == "POST" and one.path.endswith("/git-receive-pack") for one in asked)
        if done.returncode or (job and not pushed):
            sys.exit(f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}")
        return Cost(took * 1000, sum(one.sent for one in asked))

    def idle(self, at: int, *, cold: bool) -> Cost:
        """Tick where nothing is due."""
        return self.tick(at, cold=cold)

    def working(self, at: int, *, cold: bool) -> Cost:
        """Tick that drafts, records and draws; a second one, not measured, finds out that nobody answered yet."""
        cost = self.tick(at, job=f"job-{at // 60 % JOBS:02}", cold=cold)
        self.tick(at + 1)
        return cost

    def _environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "HOME": str(self._home), "PYTHONPATH": str(HERE / "src")}


def main() -> int:
    """Measure and print; exit 1 where a goal is missed."""
    sys.path.insert(0, str(HERE))
    from tests.git_server import watched

    options = _options()
    compileall.compile_dir(str(HERE / "src"), quiet=1)
    with tempfile.TemporaryDirectory() as folder, watched(Path(folder)) as server:
        lines = list(_measured(Path(folder), server, options))
    print(f"{'':<30}{options.short:>12,}{options.long:>12,} receipts")
    for line in lines:
        wanted = f"at most {line.goal}{', missed' if _is_missed(line) else ''}" if line.goal else "no goal"
        print(f"{line.name:<24}{line.unit:<6}{line.short:>12,.0f}{line.long:>12,.0f} {line.ratio:6.2f}  {wanted}")
    return int(any(map(_is_missed, lines)))


def _is_missed(line: Line) -> bool:
    return bool(line.goal) and line.ratio > line.goal


def _measured(place: Path, server: Server, options: argparse.Namespace) -> Iterator[Line]:
    added = (2 * options.rounds + 1) * ADDED  # the longest the ledgers get is what the options say
    pair = _pair(place, server, {"short": options.short - added, "long": options.long - added})
    costs: dict[str, tuple[list[Cost], list[Cost]]] = {kind: ([], []) for kind in KINDS}
    clock = iter(range(BEGIN, BEGIN + 86400 * 30, 60))
    for machine in pair:
        machine.working(next(clock), cold=True)
    for _ in range(options.rounds):
        for kind, found in costs.items():
            temper, _, work = kind.partition(" ")
            _in_turn(pair, found, next(clock), getattr(Machine, work), cold=temper == "cold")
    for kind, (short, long) in costs.items():
        yield Line(kind, "ms", median(one.ms for one in short), median(one.ms for one in long), GOAL)
        if "idle" in kind:
            yield Line(kind, "bytes", median(one.fetched for one in short), median(one.fetched for one in long), GOAL)
    sealed = _pair(place, server, {"short-sealed": options.short, "long-sealed": options.long}, loose=0)
    for machine in sealed:
        machine.tick(next(clock))
    short_sealed, long_sealed = (machine.idle(next(clock), cold=True).fetched for machine in sealed)
    yield Line("cold idle, just sealed", "bytes", short_sealed, long_sealed)


def _in_turn(
    pair: Iterable[Machine], found: tuple[list[Cost], ...], at: int, work: Callable[..., Cost], *, cold: bool
) -> None:
    """Let both machines do the same; who goes first changes with each round."""
    turns = list(zip(pair, found, strict=True))
    for machine, costs in turns if len(found[0]) % 2 else reversed(turns):
        costs.append(work(machine, at, cold=cold))


def _pair(place: Path, server: Server, receipts: dict[str, int], *, loose: int = LOOSE) -> list[Machine]:
    """Return a machine for each ledger: name → how many receipts it has."""
    from bench import ledgers

    for name, count in receipts.items():
        ledgers.make(place / f"{name}.git", receipts=count, jobs=JOBS, loose=loose)
        for setting in ("http.receivepack", "uploadpack.allowFilter"):
            subprocess.run(("git", "-C", str(place / f"{name}.git"), "config", setting, "true"), check=True)
    return [Machine(place, name, server) for name in receipts]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", type=int, default=1_000, metavar="RECEIPTS")
    parser.add_argument("--long", type=int, default=100_000, metavar="RECEIPTS")
    parser.add_argument("--rounds", type=int, default=15)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
