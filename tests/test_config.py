"""`.hz/` compiled: what holds, what is wrong with every file at once, and what a second reading costs."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hz_team import config, schedule, yaml
from hz_team.config import catalog, setting
from hz_team.errors import UsageError
from hz_team.model.config import documents, schemas
from hz_team.model.job import Finding, Index, Job, Trigger, plain

ROOT = Path(__file__).parent.parent
NOW = 1_790_000_000  # Mon 21 Sep 2026
JOB = "on: poke\nsteps:\n  - run: date\n"

DIGEST = """\
# yaml-language-server: $schema=job.schema.json
name: What happened this week
on: {cron: "0 9 * * MON", timezone: Europe/Berlin}
watch: [news, handbook]
steps:
  - template: digest.md.j2
publish:
  issue: {title: "Week {{ slot.week }}", labels: [digest]}
approve: write                 # whoever may write
"""
EVERYTHING = """\
name: Notes for the next release
owner: [mona, acme/docs]
enabled: true
on:
  - {cron: "30 8 * * 1-5", timezone: America/New_York, catch_up: latest, max_late: 2d}
  - poke
  - {dispatch: release-cut}
inputs:
  since: {type: string, pattern: "v[0-9.]+", default: ""}
  deep: {type: boolean, default: false}
  level: {type: choice, options: [low, high], default: low}
  count: {type: number, default: 3}
watch:
  merged: {type: github.pulls, state: merged, every: 1h}
steps:
  - run: ./notes.sh > "$HZ_DRAFT"
    in: repo
    env: [NOTES_STYLE]
    timeout: 5m
environment: docs
publish:
  pull_request: {paths: ["NOTES.md"], branch: "hz/notes-{{ slot.date }}", base: main}
approve: {by: [mona, "role:maintain"], need: 2, not: author, from: page, expires: 14d, hold: 2m}
fresh_for: 7d
retries: {max: 3, backoff: 5m}
timeout: 15m
concurrency: 1
cost: {usd_per_day: 2.50}
"""
AGENT = """\
on: {cron: "0 6 * * 1-5", timezone: Europe/Berlin}
watch: {new: {type: github.issues, state: open, every: 1h}}
steps:
  - tool: claude
    prompt: |
      Suggest labels for what is new.
    tools: read-only
publish: {comment: {each: issue}, label: {each: issue, allow: [bug, docs]}}
approve: write
environment: agents
cost: {usd_per_day: 2}
"""
HEARTBEAT = """\
name: "Pulse"
id: pulse
enabled: true
ttl: 24h
on:
  - cron: '*/5 * * * *'
    mode: create_new

init:
  steps:
    - type: shell
      run: |
        set -euo pipefail
        date -u

resume:
  steps: []

end:
  steps: []
"""
TASK = """\
name: Everything an orchestration task may say
id: task
enabled: true
ttl: 24h
access_control: {lark: {allowed_users: ["*"]}}
on:
  - {cron: "0 9 * * *", mode: resume, workspace_key: desk}
  - cron: "0 10 * * *"
    mode: create_new
    enabled: false
  - lark_bot: {chat_id: "*", message_regex: "^go$"}
schedule:
  - 2026-12-01T09:00:00Z
init:
  steps:
    - {type: shell, run: date, env: {STYLE: short}}
    - {type: codex, prompt: "Go on.", env: {SESSION_ID_FILE_PATH: session}, retries: {max_attempts: 3}}
    - {type: file, path: notes.md, content: hello}
resume:
  steps: [{type: shell, run: date}]
end:
  steps: [{type: shell, run: date}]
"""
WATCHES = """\
releases: {type: github.releases, repositories: [acme/tool], every: 1h}
news: {type: feed, urls: ["https://example.org/feed.xml"], every: 6h}
handbook: {type: files, paths: ["docs/**/*.md"]}
"""
SETTINGS = """\
timezone: Europe/Berlin
approve: write
budget: {minutes: 300, usd_per_day: 5}
teams: {acme/docs: [mona, hubot]}
publish: {repositories: [acme/housework], hosts: ["Hooks.example.org:8443"]}
state: {repository: acme/state}
limits: {drafts_per_tick: 5, parallel: 2}
modules: [humanize]
"""
CONTROL = "paused: false\ndisabled: [task]\ncost: {usd_per_day: 4, jobs: {agent: 0.50}}\n"
POLICIES = "- {owner: mona, job: digest, kind: issue, target: here, until: 2027-03-01}\n"
PYTHON = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["humanize==4.12.3"]
# ///
"""Ask whether quiet issues may go."""
'''
DECLARED: dict[str, Any] = {
    "jobs": [
        {
            "name": "stale",
            "function": "stale",
            "doc": "One part per issue.",
            "line": 12,
            "schedule": "0 7 * * MON",
            "watch": ["quiet", "news"],
            "publish": {"comment": {"each": "issue"}},
            "approve": "write",
            "timeout": "5m",
            "retries": {"max": 2, "backoff": "10m"},
            "catch_up": "all",
            "idempotency": False,
        },
        {
            "name": "On change",
            "function": "tidy",
            "doc": "",
            "line": 20,
            "on": ["quiet", "poke"],
            "watch": ["quiet"],
            "publish": {"issue": {}},
            "idempotency": True,
        },
    ],
    "watches": [{"name": "quiet", "function": "quiet", "doc": "", "line": 6, "every": "6h", "params": {"days": 60}}],
    "errors": [],
}
TEAM = {
    "hz.yaml": SETTINGS,
    "control.yaml": CONTROL,
    "watches.yaml": WATCHES,
    "policies/auto-approve.yaml": POLICIES,
    "templates/digest.md.j2": "{% include 'part.md.j2' %}\n",
    "templates/part.md.j2": "part\n",
    "jobs/digest.yaml": DIGEST,
    "jobs/everything.yaml": EVERYTHING,
    "jobs/agent.yaml": AGENT,
    "jobs/pulse.yaml": HEARTBEAT,
    "jobs/task.yaml": TASK,
    "jobs/stale.py": PYTHON,
}


def declare(path: str, modules: tuple[str, ...]) -> dict[str, Any]:
    assert path == ".hz/jobs/stale.py"
    assert modules in ((), ("humanize",), setting.NOTHING)
    return DECLARED


def nothing(path: str, modules: tuple[str, ...]) -> dict[str, Any]:
    del modules
    return pytest.fail(f"{path} is read again")


def write(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = root / ".hz" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(root)


def load(root: Path, files: dict[str, str]) -> Index:
    return config.load(write(root, files), declare=declare, now=NOW)


def job_of(index: Index, name: str) -> Job:
    return next(job for job in index.jobs if job.id == name)


def said(index: Index, level: str = "error") -> list[str]:
    return [str(finding) for finding in index.findings if finding.level == level]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A team that uses everything."""
    return load(tmp_path_factory.mktemp("team"), TEAM)


