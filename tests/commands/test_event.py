"""A run of Actions reads its event file: every command a process of its own, the state in a repository on this machine."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.terminal import HELLO, LATER, MONDAY, NOON, Run, Team
from tests.git_server import bare, count_pushes

if TYPE_CHECKING:
    from pathlib import Path

HOME = "acme/housework"
HOUR_LATER = "2026-11-29T13:00:30Z"
MINUTE_LATER = "2026-11-29T12:01:00Z"
TWO_LATER = "2026-11-29T12:02:00Z"
ASKED = 'on: poke\ninputs: {week: {type: number}}\nsteps:\n  - run: echo "hello" > "$HZ_DRAFT"\npublish: {issue: {title: "Hello"}}\n'
LOOKS = """\
on: {event: push}
watch: {notes: {type: files, paths: ["notes/*.md"], every: 1h}}
steps:
  - run: echo "hello" > "$HZ_DRAFT"
publish: {issue: {title: "Hello"}}
"""
PAGE = "<!-- hz:dashboard 1 acme/housework -->"


class House:
    """A team on Actions, and the repository of its state."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.remote = bare(place / "state.git")
        self.log = count_pushes(self.remote)
        self.team = Team(place / "team")
        self.file = place / "event.json"

    def hz(
        self, *words: str, name: str = "", payload: Any = None, now: str = NOON, code: int = 0, **environ: str
    ) -> Run:
        """Type a command in a run that an event started."""
        if payload is not None:
            self.file.write_text(json.dumps({**self.who(), **payload}), encoding="utf-8")
        known = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": HOME,
            "GITHUB_RUN_ID": "4711",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(self.file),
        }
        return self.team.hz(
            *words, "--now", now, "--remote", self.remote.as_uri(), code=code, environ={**known, **environ}
        )

    def tick(self, name: str = "", payload: Any = None, **more: Any) -> Run:
        return self.hz("tick", name=name, payload=payload, **more)

    def poke(self, client: dict[str, Any], **more: Any) -> Run:
        payload = {"action": "hz-poke", "client_payload": client}
        return self.tick("repository_dispatch", payload, **more)

    @staticmethod
    def who(by: str = "mona") -> dict[str, Any]:
        place = {"full_name": HOME, "fork": False, "default_branch": "main"}
        return {"repository": place, "sender": {"login": by, "type": "User"}}

    def receipts(self) -> list[dict[str, Any]]:
        """Receipts, oldest first."""
        return list(reversed(self.hz("receipts", "list", "--lines", "0", "--json").json))

    def git(self, *words: str) -> str:
        command = ("git", "-C", str(self.remote), *words)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def wakes(self, commit: str = "hz-state") -> list[str]:
        """What was asked for and is on record."""
        return self.git("ls-tree", "-r", "--name-only", commit, "wakes/").split()

    def pushes(self) -> list[str]:
        """The refs of each push since the last question."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        self.log.write_text("", encoding="utf-8")
        return lines

    def refs(self) -> str:
        return self.git("for-each-ref")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_dispatch_is_on_record_before_it_is_drafted_and_its_second_delivery_counts_no_more(house: House) -> None:
    house.team.job("hello", ASKED)
    house.tick("schedule", {})
    house.pushes()
    client = {"job": "hello", "inputs": {"week": 49}}
    said = house.poke(client)
    assert "mona poked hello" in said.out
    claim, *_ = house.pushes()
    assert "refs/hz/lease/job/hello" in claim
    assert "refs/heads/hz-state" in claim
    (asked,) = (
        line.split()[0]
        for line in house.git("log", "--format=%H %s", "hz-state").splitlines()
        if "asked for: hello" in line
    )
    (path,) = house.wakes(asked)
    poke = json.loads(house.git("show", f"{asked}:{path}"))
    assert (poke["by"], poke["via"], poke["cause"], poke["inputs"]) == ("mona", "dispatch", "external", {"week": 49})
    assert house.wakes() == []
    for again in ("2", "3"):
        house.poke(client, GITHUB_RUN_ATTEMPT=again, now=TWO_LATER)
    rendered, waiting = house.receipts()
    assert (rendered["disposition"], waiting["disposition"]) == ("rendered", "awaiting_approval")
    assert rendered["wake"] == {"cause": "external", "slot": None, "refs": [poke["id"]]}
    house.poke(client, GITHUB_RUN_ID="4712", now=TWO_LATER)
    assert [one["disposition"] for one in house.receipts()].count("rendered") == 2


def test_a_job_without_watches_is_drafted_for_every_dispatch(house: House) -> None:
    house.team.job("hello", ASKED)
    house.tick("schedule", {})
    for run in ("4711", "4712", "4712"):
        house.poke({"job": "hello"}, GITHUB_RUN_ID=run, now=MINUTE_LATER)
    assert [one["disposition"] for one in house.receipts()].count("rendered") == 2


def test_a_dispatch_through_a_split_tick_is_drafted_once(house: House) -> None:
    house.team.job("hello", ASKED)
    house.tick("schedule", {})
    payload = {"action": "hz-poke", "client_payload": {"job": "hello"}}
    plan, drafts = str(house.place / "plan"), str(house.place / "drafts")
    planned = house.hz("plan", "--out", plan, "--json", name="repository_dispatch", payload=payload).json
    assert planned["jobs"] == ["hello"]
    assert len(house.wakes()) == 1
    house.team.hz("draft", "--plan", plan, "--job", "hello", "--out", drafts)
    words = ("settle", "--plan", plan, "--digest", planned["digest"], "--drafts", drafts)
    assert "mona poked hello" in house.hz(*words, name="repository_dispatch", now=MINUTE_LATER).out
    assert house.wakes() == []
    house.tick("repository_dispatch", payload, now=TWO_LATER)
    assert [one["disposition"] for one in house.receipts()] == ["rendered", "awaiting_approval"]


@pytest.mark.parametrize(
    ("name", "payload", "why"),
    [
        (
            "issues",
            {
                "action": "edited",
                "issue": {"number": 1, "body": PAGE},
                "sender": {"login": "github-actions[bot]", "type": "Bot"},
            },
            "Ignored: github-actions[bot] is this program's own account.\n",
        ),
        (
            "issue_comment",
            {"action": "created", "issue": {"number": 7, "body": "It is broken"}},
            "Ignored: #7 is no page of ours.\n",
        ),
    ],
)
def test_an_event_that_does_not_count_is_one_line_and_touches_nothing(
    name: str, payload: dict[str, Any], why: str, house: House
) -> None:
    house.team.job("hello")
    assert house.tick(name, payload)[:] == (0, why, "")
    assert house.hz("tick", "--json", name=name, payload=payload).json == {"ignored": why[9:-2]}
    outputs = house.place / "outputs"
    out = str(house.place / "plan")
    assert house.hz("plan", "--out", out, name=name, payload=payload, GITHUB_OUTPUT=str(outputs)).out == why
    assert outputs.read_text(encoding="utf-8") == "digest=\njobs=[]\ncount=0\nsettle=false\n"
    assert (house.refs(), house.pushes()) == ("", [])


def test_in_a_fork_nothing_is_done_unless_the_configuration_names_it(house: House) -> None:
    house.team.job("hello")
    fork = {"full_name": "someone/fork", "fork": True}
    before = house.team.contents()
    said = house.tick("schedule", {"repository": fork}, GITHUB_REPOSITORY="someone/fork")
    assert said.out.startswith("Ignored: someone/fork is a fork and not the home repository")
    assert (house.refs(), house.team.contents()) == ("", before)
    house.team.write(".hz/hz.yaml", "limits: {drafts_per_tick: nobody}\n")
    assert "Ignored: " in house.tick("schedule", {"repository": fork}, GITHUB_REPOSITORY="someone/fork").out
    assert house.refs() == ""


def test_an_event_makes_a_helper_look_now_and_nothing_else_happens_where_nothing_changed(house: House) -> None:
    house.team.job("hello", LOOKS)
    house.team.write("notes/a.md", "a")
    push = {"ref": "refs/heads/main"}
    house.tick("schedule", {})
    assert house.receipts()[0]["wake"]["cause"] == "input"
    tip = house.refs()
    assert "Nothing due" in house.tick("push", push, now=MINUTE_LATER).out
    house.team.write("notes/b.md", "b")
    assert "Nothing due" in house.tick("schedule", {}, now=MINUTE_LATER).out
    assert house.refs() == tip
    assert "mona pushed" in house.tick("push", push, now=TWO_LATER).out
    rendered = [one for one in house.receipts() if one["disposition"] == "rendered"]
    assert [one["wake"] for one in rendered] == [{"cause": "input", "slot": None, "refs": []}] * 2


def test_an_event_that_got_lost_is_made_up_for_by_the_next_look(house: House) -> None:
    house.team.job("hello", LOOKS)
    house.team.write("notes/a.md", "a")
    house.tick("schedule", {})
    house.team.write("notes/b.md", "b")
    house.tick("schedule", {}, now=HOUR_LATER)
    assert [one["disposition"] for one in house.receipts()].count("rendered") == 2


def test_a_dispatch_that_brings_nothing_new_leaves_nothing_behind(house: House) -> None:
    house.team.job("hello", LOOKS)
    house.team.write("notes/a.md", "a")
    house.tick("schedule", {})
    tip = house.refs()
    house.poke({"job": "hello"}, now=MINUTE_LATER)
    assert (house.refs(), house.wakes()) == (tip, [])
    by_hand = {"inputs": {"job": "hello"}}
    house.tick("workflow_dispatch", by_hand, now=MINUTE_LATER, GITHUB_RUN_ID="4712")
    assert [one["wake"]["cause"] for one in house.receipts() if one["disposition"] == "rendered"] == ["input", "manual"]


def test_a_dispatch_that_waited_and_brings_nothing_new_is_forgotten(house: House) -> None:
    house.team.job("hello", LOOKS)
    house.team.write("notes/a.md", "a")
    house.tick("schedule", {})
    house.hz("pause")
    house.poke({"job": "hello"}, now=MINUTE_LATER)
    assert len(house.wakes()) == 1
    house.hz("resume", now=MINUTE_LATER)
    house.team.job("other", HELLO)
    house.tick("schedule", {}, now=TWO_LATER)
    assert house.wakes() == []
    assert [one["disposition"] for one in house.receipts()].count("rendered") == 1


def test_what_does_not_fit_is_said_and_the_tick_goes_on(house: House) -> None:
    house.team.job("hello", HELLO)
    house.tick("schedule", {})
    said = house.poke({"job": "hello", "inputs": {"week": 49}}, now=MONDAY)
    assert "mona: hello has no input week; declared: none" in said.out
    assert [one["wake"]["cause"] for one in house.receipts() if one["disposition"] == "rendered"] == ["schedule"]
    assert house.wakes() == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is no JSON"),
        (b"\xff", "is no JSON"),
        (b"[" * 200_000, "is no JSON"),
        (b"[]", "holds no object"),
        (None, "No such file"),
    ],
)
def test_an_event_that_cannot_be_read_is_said_and_the_clock_goes_on(
    content: bytes | None, words: str, house: House
) -> None:
    house.team.job("hello", HELLO)
    house.tick()
    if content is not None:
        house.file.write_bytes(content)
    said = house.tick("issues", now=MONDAY)
    assert words in said.said
    assert "as if the clock had woken it" in said.said
    assert "due since" in said.out
    assert "Nothing due" in house.tick("issues", now=LATER, GITHUB_ACTIONS="").out


def test_validate_says_where_an_event_can_wake_nobody(house: House) -> None:
    house.team.job("deaf", 'on: [{event: issues, types: [opened]}, {dispatch: release-cut}]\nsteps:\n  - run: "true"\n')
    house.team.job("looks", LOOKS)
    said = house.team.hz("validate").out
    assert "not run yet" not in said
    note = "deaf.yaml:1: note: an event only makes the job look, and no watch of it shows `issues`: it never wakes it"
    assert f"{note}; add `{{type: github.issues}}` to `watch`" in said
    assert "looks.yaml" not in said
