"""record: receipts, positions, cursors, proposals → one commit, pushed with the tip it was made from.

Called twice in a working tick: before anything leaves, and after publish. Writes nothing if nothing is worth a write;
when it writes, everything that only rides along (validators, skip counters) goes with it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import chronicle, duty, ledger, schedule
from hz_team.chronicle import Run
from hz_team.model.job import plain
from hz_team.model.state import VERSION, Position, document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hz_team.model.draft import Outcome
    from hz_team.model.facet import Cursor
    from hz_team.model.job import Job
    from hz_team.model.observation import Observations
    from hz_team.model.order import Plan
    from hz_team.model.receipt import Receipt
    from hz_team.model.ruling import Ruling
    from hz_team.model.state import View
    from hz_team.model.wake import Poke
    from hz_team.ports import Lease, World

DECISIONS = 10
KEEP_CURSORS = 30 * 86400
"""Seconds for which the cursor of a removed or redefined watch stays: its file may come back."""


class Entries(NamedTuple):
    """What is to be recorded."""

    plan: Plan
    seen: Observations
    outcomes: tuple[Outcome, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    leases: Mapping[str, Lease] = {}
    pokes: tuple[Poke, ...] = ()
    """Everything asked for and not yet drafted, old and new."""
    now: int = 0
    looking: bool = True
    """First record of a tick: cursors, new triggers and switches are written with it."""
    last: bool = False
    """Nothing of this tick needs its leases afterwards: they are given back with it."""


class Recorded(NamedTuple):
    """What the record phase did."""

    view: View
    receipts: tuple[tuple[str, Receipt], ...] = ()
    """Ids and receipts, in the order of their chains."""
    wrote: bool = False


def record(world: World, view: View, entries: Entries) -> Recorded:
    """Write one commit with everything that happened, or nothing. Raises TryAgain when the branch moved meanwhile."""
    book = _Book(world, view, entries)
    if entries.looking:
        book.look()
    book.runs()
    book.decide()
    if entries.looking:
        book.pokes()
    if not book.worth_a_write():
        return Recorded(view)
    if entries.looking:
        book.ride_along()
    return book.close()


class _Book:
    """The commit in the making."""

    def __init__(self, world: World, view: View, entries: Entries) -> None:
        self.world, self.view, self.entries = world, view, entries
        self.jobs: dict[str, Job] = {job.id: job for job in world.config.jobs}
        self.positions: dict[str, Position] = dict(view.positions)
        self.receipts: list[Receipt] = []
        self.files: dict[str, bytes | None] = {}
        self.proposals = dict(view.proposals)
        self.decisions = list(view.decisions)

    def look(self) -> None:
        """Enter what the tick heard and saw first: new triggers, jobs to try again, the pause box."""
        for job in self.jobs.values():
            if job.scope == self.world.scope:
                self.positions[job.id] = chronicle.noticed(job, self._position(job.id), self.entries.now)
        for subject, _ in self.entries.seen.heard.retries:
            position = self.positions.get(subject)
            if position and position.parked:
                self.positions[subject] = duty.unparked(position)
        switched = self.entries.seen.heard.pause
        if switched and switched[0] != bool(self.view.paused):
            paused = {"at": self.entries.now, "by": switched[1], "via": "dashboard"} if switched[0] else {}
            self.files["switches.json"] = _bytes({"v": VERSION, "paused": paused})

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
                    self._draft(draft.payload())

    def decide(self) -> None:
        """Enter every ruling."""
        for ruling in self.entries.rulings:
            self.receipts.extend(ruling.receipts)
            if ruling.payload is not None:
                self._draft(ruling.payload)
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
        """Enter pokes that wait, and remove those that a run consumed or whose job is gone."""
        stored = {poke.id: poke for poke in self.view.wakes}
        consumed = {name for position in self.positions.values() for name in position.wakes}
        for poke in self.entries.pokes:
            if poke.id not in stored and poke.id not in consumed:
                self.files[f"wakes/{poke.job}/{poke.id}.json"] = _bytes(document(poke))
        for name, poke in stored.items():
            if name in consumed or duty.is_gone(poke.job, self.world.config):
                self.files[f"wakes/{poke.job}/{name}.json"] = None

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
                self.files[f"cursors/{cursor.watch}/{cursor.key}.json"] = _bytes(document(cursor))
            if look.document is not None:
                self.files[_facets(look.cursor.snapshot)] = look.document
        for skip in self.entries.plan.skips:
            name, _, identity = skip.trigger.partition("/")
            if name in self.positions:
                self.positions[name] = chronicle.skipped(self.positions[name], identity, skip.reason, skip.slots)

    def close(self) -> Recorded:
        """Give the receipts their places, write everything, push."""
        chained, positions = ledger.append(self.positions, self.receipts, self.world.runner, self.entries.leases)
        ids = [entry.id for entry in chained]
        self.files.update({entry.path: entry.content for entry in chained})
        self._remember(ids)
        for name, position in positions.items():
            lease = self.entries.leases.get(name)
            if lease and position != self.view.positions.get(name):
                positions[name] = position._replace(lease_generation=lease.generation)
            if positions[name] != self.view.positions.get(name):
                self.files[f"jobs/{name}.json"] = _bytes(document(positions[name]))
        self._proposals()
        self._sweep(positions)
        self._summary(positions)
        leases, message = tuple(self.entries.leases.values()), chronicle.message(self.receipts)
        view = self.world.state.record(self.view, self.files, message, leases=leases, last=self.entries.last)
        return Recorded(view, tuple(zip(ids, self.receipts, strict=True)), wrote=True)

    def _position(self, name: str) -> Position:
        return self.positions.get(name) or Position(job=name)

    def _others(self, name: str) -> int:
        day = schedule.day(self.entries.now, self.world.config.settings.timezone)
        return sum(position.spent.get(day, 0) for job, position in self.positions.items() if job != name)

    def _draft(self, payload: Mapping[str, Any]) -> None:
        from hz_team.fingerprint import canonical, sha256

        content = canonical(payload)
        name = sha256(content)
        self.files[f"drafts/{name[:2]}/{name}.json"] = content

    def _remember(self, ids: Sequence[str]) -> None:
        """Note at each proposal which receipts speak of it."""
        for name, receipt in zip(ids, self.receipts, strict=True):
            proposal = self.proposals.get(receipt.proposal)
            if proposal:
                receipts = {**proposal.receipts, receipt.disposition: name}
                self.proposals[proposal.id] = proposal._replace(receipts=receipts)

    def _proposals(self) -> None:
        for name, proposal in self.proposals.items():
            if proposal != self.view.proposals.get(name):
                self.files[f"proposals/{name}.json"] = _bytes(document(proposal))
        for name in self.view.proposals:
            if name not in self.proposals:
                self.files[f"proposals/{name}.json"] = None

    def _sweep(self, positions: Mapping[str, Position]) -> None:
        """Remove snapshots that nothing names any more."""
        cursors = self._cursors()
        before = _named(self.view.positions, self.view.proposals.values(), self.view.cursors)
        after = _named(positions, self.proposals.values(), cursors)
        for snapshot in before - after:
            self.files.setdefault(_facets(snapshot), None)

    def _cursors(self) -> dict[str, Cursor]:
        """Return the cursors that stay: the present watches' and, for a while, those of watches that are gone."""
        looks = {f"{look.watch}/{look.cursor.key}": look.cursor for look in self.entries.seen.looks.values()}
        present = {f"{watch.id}/{watch.key}" for watch in self.world.config.watches}
        old = self.entries.now - KEEP_CURSORS
        kept = {name: one for name, one in self.view.cursors.items() if name in present or one.polled_at > old}
        for name in self.view.cursors.keys() - kept.keys():
            self.files[f"cursors/{name}.json"] = None
        return {**kept, **looks}

    def _summary(self, positions: Mapping[str, Position]) -> None:
        count, head = ledger.head(positions)
        summary = {"count": count, "head": head, "repository": self.view.repository, "v": VERSION}
        self.files["ledger.json"] = _bytes(summary)
        if self.decisions != list(self.view.decisions):
            board = {**self.view.dashboard, "decisions": self.decisions[:DECISIONS], "v": VERSION}
            self.files["dashboard.json"] = _bytes(board)


def _named(
    positions: Mapping[str, Position],
    proposals: Iterable[Any],
    cursors: Mapping[str, Any],
) -> set[str]:
    names = {
        snapshot for position in positions.values() for snapshot in (*position.base.values(), *position.seen.values())
    }
    names |= {snapshot for item in proposals for snapshot in (*item.snapshot.values(), *item.base.values())}
    return {name for name in names | {cursor.snapshot for cursor in cursors.values()} if name}


def _facets(snapshot: str) -> str:
    return f"facets/{snapshot[:2]}/{snapshot}.json"


def _bytes(value: Any) -> bytes:
    return (json.dumps(plain(value), ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
