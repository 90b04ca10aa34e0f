"""Leases that any number of machines share: one Git ref a job, moved only from the value it is known to have.

Nothing on the server guards these refs. What makes them exclusive is the explicit expected value of every push, a nonce
in every commit, and that a record pushes its leases with it, all or nothing.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters.lease_note import FREE, HELD, Note, is_free
from hz_team.errors import HzError, TryAgain
from hz_team.ports import Lease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from threading import Event

    from hz_team.adapters.git import Update
    from hz_team.adapters.git_runner import Repository
    from hz_team.adapters.lease_chain import Chains, Standing, Wanted
    from hz_team.ports import Leases


class Held(NamedTuple):
    """One lease of ours, and where it stands by now."""

    lease: Lease
    commit: str
    expires_at: int


class Renewal(NamedTuple):
    """One lease commit of ours that is not pushed yet."""

    job: str
    update: Update
    expires_at: int
    free: bool
    """It gives the lease back."""


class RefLeases:
    """`ports.Leases` on refs/hz/lease/job/<id> of a Git URL."""

    def __init__(
        self,
        url: str,
        cache: str,
        *,
        holder: str,
        author: str = "hz-team <hz-team@localhost>",
        environ: Mapping[str, str] | None = None,
        root: Leases | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`holder` says who we are; `root` is taken first: one tick at a time works on one folder of this machine."""
        self.url, self._cache, self._holder, self._author = url, cache, holder, author
        self._environ = os.environ if environ is None else environ
        self._root, self._rooted = root, dict[str, Lease]()
        self._held: dict[str, Held] = {}
        self._monotonic = monotonic
        self._origin = (0, 0.0, 0.0)
        self._ttl = 0
        self._ledger = (0, "")
        self._stop: Event | None = None
        self._opened: Chains | None = None

    def acquire(
        self, jobs: Mapping[str, int], *, now: int, ttl: int, ledger: tuple[int, str] = (0, "")
    ) -> dict[str, Lease]:
        """Take those of `jobs` that are free or whose holder is long gone, all in one push; none known to be live.

        Raises TryAgain if another tick works on this root, or when a lease was written by somebody whose ledger is
        longer than the one we planned from.
        """
        if self._root:
            self._rooted.update(self._root.acquire(jobs, now=now, ttl=ttl))
        self._origin, self._ttl, self._ledger = (now, self._monotonic(), time.time()), ttl, ledger
        try:
            if wanted := {job: generation for job, generation in jobs.items() if job not in self._held}:
                self._take(wanted, now)
        finally:
            self._leave_if_empty()
        return {job: self._held[job].lease for job in jobs if job in self._held}

    def holds(self, lease: Lease, *, now: int) -> bool:
        """Whether this process still holds that very lease: granted here, not run out, and still the one out there."""
        held = self._held.get(lease.job)
        if not held or held.lease != lease or max(now, self._now()) >= held.expires_at:
            return False
        chains = self._chains()
        try:
            with chains.mirror.writing() as repository:
                standing = chains.mirror.insist(lambda: chains.read(repository)).get(lease.job)
        except HzError:
            return False  # who cannot look does not know
        return standing is not None and standing.commit == self._held[lease.job].commit

    def release(self, leases: Iterable[Lease]) -> None:
        """Give back what is still ours, in one push. One that cannot be given back runs out by itself."""
        mine = [lease for lease in leases if lease.job in self._held and self._held[lease.job].lease == lease]
        try:
            if mine:
                self._push(mine, free=True)
        except HzError:
            pass  # the work is done and recorded; a lease that nobody renews ends
        finally:
            for lease in mine:
                self._held.pop(lease.job, None)
            self._leave_if_empty()

    def renew(self) -> None:
        """Move the end of everything held a whole term on, in one push. Raises TryAgain, RemoteError."""
        self._push([held.lease for held in self._held.values()], free=False)

    def renewals(
        self, repository: Repository, leases: Sequence[Lease], ledger: tuple[int, str], *, free: bool
    ) -> list[Renewal]:
        """Make the commits that renew these leases (or give them back). Raises TryAgain for one that is not ours."""
        from hz_team.adapters.lease_chain import Wanted

        now = self._now()
        note = Note(self._holder, FREE if free else HELD, 0, now if free else now + self._ttl, now, *ledger)
        held = [self._mine(lease) for lease in leases]
        wanted = [Wanted(one.lease.job, one.commit, note._replace(generation=one.lease.generation)) for one in held]
        updates = self._chains().make(repository, wanted) if wanted else []
        pairs = zip(held, updates, strict=True)
        return [Renewal(one.lease.job, update, note.expires_at, free) for one, update in pairs]

    def settle(self, renewals: Iterable[Renewal], ledger: tuple[int, str]) -> None:
        """Note that these commits stand on the remote now."""
        self._ledger = ledger
        for one in renewals:
            if one.free:
                self._held.pop(one.job, None)
            elif one.job in self._held:
                self._held[one.job] = self._held[one.job]._replace(commit=one.update.new, expires_at=one.expires_at)
        self._leave_if_empty()

    def lost(self, repository: Repository, leases: Iterable[Lease]) -> str:
        """Return what to say about the first of these that stands elsewhere than we left it; "" if all are intact."""
        standing = self._chains().read(repository)
        for lease in leases:
            found, held = standing.get(lease.job), self._held.get(lease.job)
            if not held or held.lease != lease or not found or found.commit != held.commit:
                taker = found.note.holder if found and found.note else "somebody"
                return f"the lease of {lease.job} is not ours any more ({taker} has it)"
        return ""

    def push(self, repository: Repository, renewals: Sequence[Renewal]) -> list[Renewal]:
        """Push renewals by themselves and return those that stand now. Raises RemoteError."""
        ours = self._chains().push(repository, [one.update for one in renewals])
        return [one for one in renewals if one.update.ref in ours]

    def _take(self, jobs: Mapping[str, int], now: int) -> None:
        chains = self._chains()
        with chains.mirror.writing() as repository:
            standing = chains.mirror.insist(lambda: chains.read(repository))
            wanted = self._wanted(jobs, standing, now)
            if not wanted:
                return
            updates = chains.mirror.insist(lambda: chains.make(repository, wanted))
            ours = chains.push(repository, updates)
        for one, update in zip(wanted, updates, strict=True):
            if update.ref in ours:
                lease = Lease(one.job, update.ref, update.new, one.note.generation, one.note.expires_at)
                self._held[one.job] = Held(lease, update.new, lease.expires_at)
        if self._held and not self._stop:
            self._stop = self._renewing()

    def _wanted(self, jobs: Mapping[str, int], standing: Mapping[str, Standing], now: int) -> list[Wanted]:
        """Return the commits that would take what can be taken."""
        from hz_team.adapters.lease_chain import Wanted

        newest = max((one.note.at for one in standing.values() if one.note), default=0)
        note = Note(self._holder, HELD, 0, now + self._ttl, now, *self._ledger)
        wanted = []
        for job, generation in sorted(jobs.items()):
            found = standing.get(job)
            if not found:
                wanted.append(Wanted(job, "", note._replace(generation=generation + 1)))
                continue
            if found.note is None:
                from hz_team.adapters.refusal import no_lease

                raise no_lease(self.url, f"refs/hz/lease/job/{job}", found.commit)
            if is_free(found.note, now, newest):
                self._check_length(job, found.note)
                mine = note._replace(generation=max(generation, found.note.generation) + 1)
                wanted.append(Wanted(job, found.commit, mine))
        return wanted

    def _check_length(self, job: str, note: Note) -> None:
        if note.count > self._ledger[0]:
            raise TryAgain(
                f"the lease of {job} knows {note.count} receipts, the ledger read here has {self._ledger[0]}: another "
                "tick recorded meanwhile, or hz-state was reset to an older commit; nothing was taken, run it again",
            )

    def _mine(self, lease: Lease) -> Held:
        held = self._held.get(lease.job)
        if not held or held.lease != lease:
            raise TryAgain(f"the lease of {lease.job} is not ours any more; nothing was recorded, run the tick again")
        return held

    def _push(self, leases: Sequence[Lease], *, free: bool) -> None:
        """Push what renews or frees these leases; what is not ours any more is left alone and forgotten."""
        chains = self._chains()
        with chains.mirror.writing() as repository:
            mine = [lease for lease in leases if lease.job in self._held]
            renewals = chains.mirror.insist(lambda: self.renewals(repository, mine, self._ledger, free=free))
            stand = self.push(repository, renewals)
            for one in renewals:
                if one not in stand:
                    self._held.pop(one.job, None)
            self.settle(stand, self._ledger)

    def _now(self) -> int:
        """Return the time by whichever clock went on further: the monotonic one stands still in machine sleep."""
        now, monotonic, wall = self._origin
        return now + int(max(self._monotonic() - monotonic, time.time() - wall))

    def _renewing(self) -> Event:
        """Renew at half the term for as long as anything is held; return what ends that."""
        from threading import Event, Thread

        stop = Event()

        def renew_until_stopped(term: float) -> None:
            while not stop.wait(term):
                try:
                    self.renew()
                except HzError:
                    continue  # tried again at the next half; the record finds out whether it was in time

        Thread(target=renew_until_stopped, args=(self._ttl / 2,), name="leases", daemon=True).start()
        return stop

    def _leave_if_empty(self) -> None:
        if self._held:
            return
        if self._stop:
            self._stop.set()
            self._stop = None
        if self._root and self._rooted:
            self._root.release(self._rooted.values())
            self._rooted = {}

    def _chains(self) -> Chains:
        if self._opened is None:
            from hz_team.adapters.lease_chain import Chains
            from hz_team.adapters.mirror import Mirror

            self._opened = Chains(Mirror(self.url, self._cache, self._environ), self._author)
        return self._opened
