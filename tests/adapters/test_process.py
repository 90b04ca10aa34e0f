"""Real processes: contained, bounded, killed as a whole tree."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hz_team.adapters.process import SupervisedProcesses, contained
from hz_team.ports import Command, Finished, Limits
from tests.drafting import LANDLOCK, WHY_NOT, running

landlocked = pytest.mark.skipif(not LANDLOCK, reason=WHY_NOT)
linux = pytest.mark.skipif(sys.platform != "linux", reason="a whole tree can only be followed with Linux's /proc")
PATH = "/usr/local/bin:/usr/bin:/bin"


def run(folder: Path, script: str, *, timeout: float = 20, **more: Any) -> Finished:
    command = Command(("bash", "-c", script), str(folder), {"PATH": PATH}, timeout, write=(str(folder),))
    return SupervisedProcesses().run(command._replace(**more))


def marker() -> str:
    """A number of seconds that no other sleep on this machine has."""
    return f"300.{random.randrange(10**9)}"


def gone(mark: str, *, within: float = 10) -> bool:
    end = time.monotonic() + within
    while running(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    done = run(tmp_path, "echo out; echo err >&2; exit 3")
    assert (done.code, done.stdout, done.stderr, done.signal, done.timed_out) == (3, "out\n", "err\n", 0, False)


def test_a_signal_is_no_exit_code(tmp_path: Path) -> None:
    done = run(tmp_path, "kill -KILL $$")
    assert (done.code, done.signal) == (None, 9)


@pytest.mark.parametrize("size", [0, 5, 300_000])
def test_standard_input_arrives_whole_and_ends(tmp_path: Path, size: int) -> None:
    assert run(tmp_path, "wc -c", stdin=b"x" * size).stdout.strip() == str(size)


def test_a_step_that_does_not_read_its_input_is_no_failure(tmp_path: Path) -> None:
    assert run(tmp_path, "exit 0", stdin=b"x" * 1_000_000).code == 0


def test_the_environment_is_what_was_given_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_0123456789")
    done = run(tmp_path, "env -0", env={"PATH": PATH, "ONE": "1"})
    names = {line.partition("=")[0] for line in done.stdout.split("\0") if line}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "ONE"}


def test_a_program_that_does_not_exist_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "", argv=("no-such-program",))
    assert done.code == 126
    assert "no-such-program could not be run: No such file or directory" in done.stderr


def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "true", cwd=str(tmp_path / "nowhere"))
    assert done.code == 126
    assert str(tmp_path / "nowhere") in done.stderr


@linux
@pytest.mark.parametrize(
    "start",
    [
        "sleep {} & wait",
        "sleep {} & echo started",
        "setsid sleep {} & wait",
        "(setsid bash -c '(sleep {} &) ; exit' &) ; sleep {}",
        "trap '' TERM; sleep {} & while :; do wait; done",
    ],
    ids=["child", "left-behind", "own-session", "double-fork", "deaf-to-term"],
)
def test_nothing_survives(tmp_path: Path, start: str) -> None:
    mark = marker()
    began = time.monotonic()
    run(tmp_path, start.replace("{}", mark), timeout=1)
    assert time.monotonic() - began < 5
    assert running(mark) == []


@linux
def test_a_tree_that_keeps_growing_is_ended(tmp_path: Path) -> None:
    mark = marker()
    grow = f'grow() {{ [ "$1" -gt 5 ] && exec sleep {mark}; grow $(($1+1)) & grow $(($1+1)) & wait; }}; grow 0'
    assert run(tmp_path, grow, timeout=1).timed_out
    assert running(mark) == []


@linux
def test_too_many_processes_end_the_step(tmp_path: Path) -> None:
    mark = marker()
    done = run(tmp_path, f"for n in $(seq 40); do sleep {mark} & done; wait", limits=Limits(processes=20))
    assert (done.code, done.timed_out) == (None, False)
    assert "more than 20 processes" in done.stderr
    assert running(mark) == []


@linux
def test_when_the_parent_is_killed_the_whole_tree_goes(tmp_path: Path) -> None:
    mark = marker()
    script = (
        "from hz_team.adapters.process import SupervisedProcesses; from hz_team.ports import Command; "
        f"SupervisedProcesses().run(Command(('bash', '-c', 'setsid sleep {mark} & sleep {mark}'), {str(tmp_path)!r}, "
        f"{{'PATH': {PATH!r}}}, 60))"
    )
    parent = subprocess.Popen((sys.executable, "-c", script))
    end = time.monotonic() + 20
    while len(running(f"sleep\0{mark}")) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    assert len(running(f"sleep\0{mark}")) == 2
    parent.kill()
    parent.wait()
    assert gone(mark)


@linux
def test_when_the_supervisor_is_killed_the_step_goes_and_it_is_told(tmp_path: Path) -> None:
    mark = marker()
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run, tmp_path, f"exec sleep {mark}", timeout=30)
        while not (found := running(f"sleep\0{mark}")):
            time.sleep(0.02)
        supervisor = int(Path(f"/proc/{found[0]}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(supervisor, signal.SIGKILL)
        done = result.result(20)
    assert (done.code, done.signal) == (None, 9)
    assert "supervisor" in done.stderr
    assert gone(mark)


def test_the_output_of_a_time_out_is_kept(tmp_path: Path) -> None:
    done = run(tmp_path, "echo before; sleep 60", timeout=1)
    assert (done.timed_out, done.code, done.stdout) == (True, None, "before\n")


def test_large_output_keeps_head_and_tail_and_counts_the_rest(tmp_path: Path) -> None:
    done = run(tmp_path, "echo HEAD; head -c 1000000 /dev/zero | tr '\\0' x; echo TAIL", limits=Limits(output=1000))
    assert done.stdout.startswith("HEAD\nxxx")
    assert done.stdout.endswith("xTAIL\n")
    assert done.dropped == 1_000_010 - 1000
    assert f"{done.dropped:,} bytes left out" in done.stdout


def test_output_of_exactly_the_limit_is_whole(tmp_path: Path) -> None:
    done = run(tmp_path, "head -c 1000 /dev/zero | tr '\\0' x", limits=Limits(output=1000))
    assert (done.stdout, done.dropped) == ("x" * 1000, 0)


def test_a_secret_is_masked_even_where_the_output_is_cut(tmp_path: Path) -> None:
    secret = "correct-horse-battery"
    for before in range(490, 506):
        script = f"head -c {before} /dev/zero | tr '\\0' x; printf %s {secret}; head -c 2000 /dev/zero | tr '\\0' y"
        shown = run(tmp_path, script, limits=Limits(output=1000), secrets=(secret,)).stdout
        assert not any(secret[at : at + 6] in shown for at in range(len(secret) - 5))
        assert "***" in shown.partition("\n")[0] or before >= 500


@landlocked
def test_containment_is_named(tmp_path: Path) -> None:
    assert contained() == run(tmp_path, "true").level
    assert contained().startswith("landlock-")


@landlocked
class TestContained:
    """As root too: no case of these depends on who runs it."""

    def test_the_parents_environment_is_out_of_reach(self, tmp_path: Path) -> None:
        script = f"cat /proc/$PPID/environ /proc/{os.getpid()}/environ /proc/{os.getpid()}/mem"
        done = run(tmp_path, script)
        assert done.stdout == ""
        assert done.stderr.count("Permission denied") == 3

    @pytest.mark.parametrize("way", ["cat {0}", "ln -s {0} link; cat link", "ls {1}", "ln {0} hard; cat hard"])
    def test_files_outside_are_out_of_reach(self, tmp_path: Path, way: str) -> None:
        outside, inside = tmp_path / "outside", tmp_path / "inside"
        outside.mkdir()
        inside.mkdir()
        (outside / "secret").write_text("treasure")
        done = run(inside, way.format(outside / "secret", outside))
        assert "treasure" not in done.stdout
        assert "secret" not in done.stdout
        assert done.code != 0

    @pytest.mark.parametrize(
        "way",
        [
            "echo x > {0}/new",
            "echo x >> {0}/old",
            "rm {0}/old",
            "mv {0}/old .",
            "ln -s {0}/old l; echo x >> l",
            "mkdir {0}/d",
        ],
    )
    def test_nothing_outside_is_written(self, tmp_path: Path, way: str) -> None:
        outside, inside = tmp_path / "outside", tmp_path / "inside"
        outside.mkdir()
        inside.mkdir()
        (outside / "old").write_text("old")
        assert run(inside, way.format(outside)).code != 0
        assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("old", "old")]

    def test_the_shadow_file_and_the_home_are_out_of_reach(self, tmp_path: Path) -> None:
        done = run(tmp_path, f"cat /etc/shadow; ls {os.path.expanduser('~')}; ls /root; cat /etc/hostname")
        assert done.stdout == ""

    def test_other_processes_get_no_signal(self, tmp_path: Path) -> None:
        other = subprocess.Popen(("sleep", "60"))
        try:
            assert run(tmp_path, f"kill -KILL {other.pid}").code != 0
            assert other.poll() is None
        finally:
            other.kill()
            other.wait()

    def test_root_has_no_special_rights_left(self, tmp_path: Path) -> None:
        assert "CapEff:\t0000000000000000" in run(tmp_path, "cat /proc/self/status").stdout

    def test_what_a_step_needs_works(self, tmp_path: Path) -> None:
        script = (
            "cat <(echo one) > file && cp file other && mkdir d && mv file d/ && git init -q r && date && python3 -V"
        )
        done = run(tmp_path, f"PATH={os.path.dirname(sys.executable)}:$PATH; {script}; echo > /dev/null")
        assert done.code == 0, done.stderr

    def test_our_own_package_and_its_libraries_can_be_imported(self, tmp_path: Path) -> None:
        argv = (sys.executable, "-I", "-c", "import jinja2, hz_team.plugin, ssl")
        assert run(tmp_path, "", argv=argv).code == 0

    def test_a_private_folder_below_a_readable_one_stays_private(self, tmp_path: Path) -> None:
        inner = Path(sys.prefix) / "share" / f"hz-test-{os.getpid()}"
        inner.mkdir(parents=True)
        try:
            (inner / "config").write_text("credentials")
            command = Command(("cat", str(inner / "config")), str(tmp_path), {"PATH": PATH}, 20, write=(str(tmp_path),))
            assert SupervisedProcesses().run(command).stdout == "credentials"
            assert SupervisedProcesses(private=(str(inner),)).run(command).stdout == ""
        finally:
            (inner / "config").unlink()
            inner.rmdir()


def test_a_step_may_not_fill_the_disk_with_one_file(tmp_path: Path) -> None:
    done = run(tmp_path, "head -c 3000000 /dev/zero > large", limits=Limits(file_size=1_000_000))
    assert done.code != 0
    assert (tmp_path / "large").stat().st_size <= 1_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on data is Linux's")
def test_memory_is_limited(tmp_path: Path) -> None:
    argv = (sys.executable, "-I", "-c", "x = bytearray(900_000_000)")
    assert "MemoryError" in run(tmp_path, "", argv=argv, limits=Limits(memory=300_000_000)).stderr


def test_our_own_memory_is_bounded_while_a_step_prints(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    run(tmp_path, "head -c 300000000 /dev/zero", timeout=60)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 120_000)
