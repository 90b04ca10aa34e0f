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
from hz_team.adapters.state import GitState
from hz_team.errors import Behind, RemoteError, TryAgain
from hz_team.model.state import Anchor, View
from hz_team.ports import Claim, Granted, Known, Lease, Leases, Riding
from tests.git_server import bare, served

NOW, TTL = 1_800_000_000, 900
EMPTY = Anchor()
LATER = NOW + TTL + 120
"""When a dead holder's lease may be taken over, clocks being apart as far as they may be."""


class Implementation(NamedTuple):
    """One way to keep leases."""

    open: Callable[[str], Leases]
    """Takes a folder that all holders share."""
    serve: Callable[[Path], AbstractContextManager[object]] = nullcontext
    """Makes that folder ready, and keeps what it needs alive."""
    shared: bool = False
    """Whether machines share them, job by job; else whoever has the root has everything."""


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
    "ref": Implementation(on_refs, beside, shared=True),
    "ref-http": Implementation(on_refs, over_http, shared=True),
}


def take(leases: Leases, jobs: dict[str, int], now: int = NOW) -> dict[str, Lease]:
    """Acquire; an implementation that owns the whole root or nothing says so by TryAgain."""
    try:
        return dict(leases.acquire(Claim({job: Known(number) for job, number in jobs.items()}, now, TTL)).leases)
    except TryAgain:
        return {}


def adopt(leases: Leases, given: list[list[Any]], now: int, anchor: list[Any]) -> dict[str, Lease]:
    """Go on with what another took; {} if that is not to be had any more."""
    try:
        return leases.adopt([Lease(*one) for one in given], now=now, ttl=TTL, ledger=Anchor(*anchor))
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

    def adopt(self, *leases: Lease, now: int = NOW, anchor: Anchor = EMPTY) -> dict[str, Lease]:
        return {job: Lease(*lease) for job, lease in self.tell("adopt", leases, now, anchor).items()}

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
        elif word == "adopt":
            answer = adopt(leases, *values)
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
    another: Callable[[], Leases]
    """Leases of another machine, in this process."""
    place: Path

    def state(self) -> GitState:
        """Return the state beside leases that are shared."""
        environ = {**os.environ, "GIT_ALLOW_PROTOCOL": "file:http"}
        return GitState((self.place / "url").read_text(), str(self.place / "seen/state.git"), environ=environ)

    def remove(self, job: str) -> None:
        """Take a shared lease away by hand."""
        words = ("git", "-C", str(self.place / "remote.git"), "update-ref", "-d", f"refs/hz/lease/job/{job}")
        subprocess.run(words, check=True)


@contextmanager
def _workshop(kind: str, place: Path) -> Iterator[Workshop]:
    holders: list[Holder] = []

    def other() -> Holder:
        holders.append(Holder(kind, place))
        return holders[-1]

    with IMPLEMENTATIONS[kind].serve(place):
        leases = IMPLEMENTATIONS[kind].open(str(place))
        try:
            yield Workshop(leases, other, lambda: IMPLEMENTATIONS[kind].open(str(place)), place)
        finally:
            for holder in holders:
                holder.process.kill()
                holder.process.communicate()


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def workshop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workshop]:
    with _workshop(request.param, tmp_path) as made:
        yield made


@pytest.fixture(params=sorted(name for name, kind in IMPLEMENTATIONS.items() if kind.shared))
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workshop]:
    with _workshop(request.param, tmp_path) as made:
        yield made


@pytest.fixture(params=sorted(name for name, kind in IMPLEMENTATIONS.items() if not kind.shared))
def lone(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workshop]:
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


def test_a_lease_is_the_same_however_its_end_moves(workshop: Workshop) -> None:
    mine = take(workshop.leases, {"digest": 3})["digest"]
    (later,) = workshop.leases.extended([mine], now=NOW + 100).values()
    assert (later.key, later.expires_at >= mine.expires_at) == (mine.key, True)
    assert workshop.leases.holds(later, now=NOW)
    workshop.leases.release([later])
    assert not workshop.leases.holds(mine, now=NOW)


def test_an_effect_is_guarded_while_the_lease_lasts(workshop: Workshop) -> None:
    mine = take(workshop.leases, {"digest": 3})["digest"]
    with workshop.leases.fence(mine) as check:
        check()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def claim(*jobs: str, **more: Any) -> Claim:
    return Claim({job: more.pop("known", Known()) for job in jobs}, more.pop("now", NOW), TTL, **more)


