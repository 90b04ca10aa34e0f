"""One state that several machines write: leases and records in one push, through everything that goes wrong there."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hz_team import ledger
from hz_team.adapters.lease_chain import PLACE, Chains, Wanted
from hz_team.adapters.lease_note import HELD, Note
from hz_team.adapters.lease_ref import RefLeases
from hz_team.adapters.mirror import Mirror
from hz_team.adapters.nearby import BRANCH
from hz_team.adapters.state import GitState
from hz_team.errors import RemoteError, TryAgain
from hz_team.model.facet import Cursor
from hz_team.model.receipt import Receipt, Runner
from hz_team.model.state import Position, View, document
from hz_team.ports import Lease
from tests.git_server import bare, count_pushes, served

NOW, TTL = 1_800_000_000, 900
LATER = NOW + TTL + 61
SNAPSHOT = "facets/aa/" + "a" * 64 + ".json"


class Machine:
    """One machine that ticks: a cache, a state and leases of its own."""

    def __init__(self, url: str, place: Path) -> None:
        environ = {**os.environ, "GIT_ALLOW_PROTOCOL": "file:http"}
        cache = str(place / "state.git")
        self.url, self.place = url, place
        self.leases = RefLeases(url, cache, holder=place.name, environ=environ)
        self.state = GitState(url, cache, environ=environ, leases=self.leases)

    def take(self, *jobs: str, now: int = NOW, view: View | None = None, ttl: int = TTL) -> dict[str, Lease]:
        """Claim jobs as a tick does that planned from this view."""
        view = view or self.state.fetch()
        wanted = {job: view.positions[job].lease_generation if job in view.positions else 0 for job in jobs}
        return self.leases.acquire(wanted, now=now, ttl=ttl, ledger=(view.count, view.head))

    def append(self, view: View, *leases: Lease, last: bool = False, **more: bytes | None) -> View:
        """Record a receipt of each job, as a tick does."""
        runner = Runner("local", "mona", self.place.name, hz="0", python="3")
        receipts = [Receipt(job=lease.job, disposition="rendered", cause="schedule", as_of=NOW) for lease in leases]
        entries, positions = ledger.append(view.positions, receipts, runner, {lease.job: lease for lease in leases})
        files: dict[str, bytes | None] = {entry.path: entry.content for entry in entries}
        files |= {f"jobs/{lease.job}.json": paper(positions[lease.job]) for lease in leases}
        count, head = ledger.head(positions)
        files["ledger.json"] = json.dumps({"v": 1, "count": count, "head": head, "repository": "acme/x"}).encode()
        files |= {_path(name): content for name, content in more.items()}
        return self.state.record(view, files, "record\n", leases=leases, last=last)

    def proved(self) -> View:
        """Return the state as somebody else sees it; its ledger verifies."""
        view = self.state.fetch()
        verdict = ledger.verify(view, self.state.receipts(view), progress=lambda _: None)
        assert verdict.problems == ()
        return view


class Town:
    """One remote and the machines around it."""

    def __init__(self, place: Path, url: str) -> None:
        self.place, self.url = place, url
        self.remote = place / "remote.git"
        self._pushes = count_pushes(self.remote)

    def machine(self, name: str = "ann") -> Machine:
        return Machine(self.url, self.place / name)

    def pushes(self) -> list[str]:
        """Which refs each push named, and forget them."""
        lines = self._pushes.read_text().splitlines()
        self._pushes.write_text("")
        return [" ".join(sorted(line.split())) for line in lines]

    def git(self, *words: str) -> str:
        return subprocess.run(
            ("git", "-C", str(self.remote), *words), check=True, capture_output=True, text=True
        ).stdout

    def cut(self, when: str) -> None:
        (self.place / "cut").write_text(when)


def _path(name: str) -> str:
    return SNAPSHOT if name == "facets" else name.replace("__", "/") + ".json"


def paper(value: Any) -> bytes:
    return json.dumps(document(value), sort_keys=True).encode()


@contextmanager
def beside(place: Path) -> Iterator[Town]:
    bare(place / "remote.git")
    yield Town(place, (place / "remote.git").as_uri())


@contextmanager
def over_http(place: Path) -> Iterator[Town]:
    bare(place / "remote.git")
    with served(place) as url:
        yield Town(place, f"{url}/remote.git")


@pytest.fixture(params=[beside, over_http])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    with request.param(tmp_path) as made:
        yield made


@pytest.fixture
def near(tmp_path: Path) -> Iterator[Town]:
    with beside(tmp_path) as made:
        yield made


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Town]:
    with over_http(tmp_path) as made:
        yield made


def test_three_that_append_at_once_all_come_through(town: Town) -> None:
    """D01, D03: two rejections, on clones of depth 1."""
    first = town.machine()
    first.append(first.state.fetch(), *first.take("base").values(), last=True)
    machines = [town.machine(name) for name in ("ben", "cas", "dot")]
    views = [machine.state.fetch() for machine in machines]
    leases = [machine.take(machine.place.name, view=view) for machine, view in zip(machines, views, strict=True)]
    for machine, view, mine in zip(machines, views, leases, strict=True):
        after = machine.append(view, *mine.values(), last=True)
        assert after.positions[machine.place.name].seq == 1
    seen = town.machine("eve").proved()
    assert (seen.count, sorted(seen.positions)) == (4, ["base", "ben", "cas", "dot"])
    parents = town.git("rev-list", "--parents", BRANCH).split("\n")[:-1]
    assert [len(line.split()) for line in parents] == [2, 2, 2, 1]


def test_a_claim_and_a_record_are_two_pushes(town: Town) -> None:
    ann = town.machine()
    view = ann.state.fetch()
    leases = ann.take("digest", "links", "news", view=view)
    assert town.pushes() == [f"{PLACE}digest {PLACE}links {PLACE}news"]
    ann.append(view, *leases.values(), last=True)
    assert town.pushes() == [f"{BRANCH} {PLACE}digest {PLACE}links {PLACE}news"]
    ann.leases.release(leases.values())
    assert town.pushes() == []
    ben = town.machine("ben")
    assert ben.take("digest")["digest"].generation == leases["digest"].generation + 1


def test_a_record_in_between_keeps_the_lease(town: Town) -> None:
    ann, ben = town.machine(), town.machine("ben")
    lease = ann.take("digest")["digest"]
    view = ann.append(ann.state.fetch(), lease)
    assert ann.leases.holds(lease, now=NOW)
    assert ben.take("digest") == {}
    ann.append(view, lease, last=True)
    assert not ann.leases.holds(lease, now=NOW)
    assert town.machine("eve").proved().count == 2


def test_who_lost_the_lease_records_nothing(town: Town) -> None:
    ann, ben = town.machine(), town.machine("ben")
    view = ann.state.fetch()
    old = ann.take("digest", "links", view=view)
    assert ben.take("digest", now=LATER)["digest"].generation > old["digest"].generation
    with pytest.raises(
        TryAgain, match=r"the lease of digest is not ours any more \(ben has it\); nothing was recorded"
    ):
        ann.append(view, *old.values())
    assert town.machine("eve").state.fetch().tip == ""
    assert not ann.leases.holds(old["digest"], now=NOW)


def test_a_ref_that_was_removed_under_a_paused_holder(town: Town) -> None:
    ann, ben = town.machine(), town.machine("ben")
    view = ann.state.fetch()
    old = ann.take("digest", view=view)
    town.git("update-ref", "-d", f"{PLACE}digest")
    with pytest.raises(TryAgain, match="the lease of digest is not ours"):
        ann.append(view, *old.values())
    assert ben.take("digest")
    with pytest.raises(TryAgain, match="the lease of digest is not ours"):
        ann.append(view, *old.values())
    ann.leases.release(old.values())
    assert town.machine("eve").take("digest") == {}


def test_a_push_from_a_value_that_was_read_too_early(town: Town) -> None:
    """F06: the expected value is what was read, whatever was fetched since."""

    def chains(name: str) -> Chains:
        environ = {**os.environ, "GIT_ALLOW_PROTOCOL": "file:http"}
        return Chains(Mirror(town.url, str(town.place / name / "state.git"), environ), "hz <hz@localhost>")

    ann, ben = chains("ann"), chains("ben")
    note = Note("same", HELD, 1, NOW + TTL, NOW)  # equal words in one second
    for round_trip in range(2):  # created once, moved once
        with ann.mirror.writing() as mine, ben.mirror.writing() as theirs:
            read = ann.read(mine)
            parent = read["digest"].commit if read else ""
            ben.read(theirs)
            update = ann.make(mine, [Wanted("digest", parent, note)])
            theirs_update = ben.make(theirs, [Wanted("digest", parent, note)])
            assert ben.push(theirs, theirs_update) == {f"{PLACE}digest"}
            assert ann.read(mine)["digest"].commit == theirs_update[0].new
            assert ann.push(mine, update) == set(), round_trip


@pytest.mark.parametrize(("when", "granted"), [("before", False), ("after", True)])
def test_a_claim_that_nobody_answers(far: Town, when: str, granted: bool) -> None:  # noqa: FBT001
    ann = far.machine()
    far.cut(when)
    lease = ann.take("digest").get("digest")
    assert bool(lease) is granted
    assert bool(far.machine("ben").take("digest")) is not granted
    assert lease is None or ann.leases.holds(lease, now=NOW)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_record_that_nobody_answers_is_looked_for(far: Town, when: str) -> None:
    ann = far.machine()
    view = ann.state.fetch()
    lease = ann.take("digest", view=view)["digest"]
    far.cut(when)
    after = ann.append(view, lease)
    assert after.count == 1
    assert ann.leases.holds(lease, now=NOW)
    ann.append(after, lease, last=True)
    seen = far.machine("eve").proved()
    assert seen.count == 2
    assert len(far.git("rev-list", BRANCH).split()) == 2


def test_a_record_that_nobody_can_look_for_is_unknown(far: Town) -> None:
    ann = far.machine()
    view = ann.state.fetch()
    mine = ann.take("digest", view=view)
    far.cut("off")
    with pytest.raises(RemoteError, match=r"so it is unknown whether it arrived; the next tick looks before it writes"):
        ann.append(view, *mine.values())
    assert not ann.leases.holds(mine["digest"], now=NOW)
    ann.leases.release(mine.values())


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_release_that_nobody_answers(far: Town, when: str) -> None:
    ann = far.machine()
    leases = ann.take("digest")
    far.cut(when)
    ann.leases.release(leases.values())
    assert bool(far.machine("ben").take("digest")) is (when == "after")
    assert far.machine("cas").take("digest", now=LATER) or when == "after"


def test_a_server_that_cannot_push_all_or_nothing(near: Town) -> None:
    near.git("config", "receive.advertiseAtomic", "false")
    ann, ben = near.machine(), near.machine("ben")
    view = ann.state.fetch()
    lease = ann.take("digest", view=view)["digest"]
    near.pushes()
    view = ann.append(view, lease, last=True)
    assert near.pushes() == [f"{PLACE}digest", BRANCH]
    assert ann.leases.holds(lease, now=NOW)
    assert ben.take("digest", now=LATER)
    with pytest.raises(TryAgain, match="a lease is not ours any more; nothing was recorded or published"):
        ann.append(view, lease)
    assert near.machine("eve").proved() == view


def test_the_lock_of_a_killed_push_holds_a_job_up_once(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    lock = near.remote / f"{PLACE}digest.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    assert ann.take("digest", "links").keys() == {"links"}
    assert ben.take("digest").keys() == {"digest"}
    view = ben.state.fetch()
    lock.touch()
    ben.append(view, ben.take("digest")["digest"], last=True)
    assert near.machine("eve").proved().count == 1


def test_no_push_against_a_lease_that_lives(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    ann.take("digest")
    near.pushes()
    assert ben.take("digest", now=NOW + TTL + 60) == {}
    assert near.pushes() == []
    assert ben.take("digest", now=NOW + TTL + 61)
    assert near.pushes() == [f"{PLACE}digest"]


def test_a_late_clock_takes_nothing_over(near: Town) -> None:
    ann, ben, cas = (near.machine(name) for name in ("ann", "ben", "cas"))
    ann.take("digest")
    ben.take("links", now=LATER + 61)
    assert cas.take("digest", "free", now=LATER).keys() == {"free"}
    assert cas.take("digest", now=LATER + 1).keys() == {"digest"}


def test_a_shorter_ledger_takes_nothing(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    early = ann.state.fetch()
    ben.append(early, *ben.take("digest").values(), last=True)
    with pytest.raises(
        TryAgain, match=r"the lease of digest knows 1 receipts, the ledger read here has 0: .*run it again"
    ):
        ann.take("digest", view=early)
    assert ann.take("digest")
    near.git("update-ref", "-d", BRANCH)
    with pytest.raises(TryAgain, match="hz-state was reset to an older commit"):
        near.machine("cas").take("digest", now=LATER)


def test_a_foreign_commit_on_a_lease_ref_is_named(near: Town) -> None:
    tree = near.git("mktree").strip()
    commit = near.git("-c", "user.name=x", "-c", "user.email=x@localhost", "commit-tree", "-m", "hello", tree).strip()
    near.git("update-ref", f"{PLACE}digest", commit)
    with pytest.raises(RemoteError, match=f"{PLACE}digest at {commit[:12]} is no lease .* remove the ref"):
        near.machine().take("digest")
    assert near.machine("ben").take("links")


def test_a_held_lease_is_renewed_at_half_its_term(near: Town) -> None:
    ann = near.machine()
    lease = ann.take("digest", ttl=2)["digest"]
    until = time.monotonic() + 20
    while near.git("rev-parse", f"{PLACE}digest").strip() == lease.token:
        assert time.monotonic() < until
        time.sleep(0.05)
    said = json.loads(near.git("log", "-1", "--format=%B", f"{PLACE}digest").strip().splitlines()[-1])
    assert said["expires_at"] > lease.expires_at
    assert said["generation"] == lease.generation
    ann.append(ann.state.fetch(), lease, last=True)
    assert near.machine("eve").proved().count == 1


def test_a_lease_that_ran_out_is_not_held(near: Town) -> None:
    ann = near.machine()
    lease = ann.take("digest")["digest"]
    assert ann.leases.holds(lease, now=NOW + TTL - 1)
    assert not ann.leases.holds(lease, now=NOW + TTL)


def test_what_rides_along_gives_way_to_a_faster_tick(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    view = ann.state.fetch()
    mine, theirs = ann.take("digest", view=view), ben.take("links", view=view)
    board = {"v": 1, "decisions": [{"at": 1, "text": "theirs"}]}
    new = Cursor("learning", "abc", 7, {}, "b" * 64)
    ben.append(
        view,
        *theirs.values(),
        cursors__learning__abc=paper(new),
        jobs__other=paper(Position("other", skips={"late": {"count": 3}})),
        dashboard=json.dumps(board).encode(),
    )
    board["decisions"] = [{"at": 2, "text": "mine"}]
    after = ann.append(
        view,
        *mine.values(),
        cursors__learning__abc=paper(new._replace(snapshot="a" * 64)),
        jobs__other=paper(Position("other", skips={"late": {"count": 1}})),
        dashboard=json.dumps(board).encode(),
        facets=b"[]",
    )
    assert after.cursors["learning/abc"].snapshot == "b" * 64
    assert after.positions["other"].skips == {"late": {"count": 3}}
    assert [one["text"] for one in after.decisions] == ["mine", "theirs"]
    assert ann.state.read(after, [SNAPSHOT]) == {}
    assert near.machine("eve").proved() == after


def test_what_a_person_said_does_not_give_way(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    view = ann.state.fetch()
    mine = ann.take("digest", view=view)
    winner = ben.state.record(view, {"switches.json": b'{"v":1}'}, "first\n")
    with pytest.raises(TryAgain, match=r"another tick changed switches\.json first, so this one recorded nothing"):
        ann.append(view, *mine.values(), switches=b'{"v":1,"paused":{"by":"mona"}}')
    assert near.machine("eve").state.fetch() == winner


def test_a_snapshot_that_was_swept_meanwhile(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    view = ann.state.record(ann.state.fetch(), {SNAPSHOT: b"[]"}, "seen\n")
    mine = ann.take("digest", view=view)
    ben.state.record(view, {SNAPSHOT: None}, "swept\n")
    named = paper(Position("base", base={"learning": "a" * 64}))
    with pytest.raises(TryAgain, match=f"another tick changed {SNAPSHOT} first"):
        ann.append(view, *mine.values(), jobs__base=named)


def test_a_history_that_was_replaced(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    lease = ann.take("digest")["digest"]
    view = ann.append(ann.state.fetch(), lease)
    near.git("update-ref", "-d", BRANCH)
    with pytest.raises(TryAgain, match="hz-state was set to another history"):
        ann.append(view, lease)
    ben.state.record(ben.state.fetch(), {"switches.json": b'{"v":1}'}, "another\n")
    with pytest.raises(TryAgain, match="hz-state was set to another history"):
        ann.append(view, lease)


def test_a_rule_that_refuses_is_no_race(near: Town) -> None:
    ann = near.machine()
    view = ann.state.fetch()
    mine = ann.take("digest", view=view)
    hook = near.remote / "hooks/update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) echo "no writes here" >&2; exit 1 ;; esac\n')
    hook.chmod(0o755)
    with pytest.raises(RemoteError, match=r"refused the record: .*hook declined.*let this account write"):
        ann.append(view, *mine.values())
    assert ann.leases.holds(mine["digest"], now=NOW)


def test_the_cache_may_vanish_while_a_lease_is_held(town: Town) -> None:
    ann = town.machine()
    view = ann.append(ann.state.fetch(), *ann.take("links").values(), last=True)
    lease = ann.take("digest")["digest"]
    subprocess.run(("rm", "-rf", str(ann.place / "state.git")), check=True)
    ann.append(view, lease, last=True)
    assert town.machine("eve").proved().count == 2
