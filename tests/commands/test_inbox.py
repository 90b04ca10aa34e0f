"""`hz-team inbox`: the same answers without an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.commands.terminal import HELLO, LATER, MONDAY, NOON, Team

if TYPE_CHECKING:
    from pathlib import Path

FAILING = """\
on: {cron: "0 9 * * MON"}
steps:
  - run: |
      echo "one"; echo "the last words" >&2; exit 3
publish: {issue: {}}
retries: 0
"""


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A team whose one helper has drafted."""
    made = Team(tmp_path)
    made.job("hello")
    made.tick(NOON)
    made.tick(MONDAY)
    return made


def answer(team: Team, *words: str, code: int = 0, now: str = LATER) -> str:
    run = team.hz("inbox", *words, "--now", now, code=code)
    return run.said if code else run.out


def test_list_and_show(team: Team) -> None:
    (name,) = team.waiting
    assert answer(team).splitlines() == [
        "id          title  helper  state    until",
        f"{name}  Hello  hello   waiting  Mon 14 Dec 2026 09:01 UTC",
    ]
    assert answer(team, "show", name) == team.page(name) + "\n"
    assert answer(team, "show", name[2:6]) == team.page(name) + "\n"
    before = team.contents()
    assert team.hz("inbox", "show", name, "--json").json["draft"]["body"] == "hello"
    assert team.contents() == before


def test_approve_by_the_first_digits(team: Team) -> None:
    (name,) = team.waiting
    out = answer(team, "approve", name[:5])
    assert f"  wake     you said yes to {name}\n" in out
    assert f"  approve  {name}    by you, bound to " in out
    assert "  record   1 receipt     before anything leaves\n" in out
    assert team.out == ["issue-1.md"]
    assert answer(team) == "Nothing is waiting for you.\n"
    assert "no open decision has this id" in answer(team, "approve", name, code=2)
    (yes,) = team.receipts("approved")
    assert [(one["via"], one["role"]) for one in yes["approval"]] == [("command", "local")]


def test_reject_with_a_reason(team: Team) -> None:
    (name,) = team.waiting
    out = answer(team, "reject", name, "last", "week's", "again")
    assert f"  wake     you said no to {name}\n" in out
    assert f"  approve  {name}    no, from you\n" in out
    assert (team.out, team.waiting) == ([], [])
    assert "last week’s again" in team.board or "last week's again" in team.board
    assert team.receipts("rejected")[0]["reason"] == "last week's again"


def test_redraft_with_a_note(team: Team) -> None:
    team.job("hello", HELLO.replace('echo "hello"', 'cat "$HZ_NOTE"'))
    (name,) = team.waiting
    assert "needs a note behind the id" in answer(team, "redraft", name, code=2)
    out = answer(team, "redraft", name, "make it shorter")
    assert f"  approve  {name}    another draft is wanted by you\n" in out
    assert f"  wake     you asked for another {name}\n" in out
    assert "is written again for you\n" in out
    assert team.waiting == [name]
    assert "make it shorter" in team.page(name)
    answer(team, "approve", name, now="2026-11-30T09:10:00Z")
    assert "make it shorter" in team.published("issue-1")


@pytest.mark.parametrize("verb", ["show", "approve", "reject", "redraft", "retry", "arrived", "again"])
def test_wrong_ids(team: Team, verb: str) -> None:
    before = team.contents()
    assert f"inbox {verb} needs an id" in answer(team, verb, code=2)
    expected = "zzz is not parked" if verb == "retry" else "zzz: no open decision has this id"
    assert expected in answer(team, verb, "zzz", "note", code=2)
    assert team.contents() == before


def test_several_begin_so(tmp_path: Path) -> None:
    team = Team(tmp_path)
    for number in range(2):
        team.job(f"hello-{number}")
    team.tick(NOON)
    team.tick(MONDAY)
    first, second = sorted(team.waiting)
    said = answer(team, "approve", "p-", code=2)
    assert said.startswith("hz-team: p-: 2 decisions begin so (")
    assert first in said
    assert second in said
    assert team.out == []


