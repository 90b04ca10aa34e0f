"""The one lease of the embedded default: the root's file lock. The kernel gives it back when its holder dies."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from hz_team.errors import RemoteError, TryAgain
from hz_team.ports import Lease

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class FileLeases:
    """`ports.Leases` by flock on one file: whoever has it holds every job of the root, until release or death."""

    def __init__(self, path: str) -> None:
        """The file is made when it is first locked, and stays."""
        self.path = os.path.abspath(path)
        self._lock = -1
        self._held: dict[str, Lease] = {}

    def acquire(
        self,
        jobs: Mapping[str, int],
        *,
        now: int,
        ttl: int,
        ledger: tuple[int, str] = (0, ""),  # noqa: ARG002  (whoever has the root has the newest ledger)
    ) -> dict[str, Lease]:
        """Take the root, and with it all of `jobs`, each in a generation greater than the one given.

        A job that is held here already keeps its lease. Raises TryAgain if another process owns the root.
        """
        if self._lock < 0:
            self._lock = _locked(self.path)
        for job, generation in jobs.items():
            if job not in self._held:
                token = os.urandom(16).hex()
                self._held[job] = Lease(job, f"file:{job}", token, generation + 1, now + ttl)
        return {job: self._held[job] for job in jobs}

    def holds(self, lease: Lease, *, now: int) -> bool:  # noqa: ARG002  (nobody takes over a locked file)
        """Whether this process still holds that very lease: granted here, and the locked file is still in its place."""
        return self._held.get(lease.job) == lease and _is_in_place(self._lock, self.path)

    def release(self, leases: Iterable[Lease]) -> None:
        """Give back; the root is free when nothing is held any more."""
        for lease in leases:
            if self._held.get(lease.job) == lease:
                del self._held[lease.job]
        if not self._held and self._lock >= 0:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = -1


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
