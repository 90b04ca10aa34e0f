"""A team for a race: machines with the same files, the repository they share, and everything around it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.git_server import Server
from tests.race.front import Desk, Sink, fronted, sunk
from tests.race.machine import Clock, Forker, Machine, iso
from tests.race.repository import Repository

MINUTE, HOUR = 60, 3600
START = 1_796_112_000
"""Tuesday 1 December 2026, 08:00 UTC."""
FIRST, EVERY = START + HOUR, HOUR // 2
"""When the first slot is, and how far apart they are."""
EACH = 10
"""Slots of a job."""
KINDS = ("issue", "issue", "issue", "asked", "webhook")
SLOW = 0.3
"""Seconds that every third job takes for a draft."""
TIMEOUT = MINUTE
TERM = TIMEOUT + HOUR
"""Seconds for which a job of the race is leased: its time-out and two intervals."""
JOB = """\
on: {{once: [{times}], catch_up: all, max_late: 30d}}
timeout: {timeout}s
retries: {{max: 5, backoff: 1m}}
publish: {kind}
steps:
  - run: |
      sleep {pause}
      cat > $HZ_DRAFT <<END
{head}      $HZ_JOB $HZ_SLOT
      END
"""
HEAD = """\
      ---
      title: "$HZ_JOB"
      target: "{url}/$HZ_JOB/$HZ_SLOT"
      ---
"""
"""A webhook's target tells its slot: no later draft takes the place of one that waits."""
SETTINGS = """\
publish: {{hosts: ["{host}"]}}
limits: {{drafts_per_tick: {limit}, parallel: 2}}
"""
POLICY = "- {{owner: octocat, job: {name}, kind: issue, target: here, until: 2099-12-31}}\n"


class Helper(NamedTuple):
    """One job of the race. Its draft says in its first line which job and slot it is for."""

    kind: str
    """issue: published by a standing yes; asked: an issue that waits for a person; webhook: waits for one as well."""
    slots: tuple[int, ...]
    pause: float = 0.0
    """Seconds that a draft takes."""

    def file(self, url: str) -> str:
        """Return its file; `url`: where webhooks go."""
        times = ", ".join(f'"{iso(slot)}"' for slot in self.slots)
        kind, head = ("webhook", HEAD.format(url=url)) if self.kind == "webhook" else ("issue", "")
        return JOB.format(times=times, timeout=TIMEOUT, kind=kind, pause=self.pause, head=head)


def crowd(slots: int) -> dict[str, Helper]:
    """Return jobs that come due so often in all; three in five are published by themselves."""
    made = {}
    for number in range(-(-slots // EACH)):
        first = FIRST + number * MINUTE // 2
        times = tuple(first + EVERY * place for place in range(min(EACH, slots - number * EACH)))
        made[f"j{number:02}"] = Helper(KINDS[number % len(KINDS)], times, 0.0 if number % 3 else SLOW)
    return made


class Team:
    """Everything that takes part."""

    def __init__(self, place: Path, server: Server, desk: Desk, sink: Sink, forker: Forker) -> None:
        self.place, self.forker = place, forker
        self.desk, self.sink = desk, sink
        self.clock = Clock(START)
        self.repository = Repository(place)
        self.forge = place / "forge"
        self.forge.mkdir()
        self.machines: dict[str, Machine] = {}
        self._server = server
        self.advance(0)

    def join(self, name: str, *, http: bool) -> Machine:
        """Add a machine that reaches the repository over HTTP, or as a folder."""
        url = f"{self._server.url}/{name}/state.git" if http else self.repository.path.as_uri()
        made = Machine(self.place, name, url, self.clock, self.forge, self.forker)
        self.machines[name] = made
        return made

    def found(self, helpers: Mapping[str, Helper], limit: int) -> None:
        """Write the team's files on every machine; `limit`: drafts of one tick."""
        files = {f"jobs/{name}.yaml": helper.file(self.sink.url) for name, helper in helpers.items()}
        files["hz.yaml"] = SETTINGS.format(host=self.sink.url.removeprefix("http://"), limit=limit)
        standing = [POLICY.format(name=name) for name, helper in helpers.items() if helper.kind == "issue"]
        files["policies/auto-approve.yaml"] = "".join(standing) or "[]\n"
        for machine in self.machines.values():
            for name, text in files.items():
                machine.write(name, text)

    def advance(self, seconds: int) -> None:
        """Let time pass for everybody, the server included."""
        self.clock.advance(seconds)
        self._server.ahead = self.clock.ahead()

    def knows(self, *commands: str) -> bool:
        """Whether hz-team has these commands."""
        table = (self.forker.source / "hz_team/cli.py").read_text()
        return all(f'"{command}":' in table for command in commands)

    def close(self, machines: Collection[Machine] = ()) -> None:
        """End these machines' processes, or all."""
        for machine in machines or self.machines.values():
            machine.close()


@contextmanager
def gathered(place: Path, forker: Forker) -> Iterator[Team]:
    """Give a team without machines yet; its servers and commands end with the block."""
    place.mkdir(parents=True, exist_ok=True)
    with fronted(place) as (server, desk), sunk() as sink:
        team = Team(place, server, desk, sink, forker)
        try:
            yield team
        finally:
            team.close()
