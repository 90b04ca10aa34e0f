"""Which slots a job owes now, which it passes over and why, and what to remember afterwards.

A slot is owed when it came after the last one served and is not among those run recently.

  latest   the newest owed slot runs; the older ones are passed as overlapped
  all      each runs, oldest first, at most `limit` now; more than 100 behind are passed as too late
  skip     a missed slot stays missed. The newest runs if it is the only one owed or has not used up a quarter of its
           period; the others are passed by policy. (Nothing is written for a skip, so this must not need a memory.)

`max_late` goes before all of them. After the clock was set back the last slot served lies ahead: then slots that were
not run are owed as usual, from the last one run up to now, and `skew` says by how many seconds the clock went back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.model.state import Served
from hz_team.schedule.slot import newest, slots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.model.job import Trigger

ONCE_LATE = 86400
"""Seconds that a once time may be late unless its trigger says otherwise."""
BEHIND = 100
"""`catch_up: all` makes up for at most so many slots."""
RECENT = 50
"""How many slots that were run a position remembers."""


class Due(NamedTuple):
    """What follows from a trigger's slots now."""

    run: tuple[int, ...] = ()
    """Slots to run, in order."""
    passed: Mapping[str, tuple[int, ...]] = {}
    """Reason (overlapped, too-late, skip-policy) → slots, ascending, that will not run."""
    skew: int = 0
    """Seconds by which the clock was set back behind what is on record; 0 if it was not."""


def due(trigger: Trigger, served: Served | None, now: int, *, limit: int) -> Due:
    """Return which slots to run and to pass over now. `served` is None when the trigger is seen for the first time."""
    fresh = newest(trigger, now)
    since, skew = _since(trigger, served, now, fresh)
    if fresh is None or fresh <= since:
        return Due(skew=skew)
    ran = served.recent if served else ()
    owed = [slot for slot in slots(trigger, since, now) if slot not in ran]
    allowed = _once_late(trigger) if trigger.kind == "once" else trigger.max_late
    late = tuple(slot for slot in owed if allowed is not None and now - slot > allowed)
    run, reason, passed = _choose(trigger, owed[len(late) :], now, limit, missed=bool(late))
    reasons = {"too-late": late}
    reasons[reason] = reasons.get(reason, ()) + passed
    return Due(run, {name: slots for name, slots in reasons.items() if slots}, skew)


def served(previous: Served | None, due: Due, now: int) -> Served:
    """Return the record after those slots were run or passed over."""
    before = previous or Served(first_seen=now)
    return _mark(before, due.run, [slot for slots in due.passed.values() for slot in slots])


def serve(trigger: Trigger, before: Served, run: Sequence[int], passed: Sequence[int]) -> Served:
    """Return the record after a job's run that stands for `run` of this trigger and `passed` of any of its triggers."""
    if not passed:
        return _mark(before, run, ())
    own = set(slots(trigger, min(passed) - 1, max(passed)))
    return _mark(before, run, [slot for slot in passed if slot in own])


def _since(trigger: Trigger, served: Served | None, now: int, fresh: int | None) -> tuple[int, int]:
    """Return the instant after which slots are owed, and the skew."""
    seen = served.first_seen if served else now
    known = seen if served is None or served.last is None else served.last
    if known > now:
        return _set_back(served, now, fresh), known - now
    if served is not None and served.last is not None:
        return served.last, 0
    if trigger.kind == "once":
        return seen - _once_late(trigger) - 1, 0
    return seen - 1, 0


def _set_back(served: Served | None, now: int, fresh: int | None) -> int:
    """Return the last slot run that is not in the future; without one only the newest slot is still owed."""
    past = [slot for slot in (served.recent if served else ()) if slot <= now]
    return past[-1] if past else (now if fresh is None else fresh - 1)


def _once_late(trigger: Trigger) -> int:
    return ONCE_LATE if trigger.max_late is None else trigger.max_late


def _choose(
    trigger: Trigger,
    owed: Sequence[int],
    now: int,
    limit: int,
    *,
    missed: bool,
) -> tuple[tuple[int, ...], str, tuple[int, ...]]:
    """Return the slots to run, and the reason for the slots to pass over."""
    if not owed:
        return (), "", ()
    if trigger.catch_up == "all":
        return tuple(owed[-BEHIND:][:limit]), "too-late", tuple(owed[:-BEHIND])
    if trigger.catch_up != "skip":
        return tuple(owed[-1:]), "overlapped", tuple(owed[:-1])
    alone = len(owed) == 1 and not missed
    if alone or _on_time(owed, now):
        return tuple(owed[-1:]), "skip-policy", tuple(owed[:-1])
    return (), "skip-policy", tuple(owed)


def _on_time(owed: Sequence[int], now: int) -> bool:
    return len(owed) > 1 and 4 * (now - owed[-1]) < owed[-1] - owed[-2]


def _mark(before: Served, run: Sequence[int], passed: Sequence[int]) -> Served:
    if not run and not passed:
        return before
    last = max((*run, *passed))
    if not run and before.last is not None:
        last = max(last, before.last)
    return before._replace(last=last, recent=_remember(before.recent, run))


def _remember(recent: Sequence[int], run: Sequence[int]) -> tuple[int, ...]:
    """Keep the newest, and whatever ran just now even if the clock says that it is older than all of them."""
    now = set(run[-RECENT:])
    others = sorted(set(recent) - now)
    room = RECENT - len(now)
    return tuple(sorted(now.union(others[-room:] if room else ())))
