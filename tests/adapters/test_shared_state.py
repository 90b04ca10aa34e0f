"""One state that several machines write: leases and records in one push, through everything that goes wrong there."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hz_team import ledger
from hz_team.adapters.git import Update
from hz_team.adapters.git_runner import Repository
from hz_team.adapters.lease_chain import PLACE, Chains, Outcome
from hz_team.adapters.lease_claim import Wanted
from hz_team.adapters.lease_note import HELD, Note
from hz_team.adapters.lease_ref import RefLeases
from hz_team.adapters.leases import FileLeases
from hz_team.adapters.mirror import Mirror
from hz_team.adapters.nearby import BRANCH
from hz_team.adapters.state import GitState
from hz_team.errors import Behind, RemoteError, TryAgain
from hz_team.model.facet import Cursor
from hz_team.model.receipt import Receipt, Runner
from hz_team.model.state import Anchor, Position, View, document
from hz_team.ports import Claim, Granted, Known, Lease, Riding
from tests.git_server import bare, count_pushes, served

NOW, TTL = 1_800_000_000, 900
LATER = NOW + TTL + 61
SNAPSHOT = "facets/aa/" + "a" * 64 + ".json"


def known(view: View, job: str) -> Known:
    position = view.positions.get(job)
    return Known(position.lease_generation, position.seq) if position else Known()


class Machine:
    """One machine that ticks: a cache, a state and leases of its own."""

    def __init__(self, url: str, place: Path, *, environ: Mapping[str, str] | None = None, **more: Any) -> None:
        environ = {**os.environ, "GIT_ALLOW_PROTOCOL": "file:http", **(environ or {})}
        cache = str(place / "state.git")
        self.url, self.place = url, place
        self.leases = RefLeases(url, cache, holder=place.name, environ=environ, **more)
        self.state = GitState(url, cache, environ=environ, leases=self.leases)

    def claim(self, *jobs: str, now: int = NOW, view: View | None = None, ttl: int = TTL, **more: Any) -> Granted:
        """Claim jobs as a tick does that planned from this view."""
        view = view or self.state.fetch()
        wanted = {job: known(view, job) for job in jobs}
        return self.leases.acquire(Claim(wanted, now=now, ttl=ttl, ledger=view.anchor, **more))

    def take(self, *jobs: str, **more: Any) -> Mapping[str, Lease]:
        """Return what a claim brings."""
        return self.claim(*jobs, **more).leases

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

    def machine(self, name: str = "ann", **more: Any) -> Machine:
        return Machine(self.url, self.place / name, **more)

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
            assert ben.push(theirs, theirs_update).ours == {f"{PLACE}digest"}
            assert ann.read(mine)["digest"].commit == theirs_update[0].new
            assert ann.push(mine, update).ours == set(), round_trip


@pytest.mark.parametrize(("when", "generation"), [("before", 1), ("after", 1), ("late", 2)])
def test_a_claim_that_nobody_answers(far: Town, when: str, generation: int) -> None:
    ann = far.machine()
    far.cut(when)
    lease = ann.take("digest")["digest"]
    assert lease.generation == generation
    assert far.machine("ben").take("digest") == {}
    assert ann.leases.holds(lease, now=NOW)


def test_a_claim_that_nobody_answers_while_somebody_else_is_faster(far: Town) -> None:
    ann, ben = far.machine(), far.machine("ben")
    ann.take("links")
    far.cut("before")
    ben.take("digest", "links")  # retried: links lives, digest is free
    assert ben.leases.hand.held.keys() == {"digest"}
    assert ann.take("digest") == {}


def test_a_claim_that_fails_halfway_holds_nothing(far: Town) -> None:
    ann = far.machine()
    chains = ann.leases.hand.chains
    real = chains.push

    def halfway(repository: Repository, updates: Sequence[Update], **more: Any) -> Outcome:
        real(repository, updates, **more)
        (far.place / "down").touch()
        return Outcome(frozenset({f"{PLACE}digest"}), frozenset({f"{PLACE}links"}))

    chains.push = halfway  # type: ignore[method-assign]
    with pytest.raises(RemoteError, match="did not answer"):
        ann.take("digest", "links")
    assert ann.leases.hand.held == {}


@pytest.mark.parametrize("when", ["before", "after", "late"])
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


@pytest.mark.parametrize("when", ["before", "after", "late"])
def test_a_release_that_nobody_answers(far: Town, when: str) -> None:
    ann = far.machine()
    leases = ann.take("digest")
    far.cut(when)
    ann.leases.release(leases.values())
    assert far.machine("ben").take("digest")


def test_a_renewal_that_comes_late_is_known_again(far: Town) -> None:
    ann = far.machine()
    lease = ann.take("digest")["digest"]
    far.cut("late")
    ann.leases.renew()
    assert len(far.git("rev-list", f"{PLACE}digest").split()) == 3  # the claim, the late one, and one on top of that
    assert ann.leases.holds(lease, now=NOW)
    ann.append(ann.state.fetch(), lease, last=True)
    assert far.machine("eve").proved().count == 1


def test_a_renewal_that_comes_after_its_maker_gave_up_waiting(near: Town) -> None:
    """Nobody answered, it was not there, and nothing was pushed since: then it comes, before our record."""
    ann = near.machine()
    lease = ann.take("digest")["digest"]
    with ann.leases.hand.mirror.writing() as repository:
        (late,) = ann.leases.hand.renewals(repository, [lease._replace(expires_at=NOW + 5000)])
        words = ("git", "-C", repository.path, "push", "-q", str(near.remote), f"{late.update.new}:{PLACE}digest")
        subprocess.run(words, check=True)
    assert ann.leases.holds(lease, now=NOW + TTL - 1)
    assert ann.leases.holds(lease, now=NOW + 4999)
    ann.append(ann.state.fetch(), lease, last=True)
    assert near.machine("eve").proved().count == 1
    assert near.machine("ben").take("digest")


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
    with pytest.raises(
        TryAgain, match=r"the lease of digest is not ours any more \(ben has it\); nothing was recorded or published"
    ):
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
    with pytest.raises(RemoteError, match=f"{PLACE}digest at {commit[:12]} is no lease .*`hz-team doctor --repair`"):
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


def said(town: Town, job: str = "digest") -> dict[str, Any]:
    return dict(json.loads(town.git("log", "-1", "--format=%B", f"{PLACE}{job}").strip().splitlines()[-1]))


def test_a_lease_tells_what_it_knows_of_the_ledger_and_of_its_own_job(near: Town) -> None:
    ann = near.machine(run="31", attempt=2)
    view = ann.append(ann.state.fetch(), *ann.take("links").values(), last=True)
    lease = ann.take("digest", view=view)["digest"]
    told = said(near)
    assert [told[name] for name in ("count", "seq", "era", "run", "attempt", "hard")] == [1, 0, 0, "31", 2, 0]
    view = ann.append(view, lease)
    assert [said(near)[name] for name in ("count", "seq", "head", "mode")] == [2, 1, view.head, "full"]
    ann.leases.release([lease])
    assert [said(near)[name] for name in ("count", "seq", "head", "mode")] == [2, 1, view.head, "free"]


def test_the_count_is_right_again_by_chance_and_the_jobs_own_is_not(near: Town) -> None:
    """Decision 9: the branch is reset, another job records."""
    ann, ben = near.machine(), near.machine("ben")
    early = ann.append(ann.state.fetch(), *ann.take("base").values(), last=True)
    ann.append(early, *ann.take("digest", view=early).values(), last=True)
    near.git("update-ref", BRANCH, early.tip)
    near.git("update-ref", "-d", f"{PLACE}base")
    ben.append(ben.state.fetch(), *ben.take("base").values(), last=True)
    with pytest.raises(Behind, match="the lease of digest knows 1 receipts of its own, the ledger read here has 0"):
        near.machine("cas").take("digest")


def test_a_record_moves_its_leases_to_the_end_it_tells_of(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    view = ann.state.fetch()
    mine = ann.take("digest", view=view)
    given = ann.leases.extended(mine.values(), now=NOW + 100)
    assert given["digest"].expires_at == NOW + 100 + TTL
    ben.append(view, *ben.take("links", view=view).values(), last=True)  # ours has to be pushed again
    view = ann.append(view, *given.values())
    assert said(near)["expires_at"] == NOW + 100 + TTL
    ann.leases.renew()
    ann.append(view, *given.values())
    assert said(near)["expires_at"] == NOW + 100 + TTL
    assert ann.leases.holds(mine["digest"], now=NOW + 100 + TTL - 1)


def test_a_lease_is_judged_by_the_servers_clock_where_it_is_known(near: Town) -> None:
    server = [NOW + 5000]
    ann = near.machine(clock=lambda: server[0])
    lease = ann.take("digest")["digest"]
    assert (lease.expires_at, said(near)["at"]) == (NOW + 5000 + TTL, NOW + 5000)
    assert near.machine("ben", clock=lambda: server[0]).take("digest", now=NOW + 9000) == {}
    server[0] += TTL
    assert not ann.leases.holds(lease, now=NOW)
    server[0] += 61
    assert near.machine("cas", clock=lambda: server[0]).take("digest", now=NOW)


class Runs:
    """A forge that tells what became of runs."""

    def __init__(self, **runs: tuple[str, int]) -> None:
        self.runs, self.asked = runs, 0

    def state(self, run: str, attempt: int) -> tuple[str, int]:
        self.asked += 1
        return self.runs.get(f"r{run}_{attempt}", ("unknown", 0))


def test_a_lease_of_a_run_that_ended_is_taken_over_early(near: Town) -> None:
    runs = Runs(r31_1=("ended", NOW + 10), r31_2=("running", 0))
    near.machine("ann", run="31", attempt=1).take("digest", "links")
    near.machine("ben", run="31", attempt=2).take("news")
    cas = near.machine("cas", attempts=runs)
    assert cas.take("digest", "links", "news", now=NOW + 70) == {}
    assert cas.take("digest", "links", "news", now=NOW + 71).keys() == {"digest", "links"}
    assert runs.asked == 4


def test_processes_that_take_turns_keep_their_lease_while_their_run_may_go_on(near: Town) -> None:
    plan = near.machine("plan", run="31", attempt=1)
    given = plan.leases.hand_over(plan.take("digest", mode="split").values())
    assert said(near)["hard"] == NOW + 6 * 3600
    for runs in (None, Runs(), Runs(r31_1=("queued", 0)), Runs(r31_1=("running", 0))):
        assert near.machine("cas", attempts=runs).take("digest", now=LATER) == {}
    (standing,) = near.machine("dot").leases.standing()
    assert (standing.mode, standing.expires_at) == ("split", NOW + 6 * 3600)
    settle = near.machine("settle", run="31", attempt=2)
    taken = settle.leases.adopt(given.values(), now=LATER, ttl=TTL, ledger=Anchor())
    assert [said(near)[name] for name in ("mode", "hard", "attempt", "generation")] == ["full", 0, 2, 1]
    settle.append(settle.state.fetch(), *taken.values(), last=True)
    assert near.machine("eve").proved().count == 1
    with pytest.raises(TryAgain, match=r"the lease of digest is not where `plan` left it \(it was given back\)"):
        near.machine("again", run="31", attempt=2).leases.adopt(given.values(), now=LATER, ttl=TTL, ledger=Anchor(0, 1))


def test_who_waits_for_a_run_for_ever_waits_six_hours(near: Town) -> None:
    plan = near.machine("plan", run="31", attempt=1)
    plan.leases.hand_over(plan.take("digest", mode="split").values())
    assert near.machine("ben").take("digest", now=NOW + 6 * 3600 + 60) == {}
    assert near.machine("ben").take("digest", now=NOW + 6 * 3600 + 61)


@pytest.mark.parametrize("when", ["before", "after", "late"])
def test_an_adoption_that_nobody_answers(far: Town, when: str) -> None:
    plan, settle = far.machine("plan"), far.machine("settle")
    given = plan.leases.hand_over(plan.take("digest", "links", mode="split").values())
    far.cut(when)
    taken = settle.leases.adopt(given.values(), now=NOW, ttl=TTL, ledger=Anchor())
    assert all(settle.leases.holds(lease, now=NOW) for lease in taken.values())
    assert {lease.generation for lease in taken.values()} == {1}


def test_where_a_server_cannot_do_all_or_nothing_what_was_got_is_given_back(near: Town) -> None:
    near.git("config", "receive.advertiseAtomic", "false")
    hook = near.remote / "hooks/update"
    hook.write_text(f'#!/bin/sh\ntest "$1" != {PLACE}links || test ! -e "{near.place}/busy"\n')
    hook.chmod(0o755)
    plan, settle = near.machine("plan"), near.machine("settle")
    given = plan.leases.hand_over(plan.take("digest", "links", mode="split").values())
    (near.place / "busy").touch()
    with pytest.raises(TryAgain, match="renewals of what `plan` took did not come through; nothing was recorded"):
        settle.leases.adopt(given.values(), now=NOW, ttl=TTL, ledger=Anchor())
    assert (settle.leases.atomic, settle.leases.hand.held) == (False, {})
    assert [one.mode for one in settle.leases.standing()] == ["free", "split"]


def atomic(machine: Machine) -> bool | None:
    return machine.leases.atomic


def test_it_is_known_whether_the_server_can_do_all_or_nothing(near: Town) -> None:
    ann, ben = near.machine(), near.machine("ben")
    assert atomic(ann) is None
    lease = ann.leases.extended(ann.take("digest", ttl=200).values(), now=NOW)["digest"]
    view = ann.append(ann.state.fetch(), lease)
    assert atomic(ann) is True
    with ann.leases.fence(lease):
        assert 178 < signal.getitimer(signal.ITIMER_REAL)[0] <= 180
    near.git("config", "receive.advertiseAtomic", "false")
    lease = ben.leases.extended(ben.take("links", ttl=200, view=view).values(), now=NOW)["links"]
    ben.append(view, lease)
    assert atomic(ben) is False
    with ben.leases.fence(lease):
        assert 118 < signal.getitimer(signal.ITIMER_REAL)[0] <= 120
    with (
        pytest.raises(TryAgain, match="the lease of links is over"),
        ben.leases.fence(lease._replace(expires_at=NOW + 80)),
    ):
        pytest.fail("entered")


def test_a_lease_never_knows_of_a_record_that_is_not_there(near: Town) -> None:
    """Where both cannot be pushed together, the lease comes first, and must not vouch for what may never come."""
    near.git("config", "receive.advertiseAtomic", "false")
    hook = near.remote / "hooks/update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    ann = near.machine()
    view = ann.state.fetch()
    lease = ann.take("digest", view=view)["digest"]
    with pytest.raises(RemoteError):
        ann.append(view, lease)
    ann.leases.release([lease])
    hook.unlink()
    assert said(near)["count"] == 0
    ben = near.machine("ben")
    view = ben.append(view, ben.take("digest", view=view)["digest"])
    ben.leases.renew()
    assert (said(near)["count"], said(near)["seq"]) == (1, 1)


def test_the_fence_counts_from_the_end_on_record_and_not_from_a_later_renewal(near: Town) -> None:
    ann = near.machine()
    lease = ann.leases.extended(ann.take("digest", ttl=200).values(), now=NOW)["digest"]
    ann.append(ann.state.fetch(), lease)
    ann.leases.renew()
    with ann.leases.fence(lease):
        ann.leases.renew()
        assert 170 < signal.getitimer(signal.ITIMER_REAL)[0] <= 180


@pytest.mark.parametrize("when", ["before", "after", "late"])
def test_what_rides_along_where_nobody_answers(far: Town, when: str) -> None:
    ann = far.machine()
    view = ann.state.fetch()
    far.cut(when)
    granted = ann.claim("digest", view=view, riding=Riding(view, {"switches.json": b'{"v":1}'}, "asked\n"))
    assert granted.leases.keys() == {"digest"}
    assert (granted.view is None) is (when == "before")
    view = granted.view or ann.state.record(view, {"switches.json": b'{"v":1}'}, "asked\n")
    assert view == far.machine("eve").state.fetch()
    assert len(far.git("rev-list", BRANCH).split()) == 1


def test_a_claim_is_one_push_whatever_comes_with_it(near: Town) -> None:
    ann = near.machine()
    ann.leases.release(ann.take("old").values())
    view = ann.state.fetch()
    near.pushes()
    riding = Riding(view, {"switches.json": b'{"v":1}'}, "asked\n")
    granted = ann.claim("digest", "links", view=view, gone={"old": Known(1)}, riding=riding)
    assert near.pushes() == [f"{BRANCH} {PLACE}digest {PLACE}links {PLACE}old"]
    assert granted.leases.keys() == {"digest", "links"}
    assert granted.view == near.machine("eve").state.fetch()


def test_a_branch_that_may_not_be_written_does_not_cost_the_leases(near: Town) -> None:
    hook = near.remote / "hooks/update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) echo "no writes here" >&2; exit 1 ;; esac\n')
    hook.chmod(0o755)
    ann = near.machine()
    view = ann.state.fetch()
    granted = ann.claim("digest", view=view, riding=Riding(view, {"switches.json": b'{"v":1}'}, "asked\n"))
    assert granted.leases.keys() == {"digest"}
    assert granted.view is None
    hook.write_text('#!/bin/sh\ncase "$1" in refs/hz/*) echo "no leases here" >&2; exit 1 ;; esac\n')
    with pytest.raises(RemoteError, match=f"hook declined.*let this account write {PLACE}links"):
        ann.claim("links", view=view, riding=Riding(view, {"switches.json": b'{"v":1}'}, "asked\n"))


def test_a_rule_against_removing_refs_costs_no_lease(near: Town) -> None:
    hook = near.remote / "hooks/update"
    hook.write_text('#!/bin/sh\ncase "$3" in 000000*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    ann = near.machine()
    ann.leases.release(ann.take("old").values())
    assert ann.take("digest", gone={"old": Known(1)}).keys() == {"digest"}
    assert [one.job for one in ann.leases.standing()] == ["digest", "old"]


def test_whoever_takes_turns_gives_the_root_back(near: Town) -> None:
    lock = str(near.place / "lock")
    plan, settle, other = (near.machine(name, root=FileLeases(lock)) for name in ("plan", "settle", "other"))
    taken = plan.take("digest", mode="split")
    with pytest.raises(TryAgain, match="is at work here"):
        other.take("links")
    given = plan.leases.hand_over(taken.values())
    other.leases.release(other.take("links").values())
    taken = settle.leases.adopt(given.values(), now=NOW, ttl=TTL, ledger=Anchor())
    with pytest.raises(TryAgain, match="is at work here"):
        other.take("links")
    settle.leases.release(taken.values())
    assert other.take("links")
    with pytest.raises(TryAgain):
        settle.leases.adopt(given.values(), now=NOW, ttl=TTL, ledger=Anchor())
    other.leases.release(list(other.take("links").values()))
    with pytest.raises(TryAgain, match="not where `plan` left it"):
        settle.leases.adopt(given.values(), now=NOW, ttl=TTL, ledger=Anchor())
    assert other.take("links")


def test_a_lease_that_nobody_can_read_is_mended(near: Town) -> None:
    tree = near.git("mktree").strip()
    commit = near.git("-c", "user.name=x", "-c", "user.email=x@localhost", "commit-tree", "-m", "hello", tree).strip()
    near.git("update-ref", f"{PLACE}digest", commit)
    ann = near.machine()
    (standing,) = ann.leases.standing()
    assert (standing.job, standing.mode, standing.holder, standing.commit) == ("digest", "", "", commit)
    ann.leases.mend(standing, Known(3), now=NOW, ledger=Anchor())
    assert near.machine("ben").take("digest")["digest"].generation == 5


def test_over_ssh(tmp_path: Path) -> None:
    """Git's own ssh transport; the far end is a shell on this machine."""
    bare(tmp_path / "remote.git")
    near = tmp_path / "near"
    near.write_text('#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n')
    near.chmod(0o755)
    environ = {"GIT_SSH_COMMAND": str(near), "GIT_SSH_VARIANT": "ssh", "GIT_ALLOW_PROTOCOL": "ssh"}
    town = Town(tmp_path, f"ssh://git@there.invalid{tmp_path}/remote.git")
    ann, ben = (Machine(town.url, tmp_path / name, environ=environ) for name in ("ann", "ben"))
    view = ann.state.fetch()
    riding = Riding(view, {"switches.json": b'{"v":1}'}, "asked\n")
    granted = ann.claim("digest", "links", view=view, riding=riding)
    assert granted.view
    assert ben.take("digest") == {}
    after = ann.append(granted.view, *granted.leases.values(), last=True)
    assert ben.proved() == after
    assert ann.leases.atomic
    assert ben.take("digest")["digest"].generation == 2
    assert town.pushes() == [
        f"{BRANCH} {PLACE}digest {PLACE}links",
        f"{BRANCH} {PLACE}digest {PLACE}links",
        f"{PLACE}digest",
    ]
