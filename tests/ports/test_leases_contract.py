"""What every `Leases` must do. Holders are real processes; an implementation is a place, a way to open it, and its patience.

A new implementation joins by a row in IMPLEMENTATIONS: nothing here knows how a lease is kept.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hz_team.adapters.lease_ref import RefLeases
from hz_team.adapters.leases import FileLeases
from hz_team.errors import TryAgain
from hz_team.ports import Lease, Leases
from tests.git_server import bare, served

NOW, TTL = 1_800_000_000, 900
LATER = NOW + TTL + 120
"""When a dead holder's lease may be taken over, clocks being apart as far as they may be."""


class Implementation(NamedTuple):
    """One way to keep leases."""

    open: Callable[[str], Leases]
    """Takes a folder that all holders share."""
    serve: Callable[[Path], AbstractContextManager[object]] = nullcontext
    """Makes that folder ready, and keeps what it needs alive."""


def on_refs(place: str) -> Leases:
    """Leases at the URL that `url` in the shared folder says, with a cache of our own: another machine."""
    url, own = Path(place, "url").read_text(encoding="utf-8"), os.urandom(4).hex()
    environ = {**os.environ, "GIT_ALLOW_PROTOCOL": "file:http"}
    return RefLeases(url, f"{place}/cache-{own}/state.git", holder=f"machine {own}", environ=environ)


@contextmanager
def beside(place: Path) -> Iterator[None]:
    """A repository on this machine."""
    (place / "url").write_text(bare(place / "remote.git").as_uri(), encoding="utf-8")
    yield


@contextmanager
def over_http(place: Path) -> Iterator[None]:
    """A repository behind a web server."""
    bare(place / "remote.git")
    with served(place) as url:
        (place / "url").write_text(f"{url}/remote.git", encoding="utf-8")
        yield


IMPLEMENTATIONS = {
    "file": Implementation(lambda place: FileLeases(f"{place}/below/tick.lock")),
    "ref": Implementation(on_refs, beside),
    "ref-http": Implementation(on_refs, over_http),
}


def take(leases: Leases, jobs: dict[str, int], now: int = NOW) -> dict[str, Lease]:
    """Acquire; an implementation that owns the whole root or nothing says so by TryAgain."""
    try:
        return leases.acquire(jobs, now=now, ttl=TTL)
    except TryAgain:
        return {}


class Holder:
    """Another process with leases of its own, which does what it is told."""

    def __init__(self, kind: str, place: Path) -> None:
        command = (sys.executable, __file__, kind, str(place))
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)

    def tell(self, word: str, *values: Any) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps([word, *values]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def take(self, jobs: dict[str, int], now: int = NOW) -> dict[str, Lease]:
        return {job: Lease(*lease) for job, lease in self.tell("take", jobs, now).items()}

    def holds(self, lease: Lease, now: int = NOW) -> bool:
        return bool(self.tell("holds", lease, now))

    def release(self, *leases: Lease) -> None:
        self.tell("release", leases)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def serve(kind: str, place: str) -> None:
    """Do in this process what `Holder` asks for."""
    leases = IMPLEMENTATIONS[kind].open(place)
    for line in sys.stdin:
        word, *values = json.loads(line)
        if word == "take":
            answer: Any = take(leases, *values)
        elif word == "holds":
            answer = leases.holds(Lease(*values[0]), now=values[1])
        else:
            leases.release([Lease(*lease) for lease in values[0]])
            answer = None
        print(json.dumps(answer), flush=True)  # noqa: T201  (this is how the two processes talk)


class Workshop(NamedTuple):
    """One place, its leases in this process, and a way to have other holders."""

    leases: Leases
    other: Callable[[], Holder]


@contextmanager
def _workshop(kind: str, place: Path) -> Iterator[Workshop]:
    holders: list[Holder] = []

    def other() -> Holder:
        holders.append(Holder(kind, place))
        return holders[-1]

    with IMPLEMENTATIONS[kind].serve(place):
        leases = IMPLEMENTATIONS[kind].open(str(place))
        try:
            yield Workshop(leases, other)
        finally:
            for holder in holders:
                holder.process.kill()
                holder.process.communicate()


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def workshop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workshop]:
    with _workshop(request.param, tmp_path) as made:
        yield made


