"""`run_job`: a team's unit test of its own job."""

from __future__ import annotations

from pathlib import Path

import pytest

from hz_team.errors import UsageError
from hz_team.plugin import Facets
from hz_team.testing import run_job

STALE = '''
from hz_team.plugin import Cursor, Facets, Inputs, Proposal, job, watch

@watch(every="6h")
def quiet(cursor: Cursor, days: int = 60) -> Facets: ...

@job(schedule="0 7 * * MON", publish={"comment": {"each": "issue"}}, approve="write", timeout="5m")
def stale(quiet: Facets, inputs: Inputs) -> list[Proposal]:
    """One part per issue; an empty list means: nothing to say."""
    return [
        Proposal(title=f"Close #{issue.number}?", body=f"Quiet since {issue.updated:%d %B %Y}.", target=issue.ref)
        for issue in quiet.added
    ]

@job(name="Says no")
def failing(inputs: Inputs):
    raise ValueError(f"no {inputs.since}")
'''
ISSUE = {"number": 7, "ref": "#7", "updated": "2026-09-01"}


@pytest.fixture
def root(tmp_path: Path) -> str:
    jobs = tmp_path / ".hz" / "jobs"
    jobs.mkdir(parents=True)
    (jobs / "stale.py").write_text(STALE, encoding="utf-8")
    return str(tmp_path)


def test_a_job_is_run_on_items(root: str) -> None:
    (proposal,) = run_job("stale", root=root, quiet=[ISSUE])
    assert (proposal.title, proposal.body, proposal.target) == ("Close #7?", "Quiet since 01 September 2026.", "#7")


@pytest.mark.parametrize("quiet", [Facets(added=[ISSUE]), {"added": [ISSUE]}])
def test_parts_may_be_given(root: str, quiet: object) -> None:
    assert len(run_job("stale", root=root, quiet=quiet)) == 1


def test_a_watch_that_is_left_out_saw_nothing(root: str) -> None:
    assert run_job("stale", root=root) == []


def test_a_failure_shows_the_jobs_own_line(root: str) -> None:
    with pytest.raises(UsageError, match=r"stale\.py:17: ValueError: no v1"):
        run_job("Says no", root=root, inputs={"since": "v1"})


def test_wrong_names_are_told(root: str) -> None:
    with pytest.raises(UsageError, match=r"no Python job nothing .* there is stale, failing"):
        run_job("nothing", root=root)
    with pytest.raises(UsageError, match="stale watches quiet; it has no queit"):
        run_job("stale", root=root, queit=[])
