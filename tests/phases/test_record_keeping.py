"""What rides along with a record through whole ticks: sealing, folding, drafts that leave, signs of life."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import pytest

from hz_team import ledger
from hz_team.adapters.state import GitState
from hz_team.commands import assembly
from hz_team.commands.tick import once
from hz_team.errors import HzError
from hz_team.model.observation import Heard
from hz_team.model.receipt import Receipt, Runner
from hz_team.model.state import Folded, Position, document, stored
from hz_team.ports import Lease
from tests.git_server import bare, count_pushes
from tests.team import DAY, HOUR, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hz_team.model.state import View
    from hz_team.ports import State
    from hz_team.tick import Story

RUNNER = Runner("local", "mona", "0123456789ab", hz="0.1.0", python="3.11.9")


def fill(state: State, count: int, *, until: int = MONDAY - DAY) -> None:
    """Record so many receipts of one job, a minute apart."""
    view = state.fetch()
    receipts = [Receipt("old", "rendered", until - number * MINUTE) for number in reversed(range(count))]
    entries, positions = ledger.append(view.positions, receipts, RUNNER, {"old": Lease("old", "file:old", "t", 1, 0)})
    total, head = ledger.head(positions)
    files: dict[str, bytes | None] = {entry.path: entry.content for entry in entries}
    files["jobs/old.json"] = stored(document(positions["old"]))
    summary = {"v": 1, "count": total, "head": head, "repository": view.repository, "sealed": view.sealed}
    files["ledger.json"] = stored(summary)
    state.record(view, files, "fill\n")


def proved(state: State) -> View:
    """Return the state; its ledger verifies, segments and all."""
    view = state.fetch()
    assert ledger.verify(view, state.ledger(view), progress=lambda _: None).problems == ()
    return view


def listed(state: State) -> list[tuple[str, str]]:
    """Return every receipt there is, newest first."""
    return [(one["as_of"], name) for name, one in ledger.newest(state.receipts(state.fetch()), limit=0)]


def test_a_working_tick_seals_the_oldest_and_an_idle_one_writes_nothing(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(), "old": job(on="[poke]")})
    state = team.world(0).state
    fill(state, 1100)
    before = listed(state)
    team.tick(MONDAY - HOUR)
    view = proved(state)
    assert (view.count, view.sealed, len(team.on_branch("receipts"))) == (1100, 1000, 100)
    (segment,) = team.on_branch("segments")
    assert segment.startswith("segments/1-")
    assert listed(state) == before
    oldest = before[-1][1]
    assert [name for name, _ in ledger.found(state.receipts(view), oldest[:20])] == [oldest]
    team.tick(MONDAY - HOUR + MINUTE)
    assert state.fetch().tip == view.tip
    team.tick(MONDAY)
    assert (len(proved(state).positions), team.on_branch("segments")) == (2, [segment])
    assert len(listed(state)) == 1102


def test_far_too_many_are_sealed_in_one_tick_with_no_more_pushes(tmp_path: Path) -> None:
    remote = bare(tmp_path / "state.git")
    log = count_pushes(remote)
    machine = Machine(tmp_path / "ann", remote.as_uri(), "news")
    fill(machine.state, 3200)
    log.write_text("")
    machine.tick(MONDAY - HOUR)
    view = proved(machine.state)
    assert (view.sealed, view.count) == (3000, 3200)
    assert len(log.read_text().splitlines()) == 1
    numbers = [path.split("/")[1].split("-")[0] for path in machine.state.names(view, "segments")]
    assert numbers == ["1", "2", "3"]


def test_a_damaged_receipt_is_not_sealed(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    state = team.world(0).state
    fill(state, 1001)
    path = team.on_branch("receipts")[500]
    state.record(state.fetch(), {path: b"{}"}, "damage\n")
    team.tick(MONDAY - HOUR)
    assert (team.on_branch("segments"), state.fetch().sealed) == ([], 0)
    verdict = ledger.verify(state.fetch(), state.ledger(state.fetch()), progress=lambda _: None)
    assert any("was changed" in problem for problem in verdict.problems)


class Machine:
    """A machine that ticks against a shared state."""

    def __init__(self, root: Path, url: str, *jobs: str) -> None:
        self.team, self.url = Team(root, {name: job() for name in jobs}), url
        self.state = GitState(url, str(root / "look.git"), environ={**os.environ, "GIT_ALLOW_PROTOCOL": "file"})

    def tick(self, now: int, *, only: str = "", meanwhile: Callable[[], object] | None = None) -> Story:
        """Tick; `meanwhile` happens right before its first record."""
        options = Namespace(remote=self.url, now=None, login=None)
        world = assembly.open_world(str(self.team.root), options, now)._replace(only=only)
        if meanwhile:
            world = world._replace(state=Interrupted(world.state, meanwhile))
        return once(world, Heard(), now)


class Interrupted:
    """A state that others write right before its first record."""

    def __init__(self, state: State, meanwhile: Callable[[], object]) -> None:
        self._state, self._meanwhile = state, [meanwhile]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def record(self, view: View, files: Mapping[str, bytes | None], message: str, **more: Any) -> View:
        while self._meanwhile:
            self._meanwhile.pop()()
        return self._state.record(view, files, message, **more)


def test_of_two_that_seal_at_once_the_second_leaves_it_and_nothing_is_lost(tmp_path: Path) -> None:
    url = bare(tmp_path / "state.git").as_uri()
    ann, ben = (Machine(tmp_path / name, url, "a", "b") for name in ("ann", "ben"))
    ann.tick(MONDAY - HOUR)
    fill(ann.state, 2200)
    before = {name for _, name in listed(ann.state)}
    ben.tick(MONDAY, only="b", meanwhile=lambda: ann.tick(MONDAY, only="a"))
    view = proved(ann.state)
    assert before < {name for _, name in listed(ann.state)}
    assert (view.sealed, view.count) == (2000, 2204)
    assert len(ann.state.names(view, "segments")) == 2
    fill(ann.state, 900, until=MONDAY)
    ben.tick(MONDAY + DAY)
    view = proved(ann.state)
    assert (view.sealed, len(ann.state.names(view, "segments"))) == (3000, 3)
    assert before < {name for _, name in listed(ann.state)}


def test_what_another_seals_between_is_counted_by_who_replays(tmp_path: Path) -> None:
    url = bare(tmp_path / "state.git").as_uri()
    ann, ben = (Machine(tmp_path / name, url, "a", "b") for name in ("ann", "ben"))
    ann.tick(MONDAY - HOUR)

    def meanwhile() -> None:
        fill(ann.state, 1001)
        ann.tick(MONDAY, only="a")

    ben.tick(MONDAY, only="b", meanwhile=meanwhile)
    view = proved(ann.state)
    assert (view.sealed, view.count, set(view.positions)) == (1000, 1005, {"a", "b", "old"})


def gone(team: Team) -> Position:
    """A job that ran once, and whose file is gone."""
    team.write(".hz/hz.yaml", "timezone: UTC\n")
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.tick(MONDAY + MINUTE, yes(team.only(), "local:mona", MONDAY + MINUTE))
    team.remove("gone")
    return team.position("gone")


def test_a_job_that_is_gone_is_marked_folded_and_goes_on_when_it_is_back(tmp_path: Path) -> None:
    team = Team(tmp_path, {"gone": job()})
    before = gone(team)
    state = team.world(0).state
    tip = state.fetch().tip
    team.tick(MONDAY + HOUR)
    assert state.fetch().tip == tip  # that alone is no reason to write
    team.write("news", job(on="[poke]"))
    team.tick(MONDAY + 2 * HOUR)
    assert team.position("gone").gone_at == MONDAY + 2 * HOUR
    team.write("more", job(on="[poke]"))
    team.tick(MONDAY + 2 * HOUR + 90 * DAY - 1)
    assert "gone" in team.view().positions
    team.write("most", job(on="[poke]"))
    team.tick(MONDAY + 2 * HOUR + 90 * DAY)
    view = proved(state)
    assert view.folded == {"gone": Folded(before.seq, before.last, before.lease_generation)}
    assert ("gone" in view.positions, view.count) == (False, before.seq)
    assert "jobs/.folded.json" in team.on_branch("jobs")
    assert "jobs/gone.json" not in team.on_branch("jobs")
    team.write("gone", job())
    now = MONDAY + 200 * DAY
    team.tick(now - HOUR)
    back = proved(state)
    assert (back.folded, "jobs/.folded.json" in team.on_branch("jobs")) == ({}, False)
    assert (back.positions["gone"].seq, back.positions["gone"].gone_at) == (before.seq, 0)
    team.tick(now)
    assert team.position("gone").seq == before.seq + 2
    assert team.receipts("gone")[-2]["prev"] == before.last
    assert team.receipts("gone")[-1]["lease"]["generation"] > before.lease_generation


def test_a_job_that_is_back_is_not_marked_any_more(tmp_path: Path) -> None:
    team = Team(tmp_path, {"gone": job()})
    gone(team)
    team.write("news", job(on="[poke]"))
    team.tick(MONDAY + 2 * HOUR)
    team.write("gone", "on: [")
    team.write("more", job(on="[poke]"))
    team.tick(MONDAY + 3 * HOUR)
    assert team.position("gone").gone_at == 0  # an invalid file is a file


def test_a_job_with_an_open_proposal_is_not_folded(tmp_path: Path) -> None:
    team = Team(tmp_path, {"gone": job(more="approve: {by: write, expires: 200d}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.remove("gone")
    for day in (1, 100):
        team.write(f"news-{day}", job(on="[poke]"))
        team.tick(MONDAY + day * DAY)
    assert team.position("gone").gone_at == MONDAY + DAY
    assert team.view().folded == {}


def test_drafts_of_closed_proposals_leave_after_90_days(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step='run: date +%s%N > "$HZ_DRAFT"')})
    team.tick(MONDAY - HOUR)
    drafts = []
    for day in (0, 1, 92):
        team.tick(MONDAY + day * DAY)
        drafts.append(team.only().digest)
        assert (len(team.on_branch("closed")) == 1) == (day > 0)
        now = MONDAY + day * DAY + MINUTE
        team.tick(now, yes(team.only(), "local:mona", now, verb="reject"))
    left = {path.rpartition("/")[2].removesuffix(".json") for path in team.on_branch("drafts")}
    assert left == {drafts[2]}
    shelf = json.loads(team.git("show", "refs/heads/hz-state:closed/news.json"))
    assert shelf == {"v": 1, "drafts": {drafts[2]: "2027-03-02"}}


def test_a_draft_that_was_never_proposed_is_put_on_the_shelf(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job().replace('publish: {issue: {title: "News"}}\n', "")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    (path,) = team.on_branch("drafts")
    shelf = json.loads(team.git("show", "refs/heads/hz-state:closed/news.json"))
    assert shelf["drafts"] == {path.rpartition("/")[2].removesuffix(".json"): "2026-11-30"}


def test_signs_of_life_ride_along(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    (path,) = team.on_branch("fleet")
    life = json.loads(team.git("show", f"refs/heads/hz-state:{path}"))
    assert (life["at"], life["kind"], path) == (MONDAY - HOUR, "local", f"fleet/{life['who']}@{life['host']}.json")
    tip = team.view().tip
    team.tick(MONDAY - MINUTE)
    assert team.view().tip == tip
    team.tick(MONDAY)
    assert json.loads(team.git("show", f"refs/heads/hz-state:{path}"))["at"] == MONDAY


def test_a_state_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    state = team.world(0).state
    with pytest.raises(HzError, match=r"jobs/.folded.json .* format 2"):
        state.record(state.fetch(), {"jobs/.folded.json": b'{"v": 2}'}, "newer\n")
    with pytest.raises(HzError, match=r"jobs/.folded.json .* cannot be read"):
        state.record(state.fetch(), {"jobs/.folded.json": b'{"v": 1, "jobs": {"a": 3}}'}, "broken\n")
