"""A hostile job, end to end: whatever its step tries, it is contained, refused or killed, and a receipt says so."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.terminal import Team
from tests.drafting import LANDLOCK, WHY_NOT

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cr3t-of-the-tick"
JOB = """\
on: poke
timeout: {timeout}
retries: 0
steps:
  - run: {script}
publish: {{issue: {{labels: [newsletter]}}}}
"""
landlocked = pytest.mark.skipif(not LANDLOCK, reason=f"NOT RUN: {WHY_NOT}")


def attempt(root: Path, script: str, *, timeout: str = "20s") -> tuple[Team, str]:
    """Let a job try something; return the team and what the person at the terminal saw."""
    team = Team(root)
    team.job("mallory", JOB.format(script=json.dumps(script), timeout=timeout))
    return team, team.hz("run", "mallory", environ={"GITHUB_TOKEN": SECRET, "HZ_SECRET": SECRET}).out


def draft(team: Team) -> str:
    """Return what the job could put into its draft."""
    (name,) = team.waiting
    return str(team.hz("inbox", "show", name, "--json").json["draft"]["body"])


def only(team: Team, disposition: str) -> dict[str, Any]:
    """Return the one receipt of that disposition."""
    (receipt,) = team.receipts(disposition)
    return receipt


def test_it_prints_its_environment(tmp_path: Path) -> None:
    team, _ = attempt(tmp_path, 'env | tee env.txt; { env; env | base64; } > "$HZ_DRAFT"')
    assert SECRET not in draft(team)
    names = {line.partition("=")[0] for line in draft(team).splitlines()}
    assert "HZ_DRAFT" in names
    assert names.isdisjoint({"GITHUB_TOKEN", "HZ_SECRET", "XDG_CACHE_HOME", "USER"})
    assert SECRET not in json.dumps(team.receipts())
    assert only(team, "rendered")["runner"]["env"] == []


@landlocked
@pytest.mark.parametrize(
    "path",
    [
        "/proc/$PPID/environ",
        "/proc/$(awk '/^PPid/ {{print $2}}' /proc/$PPID/status)/environ",
        "{root}/.git/config",
        "{root}/.hz/local/state.git/config",
        "{root}/.hz/hz.yaml",
        "/proc/1/environ",
    ],
    ids=["parent", "grandparent", "git", "state", "settings", "init"],
)
def test_it_reads_what_is_the_parents(tmp_path: Path, path: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(f"[http]\n\textraheader = {SECRET}\n")
    (tmp_path / ".hz").mkdir()
    (tmp_path / ".hz/hz.yaml").write_text(f"# {SECRET}\n")
    where = path.format(root=tmp_path)
    script = f'if tr "\\0" "\\n" < "{where}" > stolen; then cp stolen "$HZ_DRAFT"; else echo refused > "$HZ_DRAFT"; fi'
    team, _ = attempt(tmp_path, script)
    assert draft(team).strip() == "refused"
    assert only(team, "rendered")["runner"]["level"].startswith("landlock-")


@landlocked
@pytest.mark.parametrize("place", ["{root}/owned", "{root}/.hz/jobs/owned.yaml", "{outside}/owned"])
def test_it_writes_outside_its_folder(tmp_path: Path, place: str) -> None:
    root, outside = tmp_path / "team", tmp_path / "outside"
    outside.mkdir()
    where = place.format(root=root, outside=outside)
    team, seen = attempt(root, f'echo hello > "$HZ_DRAFT"; echo owned > "{where}"')
    assert not os.path.exists(where)
    assert "failed" in seen
    failed = only(team, "failed")
    assert failed["runner"]["level"].startswith("landlock-")
    assert "mallory.yaml:5: step 1 (run) ended with" in failed["error"]
    assert "Permission denied" in failed["reason"]
    assert team.waiting == []


@pytest.mark.parametrize(
    ("front", "asked"),
    [
        ("target: acme/secrets", "acme/secrets"),
        ("kind: pull_request", "pull_request"),
        ("kind: webhook\ntarget: https://evil.example/", "webhook"),
        ("labels: [approved]", "labels"),
    ],
    ids=["repository", "kind", "webhook", "labels"],
)
def test_it_asks_for_more_than_its_ceiling(tmp_path: Path, front: str, asked: str) -> None:
    script = f'cat > "$HZ_DRAFT" <<END\n---\n{front}\n---\nhello\nEND\n'
    team, seen = attempt(tmp_path, script)
    refused = only(team, "refused")
    assert asked in refused["reason"]
    assert "`publish:` allows" in refused["reason"]
    assert "refused" in seen
    assert (team.waiting, team.out) == ([], [])


def test_it_loops_for_ever(tmp_path: Path) -> None:
    mark = f"{os.getpid()}.{time.monotonic_ns() % 1_000_000}"
    began = time.monotonic()
    team, seen = attempt(tmp_path, f"(sleep 900{mark} &) ; while :; do :; done", timeout="1s")
    assert time.monotonic() - began < 20
    failed = only(team, "failed")
    assert failed["error"].endswith("step 1 (run) was ended after 1 s, with everything it had started")
    assert "was ended after 1 s" in seen
    assert "was ended after 1 s" in team.board
    assert not [pid for pid in _pids() if f"900{mark}" in _command(pid)]


def _pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []


def _command(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def test_validate_says_what_is_not_contained_here(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("mallory", JOB.format(script="'true'", timeout="20s"))
    said = team.hz("validate").out
    assert ("not contained here" in said) == (not LANDLOCK)
    assert team.hz("validate", "--json").json["contained"].startswith("landlock-" if LANDLOCK else "none")


def test_escape_codes_never_reach_the_terminal(tmp_path: Path) -> None:
    evil = "\\033]0;owned\\007\\033[2J\\302\\233 31m\\342\\200\\256evil"
    script = f"""printf -- '---\\ntitle: "%b"\\n---\\n%b\\n' 'A title' '{evil}' > "$HZ_DRAFT"; printf '{evil}' >&2"""
    team, seen = attempt(tmp_path, script)
    team.job("loud", JOB.format(script=json.dumps(f"printf '{evil}\\n' >&2; exit 3"), timeout="20s"))
    (name,) = team.waiting
    outputs = [
        seen,
        *(
            run.out + run.err
            for run in (
                team.hz("run", "loud"),
                team.hz("try", "mallory"),
                team.hz("try", "loud", code=1),
                team.hz("try", "loud", "--json", code=1),
                team.hz("inbox"),
                team.hz("inbox", "show", name),
                team.hz("inbox", "show", name, "--json"),
                team.hz("receipts"),
                team.hz("receipts", "--json"),
                team.hz("jobs"),
                team.hz("run", "\x1b[2J\u202e", code=2),
                team.hz("inbox", "show", "\x1b[2J\x9b", code=2),
            )
        ),
    ]
    for text in outputs:
        assert not set(text) & set("\x1b\x07\x9b\u202e"), repr(text)
