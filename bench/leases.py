"""A lease that many processes want, beside plain pushes to the same repository, in one run.

Eight processes, each with a cache of its own as on eight machines, want one job for some seconds: look, take it if it
is free, give it back, start again. The measure is how often it changed hands, as a share of what the same processes
push when nobody is in their way: `git push` of commits made beforehand, each process to a ref of its own. Taking and
giving back are two pushes, one after the other, so half of what one process pushes is the most there can be. The naive
way, which pushes without looking and without a pause, is shown as well. Then many jobs are taken in one push and, to
compare, one after the other.

    python bench/leases.py [--processes 8] [--seconds 10] [--jobs 50] [--over file http]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hz_team.adapters.lease_ref import RefLeases
    from hz_team.ports import Lease

HERE = Path(__file__).parent.parent
TERM = 900
PAUSE = 0.1
"""Seconds; the longest pause of who found the lease taken, doubled up to three times while that goes on."""
PREPARED = 2_000
"""Commits made beforehand."""
NAIVE = "refs/hz/bench/naive"
IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


class Place(NamedTuple):
    """Where one process works, how, and when."""

    way: str
    url: str
    cache: str
    """A folder that is this process's own."""
    start: float
    end: float


class Turn(NamedTuple):
    """How often all processes of one way together succeeded, in how many tries, in how many seconds."""

    won: int
    tries: int
    seconds: float

    @property
    def rate(self) -> float:
        """How many a second."""
        return self.won / self.seconds


def main() -> int:
    """Measure and print. Two holders in one generation end the run."""
    options = _options()
    if options.work:
        return _work(Place(*json.loads(options.work)))
    sys.path.insert(0, str(HERE))
    from tests.git_server import bare, served

    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        for way in options.over:
            state = bare(Path(folder, f"{way}.git"))
            _compare(way, f"{server}/{way}.git" if way == "http" else state.as_uri(), Path(folder, way), options)
    return 0


