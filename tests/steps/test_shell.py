"""`run`: a script for bash, and what it is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hz_team.model.facet import Facets
from hz_team.model.job import Step
from hz_team.model.order import Redraft
from hz_team.surroundings import VARIABLES
from tests.drafting import LANDLOCK, WHY_NOT, run, shell, team


def body(outcome: object) -> str:
    drafts = outcome.drafts  # type: ignore[attr-defined]
    assert drafts, outcome
    return str(drafts[0].body)


def test_a_script_drafts(tmp_path: Path) -> None:
    assert body(run(tmp_path, shell('echo "# Hello" > "$HZ_DRAFT"'))) == "# Hello"


def test_bash_stops_at_the_first_error_and_sees_through_pipes(tmp_path: Path) -> None:
    assert run(tmp_path, shell("false | cat; echo on > $HZ_DRAFT")).error.endswith("step 1 (run) ended with 1")


def test_the_environment_is_the_one_of_the_page(tmp_path: Path) -> None:
    known = {name for names, _ in VARIABLES for name in names.split(", ")}
    script = 'env -0 | cut -z -d= -f1 | tr "\\0" "\\n" > "$HZ_DRAFT"'
    names = set(body(run(tmp_path, shell("echo a=1 >> $HZ_OUTPUT"), shell(script))).split())
    assert names - {"PWD", "SHLVL", "_", "OLDPWD", "HZ_OUTPUT_A"} == known - {"HZ_OUTPUT_<NAME>", "HZ_PROMPT"}


def test_facets_inputs_slot_and_job_are_told(tmp_path: Path) -> None:
    seen = {"releases": Facets(added=({"id": "1", "title": "One"},))}
    script = 'cat "$HZ_FACETS" "$HZ_INPUTS" > "$HZ_DRAFT"; echo "$HZ_JOB $HZ_SLOT $TZ" >> "$HZ_DRAFT"'
    text = run(tmp_path, shell(script), publish={}, facets=seen, inputs={"since": "v1"}).drafts[0].body
    facets, end = json.JSONDecoder().raw_decode(text)
    assert facets["releases"] == {"added": [{"id": "1", "title": "One"}], "changed": [], "removed": [], "all": []}
    assert text[end:].strip() == '{"since": "v1"}digest 2026-12-02T08:26:40+00:00 UTC'


def test_a_redraft_is_told_the_note_and_the_old_draft(tmp_path: Path) -> None:
    redraft = Redraft("p-1", "shorter", "0" * 64, "Old title", "Old body")
    outcome = run(tmp_path, shell('cat "$HZ_NOTE" <(echo) "$HZ_PREVIOUS" > "$HZ_DRAFT"'), redraft=redraft)
    assert body(outcome) == "shorter\nOld body"


@pytest.mark.skipif(not LANDLOCK, reason=WHY_NOT)
def test_what_a_step_is_told_is_not_its_to_change(tmp_path: Path) -> None:
    assert run(tmp_path, shell('echo x > "$HZ_NOTE"')).error.endswith("ended with 1")


def test_outputs_reach_later_steps(tmp_path: Path) -> None:
    write = "echo one=1 >> $HZ_OUTPUT; printf 'two<<X\\na\\nb\\nX\\n' >> $HZ_OUTPUT"
    read = 'echo "$HZ_OUTPUT_ONE $HZ_OUTPUT_TWO" > "$HZ_DRAFT"; cat "$HZ_OUTPUTS" >> "$HZ_DRAFT"'
    assert body(run(tmp_path, shell(write), shell("true"), shell(read))) == '1 a\nb\n{"ONE": "1", "TWO": "a\\nb"}'


def test_an_output_too_long_for_the_environment_comes_by_file(tmp_path: Path) -> None:
    write = "{ printf 'long='; head -c 200000 /dev/zero | tr '\\0' x; echo; } >> $HZ_OUTPUT"
    read = '[ -z "$HZ_OUTPUT_LONG" ] && wc -c < "$HZ_OUTPUTS" > "$HZ_DRAFT"'
    assert body(run(tmp_path, shell(write), shell(read))).strip() == str(200_000 + len('{"LONG": ""}'))


def test_the_working_folder_is_empty(tmp_path: Path) -> None:
    team(tmp_path, {"README.md": "hello"})
    assert body(run(tmp_path, shell("{ ls -A; echo end; } > $HZ_DRAFT"))) == "end"


def test_a_prompt_arrives_by_input_and_by_file(tmp_path: Path) -> None:
    step = Step("shell", {"run": 'cmp - "$HZ_PROMPT" && wc -c < "$HZ_PROMPT" > "$HZ_DRAFT"', "prompt": "--help `id`\n"})
    assert body(run(tmp_path, step)).strip() == "12"
