"""E12: whatever dies and whenever, one outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hz_team.adapters.local import LocalForge
from tests.publishers.sample import DRAFTS, part_of, settle, tools_of

HERE = Path(__file__).parents[2]
ENVIRON = {"PYTHONPATH": os.pathsep.join([str(HERE / "src"), str(HERE)]), "PATH": os.environ["PATH"]}


def outcomes(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".hz/local/outbox").iterdir())


@pytest.mark.parametrize("kind", DRAFTS)
def test_a_publisher_killed_before_any_of_its_calls_leaves_one_outcome(kind: str, tmp_path: Path) -> None:
    run = subprocess.run(
        (sys.executable, "-m", "tests.publishers.rehearsal", kind, str(tmp_path)),
        capture_output=True,
        check=True,
        cwd=HERE,
        env=ENVIRON,
        text=True,
    )
    moments = json.loads(run.stdout)
    events = [moment["event"].partition(" ")[0] for moment in moments]
    assert {"open", "os.link", "os.mkdir", "os.remove", "fcntl.flock"} < set(events)
    assert events[-1] == ""
    for moment in moments:
        assert len(moment["refs"]) == 3, moment
        assert set(moment["refs"]) == {moment["refs"][0]}, moment
        root = Path(moment["root"])
        assert [name for name in outcomes(root) if name.endswith(".md")] == [f"{moment['refs'][0]}.md"]
        settle(part_of(kind)._replace(key="e" * 64), tools_of(LocalForge(str(root))))
        assert not list(root.rglob(".hz-new")), moment


@pytest.mark.parametrize("kind", DRAFTS)
def test_twice_is_once(kind: str, tmp_path: Path) -> None:
    tools = tools_of(LocalForge(str(tmp_path)))
    first = settle(part_of(kind), tools)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert settle(part_of(kind), tools) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_many_at_once_take_numbers_without_a_gap_and_without_a_double(tmp_path: Path) -> None:
    code = (
        "import sys; from hz_team.adapters.local import LocalForge\n"
        "forge = LocalForge(sys.argv[1])\n"
        "for n in range(10): print(forge.create('issue', {'title': str(n)}, f'<!-- hz:key {sys.argv[2]}{n:063} -->'))\n"
    )
    writers = [
        subprocess.Popen(
            (sys.executable, "-c", code, str(tmp_path), digit), env=ENVIRON, stdout=subprocess.PIPE, text=True
        )
        for digit in "abcd"
    ]
    refs = [ref for writer in writers for ref in writer.communicate(timeout=60)[0].split()]
    assert sorted(refs, key=lambda ref: int(ref[6:])) == [f"issue-{number}" for number in range(1, 41)]
    assert len(outcomes(tmp_path)) == 40


def test_a_writer_killed_at_any_time_leaves_whole_outcomes_only(tmp_path: Path) -> None:
    code = (
        "import sys; from hz_team.adapters.local import LocalForge\n"
        "forge = LocalForge(sys.argv[1]); body = 'x' * 3_000_000 + 'end'\n"
        "for n in range(10_000): forge.create('issue', {'body': body}, f'<!-- hz:key {n:064} -->')\n"
    )
    for round_ in range(5):
        root = tmp_path / str(round_)
        root.mkdir()
        with subprocess.Popen((sys.executable, "-c", code, str(root)), env=ENVIRON) as writer:
            until = time.monotonic() + 20
            while not list(root.rglob("issue-2.md")) and time.monotonic() < until:
                time.sleep(0.005)
            time.sleep(0.007 * round_)
            writer.send_signal(signal.SIGKILL)
        LocalForge(str(root)).create("issue", {"body": "end"}, f"<!-- hz:key {'f' * 64} -->")
        files = list((root / ".hz/local/outbox").iterdir())
        assert len(files) >= 3
        assert all(path.suffix == ".md" for path in files)
        assert all(path.read_bytes().endswith(b"end\n") for path in files)