def test_who_holds_the_whole_root_hands_nothing_on(lone: Workshop) -> None:
    view = View("")
    granted = lone.leases.acquire(claim("digest", gone={"old": Known(9)}, riding=Riding(view, {"x": b""}, "x\n")))
    assert (granted.view, granted.leases["digest"].made) == (None, False)
    with pytest.raises(RemoteError, match="split mode needs --remote"):
        lone.leases.hand_over(granted.leases.values())
    with pytest.raises(RemoteError, match="split mode needs --remote"):
        lone.leases.adopt(granted.leases.values(), now=NOW, ttl=TTL, ledger=Anchor())
    assert lone.leases.holds(granted.leases["digest"], now=NOW)
    assert lone.leases.standing() == ()


def test_a_claim_says_whether_it_made_the_ref(shared: Workshop) -> None:
    first = shared.leases.acquire(claim("digest")).leases
    assert first["digest"].made
    shared.leases.release(first.values())
    again = shared.another().acquire(claim("digest", "links")).leases
    assert (again["digest"].made, again["links"].made) == (False, True)


def test_a_generation_survives_the_removal_of_its_ref(shared: Workshop) -> None:
    other = shared.other()
    old = other.take({"digest": 7})["digest"]
    shared.remove("digest")
    assert not other.holds(old)
    new = take(shared.leases, {"digest": old.generation})["digest"]
    assert new.generation > old.generation
    assert new.made
    other.release(old)
    assert shared.leases.holds(new, now=NOW)


def test_who_read_a_shorter_ledger_takes_nothing(shared: Workshop) -> None:
    known = Anchor(0, 40, "ab")
    theirs = shared.another()
    theirs.release(theirs.acquire(claim("digest", ledger=known, known=Known(3, 7))).leases.values())
    for shorter in (claim("links", "digest", ledger=Anchor(0, 39)), claim("digest", ledger=known, known=Known(3, 6))):
        with pytest.raises(Behind, match=r"the lease of digest knows .*nothing was taken, run it again"):
            shared.leases.acquire(shorter)
    assert shared.other().take({"links": 0})
    accepted = Anchor(1, 12, "cd")
    assert shared.leases.acquire(claim("digest", ledger=accepted)).leases
    with pytest.raises(Behind):
        theirs.acquire(claim("digest", ledger=known, known=Known(3, 7), now=LATER))


def test_what_rides_along_is_recorded_with_the_claim(shared: Workshop) -> None:
    state = shared.state()
    riding = Riding(state.fetch(), {"switches.json": b'{"v": 1}'}, "asked\n")
    granted = shared.leases.acquire(claim("digest", riding=riding))
    assert granted.view
    assert granted.view == state.fetch()
    assert state.read(granted.view, ["switches.json"]) == riding.files
    later = Riding(granted.view, {"dashboard.json": b'{"v": 1, "number": 7}'}, "asked\n")
    more = shared.leases.acquire(claim("links", riding=later))
    assert more.view
    assert more.view.dashboard == {"number": 7}
    assert state.follows(state.fetch(), granted.view.tip)


def test_what_rides_along_stays_behind_where_the_branch_moved(shared: Workshop) -> None:
    state = shared.state()
    early = state.fetch()
    tip = state.record(early, {"switches.json": b'{"v": 1}'}, "first\n")
    granted = shared.leases.acquire(claim("digest", riding=Riding(early, {"dashboard.json": b'{"v": 1}'}, "asked\n")))
    assert (sorted(granted.leases), granted.view) == (["digest"], None)
    assert state.fetch() == tip


def test_nothing_rides_to_a_job_that_is_held(shared: Workshop) -> None:
    state = shared.state()
    shared.other().take({"digest": 0})
    riding = Riding(state.fetch(), {"switches.json": b'{"v": 1}'}, "asked\n")
    assert shared.leases.acquire(claim("digest", riding=riding)) == Granted()


def test_leases_of_jobs_that_nobody_names_go_with_a_claim(shared: Workshop) -> None:
    theirs, other = shared.another(), shared.other()
    old = theirs.acquire(claim("gone", "newer")).leases
    theirs.release(old.values())
    other.take({"held": 0})
    gone = {"gone": Known(1), "newer": Known(0), "held": Known(9), "never": Known(9)}
    assert shared.leases.acquire(claim("digest", gone=gone)).leases
    assert [one.job for one in shared.leases.standing()] == ["digest", "held", "newer"]
    theirs.release(old.values())
    assert [one.job for one in shared.leases.standing()] == ["digest", "held", "newer"]
    assert other.take({"gone": 1})["gone"].generation == 2


