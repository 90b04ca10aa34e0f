"""The fence around effects: real processes that are stopped past their lease's end, and a server that counts what comes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from hz_team.adapters.fence import fence
from hz_team.errors import TryAgain

CHILD = """
import os, socket, sys, time
from hz_team.adapters.lease_clock import Clock
from hz_team.adapters.fence import fence
from hz_team.errors import TryAgain

port, seconds, folder = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
clock = Clock(lambda: None)
clock.start(1_800_000_000)
with fence("digest", clock.countdown(1_800_000_000 + seconds)) as check:
    print("armed", flush=True)
    if sys.argv[4] == "busy":
        while not os.path.exists(f"{folder}/go"):
            pass
    else:
        sys.stdin.readline()
    check()
    with socket.create_connection(("127.0.0.1", port)) as sent:
        sent.sendall(b"effect")
print("left", flush=True)
time.sleep(float(sys.argv[5]))
"""


class Target:
    """Where effects arrive."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.effects = 0

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self.server.accept()
                with caller:
                    self.effects += caller.recv(100) == b"effect"


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    thread = Thread(target=made.serve, daemon=True)
    thread.start()
    yield made
    made.server.shutdown(socket.SHUT_RDWR)
    made.server.close()
    thread.join(5)


@contextmanager
def child(
    target: Target, seconds: float, place: Path, *, waiting: str = "reads", afterwards: float = 0, blocked: bool = False
) -> Iterator[subprocess.Popen[str]]:
    words = (sys.executable, "-c", CHILD, str(target.port), str(seconds), str(place), waiting, str(afterwards))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM} if blocked else set())
    try:  # what is blocked here is blocked in the child
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    try:
        assert process.stdout
        assert process.stdout.readline() == "armed\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_who_is_in_time_does_its_effect_and_lives_on(target: Target, tmp_path: Path) -> None:
    with child(target, 1.5, tmp_path, afterwards=2) as process:
        assert process.communicate("go\n", timeout=30)[0] == "left\n"
        assert process.returncode == 0
    assert target.effects == 1


@pytest.mark.parametrize("waiting", ["reads", "busy"])
@pytest.mark.parametrize("blocked", [False, True])
def test_who_was_stopped_past_the_end_dies_before_it_can_do_anything(
    target: Target,
    tmp_path: Path,
    waiting: str,
    blocked: bool,  # noqa: FBT001
) -> None:
    with child(target, 1, tmp_path, waiting=waiting, blocked=blocked) as process:
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        (tmp_path / "go").touch()
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.poll() is None
        process.send_signal(signal.SIGCONT)
        assert process.wait(30) == -signal.SIGALRM
    assert target.effects == 0


def test_who_merely_waits_too_long_dies_as_well(target: Target, tmp_path: Path) -> None:
    with child(target, 0.5, tmp_path) as process:
        assert process.wait(30) == -signal.SIGALRM
    assert target.effects == 0


def test_entering_too_late_is_said_before_anything() -> None:
    said = r"the lease of digest is over by now; nothing .* was sent, run the tick again"
    with pytest.raises(TryAgain, match=said), fence("digest", lambda: 0):
        pytest.fail("entered")
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_clock_that_went_on_in_machine_sleep_is_asked_right_before_each_request() -> None:
    left = [50.0]
    with fence("digest", lambda: left[0]) as check:
        check()
        left[0] = -1.0
        with pytest.raises(TryAgain, match="the lease of digest is over"):
            check()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_who_was_stopped_before_the_timer_was_set_has_it_set_again() -> None:
    answers = iter([50.0, 50.0, 20.0, 20.0, 20.0])
    with fence("digest", lambda: next(answers)):
        assert 19 < signal.getitimer(signal.ITIMER_REAL)[0] <= 20


def test_what_was_there_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(number: int, frame: object) -> None:
        """Stand in for whoever uses the timer."""

    before = signal.signal(signal.SIGALRM, handler)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, 100, 7)
    try:
        with fence("digest", lambda: 50):
            assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
            assert signal.getitimer(signal.ITIMER_REAL)[0] <= 50
            assert signal.SIGALRM not in signal.pthread_sigmask(signal.SIG_BLOCK, set())
        assert signal.getsignal(signal.SIGALRM) == handler
        assert signal.SIGALRM in signal.pthread_sigmask(signal.SIG_BLOCK, set())
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 50 < left <= 100
        assert interval == 7
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGALRM, before)


def test_of_two_fences_the_one_that_ends_first_counts() -> None:
    with fence("digest", lambda: 30):
        with fence("links", lambda: 500):
            assert signal.getitimer(signal.ITIMER_REAL)[0] <= 30
        with fence("links", lambda: 10):
            assert signal.getitimer(signal.ITIMER_REAL)[0] <= 10
        assert 10 < signal.getitimer(signal.ITIMER_REAL)[0] <= 30
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_error_inside_disarms() -> None:
    with pytest.raises(KeyError), fence("digest", lambda: 500):
        raise KeyError(os.getpid())
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
