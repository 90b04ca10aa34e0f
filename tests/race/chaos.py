"""What goes wrong, drawn from one random.Random: the same seed draws the same race, whatever the processes make of it."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

MINUTE, HOUR = 60, 3600
CUTS = ("before", "after", "busy", "locked")
SKEW = 25
"""Seconds by which a machine's clock may be off; two are less than the margin apart."""


class Fate(NamedTuple):
    """What happens to one process."""

    kind: str = ""
    """
    kill      kill -9 some time after its start
    cut-kill  kill -9 at one of its pushes, before or after the server applied it
    stop      stopped, and continued some rounds later
    """
    after: float = 0.0
    """Seconds from its start."""
    rounds: int = 0
    whole: bool = False
    """With everything it started."""
    push: str = ""
    """before or after, for `cut-kill`."""


class Move(NamedTuple):
    """What one machine does once."""

    kind: str
    """
    tick     a full tick
    job      a full tick that runs one job only
    split    plan, draft and settle, in processes of their own
    approve  a person says yes to a draft
    """
    pick: float
    """From 0 to 1: which job, or which proposal."""
    fate: Fate = Fate()
    cuts: tuple[str, ...] = ()
    """What happens to its next pushes, in order; "" is nothing."""
    again: bool = False
    """Settle a second time, as a re-run of failed jobs does."""
    missing: bool = False
    """One draft does not come."""


class Round(NamedTuple):
    """Some minutes of the race: every machine does something, all at once."""

    number: int
    advance: int
    """Seconds that pass before it."""
    moves: dict[str, tuple[Move, ...]]
    skews: dict[str, int]
    twins: tuple[str, ...] = ()
    """Two machines that tick in the same second under the same name."""
    remove: float = -1.0
    """Which lease's ref is removed while they work, 0 to 1."""
    decline: bool = False
    """A rule of the repository refuses one push."""
    reset: int = 0
    """By how many commits the branch is set back while they work."""


class Chaos:
    """Draws rounds."""

    def __init__(self, seed: int, machines: tuple[str, ...], *, split: bool, resets: bool, term: int) -> None:
        """`split`: there is a split mode; `resets`: a reset can be accepted; `term`: seconds of a lease."""
        self._random = Random(seed)
        self._machines, self._split, self._resets, self._term = machines, split, resets, term
        self._number = 0

    def round(self) -> Round:
        """Draw the next round."""
        draw = self._random
        self._number += 1
        jump = draw.random() < 0.15
        advance = self._term + draw.randint(61, 300) if jump else draw.randint(3, 20) * MINUTE
        twins = draw.sample(self._machines, 2) if draw.random() < 0.2 else ()
        return Round(
            self._number,
            advance,
            {name: tuple(self._move() for _ in range(draw.randint(1, 3))) for name in self._machines},
            {name: draw.randint(-SKEW, SKEW) for name in self._machines},
            twins=tuple(twins),
            remove=draw.random() if draw.random() < 0.1 else -1.0,
            decline=draw.random() < 0.15,
            reset=draw.randint(1, 6) if self._resets and draw.random() < 0.08 else 0,
        )

    def _move(self) -> Move:
        draw = self._random
        kinds = ("tick", "job", "split", "approve") if self._split else ("tick", "job", "approve")
        weights = (3, 4, 3, 2) if self._split else (4, 5, 2)
        kind = draw.choices(kinds, weights)[0]
        cuts = tuple(draw.choice(("", *CUTS)) for _ in range(3)) if draw.random() < 0.4 else ()
        return Move(kind, draw.random(), self._fate(), cuts, again=draw.random() < 0.2, missing=draw.random() < 0.1)

    def _fate(self) -> Fate:
        draw = self._random
        kind = draw.choices(("", "kill", "cut-kill", "stop"), (60, 15, 10, 15))[0]
        after, whole = draw.uniform(0.05, 1.2), draw.random() < 0.5
        push = draw.choice(("before", "after"))
        return Fate(kind, after, draw.randint(1, 3), whole, push) if kind else Fate()
