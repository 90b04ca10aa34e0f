"""The race: many machines, one remote state, and everything that goes wrong between them. Each slot is worked on once.

Every disturbance has a test of its own, on two machines; at the end all of them come at once, drawn from a seed.
`bench/race.py` runs that longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.race.course import TWIN, Course
from tests.race.front import Gate, Mischief
from tests.race.machine import SOURCE, Forker, Job
from tests.race.referee import FENCE, KILL, epoch, total
from tests.race.repository import BRANCH, LEASES
from tests.race.split import split
from tests.race.team import EVERY, FIRST, MINUTE, START, TERM, Helper, Team, crowd, gathered

DUE = FIRST - START + MINUTE
"""Seconds from the start until something is due."""
OVER = TERM + 2 * MINUTE
"""Seconds until a lease may be taken over."""
ONE, TWO = (FIRST,), (FIRST, FIRST + EVERY)
CUTS = ("before", "after", "busy", "locked")
PUSHES = {"claim": LEASES, "record": BRANCH, "confirm": BRANCH}
"""The pushes of a tick that publishes, and a ref that each names."""


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    """Imports are paid for once."""
    made = Forker()
    yield made
    made.close()


@pytest.fixture
def team(tmp_path: Path, forker: Forker) -> Iterator[Team]:
    with gathered(tmp_path / "race", forker) as made:
        yield made


def course(team: Team, **helpers: Helper) -> Course:
    """Two machines that have seen everything before it is due; now it is."""
    made = Course(team, helpers, ("ann", "ben"))
    for name in made.names:
        made.run(name, "tick")
    team.advance(DUE)
    return made


def finish(made: Course) -> None:
    """Everybody works until nothing is left; then the referee looks."""
    made.calm()
    wrong = made.judge()
    assert wrong == [], total(wrong)


def at(push: str, kind: str, *, gate: Gate | None = None, then: Callable[[], None] = lambda: None) -> list[Mischief]:
    """Return what lets the pushes before one through, and does mischief to that one."""
    before = [
        Mischief("pass", ref) for name, ref in PUSHES.items() if list(PUSHES).index(name) < list(PUSHES).index(push)
    ]
    return [*before, Mischief(kind, PUSHES[push], gate, then)]


def drafting(made: Course, running: Job, job: str) -> Job:
    """Wait until a process has the lease of a job, which it drafts now."""
    until = time.monotonic() + 60
    while not made.team.repository.leases().get(job):
        assert time.monotonic() < until
        time.sleep(0.02)
    time.sleep(0.2)
    return running


@pytest.mark.parametrize("kind", CUTS)
@pytest.mark.parametrize("push", PUSHES)
def test_a_push_that_fails_or_is_not_answered(team: Team, push: str, kind: str) -> None:
    made = course(team, news=Helper("issue", ONE))
    team.desk.expect("ann", *at(push, kind))
    assert made.run("ann", "tick").code == 0
    assert team.desk.done[kind] == 1
    assert len(made.outcomes()) == ((push, kind) != ("claim", "locked"))
    finish(made)


@pytest.mark.parametrize("push", PUSHES)
def test_a_push_that_a_rule_refuses(team: Team, push: str) -> None:
    made = course(team, news=Helper("issue", ONE))
    team.desk.expect("ann", *at(push, "pass", then=team.repository.decline))
    done = made.run("ann", "tick")
    assert (done.code, "hook declined" in done.err) == (4, True), done
    finish(made)


def test_an_answer_is_cut_while_another_writer_appends(team: Team) -> None:
    made = course(team, news=Helper("issue", ONE), links=Helper("issue", ONE))
    gate = Gate()
    team.desk.expect("ann", *at("record", "after", gate=gate))
    running = made.start("ann", "tick", "--job", "news")
    assert gate.reached()
    assert made.run("ben", "tick", "--job", "links").code == 0
    gate.open()
    done = made.end(running)
    assert done.code == 0, done
    assert len(made.outcomes()) == 2
    finish(made)


def test_equal_holders_in_one_second(team: Team) -> None:
    """Both saw the lease free; when the second pushes, the first's commit stands there already."""
    made = course(team, news=Helper("issue", ONE, pause=1.0))
    claim, look = Gate(), Gate()
    team.desk.expect("ann", *at("claim", "pass", gate=claim))
    team.desk.delay("ben", look)
    ann, ben = (made.start(name, "tick", pid=TWIN, now=START + DUE) for name in made.names)
    assert claim.reached()
    assert look.reached()
    claim.open()
    drafting(made, ann, "news")
    look.open()
    done = [made.end(ann), made.end(ben)]
    assert [(one.code, one.json.get("drafted")) for one in done] == [(0, 1), (0, 0)], done
    finish(made)


