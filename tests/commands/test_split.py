"""A tick in three processes: `plan --out`, `draft`, `settle`; each on a machine of its own, as three Actions jobs."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.terminal import DIGEST, HELLO, LATER, MONDAY, NOON, TEMPLATE, Run, Team
from tests.git_server import bare, count_pushes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

WATCH = 'learning: {type: files, paths: ["notes/*.md"]}\n'
AFTER_EXPIRY = "2026-11-30T10:30:00Z"
"""Later than the lease of Monday's plan."""
POLICY = "- {owner: local, job: hello, kind: issue, target: here, until: 2027-06-01}\n"


class Workflow:
    """Three machines that share the team's files and nothing else but what is handed over."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.remote = bare(place / "state.git")
        self.log = count_pushes(self.remote)
        self.team = Team(place / "home")
        """Where it is planned and settled, and where people tick boxes."""
        self.plans = 0

    def job(self, name: str = "hello", text: str = HELLO) -> None:
        self.team.job(name, text)

    def hz(self, *words: str, now: str = MONDAY, code: int = 0, environ: Mapping[str, str] | None = None) -> Run:
        """Type a command that may reach the state."""
        return self.team.hz(*words, "--now", now, "--remote", self.remote.as_uri(), code=code, environ=environ)

    def tick(self, now: str, *words: str) -> Any:
        return self.hz("tick", "--json", *words, now=now).json

    def plan(self, now: str = MONDAY, **environ: str) -> Any:
        """Plan into a new folder; return what it says."""
        self.plans += 1
        return self.hz("plan", "--out", str(self.folder), "--json", now=now, environ=environ).json

    @property
    def folder(self) -> Path:
        """What the last plan wrote."""
        return self.place / f"plan-{self.plans}"

    @property
    def drafts(self) -> Path:
        return self.place / f"drafts-{self.plans}"

    def draft(self, job: str = "hello", code: int = 0, **environ: str) -> Run:
        """Draft on a machine that cannot reach the state: it is not even where it was."""
        worker = Team(self.place / f"worker-{self.plans}-{job}")
        for file in self.team.root.rglob("*"):
            if file.is_file() and self.team.local not in file.parents:
                worker.write(str(file.relative_to(self.team.root)), file.read_text(encoding="utf-8"))
        away = self.remote.rename(self.place / "out-of-reach.git")
        try:
            words = ("draft", "--plan", str(self.folder), "--job", job, "--out", str(self.drafts))
            return worker.hz(*words, code=code, environ={**environ, "XDG_CACHE_HOME": str(worker.root / "cache")})
        finally:
            away.rename(self.remote)

    def settle(self, digest: str, *, now: str = LATER, code: int = 0, drafts: bool = True) -> Run:
        """Settle the last plan."""
        where = ("--drafts", str(self.drafts)) if drafts else ()
        words = ("settle", "--plan", str(self.folder), "--digest", digest, *where, "--json")
        return self.hz(*words, now=now, code=code)

    def through(self, now: str = MONDAY, later: str = LATER) -> Any:
        """Plan, draft and settle; return what settle says."""
        planned = self.plan(now)
        for job in planned["jobs"]:
            self.draft(job)
        return self.settle(planned["digest"], now=later).json

    def receipts(self, *wanted: str) -> list[dict[str, Any]]:
        """Receipts of these dispositions (none: all), oldest first; the ledger verifies."""
        assert "all good" in self.hz("receipts", "verify").out
        found = self.hz("receipts", "list", "--lines", "0", "--json").json
        return [one for one in reversed(found) if not wanted or one["disposition"] in wanted]

    def told(self) -> list[str]:
        """What became of everything, oldest first."""
        return [receipt["disposition"] for receipt in self.receipts()]

    def pushes(self) -> int:
        """How many pushes there were since the last question."""
        count = len(self.log.read_text().splitlines())
        self.log.write_text("")
        return count

    def waiting(self) -> list[str]:
        """Ids of the open decisions."""
        return [proposal["id"] for proposal in self.hz("inbox", "--json").json]

    def wakes(self) -> list[str]:
        """What was asked for and is on record, by path."""
        return self.git("ls-tree", "-r", "--name-only", "hz-state", "wakes/").split()

    def cursor(self, watch: str) -> Any:
        """Where a watch stands on the branch."""
        (path,) = self.git("ls-tree", "-r", "--name-only", "hz-state", f"cursors/{watch}/").split()
        return json.loads(self.git("show", f"hz-state:{path}"))

    def git(self, *words: str) -> str:
        command = ("git", "-C", str(self.remote), *words)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def tampered(self, change: Callable[[dict[str, Any]], object], job: str = "hello") -> None:
        """Change what a draft process handed back."""
        path = self.drafts / f"{job}.json"
        said = json.loads(path.read_text())
        change(said)
        path.write_text(json.dumps(said))

    def error(self) -> str:
        """Why the one failed receipt says that it failed."""
        (failed,) = self.receipts("failed")
        return str(failed["error"])


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    made = Workflow(tmp_path)
    made.job()
    made.tick(NOON)
    made.pushes()
    return made


def test_three_processes_draft_what_one_tick_would_and_publish_what_was_ticked(workflow: Workflow) -> None:
    planned = workflow.plan()
    assert (planned["jobs"], planned["settle"], workflow.pushes()) == (["hello"], True, 1)
    assert 'draft  hello  "Hello"' in workflow.draft().out
    settled = workflow.settle(planned["digest"]).json
    assert (settled["drafted"], workflow.pushes()) == (1, 2)
    assert workflow.told() == ["rendered", "awaiting_approval"]
    (rendered,) = workflow.receipts("rendered")
    assert rendered["runner"]["level"]
    assert rendered["cost"]["ms"] > 0

    workflow.team.tick_box()
    planned = workflow.plan(LATER)
    assert (planned["jobs"], planned["settle"]) == ([], True)
    assert workflow.settle(planned["digest"], drafts=False).json["published"] == 1
    assert workflow.told()[2:] == ["approved", "published"]
    assert len(workflow.team.out) == 1
    assert workflow.plan(LATER)["settle"] is False


def test_a_split_tick_records_the_bytes_that_one_process_would(workflow: Workflow, tmp_path: Path) -> None:
    workflow.through()
    whole = Workflow(tmp_path / "whole")
    whole.job()
    whole.tick(NOON)
    whole.tick(LATER)
    told = [
        [(one["disposition"], one["memo_key"], one["draft"], one["wake"], one["sources"]) for one in made.receipts()]
        for made in (workflow, whole)
    ]
    assert told[0] == told[1]


def test_templates_run_no_code_of_the_team_and_are_drafted_by_settle(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path)
    workflow.job("weekly", DIGEST)
    workflow.team.write(".hz/templates/digest.md.j2", TEMPLATE)
    workflow.team.write(".hz/watches.yaml", WATCH)
    workflow.team.write("notes/one.md", "# One\n")
    workflow.tick(NOON)
    planned = workflow.plan()
    assert planned["jobs"] == []
    assert workflow.settle(planned["digest"], drafts=False).json["drafted"] == 1
    (rendered,) = workflow.receipts("rendered")
    assert rendered["sources"] == {"learning": 1}


def test_a_draft_that_never_arrives_is_a_failure_on_record_and_tried_again(workflow: Workflow) -> None:
    planned = workflow.plan()
    workflow.settle(planned["digest"], drafts=False)
    assert workflow.told() == ["failed"]
    assert "never arrived" in workflow.error()
    settled = workflow.through(AFTER_EXPIRY, AFTER_EXPIRY)
    assert settled["drafted"] == 1
    assert workflow.told() == ["failed", "rendered", "awaiting_approval"]


def test_a_job_that_fails_is_told_as_it_failed(workflow: Workflow) -> None:
    workflow.job("hello", HELLO.replace('echo "hello" > "$HZ_DRAFT"', "echo out of paper >&2; exit 3"))
    workflow.through()
    assert "ended with 3" in workflow.error()


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_settle_takes_the_plan_that_was_made_and_no_other(workflow: Workflow, digest: str) -> None:
    workflow.plan()
    workflow.draft()
    workflow.pushes()
    said = workflow.settle(digest, code=2)
    assert "digest" in said.json["error"]
    assert workflow.pushes() == 0


def test_a_changed_plan_is_refused(workflow: Workflow) -> None:
    digest = workflow.plan()["digest"]
    path = workflow.folder / "plan.json"
    path.write_bytes(path.read_bytes().replace(b'"due since 09:00"', b'"due since 10:00"'))
    assert "another plan" in workflow.settle(digest, code=2).json["error"]


def test_a_settle_that_is_run_again_changes_nothing(workflow: Workflow) -> None:
    workflow.team.write(".hz/policies/auto-approve.yaml", POLICY)
    workflow.tick(NOON)
    planned = workflow.plan()
    workflow.draft()
    assert workflow.settle(planned["digest"]).json["published"] == 1
    before = workflow.receipts()
    said = workflow.settle(planned["digest"], code=75)
    assert "hello" in said.json["error"]
    assert (workflow.receipts(), len(workflow.team.out)) == (before, 1)


def test_settle_after_a_takeover_records_nothing(workflow: Workflow) -> None:
    planned = workflow.plan()
    workflow.draft()
    assert workflow.tick(AFTER_EXPIRY)["drafted"] == 1
    before = workflow.receipts()
    assert "hello" in workflow.settle(planned["digest"], now=AFTER_EXPIRY, code=75).json["error"]
    assert workflow.receipts() == before


CHANGES = {
    "paused": (".hz/control.yaml", "paused: true\n", "paused"),
    "disabled": (".hz/control.yaml", "disabled: [hello]\n", "disabled"),
    "changed": (".hz/jobs/hello.yaml", HELLO.replace("hello", "goodbye"), "changed"),
    "broken": (".hz/jobs/hello.yaml", "steps: [\n", "its file is gone or has an error"),
    "another clock": (".hz/jobs/hello.yaml", HELLO.replace("0 9", "30 8"), "changed"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_what_was_switched_off_or_changed_meanwhile_is_not_recorded(workflow: Workflow, kind: str) -> None:
    planned = workflow.plan()
    workflow.draft()
    before, (file, text, why) = workflow.receipts(), CHANGES[kind]
    workflow.team.write(file, text)
    said = workflow.settle(planned["digest"], code=75).json["error"]
    assert why in said
    assert "nothing was recorded" in said
    assert workflow.receipts() == before
    workflow.team.write(file, HELLO if file.endswith("hello.yaml") else "{}\n")
    assert workflow.tick(LATER)["drafted"] == 1, "its lease was given back"


def test_a_slot_that_is_too_late_by_now_is_not_recorded(workflow: Workflow) -> None:
    workflow.job("hello", HELLO.replace('cron: "0 9 * * MON"', 'cron: "0 9 * * MON", max_late: 10m'))
    workflow.tick(NOON)
    planned = workflow.plan()
    workflow.draft()
    assert "max_late" in workflow.settle(planned["digest"], now="2026-11-30T09:11:00Z", code=75).json["error"]
    assert workflow.told() == []


def test_one_job_that_changed_does_not_hold_up_the_other(workflow: Workflow) -> None:
    workflow.job("bye", HELLO.replace("Hello", "Bye"))
    workflow.tick(NOON)
    planned = workflow.plan()
    assert sorted(planned["jobs"]) == ["bye", "hello"]
    workflow.draft("bye")
    workflow.draft("hello")
    workflow.team.write(".hz/control.yaml", "disabled: [hello]\n")
    settled = workflow.settle(planned["digest"]).json
    assert (settled["drafted"], {one["job"] for one in workflow.receipts()}) == (1, {"bye"})
    assert {"job": "hello", "reason": "changed"} in settled["skips"]


def test_what_was_asked_for_is_on_record_before_it_is_drafted_and_consumed_after(workflow: Workflow) -> None:
    workflow.team.tick_box("run")
    planned = workflow.plan(NOON)
    assert len(workflow.wakes()) == 1
    workflow.draft()
    assert workflow.settle(planned["digest"], now=NOON).json["drafted"] == 1
    assert workflow.wakes() == []
    assert workflow.plan(NOON)["jobs"] == [], "asked for once, drafted once"


def test_a_draft_process_opens_nothing_and_is_refused_a_token(workflow: Workflow) -> None:
    workflow.job("hello", HELLO.replace("  - run:", "  - env: [PUSH]\n    run:"))
    workflow.tick(NOON)
    planned = workflow.plan()
    secret = "github_pat_11ABCDEFG0abcdefghij"
    workflow.draft(PUSH=secret, GITHUB_TOKEN=secret)
    workflow.settle(planned["digest"])
    assert "token that may write" in workflow.error()
    assert secret not in (workflow.drafts / "hello.json").read_text()


def _other(said: dict[str, Any]) -> None:
    said["job"] = "weekly"


def _answer(said: dict[str, Any]) -> None:
    said["plan"] = "0" * 64


def _twice(said: dict[str, Any]) -> None:
    said["outcomes"] *= 2


def _field(said: dict[str, Any]) -> None:
    said["outcomes"][0]["approved"] = True


def _kind(said: dict[str, Any]) -> None:
    said["outcomes"][0]["drafts"][0]["kind"] = "release"


def _target(said: dict[str, Any]) -> None:
    said["outcomes"][0]["drafts"][0]["target"] = "evil/repository"


def _many(said: dict[str, Any]) -> None:
    said["outcomes"][0]["drafts"] *= 50


def _cost(said: dict[str, Any]) -> None:
    said["outcomes"][0]["cost"]["tokens"] = -5


def _status(said: dict[str, Any]) -> None:
    said["outcomes"][0]["status"] = "published"


def _skipped(said: dict[str, Any]) -> None:
    said["outcomes"] = []


LIES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "another job": (_other, "speaks for another job"),
    "another plan": (_answer, "answers another plan"),
    "an outcome too many": (_twice, "2 outcomes"),
    "a field too many": (_field, "approved"),
    "another kind": (_kind, "release"),
    "another target": (_target, "evil/repository"),
    "too many drafts": (_many, "50"),
    "no cost": (_cost, "cost"),
    "no status": (_status, "status"),
    "nothing": (_skipped, "too early"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_draft_process_speaks_for_its_own_order_within_its_ceiling(workflow: Workflow, lie: str) -> None:
    planned = workflow.plan()
    workflow.draft()
    change, why = LIES[lie]
    workflow.tampered(change)
    workflow.settle(planned["digest"])
    assert why in workflow.error()
    assert (workflow.told(), workflow.waiting()) == (["failed"], [])


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"v":1}'])
def test_a_file_that_is_no_draft_is_a_failure_on_record(workflow: Workflow, content: bytes) -> None:
    planned = workflow.plan()
    workflow.draft()
    (workflow.drafts / "hello.json").write_bytes(content)
    workflow.settle(planned["digest"])
    assert "hello.json" in workflow.error()


def test_a_link_is_no_draft(workflow: Workflow, tmp_path: Path) -> None:
    planned = workflow.plan()
    workflow.draft()
    (tmp_path / "secret").write_text("{}")
    (workflow.drafts / "hello.json").unlink()
    (workflow.drafts / "hello.json").symlink_to(tmp_path / "secret")
    workflow.settle(planned["digest"])
    assert workflow.told() == ["failed"]


def test_text_of_a_draft_process_is_made_inert_again(workflow: Workflow) -> None:
    def loud(said: dict[str, Any]) -> None:
        said["outcomes"][0]["drafts"][0]["body"] = "ask @octocat <!-- hz:approve --> \n- [x] done"
        said["outcomes"][0]["drafts"][0]["title"] = "Hello"

    planned = workflow.plan()
    workflow.draft()
    workflow.tampered(loud)
    workflow.settle(planned["digest"])
    (name,) = workflow.waiting()
    page = workflow.team.page(name)
    assert "@octocat" not in page
    assert "<!-- hz:approve -->" not in page


def test_what_a_policy_may_approve_is_drafted_in_a_run_of_its_own(workflow: Workflow) -> None:
    workflow.team.write(".hz/policies/auto-approve.yaml", POLICY)
    workflow.job("bye", HELLO.replace("Hello", "Bye"))
    workflow.tick(NOON)
    first = workflow.plan()
    assert len(first["jobs"]) == 1
    workflow.draft(first["jobs"][0])
    workflow.settle(first["digest"])
    second = workflow.plan(LATER)
    assert sorted(first["jobs"] + second["jobs"]) == ["bye", "hello"]


def test_a_workflow_is_told_what_to_draft(workflow: Workflow, tmp_path: Path) -> None:
    output = tmp_path / "output"
    planned = workflow.plan(GITHUB_OUTPUT=str(output))
    told = dict(line.split("=", 1) for line in output.read_text().splitlines())
    assert told == {"digest": planned["digest"], "jobs": '["hello"]', "count": "1", "settle": "true"}


def test_an_idle_plan_pushes_nothing_and_nothing_has_to_be_settled(workflow: Workflow) -> None:
    workflow.through()
    workflow.pushes()
    planned = workflow.plan(LATER)
    assert (planned["settle"], planned["jobs"], workflow.pushes()) == (False, [], 0)


def test_a_clock_that_owes_several_slots_has_them_drafted_in_their_order(workflow: Workflow) -> None:
    workflow.job("hello", HELLO.replace('cron: "0 9 * * MON"', 'cron: "0 * * * *", catch_up: all'))
    workflow.tick(NOON)
    planned = workflow.plan("2026-11-29T15:30:00Z")
    workflow.draft()
    workflow.settle(planned["digest"], now="2026-11-29T15:31:00Z")
    slots = [receipt["wake"]["slot"] for receipt in workflow.receipts("rendered")]
    assert slots == [f"2026-11-29T{hour}:00:00Z" for hour in (12, 13, 14, 15)]


def test_a_watch_that_somebody_looked_at_meanwhile_keeps_what_he_saw(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path)
    for name in ("weekly", "daily"):
        clock = "0 9 * * MON" if name == "weekly" else "3 9 * * *"
        workflow.job(
            name,
            DIGEST.replace("0 9 * * MON", clock).replace("template: digest.md.j2", "run: cat $HZ_FACETS > $HZ_DRAFT"),
        )
    workflow.team.write(".hz/watches.yaml", WATCH)
    workflow.tick(NOON)
    workflow.team.write("notes/one.md", "# One\n")
    planned = workflow.plan()
    workflow.draft("weekly")
    workflow.team.write("notes/two.md", "# Two\n")
    assert workflow.tick("2026-11-30T09:04:00Z")["drafted"] == 1
    seen = workflow.cursor("learning")["snapshot"]
    settled = workflow.settle(planned["digest"], now=LATER).json
    assert settled["drafted"] == 1
    rendered = workflow.receipts("rendered")
    assert [(one["job"], one["sources"]) for one in rendered] == [
        ("daily", {"learning": 2}),
        ("weekly", {"learning": 1}),
    ]
    assert workflow.cursor("learning")["snapshot"] == seen
    names = workflow.git("ls-tree", "-r", "--name-only", "hz-state").split()
    for path in (name for name in names if name.startswith("proposals/")):
        snapshot = json.loads(workflow.git("show", f"hz-state:{path}"))["snapshot"]["learning"]
        assert f"facets/{snapshot[:2]}/{snapshot}.json" in names


def test_a_plan_that_cannot_be_written_gives_its_leases_back(workflow: Workflow) -> None:
    (workflow.place / "plan-1").mkdir()
    (workflow.place / "plan-1" / "plan.json").mkdir()
    said = workflow.hz("plan", "--out", str(workflow.place / "plan-1"), code=4).said
    assert "cannot be written" in said
    assert workflow.tick(MONDAY)["drafted"] == 1


def test_slots_that_somebody_counted_meanwhile_are_no_objection(workflow: Workflow) -> None:
    """A tick for another job notes what rides along, at every job."""
    workflow.job("bye", HELLO.replace("Hello", "Bye").replace("0 9 * * MON", "2 9 * * *"))
    workflow.tick(NOON)
    planned = workflow.plan()
    workflow.draft()
    assert workflow.tick("2026-11-30T09:03:00Z")["drafted"] == 1
    assert workflow.settle(planned["digest"]).json["drafted"] == 1


def test_without_a_shared_state_there_is_nothing_to_hand_over(workflow: Workflow, tmp_path: Path) -> None:
    said = workflow.team.hz("plan", "--out", str(tmp_path / "plan"), code=2).said
    assert "--remote" in said


def test_a_draft_for_a_job_that_was_not_planned_says_what_was(workflow: Workflow) -> None:
    workflow.plan()
    assert "planned: hello" in workflow.draft("weekly", code=2).said
