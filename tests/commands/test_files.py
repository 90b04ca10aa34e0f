"""`hz-team validate`, `config`, `plan`, `jobs`: what the files of a team say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.commands.terminal import HELLO, MONDAY, NOON, Team

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = """\
timezone: Europe/Berlin
approve: {by: [octocat, "role:maintain"], need: 2}
publish: {hosts: [hooks.example.org], repositories: [acme/housework]}
teams: {acme/docs: [octocat, hubot]}
"""


def test_every_error_of_every_file_at_once(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.job("one", "on: {crno: '0 9 * * MON'}\nsteps: [{run: 'true'}]\nstpes: 3\n")
    team.job("two", 'on: poke\nsteps: [{run: "true", "\\e[31mred": 1}]\n')
    team.write(".hz/hz.yaml", "budget: {minuts: 300}\n")
    run = team.hz("validate", code=2)
    lines = run.err.splitlines()
    assert run.out == ""
    assert lines[-1].endswith("errors; 1 helper can run all the same")
    assert all(re.match(r"\.hz/\S+:\d+: error: .+", line) for line in lines[:-1]), run.err
    assert {line.split(":")[0] for line in lines[:-1]} == {".hz/hz.yaml", ".hz/jobs/one.yaml", ".hz/jobs/two.yaml"}
    assert "did you mean" in run.err
    assert "\x1b" not in run.err
    findings = team.hz("validate", "--json", code=2).json["findings"]
    assert len(findings) == len(lines) - 1


def test_an_invalid_file_stops_nobody_else(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.tick(NOON)
    team.job("broken", "on: nonsense here\nsteps: 3\n")
    run = team.tick(MONDAY)
    assert '"Hello"' in run.out
    assert ".hz/jobs/broken.yaml:1: " in run.err
    assert ".hz/jobs/broken.yaml:1" in team.board
    as_json = team.tick("2026-11-30T09:02:00Z", "--json")
    assert (as_json.err, len(as_json.json["errors"]) > 0) == ("", True)
    assert "its file has an error" in team.hz("run", "broken", code=2).said


def test_colliding_ids(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.job("other", f"id: hello\n{HELLO}")
    for words in ("tick", "plan", "jobs", "inbox"):
        said = team.hz(*words.split(), code=2).said
        assert "hello" in said
        assert ".hz/jobs/other.yaml" in said or ".hz/jobs/hello.yaml" in said
    assert "hello" in team.hz("validate", code=2).err


def test_config_reads_like_a_person_wrote_it(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.job("bare", "on: poke\nsteps: [{run: 'true'}]\npublish: {issue: {}}\n")
    team.write(".hz/hz.yaml", SETTINGS)
    run = team.hz("config")
    rows = {row[0]: row for line in run.out.splitlines() if (row := re.split(r" {2,}", line))}
    assert rows["key"] == ["key", "value", "from"]
    assert rows["timezone"] == ["timezone", "Europe/Berlin", ".hz/hz.yaml:1"]
    assert rows["approve"][1] == "by: octocat, role:maintain; need: 2; from: dashboard; expires: 14d"
    assert rows["jobs.hello.approve"][1:] == [rows["approve"][1], ".hz/hz.yaml:2"]
    assert rows["publish.hosts"][1] == "hooks.example.org"
    assert rows["modules"][1:] == ["–", "default"]
    assert rows["jobs.bare.publish"][1] == "issue"
    assert rows["paused"][1] == "no"
    assert not set(run.out) & set("{}[]'")
    values = {row["key"]: row["value"] for row in team.hz("config", "--json").json}
    assert values["teams"] == {"acme/docs": ["octocat", "hubot"]}
    assert values["paused"] is False


def test_plan_tells_the_next_slots(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello", HELLO.replace('MON"}', 'MON", timezone: Europe/Berlin}'))
    team.job("asked", "on: poke\nsteps: [{run: 'true'}]\n")
    before = team.contents()
    assert team.hz("plan", "--next", "2", "--now", "2026-03-22T12:00:00Z").out.splitlines() == [
        "helper  next                        offset  UTC",
        "hello   Mon 23 Mar 2026 09:00 CET   +01:00  2026-03-23T08:00:00Z",
        "hello   Mon 30 Mar 2026 09:00 CEST  +02:00  2026-03-30T07:00:00Z",
    ]
    assert team.hz("plan", "--next", "0").out == "no slot is to come\n"
    assert team.contents() == before


@pytest.mark.parametrize("words", ["plan", "tick --dry-run"])
def test_a_dry_run_plans_and_writes_nothing(tmp_path: Path, words: str) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.tick(NOON)
    before = team.contents()
    due = team.hz(*words.split(), "--now", MONDAY)
    assert due.out == "Mon 30 Nov 2026 09:01 UTC\n  wake     schedule\n  plan     hello         due since 09:00\n"
    idle = team.hz(*words.split(), "--now", "2026-11-29T12:01:00Z")
    assert idle.out == "Nothing due. Next: Mon 30 Nov 2026 09:00 UTC, hello.\n"
    assert team.contents() == before


def test_jobs(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.job("off", f"enabled: false\n{HELLO}")
    team.tick(NOON)
    assert team.hz("jobs", "--now", "2026-11-29T13:00:00Z").out.splitlines() == [
        "helper  last   next",
        "hello   never  Mon 30 Nov 2026 09:00 UTC",
        "off     never  disabled in .hz/jobs/off.yaml",
    ]
    assert team.hz("jobs", "--now", MONDAY).out.splitlines()[1] == "hello   never  with the next tick"
