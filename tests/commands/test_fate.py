"""What goes out, and how often: a write of unknown fate, a standing yes, a crash between two files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team.testing.feedserver import Answer, FeedServer
from tests.commands.terminal import HELLO, LATER, MONDAY, NEXT, NOON, Team

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLICY = "- {owner: local, job: hello, kind: issue, target: here, until: 2027-01-01}\n"


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer({"/hook": "taken"}) as running:
        yield running


@pytest.mark.parametrize("word", ["arrived", "again"])
@pytest.mark.parametrize("how", ["box", "command"])
def test_nobody_can_tell_whether_it_arrived(tmp_path: Path, server: FeedServer, word: str, how: str) -> None:
    team = Team(tmp_path)
    team.write(".hz/hz.yaml", f'publish: {{hosts: ["127.0.0.1:{server.port}"]}}\n')
    team.job("hook", HELLO.replace('issue: {title: "Hello"}', f'webhook: {{url: "{server.url("/hook")}"}}'))
    team.tick(NOON)
    team.tick(MONDAY)
    (name,) = team.waiting
    server.script("/hook", Answer(500))
    out = team.hz("inbox", "approve", name, "--now", LATER).out
    assert "answered 500: nobody can tell whether it was taken" in out
    for later in ("2026-11-30T09:10:00Z", "2026-11-30T19:10:00Z"):
        team.tick(later)
    assert server.count("/hook") == 1  # never again by itself
    assert "did it arrive?" in team.hz("inbox").out
    assert team.board.count(f"hz:arrived {name} ") == team.board.count(f"hz:again {name} ") == 1

    if how == "box":
        team.tick_box(word)
        out = team.tick("2026-12-01T08:00:00Z").out
    else:
        out = team.hz("inbox", word, name, "--now", "2026-12-01T08:00:00Z").out
    assert {"arrived": f"you saw that {name} arrived", "again": f"you asked to send {name} again"}[word] in out
    assert server.count("/hook") == (1 if word == "arrived" else 2)
    keys = {seen.headers["idempotency-key"] for seen in server.seen}
    assert len(keys) == 1
    assert team.waiting == []
    assert len(team.receipts("published")) == 1
    assert "all good" in team.hz("receipts", "verify").out


def test_a_standing_yes(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.write(".hz/policies/auto-approve.yaml", POLICY)
    team.tick(NOON)
    out = team.tick(MONDAY).out
    assert "  publish  issue         " in out
    assert team.out == ["issue-1.md"]
    (yes,) = team.receipts("approved")
    assert yes["approval"][0]["by"].startswith("policy:")
    team.write(".hz/policies/auto-approve.yaml", POLICY.replace("2027-01-01", "2026-12-01"))
    team.tick(NEXT)
    assert (len(team.waiting), team.out) == (1, ["issue-1.md"])


def test_a_lost_cache_doubles_nothing(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.tick(NOON)
    team.tick(MONDAY)
    team.tick_box()
    team.tick(LATER)
    for number in range(2):
        elsewhere = {"XDG_CACHE_HOME": str(tmp_path / f"cache-{number}")}
        team.hz("tick", "--now", "2026-11-30T09:10:00Z", environ=elsewhere)
    assert team.out == ["issue-1.md"]
    assert len(team.receipts()) == 4
