"""The command line: words, sentences and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hz_team.cli import COMMANDS, command_at
from tests.commands.terminal import HELLO, MONDAY, NOON, Team, hz

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("tick", 0),
        ("--root x tick", 2),
        ("--root tick", None),
        ("--root tick tick", 2),
        ("--json tick --root x", 1),
        ("--remote tick", 1),
        ("--remote file:///x tick", 2),
        ("--now 2026-11-30T09:00:00Z plan --next 1", 2),
        ("--as mona inbox approve p-1", 2),
        ("nothing tick", None),
        ("", None),
    ],
)
def test_the_command_word_stands_anywhere(words: str, place: int | None) -> None:
    assert command_at(words.split()) == place


def test_options_before_and_after_the_word(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    root = ("--root", str(tmp_path))
    outs = {
        hz(*words).out
        for words in (
            ("jobs", *root, "--json", "--now", NOON),
            (*root, "jobs", "--json", "--now", NOON),
            ("--now", NOON, "--json", *root, "jobs"),
        )
    }
    assert len(outs) == 1
    assert json.loads(outs.pop())[0]["job"] == "hello"


def test_without_a_command(tmp_path: Path) -> None:
    run = hz(cwd=tmp_path, code=2)
    assert run.out == ""
    assert all(f"  {name}" in run.err for name in COMMANDS)
    assert hz("--help").out == hz("help").out == run.err
    assert hz("--version").out.startswith("hz-team 0.")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    run = hz(command, "--help")
    assert run.out.startswith(f"usage: hz-team {command} ")
    assert "--root DIR" in run.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("tik", "no command called 'tik'; did you mean `tick`?"),
        ("frobnicate", "no command called 'frobnicate'; `hz-team --help` lists them"),
        ("--root", "there is no command here; `hz-team --help` lists them"),
        ("tick --foo", "tick: unrecognized arguments: --foo; `hz-team tick --help` says what it takes"),
        ("tick", "no .hz/ here or in any parent folder; `hz-team init` makes one"),
        ("tick --root nix", "nix: no .hz/ here; `hz-team init --root nix` makes one"),
        ("receipts", "no .hz/ here or in any parent folder; `hz-team init` makes one"),
    ],
)
def test_an_error_is_one_sentence(tmp_path: Path, words: str, said: str) -> None:
    run = hz(*words.split(), cwd=tmp_path, code=2)
    assert (run.out, run.said) == ("", f"hz-team: {said}")
    as_json = hz(*words.split(), "--json", cwd=tmp_path, code=2)
    if words != "--root":  # takes the next word as its value
        assert as_json.json == {"error": said, "exit": 2}
    assert list(tmp_path.iterdir()) == []


def test_the_nearest_parent(tmp_path: Path) -> None:
    Team(tmp_path).job("hello")
    below = tmp_path / "a/b"
    below.mkdir(parents=True)
    assert "hello" in hz("jobs", cwd=below).out
    assert "  show     ../../.hz/local/DASHBOARD.md\n" in hz("tick", cwd=below).out


def test_a_narrow_terminal_gets_what_it_can_show(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello", HELLO.replace("Hello", "Zażółć 🧝", 1))
    narrow = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert team.hz("config", environ=narrow).out.count("\\U0001f9dd") == 1
    assert team.hz("jobs", "--json", environ=narrow).json[0]["name"] == "Zażółć 🧝"


def test_a_reader_that_leaves_early_is_no_bug(tmp_path: Path) -> None:
    team = Team(tmp_path)
    for number in range(300):
        team.job(
            f"job-{number}",
            "on: poke\nsteps: [{run: 'true'}]\n" if number else "on: {cron: '0 9 * * 1'}\nsteps: [{run: 'true'}]\n",
        )
    words = f"{sys.executable} -m hz_team plan --next 3000 --root {tmp_path} --now {NOON} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(("bash", "-c", words), capture_output=True, text=True, check=True)
    assert (done.stdout.splitlines()[1:], done.stderr) == (["0"], "")


def test_json_is_all_there_is(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("hello")
    team.tick(NOON)
    drafted = team.tick(MONDAY, "--json")
    (name,) = drafted.json["open"]
    (receipt, *_) = team.receipts()
    for words in (
        "tick", "tick --dry-run", "plan", "plan --next 2", "try hello", "jobs", "validate", "config",
        f"inbox show {name}", f"inbox reject {name}", "run hello", "inbox", "receipts", "receipts verify", "pause", "resume",
        f"receipts show {receipt['id'][:12]}",
    ):  # fmt: skip
        run = team.hz(*words.split(), "--json", "--now", "2026-11-30T09:02:00Z")
        assert run.err == "", words
        assert run.json is not None, words
