"""`hz-team doctor`: what it finds, what it frees, and how a ledger goes on that lost its tail."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from hz_team.adapters.lease_ref import RefLeases
from hz_team.commands import assembly
from hz_team.commands.doctor import parse
from hz_team.health import BROKEN, LOOK
from hz_team.moment import parse_iso
from hz_team.ports import Claim, Known
from tests.commands.terminal import LATER, MONDAY, NEXT, NOON, Run, Team
from tests.git_server import bare, watched

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SOON = "2026-11-30T09:10:00Z"
LEASE = "refs/hz/lease/job/hello"


def used(team: Team, *words: str) -> Team:
    """Let it draft, ask and publish: four receipts."""
    team.job("hello")
    team.tick(NOON, *words)
    team.tick(MONDAY, *words)
    team.tick_box()
    team.tick(LATER, *words)
    return team


class Site:
    """A shared state in a folder, and a team that keeps its state there."""

    def __init__(self, place: Path) -> None:
        self.place, self.remote = place, bare(place / "state.git")
        self.url = self.remote.as_uri()
        self.team = Team(place / "ann")

    def hz(self, *words: str, code: int = 0, team: Team | None = None) -> Run:
        """Type a command with that state; another team's machine remembers nothing of ours."""
        elsewhere = {"XDG_CACHE_HOME": str(self.place / f"{team.root.name}s-cache")} if team else {}
        return (team or self.team).hz(*words, "--remote", self.url, code=code, environ=elsewhere)

    def git(self, *words: str) -> str:
        command = ("git", f"--git-dir={self.remote}", *words)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def refs(self) -> str:
        """Where every ref stands."""
        return self.git("for-each-ref", "--format=%(refname) %(objectname)")

    def spoil(self) -> str:
        """Put a commit of nobody's where the lease stands."""
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        tree = subprocess.run(("git", f"--git-dir={self.remote}", "mktree"), check=True, input=b"", capture_output=True)
        commit = self.git(*who, "commit-tree", tree.stdout.decode().strip(), "-m", "hello")
        self.git("update-ref", LEASE, commit)
        return commit

    def hold(self, at: str, *, seq: int = 4) -> None:
        """Take the lease for a quarter of an hour, as a machine does that then vanishes; `seq`: receipts it knew of."""
        leases = RefLeases(self.url, str(self.place / "gone/state.git"), holder="ben@box/7", environ=os.environ)
        assert leases.acquire(Claim({"hello": Known(seq=seq)}, parse_iso(at), 900)).leases

    def lease(self) -> dict[str, Any]:
        """What the lease says."""
        found: dict[str, Any] = json.loads(self.git("log", "-1", "--format=%B", LEASE).splitlines()[-1])
        return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path)
    used(made.team, "--remote", made.url)
    return made