def test_a_team_that_uses_everything_has_no_error(team: Index) -> None:
    assert said(team) == []
    assert [job.id for job in team.jobs] == ["agent", "digest", "everything", "pulse", "stale", "task", "tidy"]
    assert team.broken == ()


def test_a_whole_job_in_nine_lines(team: Index) -> None:
    job = job_of(team, "digest")
    (trigger,) = job.triggers
    assert (job.name, job.watches) == ("What happened this week", {"news": "news", "handbook": "handbook"})
    assert (trigger.kind, trigger.cron, trigger.zone, trigger.catch_up) == (
        "cron",
        "0 9 * * 1",
        "Europe/Berlin",
        "latest",
    )
    assert trigger.identity == schedule.identity(trigger)
    assert trigger.window == schedule.window(trigger._replace(window=None), NOW)
    assert [(step.kind, step.spec, step.line) for step in job.steps] == [("template", {"template": "digest.md.j2"}, 6)]
    assert job.publish == {"issue": {"title": "Week {{ slot.week }}", "labels": ["digest"]}}


def test_everything_a_job_can_say(team: Index) -> None:
    job = job_of(team, "everything")
    assert [(trigger.kind, trigger.name, trigger.max_late) for trigger in job.triggers] == [
        ("cron", "", 172800),
        ("poke", "", None),
        ("dispatch", "release-cut", None),
    ]
    (step,) = job.steps
    assert (step.kind, step.place, step.env, step.timeout) == ("shell", "repo", ("NOTES_STYLE",), 300)
    assert {name: one.default for name, one in job.inputs.items()} == {
        "since": "",
        "deep": False,
        "level": "low",
        "count": 3,
    }
    assert job.watches == {"merged": "everything.merged"}
    approve = job.approve
    assert (approve.by, approve.need, approve.not_author, approve.from_page) == (
        ("mona", "role:maintain"),
        2,
        True,
        True,
    )
    assert (approve.expires, approve.hold) == (14 * 86400, 120)
    assert (job.fresh_for, job.retries, job.backoff, job.timeout) == (7 * 86400, 3, 300, 900)
    assert (job.usd_micros_per_day, job.environment, job.owner) == (2_500_000, "docs", ("mona", "acme/docs"))


def test_the_smallest_orchestration_task_loads(team: Index) -> None:
    job = job_of(team, "pulse")
    (trigger,) = job.triggers
    assert (job.name, job.enabled, trigger.cron) == ("Pulse", True, "*/5 * * * *")
    assert job.steps[0].spec == {"run": "set -euo pipefail\ndate -u\n"}
    assert job.pending == ("`ttl`",)


def test_the_printed_heartbeat_task_loads_unchanged(tmp_path: Path) -> None:
    document = ROOT.parent / "shared/seeds/agent-orchestration-daemon.txt"
    if not document.is_file():
        pytest.skip("the orchestration document is not here; the test above has a task of the same shape")
    printed = document.read_text("utf-8")
    task = printed[printed.index('name: "Heartbeat"') : printed.index("See Configuration reference")]
    index = load(tmp_path, {"jobs/heartbeat.yaml": task})
    assert said(index) == []
    assert [(job.id, job.name, job.triggers[0].cron) for job in index.jobs] == [
        ("heartbeat", "Heartbeat", "*/5 * * * *")
    ]


def test_what_has_no_behaviour_yet_is_listed_one_by_one(team: Index) -> None:
    assert job_of(team, "task").pending == (
        "values of `env` (step 1: names only are passed on)",
        "step type `codex` (step 2)",
        "`mode: resume`",
        "`workspace_key`",
        "trigger `lark_bot`",
        "`resume.steps`",
        "`end.steps`",
        "`ttl`",
        "`access_control`",
    )
    assert job_of(team, "agent").pending == (
        "`tool` (step 1)",
        "`environment` (outside Actions, where its secrets are)",
        "publisher `label`",
    )
    assert "`approve.hold`" in job_of(team, "everything").pending
    assert job_of(team, "tidy").pending == ("`idempotency=`",)
    pending = said(team, "pending")
    for text in (
        ".hz/hz.yaml:3: `budget.minutes`",
        ".hz/watches.yaml:1: watch type `github.releases`",
        ".hz/jobs/everything.yaml:14: watch type `github.pulls`",
        ".hz/jobs/stale.py:1: requirements inside a Python file",
        ".hz/jobs/task.yaml:7: `mode: resume`",
    ):
        assert text in pending


def test_an_entry_that_is_off_does_not_wake_and_schedule_is_once(team: Index) -> None:
    triggers = job_of(team, "task").triggers
    assert [(trigger.kind, trigger.cron, trigger.times) for trigger in triggers] == [
        ("cron", "0 9 * * *", ()),
        ("lark_bot", "", ()),
        ("once", "", (1796115600,)),
    ]
    assert triggers[-1].max_late == 86400