@pytest.mark.parametrize("whole", [False, True])
def test_a_holder_is_paused_past_its_term(team: Team, whole: bool) -> None:  # noqa: FBT001  (a table's column)
    made = course(team, news=Helper("issue", ONE, pause=2.0))
    running = drafting(made, made.start("ann", "tick"), "news")
    made.stop(running, whole=whole)
    team.advance(TERM - 2 * MINUTE)
    assert made.run("ben", "tick").json["drafted"] == 0
    team.advance(4 * MINUTE)
    assert made.run("ben", "tick").json["drafted"] == 1
    done = made.go_on(running)
    assert (done.code, "not ours any more" in done.err) == (75, True), done
    assert len(made.outcomes()) == 1
    finish(made)


@pytest.mark.parametrize("push", ["record", "confirm"])
def test_a_push_that_arrives_after_a_takeover(team: Team, push: str) -> None:
    made = course(team, news=Helper("issue", ONE))
    gate = Gate()
    team.desk.expect("ann", *at(push, "pass", gate=gate))
    running = made.start("ann", "tick")
    assert gate.reached()
    made.stop(running, whole=True)
    team.advance(OVER)
    assert made.run("ben", "tick").code == 0
    gate.open()
    assert made.go_on(running).code in {75, FENCE}
    assert len(made.rendered()) == 1
    finish(made)


def test_a_holder_is_paused_while_it_sends(team: Team) -> None:
    """What cannot be looked for is never sent a second time, and the holder sends nothing more when it wakes up."""
    made = course(team, first=Helper("webhook", ONE), second=Helper("webhook", ONE))
    assert made.run("ann", "tick").json["drafted"] == 2
    made.say_yes("ann")
    gate = team.sink.gate = Gate()
    running = made.start("ann", "tick")
    assert gate.reached()
    made.stop(running, whole=False)
    team.advance(OVER)
    assert made.run("ben", "tick").code == 0
    team.advance(3 * MINUTE)
    assert made.run("ben", "tick").code == 0
    gate.open()
    done = made.go_on(running)
    assert done.code == FENCE, done
    assert len(team.sink.posts) == 1
    finish(made)


@pytest.mark.parametrize("taken", [False, True])
def test_a_lease_is_removed_under_a_paused_holder(team: Team, taken: bool) -> None:  # noqa: FBT001  (a table's column)
    made = course(team, news=Helper("issue", ONE, pause=2.0))
    running = drafting(made, made.start("ann", "tick"), "news")
    made.stop(running, whole=False)
    team.repository.remove_lease("news")
    if taken:
        assert made.run("ben", "tick").json["drafted"] == 1
    done = made.go_on(running)
    assert (done.code, "not ours any more" in done.err) == (75, True), done
    assert len(made.rendered()) == int(taken)
    finish(made)


@pytest.mark.parametrize("kind", ["before", "after"])
@pytest.mark.parametrize("push", PUSHES)
def test_a_holder_is_killed_as_it_pushes(team: Team, push: str, kind: str) -> None:
    made = course(team, news=Helper("issue", ONE))
    running: list[Job] = []
    team.desk.expect("ann", *at(push, kind, then=lambda: made.kill(running[0])))
    running.append(made.start("ann", "tick"))
    assert made.end(running[0]).code == KILL
    team.advance(TERM - 2 * MINUTE)
    held = team.repository.lease("news").get("mode") == "full"
    assert made.run("ben", "tick").json["drafted"] == int(push == "claim" and not held)
    finish(made)


