"""The cache of a state repository: a bare repository that may vanish or break at any time and is then made anew.

Beside another repository on this machine it borrows that one's objects and copies nothing. One flock is held while Git
writes here; Git inherits it, so whoever gets it knows that no Git of ours is alive, even after `kill -9`.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from hz_team.adapters import git, rescue
from hz_team.adapters.credential import access
from hz_team.adapters.git_runner import GitError, Repository, scrubbed
from hz_team.adapters.nearby import BRANCH, local_directory, loose_ref
from hz_team.adapters.refusal import damaged, unreachable
from hz_team.errors import RemoteError, TryAgain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")
WAIT = 30.0
"""Seconds to wait for another process that works in this cache."""
STALE = 600
"""Seconds after which a lock file that is not ours is taken for left over."""
EMBEDDED = (
    ("core.fsync", "loose-object,pack,pack-metadata,reference"),
    ("core.fsyncMethod", "batch"),
    ("gc.auto", "2000"),
    ("gc.autoDetach", "false"),
    ("gc.packRefs", "false"),
    ("maintenance.autoDetach", "false"),
    ("receive.denyNonFastForwards", "true"),
)
"""The embedded default is the only copy: it survives a power cut, tidies up within a push, and keeps its history."""
UNUSED = 14 * 86400
"""Seconds after which a cache that nobody used is made anew: that is cheaper than all that happened since."""
CROWDED = 100
"""Packs; a cache with more is slow to read and is made anew."""
TIP = "refs/hz/tip"


class Mirror:
    """The cache of one URL in one folder."""

    def __init__(self, url: str, path: str, environ: Mapping[str, str]) -> None:
        """Nothing is touched before it is needed."""
        self.url, self.path = url, os.path.abspath(path)
        self.source = local_directory(url)
        """The remote's own Git directory when it lies on this machine, else ""."""
        settings = (("remote.origin.url", url), *_exceptions(self.source))
        shown = access(url, environ)
        self.repository = Repository(self.path, scrubbed(environ), settings, -1, *shown)

    @contextmanager
    def writing(self) -> Iterator[Repository]:
        """Hold the cache for writing, whole and free of what a dead process left. Raises TryAgain, RemoteError."""
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RemoteError(f"{self.path}: the cache cannot be made ({error.strerror})") from None
        try:
            self._wait(lock)
            found = os.fstat(lock)
            if found.st_size:  # whoever held it last did not get to its end
                self._sweep(0)
                self.free_source(BRANCH)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
            if time.time() - found.st_mtime > UNUSED and not self.source:
                self.rebuild()
            self._make_if_missing()
            yield self.repository._replace(lock=lock)
            os.ftruncate(lock, 0)
        finally:
            os.close(lock)

    def insist(self, attempt: Callable[[], T]) -> T:
        """Try, mend the cache, try once more. Raises RemoteError, TryAgain."""
        try:
            return attempt()
        except GitError as error:
            self.mend(error)
        try:
            return attempt()
        except GitError as error:
            raise damaged(self.url, error) from None

    def mend(self, error: GitError) -> None:
        """Do what helps against a failure, so that the question may be asked again. Raises RemoteError, TryAgain."""
        if error.remote or error.missing:
            raise unreachable(self.url, error.stderr) from None
        if error.locked:
            self._sweep(STALE)
            if left := git.locks(self.path):
                raise TryAgain(f"{left[0]}: another Git works in this cache; try again when it has ended") from None
            return
        self.rebuild()
        if error.unadvertised:
            with open(self._whole, "w", encoding="utf-8") as stream:
                stream.write("the server gives out no single files, so everything is fetched\n")

    @property
    def is_whole(self) -> bool:
        """Whether files have to be fetched with their commits, for the server gives out none by itself."""
        return os.path.exists(self._whole)

    @property
    def _whole(self) -> str:
        return os.path.join(self.path, "whole")

    def rebuild(self) -> None:
        """Throw the cache away and make it anew: everything in it is on the remote, or was never acknowledged.

        Receipts that were not are saved first.
        """
        import shutil

        doomed = f"{self.path}.{os.getpid()}"
        try:
            os.rename(self.path, doomed)
        except FileNotFoundError:
            doomed = ""
        except OSError as error:
            raise RemoteError(f"{self.path}: the damaged cache cannot be moved away ({error.strerror})") from None
        self._make_if_missing()
        if doomed:
            tip = loose_ref(self.source, BRANCH) if self.source else loose_ref(doomed, TIP)
            place = rescue.place_of(self.path)
            try:
                rescue.save(self.repository, doomed, tip, place)
            except OSError as error:
                raise RemoteError(
                    f"{place}: receipts of a damaged cache cannot be saved ({error.strerror}), so it is kept as "
                    f"{doomed}; make room, and remove it when you need nothing in it",
                ) from None
            shutil.rmtree(doomed, ignore_errors=True)

    def free_source(self, ref: str) -> None:
        """Remove the lock that a killed push left on a ref of a repository on this machine.

        A living push holds it for milliseconds: one that stays for a second has no owner.
        """
        path = os.path.join(self.source, f"{ref}.lock")
        if not self.source or not os.path.exists(path):
            return
        seen, end = os.stat(path).st_ino, time.monotonic() + 1
        try:
            while os.stat(path).st_ino == seen:
                if time.monotonic() > end:
                    os.unlink(path)
                time.sleep(0.02)
        except FileNotFoundError:
            return

    def is_crowded(self) -> bool:
        """Whether so many packs have gathered that a new cache is cheaper."""
        try:
            names = os.listdir(os.path.join(self.path, "objects", "pack"))
            return sum(name.endswith(".pack") for name in names) > CROWDED
        except OSError:
            return False

    def _wait(self, lock: int) -> None:
        end = time.monotonic() + WAIT
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip()
                    raise TryAgain(f"{self.path}: process {holder} works in this cache; try again later") from None
                time.sleep(0.02)
            else:
                return

    def _sweep(self, age: float) -> None:
        """Remove lock files older than `age` seconds."""
        for path in git.locks(self.path):
            try:
                if age == 0 or time.time() - os.stat(path).st_mtime > age:
                    os.unlink(path)
            except FileNotFoundError:
                continue

    def _make_if_missing(self) -> None:
        if os.path.isfile(os.path.join(self.path, "made")):
            return
        try:
            git.make(self.path, self.repository.environ)
            if self.source:
                alternates = os.path.join(self.path, "objects", "info", "alternates")
                os.makedirs(os.path.dirname(alternates), exist_ok=True)
                with open(alternates, "w", encoding="utf-8", errors="surrogateescape") as stream:
                    stream.write(_quoted(os.path.join(self.source, "objects")) + "\n")
            with open(os.path.join(self.path, "made"), "w", encoding="utf-8") as stream:
                stream.write("a cache of hz-team; safe to delete\n")
        except OSError as error:
            raise RemoteError(f"{self.path}: the cache cannot be made ({error.strerror})") from None
        except GitError as error:
            raise RemoteError(f"{self.path}: the cache cannot be made ({error})") from None


def make_embedded(path: str, environ: Mapping[str, str]) -> None:
    """Make the bare repository of the embedded default, whole or not at all. Raises RemoteError."""
    making = f"{path}.{os.getpid()}"
    try:
        git.make(making, scrubbed(environ), EMBEDDED)
        os.rename(making, path)
    except (OSError, GitError) as error:
        if not os.path.isfile(os.path.join(path, "HEAD")):  # else somebody was faster
            raise RemoteError(f"{path}: the local state repository cannot be made ({error})") from None


def _exceptions(source: str) -> tuple[tuple[str, str], ...]:
    """Return the settings that let Git serve a folder of another owner (D12): that one, in the processes that serve it.

    Git passes no settings on to the far end of a local remote, so they are part of the command that starts it.
    """
    if not source or os.stat(source).st_uid == os.geteuid():
        return ()
    from shlex import quote

    program = f"git -c {quote(f'safe.directory={source}')}"
    return (
        ("safe.directory", source),
        ("remote.origin.uploadpack", f"{program} upload-pack"),
        ("remote.origin.receivepack", f"{program} receive-pack"),
    )


def _quoted(path: str) -> str:
    """Return a path as `objects/info/alternates` takes it."""
    if path.startswith('"') or "\n" in path:
        escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return path
