"""draft: orders → outcomes."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hz_team.adapters.process import SupervisedProcesses
from hz_team.errors import UsageError
from hz_team.model.draft import Cost
from hz_team.model.facet import Facets
from hz_team.model.job import Index, Job, Settings, Step
from hz_team.model.order import Order
from hz_team.phases.draft import Workshop, draft
from tests.drafting import NOW, run, shell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def workshop(*jobs: Job, parallel: int = 4, **more: Any) -> Workshop:
    made = Workshop(
        "/nowhere",
        Index("k", 0, jobs, settings=Settings(parallel=parallel)),
        SupervisedProcesses(),
        {},
        NOW,
        lambda _: {},
    )
    return made._replace(**more)


def job(name: str, *steps: Step, **more: Any) -> Job:
    return Job(name, name.title(), f".hz/jobs/{name}.yaml", steps=steps, publish={"issue": {}})._replace(**more)


def order(name: str) -> Order:
    return Order(name, "schedule", "due")


def test_several_drafts_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell('echo b > "$HZ_DRAFTS/2.md"; echo a > "$HZ_DRAFTS/1.md"; echo first > "$HZ_DRAFT"'))
    assert [draft.body for draft in outcome.drafts] == ["first", "a", "b"]


def test_no_draft_is_nothing_to_say(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell("echo just talking"))
    assert (outcome.status, outcome.drafts, outcome.error) == ("rendered", (), "")


def test_without_publish_a_draft_is_kept(tmp_path: Path) -> None:
    assert run(tmp_path, shell("echo hi > $HZ_DRAFT"), publish={}).drafts[0].kind == ""


def test_75_asks_to_be_tried_again(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell("echo busy >&2; exit 75"))
    assert (outcome.status, outcome.retry, outcome.tail) == ("failed", True, "busy")
    assert outcome.error == ".hz/jobs/digest.yaml:1: step 1 (run) asks to be tried again (75)"


def test_a_failure_names_file_line_and_step_and_shows_the_last_lines(tmp_path: Path) -> None:
    script = 'for n in $(seq 100); do echo "line $n"; done; printf "\\033[31mred\\033[0m\\a\\n" >&2; exit 3'
    outcome = run(tmp_path, shell("true"), shell(script, line=12))
    assert outcome.error == ".hz/jobs/digest.yaml:12: step 2 (run) ended with 3"
    assert outcome.tail.split("\n")[-2:] == ["line 100", "red"]
    assert len(outcome.tail.split("\n")) == 20


def test_a_signal_is_named(tmp_path: Path) -> None:
    assert run(tmp_path, shell("kill -SEGV $$")).error.endswith("was ended by signal 11")


def test_the_steps_share_the_jobs_time(tmp_path: Path) -> None:
    began = time.monotonic()
    outcome = run(tmp_path, shell("sleep 0.8"), shell("sleep 60"), timeout=2)
    assert time.monotonic() - began < 6
    assert "step 2 (run) was ended after 1 s, with everything it had started" in outcome.error


def test_a_step_is_tried_again_with_what_it_found_and_its_cost_is_kept(tmp_path: Path) -> None:
    first = shell('echo one > "$HZ_DRAFT"')
    second = shell(
        'echo \'{"usd": 1}\' >> "$HZ_COST"; cat "$HZ_DRAFT"; echo spoiled >> "$HZ_DRAFT"; echo x > "$HZ_DRAFTS/x.md"; '
        '[ -e tried ] || { touch tried; exit 1; }; rm "$HZ_DRAFTS/x.md"',
        retries=1,
    )
    outcome = run(tmp_path, first, second)
    assert (outcome.status, outcome.drafts[0].body) == ("rendered", "one\nspoiled")
    assert outcome.cost._replace(ms=0) == Cost(0, 0, 2_000_000)


def test_retries_end(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell("echo x >> count; wc -l < count; exit 1", retries=2))
    assert (outcome.status, outcome.tail) == ("failed", "3")


def test_a_failed_run_tells_its_cost(tmp_path: Path) -> None:
    assert run(tmp_path, shell("echo '{\"tokens\": 9}' > $HZ_COST; exit 1")).cost.tokens == 9


def test_only_declared_names_are_passed_and_only_names_are_told(tmp_path: Path) -> None:
    environ = {"STYLE": "plain", "GITHUB_TOKEN": "ghs_123456789", "HZ_JOB": "other"}
    outcome = run(
        tmp_path,
        shell('echo "$STYLE $GITHUB_TOKEN $HZ_JOB" > $HZ_DRAFT', env=("STYLE", "HZ_JOB", "MISSING")),
        environ=environ,
    )
    assert outcome.drafts[0].body == "plain  digest"
    assert outcome.env == ("HZ_JOB", "STYLE")
    assert "MISSING is named in `env` and is not set" in outcome.warnings[0]


def test_a_declared_secret_is_in_no_draft_no_error_and_no_tail(tmp_path: Path) -> None:
    secret = "s3cret-value-that-leaks"
    script = 'printf "%s" "$API_TOKEN" | base64 > "$HZ_DRAFT"; echo "---\ntitle: $API_TOKEN\n---\n$API_TOKEN" > "$HZ_DRAFTS/a.md"'
    outcome = run(tmp_path, shell(script, env=("API_TOKEN",)), environ={"API_TOKEN": secret})
    assert [(draft.title, draft.body) for draft in outcome.drafts][1][0] == "***"
    assert secret not in repr(outcome)
    failed = run(tmp_path, shell('echo "$API_TOKEN"; exit 1', env=("API_TOKEN",)), environ={"API_TOKEN": secret})
    assert failed.tail == "***"


def test_the_ticks_own_token_reaches_no_step(tmp_path: Path) -> None:
    environ = {"GITHUB_TOKEN": "ghs_write"}
    outcome = run(tmp_path, shell("touch ran", env=("GITHUB_TOKEN",)), environ=environ, withheld=("ghs_write",))
    assert (outcome.status, outcome.retry) == ("failed", False)
    assert "GITHUB_TOKEN holds a token that may write" in outcome.error
    assert "ghs_write" not in repr(outcome)


def test_a_kind_that_cannot_run_yet_is_told(tmp_path: Path) -> None:
    outcome = run(tmp_path, Step("tool", {"tool": "claude"}))
    assert (outcome.status, outcome.retry) == ("failed", False)
    assert "step 1 (tool) is not run yet: there is no step `tool`" in outcome.error


def test_refused_alone_is_refused_and_beside_others_is_told(tmp_path: Path) -> None:
    bad = "printf -- '---\\ntarget: evil/repo\\n---\\nx' > $HZ_DRAFTS/1.md"
    alone = run(tmp_path, shell(bad))
    assert (alone.status, alone.retry, alone.drafts) == ("refused", False, ())
    assert "target: evil/repo" in alone.error
    beside = run(tmp_path, shell(f"{bad}; echo good > $HZ_DRAFTS/2.md"))
    assert (beside.status, len(beside.drafts), len(beside.refusals)) == ("rendered", 1, 1)


def test_more_than_twenty_drafts_are_a_failure(tmp_path: Path) -> None:
    script = "for n in $(seq {0}); do echo $n > $HZ_DRAFTS/$n.md; done"
    assert len(run(tmp_path, shell(script.format(20))).drafts) == 20
    assert "21 proposals from one run; at most 20" in run(tmp_path, shell(script.format(21))).error


def test_what_was_new_to_the_draft_is_counted(tmp_path: Path) -> None:
    facets = {"a": Facets(added=({"id": "1", "title": ""},)), "b": Facets()}
    assert run(tmp_path, shell("true"), facets=facets).sources == {"a-watch": 1, "b-watch": 0}


def test_outcomes_come_in_the_order_of_the_orders_and_run_side_by_side() -> None:
    jobs = [job(f"j{n}", shell(f"sleep 1; echo {n} > $HZ_DRAFT")) for n in range(3)]
    began = time.monotonic()
    outcomes = draft([order("j2"), order("j0"), order("j1")], workshop(*jobs))
    assert time.monotonic() - began < 2.9
    assert [(one.job, one.drafts[0].body) for one in outcomes] == [("j2", "2"), ("j0", "0"), ("j1", "1")]


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (2, 2)])
def test_orders_of_one_job_run_no_more_at_once_than_it_allows(concurrency: int, most: int) -> None:
    at_work: list[int] = []
    seen: list[int] = []
    lock = threading.Lock()

    @contextmanager
    def scratch(name: str) -> Iterator[str]:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            with lock:
                at_work.append(1)
                seen.append(len(at_work))
            yield folder
            with lock:
                at_work.pop()

    one = job("one", shell("sleep 0.3"), concurrency=concurrency)
    assert len(draft([order("one")] * 4, workshop(one, scratch=scratch))) == 4
    assert max(seen) == most


def test_one_order_never_touches_another() -> None:
    def facets(asked: Order) -> Mapping[str, Facets]:
        if asked.job == "bug":
            raise IndexError("ours")
        raise UsageError("the state is gone")

    jobs = (job("bug", watches={"w": "w"}), job("error", watches={"w": "w"}), job("good", shell("echo hi > $HZ_DRAFT")))
    bug, error, good, gone = draft(
        [order("bug"), order("error"), order("good"), order("gone")], workshop(*jobs, facets=facets)
    )
    assert (bug.status, "a bug in hz-team" in bug.error, "IndexError" in bug.tail) == ("failed", True, True)
    assert (error.status, error.error) == ("failed", "the state is gone")
    assert good.status == "rendered"
    assert (gone.status, gone.retry) == ("failed", False)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    @contextmanager
    def scratch(name: str) -> Iterator[str]:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(dir=tmp_path) as folder:
            yield folder

    script = "mkdir -p a/b; touch a/b/c; chmod 0 a/b; echo x > $HOME/x; echo x > $TMPDIR/x"
    assert draft([order("one")], workshop(job("one", shell(script)), scratch=scratch))[0].status == "rendered"
    assert list(tmp_path.iterdir()) == []
