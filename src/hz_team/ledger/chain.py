"""One job's chain of receipts, read from raw bytes and proved: every link follows the one before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


def breaks(job: str, chain: Mapping[int, Placed], end: End | None) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with one job's chain (place → receipt)."""
    if end is None:
        yield f"{job}: {len(chain)} receipts, but the state has no position for this job"
        return
    due, before = 1, ""
    for seq in sorted(chain):
        name, prev, _ = chain[seq]
        if seq > due:
            yield gap(job, due, seq - 1)
        elif prev != before:
            yield f"{job}: receipt {seq} follows {prev[:12] or 'none'}, not {before[:12] or 'none'}"
        due, before = seq + 1, name
    if due <= end.seq:
        yield gap(job, due, end.seq)
    if chain and max(chain) > end.seq:
        yield f"{job}: {max(chain)} receipts, but its position counts {end.seq}"
    if end.seq in chain and chain[end.seq][0] != end.last:
        yield f"{job}: its position ends with {end.last[:12]}, the chain with {chain[end.seq][0][:12]}"


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
