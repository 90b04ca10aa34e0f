"""`hz-team receipts`: every step on record, and the proof that none was changed or cut."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.commands.terminal import LATER, MONDAY, NOON, Team

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A team with four receipts."""
    made = Team(tmp_path)
    made.job("hello")
    made.tick(NOON)
    made.tick(MONDAY)
    made.tick_box()
    made.tick(LATER)
    return made


def tamper(team: Team, path: str, content: bytes | None) -> None:
    """Commit onto the state branch by plumbing, as somebody with write access could."""
    blob = team.git("hash-object", "-w", "--stdin", stdin=content or b"")
    line = f"100644 {blob}\t{path}" if content is not None else f"0 {'0' * 40}\t{path}"
    team.git("read-tree", "hz-state")
    team.git("update-index", "--index-info", stdin=f"{line}\n".encode())
    who = ("-c", "user.name=mallory", "-c", "user.email=mallory@example.org")
    commit = team.git(*who, "commit-tree", team.git("write-tree"), "-p", "hz-state", "-m", "nothing to see here")
    team.git("update-ref", "refs/heads/hz-state", commit)


def path_of(team: Team, disposition: str) -> tuple[str, bytes]:
    (receipt,) = team.receipts(disposition)
    paths = team.git("ls-tree", "-r", "--name-only", "hz-state").splitlines()
    (path,) = [path for path in paths if receipt["id"] in path]
    return path, team.git("show", f"hz-state:{path}").encode()


def test_list_and_show(team: Team) -> None:
    head, *rows = team.hz("receipts").out.splitlines()
    assert head.split() == ["receipt", "when", "helper", "step", "about"]
    assert [row.split()[3] for row in rows] == ["published", "approved", "awaiting", "rendered"]
    name = rows[0].split()[0]
    shown = json.loads(team.hz("receipts", "show", name).out)
    assert shown["id"].startswith(name)
    assert [part["ref"] for part in shown["published"]] == ["issue-1"]
    assert team.hz("receipts", "list", "--lines", "1").out.endswith("… and 3 older; --lines 0 lists all\n")
    assert team.hz("receipts", "list", "--job", "nobody").out == "no receipts yet\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("show", "receipts show needs the first digits of an id"),
        ("show zz", "zz: no receipt begins so"),
        ("list --lines -1", "is no number of things"),
        ("burn", "invalid choice"),
    ],
)
def test_wrong_words(team: Team, words: str, said: str) -> None:
    assert said in team.hz("receipts", *words.split(), code=2).said


def test_verify(team: Team) -> None:
    head = json.loads(team.git("show", "hz-state:ledger.json"))["head"]
    assert team.hz("receipts", "verify").out == f"verify   4 receipts, 1 chain, all good   head {head[:12]}\n"
    told = {"receipts": 4, "chains": 1, "problems": [], "head": head, "cut": []}
    assert team.hz("receipts", "verify", "--json").json == told


@pytest.mark.parametrize("change", ["approver", "cut", "garbage", "reformatted"])
def test_a_tampered_receipt_is_found(team: Team, change: str) -> None:
    path, content = path_of(team, "approved")
    forged = {
        "approver": content.replace(b'"by":"local:', b'"by":"local:not-'),
        "cut": None,
        "garbage": b"\x00 not JSON",
        "reformatted": content.replace(b",", b", "),
    }[change]
    assert forged != content
    tamper(team, path, forged)
    run = team.hz("receipts", "verify", code=4)
    assert run.out == ""
    *problems, last = run.err.splitlines()
    assert problems
    assert all(problem.startswith("problem: ") for problem in problems)
    assert last.startswith("hz-team: ")
    assert " problem" in last
    assert "log hz-state` shows who wrote when" in last
    as_json = team.hz("receipts", "verify", "--json", code=4)
    assert len(as_json.json["problems"]) == len(problems)
    assert team.hz("receipts", "list", code=4 if change == "garbage" else 0).code is not None


def test_no_receipts_yet(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    assert team.hz("receipts").out == "no receipts yet\n"
    assert team.hz("receipts", "verify").out == "verify   0 receipts, 0 chains, all good\n"
    assert team.hz("receipts", "--json").json == []


def test_a_cut_tail_is_found_and_named(team: Team) -> None:
    """By the dashboard, and by this machine, which still knows what was cut."""
    newest = team.receipts()[0]
    team.git("update-ref", "refs/heads/hz-state", "hz-state~1")
    run = team.hz("receipts", "verify", code=4)
    assert "problem: the dashboard vouches for 4 receipts (head " in run.err
    assert "problem: this machine vouches for 4 receipts (head " in run.err
    assert run.err.count("), the ledger has 3\n") == 2
    assert f"missing: {newest['id'][:12]}  {newest['as_of']}  hello 4  published\n" in run.err
    assert "log hz-state` shows who wrote when; `hz-team doctor --accept-head` goes on" in run.err
    (cut,) = team.hz("receipts", "verify", "--json", code=4).json["cut"]
    assert cut == {"id": newest["id"], "job": "hello", "seq": 4, "step": "published", "at": newest["as_of"]}


def test_who_remembers_nothing_is_told_by_the_dashboard(team: Team) -> None:
    team.git("update-ref", "refs/heads/hz-state", "hz-state~1")
    cold = {"XDG_CACHE_HOME": str(team.root / "other-cache")}
    found = team.hz("receipts", "verify", "--json", code=4, environ=cold).json
    assert [text.partition(" vouches")[0] for text in found["problems"]] == ["the dashboard"]
    assert found["cut"] == []


def test_a_dashboard_of_another_history_of_the_same_length_is_found(team: Team) -> None:
    head = json.loads(team.git("show", "hz-state:ledger.json"))["head"][:12]
    team.write(".hz/local/DASHBOARD.md", team.board.replace(head, "0123456789ab"))
    run = team.hz("receipts", "verify", code=4)
    assert f"problem: the dashboard vouches for the head 0123456789ab, the ledger has {head}\n" in run.err


def test_a_tip_that_this_machine_has_no_more_is_no_obstacle(team: Team, nobodys_home: Path) -> None:
    """Its cache was made anew since, and the objects were thrown away."""
    tip = team.git("rev-parse", "hz-state")
    team.git("update-ref", "refs/heads/hz-state", "hz-state~1")
    (team.local / "state.git/objects" / tip[:2] / tip[2:]).unlink()
    for mirror in nobodys_home.glob(".cache/hz-team/*/state.git"):
        shutil.rmtree(mirror)
    found = team.hz("receipts", "verify", "--json", code=4).json
    assert (len(found["problems"]), found["cut"]) == (2, [])
