"""A folder that only we write to: files appear whole or not at all, and no link is followed on the way to them.

A complete new file is written under the name `NEW` first and flushed; only then does it get its own name. Writers take
turns by a lock that the kernel drops with its holder, so whatever a killed one left under `NEW` is nobody's any more.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Self

from hz_team.errors import RemoteError, TryAgain

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW = ".hz-new"
PATIENCE = 10.0
"""Seconds to wait for another writer."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PAUSE = 0.02


class Stored(NamedTuple):
    """A file as it was read."""

    content: bytes
    mode: int
    """Permission bits."""
    modified: int


class Folder:
    """One open folder; a context manager."""

    def __init__(self, number: int, path: str) -> None:
        """`number` is its file descriptor, closed at the end; `path` is for sentences."""
        self.number, self.path = number, path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.number)

    def read(self, name: str) -> Stored | None:
        """Return a plain file's content, None if there is no such file. Raises RemoteError for anything else."""
        with told(self.path, name):
            try:
                number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.number)
            except FileNotFoundError:
                return None
            found = os.fstat(number)
            if not stat.S_ISREG(found.st_mode):
                os.close(number)
                raise RemoteError(f"{os.path.join(self.path, name)} is no plain file; move it away")
            with os.fdopen(number, "rb") as stream:
                return Stored(stream.read(), stat.S_IMODE(found.st_mode), int(found.st_mtime))

    def names(self) -> list[str]:
        """Return the names in it."""
        with told(self.path):
            return os.listdir(self.number)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the right to write here; what a killed writer left goes first. Raises TryAgain after PATIENCE."""
        until = time.monotonic() + PATIENCE
        while True:
            with told(self.path, but=BlockingIOError), suppress(BlockingIOError):
                fcntl.flock(self.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > until:
                raise TryAgain(f"another tick is writing to {self.path}; try again when it is done")
            time.sleep(_PAUSE)
        try:
            self.remove(NEW)
            yield
        finally:
            fcntl.flock(self.number, fcntl.LOCK_UN)

    def add(self, name: str, content: bytes) -> None:
        """Create a file. Within `turn`. Raises FileExistsError if the name is taken: nothing is ever replaced."""
        with told(self.path, name, but=FileExistsError):
            self._prepare(content, 0o600)
            os.link(NEW, name, src_dir_fd=self.number, dst_dir_fd=self.number)
            os.unlink(NEW, dir_fd=self.number)
            os.fsync(self.number)

    def put(self, name: str, content: bytes, mode: int = 0o600) -> None:
        """Create a file or replace the one that is there. Within `turn`."""
        with told(self.path, name):
            self._prepare(content, mode)
            os.replace(NEW, name, src_dir_fd=self.number, dst_dir_fd=self.number)
            os.fsync(self.number)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with told(self.path, name), suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.number)

    def _prepare(self, content: bytes, mode: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        number = os.open(NEW, flags, 0o600, dir_fd=self.number)
        with os.fdopen(number, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(number, mode)
            os.fsync(number)


def opened(root: str, *names: str) -> Folder | None:
    """Open a folder below `root`, None if it does not exist. Raises RemoteError if a link or a file is in the way."""
    with told(root, *names):
        try:
            return _walked(root, names, make=False)
        except FileNotFoundError:
            return None


def made(root: str, *names: str) -> Folder:
    """Open a folder below `root`; those that are missing are made, for this user alone. Raises RemoteError."""
    with told(root, *names):
        return _walked(root, names, make=True)


def _walked(root: str, names: tuple[str, ...], *, make: bool) -> Folder:
    place = Folder(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), root)
    for name in names:
        with place:
            if make:
                _make(place, name)
            deeper = os.open(name, _FOLDER, dir_fd=place.number)
        place = Folder(deeper, os.path.join(place.path, name))
    return place


def _make(place: Folder, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=place.number)
    except FileExistsError:
        return
    os.fsync(place.number)


@contextmanager
def told(*names: str, but: type[OSError] | None = None) -> Iterator[None]:
    """Turn what the file system says into a sentence; errors of the kind `but` pass."""
    try:
        yield
    except OSError as error:
        if but is not None and isinstance(error, but):
            raise
        path = os.path.join(*names)
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:
            raise RemoteError(
                f"{path} is behind a link or a file; nothing is read or written there: move it away"
            ) from error
        raise RemoteError(f"{path} cannot be read or written: {error.strerror}") from error