def test_retry_of_a_parked_helper(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("broken", FAILING)
    team.tick(NOON)
    ran = team.tick(MONDAY)
    assert "  failed   broken: .hz/jobs/broken.yaml:3: step 1 (run) ended with 3\n" in ran.out
    assert "           | the last words\n" in ran.out
    assert "the last words" in team.board
    assert team.receipts("failed")[0]["reason"].endswith("the last words")
    assert "after a retry" in team.hz("jobs").out or "parked" in team.hz("jobs").out
    assert team.tick("2026-12-07T09:01:00Z").out.count("failed") == 0
    out = answer(team, "retry", "broken", now="2026-12-07T09:02:00Z")
    assert "  wake     you asked to try broken again\n" in out
    assert len(team.receipts("failed")) == 2


def test_a_login_answers_under_its_own_name(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello", HELLO + "approve: [octocat]\n")
    team.tick(NOON)
    team.tick(MONDAY)
    (name,) = team.waiting
    out = answer(team, "approve", name)
    assert f"  approve  {name}    not taken, you: " in out
    assert team.out == []
    out = answer(team, "approve", name, "--as", "octocat", now="2026-11-30T09:10:00Z")
    assert f"  wake     octocat said yes to {name}\n" in out
    assert team.out == ["issue-1.md"]


def test_page_note_and_edit_in_one_go(team: Team) -> None:
    (name,) = team.waiting
    path = team.local / "inbox" / f"{name}.md"
    path.write_text(path.read_text().replace("\nhello\n", "\nhello, world\n"))
    team.tick_box("approve", f"inbox/{name}.md")
    out = team.tick(LATER).out
    assert f"  wake     you edited {name}\n" in out
    assert f"           you ticked {name}\n" in out
    assert team.published("issue-1").endswith("\n\nhello, world\n")


def test_untick_takes_the_yes_back(team: Team) -> None:
    name = team.tick_box()
    assert "held back: not published because of --no-publish" in team.tick(LATER, "--no-publish").out
    assert team.out == []
    board = team.local / "DASHBOARD.md"
    text = board.read_text()
    assert f"- [x] <!-- hz:approve {name}" in text
    board.write_text(text.replace("- [x] <!-- hz:approve", "- [ ] <!-- hz:approve"))
    assert f"  wake     you took the yes to {name} back\n" in team.tick("2026-11-30T09:10:00Z").out
    assert (team.out, team.waiting) == ([], [name])


def test_a_write_that_was_refused_is_told_and_tried_again(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.write(".hz/hz.yaml", 'publish: {hosts: ["127.0.0.1:9"]}\n')
    hook = HELLO.replace('issue: {title: "Hello"}', 'webhook: {url: "http://127.0.0.1:9/x"}')
    team.job("hook", hook)
    team.tick(NOON)
    team.tick(MONDAY)
    (name,) = team.waiting
    out = answer(team, "approve", name)
    assert f"  failed   {name}: not published, nothing was sent: 127.0.0.1 cannot be reached (refused)\n" in out
    assert "  publish  webhook       not published\n" in out
    assert "not published" in answer(team)
    assert "hz:retry " in team.board
    assert team.tick("2026-11-30T09:10:00Z").out.startswith("Nothing due, 1 approved and not published. Next: ")
    assert "you asked to try" in answer(team, "retry", name, now="2026-11-30T09:15:00Z")
    assert len(team.receipts("failed")) == 2


def test_all_boxes_at_once_leave_out_what_cannot_be_undone(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.write(".hz/hz.yaml", 'publish: {hosts: ["127.0.0.1:9"]}\n')
    team.job("hook", HELLO.replace('issue: {title: "Hello"}', 'webhook: {url: "http://127.0.0.1:9/x"}'))
    for number in range(2):
        team.job(f"hello-{number}")
    team.tick(NOON)
    team.tick(MONDAY)
    assert "Publish both boxes above, exactly as they stand now" in team.board
    team.tick_box("approve-all")
    team.tick(LATER)
    assert team.out == ["issue-1.md", "issue-2.md"]
    assert len(team.waiting) == 1


def test_nobody_answers(team: Team) -> None:
    (name,) = team.waiting
    assert "until 14 Dec" in team.board
    out = team.tick("2026-12-14T09:02:00Z").out
    assert f"  approve  {name}    nobody answered in time\n" in out
    assert name not in team.waiting
    assert team.receipts("expired")[0]["proposal"] == name
    assert team.out == []
