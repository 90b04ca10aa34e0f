"""What answers, edits, policies and time come to, over whole ticks on a real root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team.model.observation import Heard
from tests.team import DAY, HOUR, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from pathlib import Path

MONA, HUBOT = "local:mona", "hubot"
NOTES = '{notes: {type: files, paths: ["notes/*.md"], every: 1m}}'
POLICY = "- {owner: mona, job: news, kind: issue, target: '*', until: 2027-01-01}\n"


def drafted(tmp_path: Path, **more: str) -> Team:
    """One draft waits since Monday nine o'clock."""
    team = Team(tmp_path, {"news": job(**more), ".hz/hz.yaml": "timezone: UTC\n"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert team.steps() == ["rendered", "awaiting_approval"]
    return team


def test_a_yes_on_the_page_publishes_exactly_that_text_once(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    proposal = team.only()
    team.box("approve", proposal.id, page=proposal.id)
    team.tick(MONDAY + MINUTE)
    approved, published = team.receipts()[2:]
    assert (approved["disposition"], published["disposition"]) == ("approved", "published")
    assert (approved["draft"], approved["idempotency_key"]) == (proposal.digest, published["idempotency_key"])
    (said,) = approved["approval"]
    assert (said["by"][:6], said["role"], said["via"], said["ref"]) == ("local:", "local", "page", proposal.id)
    assert said["digest"] == proposal.digest
    assert (team.outbox(), "hello" in team.sent()) == (["issue-1.md"], True)
    tip = team.view().tip
    team.tick(MONDAY + 2 * MINUTE)
    assert (team.view().tip, team.outbox()) == (tip, ["issue-1.md"])


def test_an_edit_alone_waits_under_the_editors_name(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    old = team.only()
    team.edit(old.id, "hello", "good morning")
    team.tick(MONDAY + MINUTE)
    new = team.only()
    assert (new.id, new.key, new.state) == (old.id, old.key, "awaiting")
    assert new.digest != old.digest
    assert new.author.startswith("local:")
    assert team.draft(new.digest)["body"] == "good morning"
    assert team.steps()[-1] == "awaiting_approval"
    assert ("good morning" in team.page(old.id), team.outbox()) == (True, [])


def test_an_edit_and_a_tick_in_one_save_go_out_as_the_editor_wrote_it(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.edit(name, "hello", "good morning")
    team.box("approve", name, page=name)
    team.tick(MONDAY + MINUTE)
    assert team.steps()[2:] == ["awaiting_approval", "approved", "published"]
    assert "good morning" in team.sent()
    approved = team.receipts()[3]
    assert approved["approval"][0]["digest"] == approved["draft"] == team.receipts()[2]["draft"]


def test_a_yes_on_the_dashboard_is_void_when_the_page_was_edited_meanwhile(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.edit(name, "hello", "good morning")
    team.box("approve", name)
    team.tick(MONDAY + MINUTE)
    assert team.steps()[2:] == ["awaiting_approval", "refused"]
    assert "changed since" in team.receipts()[-1]["reason"]
    assert (team.outbox(), "not taken: changed since" in team.page(name)) == ([], True)
    assert f"[ ] <!-- hz:approve {name}" in team.page()


def test_an_edit_voids_the_yeses_given_before(tmp_path: Path) -> None:
    team = drafted(tmp_path, more="approve: {by: write, need: 2}")
    team.tick(MONDAY + MINUTE, yes(team.only(), HUBOT, MONDAY + MINUTE))
    assert len(team.only().answers) == 1
    team.edit(team.only().id, "hello", "good morning")
    team.tick(MONDAY + 2 * MINUTE)
    assert team.only().answers == ()


def test_two_people_are_needed(tmp_path: Path) -> None:
    team = drafted(tmp_path, more="approve: {by: write, need: 2}")
    for number in (1, 2):
        now = MONDAY + number * MINUTE
        team.tick(now, yes(team.only(), MONA, now))
    assert (team.steps()[2:], team.outbox()) == (["answered"], [])
    team.tick(MONDAY + 3 * MINUTE, yes(team.only(), HUBOT, MONDAY + 3 * MINUTE))
    assert team.steps()[2:] == ["answered", "approved", "published"]
    assert [one["by"] for one in team.receipts()[3]["approval"]] == [MONA, HUBOT]


def test_an_answer_that_is_taken_clears_what_was_not_taken_before(tmp_path: Path) -> None:
    team = drafted(tmp_path, more="approve: {by: [hubot], need: 1, not: author}")
    team.tick(MONDAY + MINUTE, yes(team.only(), "octocat", MONDAY + MINUTE))
    (said,) = (line for line in team.page(team.only().id).splitlines() if line.startswith("not taken: octocat"))
    assert said.endswith(" (30 Nov 09:01 UTC)")
    stale = yes(team.only()._replace(digest="0" * 64), HUBOT, MONDAY + 2 * MINUTE)
    team.tick(MONDAY + 2 * MINUTE, stale)
    assert set(team.only().told["refused"]) == {"octocat", HUBOT}
    team.tick(MONDAY + 3 * MINUTE, yes(team.only(), HUBOT, MONDAY + 3 * MINUTE), publishing=False)
    assert set(team.only().told["refused"]) == {"octocat"}


@pytest.mark.parametrize("asked", [MONDAY, MONDAY + HOUR], ids=["with a slot", "alone"])
def test_the_author_may_not_say_yes_where_the_job_says_so(asked: int, tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(more="approve: {by: write, not: author}")})
    team.tick(asked, team.poke(asked))
    team.tick(asked + MINUTE, yes(team.only(), MONA, asked + MINUTE))
    assert (team.steps()[2:], team.outbox()) == (["refused"], [])
    assert "somebody else" in team.receipts()[-1]["reason"]


def test_from_page_takes_no_yes_from_the_dashboard(tmp_path: Path) -> None:
    team = drafted(tmp_path, more="approve: {by: write, from: page}")
    name = team.only().id
    assert f"hz:approve {name}" not in team.page()
    team.box("approve", name, page=name)
    team.tick(MONDAY + MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_reject_beats_approve_wherever_it_was_given(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.box("approve", name)
    team.box("reject", name, page=name)
    team.tick(MONDAY + MINUTE)
    assert (team.steps()[2:], team.outbox()) == (["refused", "rejected"], [])
    assert (team.view().proposals, team.file(name).exists()) == ({}, False)
    assert "Rejected" in team.page()


def test_an_untick_before_it_is_out_takes_the_yes_back(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.box("approve", name)
    team.tick(MONDAY + MINUTE, publishing=False)
    assert team.only().state == "approved"
    team.box("approve", name, mark=" ")
    team.tick(MONDAY + 2 * MINUTE)
    assert (team.steps()[2:], team.outbox(), team.only().state) == (["approved", "withdrawn"], [], "awaiting")


def two(tmp_path: Path) -> Team:
    team = Team(tmp_path, {"news": job(), "other": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    return team


def test_publish_all_approves_what_stands_there(tmp_path: Path) -> None:
    team = two(tmp_path)
    team.box("approve-all")
    team.tick(MONDAY + MINUTE)
    assert team.outbox() == ["issue-1.md", "issue-2.md"]


def test_a_new_row_voids_publish_all_and_it_is_said(tmp_path: Path) -> None:
    team = two(tmp_path)
    old = team.page()
    team.write("third", job(on="poke"))
    team.tick(MONDAY + MINUTE, team.poke(MONDAY + MINUTE, "third"))
    team.file().write_text(old, encoding="utf-8")
    team.box("approve-all")
    story = team.tick(MONDAY + 2 * MINUTE)
    assert team.outbox() == []
    assert "Publish all" in " ".join(story.seen.heard.refused)


def test_an_unanswered_draft_lapses(tmp_path: Path) -> None:
    team = drafted(tmp_path, more="approve: {by: write, expires: 1h}", on='{cron: "0 9 * * MON"}')
    assert team.tick(MONDAY + HOUR - 1).recorded is None
    team.tick(MONDAY + HOUR)
    assert (team.steps()[2:], team.view().proposals) == (["expired"], {})


def test_a_policy_says_yes_to_a_new_draft_and_is_named(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(), ".hz/policies/auto-approve.yaml": POLICY})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    assert team.steps() == ["rendered", "awaiting_approval", "approved", "published"]
    assert team.receipts()[2]["approval"][0]["by"].startswith("policy:")
    assert "mona" in team.receipts()[2]["reason"]


def test_a_policy_that_is_added_later_says_yes_to_what_waits(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.write(".hz/policies/auto-approve.yaml", POLICY)
    team.tick(MONDAY + MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_a_redraft_keeps_id_key_and_page_and_voids_the_answers(tmp_path: Path) -> None:
    step = 'run: date +%N > "$HZ_DRAFT"'
    team = drafted(tmp_path, step=step, more="approve: {by: write, need: 2}")
    team.tick(MONDAY + MINUTE, yes(team.only(), HUBOT, MONDAY + MINUTE))
    old = team.only()
    team.tick(MONDAY + 2 * MINUTE, yes(old, MONA, MONDAY + 2 * MINUTE, verb="redraft", note="shorter"))
    new = team.only()
    assert (new.id, new.key, new.slot, new.answers, new.redraft) == (old.id, old.key, old.slot, (), {})
    assert (new.digest != old.digest, new.changed) == (True, f"written again for {MONA}")
    assert team.steps()[3:] == ["rendered", "answered", "awaiting_approval"]
    wish = team.receipts()[4]
    assert (wish["approval"][0]["verb"], wish["reason"]) == ("redraft", "another draft is wanted: shorter")
    assert new.digest[:12] in team.page(new.id)


def test_a_redraft_by_box_takes_the_note_of_the_page(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    name = team.only().id
    team.edit(name, "<!-- hz:end-note -->", "shorter, please\n<!-- hz:end-note -->")
    team.box("redraft", name, page=name)
    story = team.tick(MONDAY + MINUTE)
    (order,) = story.plan.orders
    assert order.redraft is not None
    assert (order.redraft.note, order.redraft.body) == ("shorter, please", "hello")


def test_a_wish_for_another_draft_survives_what_holds_the_job_up(tmp_path: Path) -> None:
    team = drafted(tmp_path, step='run: date +%N > "$HZ_DRAFT"')
    old = team.only()
    said = yes(old, MONA, MONDAY + MINUTE, verb="redraft", note="shorter")
    team.tick(MONDAY + MINUTE, said, drafting=False)
    assert (team.only().digest, team.only().redraft["note"]) == (old.digest, "shorter")
    story = team.tick(MONDAY + 2 * MINUTE)
    assert [order.redraft.note for order in story.plan.orders if order.redraft] == ["shorter"]
    assert (team.only().id, team.only().redraft, team.only().digest != old.digest) == (old.id, {}, True)
    assert team.tick(MONDAY + 3 * MINUTE).plan.orders == ()


def test_a_redraft_that_fails_is_tried_again_and_a_yes_ends_the_wish(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    old = team.only()
    team.write("news", job(step="run: exit 1"))
    team.tick(MONDAY + MINUTE, yes(old, MONA, MONDAY + MINUTE, verb="redraft", note="shorter"))
    assert team.steps()[2:] == ["failed", "answered"]
    assert team.only().redraft["by"] == MONA
    team.tick(MONDAY + 6 * MINUTE)
    assert team.steps()[2:] == ["failed", "answered", "failed"]
    team.tick(MONDAY + 7 * MINUTE, yes(old, MONA, MONDAY + 7 * MINUTE))
    assert team.outbox() == ["issue-1.md"]


def test_a_redraft_of_which_nothing_comes_leaves_the_old_draft_and_says_so(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    old = team.only()
    team.write("news", job(step="run: exit 0"))
    team.tick(MONDAY + MINUTE, yes(old, MONA, MONDAY + MINUTE, verb="redraft", note="shorter"))
    assert (team.only().digest, team.only().redraft) == (old.digest, {})
    assert "nothing new came of it" in team.page(old.id)


def test_a_redraft_does_not_make_the_next_slot_draft_the_same_again(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(watch=NOTES), "notes/a.md": "a"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    team.tick(MONDAY + MINUTE, yes(team.only(), MONA, MONDAY + MINUTE, verb="redraft", note="shorter"))
    assert team.tick(MONDAY + DAY).plan.orders == ()


SEVERAL = """\
run: |
      for name in a b; do printf -- '---\\ntitle: %s\\n---\\n%s %s\\n' $name $name "$(date +%N)" > "$HZ_DRAFTS/$name.md"; done"""


def test_a_redraft_that_writes_several_gives_the_old_id_to_one(tmp_path: Path) -> None:
    team = drafted(tmp_path, publish="{issue: {}}")
    old = team.only()
    team.write("news", job(step=SEVERAL, publish="{issue: {}}"))
    team.tick(MONDAY + MINUTE, yes(old, MONA, MONDAY + MINUTE, verb="redraft", note="two"))
    assert len(team.view().proposals) == 2
    assert old.id in team.view().proposals
    assert {one.title for one in team.view().proposals.values()} == {"a", "b"}


def test_two_drafts_of_one_run_do_not_supersede_each_other(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(step=SEVERAL, publish="{issue: {}}")})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    first = set(team.view().proposals)
    assert len(first) == 2
    team.tick(MONDAY + DAY)
    second = set(team.view().proposals)
    assert (len(second), first & second, team.steps().count("superseded")) == (2, set(), 2)


def test_what_was_said_about_a_superseded_draft_stays_on_record(tmp_path: Path) -> None:
    team = drafted(tmp_path, more="approve: {by: [hubot, octocat], need: 2}")
    old = team.only()
    said = (*yes(old, HUBOT, MONDAY + DAY).answers, *yes(old, MONA, MONDAY + DAY).answers)
    team.tick(MONDAY + DAY, Heard(answers=said))
    assert team.steps()[2:] == ["rendered", "refused", "answered", "superseded", "awaiting_approval"]
    assert team.only().replaces == old.id


def test_one_that_is_approved_is_not_superseded(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    old = team.only()
    team.tick(MONDAY + DAY, yes(old, MONA, MONDAY + DAY))
    assert team.outbox() == ["issue-1.md"]
    assert (team.only().replaces, team.steps().count("superseded")) == ("", 0)


@pytest.mark.parametrize("file", ["invalid", "removed"])
def test_without_its_file_a_proposal_takes_answers_and_publishes_nothing(file: str, tmp_path: Path) -> None:
    team = drafted(tmp_path)
    if file == "invalid":
        team.write("news", "on: [\n")
    else:
        team.remove("news")
    team.tick(MONDAY + MINUTE, yes(team.only(), MONA, MONDAY + MINUTE))
    assert (team.steps()[2:], team.only().state, team.outbox()) == (["approved"], "approved", [])
    tip = team.view().tip
    team.tick(MONDAY + 2 * MINUTE)
    assert team.view().tip == tip
    team.write("news", job())
    team.tick(MONDAY + 3 * MINUTE)
    assert (team.steps()[2:], team.outbox()) == (["approved", "published"], ["issue-1.md"])


def test_an_approved_proposal_lapses_when_the_file_is_gone_and_not_when_it_is_invalid(tmp_path: Path) -> None:
    team = drafted(tmp_path, more="approve: {by: write, expires: 2h}")
    team.write("news", "on: [\n")
    team.tick(MONDAY + MINUTE, yes(team.only(), MONA, MONDAY + MINUTE))
    team.tick(MONDAY + 3 * HOUR)
    assert team.only().state == "approved"
    team.remove("news")
    team.tick(MONDAY + 4 * HOUR)
    assert (team.steps()[2:], team.view().proposals) == (["approved", "expired"], {})


def test_a_login_has_the_right_the_forge_knows(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.box("approve", team.only().id)
    team.tick(MONDAY + MINUTE, login="octocat")
    assert [one["by"] for one in team.receipts()[2]["approval"]] == ["octocat"]


def test_a_command_under_a_login_is_taken(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    (answer,) = yes(team.only(), "octocat", MONDAY + MINUTE).answers
    team.tick(MONDAY + MINUTE, Heard(answers=(answer._replace(role="named"),)), login="octocat")
    assert team.outbox() == ["issue-1.md"]