def test_another_process_goes_on_from_exactly_where_leases_stand(shared: Workshop) -> None:
    settle = shared.other()
    mine = shared.leases.acquire(claim("digest", "links", mode="split", ledger=Anchor(0, 4))).leases
    given = shared.leases.hand_over(mine.values())
    assert [(one.generation, one.expires_at) for one in given.values()] == [(1, NOW + TTL)] * 2
    assert not shared.leases.holds(mine["digest"], now=NOW)
    shared.leases.release([*mine.values(), *given.values()])
    for anybody in (shared.another(), shared.leases):
        assert anybody.acquire(claim("digest", ledger=Anchor(0, 4))).leases == {}
    taken = settle.adopt(*given.values(), now=NOW + 50, anchor=Anchor(0, 4))
    assert [(one.generation, one.expires_at) for one in taken.values()] == [(1, NOW + 50 + TTL)] * 2
    assert settle.holds(taken["digest"], NOW + 50)
    assert not settle.holds(given["digest"], NOW + 50)
    assert shared.other().adopt(*given.values(), now=NOW + 60, anchor=Anchor(0, 4)) == {}
    settle.release(*taken.values())
    assert shared.other().adopt(*given.values(), now=NOW + 60, anchor=Anchor(0, 4)) == {}
    assert shared.another().acquire(claim("digest", "links", ledger=Anchor(0, 4))).leases.keys() == {"digest", "links"}


def test_of_leases_that_were_handed_over_all_are_adopted_or_none(shared: Workshop) -> None:
    given = shared.leases.hand_over(shared.leases.acquire(claim("digest", "links", mode="split")).leases.values())
    shared.remove("links")
    before = shared.leases.standing()
    with pytest.raises(TryAgain, match="the lease of links is not where `plan` left it"):
        shared.another().adopt(given.values(), now=NOW, ttl=TTL, ledger=Anchor())
    assert shared.leases.standing() == before
    assert shared.other().adopt(given["digest"])


def test_what_was_handed_over_is_not_adopted_with_a_shorter_ledger(shared: Workshop) -> None:
    given = shared.leases.hand_over(shared.leases.acquire(claim("digest", ledger=Anchor(0, 4))).leases.values())
    with pytest.raises(Behind, match="knows 4 receipts, the ledger read here has 3"):
        shared.another().adopt(given.values(), now=NOW, ttl=TTL, ledger=Anchor(0, 3))


def test_what_is_not_held_cannot_be_handed_over(shared: Workshop) -> None:
    mine = shared.leases.acquire(claim("digest")).leases["digest"]
    with pytest.raises(TryAgain, match="the lease of digest is not ours any more"):
        shared.leases.hand_over([mine._replace(token="0" * 40)])
    assert shared.leases.holds(mine, now=NOW)
    assert shared.leases.adopt([], now=NOW, ttl=TTL, ledger=Anchor()) == {}


def test_everybody_sees_who_has_what(shared: Workshop) -> None:
    granted = shared.leases.acquire(claim("digest", "links", ledger=Anchor(2, 40, "ab"))).leases
    shared.leases.release([granted["links"]])
    one, two = shared.another().standing()
    assert (one.job, one.mode, one.generation, one.at, one.expires_at) == ("digest", "full", 1, NOW, NOW + TTL)
    assert (one.anchor, one.commit, one.ref) == (Anchor(2, 40, "ab"), granted["digest"].token, granted["digest"].ref)
    assert one.holder.startswith("machine ")
    assert (two.job, two.mode) == ("links", "free")


def test_a_lease_that_is_stuck_is_mended(shared: Workshop) -> None:
    stuck = shared.other().take({"digest": 4})["digest"]
    (seen,) = shared.leases.standing()
    shared.leases.mend(seen, Known(8, 3), now=NOW, ledger=Anchor(1, 40, "ab"))
    (mended,) = shared.leases.standing()
    assert (mended.mode, mended.generation, mended.anchor) == ("free", 9, Anchor(1, 40, "ab"))
    with pytest.raises(TryAgain, match="the lease of digest moved meanwhile; nothing was mended, look again"):
        shared.another().mend(seen, Known(20), now=NOW, ledger=Anchor())
    taken = shared.another().acquire(claim("digest", known=Known(8, 3), ledger=Anchor(1, 40, "ab"))).leases
    assert taken["digest"].generation == 10
    assert not shared.leases.holds(stuck, now=NOW)


if __name__ == "__main__":
    serve(*sys.argv[1:])
