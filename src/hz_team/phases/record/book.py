"""The commit in the making: everything that happened, entered one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team import chronicle, duty, keeping, ledger, schedule
from hz_team.chronicle import Run
from hz_team.model.state import VERSION, document, stored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.job import Job
    from hz_team.model.receipt import Receipt
    from hz_team.model.state import Position, View
    from hz_team.phases.record import Entries
    from hz_team.ports import World

DECISIONS = 10
"""As many as the dashboard shows."""


class Book:
    """What one record is going to write."""

    def __init__(self, world: World, view: View, entries: Entries) -> None:
        self.world, self.view, self.entries = world, view, entries
        self.jobs: dict[str, Job] = {job.id: job for job in world.config.jobs}
        self.positions: dict[str, Position] = dict(view.positions)
        self.receipts: list[Receipt] = []
        self.files: dict[str, bytes | None] = {}
        self.proposals = dict(view.proposals)
        self.decisions = list(view.decisions)
        self.drafts = [(one.job, one.digest) for one in view.proposals.values()]
        """Job and digest of every draft that was named before, or is written now."""
        self.folded = dict(view.folded)
        self.sealed = view.sealed

    def look(self) -> None:
        """Enter what the tick heard and saw first: new triggers, jobs to try again, the pause box."""
        for job in self.jobs.values():
            if job.scope == self.world.scope:
                self.positions[job.id] = chronicle.noticed(job, self._position(job.id), self.entries.now)
        for subject, _ in self.entries.seen.heard.retries:
            position = self.positions.get(subject)
            if position and position.parked:
                self.positions[subject] = duty.unparked(position)
        heard = self.entries.seen.heard
        if heard.pause and heard.pause[0] != bool(self.view.paused):
            via = "closed" if heard.closed else "dashboard"
            paused = {"at": self.entries.now, "by": heard.pause[1], "via": via} if heard.pause[0] else {}
            self.files["switches.json"] = stored({"v": VERSION, "paused": paused})

    def runs(self) -> None:
        """Enter every order that was run."""
        settings = self.world.config.settings
        for order, outcome in zip(self.entries.plan.orders, self.entries.outcomes, strict=False):
            run = Run(self.jobs[order.job], order, outcome, self.entries.now)
            position = chronicle.settled(run, self._position(order.job))
            self.positions[order.job] = chronicle.spent(position, run, settings, others=self._others(order.job))
            self.receipts.extend(chronicle.receipts(run))
            for draft in outcome.drafts:
                if not draft.kind:
                    self._draft(order.job, draft.payload())

    def decide(self) -> None:
        """Enter every ruling."""
        for ruling in self.entries.rulings:
            self.receipts.extend(ruling.receipts)
            if ruling.payload is not None:
                self._draft(ruling.proposal.job, ruling.payload)
            name = ruling.proposal.id
            if ruling.open:
                self.proposals[name] = ruling.proposal
            else:
                self.proposals.pop(name, None)
            position = self._position(ruling.proposal.job)
            if ruling.base is not None:
                position = chronicle.moved(position, ruling.base, ruling.proposal.created_at)
            if ruling.decision:
                position = position._replace(outcome={"at": self.entries.now, "text": chronicle.last_word(ruling)})
                self.decisions.insert(0, {"at": self.entries.now, "text": ruling.text})
            if ruling.base is not None or ruling.decision:
                self.positions[position.job] = position

    def pokes(self) -> None:
        """Enter pokes that wait; remove those that a run consumed, that brought nothing new, or whose job is gone."""
        waiting = {poke.id: poke for poke in self.view.wakes}
        consumed = {name for position in self.positions.values() for name in position.wakes}
        consumed |= {name for skip in self.entries.plan.skips for name in skip.pokes}
        for poke in self.entries.pokes:
            if poke.id not in waiting and poke.id not in consumed:
                self.files[f"wakes/{poke.job}/{poke.id}.json"] = stored(document(poke))
        for name, poke in waiting.items():
            if name in consumed or duty.is_gone(poke.job, self.world.config):
                self.files[f"wakes/{poke.job}/{name}.json"] = None

    def is_settled(self) -> bool:
        """Whether everything that was said is decided: of a job whose lease is another's nothing is."""
        about = (self.view.proposals.get(answer.proposal) for answer in self.entries.seen.heard.answers)
        return all(proposal.job in self.entries.leases for proposal in about if proposal)

    def worth_a_write(self) -> bool:
        """Whether anything happened that must be on record."""
        seen = any(look.must_write for look in self.entries.seen.looks.values()) and self.entries.looking
        moved = self.positions != self.view.positions or self.proposals != self.view.proposals
        return bool(self.receipts or self.files or seen or moved)

    def ride_along(self) -> None:
        """Enter what never causes a write: validators, and slots that passed without a draft."""
        for look in self.entries.seen.looks.values():
            if look.dirty:
                cursor = look.cursor
                self.files[f"cursors/{cursor.watch}/{cursor.key}.json"] = stored(document(cursor))
            if look.document is not None:
                self.files[keeping.facets(look.cursor.snapshot)] = look.document
        self.files.update({keeping.facets(name): content for name, content in self.entries.seen.kept.items()})
        for skip in self.entries.plan.skips:
            name, _, identity = skip.trigger.partition("/")
            if name in self.positions:
                self.positions[name] = chronicle.skipped(self.positions[name], identity, skip.reason, skip.slots)

    def _position(self, name: str) -> Position:
        return self.positions.get(name) or ledger.begun(name, self.folded)

    def _others(self, name: str) -> int:
        day = schedule.day(self.entries.now, self.world.config.settings.timezone)
        return sum(position.spent.get(day, 0) for job, position in self.positions.items() if job != name)

    def _draft(self, job: str, payload: Mapping[str, Any]) -> None:
        from hz_team.fingerprint import canonical, sha256

        content = canonical(payload)
        name = sha256(content)
        self.files[keeping.draft(name)] = content
        self.drafts.append((job, name))
