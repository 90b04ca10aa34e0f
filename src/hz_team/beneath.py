"""Reads what others could write to, below a folder, without ever following a link out of it."""

from __future__ import annotations

import os
import stat
from typing import Self

from hz_team.errors import HzError

LARGEST = 1_000_000
"""Bytes of one file that comes back."""


class WorkroomError(HzError):
    """What a step left behind cannot be taken."""


def read_beneath(folder: str, names: tuple[str, ...], *, largest: int = LARGEST) -> bytes | None:
    """Return a plain file below a folder, None if there is none; no component may be a link, nor the file shared.

    Raises WorkroomError otherwise: whoever could write there may have put anything in its place.
    """
    shown = "/".join(names)
    try:
        with _opened(folder, names[:-1]) as parent:
            number = os.open(
                names[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent.number
            )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkroomError(f"{shown} is not taken: it is a link or no plain file ({error.strerror})") from error
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(number)
        raise WorkroomError(f"{shown} is not taken: it is no plain file of its own")
    with os.fdopen(number, "rb") as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise WorkroomError(f"{shown} is larger than {largest:,} bytes")
    return content


class _opened:  # noqa: N801  (used as `with _opened(…)`, like the function it stands for)
    """A folder reached without following a link."""

    def __init__(self, folder: str, names: tuple[str, ...]) -> None:
        self.folder, self.names, self.number = folder, names, -1

    def __enter__(self) -> Self:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        self.number = os.open(self.folder, flags)
        for name in self.names:
            try:
                deeper = os.open(name, flags | os.O_NOFOLLOW, dir_fd=self.number)
            finally:
                os.close(self.number)
            self.number = deeper
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.number)


def listed(folder: str, names: tuple[str, ...]) -> list[str]:
    """Return the names in a folder, sorted, without hidden ones. Raises WorkroomError if it is no folder."""
    try:
        with _opened(folder, names) as place:
            return sorted(name for name in os.listdir(place.number) if not name.startswith("."))
    except OSError as error:
        raise WorkroomError(f"{'/'.join(names)} is not taken: it is no folder any more ({error.strerror})") from error
