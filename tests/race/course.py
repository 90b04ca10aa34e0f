"""The race itself: a team, rounds of chaos, and then peace until nothing is left to do."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

from tests.race import referee
from tests.race.chaos import Chaos, Fate, Move, Round
from tests.race.front import Mischief
from tests.race.machine import Done, Job, Machine, iso, strays
from tests.race.referee import Heard, Outcome, Slot
from tests.race.split import Script, split
from tests.race.team import MINUTE, TERM, Helper, Team

LIMIT, AT_PEACE = 3, 100
"""Drafts of one tick."""
TWIN = 4242
"""The number that both twins take for their own."""
PEACE = "(in peace)"
CALM = 30
"""Ticks at most until nothing is left."""


class Away(NamedTuple):
    """A process that is stopped, and what its machine was about."""

    job: Job
    script: Script
    until: int
    """The round before which it goes on."""


class Course:
    """One race."""

    def __init__(
        self,
        team: Team,
        helpers: Mapping[str, Helper],
        machines: Sequence[str],
        *,
        beside: Collection[str] = (),
        seed: int = 0,
    ) -> None:
        """`beside`: machines that reach the repository as a folder; the others do over HTTP."""
        self.team, self.helpers, self.names = team, helpers, tuple(machines)
        self.slots = frozenset((name, at) for name, helper in helpers.items() for at in helper.slots)
        for name in self.names:
            team.join(name, http=name not in beside)
        team.found(helpers, LIMIT)
        self.chaos = Chaos(
            seed, self.names, term=TERM, split=team.knows("draft", "settle"), resets=team.knows("doctor")
        )
        self.done: list[Done] = []
        self.killed: set[tuple[str, int]] = set()
        self.resumed: set[tuple[str, int]] = set()
        self.resets: list[tuple[str, str]] = []
        self.away: dict[str, Away] = {}
        self.counts: Counter[str] = Counter()
        self.halted: set[str] = set()
        """Machines whose last tick stood still before a ledger that lost its tail."""
        self._lock, self._began = Lock(), time.monotonic()
        self.timeline = team.place / "timeline.log"

    def run(self, name: str, *words: str, **more: Any) -> Done:
        """Run a command on a machine to its end."""
        return self.end(self.start(name, *words, **more))

    def start(self, name: str, *words: str, **more: Any) -> Job:
        """Start a command on a machine."""
        return self.team.machines[name].start(*words, "--json", **more)

    def end(self, running: Job) -> Done:
        """Wait for a command's end."""
        return self._note(running.done())

    def kill(self, running: Job) -> None:
        """End a command at once."""
        self.counts["kills"] += 1
        self.killed.add((running.machine.name, running.number))
        self.log(f"{running.machine.name}/{running.number} is killed")
        running.kill()

    def stop(self, running: Job, *, whole: bool) -> None:
        """Stop a command, and (`whole`) everything that it started."""
        self.counts["stops"] += 1
        self.log(f"{running.machine.name}/{running.number} is stopped{' with all it started' if whole else ''}")
        running.stop(whole=whole)

    def go_on(self, running: Job) -> Done:
        """Let a stopped command go on to its end."""
        self.log(f"{running.machine.name}/{running.number} goes on")
        self.resumed.add((running.machine.name, running.number))
        running.go_on()
        return self.end(running)

    def say_yes(self, name: str) -> None:
        """Tick the boxes on all pages of decisions on a machine."""
        for page in (self.team.machines[name].root / ".hz/local/inbox").glob("p-*.md"):
            page.write_text(re.sub(r"- \[ \] (<!-- hz:approve)", r"- [x] \1", page.read_text()))

    def reset(self, commits: int) -> None:
        """Set the branch back by so many commits."""
        new = self.team.repository.history()[commits]
        old = self.team.repository.reset(new)
        self.log(f"the branch is set back from {old[:12]} to {new[:12]}")
        self.counts["resets"] += 1
        self.resets.append((old, new))

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return everything that went out."""
        return referee.outcomes(self.team.forge, self.team.sink)

    def rendered(self) -> list[Slot]:
        """Return the slots that were rendered on record, each as often as it was."""
        return sorted(referee.rendered(referee.read(self.team.repository)).elements())

    def drive(self, rounds: int) -> None:
        """Race for so many rounds."""
        for name in self.names:
            self.run(name, "tick")
        for _ in range(rounds):
            self._round(self.chaos.round())

    def calm(self) -> None:
        """Let everybody finish, and one machine after the other work until nothing is left."""
        self._at_ease()
        machines = list(self.team.machines.values())
        for number in range(CALM):
            self.team.advance(TERM + 10 * MINUTE)
            self._peaceful(machines[number % len(machines)])
            record = referee.read(self.team.repository)
            if not record.open and referee.rendered(record).keys() >= self.slots:
                break
        for machine in machines[:2]:
            self._note(machine.run("receipts", "verify"), peace=True)

    def judge(self) -> list[str]:
        """Return a sentence for everything that must not be."""
        said = [
            *referee.judge(self.team.repository, self.outcomes(), self.heard()),
            *(f"in peace: {done}" for done in self.done if PEACE in done.words),
        ]
        self.team.close()
        said += [f"still at work: {one}" for one in strays(self.team.place)]
        for sentence in said:
            self.log(f"WRONG {sentence}")
        return said

    def heard(self) -> Heard:
        """Return what the referee cannot read elsewhere."""
        return Heard(self.slots, tuple(self.done), frozenset(self.killed), frozenset(self.resumed), tuple(self.resets))

    def told(self) -> str:
        """Return what happened, in numbers."""
        cuts = {f"pushes {kind}": times for kind, times in self.team.desk.done.items() if kind != "pass"}
        counts = {**self.counts, **cuts}
        counts["pushes over HTTP"] = self.team.desk.pushes
        counts["moves of the branch"] = len(self.team.repository.moves())
        counts["renders"] = sum(referee.rendered(referee.read(self.team.repository)).values())
        counts["effects"] = len(self.outcomes())
        return ", ".join(f"{count} {what}" for what, count in counts.items())

    def log(self, text: str) -> None:
        """Write a line of the timeline."""
        real, now = time.monotonic() - self._began, iso(self.team.clock.now())
        with self._lock, self.timeline.open("a", encoding="utf-8") as stream:
            stream.write(f"{real:8.3f} {now} {text}\n")

    def _round(self, drawn: Round) -> None:
        """Let everybody do what was drawn, all at once."""
        self.counts["rounds"] += 1
        self.team.advance(drawn.advance)
        self.log(f"round {drawn.number}: {drawn.advance} s later; away: {', '.join(sorted(self.away)) or 'nobody'}")
        self._accept()
        if drawn.decline:
            self.team.repository.decline()
        back = {name: one for name, one in self.away.items() if one.until <= drawn.number}
        self.away = {name: one for name, one in self.away.items() if name not in back}
        with ThreadPoolExecutor(len(self.names)) as pool:
            work = [pool.submit(self._return, name, one) for name, one in back.items()]
            here = [name for name in self.names if name not in back and name not in self.away]
            twins = drawn.twins if set(drawn.twins) <= set(here) else ()
            for name in here:
                self.team.machines[name].skew = 0 if name in twins else drawn.skews[name]
            work += [pool.submit(self._work, name, drawn, twin=name in twins) for name in here]
            self._meddle(drawn)
            for one in work:
                one.result()

    def _work(self, name: str, drawn: Round, *, twin: bool) -> None:
        machine = self.team.machines[name]
        if twin:
            self.counts["twins"] += 1
            self._note(machine.run("tick", "--json", pid=TWIN))
        for move in drawn.moves[name]:
            if name in self.away:
                return
            self._move(machine, move, drawn.number)

    def _move(self, machine: Machine, move: Move, number: int) -> None:
        """Do one thing, and let its fate and mischief have it."""
        desk, running = self.team.desk, list[Job]()

        def kill() -> None:
            self.kill(running[-1])

        if move.fate.kind == "cut-kill":
            desk.expect(machine.name, Mischief(move.fate.push, then=kill))
        desk.expect(machine.name, *(Mischief(kind or "pass") for kind in move.cuts))
        self.log(f"{machine.name} {move.kind} {move.fate.kind} {' '.join(move.cuts)}")
        self._run(machine, self._script(machine, move), move.fate, number, running)
        desk.forget(machine.name)

    def _run(self, machine: Machine, script: Script, fate: Fate, number: int, running: list[Job]) -> None:
        """Run a script's commands; when the time of its fate has come, kill or stop the one that runs."""
        due = time.monotonic() + fate.after if fate.kind in {"kill", "stop"} else 0.0
        words = next(script, None)
        while words:
            running.append(machine.start(*words))
            left = due - time.monotonic()
            done = self._ended(running[-1], max(left, 0.0)) if due else None
            if due and not done:
                due = 0.0
                if fate.kind == "stop":
                    self.stop(running[-1], whole=fate.whole)
                    self.away[machine.name] = Away(running[-1], script, number + fate.rounds)
                    return
                self.kill(running[-1])
            done = self._note(done or running[-1].done())
            words = _next(script, done)

    def _return(self, name: str, away: Away) -> None:
        """Let a stopped process go on, and its machine with it."""
        words = _next(away.script, self.go_on(away.job))
        while words:
            words = _next(away.script, self._note(self.team.machines[name].run(*words)))

    def _script(self, machine: Machine, move: Move) -> Script:
        if move.kind == "split":
            self.counts["split ticks"] += 1
            return split(machine, again=move.again, missing=move.missing)
        if move.kind == "job":
            name = list(self.helpers)[int(move.pick * len(self.helpers))]
            return _once("tick", "--json", "--job", name)
        waiting = [one for one in self.team.repository.proposals() if one["state"] == "awaiting"]
        if move.kind == "approve" and waiting:
            return _once("inbox", *self._answer(waiting[int(move.pick * len(waiting))]), "--json")
        return _once("tick", "--json")

    def _answer(self, proposal: dict[str, Any]) -> tuple[str, str]:
        """Return what a person says who looks what became of a draft: yes, or no if they have seen it arrive."""
        arrived = proposal["kind"] == "webhook" and _path(proposal) in self.team.sink.paths()
        if proposal["state"] == "unknown":
            return ("arrived" if arrived else "again", proposal["id"])
        return ("reject" if arrived else "approve", proposal["id"])

    def _meddle(self, drawn: Round) -> None:
        """Do to the repository what was drawn, while they work."""
        time.sleep(0.3)
        repository = self.team.repository
        held = sorted(repository.leases())
        if drawn.remove >= 0 and held:
            name = held[int(drawn.remove * len(held))]
            self.log(f"the lease of {name} is removed")
            self.counts["leases removed"] += 1
            repository.remove_lease(name)
        if 0 < drawn.reset < len(repository.history()):
            self.reset(drawn.reset)

    def _accept(self) -> None:
        """Let a person who saw a tick stand still look, and go on with what is left."""
        for name in sorted(self.halted - self.away.keys()):
            self.halted.remove(name)
            self.run(name, "doctor", "--accept-head")

    def _at_ease(self) -> None:
        """End all mischief, and let everybody come to the end of what they do."""
        self.log("peace")
        for name, machine in self.team.machines.items():
            self.team.desk.forget(name)
            machine.skew = 0
        (self.team.repository.path / "decline").unlink(missing_ok=True)
        for name, away in self.away.items():
            self._return(name, away)
        self.away = {}
        self.team.found(self.helpers, AT_PEACE)

    def _peaceful(self, machine: Machine) -> None:
        """Tick, answer everything, tick."""
        self.run(machine.name, "tick")
        self._accept()
        for name in self.team.repository.parked():
            self._note(machine.run("inbox", "retry", name, "--json"), peace=True)
        for proposal in self.team.repository.proposals():
            verb, name = self._answer(proposal)
            if proposal["attempted"].get("error") and proposal["state"] == "approved":
                self._note(machine.run("inbox", "retry", name, "--json"), peace=True)
            elif proposal["state"] == "unknown" or verb == "reject":
                self._note(machine.run("inbox", verb, name, "--json"), peace=True)
        self.say_yes(machine.name)
        self._note(machine.run("tick", "--json"), peace=True)

    def _ended(self, running: Job, timeout: float) -> Done | None:
        try:
            return running.done(timeout)
        except TimeoutError:
            return None

    def _note(self, done: Done, *, peace: bool = False) -> Done:
        self.counts["commands"] += 1
        self.log(str(done))
        with self._lock:
            if done.json.get("halted"):
                self.halted.add(done.machine)
            self.done.append(done._replace(words=(*done.words, PEACE)) if peace and done.code else done)
        return done


def _once(*words: str) -> Script:
    yield words


def _next(script: Script, done: Done) -> tuple[str, ...] | None:
    try:
        return script.send(done)
    except StopIteration:
        return None


def _path(proposal: dict[str, Any]) -> str:
    return "/" + str(proposal["target"]).split("/", 3)[3]