def test_declared_python_jobs_are_compiled_like_written_ones(team: Index) -> None:
    stale, tidy = job_of(team, "stale"), job_of(team, "tidy")
    assert (stale.file, stale.line, stale.timeout, stale.retries, stale.backoff) == (
        ".hz/jobs/stale.py",
        12,
        300,
        2,
        600,
    )
    assert [(one.kind, one.cron, one.zone, one.catch_up) for one in stale.triggers] == [
        ("cron", "0 7 * * 1", "Europe/Berlin", "all")
    ]
    assert stale.steps[0].spec == {"file": ".hz/jobs/stale.py", "function": "stale"}
    assert stale.watches == {"quiet": "quiet", "news": "news"}
    assert [(one.kind, one.name) for one in tidy.triggers] == [("watch", "quiet"), ("poke", "")]
    assert tidy.name == "On change"
    quiet = next(watch for watch in team.watches if watch.id == "quiet")
    assert (quiet.kind, quiet.every, quiet.line) == ("python", 21600, 6)
    assert quiet.spec == {
        "file": ".hz/jobs/stale.py",
        "function": "quiet",
        "params": {"days": 60},
        "modules": ["humanize"],
    }


def test_settings_switches_and_policies(team: Index) -> None:
    settings = team.settings
    assert (settings.timezone, settings.drafts_per_tick, settings.parallel) == ("Europe/Berlin", 5, 2)
    assert (settings.usd_micros_per_day, settings.hosts) == (4_000_000, ("hooks.example.org:8443",))
    assert (settings.repositories, settings.state) == (("acme/housework",), "acme/state")
    assert (settings.disabled, settings.modules, settings.teams) == (
        ("task",),
        ("humanize",),
        {"acme/docs": ("mona", "hubot")},
    )
    assert job_of(team, "agent").usd_micros_per_day == 500_000
    (policy,) = settings.policies
    assert (policy.owner, policy.job, policy.kind, policy.target) == ("mona", "digest", "issue", "here")
    assert schedule.moment(policy.until, "Europe/Berlin") == "Tue 2 Mar 2027 00:00 CET"
    assert re.fullmatch("[0-9a-f]{12}", policy.id)


def test_no_key_stands_in_both_settings_files() -> None:
    made = schemas()
    assert not set(made["hz"]["properties"]) & set(made["control"]["properties"])


WRONG = """\
nmae: x
on:
  - {cron: "0 0 31 2 *"}
  - {cron: "0 9 * * *", timzone: UTC}
  - {cron: "0 9 * * *", timezone: utc}
  - {once: [noon]}
  - pok
watch: [newz]
steps:
  - tmplate: x
  - {run: 3, in: repp, timout: 3m}
  - {type: shel, run: x}
  - {template: digst.md.j2}
timeout: 15
approve: {by: maintain, need: 0}
retries: {mx: 3}
cost: {usd_per_day: lots}
publish: {isue: {}, comment: {eech: issue}}
inputs: {since: {type: strin}}
cron: x
"""


def test_all_errors_of_all_files_at_once_with_suggestions(tmp_path: Path) -> None:
    files = {"watches.yaml": WATCHES, "templates/digest.md.j2": "", "jobs/wrong.yaml": WRONG, "jobs/fine.yaml": JOB}
    index = load(
        tmp_path, {**files, "jobs/empty.yaml": "", "jobs/list.yaml": "- a\n", "hz.yaml": "limits: {paralel: 2}\n"}
    )
    expected = [
        ".hz/hz.yaml:1: unknown key `limits.paralel`; did you mean `parallel`?",
        ".hz/jobs/empty.yaml:1: the file is empty; write a job, or remove the file",
        ".hz/jobs/list.yaml:1: the file holds a list; a job is a mapping (`key: value`)",
        ".hz/jobs/wrong.yaml:1: unknown key `nmae`; did you mean `name`?",
        ".hz/jobs/wrong.yaml:3: `on[1].cron`: `0 0 31 2 *` never happens: no such month has a day 31; change day or month",
        ".hz/jobs/wrong.yaml:4: unknown key `on[2].timzone`; did you mean `timezone`?",
        ".hz/jobs/wrong.yaml:5: `on[3].timezone`: `utc` is not a time zone; write UTC (upper and lower case count)",
        ".hz/jobs/wrong.yaml:6: `on[4].once`: `noon` is no timestamp; write 2026-11-30T09:00, with +01:00 or Z if needed",
        '.hz/jobs/wrong.yaml:7: `on[5]`: `pok` does not say when; write `poke`, `{cron: "…"}` or `{watch: pok}`',
        ".hz/jobs/wrong.yaml:8: `watch.newz`: there is no watch `newz`; did you mean `news`?",
        ".hz/jobs/wrong.yaml:10: `steps[1]`: this step does not say what it does; did you mean `template`?",
        ".hz/jobs/wrong.yaml:11: `steps[2].in` is `scratch` or `repo`, not `repp`; did you mean `repo`?",
        ".hz/jobs/wrong.yaml:11: unknown key `steps[2].timout`; did you mean `timeout`?",
        ".hz/jobs/wrong.yaml:12: `steps[3]`: there is no step type `shel`; did you mean `shell`?",
        ".hz/jobs/wrong.yaml:13: `steps[4].template`: there is no file .hz/templates/digst.md.j2; did you mean `digest.md.j2`?",
        ".hz/jobs/wrong.yaml:14: `timeout`: `15` has no unit; write `15s`, `15m`, `15h` or `15d`",
        ".hz/jobs/wrong.yaml:15: `approve.by`: `maintain` could be a login; write `role:maintain`",
        ".hz/jobs/wrong.yaml:15: `approve.need`: 0 would never do anything here; write 1 or more",
        ".hz/jobs/wrong.yaml:16: unknown key `retries.mx`; did you mean `max`?",
        ".hz/jobs/wrong.yaml:17: `cost.usd_per_day`: `lots` is no amount of US dollars; write 2 or 0.50",
        ".hz/jobs/wrong.yaml:18: unknown key `publish.comment.eech`; did you mean `each`?",
        ".hz/jobs/wrong.yaml:18: unknown key `publish.isue`; did you mean `issue`?",
        ".hz/jobs/wrong.yaml:19: `inputs.since.type` is `string`, `number`, `boolean` or `choice`, not `strin`; did you mean `string`?",
        '.hz/jobs/wrong.yaml:20: unknown key `cron`; write it below `on`: `on: {cron: "…"}`',
    ]
    assert sorted(said(index)) == sorted(expected)
    assert [job.id for job in index.jobs] == ["fine"]


