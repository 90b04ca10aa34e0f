"""The whole story on GitHub, with nothing but the built-in token: what people do in a browser or on a phone."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from hz_team.testing.github import GitHub
from tests.github.house import LATER, MONDAY, NEXT, NOON, House

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with GitHub() as github:
        made = House(github, tmp_path)
        made.tick(NOON)
        yield made


@pytest.fixture
def waiting(house: House) -> House:
    """A digest waits for a yes."""
    assert house.tick(MONDAY)["drafted"] == 1
    return house


def test_a_box_on_the_dashboard_publishes_once_and_the_page_closes_itself(waiting: House) -> None:
    (page,) = waiting.pages
    waiting.person().ticks(waiting.board, "approve")
    assert waiting.tick(LATER)["published"] == 1
    (digest,) = waiting.digests
    assert (digest.title, list(digest.labels)) == ("Digest, week 49", ["newsletter"])
    assert (page.state, "hz:published" in page.labels, "Published" in page.text) == ("closed", True, True)
    (approved,) = waiting.receipts("approved")
    (answer,) = approved["approval"]
    assert (answer["by"], answer["role"], answer["via"]) == ("mona", "write", "box")
    for when in ("2026-11-30T09:06:00Z", "2026-11-30T09:07:00Z"):
        waiting.tick(when)
        assert waiting.writes() == []
    assert len(waiting.digests) == 1


def test_a_phone_that_can_only_comment_is_enough(waiting: House) -> None:
    (page,) = waiting.pages
    comment = waiting.person().comments(page, "/hz approve")
    assert waiting.tick(LATER)["published"] == 1
    assert [one.content for one in comment.reactions] == ["rocket"]
    (approved,) = waiting.receipts("approved")
    assert approved["approval"][0]["via"] == "comment"
    assert f"issuecomment-{comment.id}" in approved["approval"][0]["ref"]


def test_a_no_with_its_reason(waiting: House) -> None:
    (page,) = waiting.pages
    waiting.person().comments(page, "/hz reject last week's list again")
    waiting.tick(LATER)
    (rejected,) = waiting.receipts("rejected")
    assert rejected["approval"][0]["by"] == "mona"
    assert "last week's list again" in page.text.replace("\u2060", "").replace("\\", "")
    assert (page.state, waiting.digests) == ("closed", [])


def test_whoever_closes_the_page_has_said_no(waiting: House) -> None:
    (page,) = waiting.pages
    waiting.person().closes(page)
    waiting.tick(LATER)
    assert len(waiting.receipts("rejected")) == 1
    assert waiting.digests == []


def test_an_edit_goes_out_under_the_editors_name(waiting: House) -> None:
    (page,) = waiting.pages
    mona = waiting.person()
    mona.edits(page, page.text.replace("- one", "- one, corrected"))
    waiting.tick(LATER)
    mona.ticks(page, "approve")
    assert waiting.tick("2026-11-30T09:09:00Z")["published"] == 1
    assert "- one, corrected" in waiting.digests[0].text


def test_who_may_not_write_here_is_told_so_and_nothing_goes_out(waiting: House) -> None:
    (page,) = waiting.pages
    waiting.person("eve", "read").comments(page, "/hz approve")
    assert waiting.tick(LATER)["published"] == 0
    assert "eve may read but not write here" in page.text
    assert len(waiting.receipts("refused")) == 1


def test_words_that_were_changed_or_quoted_do_not_count(waiting: House) -> None:
    (page,) = waiting.pages
    mona = waiting.person()
    comment = mona.comments(page, "/hz reject")
    waiting.at("2026-11-30T09:03:00Z")
    mona.edits_comment(comment, "/hz approve")
    mona.comments(page, "> /hz approve\n\nno, wait")
    assert waiting.tick(LATER)["published"] == 0
    assert waiting.pages == [page]


def test_run_pause_and_resume_by_comment(house: House) -> None:
    mona = house.person()
    mona.comments(house.board, "/hz run weekly-digest")
    assert house.tick("2026-11-29T12:10:00Z")["drafted"] == 1
    mona.comments(house.board, "/hz pause")
    house.tick("2026-11-29T12:20:00Z")
    assert "Paused by mona" in house.board.text
    assert house.tick(MONDAY)["drafted"] == 0
    mona.comments(house.board, "/hz resume")
    assert house.tick(LATER)["drafted"] == 1


def test_closing_the_dashboard_pauses_until_it_is_opened_again(waiting: House) -> None:
    mona = waiting.person()
    mona.ticks(waiting.board, "approve")
    mona.closes(waiting.board)
    for when in (LATER, "2026-11-30T09:06:00Z", "2026-11-30T09:07:00Z"):
        assert waiting.tick(when)["published"] == 0
    assert (waiting.board.state, len(waiting.pages), waiting.digests) == ("closed", 1, [])
    mona.reopens(waiting.board)
    waiting.tick("2026-11-30T09:08:00Z")
    assert len(waiting.digests) == 1


def test_a_deleted_dashboard_is_made_anew(waiting: House) -> None:
    waiting.person(role="admin").deletes(waiting.board)
    waiting.tick(LATER)
    assert "hz:approve" in waiting.board.text


def test_an_idle_tick_costs_one_request_and_writes_nothing(house: House) -> None:
    house.person().comments(house.board, "/hz pause")
    house.tick("2026-11-29T12:10:00Z")
    for when in ("2026-11-29T12:20:00Z", "2026-11-29T12:30:00Z"):
        house.tick(when)
        assert (house.asked(), house.writes()) == (1, [])


def test_an_idle_tick_with_open_decisions_costs_two(waiting: House) -> None:
    for when in (LATER, "2026-11-30T09:06:00Z"):
        waiting.tick(when)
        assert (waiting.asked(), waiting.writes()) == (2, [])


def test_an_idle_tick_loads_neither_pygithub_nor_what_it_needs(waiting: House) -> None:
    waiting.at(LATER)
    loaded = waiting.hz("tick", PYTHONPROFILEIMPORTTIME="1").err
    modules = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "hz_team.adapters.github.api" in modules
    assert {name.partition(".")[0] for name in modules} & {"github", "requests", "urllib3", "jinja2"} == set()


def test_a_token_that_may_not_write_issues_is_told_what_it_lacks(tmp_path: Path) -> None:
    with GitHub() as github:
        house = House(github, tmp_path)
        house.rights["issues"] = "read"
        house.at(NOON)
        said = house.hz("tick", code=4).err
        assert "issues: write" in said
        assert len(house.repo.issues) == 0


def test_in_a_fork_nothing_is_done(waiting: House) -> None:
    fork = waiting.github.repository("someone/fork")
    subprocess.run(("git", "clone", "-q", "--bare", str(waiting.repo.git), f"{fork.git}.copy"), check=True)
    subprocess.run(
        ("git", "-C", str(fork.git), "fetch", "-q", f"{fork.git}.copy", "+refs/heads/*:refs/heads/*"), check=True
    )
    before = waiting.github.token("actions", "someone/fork")
    waiting.at(NEXT)
    waiting.github.forget()
    done = waiting.hz("tick", GITHUB_REPOSITORY="someone/fork", GITHUB_TOKEN=before)
    assert "belongs to acme/housework" in done.out
    assert (len(fork.issues), waiting.writes()) == (0, [])


def test_a_limit_is_waited_for_by_a_later_tick_and_nothing_is_sent_twice(waiting: House) -> None:
    waiting.person().ticks(waiting.board, "approve")
    waiting.github.fault("POST", r"/issues$", "rate")
    waiting.at(LATER)
    assert "asks us to wait until" in waiting.hz("tick", code=75).err
    assert (waiting.digests, len(waiting.receipts("approved"))) == ([], 1)
    assert waiting.tick("2026-11-30T12:00:00Z")["published"] == 1
    assert len(waiting.digests) == 1


@pytest.mark.parametrize("mishap", ["after-500", "after-dropped", "before-500", "dropped"])
def test_whatever_happens_to_a_write_it_is_there_once_in_the_end(waiting: House, mishap: str) -> None:
    waiting.person().ticks(waiting.board, "approve")
    waiting.github.fault("POST", r"/issues$", mishap)
    waiting.tick(LATER)
    (page,) = waiting.pages
    if mishap.startswith("after"):
        waiting.person().ticks(page, "arrived")
    else:
        waiting.person().ticks(page, "again")
    waiting.tick("2026-11-30T12:00:00Z")
    assert (len(waiting.digests), len(waiting.receipts("published"))) == (1, 1)
