"""The time by which leases are judged: the server's where it is known, else the tick's own and what passed since."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """A clock that is set once a tick, and again whenever the server says something new."""

    def __init__(
        self,
        server: Callable[[], int | None],
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`server`: its time in seconds since 1970, None while it is not known."""
        self._server, self._monotonic, self._wall = server, monotonic, wall
        self._heard: int | None = None
        self._set = (0, monotonic(), wall())

    def start(self, now: int) -> None:
        """Begin a tick at this moment."""
        self._heard = None
        self._set = (now, self._monotonic(), self._wall())

    def now(self, said: int = 0) -> int:
        """Return the time; `said`: what somebody takes it for, which counts if it is later and the server is silent."""
        here = int(self.exact())
        return here if self._heard is not None else max(said, here)

    def exact(self) -> float:
        """Return the time by whichever clock went on further: the monotonic one stands still in machine sleep."""
        told = self._server()
        if told is not None and told != self._heard:
            self._heard = told
            self._set = (told, self._monotonic(), self._wall())
        now, monotonic, wall = self._set
        return now + max(self._monotonic() - monotonic, self._wall() - wall)

    def countdown(self, until: float) -> Callable[[], float]:
        """Return a function that tells how many seconds are left until then; no new word of the server changes that."""
        started = self._monotonic(), self._wall()  # first: if we are stopped here, that counts
        left = until - self.exact()
        return lambda: left - max(self._monotonic() - started[0], self._wall() - started[1])
