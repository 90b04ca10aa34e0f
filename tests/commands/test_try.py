"""`hz-team try`: drafts one job, disabled or not, and changes no byte of anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.commands.terminal import DIGEST, MONDAY, NOON, TEMPLATE, Team

if TYPE_CHECKING:
    from pathlib import Path

INPUTS = """\
enabled: false
on: {cron: "0 9 * * MON"}
inputs:
  since: {type: string, pattern: "v[0-9.]+", required: true}
  loud: {type: boolean, default: false}
steps:
  - run: cat "$HZ_INPUTS" > "$HZ_DRAFT"
publish: {issue: {title: "Since"}}
"""


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A team with a disabled digest of files, and a slot behind it."""
    made = Team(tmp_path)
    made.write(".hz/watches.yaml", 'learning: {type: files, paths: ["notes/*.md"]}\n')
    made.write(".hz/templates/digest.md.j2", TEMPLATE)
    made.write("notes/a.md", "a\n")
    made.job("digest", DIGEST + "enabled: false\n")
    made.tick(NOON)
    return made


def test_it_changes_no_byte(team: Team) -> None:
    before, refs = team.contents(), team.git("for-each-ref")
    out = team.hz("try", "digest", "--now", MONDAY).out
    assert out.startswith("digest, slot Mon 30 Nov 2026 09:00 UTC   ")
    assert "\n\nDigest, week 49\nif approved: opens an issue here\n" in out
    assert "notes/a.md" in out
    assert out.endswith("Nothing was recorded. `hz-team run digest` does it for real.\n")
    assert (team.contents(), team.git("for-each-ref")) == (before, refs)


def test_with_items_from_a_file_at_another_slot(team: Team) -> None:
    items = team.root / "items.json"
    items.write_text(json.dumps([{"title": "First"}, {"title": "Second @all"}]))
    before = team.contents()
    out = team.hz("try", "digest", "--watch", f"learning={items}", "--at", "2026-07-06T09:00:00Z", "--json").json
    (draft,) = out["drafts"]
    assert draft["title"] == "Digest, week 28"
    assert draft["body"].startswith("- First\n- Second @")
    assert team.contents() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nothing", "no helper called nothing"),
        ("digset", "no helper called digset; did you mean digest?"),
        ("digest --watch nix=x", "--watch nix=x: write NAME=FILE; digest watches learning"),
        ("digest --watch learning", "--watch learning: write NAME=FILE; digest watches learning"),
        ("digest --watch learning=nowhere.json", "nowhere.json: No such file or directory; it should hold"),
        ("digest --at monday", "`monday` is not a time; write it as"),
        ("digest --input x", "--input x: write it as NAME=VALUE"),
        ("digest --input x=1", "digest has no input x; declared: none"),
        ("", "the following arguments are required: JOB"),
    ],
)
def test_wrong_words(team: Team, words: str, said: str) -> None:
    run = team.hz("try", *words.split(), code=2)
    assert said in run.said
    assert run.out == ""


@pytest.mark.parametrize("content", ["{}", "[1]", "nonsense"])
def test_a_file_that_is_no_list_of_items(team: Team, content: str) -> None:
    (team.root / "items.json").write_text(content)
    run = team.hz("try", "digest", "--watch", f"learning={team.root / 'items.json'}", code=2)
    assert "should hold a JSON list of items" in run.said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "since needs the input since"),
        ("--input since=latest", "since: input since must match v[0-9.]+"),
        ("--input since=v1 --input loud=perhaps", "since: input loud must be true or false"),
        ("--input sinse=v1", "since has no input sinse; declared: loud, since"),
    ],
)
@pytest.mark.parametrize("command", ["try", "run"])
def test_inputs_are_declared_typed_and_bounded(tmp_path: Path, command: str, given: str, said: str) -> None:
    team = Team(tmp_path)
    team.job("since", INPUTS)
    assert team.hz(command, "since", *given.split(), code=2).said.startswith(f"hz-team: {said}")
    assert team.waiting == []


def test_run_with_inputs(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("since", INPUTS.replace("enabled: false\n", ""))
    out = team.hz("run", "since", "--input", "since=v1.2", "--now", NOON).out
    assert "  wake     you asked for since\n" in out
    assert "since         asked for by you\n" in out
    (name,) = team.waiting
    assert team.hz("inbox", "show", name, "--json").json["proposal"]["inputs"] == {"loud": False, "since": "v1.2"}
    assert "v1.2" in team.page(name)


def test_a_fresh_root_stays_as_it_is_and_a_watch_from_a_file_is_not_looked_at(tmp_path: Path) -> None:
    team = Team(tmp_path / "team")
    team.write("items.json", '[{"title": "First"}]')
    team.write(".hz/templates/digest.md.j2", TEMPLATE)
    watch = "watch: {learning: {type: github.issues, state: open}}"
    team.job("digest", DIGEST.replace("watch: [learning]", watch).replace("issue:", "label:"))
    before = team.contents()
    team.hz("try", "digest", code=2)
    out = team.hz("try", "digest", "--watch", f"learning={team.root / 'items.json'}", code=0).out
    assert "refused: asked for " in out
    assert (team.contents(), team.local.exists()) == (before, False)


def test_a_kind_that_cannot_be_published_yet_is_shown_all_the_same(tmp_path: Path) -> None:
    team = Team(tmp_path / "team")
    team.job("notes", "on: poke\nsteps:\n  - template: |\n      hello\npublish: {discussion: {}}\n")
    assert "\nif approved: nothing: discussion cannot be published here\n" in team.hz("try", "notes").out
