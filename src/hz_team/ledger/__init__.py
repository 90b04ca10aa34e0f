"""The ledger: receipts chained by job, each named by the hash of its bytes; how it grows, is proved and is listed.

A receipt is canonical JSON. `prev` names the receipt before it in its job's chain, `seq` counts from 1, and the head is
one hash over where every chain ends: a changed byte, a missing link or a cut tail cannot hide.
"""

from __future__ import annotations

import gc
import hashlib
import heapq
import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.ledger.audit import Audit, Verdict, head
from hz_team.ledger.chain import VERSION
from hz_team.model.state import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hz_team.model.receipt import Receipt, Runner
    from hz_team.model.state import Folded, View
    from hz_team.ports import Lease

LONGEST = 2000
"""Characters of `error` and `reason`."""
EXACT = 2**53 - 1
"""The greatest whole number that canonical JSON may hold; greater ones become text."""
STEP = 500
"""Receipts between two reports of progress."""
__all__ = ["Entry", "Verdict", "append", "begun", "cut", "found", "head", "newest", "verify"]

STRAY = 1000
"""Receipts of older months in a row after which no newer one is looked for: a whole segment of them."""


class Entry(NamedTuple):
    """One receipt in its place."""

    id: str
    """SHA-256 of `content`."""
    content: bytes
    path: str
    """Where it stands on the state branch."""


def append(
    positions: Mapping[str, Position],
    receipts: Sequence[Receipt],
    runner: Runner,
    leases: Mapping[str, Lease],
    *,
    folded: Mapping[str, Folded] = {},
) -> tuple[tuple[Entry, ...], dict[str, Position]]:
    """Give receipts their places at the ends of their jobs' chains; `folded`: where jobs without a position ended.

    Returns the entries in the order given, and all positions with seq, last, contract and lease generation moved on.
    Raises KeyError for a job without a lease: who holds none writes no receipt.
    """
    after, entries = dict(positions), []
    for receipt in receipts:
        lease = leases[receipt.job]
        position = after.get(receipt.job) or begun(receipt.job, folded)
        entry = _entry(receipt, runner, lease, position)
        entries.append(entry)
        after[receipt.job] = position._replace(
            seq=position.seq + 1,
            last=entry.id,
            contract=receipt.contract or position.contract,
            lease_generation=max(position.lease_generation, lease.generation),
        )
    return tuple(entries), after


def begun(job: str, folded: Mapping[str, Folded] = {}) -> Position:
    """Return where a job without a position begins: at its first receipt, or where its chain ended when it went."""
    line = folded.get(job)
    return Position(job, line.seq, line.last, lease_generation=line.generation) if line else Position(job)


def verify(view: View, files: Iterable[tuple[str, bytes]], *, progress: Callable[[int], Any]) -> Verdict:
    """Prove the ledger from raw bytes: names, chains, segments, positions, count, head. One pass, 400 bytes a receipt.

    `files`: what `State.ledger` yields. Receipts by their ids do as well; then nothing is known of segments.
    """
    audit = Audit()
    told = 0
    with _uncollected():
        for path, content in files:
            audit.enter(path, content)
            if audit.done - told >= STEP:
                told = audit.done
                progress(told)
        progress(audit.done)
        return audit.verdict(view)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let nobody look for circles meanwhile: there are none among receipts, and looking takes a fifth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def newest(
    receipts: Iterable[tuple[str, bytes]],
    *,
    job: str = "",
    limit: int = 20,
) -> list[tuple[str, dict[str, Any]]]:
    """Return the newest receipts as id and document, newest first; `job` "": of all jobs; `limit` 0: all.

    Reads no further than it must when they come newest month first and then segment by segment, as `State.receipts`
    yields them. Where a clock was set back a newer one stands behind older ones: the first of an older month is no end.
    """
    kept: list[tuple[tuple[str, str, int, str], dict[str, Any]]] = []
    older = 0
    for name, content in receipts:
        document = json.loads(content)
        full = bool(limit) and len(kept) >= limit
        older = older + 1 if full and document["as_of"][:7] < kept[0][0][0][:7] else 0
        if older >= STRAY:
            break
        if job in {"", document["job"]}:
            item = ((document["as_of"], document["job"], document["seq"], name), document)
            if full:
                heapq.heappushpop(kept, item)
            else:
                heapq.heappush(kept, item)
    return [(key[-1], document) for key, document in sorted(kept, key=lambda item: item[0], reverse=True)]


def found(receipts: Iterable[tuple[str, bytes]], prefix: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every receipt whose id begins with these digits, as id and document."""
    return [(name, json.loads(content)) for name, content in receipts if name.startswith(prefix)]


def cut(text: str, limit: int = LONGEST) -> str:
    """Return a text no longer than `limit`, with the middle left out and counted."""
    if len(text) <= limit:
        return text
    half = (limit - 40) // 2
    return f"{text[:half]} … {len(text) - 2 * half} characters left out … {text[-half:]}"


def _entry(receipt: Receipt, runner: Runner, lease: Lease, position: Position) -> Entry:
    from hz_team.fingerprint import canonical

    content = canonical(_plain(_document(receipt, runner, lease, position)))
    name = hashlib.sha256(content).hexdigest()
    return Entry(name, content, f"receipts/{time.strftime('%Y/%m', time.gmtime(receipt.as_of))}/{name}.json")


def _document(receipt: Receipt, runner: Runner, lease: Lease, position: Position) -> dict[str, Any]:
    return {
        "v": VERSION,
        "job": receipt.job,
        "seq": position.seq + 1,
        "prev": position.last,
        "contract": receipt.contract,
        "wake": {
            "cause": receipt.cause,
            "slot": None if receipt.slot is None else _iso(receipt.slot),
            "refs": receipt.refs,
        },
        "inputs": receipt.inputs,
        "memo_key": receipt.memo_key,
        "disposition": receipt.disposition,
        "runner": {**runner._asdict(), "level": receipt.level, "env": receipt.env},
        "lease": {"ref": lease.ref, "token": lease.token, "generation": lease.generation},
        "proposal": receipt.proposal,
        "idempotency_key": receipt.idempotency_key,
        "draft": receipt.draft,
        "approval": receipt.approval,
        "published": receipt.published,
        "sources": receipt.sources,
        "cost": {"ms": 0, "tokens": 0, "usd_micros": 0, **receipt.cost},
        "as_of": _iso(receipt.as_of),
        "reason": cut(receipt.reason),
        "error": cut(receipt.error),
    }


def _plain(value: Any) -> Any:
    """Return what canonical JSON takes: fractions, numbers that are not exact and broken text are written as text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= EXACT else repr(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= EXACT else str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    return {_plain(str(name)): _plain(item) for name, item in value.items()}


def _iso(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