def found(tmp_path: Path, text: str, **more: str) -> list[str]:
    """The errors of one job file without their place."""
    index = load(tmp_path, {"jobs/a.yaml": text, **more})
    return [finding.text for finding in index.findings if finding.level == "error"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("on: poke\n", "the job has no steps; write `steps:` with at least one"),
        (JOB + "init: {steps: [{run: x}]}\n", "`steps` and `init.steps` are the same; keep one"),
        (
            "on: {}\nsteps: [{run: x}]\n",
            "`on`: an entry of `on` says one of cron, once, watch, poke, dispatch, event; this one says none",
        ),
        (
            "on: {poke: , catch_up: all}\nsteps: [{run: x}]\n",
            "`on`: `catch_up` belongs to cron and once; remove it from this poke entry",
        ),
        ("on:\nsteps: [{run: x}]\n", "nothing is written after `on`; write a value, or remove the key"),
        (JOB + "timeout:\n", "nothing is written after `timeout`; write a value, or remove the key"),
        (JOB + "resume: [a]\n", "`resume` takes a mapping (`key: value`), not a list"),
        (JOB + "owner: ['@mona']\n", "`owner`: `@mona` is neither a login nor `org/team`; write `mona`"),
        (
            JOB + "approve: {by: [mona], need: 2}\n",
            "`approve`: `need: 2` can never be met by mona alone; lower it, or add people",
        ),
        (JOB + "approve: {need: 2, quorum: 2}\n", "`approve`: `need` and `quorum` are the same; keep one"),
        (
            JOB + "approve: role:read\n",
            "`approve.by`: `role:read` is not a role that may approve; there are role:write, role:maintain, role:admin",
        ),
        (JOB + "timeout: 0s\n", "`timeout`: `0s` is no time at all; write 1s or more"),
        (JOB + "timeout: 5m1h\n", "`timeout`: `5m1h` is no duration; write 90s, 15m, 1h30m or 2d"),
        (JOB + "watch: {x: {type: feed}}\n", '`watch.x`: a feed watch needs `urls: ["https://…"]`'),
        (
            JOB + "watch: {x: {type: feed, url: 'ftp://a'}}\n",
            "`watch.x`: `ftp://a` is no address of a feed; write https://…",
        ),
        (
            JOB + "watch: {x: {type: feed, url: 'https://u:p@a.org'}}\n",
            "`watch.x`: the address of a.org holds a password; files in Git are no place for it",
        ),
        (
            JOB + "watch: {x: {type: files, paths: ['../*']}}\n",
            "`watch.x`: `../*` leaves the repository; write a pattern below its root, with /",
        ),
        (JOB + "watch: {x: {type: fed, urls: []}}\n", "`watch.x`: there is no watch type `fed`; did you mean `feed`?"),
        (JOB + "watch: {x: {type: feed, urlss: []}}\n", "unknown key `watch.x.urlss`; did you mean `urls`?"),
        (JOB + "watch: {X Y: {type: files, paths: [a]}}\n", "`watch.X Y`: `X Y` cannot be a watch's name; write `x_y`"),
        (JOB + "inputs: {a: {type: number, default: x}}\n", "`inputs.a`: the default `x` does not fit `type: number`"),
        (
            JOB + "inputs: {a: {pattern: '('}}\n",
            "`inputs.a`: `pattern: (` is no regular expression: missing ), unterminated subpattern at position 0",
        ),
        (
            "on: poke\nsteps: [{python: 'a.py'}]\n",
            "`steps[1].python`: `a.py` names no function; write FILE.py:FUNCTION",
        ),
        (
            "on: poke\nsteps: [{run: x, env: ['A=b']}]\n",
            "`steps[1].env`: `A=b` is no name of a variable; `env` takes names only, values stay outside the file",
        ),
        (
            "on: {watch: x}\nsteps: [{run: x}]\n",
            "`on.watch`: there is no watch `x`; none is defined; define it in .hz/watches.yaml, or write it out below `watch`",
        ),
    ],
)
def test_each_slip_has_its_sentence(tmp_path: Path, text: str, error: str) -> None:
    assert found(tmp_path, text) == [error]


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("", [("watch", "a.x"), ("watch", "news")]),
        ("on: poke\n", [("poke", "")]),
        ("on: {watch: news}\n", [("watch", "news")]),
        ("on: [{watch: x}, poke]\n", [("watch", "a.x"), ("poke", "")]),
        ("on: {watch: handbook}\n", [("watch", "handbook")]),
        ("on: {cron: '@daily'}\n", [("cron", "")]),
        ("on: {schedule: ['2026-12-01T09:00']}\n", [("once", "")]),
    ],
)
def test_a_watch_wakes_only_where_on_names_it_or_is_missing(
    tmp_path: Path, on: str, expected: list[tuple[str, str]]
) -> None:
    text = f"{on}watch: [{{x: {{type: files, paths: [a]}}}}, news]\nsteps: [{{run: x}}]\n"
    (job,) = load(tmp_path, {"watches.yaml": WATCHES, "jobs/a.yaml": text}).jobs
    assert [(trigger.kind, trigger.name) for trigger in job.triggers] == expected
    assert {"x", "news"} <= set(job.watches)


