"""`python`: functions of a team's file, run in a child."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hz_team.model.facet import Facets
from hz_team.model.job import Settings, Step
from hz_team.steps.python import place
from tests.drafting import run, team

HEAD = "from hz_team.plugin import *\n"
ISSUES = Facets(
    added=(
        {"id": "7", "title": "Old", "number": 7, "ref": "#7", "updated": "2026-09-01"},
        {"id": "8", "title": "Older", "number": 8, "ref": "#8", "updated": "2026-08-01T10:00:00Z"},
    ),
)
STALE = """
@job(publish={"comment": {"each": "issue"}})
def stale(quiet: Facets, inputs: Inputs, slot, note: str = "") -> list[Proposal]:
    return [
        Proposal(title=f"Close #{issue.number}?", body=f"Quiet since {issue.updated:%d %B %Y}. @octocat", target=issue.ref)
        for issue in quiet.added
    ]
"""


def drafted(tmp_path: Path, source: str, function: str = "f", **more: Any) -> Any:
    team(tmp_path, {".hz/jobs/my.py": HEAD + source})
    return run(tmp_path, Step("python", {"python": f"my.py:{function}"}), **more)


def test_one_proposal_an_issue_becomes_one_draft_with_parts(tmp_path: Path) -> None:
    outcome = drafted(tmp_path, STALE, "stale", publish={"comment": {"each": "issue"}}, facets={"quiet": ISSUES})
    (draft,) = outcome.drafts
    assert (draft.kind, draft.target, draft.title, draft.body) == ("comment", "#7", "A digest: 2 comments", "")
    assert [part["target"] for part in draft.parts] == ["#7", "#8"]
    assert draft.parts[0]["body"].startswith("Quiet since 01 September 2026. @")
    assert "@octocat" not in draft.parts[0]["body"]
    assert outcome.sources == {"quiet-watch": 2}


@pytest.mark.parametrize(
    ("returned", "bodies"),
    [
        ('"# Text"', ["# Text"]),
        ("None", []),
        ("[]", []),
        ('Proposal(title="T", body="B")', ["B"]),
        ('[Proposal(body="one"), Proposal(body="two")]', ["one", "two"]),
        ('{"title": "T", "body": "from a mapping"}', ["from a mapping"]),
        ('"---\\ntitle: x\\n---\\nlooks like front matter"', ["title: x\n---\nlooks like front matter"]),
        ('"two\\r\\nlines \\u2028 and \\U0001f600"', None),
    ],
)
def test_what_a_function_may_return(tmp_path: Path, returned: str, bodies: list[str] | None) -> None:
    outcome = drafted(tmp_path, f"def f():\n    return {returned}\n", publish={})
    assert outcome.status == "rendered", outcome
    if bodies is not None:
        assert [draft.body for draft in outcome.drafts] == bodies


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def f():\n    1 / 0\n", ".hz/jobs/my.py:3: ZeroDivisionError: division by zero"),
        ("def f():\n    raise SystemExit(4)\n", ".hz/jobs/my.py:3: it exits (code 4)"),
        ("def f(unknown):\n    pass\n", ".hz/jobs/my.py:2: nothing fits the parameter unknown"),
        ("def f():\n    return 7\n", "f returned int"),
        ("def f():\n    return {'no': 1}\n", "is no Proposal"),
        ("g = 1\n", "there is no function f"),
        ("def f(:\n", ".hz/jobs/my.py:2: is no valid Python"),
        ("raise BaseException('top')\n", ".hz/jobs/my.py:2: BaseException: top"),
    ],
)
def test_what_goes_wrong_is_told_with_the_files_own_line(tmp_path: Path, source: str, error: str) -> None:
    outcome = drafted(tmp_path, source)
    assert outcome.status == "failed"
    assert error in outcome.error


def test_what_is_printed_is_output_and_the_traceback_is_in_the_tail(tmp_path: Path) -> None:
    outcome = drafted(
        tmp_path, "def f():\n    print('looking')\n    deeper()\n\ndef deeper():\n    raise ValueError('x')\n"
    )
    assert ".hz/jobs/my.py:7: ValueError: x" in outcome.error
    assert "looking" in outcome.tail
    assert "deeper()" in outcome.tail


def test_a_process_that_ends_hard_is_a_failure(tmp_path: Path) -> None:
    assert "ended with 3" in drafted(tmp_path, "import os\ndef f():\n    os._exit(3)\n").error


def test_the_module_allowlist_holds(tmp_path: Path) -> None:
    source = "def f():\n    import {0}\n    return {0}.__name__\n"
    settings = Settings(modules=("markupsafe",))
    assert drafted(tmp_path, source.format("json"), settings=settings).drafts
    assert drafted(tmp_path, source.format("markupsafe"), settings=settings).drafts
    assert drafted(tmp_path, source.format("jinja2"), settings=Settings(modules=("jinja2",))).drafts
    refused = drafted(tmp_path, source.format("jinja2"), settings=settings)
    assert "jinja2 is not on the list `modules` of .hz/hz.yaml" in refused.error
    sly = "import importlib\ndef f():\n    return importlib.import_module('jinja2').__name__\n"
    assert "jinja2 is not on the list" in drafted(tmp_path, sly, settings=settings).error


def test_the_rest_of_the_repository_is_no_import(tmp_path: Path) -> None:
    team(tmp_path, {".hz/jobs/other.py": "x = 1", "other.py": "x = 2"})
    assert "No module named 'other'" in drafted(tmp_path, "def f():\n    import other\n").error


@pytest.mark.parametrize(
    "spec",
    [
        {"python": "my.py:f"},
        {"python": ".hz/jobs/my.py:f"},
        {"file": ".hz/jobs/my.py", "function": "f"},
        {"python": {"file": ".hz/jobs/my.py", "function": "f"}},
    ],
)
def test_a_function_is_named_in_one_of_these_ways(spec: dict[str, Any]) -> None:
    assert place(spec) == (".hz/jobs/my.py", "f")
