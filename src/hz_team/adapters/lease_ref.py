"""Leases that any number of machines share: one Git ref a job, moved only from the value it is known to have.

Nothing on the server guards these refs. What makes them exclusive is the explicit expected value of every push, a nonce
in every commit, and that a record pushes its leases with it, all or nothing.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hz_team.adapters.lease_clock import Clock
from hz_team.errors import HzError, TryAgain
from hz_team.ports import Claim, Granted, Known, Lease, Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from hz_team.adapters.lease_chain import Tip
    from hz_team.adapters.lease_hand import Hand
    from hz_team.adapters.lease_note import Note
    from hz_team.model.state import Anchor
    from hz_team.ports import Attempts, Leases


class RefLeases:
    """`ports.Leases` on refs/hz/lease/job/<id> of a Git URL."""

    def __init__(
        self,
        url: str,
        cache: str,
        *,
        holder: str,
        run: str = "",
        attempt: int = 0,
        author: str = "hz-team <hz-team@localhost>",
        environ: Mapping[str, str] | None = None,
        root: Leases | None = None,
        attempts: Attempts | None = None,
        clock: Callable[[], int | None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`holder` says who we are, `run` and `attempt` which run of a forge, if we are one.

        `root` is taken first: one tick at a time works on one folder of this machine. `attempts` tells what became of
        other runs. `clock` gives the server's time; none is given to a tick that replays another moment.
        """
        self.url, self.holder, self.run, self.attempt = url, holder, run, attempt
        self.atomic: bool | None = None
        """Whether the server records state and leases in one push; None while nobody has asked it to."""
        self.clock = Clock(clock, monotonic)
        self.ended: Callable[[Note], int] = lambda _: 0
        """When a holder's run ended; asks about each attempt once a tick."""
        self._attempts = attempts
        self._cache, self._author = cache, author
        self.environ = os.environ if environ is None else environ
        self._root, self._rooted = root, dict[str, Lease]()
        self._opened: Hand | None = None

    @property
    def hand(self) -> Hand:
        """What this process has of the leases; Git's adapters are loaded when it is asked for."""
        if self._opened is None:
            from hz_team.adapters.lease_chain import Chains
            from hz_team.adapters.lease_hand import Hand
            from hz_team.adapters.mirror import Mirror

            self._opened = Hand(Chains(Mirror(self.url, self._cache, self.environ), self._author), self.clock)
        return self._opened

    def acquire(self, claim: Claim) -> Granted:
        """Take those jobs that are free or whose holder is long gone, all in one push; none known to be live.

        Raises TryAgain if another tick works on this root; Behind if a lease that could be taken knows of more than the
        state that was planned from: nothing is taken then.
        """
        from hz_team.adapters import lease_taking

        self._begin(claim)
        hand, view = self.hand, None
        before = set(hand.held)
        try:
            if jobs := [job for job in claim.jobs if job not in before]:
                view = lease_taking.take(self, claim, jobs)
        except HzError:
            self.release([held.lease for job, held in tuple(hand.held.items()) if job not in before])
            raise
        finally:
            self._leave_if_empty()
        return Granted({job: hand.held[job].lease for job in claim.jobs if job in hand.held}, view)

    def adopt(self, leases: Iterable[Lease], *, now: int, ttl: int, ledger: Anchor) -> dict[str, Lease]:
        """Go on with leases that another process of this run took: renewed, all or none, from exactly where they stand.

        Each returned lease's token is the commit it stands at by then. Raises TryAgain if one moved, Behind if one
        knows of more than `ledger`.
        """
        from hz_team.adapters import lease_taking

        wanted = {lease.job: lease for lease in leases}
        claim = Claim({job: Known(lease.generation - 1) for job, lease in wanted.items()}, now, ttl, ledger)
        self._begin(claim)
        try:
            lease_taking.adopt(self, claim, wanted)
        except HzError:
            self.release([self.hand.held[job].lease for job in wanted if job in self.hand.held])
            raise
        finally:
            self._leave_if_empty()
        return {job: self.hand.held[job].lease for job in wanted}

    def hand_over(self, leases: Iterable[Lease]) -> dict[str, Lease]:
        """Keep these held when this process ends: return them as they stand, and stop renewing."""
        hand, given = self.hand, {}
        with hand.mirror.writing():  # no renewal is under way
            for held in [hand.find(lease) for lease in leases]:
                end = held.note.expires_at
                given[held.lease.job] = held.lease._replace(token=held.commit, expires_at=end, made=False)
                hand.chains.forget(held.lease.job)
            hand.drop(given)
        self._leave_if_empty()
        return given

    def extended(self, leases: Iterable[Lease], *, now: int) -> dict[str, Lease]:
        """Return them with the end that a record made now gives them."""
        term = self._opened.term if self._opened else 0
        return {lease.job: lease._replace(expires_at=self.clock.now(now) + term) for lease in leases}

    def holds(self, lease: Lease, *, now: int) -> bool:
        """Whether this process still holds that very lease: granted here, not run out, and still the one out there."""
        if self._opened is None or not self._opened.has(lease):
            return False
        hand = self._opened
        if self.clock.now(now) >= hand.find(lease).note.expires_at:
            return False
        try:
            with hand.mirror.writing() as repository:
                return hand.seen(lease, hand.mirror.insist(lambda: hand.chains.read(repository)))
        except HzError:
            return False  # who cannot look does not know

    def fence(self, lease: Lease) -> AbstractContextManager[Callable[[], None]]:
        """Guard effects: the process dies when the lease, by its `expires_at`, has only a request's deadline to live.

        A minute earlier where the server cannot record state and leases in one push: somebody may have come between.
        """
        from hz_team.adapters import fence

        margin = fence.DEADLINE + (fence.LOOSE if self.atomic is False else 0)
        return fence.fence(lease.job, self.clock.countdown(lease.expires_at - margin))

    def release(self, leases: Iterable[Lease]) -> None:
        """Give back what is still ours, in one push. One that cannot be given back runs out by itself."""
        mine = [lease for lease in leases if self._opened and self._opened.has(lease)]
        try:
            if mine:
                self.hand.move(mine, free=True)
        except HzError:
            pass  # the work is done and recorded; a lease that nobody renews ends
        finally:
            if mine:
                self.hand.drop(lease.job for lease in mine)
            self._leave_if_empty()

    def standing(self) -> tuple[Standing, ...]:
        """Return every lease there is, by job. Raises RemoteError."""
        from hz_team.adapters.lease_chain import PLACE

        mirror = self.hand.mirror
        with mirror.writing() as repository:
            tips = mirror.insist(lambda: self.hand.chains.read(repository))
        return tuple(_standing(job, f"{PLACE}{job}", tip) for job, tip in sorted(tips.items()))

    def mend(self, standing: Standing, known: Known, *, now: int, ledger: Anchor) -> None:
        """Put a free lease of a newer generation where this one stands. Raises TryAgain if it moved, RemoteError."""
        from hz_team.adapters.lease_claim import Wanted
        from hz_team.adapters.lease_note import FREE, Note

        generation = max(known.generation, standing.generation) + 1
        note = Note(self.holder, FREE, generation, now, now).knowing(ledger, known.seq)
        hand, job = self.hand, standing.job
        with hand.mirror.writing() as repository:
            tip, came = hand.mirror.insist(lambda: hand.chains.read(repository)).get(job), False
            if tip and tip.commit == standing.commit:
                updates = hand.mirror.insist(lambda: hand.chains.make(repository, [Wanted(job, tip.commit, note)]))
                came = bool(hand.chains.push(repository, updates).ours)
        if not came:
            raise TryAgain(f"the lease of {job} moved meanwhile; nothing was mended, look again")

    def renew(self) -> None:
        """Move the end of everything held a whole term on, in one push. Raises TryAgain, RemoteError."""
        self.hand.move([held.lease._replace(expires_at=0) for held in self.hand.held.values()])

    def _begin(self, claim: Claim) -> None:
        """Take the root, and set the clock."""
        from hz_team.adapters.lease_claim import end_of_runs

        self.hand.term = claim.ttl
        if self._root:
            self._rooted.update(self._root.acquire(claim).leases)
        self.clock.start(claim.now)
        self.ended = end_of_runs(self._attempts)

    def _leave_if_empty(self) -> None:
        """Give the root back when no lease needs it."""
        if self._root and not (self._opened and self._opened.held):
            self._root.release(self._rooted.values())
            self._rooted = {}


def _standing(job: str, ref: str, tip: Tip) -> Standing:
    note = tip.note
    if note is None:
        return Standing(job, ref, "", "", commit=tip.commit)
    return Standing(
        job, ref, note.holder, note.mode, note.generation, note.at, note.ends, note.anchor, tip.commit, note.seq
    )