@pytest.mark.parametrize(
    ("approve", "by", "need"),
    [
        ("write", ("write",), 1),
        ("[mona, hubot]", ("mona", "hubot"), 1),
        ("{by: mona}", ("mona",), 1),
        ("{by: [mona, hubot], quorum: 2}", ("mona", "hubot"), 2),
    ],
)
def test_approve_is_a_word_a_list_or_a_mapping(tmp_path: Path, approve: str, by: tuple[str, ...], need: int) -> None:
    (job,) = load(tmp_path, {"jobs/a.yaml": f"{JOB}approve: {approve}\n"}).jobs
    assert (job.approve.by, job.approve.need) == (by, need)


@pytest.mark.parametrize(
    ("publish", "expected"),
    [
        ("issue", {"issue": {}}),
        ("[issue, comment]", {"issue": {}, "comment": {}}),
        ("{issue: }", {"issue": {}}),
        ("{issue: {title: 3.10, labels: bug}}", {"issue": {"title": "3.10", "labels": ["bug"]}}),
    ],
)
def test_publish_is_a_word_a_list_or_a_mapping(tmp_path: Path, publish: str, expected: dict[str, Any]) -> None:
    (job,) = load(tmp_path, {"jobs/a.yaml": f"{JOB}publish: {publish}\n"}).jobs
    assert job.publish == expected


def test_a_local_timestamp_is_read_in_its_zone(tmp_path: Path) -> None:
    on = "on: {once: ['2026-12-01T09:00', 2026-12-01T09:00:00+01:00, '2026-03-29 02:30'], timezone: Europe/Berlin}\n"
    (job,) = load(tmp_path, {"jobs/a.yaml": on + "steps: [{run: x}]\n"}).jobs
    assert [schedule.iso(time) for time in job.triggers[0].times] == ["2026-03-29T01:00:00Z", "2026-12-01T08:00:00Z"]


def contract(tmp_path: Path, **changes: str) -> str:
    """The contract of the digest job after some files changed."""
    files = {**TEAM, **{name.replace("__", "/").replace("_dot_", "."): text for name, text in changes.items()}}
    root = tmp_path / str(len(list(tmp_path.iterdir())) if tmp_path.is_dir() else 0)
    return job_of(load(root, files), "digest").contract


def test_the_contract_is_what_decides_the_draft(tmp_path: Path) -> None:
    before = job_of(load(tmp_path / "before", TEAM), "digest").contract
    same = {
        "a comment": {"jobs/digest.yaml": "# more\n\n" + DIGEST},
        "when, who, how often": {
            "jobs/digest.yaml": DIGEST.replace("0 9", "5 9").replace("approve: write", "approve: mona")
            + "owner: mona\nenabled: false\nretries: 3\ntimeout: 1h\nconcurrency: 2\ncost: {usd_per_day: 1}\n"
        },
        "line ends": {"templates/part.md.j2": "part\r\n", "jobs/digest.yaml": DIGEST.replace("\n", "\r\n")},
        "another job": {"jobs/pulse.yaml": HEARTBEAT + "\n"},
        "how often it looks": {"watches.yaml": WATCHES.replace("6h", "5h")},
    }
    other = {
        "a step": {"jobs/digest.yaml": DIGEST.replace("  - template", "  - run: x\n  - template")},
        "publish": {"jobs/digest.yaml": DIGEST.replace("[digest]", "[other]")},
        "inputs": {"jobs/digest.yaml": DIGEST + "inputs: {a: {default: b}}\n"},
        "a watch's definition": {"watches.yaml": WATCHES.replace("feed.xml", "other.xml")},
        "the template": {"templates/digest.md.j2": "{% include 'part.md.j2' %}.\n"},
        "what the template includes": {"templates/part.md.j2": "another part\n"},
    }
    for name, change in {**same, **other}.items():
        after = job_of(load(tmp_path / name, {**TEAM, **change}), "digest").contract
        assert (after == before) == (name in same), name


def test_the_contract_of_a_python_job_has_its_file_and_lock(tmp_path: Path) -> None:
    contracts = {
        job_of(load(tmp_path / str(place), {**TEAM, **change}), "stale").contract
        for place, change in enumerate([{}, {"jobs/stale.py": PYTHON + "#"}, {"jobs/stale.py.lock": "version = 1\n"}])
    }
    assert len(contracts) == 3


def test_invalid_files_stop_no_other_and_their_ids_are_known(tmp_path: Path) -> None:
    files = {
        "jobs/fine.yaml": JOB,
        "jobs/a.yaml": "id: other\nsteps: 3\n",
        "jobs/b.yaml": "[",
        "watches.yaml": "x: {}\n" + WATCHES,
    }
    index = load(tmp_path, files)
    assert [job.id for job in index.jobs] == ["fine"]
    assert index.broken == ("b", "other")
    assert [watch.id for watch in index.watches] == ["handbook", "news", "releases"]


def test_a_python_file_that_cannot_be_read_names_the_jobs_it_may_hold(tmp_path: Path) -> None:
    root = write(tmp_path, {"jobs/a.py": "@job(\n  schedule='x')\ndef nightly():\n    pass\n", "jobs/fine.yaml": JOB})
    error = Finding("", 3, "SyntaxError: no")
    index = config.load(root, declare=lambda *_: error, now=NOW)
    assert (index.broken, [job.id for job in index.jobs], said(index)) == (
        ("a", "nightly"),
        ["fine"],
        [".hz/jobs/a.py:3: SyntaxError: no"],
    )


