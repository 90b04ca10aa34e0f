"""What people said on pages: only boxes the renderer placed, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.team import HOUR, MINUTE, MONDAY, Team, job

if TYPE_CHECKING:
    from pathlib import Path


def drafted(tmp_path: Path) -> Team:
    team = Team(tmp_path, {"news": job(more="inputs: {who: {required: true}}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    return team


def test_pages_as_they_were_drawn_say_nothing(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    heard = team.tick(MONDAY + MINUTE).seen.heard
    assert (heard.answers, heard.rows, set(heard.pages)) == ((), (), {"dashboard", team.only().id})


def test_a_box_that_a_person_wrote_counts_for_nothing(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name, digest = team.only().id, team.only().digest[:12]
    team.edit("dashboard", "## Helpers", f"- [x] <!-- hz:reject {name} {digest} -->\n\n## Helpers")
    story = team.tick(MONDAY + MINUTE)
    assert (story.seen.heard.answers, story.recorded) == ((), None)


def test_a_doubled_row_voids_both(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.box("approve", name)
    line = next(line for line in team.page().splitlines() if f"hz:approve {name}" in line)
    team.edit("dashboard", line, f"{line}\n{line}")
    assert team.tick(MONDAY + MINUTE).seen.heard.answers == ()
    assert team.outbox() == []


def test_words_of_no_consequence_are_read_once(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.edit("dashboard", "## Helpers", "(call me)\n\n## Helpers")
    team.tick(MONDAY + MINUTE)
    tip = team.view().tip
    assert team.tick(MONDAY + 2 * MINUTE).recorded is None
    assert team.view().tip == tip


def test_a_page_without_its_lines_takes_only_a_no_and_is_drawn_again(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.edit(name, "<!-- hz:end -->", "")
    team.box("approve", name, page=name)
    story = team.tick(MONDAY + MINUTE)
    assert (team.outbox(), "the lines around the draft are gone" in " ".join(story.seen.heard.refused)) == ([], True)
    assert "<!-- hz:end -->" in team.page(name)


def test_a_run_box_of_a_job_that_needs_an_input_says_how(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.box("run", "news")
    story = team.tick(MONDAY + MINUTE)
    assert (story.seen.heard.pokes, "--input who=" in story.seen.heard.refused[0]) == ((), True)


def test_a_retry_box_of_an_earlier_parking_counts_for_nothing(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step="run: exit 1", more="retries: 0")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.edit("dashboard", "[ ] <!-- hz:retry news 1", "[x] <!-- hz:retry news 7")
    assert team.tick(MONDAY + MINUTE).seen.heard.retries == ()


def test_windows_line_ends_and_a_large_x_are_a_tick(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    text = team.page().replace(f"[ ] <!-- hz:approve {team.only().id}", f"[X] <!-- hz:approve {team.only().id}")
    team.file().write_bytes(text.replace("\n", "\r\n").encode())
    team.tick(MONDAY + MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_a_page_that_is_not_utf8_stops_nothing_and_is_not_lost(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(), "other": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    broken, fine = sorted(team.view().proposals.values(), key=lambda one: one.job)
    team.box("approve", fine.id, page=fine.id)
    team.box("approve", broken.id, page=broken.id)
    content = team.file(broken.id).read_bytes() + "Grüße".encode("latin-1")
    team.file(broken.id).write_bytes(content)
    story = team.tick(MONDAY + MINUTE)
    assert story.seen.heard.refused[0].startswith(f"{broken.id}.md is not UTF-8, so nothing on it was taken")
    assert team.only().id == broken.id
    assert team.outbox() == ["issue-1.md"]
    assert team.file(f"{broken.id}.bad").read_bytes() == content
    assert "- [ ] <!-- hz:approve" in team.page(broken.id)
    team.box("approve", broken.id, page=broken.id)
    team.tick(MONDAY + 2 * MINUTE)
    assert team.view().proposals == {}


def test_a_dashboard_that_is_not_utf8_is_drawn_again(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    drawn = team.page()
    team.file().write_bytes(b"\xff\xfe")
    story = team.tick(MONDAY + MINUTE)
    assert "DASHBOARD.md is not UTF-8" in story.seen.heard.refused[0]
    assert team.page() == drawn
    assert (tmp_path / ".hz/local/DASHBOARD.bad.md").read_bytes() == b"\xff\xfe"
    assert team.tick(MONDAY + 2 * MINUTE).seen.heard.refused == ()
