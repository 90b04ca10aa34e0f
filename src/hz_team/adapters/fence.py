"""The fence around effects: a process that is late dies before it can send.

A real-time timer of the kernel with its default action ends the process, so that one that was stopped dies as it
continues, before it can do anything. In machine sleep that timer stands still: there the clocks are asked, right before
each request.
"""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hz_team.errors import LeaseOver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEADLINE = 20
"""Seconds that a request may take in all: what is sent later than that before the end could arrive after it."""
LOOSE = 60
"""Seconds more where the server cannot record a lease and the ledger in one push."""
SLACK = 0.5
"""Seconds by which the timer may be late."""
FOREVER = float("inf")


@contextmanager
def fence(job: str, left: Callable[[], float]) -> Iterator[Callable[[], None]]:
    """End this process when no seconds are `left`, unless the block is left before; give a function that asks anew.

    That function raises LeaseOver when nothing is left by the clocks; so does entering too late.
    """

    def check() -> None:
        if left() <= 0:
            raise LeaseOver(f"the lease of {job} is over by now; nothing (more) was sent, run the tick again")

    check()
    restore = _armed(left)
    try:
        check()
        yield check
    finally:
        restore()


def _armed(left: Callable[[], float]) -> Callable[[], None]:
    """Arm the timer; return what puts back whatever was there. A timer that would end us sooner stays in force."""
    handler = signal.getsignal(signal.SIGALRM)
    plain = handler in {signal.SIG_DFL, None}  # None: not set by Python, which could not put it back
    if not plain:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    began, (before, interval) = time.monotonic(), signal.getitimer(signal.ITIMER_REAL)
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    _set(left, before if plain and before else FOREVER)

    def restore() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if not plain:
            signal.signal(signal.SIGALRM, handler)
        if before:
            signal.setitimer(signal.ITIMER_REAL, max(before - (time.monotonic() - began), 0.001), interval)

    return restore


def _set(left: Callable[[], float], longest: float) -> None:
    """Set the timer to what is left, and again if this process was stopped before it was set."""
    told = FOREVER
    while 0 < (seconds := left()) < told - SLACK:
        told = seconds
        signal.setitimer(signal.ITIMER_REAL, min(seconds, longest))