def by_level(done: Run) -> dict[str, list[tuple[str, str]]]:
    """Return subject and text of the findings, by level."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in done.json["findings"]:
        found.setdefault(one["level"], []).append((one["subject"], one["text"]))
    return found


def of(done: Run, subject: str) -> list[tuple[str, str]]:
    """Return level and text of the findings on a subject."""
    return [(one["level"], one["text"]) for one in done.json["findings"] if one["subject"] == subject]


def test_before_the_first_tick_there_is_nothing_and_nothing_is_made(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    before = team.contents()
    assert team.hz("doctor").out.startswith("look    state   nothing is on record yet; `hz-team tick` begins\n")
    assert team.hz("doctor", "--repair").out == "nothing to repair\n"
    assert "nothing to accept: nothing is on record yet" in team.hz("doctor", "--accept-head", code=2).said
    assert team.contents() == before
    assert not team.local.exists()


def test_a_state_that_was_removed_from_this_machine_is_no_beginning(tmp_path: Path) -> None:
    team = used(Team(tmp_path))
    shutil.rmtree(team.local / "state.git")
    before = team.contents()
    assert of(team.hz("doctor", "--json", code=4), "state")[0][0] == BROKEN
    assert team.contents() == before
    assert team.hz("tick", "--now", NEXT, code=4).out.startswith("Only looked")
    assert "this machine vouches for 4 receipts" in team.hz("doctor", code=4).out


def test_on_one_machine_all_is_well_and_nothing_is_written(tmp_path: Path) -> None:
    team = used(Team(tmp_path))
    before = team.contents()
    done = team.hz("doctor", "--now", SOON)
    *lines, last = done.out.splitlines()
    head = json.loads(team.git("show", "hz-state:ledger.json"))["head"]
    assert f"ok      ledger  4 receipts, all good, head {head[:12]}" in lines
    assert "ok      branch  no push can rewrite hz-state" in lines
    assert last.startswith("0 broken, ")
    assert team.contents() == before
    assert team.hz("doctor", "--repair").out == "nothing to repair\n"
    assert "nothing to accept" in team.hz("doctor", "--accept-head", code=2).said
    assert team.contents() == before


def test_files_that_are_wrong(tmp_path: Path) -> None:
    team = used(Team(tmp_path))
    team.job("bad", "on: nonsense\n")
    (found,) = of(team.hz("doctor", "--json", code=4), "files")
    assert found[0] == BROKEN
    assert "`hz-team validate` names them" in found[1]


def test_a_state_that_cannot_be_reached_or_read(site: Site) -> None:
    ((level, text),) = of(site.team.hz("doctor", "--remote", f"{site.url}x", "--json", code=4), "state")
    assert (level, "there is no repository" in text) == (BROKEN, True)
    newer = json.dumps({"v": 99}).encode()
    blob = subprocess.run(
        ("git", f"--git-dir={site.remote}", "hash-object", "-w", "--stdin"),
        input=newer,
        check=True,
        capture_output=True,
    )
    site.git("read-tree", "hz-state")
    site.git("update-index", "--add", "--cacheinfo", f"100644,{blob.stdout.decode().strip()},ledger.json")
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    site.git("update-ref", "refs/heads/hz-state", site.git(*who, "commit-tree", site.git("write-tree"), "-m", "x"))
    ((level, text),) = of(site.hz("doctor", "--json", code=4), "state")
    assert (level, "has format 99; this hz-team reads up to 1: upgrade it" in text) == (BROKEN, True)


def test_a_shared_state_is_tried_by_a_record_of_its_own(site: Site) -> None:
    before = site.git("rev-parse", "hz-state")
    done = site.hz("doctor", "--now", SOON, "--json")
    assert of(done, "write") == [("ok", "this account may record: a heartbeat was")]
    assert [level for level, _ in of(done, "lease")] == ["ok"]
    assert of(done, "push")[0][0] == "ok"
    assert of(done, "branch")[0][0] == LOOK
    assert site.git("rev-parse", "hz-state~1") == before
    (path,) = site.git("diff-tree", "-r", "--name-only", "--no-commit-id", "hz-state").splitlines()
    beat = json.loads(site.git("show", f"hz-state:{path}"))
    assert (path.startswith("fleet/"), beat["v"], beat["looked"]) == (True, 1, parse_iso(SOON))
    assert site.hz("tick", "--now", SOON).code == 0
    assert "all good" in site.hz("receipts", "verify").out


def test_to_look_is_not_to_tick(site: Site) -> None:
    """Who only asks how it is does not hide that nobody ticks."""
    site.hz("doctor", "--now", NEXT, "--json")
    (path,) = [name for name in site.git("ls-tree", "-r", "--name-only", "hz-state").splitlines() if "fleet/" in name]
    first = json.loads(site.git("show", f"hz-state:{path}"))
    site.hz("doctor", "--now", "2026-12-09T09:00:00Z", "--json", code=0 if not first["at"] else 4)
    again = json.loads(site.git("show", f"hz-state:{path}"))
    assert again["at"] == first["at"]
    assert again["looked"] == parse_iso("2026-12-09T09:00:00Z")


def test_nobody_has_run_for_days(site: Site) -> None:
    at = parse_iso(LATER)
    beat = {"v": 1, "at": at, "who": "ann", "host": "box", "kind": "actions", "run": "", "hz": "0.1", "python": "3"}
    put(site, {"fleet/ann@box.json": beat, "fleet/x@y.json": {"v": 1, "at": "?"}})
    quiet = site.hz("doctor", "--now", "2026-12-06T09:00:00Z", "--json")
    assert ("ok", "ann@box (actions, hz-team 0.1) ran 5 days ago") in of(quiet, "runner")
    assert not [one for one in of(quiet, "runner") if one[0] != "ok"]
    late = site.hz("doctor", "--now", "2026-12-08T10:00:00Z", "--json", code=4)
    assert of(late, "runner")[0][1].startswith(
        "no helper has run since 30 Nov 09:05 UTC, and hello is due since 7 Dec 09:00 UTC: run `hz-team tick`"
    )


def put(site: Site, files: Mapping[str, Any]) -> None:
    """Commit files onto the state branch."""
    site.git("read-tree", "hz-state")
    site.git("--work-tree=.", "rm", "--cached", "-r", "-q", "--ignore-unmatch", "fleet")
    for path, document in files.items():
        blob = subprocess.run(
            ("git", f"--git-dir={site.remote}", "hash-object", "-w", "--stdin"),
            input=json.dumps(document).encode(),
            check=True,
            capture_output=True,
        ).stdout.decode()
        site.git("update-index", "--add", "--cacheinfo", f"100644,{blob.strip()},{path}")
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    commit = site.git(*who, "commit-tree", site.git("write-tree"), "-p", "hz-state", "-m", "x")
    site.git("update-ref", "refs/heads/hz-state", commit)


@pytest.mark.parametrize("words", ["pre-receive hook declined", "GH013: Repository rule violations found"])
def test_a_rule_that_refuses_the_branch_is_found_by_trying(site: Site, words: str) -> None:
    hook = site.remote / "hooks/pre-receive"
    hook.write_text(f'#!/bin/sh\ngrep -q refs/heads/hz-state && echo "{words}" >&2 && exit 1\nexit 0\n')
    hook.chmod(0o755)
    before = site.refs()
    ((level, text),) = of(site.hz("doctor", "--now", SOON, "--json", code=4), "write")
    assert (level, "Three ways on: let this account or app bypass the rule" in text) == (BROKEN, True)
    assert site.refs() == before


def test_a_server_without_atomic_pushes_is_named_and_one_that_guards_the_branch(site: Site) -> None:
    for name, value in (("advertiseAtomic", "false"), ("denyNonFastForwards", "true"), ("denyDeletes", "true")):
        site.git("config", f"receive.{name}", value)
    done = site.hz("doctor", "--now", SOON, "--json")
    ((level, text),) = of(done, "push")
    assert (level, text.startswith("the server takes no atomic pushes")) == (LOOK, True)
    assert of(done, "branch") == [("ok", "no push can rewrite or remove hz-state")]


@pytest.mark.parametrize(("ahead", "code"), [(0, 0), (340, 4)])
def test_the_clock_is_compared_with_the_servers(tmp_path: Path, ahead: int, code: int) -> None:
    bare(tmp_path / "state.git")
    team = Team(tmp_path / "ann")
    team.job("hello")
    with watched(tmp_path) as server:
        server.ahead = ahead
        done = team.hz("doctor", "--json", "--remote", f"{server.url}/state.git", code=code)
    ((level, text),) = of(done, "clock")
    assert (level, "behind the server's: set this machine's clock" in text) == (BROKEN if ahead else "ok", bool(ahead))
    assert of(done, "branch") == [("ok", "whether it is guarded against force pushes and removal cannot be asked here")]


def test_in_a_fork_nothing_is_written_repaired_or_accepted(site: Site) -> None:
    before = site.refs()
    ledger = json.loads(site.git("show", "hz-state:ledger.json"))
    put(site, {"ledger.json": {**ledger, "repository": "acme/housework"}})
    site.spoil()
    (site.team.root / ".git").mkdir()
    origin = '[remote "origin"]\n\turl = https://github.com/bob/housework.git\n'
    (site.team.root / ".git/config").write_text(origin)
    assert site.refs() != before
    before = site.refs()
    done = site.hz("doctor", "--now", SOON, "--json", code=4)
    assert of(done, "owner")[0][1].startswith(
        "hz-state belongs to acme/housework, and in bob/housework nothing is done"
    )
    assert of(done, "write") == []
    for word in ("--repair", "--accept-head"):
        assert "hz-state belongs to acme/housework" in site.hz("doctor", word, "--now", SOON, code=4).said
    assert site.refs() == before


def test_a_lease_that_nobody_can_read_is_freed(site: Site) -> None:
    commit = site.spoil()
    assert "--repair" in site.hz("tick", "--now", NEXT, code=4).said
    ((level, text),) = of(site.hz("doctor", "--now", SOON, "--json", code=4), "lease")
    assert level == BROKEN
    assert text.startswith(f"hello: {LEASE} at {commit[:12]} holds nothing that this hz-team can read")
    done = site.hz("doctor", "--repair", "--now", SOON)
    assert done.out.startswith(f"repaired  hello: {LEASE} at {commit[:12]}")
    position = json.loads(site.git("show", "hz-state:jobs/hello.json"))
    assert (site.lease()["mode"], site.lease()["generation"]) == ("free", position["lease_generation"] + 1)
    assert site.hz("doctor", "--repair", "--now", SOON).out == "nothing to repair\n"
    assert "hello" in site.hz("tick", "--now", NEXT).out


def test_a_lease_that_was_never_given_back_is_freed_when_it_is_over(site: Site) -> None:
    site.git("update-ref", "-d", LEASE)
    put(site, {"jobs/hello.json": {**json.loads(site.git("show", "hz-state:jobs/hello.json")), "lease_generation": 0}})
    site.hold(LATER)
    held = site.hz("doctor", "--repair", "--now", SOON, "--json").json["repairs"]
    assert [(one["done"], one["waits"]) for one in held] == [(False, False)]
    assert held[0]["text"] == "held by ben@box/7 until 30 Nov 09:20 UTC, and left alone"
    assert site.lease()["mode"] == "full"
    ((level, text),) = of(site.hz("doctor", "--now", NEXT, "--json"), "lease")
    assert (level, "hello: held by ben@box/7 and over for 6 days, never given back" in text) == (LOOK, True)
    assert "over for 6 days, never given back; a free lease stands" in site.hz("doctor", "--repair", "--now", NEXT).out
    assert site.lease()["mode"] == "free"


def test_an_old_lease_that_is_held_is_left_alone_until_it_is_over(site: Site) -> None:
    site.git("update-ref", "-d", LEASE)
    site.hold(LATER)
    before = site.refs()
    ((level, text),) = of(site.hz("doctor", "--now", SOON, "--json", code=4), "lease")
    assert (level, "it is held by ben@box/7 until 30 Nov 09:20 UTC: repair it after that" in text) == (BROKEN, True)
    assert "nothing was repaired" in site.hz("doctor", "--repair", "--now", SOON, code=75).out
    assert site.git("rev-parse", LEASE) in before
    site.hz("doctor", "--repair", "--now", NEXT)
    known = json.loads(site.git("show", "hz-state:jobs/hello.json"))["lease_generation"]
    assert (site.lease()["mode"], site.lease()["generation"]) == ("free", known + 1)


def cut(repository: Path, commits: int) -> None:
    """Set the branch back, as nobody should."""
    command = ("git", f"--git-dir={repository}", "update-ref", "refs/heads/hz-state", f"hz-state~{commits}")
    subprocess.run(command, check=True)


def test_a_ledger_that_was_cut_goes_on_when_a_person_says_so(tmp_path: Path) -> None:
    team = used(Team(tmp_path))
    names = [one["id"] for one in team.receipts()]
    cut(team.local / "state.git", 2)
    before = team.contents()
    assert team.hz("tick", "--now", NEXT, code=4).out.startswith("Only looked")
    done = team.hz("doctor", "--now", SOON, "--json", code=4)
    texts = [text for level, text in of(done, "ledger") if level == BROKEN]
    assert [text.partition(" vouches for 4 receipts")[0] for text in texts] == ["the dashboard", "this machine"]
    assert all("`hz-team doctor --accept-head` goes on without it" in text for text in texts)
    assert [(one["id"], one["step"], one["seq"]) for one in done.json["cut"]] == [
        (names[1], "approved", 3),
        (names[0], "published", 4),
    ]
    assert "        missing " in team.hz("doctor", code=4).out
    assert "evidence" in team.hz("doctor", "--repair", code=4).said
    assert team.contents() == before
    done = team.hz("doctor", "--accept-head", "--json")
    assert (done.json["era"], done.json["receipts"], len(done.json["cut"])) == (1, 2, 2)
    assert team.git("diff-tree", "-r", "--name-only", "--no-commit-id", "hz-state") == "ledger.json"
    assert "local:" in team.git("log", "-1", "--format=%s", "hz-state")
    assert "nothing to accept" in team.hz("doctor", "--accept-head", code=2).said
    assert "2 receipts after 1 accepted loss, all good" in team.hz("doctor", "--now", SOON).out
    team.tick(NEXT)
    assert "receipts after 1 accepted loss, head `" in team.board
    assert "all good" in team.hz("receipts", "verify").out


def test_who_accepted_a_loss_notices_when_that_is_undone(tmp_path: Path) -> None:
    team = used(Team(tmp_path))
    cut(team.local / "state.git", 2)
    team.hz("doctor", "--accept-head")
    cut(team.local / "state.git", 1)
    said = team.hz("tick", "--now", SOON, code=4).out
    assert "this machine vouches for 2 receipts after 1 accepted loss (head " in said
    assert "the ledger has 2 and is from before that" in said
    assert team.hz("doctor", "--accept-head", "--json").json["era"] == 2


@pytest.mark.parametrize("shared", [False, True])
def test_a_ledger_that_was_cut_can_be_put_back(tmp_path: Path, shared: bool) -> None:  # noqa: FBT001
    made = Site(tmp_path)
    words = ("--remote", made.url) if shared else ()
    team = used(made.team, *words)
    cut(made.remote if shared else team.local / "state.git", 2)
    done = team.hz("doctor", "--now", SOON, "--json", *words, code=4)
    ((_, text),) = [one for one in of(done, "ledger") if one[0] == LOOK]
    command = text.partition("`")[2].partition("`")[0]
    assert command.startswith("git -C ")
    subprocess.run(shlex.split(command), check=True, capture_output=True)
    assert "4 receipts" in team.hz("receipts", "verify", *words).out
    assert "Only looked" not in team.tick(NEXT, *words).out


def test_every_machine_goes_on_with_a_ledger_that_was_accepted(site: Site) -> None:
    ben = Team(site.place / "ben")
    ben.job("hello")
    site.hz("tick", "--now", SOON, team=ben)
    cut(site.remote, 2)
    for team in (None, ben):
        assert "Only looked" in site.hz("tick", "--now", NEXT, team=team, code=4).out
    told = site.hz("receipts", "verify", code=4).err
    assert "this machine vouches for 4 receipts" in told
    assert "the lease of hello vouches for 4 receipts" in told
    assert "published" in told
    refs = site.refs()
    assert of(site.hz("doctor", "--now", NEXT, "--json", code=4), "write")[0][1].startswith("not tried")
    assert site.refs() == refs
    site.hz("doctor", "--accept-head")
    for team in (ben, None):
        site.hz("tick", "--now", NEXT, team=team)
        assert "receipts after 1 accepted loss" in (team or site.team).board
    assert "all good" in site.hz("receipts", "verify").out
    assert "all good" in site.hz("receipts", "verify", team=ben).out
    assert json.loads(site.git("show", "hz-state:ledger.json"))["era"] == 1


def test_a_branch_that_was_removed_can_be_accepted_too(site: Site) -> None:
    site.git("update-ref", "-d", "refs/heads/hz-state")
    assert "this machine vouches for 4 receipts" in site.hz("receipts", "verify", code=4).err
    assert site.hz("doctor", "--accept-head", "--json").json["receipts"] == 0
    assert json.loads(site.git("show", "hz-state:ledger.json"))["era"] == 1
    assert site.hz("doctor", "--now", SOON).code == 0
    site.hz("tick", "--now", NEXT)


def test_what_was_cut_is_named_though_it_lay_only_on_the_server(tmp_path: Path) -> None:
    """Ben fetched what ann recorded, without the files of it; the server still gives them out."""
    made = Site(tmp_path)
    with watched(tmp_path) as server:
        made.url = f"{server.url}/state.git"
        used(made.team, "--remote", made.url)
        ben = Team(tmp_path / "ben")
        ben.job("hello")
        made.hz("tick", "--now", SOON, team=ben)
        cut(made.remote, 2)
        found = made.hz("receipts", "verify", "--json", team=ben, code=4).json
    assert sorted(one["step"] for one in found["cut"]) == ["approved", "published"]


def test_two_of_them_at_once_are_refused(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    assert "not allowed with" in team.hz("doctor", "--repair", "--accept-head", code=2).said


def test_what_the_leases_say_of_a_job_names_its_missing_receipts(site: Site) -> None:
    """Held by a machine that saw more of the job than there is, in a ledger that is as long by chance."""
    site.git("update-ref", "-d", LEASE)
    site.hold(LATER, seq=9)
    options = parse(["--remote", site.url])
    (standing,) = assembly.open_world(str(site.team.root), options, 0, looking=True).leases.standing()
    if not standing.seq:
        pytest.skip("leases do not tell yet how much of their job they know")
    told = site.hz("receipts", "verify", code=4).err
    assert "hello: its lease knows of 9 receipts, its chain has 4: receipts 5 to 9 are missing" in told


def test_a_segment_that_was_damaged_is_found_and_a_folded_job_is_counted(site: Site) -> None:
    used(site.team, "--remote", site.url)
    position = json.loads(site.git("show", "hz-state:jobs/hello.json"))
    ledger = json.loads(site.git("show", "hz-state:ledger.json"))
    line = {"seq": 3, "last": "7" * 64, "generation": 2}
    put(
        site,
        {"jobs/.folded.json": {"v": 1, "jobs": {"old": line}}, "segments/1-00.jsonl": position, "ledger.json": ledger},
    )
    told = [text for _, text in of(site.hz("doctor", "--now", SOON, "--json", code=4), "ledger")]
    assert any("segments/1-00.jsonl was changed" in text for text in told), told
    assert any("the positions 11" in text for text in told), told
