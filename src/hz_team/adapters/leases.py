"""The one lease of the embedded default: the root's file lock. The kernel gives it back when its holder dies."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hz_team.errors import RemoteError, TryAgain
from hz_team.ports import Granted, Lease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hz_team.model.state import Anchor
    from hz_team.ports import Claim, Known, Standing

HANDED = "the embedded state has a lock that ends with its process; split mode needs --remote or `state.repository`"


class FileLeases:
    """`ports.Leases` by flock on one file: whoever has it holds every job of the root, until release or death."""

    def __init__(self, path: str) -> None:
        """The file is made when it is first locked, and stays."""
        self.path = os.path.abspath(path)
        self._lock = -1
        self._held: dict[str, Lease] = {}

    def acquire(self, claim: Claim) -> Granted:
        """Take the root, and with it every job of the claim, each in a generation greater than the known one.

        A job that is held here already keeps its lease. Raises TryAgain if another process owns the root.
        """
        if self._lock < 0:
            self._lock = _locked(self.path)
        for job, known in claim.jobs.items():
            if job not in self._held:
                token = os.urandom(16).hex()
                self._held[job] = Lease(job, f"file:{job}", token, known.generation + 1, 0)
        return Granted({job: self._held[job] for job in claim.jobs})

    def adopt(self, leases: Iterable[Lease], *, now: int, ttl: int, ledger: Anchor) -> dict[str, Lease]:  # noqa: ARG002
        """Refuse: a lock ends with the process that has it."""
        raise RemoteError(HANDED)

    def hand_over(self, leases: Iterable[Lease]) -> dict[str, Lease]:  # noqa: ARG002  (whatever they are)
        """Refuse: a lock ends with the process that has it."""
        raise RemoteError(HANDED)

    def extended(self, leases: Iterable[Lease], *, now: int) -> dict[str, Lease]:  # noqa: ARG002  (a lock has no term)
        """Return them as they are: a lock has no end but its holder's."""
        return {lease.job: lease for lease in leases}

    @contextmanager
    def fence(self, lease: Lease) -> Iterator[Callable[[], None]]:  # noqa: ARG002  (nobody can take a lock over)
        """Guard nothing: whoever is paused keeps the lock."""
        yield lambda: None

    def standing(self) -> tuple[Standing, ...]:
        """Return nothing: the lock tells of no job."""
        return ()

    def mend(self, standing: Standing, known: Known, *, now: int, ledger: Anchor) -> None:
        """Do nothing: the kernel mends a lock."""

    def holds(self, lease: Lease, *, now: int) -> bool:  # noqa: ARG002  (nobody takes over a locked file)
        """Whether this process still holds that very lease: granted here, and the locked file is still in its place."""
        return self._has(lease) and _is_in_place(self._lock, self.path)

    def release(self, leases: Iterable[Lease]) -> None:
        """Give back; the root is free when nothing is held any more."""
        for lease in leases:
            if self._has(lease):
                del self._held[lease.job]
        if not self._held and self._lock >= 0:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = -1

    def _has(self, lease: Lease) -> bool:
        held = self._held.get(lease.job)
        return held is not None and held.key == lease.key


def _locked(path: str) -> int:
    """Return the descriptor of a file that this process alone has locked. Raises TryAgain, RemoteError."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        while True:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not _try_lock(lock):
                holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip()
                os.close(lock)
                who = f" (pid {holder})" if holder.isdigit() else ""
                raise TryAgain(f"another tick{who} is at work here; it ends by itself")
            if _is_in_place(lock, path):
                os.ftruncate(lock, 0)
                os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
                return lock
            os.close(lock)  # somebody replaced the file between our open and our lock
    except OSError as error:
        raise RemoteError(
            f"{path}: cannot be locked ({error.strerror}); it must lie on a disk of this machine"
        ) from None


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_in_place(lock: int, path: str) -> bool:
    """Whether the locked file is the one that others find under its name."""
    try:
        return lock >= 0 and os.path.samestat(os.fstat(lock), os.stat(path))
    except OSError:
        return False