def test_a_granted_lease_is_held_and_newer_than_the_position_says(workshop: Workshop) -> None:
    leases = take(workshop.leases, {"digest": 0, "links": 41})
    assert sorted(leases) == ["digest", "links"]
    assert leases["digest"].generation > 0
    assert leases["links"].generation > 41
    assert leases["digest"].job == "digest"
    assert leases["digest"].token != leases["links"].token
    assert all(workshop.leases.holds(lease, now=NOW + 1) for lease in leases.values())


def test_two_processes_never_both_hold(workshop: Workshop) -> None:
    other = workshop.other()
    mine = take(workshop.leases, {"digest": 3})["digest"]
    assert other.take({"digest": 3}) == {}
    assert other.take({"digest": 9}, NOW + 30) == {}
    assert not other.holds(mine)
    assert workshop.leases.holds(mine, now=NOW + 30)


def test_of_many_that_ask_at_once_one_is_granted(workshop: Workshop) -> None:
    others = [workshop.other() for _ in range(4)]
    for other in others:  # all are asked before any is listened to
        assert other.process.stdin
        other.process.stdin.write(json.dumps(["take", {"digest": 0}, NOW]) + "\n")
    for other in others:
        assert other.process.stdin
        other.process.stdin.flush()
    granted = [json.loads(other.process.stdout.readline()) for other in others if other.process.stdout]
    assert sum("digest" in answer for answer in granted) == 1


def test_a_released_lease_can_be_taken_and_is_newer(workshop: Workshop) -> None:
    other = workshop.other()
    mine = take(workshop.leases, {"digest": 3})["digest"]
    workshop.leases.release([mine])
    assert not workshop.leases.holds(mine, now=NOW)
    theirs = other.take({"digest": mine.generation})["digest"]
    assert theirs.generation > mine.generation
    assert theirs.token != mine.token
    assert other.holds(theirs)


def test_what_a_killed_process_held_can_be_taken(workshop: Workshop) -> None:
    other = workshop.other()
    theirs = other.take({"digest": 3})["digest"]
    assert take(workshop.leases, {"digest": 3}) == {}
    other.kill()
    mine = take(workshop.leases, {"digest": theirs.generation}, LATER)["digest"]
    assert mine.generation > theirs.generation
    assert workshop.leases.holds(mine, now=LATER)
    assert not workshop.leases.holds(theirs, now=LATER)


def test_a_release_cannot_touch_a_successor(workshop: Workshop) -> None:
    other = workshop.other()
    mine = take(workshop.leases, {"digest": 3})["digest"]
    workshop.leases.release([mine])
    theirs = other.take({"digest": mine.generation})["digest"]
    workshop.leases.release([mine])
    workshop.leases.release([theirs._replace(token=mine.token)])
    assert other.holds(theirs)
    assert take(workshop.leases, {"digest": theirs.generation}) == {}


def test_a_late_release_in_one_process_leaves_the_next_lease_alone(workshop: Workshop) -> None:
    old = take(workshop.leases, {"digest": 3})["digest"]
    workshop.leases.release([old])
    new = take(workshop.leases, {"digest": old.generation})["digest"]
    workshop.leases.release([old])
    assert workshop.leases.holds(new, now=NOW)
    assert workshop.other().take({"digest": new.generation}) == {}


def test_a_lease_that_was_never_granted_does_not_hold(workshop: Workshop) -> None:
    mine = take(workshop.leases, {"digest": 3})["digest"]
    assert not workshop.leases.holds(Lease("links", mine.ref, mine.token, 1, NOW + TTL), now=NOW)
    assert not workshop.leases.holds(mine._replace(token="0" * len(mine.token)), now=NOW)
    assert not workshop.leases.holds(mine._replace(generation=mine.generation + 1), now=NOW)


def test_releasing_one_job_keeps_the_other(workshop: Workshop) -> None:
    leases = take(workshop.leases, {"digest": 1, "links": 1})
    workshop.leases.release([leases["digest"]])
    assert not workshop.leases.holds(leases["digest"], now=NOW)
    assert workshop.leases.holds(leases["links"], now=NOW)
    assert workshop.other().take({"links": 5}) == {}


if __name__ == "__main__":
    serve(*sys.argv[1:])
