"""The leases that this process has in hand: where each stands by now, how they are renewed, and what was lost."""

from __future__ import annotations

import random
import time
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters.lease_claim import Wanted
from hz_team.adapters.lease_note import FREE, Note
from hz_team.errors import HzError, TryAgain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hz_team.adapters.git import Update
    from hz_team.adapters.git_runner import Repository
    from hz_team.adapters.lease_chain import Chains, Tip
    from hz_team.adapters.lease_clock import Clock
    from hz_team.model.state import View
    from hz_team.ports import Lease

ATTEMPTS = 4
"""Pushes of one claim, renewal or release, where nobody answers."""
PAUSE = 0.05
"""Seconds; the longest pause before the second push, doubled for each one after it."""


class Held(NamedTuple):
    """One lease of ours, and where it stands by now."""

    lease: Lease
    commit: str
    note: Note
    """What stands there; of the ledger, what is known by now."""


class Renewal(NamedTuple):
    """One lease commit of ours that is not known to stand yet."""

    job: str
    update: Update
    note: Note


class Hand:
    """What one process holds on the lease refs of one repository."""

    def __init__(self, chains: Chains, clock: Clock) -> None:
        """Nothing is held yet."""
        self.chains, self.clock, self.mirror = chains, clock, chains.mirror
        self.term = 0
        """Seconds that a lease is taken for, and renewed for."""
        self.held: dict[str, Held] = {}
        self._stop: Event | None = None

    def take(self, lease: Lease, note: Note) -> None:
        """Have a lease from now on, standing at its token, and renew it at half its term."""
        self.held[lease.job] = Held(lease, lease.token, note)
        if self._stop is None:
            self._stop = Event()
            Thread(target=self._renewing, args=(self._stop, self.term / 2), name="leases", daemon=True).start()

    def drop(self, jobs: Iterable[str]) -> None:
        """Have these no longer, whatever stands there; nothing held, nothing renewed."""
        for job in jobs:
            self.held.pop(job, None)
        if not self.held and self._stop:
            self._stop.set()
            self._stop = None

    def has(self, lease: Lease) -> bool:
        """Whether it was granted here, and neither given back nor lost since, as far as is known."""
        held = self.held.get(lease.job)
        return held is not None and held.lease.key == lease.key

    def find(self, lease: Lease) -> Held:
        """Return where a lease of ours stands. Raises TryAgain if it is not ours."""
        if not self.has(lease):
            raise TryAgain(f"the lease of {lease.job} is not ours any more; nothing was recorded, run the tick again")
        return self.held[lease.job]

    def seen(self, lease: Lease, tips: Mapping[str, Tip]) -> bool:
        """Whether a lease is still ours as it stands: where we left it, or at a push of ours that came late."""
        tip, held = tips.get(lease.job), self.held.get(lease.job)
        if not tip or not tip.note or not held or not self.has(lease):
            return False
        if tip.commit == held.commit:
            return True
        if not self.chains.is_ours(lease.job, tip.commit) or tip.note.mode == FREE:
            return False
        if tip.note.generation != lease.generation:
            return False
        note = held.note._replace(expires_at=tip.note.expires_at, at=tip.note.at)
        self.held[lease.job] = held._replace(commit=tip.commit, note=note)
        return True

    def lost(self, repository: Repository, leases: Iterable[Lease]) -> str:
        """Return what to say about the first of these that is not ours any more; "" if all are. Raises GitError."""
        tips = self.chains.read(repository)
        for lease in leases:
            if not self.seen(lease, tips):
                tip = tips.get(lease.job)
                taker = tip.note.holder if tip and tip.note else "somebody"
                return f"the lease of {lease.job} is not ours any more ({taker} has it)"
        return ""

    def renewals(
        self, repository: Repository, leases: Sequence[Lease], *, after: View | None = None, free: bool = False
    ) -> list[Renewal]:
        """Make the commits that renew these leases (`free`: give them back), with what `after` says of the ledger.

        A lease is renewed to its own `expires_at`, to a whole term if that is past. Raises TryAgain for one that is
        not ours, GitError.
        """
        now, wanted = self.clock.now(), []
        for lease in leases:
            held = self.find(lease)
            note = held.note.knowing(after.anchor, seq_of(after, lease.job)) if after else held.note
            end = lease.expires_at if lease.expires_at > now else now + self.term
            note = note._replace(at=now, expires_at=end)
            note = note._replace(mode=FREE, expires_at=now, hard=0) if free else note
            wanted.append(Wanted(lease.job, held.commit, note))
        updates = self.chains.make(repository, wanted)
        return [Renewal(one.job, update, one.note) for one, update in zip(wanted, updates, strict=True)]

    def settle(self, renewals: Iterable[Renewal]) -> None:
        """Note that these stand by now; what was given back is gone."""
        for one in renewals:
            held = self.held.get(one.job)
            if one.note.mode == FREE:
                self.drop([one.job])
            elif held:
                self.held[one.job] = held._replace(commit=one.update.new, note=one.note)

    def learn(self, leases: Iterable[Lease], view: View) -> None:
        """Note what the ledger is by now: the next renewal says so."""
        for lease in leases:
            if self.has(lease):
                held = self.held[lease.job]
                note = held.note.knowing(view.anchor, seq_of(view, lease.job))
                self.held[lease.job] = held._replace(note=note)

    def push(self, repository: Repository, renewals: Sequence[Renewal]) -> list[Renewal]:
        """Push renewals by themselves; return those that do not stand now. Raises RemoteError."""
        ours = self.chains.push(repository, [one.update for one in renewals]).ours
        self.settle(one for one in renewals if one.update.ref in ours)
        return [one for one in renewals if one.update.ref not in ours]

    def move(self, leases: Iterable[Lease], *, free: bool = False) -> None:
        """Renew these (or give them back) in one push, and again where nobody answered; what is lost is dropped.

        Raises TryAgain, RemoteError.
        """
        with self.mirror.writing() as repository:
            left = [lease for lease in leases if self.has(lease)]
            for number in range(ATTEMPTS):
                if not left:
                    return
                left = self._moved(repository, left, free=free)
                pause(number if left else -1)

    def _moved(self, repository: Repository, leases: Sequence[Lease], *, free: bool) -> list[Lease]:
        """Push once; return those that are still ours as they were."""
        renewals = self.mirror.insist(lambda: self.renewals(repository, leases, free=free))
        missed = {one.job for one in self.push(repository, renewals)}
        if not missed:
            return []
        tips = self.mirror.insist(lambda: self.chains.read(repository))
        left = [lease for lease in leases if lease.job in missed and self.seen(lease, tips)]
        self.drop(missed - {lease.job for lease in left})
        return left

    def _renewing(self, stop: Event, term: float) -> None:
        """Renew everything held whenever half a term has passed."""
        while not stop.wait(term):
            try:
                self.move([held.lease._replace(expires_at=0) for held in tuple(self.held.values())])
            except HzError:
                continue  # tried again at the next half; the record finds out whether it was in time


def seq_of(view: View, job: str) -> int:
    """Return how many receipts the state has of a job."""
    found = view.positions.get(job) or view.folded.get(job)
    return found.seq if found else 0


def pause(number: int) -> None:
    """Wait a little before the next push, longer each time, and never as long as another does; below 0 not at all."""
    if number >= 0:
        time.sleep(random.uniform(0, PAUSE * 2**number))  # noqa: S311  (jitter, no secret)
