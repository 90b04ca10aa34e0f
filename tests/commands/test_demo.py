"""`hz-team demo`: the whole story, offline, as SCREENS and the README promise it."""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.commands.terminal import Team, hz
from tests.gfm import Page

if TYPE_CHECKING:
    from pathlib import Path

STORY = r"""A feed with two items is served on 127\.0\.0\.1; state lives in demo/\.hz/local

tick 1   Mon \d+ \w{3} \d{4} 09:00 CES?T
  wake     schedule
  observe  learning      2 new items
  plan     weekly-digest due since 09:00
  claim    weekly-digest
  draft    (p-[0-9a-f]{8})    "Digest, week \d+" +\d+\.\d s
  approve  waiting for a person
  record   2 receipts    head [0-9a-f]{12}
  publish  nothing approved
  show     demo/\.hz/local/DASHBOARD\.md

somebody ticks \1  \(- \[ \] becomes - \[x\], nothing else changes\)

tick 2   Mon \d+ \w{3} \d{4} 09:04 CES?T
  wake     you ticked \1
  plan     nothing due
  approve  \1    by you, bound to [0-9a-f]{12}
  record   1 receipt     before anything leaves
  publish  issue         demo/\.hz/local/outbox/issue-1\.md
  record   1 receipt     head [0-9a-f]{12}
  show     dashboard: nothing waiting

tick 3   nothing to do   0 bytes written, 0 refs moved
verify   4 receipts, 1 chain, all good

Look:  demo/\.hz/local/DASHBOARD\.md     Again:  python -m hz_team tick --root demo
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, float]:
    folder = tmp_path_factory.mktemp("played")
    began = time.monotonic()
    cache = {"XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder), "GIT_CONFIG_GLOBAL": "/dev/null"}
    run = hz("demo", cwd=folder, environ=cache)
    assert run.err == ""
    return folder, run.out, time.monotonic() - began


def test_every_word_of_the_story(played: tuple[Path, str, float]) -> None:
    _, out, took = played
    assert re.fullmatch(STORY, out), out
    assert took < 10


def test_what_it_leaves(played: tuple[Path, str, float]) -> None:
    folder, _, _ = played
    team = Team(folder / "demo")
    assert team.out == ["issue-1.md"]
    body = team.published("issue-1")
    assert "- [Leases without a server](https://example.org/leases)" in body
    assert "- [Receipts that verify](https://example.org/receipts)" in body
    verified = team.hz("receipts", "verify", environ={"XDG_CACHE_HOME": str(folder / "elsewhere")})
    assert re.fullmatch(r"verify   4 receipts, 1 chain, all good   head [0-9a-f]{12}\n", verified.out)


def test_the_page_is_one_a_person_enjoys(played: tuple[Path, str, float]) -> None:
    folder, _, _ = played
    board = Team(folder / "demo").board
    page = Page(board)
    assert page.boxes == [False, False]  # run now, pause
    assert "Nothing is waiting · 1 helper, all well" in page.visible
    assert re.search(r"Next: Weekly digest, Mon \d+ \w{3} 09:00 CES?T\.", page.visible)
    assert "published issue-1" in page.visible
    assert len(board) < 2_000
    assert "None" not in board


def test_again_at_once_at_the_real_time_and_without_the_server(played: tuple[Path, str, float]) -> None:
    folder, _, _ = played
    team = Team(folder / "demo")
    before = team.contents()
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    assert re.fullmatch(r"Nothing due\. Next: .*, weekly-digest\.\n", team.hz("tick", environ=cache).out)
    assert team.contents() == before


def test_a_foreign_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    team = Team(tmp_path / "mine")
    team.job("hello")
    before = team.contents()
    run = hz("demo", "--dir", "mine", cwd=tmp_path, code=2)
    assert run.said == "hz-team: mine is there and was not made by a demo; nothing was changed, try another --dir"
    assert (run.out, team.contents()) == ("", before)


@pytest.mark.parametrize("name", ["file", "link", "file/below", "empty"])
def test_what_is_no_place_for_a_demo(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert name in hz("demo", "--dir", name, cwd=tmp_path, code=2).said
    assert (tmp_path / "file").read_text() == "mine"


def test_a_demo_is_replaced(tmp_path: Path) -> None:
    first = hz("demo", "--dir", "a b", cwd=tmp_path)
    assert first.out.endswith("Again:  python -m hz_team tick --root 'a b'\n")
    (tmp_path / "a b/.hz/jobs/mine.yaml").write_text("left over")
    again = hz("demo", "--dir", "a b", "--json", cwd=tmp_path)
    assert again.err == ""
    assert again.json["verify"] == {"receipts": 4, "chains": 1, "problems": []}
    assert [report["published"] for report in again.json["ticks"]] == [0, 1]
    assert not (tmp_path / "a b/.hz/jobs/mine.yaml").exists()
    shutil.rmtree(tmp_path / "a b")
    assert "verify   4 receipts, 1 chain, all good" in hz("demo", "--dir", "a b", cwd=tmp_path).out


def test_the_story_on_a_github_with_what_each_tick_asked(tmp_path: Path) -> None:
    told = hz("demo", "--github", "--dir", str(tmp_path / "demo")).out
    asked = re.findall(r"asked    (\d+) requests, (\d+) of them writes", told)
    assert len(asked) == 5
    assert asked[-1] == ("2", "0"), "the last one has nothing to do"
    assert "wake     mona ticked p-" in told
    assert "wake     hubot asked for weekly-digest" in told
    assert "wake     hubot said no to p-" in told
    assert "published: #3; the decision, #1, closed itself" in told
    assert "7 receipts, 1 chain, all good" in told


def test_on_actions_the_demo_stays_on_the_machine(tmp_path: Path) -> None:
    actions = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/housework"}
    assert "all good" in hz("demo", "--dir", str(tmp_path / "demo"), environ=actions).out
