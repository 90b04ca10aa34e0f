"""kill -9 at every kind of moment of a tick, then a clean tick: one published item per slot, whatever was cut."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

DRIVER = Path(__file__).with_name("driver.py")
SOURCE = Path(__file__).parents[2] / "src"
JOB = """\
name: Weekly
on: {cron: "0 9 * * MON"}
watch: {notes: {type: files, paths: ["notes/*.md"]}}
steps:
  - run: echo "hello" > "$HZ_DRAFT"
publish: {issue: {title: "Week {{ slot.week }}"}}
"""
EARLIER, DRAFTING, DECIDING = "2026-11-29T12:00:00Z", "2026-11-30T09:01:00Z", "2026-11-30T09:05:00Z"
AGAIN = ("2026-11-30T09:10:00Z", "2026-11-30T09:15:00Z")
PHASES = {"draft": {"claim", "draft", "record", "show"}, "decide": {"claim", "record", "publish", "show"}}
HITS = 3
KILLS = 50  # of a stage
SHARDS = 4


class Moment(NamedTuple):
    """One call to the outside."""

    phase: str
    event: str
    number: int
    what: str


LISTING = Moment("", "", 0, "")


class Team:
    """One root with its own cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "team"

    def found(self) -> None:
        """Write the files of the team."""
        (self.root / ".hz/jobs").mkdir(parents=True)
        (self.root / ".hz/jobs/weekly.yaml").write_text(JOB)
        (self.root / "notes").mkdir()
        (self.root / "notes/a.md").write_text("a\n")

    def copy(self, folder: Path) -> Team:
        """Return the same team elsewhere; its cache is left behind, as on another machine."""
        shutil.copytree(self.root, folder / "team", symlinks=True)
        return Team(folder)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run hz-team to its end."""
        return self._run([sys.executable, "-m", "hz_team", *words, "--root", str(self.root)])

    def cut(self, moment: Moment, at: str) -> subprocess.CompletedProcess[str]:
        """Run a tick that dies at this moment; number 0: list the moments."""
        listing = self.folder / "moments"
        words = [sys.executable, str(DRIVER), moment.phase, moment.event, str(moment.number), str(listing)]
        return self._run([*words, "--", "tick", "--now", at, "--root", str(self.root)])

    def moments(self, at: str) -> list[Moment]:
        """Return every moment of a tick that runs to its end."""
        done = self.cut(LISTING, at)
        assert done.returncode == 0, done.stdout + done.stderr
        rows = [line.split("\t") for line in (self.folder / "moments").read_text().splitlines()]
        return [Moment(phase, event, int(number), what) for phase, event, number, what in rows]

    def tick_box(self) -> None:
        """Put an x into the first decision's box, if there is one."""
        page = self.root / ".hz/local/DASHBOARD.md"
        page.write_text(re.sub(r"- \[ \] (<!-- hz:approve )", r"- [x] \1", page.read_text(), count=1))

    def published(self) -> list[str]:
        """Return what went out."""
        outbox = self.root / ".hz/local/outbox"
        return sorted(path.name for path in outbox.glob("issue-*.md")) if outbox.is_dir() else []

    def strays(self) -> list[str]:
        """Return processes that still work in this team's folders."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                line = (entry / "cmdline").read_bytes() + os.readlink(entry / "cwd").encode()
            except OSError:
                continue
            if str(self.folder).encode() in line:
                found.append(line.decode(errors="replace"))
        return found

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "TMPDIR": str(self.folder / "tmp"),
            "PYTHONPATH": str(SOURCE),
        }
        (self.folder / "tmp").mkdir(exist_ok=True)
        return subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60, check=False)


def choose(moments: list[Moment], shard: int) -> list[Moment]:
    """Return the moments of this shard: of each of its kinds (phase and event) HITS and a share of KILLS, spread evenly."""
    kinds: dict[tuple[str, str], list[Moment]] = {}
    for moment in moments:
        kinds.setdefault((moment.phase, moment.event), []).append(moment)
    share = max(HITS, -(-KILLS // len(kinds)))
    chosen: list[Moment] = []
    for kind in sorted(kinds)[shard::SHARDS]:
        group = kinds[kind]
        chosen += [group[turn * len(group) // share] for turn in range(share)]
    return chosen


def at_rest(team: Team, seconds: float = 8.0) -> list[str]:
    """Wait until nothing works in the team's folders any more; return what still does."""
    end = time.monotonic() + seconds
    while team.strays() and time.monotonic() < end:
        time.sleep(0.05)
    return team.strays()


def finish(team: Team) -> None:
    """Go on after the crash as people do: tick, answer, tick."""
    for moment in AGAIN:
        done = team.run("tick", "--now", moment)
        assert done.returncode == 0, done.stdout + done.stderr
        team.tick_box()
    done = team.run("tick", "--now", "2026-11-30T09:20:00Z")
    assert done.returncode == 0, done.stdout + done.stderr


def killed(start: Team, folder: Path, moment: Moment, at: str) -> bool:
    """Cut one tick of a copy of this team and go on; return whether it came to that moment at all."""
    folder.mkdir()
    team = start.copy(folder)
    done = team.cut(moment, at)
    assert done.returncode in (-9, 0, 75), (moment, done.stdout + done.stderr)
    assert at_rest(team) == [], moment
    finish(team)
    assert team.published() == ["issue-1.md"], moment
    verified = team.run("receipts", "verify")
    assert verified.returncode == 0, (moment, verified.stdout + verified.stderr)
    shutil.rmtree(folder)
    return done.returncode == -9


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("stage", ["draft", "decide"])
def test_a_tick_that_is_killed_anywhere_loses_and_doubles_nothing(stage: str, shard: int, tmp_path: Path) -> None:
    """Every phase and every kind of call to the outside is cut at least three times; the kinds are dealt to the shards."""
    start = Team(tmp_path / "start")
    start.folder.mkdir()
    start.found()
    assert start.run("tick", "--now", EARLIER).returncode == 0
    at = DRAFTING
    if stage == "decide":
        assert start.run("tick", "--now", DRAFTING).returncode == 0
        start.tick_box()
        at = DECIDING
    (tmp_path / "whole").mkdir()
    moments = start.copy(tmp_path / "whole").moments(at)
    assert {moment.phase for moment in moments} >= PHASES[stage]
    hits: Counter[tuple[str, str]] = Counter()
    for number, moment in enumerate(choose(moments, shard)):
        came = killed(start, tmp_path / f"cut-{number}", moment, at)
        if not came and moment.number > 1:  # this run had fewer calls of the kind: its first one is always there
            came = killed(start, tmp_path / f"first-{number}", moment._replace(number=1), at)
        hits[moment.phase, moment.event] += came
    table = "\n".join(f"{count:4} × {phase:9} {event}" for (phase, event), count in sorted(hits.items()))
    sys.stdout.write(f"{stage}: {sum(hits.values())} kills\n{table}\n")
    assert all(count >= HITS for count in hits.values()), hits