def test_two_jobs_with_one_id_stop_a_tick_and_validate_names_both_places(tmp_path: Path) -> None:
    root = write(tmp_path, {"jobs/a.yaml": "id: same\n" + JOB, "jobs/b.yaml": "\nid: same\n" + JOB, "jobs/c.yaml": JOB})
    with pytest.raises(UsageError, match=r"\.hz/jobs/a\.yaml:1 and \.hz/jobs/b\.yaml:2") as caught:
        config.index(root, cache_dir=str(tmp_path / "cache"), declare=declare, now=NOW)
    assert caught.value.code == 2
    assert len(said(config.load(root, declare=declare, now=NOW))) == 1


def test_a_root_without_files_names_init(tmp_path: Path) -> None:
    (tmp_path / ".hz/local").mkdir(parents=True)
    (tmp_path / ".hz/local/DASHBOARD.md").write_text("x")
    for call in (config.load, config.effective):
        with pytest.raises(UsageError, match="hz-team init"):
            call(str(tmp_path), declare=declare, now=NOW)
    with pytest.raises(UsageError, match="hz-team init"):
        config.index(str(tmp_path / "nowhere"), cache_dir=str(tmp_path), declare=declare, now=NOW)


@pytest.mark.parametrize(
    ("settings", "runs"),
    [
        ("limits: {paralel: 1}\n", ["cron", "inherits", "kept", "own"]),
        ("timezone: Europe/Berlin\naprove: [mona]\n", ["cron", "kept", "own"]),
        ("timezone: Europe/Berlin\napprove: {by: []}\n", ["cron", "kept", "own"]),
        ("approve: [mona]\ntimezon: Europe/Berlin\n", ["inherits", "kept", "own"]),
        ("[\n", ["kept", "own"]),
    ],
)
def test_a_job_waits_only_if_what_it_would_inherit_cannot_be_read(
    tmp_path: Path, settings: str, runs: list[str]
) -> None:
    files = {
        "jobs/own.yaml": JOB + "publish: issue\napprove: hubot\n",
        "jobs/inherits.yaml": JOB + "publish: issue\n",
        "jobs/kept.yaml": JOB,
        "jobs/cron.yaml": "on: {cron: '@daily'}\nsteps: [{run: x}]\n",
    }
    index = load(tmp_path, {**files, "hz.yaml": settings})
    assert [job.id for job in index.jobs] == runs
    assert {*index.broken} == {"cron", "inherits", "kept", "own"} - {*runs}
    assert all(job.approve.by == ("mona",) for job in index.jobs if job.id == "inherits" and "mona" in settings)


@pytest.mark.parametrize(
    ("text", "paused"),
    [
        ("paused: true", True),
        ("pausd: true", True),
        ("paused: yes", True),
        ("[", True),
        ("paused: false\nx: y", False),
        ("# none", False),
    ],
)
def test_an_off_switch_that_cannot_be_read_is_off(tmp_path: Path, text: str, *, paused: bool) -> None:
    index = load(tmp_path, {"control.yaml": text, "jobs/a.yaml": JOB})
    assert index.settings.paused is paused
    assert [job.id for job in index.jobs] == ["a"]


def test_files_that_nothing_reads_are_named(tmp_path: Path) -> None:
    files = {
        "watch.yaml": "a: b\n",
        "jobs/deep/a.yaml": JOB,
        "jobs/b.prose.md": "x",
        "tools/claude.yaml": "run: x\n",
        "hooks.yaml": "pre_init: []\n",
        "jobs/a.yaml": JOB,
    }
    index = load(tmp_path, files)
    assert said(index, "warning") == [
        ".hz/jobs/deep/a.yaml:1: nothing reads this file; jobs lie in .hz/jobs/ itself, move it there",
        ".hz/watch.yaml:1: nothing reads this file; did you mean .hz/watches.yaml?",
    ]
    assert said(index, "pending") == [
        ".hz/hooks.yaml:1: this file",
        ".hz/jobs/b.prose.md:1: jobs written as prose",
        ".hz/tools/claude.yaml:1: this file",
    ]


def test_switches_and_policies_for_jobs_nobody_has_are_named(tmp_path: Path) -> None:
    index = load(
        tmp_path,
        {
            "control.yaml": "disabled: [digets]\n",
            "policies/auto-approve.yaml": "-\n" + POLICIES.replace("digest", "digst"),
            "jobs/digest.yaml": JOB,
        },
    )
    assert ".hz/control.yaml:1: there is no job `digets`; did you mean `digest`?" in said(index, "warning")
    assert ".hz/policies/auto-approve.yaml:2: there is no job `digst`; did you mean `digest`?" in said(index, "warning")


def test_team_approvers_need_the_teams_map(tmp_path: Path) -> None:
    index = load(tmp_path, {"jobs/a.yaml": JOB + "approve: acme/docs\n"})
    assert "approver `acme/docs`" in said(index, "pending")[0]
    assert said(load(tmp_path, {"hz.yaml": "teams: {acme/docs: [mona]}\n"}), "pending") == []


def test_effective_values_say_where_they_come_from(tmp_path: Path) -> None:
    rows = {
        key: (value, origin) for key, value, origin in config.effective(write(tmp_path, TEAM), declare=declare, now=NOW)
    }
    assert rows["timezone"] == ("Europe/Berlin", ".hz/hz.yaml:1")
    assert rows["limits.parallel"] == (2, ".hz/hz.yaml:7")
    assert rows["paused"] == (False, ".hz/control.yaml:1")
    assert rows["jobs.digest.timeout"] == ("15m", "default")
    assert rows["jobs.everything.timeout"] == ("15m", ".hz/jobs/everything.yaml:26")
    assert rows["jobs.pulse.approve"][1] == ".hz/hz.yaml:2"
    assert rows["jobs.agent.cost.usd_per_day"] == ("0.50", ".hz/control.yaml:3")
    assert rows["jobs.stale.timeout"] == ("5m", ".hz/jobs/stale.py:12")
    assert rows["jobs.stale.concurrency"] == (1, "default")
    assert rows["watches.news.every"] == ("6h", ".hz/watches.yaml:2")
    assert json.loads(json.dumps(rows))


