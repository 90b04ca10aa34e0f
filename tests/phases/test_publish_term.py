"""Publishing under a lease that ends: what an earlier process may still send is waited for, and nothing is sent late."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from hz_team import account
from hz_team import tick as page
from hz_team.errors import LeaseOver, TryAgain
from hz_team.idle import words
from hz_team.model.observation import Heard
from tests.team import HOUR, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from hz_team.model.state import View
    from hz_team.ports import Found, Lease, World

MONA = "local:mona"
EACH = """\
run: |
      for n in 1 2 3; do printf -- '---\\ntarget: "#%s"\\n---\\n%s\\n' $n $n > "$HZ_DRAFTS/$n.md"; done"""


class Killed(BaseException):
    """The process is gone."""


class Termed:
    """The leases of the embedded default, as if they had a term, and ended with it."""

    def __init__(self, world: World, until: int) -> None:
        self._real, self._until = world.leases, until
        self.over = False
        world.leases.extended = self.extended  # type: ignore[method-assign]
        world.leases.fence = self.fence  # type: ignore[method-assign]

    def extended(self, leases: Iterable[Lease], *, now: int) -> dict[str, Lease]:
        return {lease.job: lease._replace(expires_at=self._until) for lease in leases}

    @contextmanager
    def fence(self, lease: Lease) -> Iterator[Callable[[], None]]:
        def check() -> None:
            if self.over:
                raise LeaseOver(f"the lease of {lease.job} is over")

        check()
        yield check


def dies_before_it_sends(team: Team, now: int, *, until: int) -> None:
    """Approve under a lease that lasts until then, and die with the approval on record and nothing sent."""
    world = team.world(now)
    Termed(world, until)

    def create(kind: str, content: object, marker: str) -> str:
        raise Killed

    world.forge.create = create  # type: ignore[method-assign]
    with pytest.raises(Killed):
        page.tick(world, yes(team.only(), MONA, now), now=now)


def test_while_an_earlier_run_may_still_be_sending_nothing_is_tried(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    now, until = MONDAY + MINUTE, MONDAY + 70 * MINUTE
    dies_before_it_sends(team, now, until=until)
    assert team.only().attempted == {"at": now, "until": until, "generation": 2}

    team.tick(now + MINUTE)  # draws what stands there now
    tip, files = team.view().tip, team.bytes()
    waiting = team.tick(until + 119)
    assert (waiting.recorded, waiting.asked.question, team.bytes()) == (None, None, files)
    assert (team.view().tip == tip, waiting.leases, team.outbox()) == (True, {}, [])
    said = f"{team.only().id} waits until 30 Nov 10:12 UTC: an earlier run may still be sending it"
    assert said in words(waiting, team.world(0).config)

    sent = team.tick(until + 120)
    assert (team.outbox(), len(sent.published.rulings if sent.published else ())) == (["issue-1.md"], 1)
    assert team.view().proposals == {}
    assert team.tick(until + 180).published is None


def test_a_successor_puts_its_own_attempt_on_record_before_it_sends(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    dies_before_it_sends(team, MONDAY + MINUTE, until=MONDAY + 70 * MINUTE)
    later, until = MONDAY + 80 * MINUTE, MONDAY + 200 * MINUTE
    world = team.world(later)
    Termed(world, until)

    def create(kind: str, content: object, marker: str) -> str:
        raise Killed

    world.forge.create = create  # type: ignore[method-assign]
    with pytest.raises(Killed):
        page.tick(world, Heard(), now=later)
    assert team.only().attempted == {"at": later, "until": until, "generation": 3}
    team.tick(until + 119)
    assert team.outbox() == []
    team.tick(until + 120)
    assert team.outbox() == ["issue-1.md"]


def test_what_an_earlier_run_did_send_is_found_when_its_time_is_over(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    now, until = MONDAY + MINUTE, MONDAY + 70 * MINUTE
    world = team.world(now)
    Termed(world, until)
    real = world.forge.create

    def create(kind: str, content: Any, marker: str) -> str:
        real(kind, content, marker)
        raise Killed

    world.forge.create = create  # type: ignore[method-assign]
    with pytest.raises(Killed):
        page.tick(world, yes(team.only(), MONA, now), now=now)
    team.tick(until)
    assert (team.outbox(), team.steps()[-1]) == (["issue-1.md"], "approved")
    team.tick(until + 120)
    assert (team.outbox(), team.steps()[-1]) == (["issue-1.md"], "published")


def test_what_there_was_no_time_for_stays_approved_and_what_went_out_is_on_record(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step=EACH, publish="{comment: {each: issue}}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    now, until = MONDAY + MINUTE, MONDAY + 70 * MINUTE
    world = team.world(now)
    termed, real = Termed(world, until), world.forge.create

    def create(kind: str, content: Any, marker: str) -> str:
        termed.over = True
        return real(kind, content, marker)

    world.forge.create = create  # type: ignore[method-assign]
    story = page.tick(world, yes(team.only(), MONA, now), now=now)
    assert story.published
    assert (story.published.stopped, len(team.outbox())) == ("the lease of news is over", 1)
    assert [item["part"] for item in team.only().published] == [0]
    assert (team.steps()[-1], len(team.receipts()[-1]["published"])) == ("failed", 1)
    assert (team.only().state, team.only().attempted["until"]) == ("approved", until)
    team.tick(until + 120)
    assert (len(team.outbox()), team.view().proposals) == (3, {})


def test_a_double_is_not_closed_when_there_is_no_time_left(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    dies_before_it_sends(team, MONDAY + MINUTE, until=MONDAY + 2 * MINUTE)
    key = team.receipts()[-1]["idempotency_key"]
    now = MONDAY + 10 * MINUTE
    world = team.world(now)
    termed, real = Termed(world, MONDAY + HOUR), world.forge.find
    for title in ("one", "two"):
        world.forge.create("issue", {"title": title, "body": ""}, f"<!-- hz:key {key} -->")

    def find(kind: str, marker: str, *, target: str = "", since: int = 0) -> Found:
        termed.over = True
        return real(kind, marker, target=target, since=since)

    world.forge.find = find  # type: ignore[method-assign]
    story = page.tick(world, Heard(), now=now)
    assert story.published
    assert (story.published.stopped, story.published.rulings) == ("the lease of news is over", ())
    assert len(real("issue", f"<!-- hz:key {key} -->").refs) == 2


def test_a_lease_that_is_over_before_anything_is_sent_changes_nothing(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    world = team.world(MONDAY + MINUTE)
    Termed(world, MONDAY + HOUR).over = True
    story = page.tick(world, yes(team.only(), MONA, MONDAY + MINUTE), now=MONDAY + MINUTE)
    assert story.published
    assert (story.published.stopped, story.published.rulings, team.outbox()) == ("the lease of news is over", (), [])
    team.tick(MONDAY + HOUR + 2 * MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_a_working_tick_says_what_waits_as_well(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(), "links": job(on='{cron: "0 10 * * *"}')})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    dies_before_it_sends(team, MONDAY + MINUTE, until=MONDAY + 70 * MINUTE)
    name = team.only().id
    story = team.tick(MONDAY + HOUR)
    said = [line.text for line in account.tell(team.world(0), story).lines if line.phase == "plan"]
    assert said[-1] == f"{name} waits until 30 Nov 10:12 UTC: an earlier run may still be sending it"
    assert (sorted(story.leases), team.outbox()) == (["links"], [])
    assert team.page().count("UTC: an earlier run") == 0


def test_what_nobody_can_look_for_is_asked_about_when_its_time_is_over(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(publish='{webhook: {url: "http://127.0.0.1:9/in"}}')})
    team.write(".hz/hz.yaml", 'publish: {hosts: ["127.0.0.1:9"]}\n')
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    now, until = MONDAY + MINUTE, MONDAY + 70 * MINUTE
    world = team.world(now)
    Termed(world, until)

    class Cut:
        def send(self, request: object) -> Any:
            raise Killed

    with pytest.raises(Killed):
        page.tick(world._replace(http=Cut()), yes(team.only(), MONA, now), now=now)
    team.tick(until + 119)
    assert team.only().state == "approved"
    team.tick(until + 120)
    assert (team.only().state, team.steps()[-1]) == ("unknown", "failed")


def test_who_takes_a_yes_back_and_gives_it_again_does_not_end_the_doubt(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    until = MONDAY + 70 * MINUTE
    dies_before_it_sends(team, MONDAY + MINUTE, until=until)
    before = team.only().attempted
    team.tick(MONDAY + 2 * MINUTE, yes(team.only(), MONA, MONDAY + 2 * MINUTE, verb="withdraw"))
    assert (team.only().state, team.only().attempted) == ("awaiting", before)
    story = team.tick(MONDAY + 3 * MINUTE, yes(team.only(), MONA, MONDAY + 3 * MINUTE))
    assert (team.only().state, team.only().attempted, team.outbox()) == ("approved", before, [])
    assert story.published
    assert story.published.stopped.endswith("waits until 30 Nov 10:12 UTC: an earlier run may still be sending it")
    team.tick(until + 119)
    assert team.outbox() == []
    team.tick(until + 120)
    assert team.outbox() == ["issue-1.md"]


def test_a_successor_that_a_switch_held_back_makes_nobody_wait_for_it(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    dies_before_it_sends(team, MONDAY + MINUTE, until=MONDAY + 70 * MINUTE)
    later = MONDAY + 80 * MINUTE
    world = team.world(later)
    Termed(world, MONDAY + 200 * MINUTE)

    def stopped(name: str, asked: list[str] = []) -> str:  # noqa: B006  (it remembers that it was asked before)
        asked.append(name)
        return "paused on the dashboard" if len(asked) > 1 else ""

    page.tick(world._replace(stopped=stopped), Heard(), now=later)
    assert (team.only().attempted, team.outbox()) == ({"at": later}, [])
    team.tick(later + MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_one_lost_lease_keeps_no_other_job_from_recording_what_it_sent(tmp_path: Path) -> None:
    team = Team(tmp_path, {"links": job(), "news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    now = MONDAY + MINUTE
    said = Heard(answers=tuple(a for one in team.view().proposals.values() for a in yes(one, MONA, now).answers))
    world = team.world(now)
    Termed(world, MONDAY + HOUR)
    relied = leases_of_records(world)
    real = world.leases.holds
    world.leases.holds = lambda lease, *, now: lease.job != "news" and real(lease, now=now)  # type: ignore[method-assign]
    story = page.tick(world, said, now=now)
    assert story.published
    assert story.published.stopped == "the lease of news is not ours any more"
    assert relied == [["links", "news"], ["links"]]
    assert (team.outbox(), team.steps("links")[-1], team.only().job) == (["issue-1.md"], "published", "news")
    assert team.only().attempted["until"] == MONDAY + HOUR


def leases_of_records(world: World) -> list[list[str]]:
    """Note whose leases every record of this world relies on."""
    relied: list[list[str]] = []
    real = world.state.record

    def record(view: View, files: Mapping[str, bytes | None], message: str, **more: Any) -> View:
        relied.append(sorted(lease.job for lease in more["leases"]))
        return real(view, files, message, **more)

    world.state.record = record  # type: ignore[method-assign]
    return relied


@pytest.mark.parametrize("lost", [1, 2])
def test_who_lost_the_race_for_a_record_says_what_he_had(lost: int, tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(more="approve: write")})
    policy = "{owner: mona, job: news, kind: issue, target: here, until: 2027-01-01T00:00:00Z}"
    team.write(".hz/policies/auto-approve.yaml", f"- {policy}\n")
    team.tick(MONDAY - HOUR)
    world = team.world(MONDAY)
    real, records = world.state.record, list[str]()

    def record(view: View, files: Mapping[str, bytes | None], message: str, **more: Any) -> View:
        records.append(message)
        if len(records) == lost:
            raise TryAgain("the lease of news is not ours any more; nothing was recorded or published")
        return real(view, files, message, **more)

    world.state.record = record  # type: ignore[method-assign]
    with pytest.raises(TryAgain) as told:
        page.tick(world, Heard(), now=MONDAY)
    assert (
        str(told.value)
        == (
            'the lease of news is not ours any more; nothing was recorded or published; drafted in vain: news "News"',
            "issue-1 went out, and that is not on record, for another tick was faster or took over; the next one looks first",
        )[lost - 1]
    )
    team.tick(MONDAY + MINUTE)
    assert (team.outbox(), team.steps()[-1]) == (["issue-1.md"], "published")
