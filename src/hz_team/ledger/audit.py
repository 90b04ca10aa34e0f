"""The proof of a ledger from raw bytes: every name, chain, segment, position and sum."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from hz_team.ledger.chain import VERSION, Chain, End, Placed, breaks, link

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hz_team.model.state import Folded, Position, View

TOLD = 100
"""Problems that a verdict names one by one."""


class Verdict(NamedTuple):
    """What `verify` found."""

    receipts: int
    chains: int
    problems: tuple[str, ...]
    """A sentence each; empty: all good."""


class Audit:
    """Takes one file of the ledger after the other; says in the end what is wrong."""

    def __init__(self) -> None:
        self.done = 0
        """Receipts."""
        self._problems: list[str] = []
        self._chains: defaultdict[str, Chain] = defaultdict(Chain)
        self._sealed = 0
        self._whole = True
        """Files came by their paths, so that those that are sealed are known."""

    def enter(self, path: str, content: bytes) -> None:
        """Take a receipt (by path or by id alone) or a segment."""
        folder, _, name = path.rpartition("/")
        if folder == "segments":
            self._segment(path, name, content)
            return
        self._whole = self._whole and bool(folder)
        name = name.removesuffix(".json")
        self.done += 1
        if hashlib.sha256(content).hexdigest() != name:
            self._problems.append(f"receipt {name[:12]} was changed: its bytes have another hash than its name")
        else:
            self._place(name, content, 0)

    def verdict(self, view: View) -> Verdict:
        """Return what was found, beside what the state says."""
        found, ends = self._problems, _ends(view.positions, view.folded)
        for job in sorted(self._chains.keys() | ends.keys()):
            chain = self._chains.get(job) or Chain()
            found.extend(_twice(job, seq, first, second) for seq, first, second in chain.doubled())
            found.extend(breaks(job, chain, ends.get(job)))
        found.extend(_sums(view))
        if self._whole and self._sealed != view.sealed:
            found.append(f"ledger.json counts {view.sealed} sealed receipts, the segments hold {self._sealed}")
        if view.sealed > view.count:
            found.append(f"ledger.json counts {view.sealed} sealed receipts of {view.count}")
        told = (*found[:TOLD], f"and {len(found) - TOLD} more") if len(found) > TOLD else tuple(found)
        return Verdict(self.done, len(self._chains), told)

    def _segment(self, path: str, name: str, content: bytes) -> None:
        number, _, digest = name.removesuffix(".jsonl").partition("-")
        if not number.isdigit() or hashlib.sha256(content).hexdigest() != digest:
            self._problems.append(f"{path[:40]} was changed: its bytes have another hash than its name")
        lines = content.split(b"\n")
        if not lines[-1]:
            del lines[-1]
        self.done += len(lines)
        self._sealed += len(lines)
        sha256, place, segment = hashlib.sha256, self._place, int(number) if number.isdigit() else -1
        for line in lines:
            place(sha256(line).hexdigest(), line, segment)

    def _place(self, name: str, content: bytes, segment: int) -> None:
        found = link(content)
        if found is None:
            self._problems.append(f"receipt {name[:12]} cannot be read as a receipt of format {VERSION}")
            return
        job, seq, prev = found
        placed = (name, prev, segment)
        if first := self._chains[job].enter(seq, placed):
            self._problems.append(_twice(job, seq, first, placed))


def head(positions: Mapping[str, Position], folded: Mapping[str, Folded] = {}) -> tuple[int, str]:
    """Return how many receipts there are, and the hash over the sorted lines `job seq last`; "" without any.

    `folded`: where the chains of jobs ended that have no position any more.
    """
    ends = _ends(positions, folded)
    lines = sorted(f"{name} {end.seq} {end.last}\n" for name, end in ends.items() if end.seq)
    count = sum(end.seq for end in ends.values())
    return count, hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


def _ends(positions: Mapping[str, Position], folded: Mapping[str, Folded]) -> dict[str, End]:
    ends = {job: End(line.seq, line.last) for job, line in folded.items()}
    return ends | {job: End(position.seq, position.last) for job, position in positions.items()}


def _sums(view: View) -> Iterator[str]:
    """Yield what is wrong with ledger.json and between positions."""
    count, top = head(view.positions, view.folded)
    for job in sorted(view.positions.keys() & view.folded.keys()):
        yield f"{job}: it has a position, and a line in jobs/.folded.json as well"
    if view.count != count:
        yield f"ledger.json counts {view.count} receipts, the positions {count}"
    if view.head != top:
        yield f"ledger.json has the head {view.head[:12] or 'none'}, the positions give {top[:12] or 'none'}"


def _twice(job: str, seq: int, first: Placed, second: Placed) -> str:
    if first[0] != second[0]:
        return f"{job}: two receipts claim place {seq} ({first[0][:12]}, {second[0][:12]})"
    places = " and ".join(_where(segment) for segment in sorted((first[2], second[2])))
    return f"receipt {first[0][:12]} is there twice: {places}"


def _where(segment: int) -> str:
    return f"in segment {segment}" if segment else "in a file of its own"
