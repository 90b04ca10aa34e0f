"""One job's chain of receipts, read from raw bytes and proved: every link follows the one before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
"""Format of receipts."""


Placed = tuple[str, str, int]
"""A receipt that was read: its id, the id of the one before it, the segment it stands in (0: a file of its own)."""


class End(NamedTuple):
    """Where a chain ends, as the state says."""

    seq: int
    last: str


def link(content: bytes) -> tuple[str, int, str] | None:
    """Return job, seq and prev of a receipt; None if the bytes are no receipt of a format this program reads.

    Canonical JSON has one spelling, sorted keys, and no bare quote within text. Read from its end, a receipt shows
    nothing but its own keys until `job`: what people name is in `inputs`, before that, and in `sources`, id → number.
    Anything else is parsed whole, which takes ten times as long.
    """
    head, _, foot = content.rpartition(b',"v":1,"wake":{"cause":"')
    head, _, number = head.rpartition(b',"seq":')
    number, _, sources = number.partition(b',"sources":')
    head, _, before = head.rpartition(b',"prev":"')
    _, found, name = head.rpartition(b',"job":"')
    name = name[: name.find(b'"')]
    if not (found and foot and sources[:1] == b"{" and number.isdigit()) or b"\\" in name:
        return _parsed(content)
    return name.decode(), int(number), before[: before.find(b'"')].decode()


class Chain:
    """One job's receipts: those that follow each other from the first on, and those that do not (yet)."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.names: list[str] = []
        """Ids from place 1 on, each proved to follow the one before it."""
        self.marks: list[tuple[int, int]] = []
        """(place from which on, segment)."""
        self.loose: dict[int, Placed] = {}

    def enter(self, seq: int, placed: Placed) -> Placed | None:
        """Take a receipt; return the one that claims its place already, if one does."""
        name, prev, segment = placed
        names = self.names
        if seq == len(names) + 1 and prev == (names[-1] if names else ""):
            names.append(name)
            if not self.marks or self.marks[-1][1] != segment:
                self.marks.append((seq, segment))
            return None
        first = self._run(seq) if seq <= len(names) else self.loose.setdefault(seq, placed)
        return None if first is placed else first

    def doubled(self) -> Iterator[tuple[int, Placed, Placed]]:
        """Yield the places that a receipt claimed before those that follow each other came to them."""
        yield from ((seq, self._run(seq), placed) for seq, placed in self.loose.items() if seq <= len(self.names))

    def _run(self, seq: int) -> Placed:
        segment = next(segment for first, segment in reversed(self.marks) if first <= seq)
        return self.names[seq - 1], self.names[seq - 2] if seq > 1 else "", segment


def breaks(job: str, chain: Chain, end: End | None) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with one job's chain."""
    loose = sorted(seq for seq in chain.loose if seq > len(chain.names))
    if end is None:
        yield f"{job}: {len(chain.names) + len(loose)} receipts, but the state has no position for this job"
        return
    due, before = len(chain.names) + 1, chain.names[-1] if chain.names else ""
    for seq in loose:
        name, prev, _ = chain.loose[seq]
        if seq > due:
            yield gap(job, due, seq - 1)
        elif prev != before:
            yield f"{job}: receipt {seq} follows {prev[:12] or 'none'}, not {before[:12] or 'none'}"
        due, before = seq + 1, name
    if due <= end.seq:
        yield gap(job, due, end.seq)
    if due - 1 > end.seq:
        yield f"{job}: {due - 1} receipts, but its position counts {end.seq}"
    last = chain.names[end.seq - 1] if 0 < end.seq <= len(chain.names) else chain.loose.get(end.seq, ("",))[0]
    if last and last != end.last:
        yield f"{job}: its position ends with {end.last[:12]}, the chain with {last[:12]}"


def gap(job: str, first: int, last: int) -> str:
    """Say which receipts of a job are missing."""
    return f"{job}: receipt {first} is missing" if first == last else f"{job}: receipts {first} to {last} are missing"


def _parsed(content: bytes) -> tuple[str, int, str] | None:
    try:
        document = json.loads(content)
        job, seq, prev, version = (document[name] for name in ("job", "seq", "prev", "v"))
    except (ValueError, KeyError, TypeError):
        return None
    whole = isinstance(job, str) and isinstance(prev, str) and type(seq) is int
    return (job, seq, prev) if whole and seq > 0 and version == VERSION else None