def test_the_cached_index_equals_a_fresh_one_and_reads_nothing_again(tmp_path: Path) -> None:
    root, cache = write(tmp_path, TEAM), str(tmp_path / "cache")
    fresh = config.index(root, cache_dir=cache, declare=declare, now=NOW)
    assert config.index(root, cache_dir=cache, declare=nothing, now=NOW) == fresh
    assert fresh == config.load(root, declare=declare, now=NOW)
    (tmp_path / ".hz/local").mkdir()
    (tmp_path / ".hz/local/anything").write_text("x")
    assert config.index(root, cache_dir=cache, declare=nothing, now=NOW).key == fresh.key
    write(tmp_path, {"jobs/stale.py": PYTHON + "# changed\n"})
    assert config.index(root, cache_dir=cache, declare=declare, now=NOW).key != fresh.key


def test_a_cache_that_is_damaged_or_full_is_no_obstacle(tmp_path: Path) -> None:
    root, cache = write(tmp_path, {"jobs/a.yaml": JOB}), tmp_path / "cache"
    for number in range(8):
        write(tmp_path, {"jobs/a.yaml": f"name: n{number}\n{JOB}"})
        config.index(root, cache_dir=str(cache), declare=declare, now=NOW)
    index = config.load(root, declare=declare, now=NOW)
    (kept,) = [path for path in cache.iterdir() if index.key in path.name]
    assert len(list(cache.iterdir())) <= 4
    kept.write_text('{"key": 3}')
    assert config.index(root, cache_dir=str(cache), declare=declare, now=NOW) == index
    (tmp_path / "file").write_text("")
    assert config.index(root, cache_dir=str(tmp_path / "file"), declare=declare, now=NOW) == index


def crons(index: Index) -> list[Trigger]:
    return [trigger for job in index.jobs for trigger in job.triggers if trigger.kind == "cron"]


def test_slots_ahead_are_renewed_without_reading_the_files(tmp_path: Path) -> None:
    root, cache = write(tmp_path, TEAM), str(tmp_path / "cache")
    config.index(root, cache_dir=cache, declare=declare, now=NOW)
    later = NOW + 400 * 86400
    moved = config.index(root, cache_dir=cache, declare=nothing, now=later)
    fresh = config.load(root, declare=declare, now=later)
    assert crons(moved) == crons(fresh)
    assert len(crons(fresh)) == 6


def test_a_python_file_that_failed_is_asked_again(tmp_path: Path) -> None:
    root, cache = write(tmp_path, {"jobs/stale.py": ""}), str(tmp_path / "cache")
    failed = Finding("", 1, "ModuleNotFoundError: humanize")
    config.index(root, cache_dir=cache, declare=lambda *_: failed, now=NOW)
    one_job = {**DECLARED, "jobs": DECLARED["jobs"][1:]}
    for at, jobs in ((NOW + 599, 0), (NOW - 1, 1), (NOW + 600, 1)):
        shutil.copytree(cache, tmp_path / f"cache{at}")
        index = config.index(root, cache_dir=f"{cache}{at}", declare=lambda *_: one_job, now=at)
        assert len(index.jobs) == jobs


def test_a_python_file_that_failed_is_asked_again_when_a_package_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, cache = write(tmp_path, {"jobs/stale.py": ""}), str(tmp_path / "cache")
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    failed = Finding("", 1, "ModuleNotFoundError: humanize")
    config.index(root, cache_dir=cache, declare=lambda *_: failed, now=NOW)
    assert config.index(root, cache_dir=cache, declare=nothing, now=NOW).jobs == ()
    (tmp_path / "site/humanize.py").write_text("")
    one_job = {**DECLARED, "jobs": DECLARED["jobs"][1:]}
    assert len(config.index(root, cache_dir=cache, declare=lambda *_: one_job, now=NOW).jobs) == 1


@pytest.mark.parametrize(
    ("settings", "modules"),
    [
        ("modules: [humanize]\n", ("humanize",)),
        ("timezone: Europe/Berlin\n", ()),
        ("timezone: nowhere\n", ()),
        ("modules: {humanize: 1}\n", setting.NOTHING),
        ("moduls: [humanize]\n", setting.NOTHING),
        ("modules: [", setting.NOTHING),
    ],
)
def test_declarations_are_read_under_the_module_allowlist(
    tmp_path: Path, settings: str, modules: tuple[str, ...]
) -> None:
    root, asked = write(tmp_path, {"jobs/stale.py": "", "hz.yaml": settings}), list[tuple[str, ...]]()

    def note(path: str, allowed: tuple[str, ...]) -> dict[str, Any]:
        asked.append(allowed)
        return declare(path, allowed)

    config.load(root, declare=note, now=NOW)
    assert asked == [modules]