needs_doctor = pytest.mark.skipif(
    '"doctor":' not in (SOURCE / "hz_team/cli.py").read_text(), reason="there is no `hz-team doctor` yet"
)


@needs_doctor
def test_the_branch_is_reset(team: Team) -> None:
    made = course(team, news=Helper("issue", TWO), links=Helper("webhook", ONE))
    made.run("ann", "tick")
    team.advance(EVERY)
    made.run("ann", "tick")
    made.say_yes("ann")
    made.run("ann", "tick")
    assert len(made.outcomes()) == 3
    made.reset(3)
    left = team.repository.history()
    assert [made.run("ann", "tick").code for _ in range(2)] == [4, 4]
    assert made.run("ann", "receipts", "verify").code == 4
    assert team.repository.history() == left
    finish(made)
    assert [one.code for one in made.done if one.words[0] == "doctor"] == [0]


@needs_doctor
def test_the_branch_is_reset_under_a_paused_holder(team: Team) -> None:
    made = course(team, news=Helper("issue", ONE, pause=2.0), links=Helper("issue", ONE))
    made.run("ben", "tick", "--job", "links")
    running = drafting(made, made.start("ann", "tick"), "news")
    made.stop(running, whole=False)
    made.reset(1)
    done = made.go_on(running)
    assert (done.code, "another history" in done.err) == (75, True), done
    finish(made)


needs_split = pytest.mark.skipif(
    '"settle":' not in (SOURCE / "hz_team/cli.py").read_text(), reason="there is no `hz-team settle` yet"
)


def parts(made: Course, name: str, **more: bool) -> list[tuple[str, ...]]:
    """Run plan and draft on a machine; return the words of settle."""
    script = split(made.team.machines[name], again=True, **more)
    words = next(script)
    while words[0] != "settle":
        words = script.send(made.run(name, *words))
    return [words]


@needs_split
def test_settle_is_run_again(team: Team) -> None:
    made = course(team, news=Helper("issue", ONE))
    (settle,) = parts(made, "ann")
    assert made.run("ann", *settle).code == 0
    history = team.repository.history()
    assert made.run("ann", *settle).code in {0, 75}
    assert team.repository.history() == history
    assert (len(made.rendered()), len(made.outcomes())) == (1, 1)
    finish(made)


@needs_split
@pytest.mark.parametrize("kind", ["before", "after"])
def test_settle_is_run_again_after_it_was_killed(team: Team, kind: str) -> None:
    made = course(team, news=Helper("issue", ONE))
    (settle,) = parts(made, "ann")
    running: list[Job] = []
    team.desk.expect("ann", Mischief(kind, BRANCH, then=lambda: made.kill(running[0])))
    running.append(made.start("ann", *settle))
    assert made.end(running[0]).code == KILL
    assert made.run("ann", *settle).code in {0, 75}
    assert len(made.rendered()) <= 1
    finish(made)


@needs_split
def test_settle_comes_after_a_takeover(team: Team) -> None:
    made = course(team, news=Helper("issue", ONE))
    (settle,) = parts(made, "ann")
    team.advance(OVER)
    assert made.run("ben", "tick").json["drafted"] == 1
    done = made.run("ann", *settle)
    assert done.code == 75, done
    assert len(made.rendered()) == 1
    finish(made)


@needs_split
def test_a_draft_that_does_not_come_is_a_failure_and_is_made_later(team: Team) -> None:
    made = course(team, news=Helper("issue", ONE))
    (settle,) = parts(made, "ann", missing=True)
    assert made.run("ann", *settle).code == 0
    assert made.rendered() == []
    finish(made)
    assert made.rendered() == [("news", epoch("2026-12-01T09:00:00Z"))]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1])
def test_everything_at_once(team: Team, seed: int) -> None:
    names = [f"m{number}" for number in range(8)]
    made = Course(team, crowd(200), names, beside=names[1::2], seed=seed)
    made.drive(rounds=12)
    made.calm()
    wrong = made.judge()
    again = (
        f"bench/race.py --seed {seed} --processes 8 --slots 200 --rounds 12 replays it; see {team.place}/timeline.log"
    )
    assert wrong == [], f"{total(wrong)}\n{made.told()}\n{again}"
