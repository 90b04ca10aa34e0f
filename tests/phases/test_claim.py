"""claim: one push takes every lease, and what was asked for is on record before anybody acts on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hz_team import tick as page
from hz_team.errors import Behind, RemoteError, TryAgain
from hz_team.model.observation import Heard
from hz_team.phases.claim import claim, known
from hz_team.ports import Granted, Known, Lease
from tests.team import HOUR, MINUTE, MONDAY, Team, job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hz_team.model.state import View
    from hz_team.ports import Claim, World


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path, {"news": job(on='[{cron: "0 9 * * *"}, poke]'), "links": job()})


def asked(world: World, answer: Callable[[Claim], Granted] | None = None) -> list[Claim]:
    """Note every claim that is made in this world; `answer` instead of the real leases."""
    claims: list[Claim] = []
    real = world.leases.acquire

    def acquire(one: Claim) -> Granted:
        claims.append(one)
        return (answer or real)(one)

    world.leases.acquire = acquire  # type: ignore[assignment,method-assign]
    return claims


def test_one_claim_names_every_job_of_the_plan_with_what_the_state_says_of_it(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    world = team.world(MONDAY + 24 * HOUR)
    claims = asked(world)
    page.tick(world, Heard(), now=MONDAY + 24 * HOUR)
    (one,) = claims
    assert one.jobs == {"links": Known(1, 2), "news": Known(1, 2)}
    assert (one.ledger.count, one.mode, one.gone, one.riding) == (4, "full", {}, None)
    assert team.position().lease_generation == 2


def test_a_job_without_a_file_is_named_as_gone_and_an_invalid_one_is_not(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.remove("links")
    team.write("news2", job())
    world = team.world(MONDAY + 24 * HOUR)
    claims = asked(world)
    page.tick(world, Heard(), now=MONDAY + 24 * HOUR)
    assert claims[0].gone == {"links": Known(1, 2)}
    team.write("links", "on: [nonsense\n")
    world = team.world(MONDAY + 48 * HOUR)
    claims = asked(world)
    page.tick(world, Heard(), now=MONDAY + 48 * HOUR)
    assert claims[0].gone == {}


def test_what_was_asked_for_is_on_record_before_anything_is_drafted(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    now = MONDAY - 30 * MINUTE
    world, poked = team.world(now), team.poke(now)
    story = page.take(world, page.look(world, poked, now=now))
    (poke,) = poked.pokes
    assert team.on_branch("wakes") == [f"wakes/news/{poke.id}.json"]
    assert [one.id for one in story.after.wakes] == [poke.id]
    done = page.conclude(world, page.make(world, story))
    world.leases.release(done.leases.values())
    assert len(done.orders) == 1
    assert "wakes" not in team.git("ls-tree", "--name-only", "refs/heads/hz-state").split()
    assert poke.id in team.position().wakes


def test_a_tick_that_dies_after_its_claim_leaves_what_was_asked_for_to_the_next(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    now = MONDAY - 30 * MINUTE
    world = team.world(now)
    story = page.take(world, page.look(world, team.poke(now), now=now))
    world.leases.release(story.leases.values())  # as the kernel does
    assert [order.cause for order in team.tick(now + MINUTE).orders] == ["manual"]
    assert team.tick(now + 2 * MINUTE).orders == ()


def test_what_rode_along_with_the_claim_is_not_recorded_again(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    now = MONDAY - 30 * MINUTE
    world = team.world(now)
    real = world.leases.acquire

    def riding(one: Claim) -> Granted:
        assert one.riding
        recorded = world.state.record(one.riding.view, one.riding.files, one.riding.message)
        return real(one)._replace(view=recorded)

    asked(world, riding)
    story = page.take(world, page.look(world, team.poke(now), now=now))
    assert team.git("rev-list", "--count", "refs/heads/hz-state").strip() == "2"
    assert len(story.after.wakes) == 1


def test_a_lease_whose_ref_was_made_counts_only_if_the_job_stands_where_it_was_read(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    world = team.world(MONDAY)
    seen = page.look(world, Heard(), now=MONDAY)
    team.tick(MONDAY, only="news")  # another tick, between our look and our claim
    given: list[str] = []

    def made(one: Claim) -> Granted:
        leases = real(one).leases
        given.extend(leases)
        return Granted({name: lease._replace(made=True) for name, lease in leases.items()})

    real = world.leases.acquire
    asked(world, made)
    claimed = claim(world, seen.before, seen.plan, MONDAY)
    assert (sorted(given), sorted(claimed.leases)) == (["links", "news"], ["links"])


def test_a_lease_that_knows_more_receipts_halts_the_tick_unless_another_recorded_meanwhile(team: Team) -> None:
    def longer(one: Claim) -> Granted:
        raise Behind("the lease of news knows 7 receipts, the ledger has 0")

    team.tick(MONDAY - HOUR)
    world = team.world(MONDAY)
    asked(world, longer)
    story = page.tick(world, Heard(), now=MONDAY)
    assert (story.behind, story.halted, story.recorded) == (
        True,
        "the lease of news knows 7 receipts, the ledger has 0",
        None,
    )

    world = team.world(MONDAY)
    seen = page.look(world, Heard(), now=MONDAY)
    team.tick(MONDAY)
    asked(world, longer)
    with pytest.raises(TryAgain, match="another tick recorded meanwhile"):
        page.take(world, seen)


def test_what_is_known_of_a_job_survives_the_folding_of_its_position(team: Team) -> None:
    from hz_team.model.state import Folded, Position, View

    view = View("", positions={"news": Position("news", seq=3, lease_generation=2)}, folded={"old": Folded(9, "ab", 4)})
    assert [known(view, name) for name in ("news", "old", "new")] == [Known(2, 3), Known(4, 9), Known()]


def test_nothing_is_claimed_when_nothing_is_planned(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    world = team.world(MONDAY - 30 * MINUTE)
    claims: list[Any] = asked(world)
    page.tick(world, Heard(), now=MONDAY - 30 * MINUTE)
    assert claims == []


def test_what_was_taken_is_given_back_if_the_state_cannot_be_asked_again(team: Team) -> None:
    team.tick(MONDAY - HOUR)
    world = team.world(MONDAY)
    given: list[str] = []
    real = world.leases.release

    def release(leases: Any) -> None:
        given.extend(lease.job for lease in leases)
        real(leases)

    def answer(one: Claim) -> Granted:
        leases = {name: Lease(name, "", "1", 2, 0, made=True) for name in one.jobs}
        world.state.fetch = unreachable  # type: ignore[method-assign]
        return Granted(leases)

    def unreachable() -> View:
        raise RemoteError("the connection was cut")

    world.leases.release = release  # type: ignore[method-assign]
    asked(world, answer)
    with pytest.raises(RemoteError):
        page.tick(world, Heard(), now=MONDAY)
    assert sorted(given) == ["links", "news"]