def _compare(way: str, url: str, folder: Path, options: argparse.Namespace) -> None:
    count, seconds = options.processes, options.seconds
    plain = _together("plain", url, folder, count, seconds)
    turns = {
        f"{count} push, each to a ref of its own": plain,
        "1 pushes": _together("plain", url, folder, 1, seconds),
        "1 takes and gives back": _together("lease", url, folder, 1, seconds),
        f"{count} want one ref, naive": _together("naive", url, folder, count, seconds),
        f"{count} want one job": _together("lease", url, folder, count, seconds),
    }
    for name, turn in turns.items():
        print(f"{way}  {name:<32} {turn.rate:6.1f}/s {turn.rate / plain.rate:6.1%}   {turn.won} of {turn.tries} tries")
    singly, at_once = _one_by_one(Place("", url, str(folder / "many"), 0, 0), options.jobs)
    print(f"{way}  {options.jobs} jobs one by one {singly:5.2f} s, in one push {at_once:5.2f} s", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--over", nargs="+", choices=("file", "http"), default=("file", "http"))
    parser.add_argument("--work", help=argparse.SUPPRESS)
    return parser.parse_args()


def _together(way: str, url: str, folder: Path, count: int, seconds: float) -> Turn:
    """Let that many processes work at the same time; return what all of them did."""
    start = time.time() + 2 + count / 2  # interpreters start and commits are made meanwhile
    places = [
        Place(way, url, str(folder / f"{way}-{count}-{number}"), start, start + seconds) for number in range(count)
    ]
    running = [
        subprocess.Popen(
            (sys.executable, __file__, "--work", json.dumps(place)), env=_environ(), stdout=subprocess.PIPE, text=True
        )
        for place in places
    ]
    told = [json.loads(process.communicate()[0]) for process in running]
    generations = [generation for one in told for generation in one["generations"]]
    assert len(set(generations)) == len(generations), "two holders had the lease in one generation"
    return Turn(sum(one["won"] for one in told), sum(one["tries"] for one in told), seconds)


def _work(place: Place) -> int:
    """Work in this process from the common start to the common end, and print what was done."""
    take = {"plain": _pushing, "naive": _racing, "lease": _taking}[place.way](place)
    if time.time() > place.start:
        sys.exit("the machine is too busy: not ready at the common start")
    time.sleep(place.start - time.time())
    won, tries, generations = 0, 0, []
    while time.time() < place.end:
        tries += 1
        generation = take()
        if generation is not None:
            generations += [generation] if generation else []
            won += time.time() < place.end
    print(json.dumps({"won": won, "tries": tries, "generations": generations}))
    return 0


def _pushing(place: Place) -> Callable[[], int | None]:
    """Return what pushes the next of a row of commits made beforehand: one `git push` and nothing else."""
    _git(place, "init", "-q", "--bare")
    ref = f"refs/hz/bench/{os.getpid()}"
    lines = "".join(
        f"commit {ref}\nmark :{number}\ncommitter b <b@localhost> {number} +0000\ndata 0\n\nget-mark :{number}\n"
        for number in range(1, PREPARED + 1)
    )
    commits = iter(_git(place, "fast-import", "--quiet", "--date-format=raw", stdin=lines).split())

    def push() -> int | None:
        return 0 if _does(place, "push", "-q", place.url, f"{next(commits)}:{ref}") else None

    push()
    return push


def _racing(place: Place) -> Callable[[], int | None]:
    """Return what fetches one ref, commits on it and pushes: no look at who has it, no pause."""
    _git(place, "init", "-q", "--bare")
    tree = _git(place, "mktree").strip()

    def race() -> int | None:
        found = _does(place, "fetch", "-q", place.url, f"+{NAIVE}:{NAIVE}")
        parent = _git(place, "rev-parse", NAIVE).strip() if found else ""
        words = ("-p", parent) if parent else ()
        commit = _git(place, *IDENTITY, "commit-tree", tree, *words, "-m", os.urandom(16).hex()).strip()
        return (
            0
            if _does(place, "push", "-q", f"--force-with-lease={NAIVE}:{parent}", place.url, f"{commit}:{NAIVE}")
            else None
        )

    return race


def _taking(place: Place) -> Callable[[], int | None]:
    """Return what takes the job and gives it back, as a tick does; it waits a little where somebody else has it."""
    leases, found_taken = _leases(place), 0

    def take() -> int | None:
        nonlocal found_taken
        granted = _acquired(leases, ["job"])
        if not granted:
            time.sleep(random.uniform(0, PAUSE * 2**found_taken))  # noqa: S311  (jitter, no secret)
            found_taken = min(found_taken + 1, 3)
            return None
        found_taken = 0
        leases.release(granted)
        return granted[0].generation

    return take


def _one_by_one(place: Place, count: int) -> tuple[float, float]:
    """Return the seconds to take many jobs one after the other, and to take as many others in one push."""
    leases = _leases(place)
    started = time.perf_counter()
    for number in range(count):
        assert _acquired(leases, [f"single-{number}"])
    between = time.perf_counter()
    granted = _acquired(leases, [f"batch-{number}" for number in range(count)])
    assert len(granted) == count
    ended = time.perf_counter()
    leases.release(granted)
    return between - started, ended - between


def _leases(place: Place) -> RefLeases:
    from hz_team.adapters.lease_ref import RefLeases

    return RefLeases(place.url, f"{place.cache}/state.git", holder=f"bench/{os.getpid()}", environ=_environ())


def _acquired(leases: RefLeases, jobs: Iterable[str]) -> list[Lease]:
    from hz_team.ports import Claim, Known

    return list(leases.acquire(Claim({job: Known() for job in jobs}, int(time.time()), TERM)).leases.values())


def _git(place: Place, *words: str, stdin: str = "") -> str:
    """Ask Git in this process's own repository and return what it says."""
    return _run(place, *words, stdin=stdin).stdout


def _does(place: Place, *words: str) -> bool:
    """Whether Git did what it was asked to."""
    return _run(place, *words).returncode == 0


def _run(place: Place, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    os.makedirs(place.cache, exist_ok=True)
    argv = ("git", f"--git-dir={place.cache}/raw.git", *words)
    return subprocess.run(argv, env=_environ(), input=stdin, capture_output=True, text=True, check=False, timeout=120)


def _environ() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    return {**kept, **fixed, "PYTHONPATH": str(HERE / "src")}


if __name__ == "__main__":
    sys.exit(main())
