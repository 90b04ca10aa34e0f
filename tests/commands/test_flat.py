"""What a tick asks of the remote does not grow with the past: one state beside another of three times its length.

`bench/flat.py` measures the same at 100,000 receipts, with times.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from bench.ledgers import make
from hz_team.keeping import LINES, LOOSE
from tests.commands.terminal import HELLO, Team
from tests.git_server import bare, count_pushes, watched

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.git_server import Asked, Server

JOBS = 3
SHORT, LONG = LOOSE, LOOSE + 2 * LINES
"""Receipts; as many of either have files of their own."""
NEXT_LINE = 100
"""Bytes of one more segment in the list of segments."""
NOISE = 1_000
"""Bytes by which two answers of the same content differ, for hashes compress as they like."""


class Answers(NamedTuple):
    """What a command asked, and what that cost."""

    asked: tuple[tuple[str, str], ...]
    """Method and path, without the repository's name."""
    fetched: int
    """Bytes."""
    pushed: tuple[str, ...]
    """The refs of each push."""


class Machine:
    """A team whose state has a past."""

    def __init__(self, place: Path, receipts: int, server: Server) -> None:
        self._state, self._server = place / f"{receipts}.git", server
        self._remote = ("--remote", f"{server.url}/{receipts}.git")
        make(self._state, receipts=receipts, jobs=JOBS)
        bare(self._state)  # adds its settings to what is there
        self._log = count_pushes(self._state)
        self.team = Team(place / str(receipts))
        for number in range(JOBS):
            self.team.job(f"job-{number:02}", HELLO.replace("0 9 * * MON", "0 9 1 1 *"))
        self.settle()

    def hz(self, *words: str) -> Answers:
        """Type a command."""
        self._server.since()
        self._log.write_text("")
        self.team.hz(*words, *self._remote, "--now", "2026-12-01T12:00:00Z")
        asked = self._server.since()
        return Answers(
            tuple((one.method, _path(one)) for one in asked),
            sum(one.sent for one in asked),
            tuple(self._log.read_text().splitlines()),
        )

    def settle(self) -> None:
        """Tick until a tick is idle."""
        assert any(not self.hz("tick").pushed for _ in range(3))

    def segments(self) -> int:
        """How many there are."""
        words = ("git", "-C", str(self._state), "ls-tree", "--name-only", "hz-state", "segments/")
        return len(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())


def _path(asked: Asked) -> str:
    return asked.path.split("/", 2)[2]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    with watched(tmp_path) as server:
        yield Machine(tmp_path, SHORT, server), Machine(tmp_path, LONG, server)


def test_an_idle_tick_asks_no_more_when_the_past_is_longer(pair: tuple[Machine, Machine], nobodys_home: Path) -> None:
    short, long = (machine.hz("tick") for machine in pair)
    assert short == long
    fresh = []
    for machine in pair:
        shutil.rmtree(nobodys_home / ".cache")
        fresh.append(machine.hz("tick"))
    short, long = fresh
    assert short.asked == long.asked
    assert long.fetched - short.fetched < (LONG - SHORT) // LINES * NEXT_LINE + NOISE


def test_a_working_tick_asks_and_pushes_no_more_when_the_past_is_longer(pair: tuple[Machine, Machine]) -> None:
    """The second one finds more receipts than may lie about, and folds a thousand."""
    before = [machine.segments() for machine in pair]
    for job in ("job-00", "job-01"):
        short, long = (machine.hz("run", job) for machine in pair)
        assert short.asked == long.asked
        assert short.pushed == long.pushed
        assert 1 <= len(long.pushed) <= 3, long.pushed
        assert long.fetched - short.fetched < NOISE
        for machine in pair:
            machine.settle()
    assert [machine.segments() for machine in pair] == [count + 1 for count in before]
