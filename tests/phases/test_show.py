"""Pages: drawn when they differ, never over what a person did in the meantime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team import pages
from hz_team.commands.tick import once
from hz_team.model.observation import Heard
from hz_team.phases.show import show
from tests.team import DAY, HOUR, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hz_team.ports import World


def drafted(tmp_path: Path, **more: str) -> Team:
    team = Team(tmp_path, {"news": job(**more), "other": job(on="poke")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    return team


def late(team: Team, now: int, act: Callable[[], None], said: Heard, **more: Any) -> None:
    """Tick, and let a person act after the tick has read the pages and before it draws them."""
    world = team.world(now, **more)
    real = world.state.record
    acted: list[int] = []

    def record(view: object, files: object, message: str, **more: object) -> object:
        if not acted:
            acted.append(now)
            act()
        return real(view, files, message, **more)  # type: ignore[arg-type]

    world.state.record = record  # type: ignore[assignment,method-assign]
    once(world, said, now)
    assert acted


def test_a_tick_made_on_the_dashboard_during_a_tick_is_kept_and_counts_in_the_next(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    late(team, MONDAY + MINUTE, lambda: team.box("approve", name), team.poke(MONDAY + MINUTE, "other"))
    assert f"[x] <!-- hz:approve {name}" in team.page()
    assert team.outbox() == []
    team.tick(MONDAY + 2 * MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_an_untick_during_a_tick_is_kept_too(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.tick(MONDAY + MINUTE, yes(team.only(), "local:mona", MONDAY + MINUTE), publishing=False)
    now = MONDAY + 2 * MINUTE
    late(team, now, lambda: team.box("approve", name, mark=" "), team.poke(now, "other"), publishing=False)
    assert f"[ ] <!-- hz:approve {name}" in team.page()
    team.tick(MONDAY + 3 * MINUTE)
    assert (team.outbox(), team.view().proposals[name].state) == ([], "awaiting")


def test_an_edit_made_during_a_tick_is_left_to_the_next(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    late(team, MONDAY + MINUTE, lambda: team.edit(name, "hello", "good morning"), team.poke(MONDAY + MINUTE, "other"))
    assert "good morning" in team.page(name)
    team.tick(MONDAY + 2 * MINUTE)
    proposal = team.view().proposals[name]
    assert team.draft(proposal.digest)["body"] == "good morning"


def test_a_box_that_was_read_is_drawn_anew(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.box("run", "other")
    team.tick(MONDAY + MINUTE)
    assert "[ ] <!-- hz:run other" in team.page()
    assert team.tick(MONDAY + 2 * MINUTE).plan.orders == ()


def test_boxes_of_a_further_page_are_read_once(tmp_path: Path) -> None:
    team = Team(tmp_path, {f"job-{'x' * 40}-{n:03}": job(on="poke") for n in range(90)})
    team.tick(MONDAY)
    assert team.file("dashboard-2").exists()
    assert "further pages" in team.page()
    name = f"job-{'x' * 40}-089"
    team.box("run", name, page="dashboard-2")
    assert [order.job for order in team.tick(MONDAY + MINUTE).plan.orders] == [name]
    assert f"[ ] <!-- hz:run {name}" in team.page("dashboard-2")
    assert team.tick(MONDAY + 2 * MINUTE).plan.orders == ()


def test_decisions_on_further_pages_are_linked(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    world, view = team.world(MONDAY), team.view()
    one = team.only()
    many = {f"p-{n:08x}": one._replace(id=f"p-{n:08x}", created_at=MONDAY + n) for n in range(40)}
    drawn = pages.texts(world, view._replace(proposals=many), pages.drafts_of(world, view))
    assert "[page 2](DASHBOARD-2.md)" in drawn["dashboard"]
    assert set(drawn) == {"dashboard", "dashboard-2", *many}


def test_a_decision_on_a_further_page_is_answered_there(tmp_path: Path) -> None:
    step = """run: |\n      for n in $(seq 14); do printf -- '---\\ntitle: "Item %s"\\n---\\nhello\\n' $n > "$HZ_DRAFTS/$n.md"; done"""
    files = {name: job(step=step, publish="{issue: {}}") for name in ("news", "other")}
    team = Team(tmp_path, {**files, ".hz/hz.yaml": "timezone: UTC\n"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    first, second = team.page(), team.page("dashboard-2")
    assert (first.count("hz:approve p-"), second.count("hz:approve p-"), "**28 decisions" in first) == (25, 3, True)
    name = second.partition("hz:approve ")[2].split()[0]
    team.box("approve", name, page="dashboard-2")
    team.tick(MONDAY + MINUTE)
    assert (team.outbox(), len(team.view().proposals)) == (["issue-1.md"], 27)
    assert team.page("dashboard-2").count("hz:approve p-") == 2


def test_a_page_that_is_lost_is_drawn_again_and_a_closed_one_goes(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.file().unlink()
    team.file(name).unlink()
    team.tick(MONDAY + MINUTE)
    assert (team.file().exists(), team.file(name).exists()) == (True, True)
    team.tick(MONDAY + 2 * MINUTE, yes(team.only(), "local:mona", MONDAY + 2 * MINUTE, verb="reject"))
    assert not team.file(name).exists()


def test_what_is_as_it_should_be_is_not_written(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    world, view = team.world(MONDAY), team.view()
    heard = Heard(pages={name: world_page(world, name) for name in world.forge.pages()})
    assert show(world, view, heard).wrote == ()


def world_page(world: World, name: str) -> str:
    page = world.forge.page(name)
    assert page
    return page.text


def test_a_dashboard_that_vouches_for_a_longer_ledger_is_not_replaced(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.edit("dashboard", "2 receipts, head", "12 receipts, head")
    before = team.page()
    view = team.view()
    shown = show(team.world(MONDAY + DAY), view, Heard())
    said = f"the dashboard vouches for 12 receipts (head {view.head[:12]}), the ledger has 2: it is left alone"
    assert (team.page(), shown.note) == (before, said)


def test_a_dashboard_of_a_ledger_that_was_accepted_shorter_is_replaced_and_one_of_a_later_one_is_not(
    tmp_path: Path,
) -> None:
    team = drafted(tmp_path)
    team.edit("dashboard", "2 receipts, head", "12 receipts, head")
    view = team.view()
    assert show(team.world(MONDAY + DAY), view._replace(era=1), Heard()).note == ""
    assert "- 2 receipts after 1 accepted loss, head" in team.page()
    before = team.page()
    shown = show(team.world(MONDAY + DAY), view, Heard())
    assert (team.page(), "and is from before that: it is left alone" in shown.note) == (before, True)


def test_resume_by_command_is_not_undone_by_the_box_as_it_was_drawn(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.tick(MONDAY + MINUTE, Heard(pause=(True, "local:mona")))
    assert "[x] <!-- hz:pause -->" in team.page()
    team.tick(MONDAY + 2 * MINUTE, Heard(pause=(False, "local:mona")))
    assert "[ ] <!-- hz:pause -->" in team.page()
    team.tick(MONDAY + 3 * MINUTE)
    assert team.view().paused == {}
