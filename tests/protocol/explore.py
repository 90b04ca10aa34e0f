"""Breadth-first search of everything a model can do: each state is checked once, the shortest way to a fault is kept."""

from __future__ import annotations

import gc
import time
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

S = TypeVar("S")


class Found(NamedTuple):
    """What a search came back with."""

    states: int
    """Different states visited."""
    moves: int
    """Transitions followed, those to known states included."""
    depth: int
    """Length of the longest shortest way."""
    seconds: float
    """Of CPU, so that neighbours on the machine do not count."""
    actions: Mapping[str, int]
    """How often each kind of action was taken: what is missing here was never tried."""
    broken: str
    """The invariant that does not hold, "" when all do."""
    trace: tuple[tuple[str, str], ...]
    """(action, state after it) from a start to the state that breaks it, empty when none does."""


def explore(
    starts: Iterable[S],
    moves: Callable[[S], Iterable[tuple[str, S]]],
    broken: Callable[[S], str],
    show: Callable[[S], str],
) -> Found:
    """Visit every state that can be reached; end at the first in which `broken` names an invariant."""
    collects = gc.isenabled()
    gc.disable()  # no state is garbage before the end, and looking for garbage among them takes half of the time
    try:
        return _search(starts, moves, broken, show)
    finally:
        if collects:
            gc.enable()


def _search(
    starts: Iterable[S],
    moves: Callable[[S], Iterable[tuple[str, S]]],
    broken: Callable[[S], str],
    show: Callable[[S], str],
) -> Found:
    begun, actions, followed, depth = time.process_time(), Counter[str](), 0, 0
    wave = list(dict.fromkeys(starts))
    before: dict[S, S | None] = dict.fromkeys(wave)

    def found(fault: str, last: S | None) -> Found:
        trace = () if last is None else tuple(_way(last, before, moves, show))
        done = Counter[str]()
        for action, times in actions.items():
            done[kind(action)] += times
        return Found(len(before), followed, depth, time.process_time() - begun, done, fault, trace)

    for state in wave:
        if fault := broken(state):
            return found(fault, state)
    while wave:
        ahead = []
        for state in wave:
            for action, reached in moves(state):
                followed += 1
                actions[action] += 1
                if reached in before:
                    continue
                before[reached] = state
                if fault := broken(reached):
                    return found(fault, reached)
                ahead.append(reached)
        wave, depth = ahead, depth + bool(ahead)
    return found("", None)


def kind(action: str) -> str:
    """Return what is done, without who does it: `A: effect, answered` is `effect, answered`."""
    return action.rpartition(": ")[2]


def written(found: Found) -> str:
    """Return a counterexample as lines to read, one step each."""
    wide = max((len(action) for action, _ in found.trace), default=0)
    lines = (f"{n:3}  {action:{wide}}  {state}" for n, (action, state) in enumerate(found.trace))
    return "\n".join((*lines, f"     broken: {found.broken}"))


def _way(
    last: S, before: Mapping[S, S | None], moves: Callable[[S], Iterable[tuple[str, S]]], show: Callable[[S], str]
) -> Iterator[tuple[str, str]]:
    """Yield the steps from the start; actions are found again rather than kept for each state."""
    way: list[S] = [last]
    while (earlier := before[way[-1]]) is not None:
        way.append(earlier)
    way.reverse()
    yield "start", show(way[0])
    for state, reached in pairwise(way):
        yield next(action for action, after in moves(state) if after == reached), show(reached)
