"""`hz-draft`: text or JSON in, a draft and its cost out."""

from __future__ import annotations

from pathlib import Path

import pytest

from hz_team.model.draft import Cost
from hz_team.steps.hz_draft import understand
from tests.drafting import run, shell

AGENT = '{"type":"result","is_error":false,"result":"# Answer","total_cost_usd":0.0123,"usage":{"input_tokens":10,"output_tokens":5}}'


@pytest.mark.parametrize(
    ("text", "fields", "body", "cost"),
    [
        ("# Hello\n", {}, "# Hello\n", {}),
        ("{not json", {}, "{not json", {}),
        ('{"other": 1}', {}, '{"other": 1}', {}),
        ('{"title": "T", "body": "B", "labels": ["a"]}', {"title": "T", "labels": ["a"]}, "B", {}),
        ('{"body": "B", "cost": {"usd": 1, "tokens": 2}}', {}, "B", {"usd": 1, "tokens": 2}),
        (AGENT, {"is_error": False}, "# Answer", {"usd": 0.0123, "tokens": 15}),
        ('{"type":"start"}\n{"type":"text"}\n' + AGENT, {"is_error": False}, "# Answer", {"usd": 0.0123, "tokens": 15}),
        ('{"result": null, "is_error": true}', {"is_error": True}, "", {"usd": 0, "tokens": 0}),
        ('{"result": "R", "usage": null}', {"is_error": False}, "R", {"usd": 0, "tokens": 0}),
    ],
)
def test_what_is_understood(text: str, fields: dict[str, object], body: str, cost: dict[str, object]) -> None:
    assert understand(text) == (fields, body, cost)


def test_text_becomes_the_draft(tmp_path: Path) -> None:
    draft = run(tmp_path, shell("echo '# Hi' | hz-draft --title 'My title' --label one --label two")).drafts[0]
    assert (draft.title, draft.labels, draft.body) == ("My title", ("one", "two"), "# Hi")


def test_an_agents_result_becomes_draft_and_cost(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell(f"printf %s '{AGENT}' | hz-draft"))
    assert outcome.drafts[0].body == "# Answer"
    assert outcome.cost._replace(ms=0) == Cost(0, 15, 12_300)


def test_several_calls_are_several_drafts(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell("for n in 1 2 3; do echo $n | hz-draft; done"))
    assert [draft.body for draft in outcome.drafts] == ["1", "2", "3"]


def test_an_agents_error_is_a_failure(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell('echo \'{"is_error": true, "result": "out of credit"}\' | hz-draft'))
    assert outcome.status == "failed"
    assert "out of credit" in outcome.tail


def test_nothing_is_no_draft(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell("true | hz-draft"))
    assert (outcome.status, outcome.drafts) == ("rendered", ())