def test_the_cached_path_imports_little(tmp_path: Path) -> None:
    root, cache = write(tmp_path, TEAM), str(tmp_path / "cache")
    config.index(root, cache_dir=cache, declare=declare, now=NOW)
    code = (
        "import sys; from hz_team import config; "
        f"index = config.index({root!r}, cache_dir={cache!r}, declare=None, now={NOW}); "
        "assert len(index.jobs) == 7; print(*sys.modules)"
    )
    done = subprocess.run(
        (sys.executable, "-c", code),
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pydantic", "ruamel", "croniter", "rfc8785", "zoneinfo", "tomllib", "pathlib", "tempfile"}
    assert not {name for name in done.stdout.split() if name.startswith("hz_team.model.config")}


def test_a_thousand_files_are_known_by_their_content_in_no_time(tmp_path: Path) -> None:
    write(tmp_path, {f"jobs/job-{number}.yaml": JOB for number in range(1000)})
    before = time.process_time()
    key = config.tree.key(config.tree.read(str(tmp_path)))
    assert time.process_time() - before < 0.2
    assert re.fullmatch("[0-9a-f]{64}", key)


def test_an_index_survives_json(team: Index) -> None:
    from hz_team.model.job import index_from

    assert index_from(json.loads(json.dumps(plain(team)))) == team


def test_the_committed_schemas_are_current() -> None:
    folder = ROOT / "schemas"
    assert {path.name: path.read_text("utf-8") for path in folder.iterdir()} == documents(), (
        "run `python -m hz_team.model.config schemas`"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("job", text) for text in (DIGEST, EVERYTHING, AGENT, HEARTBEAT, TASK, JOB)),
        ("watches", WATCHES),
        ("hz", SETTINGS),
        ("control", CONTROL),
        ("auto-approve", POLICIES),
    ],
)
def test_examples_fit_the_schemas_of_editors(name: str, text: str) -> None:
    schema = schemas()[name]
    Draft202012Validator.check_schema(schema)
    document = yaml.natural(yaml.load(text.replace("2.50", "2").replace("0.50", "1")))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(document)] == []


@pytest.mark.parametrize(
    "text",
    [
        WRONG,
        "on: poke\nsteps: [{run: x, timout: 3m}]\n",
        "watch: {x: {type: feed, urlz: []}}\nsteps: []\n",
        JOB + "publish: {isue: {}}\n",
    ],
)
def test_slips_do_not_fit_the_schemas_of_editors(text: str) -> None:
    assert not Draft202012Validator(schemas()["job"]).is_valid(yaml.natural(yaml.load(text)))


def test_kinds_of_installed_packages_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "site"
    (packages / "more-1.dist-info").mkdir(parents=True)
    (packages / "more-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1\n")
    (packages / "more-1.dist-info/entry_points.txt").write_text(
        "[hz_team.watches]\nradio = more\n[hz_team.steps]\nsing = more\n[hz_team.publishers]\nnewsletter.send = more\n"
    )
    text = "watch: {x: {type: radio, band: 3}}\nsteps: [{type: sing, song: a}]\npublish: {issue: , newsletter.send: {to: all}}\n"
    root = write(tmp_path, {"jobs/a.yaml": text})
    cache = str(tmp_path / "cache")
    assert config.index(root, cache_dir=cache, declare=declare, now=NOW).jobs == ()
    monkeypatch.syspath_prepend(str(packages))
    (job,) = config.index(root, cache_dir=cache, declare=declare, now=NOW).jobs
    assert (job.publish, job.steps[0].spec, job.pending) == (
        {"issue": {}, "newsletter.send": {"to": "all"}},
        {"song": "a"},
        (),
    )


def test_collisions_are_the_only_findings_that_stop_everything(tmp_path: Path) -> None:
    files = config.tree.read(write(tmp_path, {"jobs/a.yaml": WRONG, "jobs/b.yaml": JOB}))
    made = catalog.build(files, key="", declare=declare, now=NOW)
    assert (made.collisions, [job.id for job in made.compiled.jobs]) == ((), ["b"])


def test_an_inline_template_is_part_of_the_job_and_what_it_includes_of_the_contract(tmp_path: Path) -> None:
    text = 'on: poke\nsteps:\n  - template: |\n      {% include "head.j2" %}\n      hello\n'
    files = {"jobs/a.yaml": text, "templates/head.j2": "1"}
    index = load(tmp_path, files)
    assert said(index) == []
    assert index.jobs[0].steps[0].spec == {"template": '{% include "head.j2" %}\nhello\n'}
    changed = load(tmp_path, {**files, "templates/head.j2": "2"})
    reworded = load(tmp_path, {**files, "jobs/a.yaml": text.replace("hello", "hi")})
    assert len({one.jobs[0].contract for one in (index, changed, reworded)}) == 3


def test_a_template_in_one_line_is_told_how_to_be_one(tmp_path: Path) -> None:
    (told,) = found(tmp_path, 'on: poke\nsteps:\n  - template: "Hi {{ slot.date }}"\n')
    assert told.startswith("`steps[1].template`: this is a template and no file's name; write `template: |`, ")


@pytest.mark.parametrize("name", ["slot", "job", "inputs", "note", "draft", "outputs"])
def test_no_watch_hides_what_templates_know(tmp_path: Path, name: str) -> None:
    sentence = f"`{name}` cannot be a watch's name: templates and functions know something else by it; rename it"
    spec = '{type: files, paths: ["*.md"]}'
    inline = found(tmp_path, f"watch:\n  {name}: {spec}\nsteps: [{{run: x}}]\n")
    assert len(inline) == 1
    assert inline[0].endswith(sentence)
    shared = load(tmp_path, {"jobs/a.yaml": JOB, "watches.yaml": f"{name}: {spec}\n"})
    assert said(shared) == [f".hz/watches.yaml:1: {sentence}"]


def test_inputs_and_the_time_to_change_one_s_mind_are_among_the_effective_values(tmp_path: Path) -> None:
    text = JOB + "inputs: {since: {default: v1}}\napprove: {by: octocat, hold: 2m}\n"
    rows = {
        key: row for key, *row in config.effective(write(tmp_path, {"jobs/a.yaml": text}), declare=declare, now=NOW)
    }
    assert rows["jobs.a.inputs"] == [{"since": {"type": "string", "default": "v1"}}, ".hz/jobs/a.yaml:4"]
    assert rows["jobs.a.approve"][0]["hold"] == "2m"
