"""The ledger: receipts chained by job, each named by the hash of its bytes; how it grows, is proved and is listed.

A receipt is canonical JSON. `prev` names the receipt before it in its job's chain, `seq` counts from 1, and the head is
one hash over where every chain ends: a changed byte, a missing link or a cut tail cannot hide.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.model.state import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hz_team.model.receipt import Receipt, Runner
    from hz_team.model.state import View
    from hz_team.ports import Lease

VERSION = 1
"""Format of receipts."""
LONGEST = 2000
"""Characters of `error` and `reason`."""
EXACT = 2**53 - 1
"""The greatest whole number that canonical JSON may hold; greater ones become text."""
TOLD = 100
"""Problems that a verdict names one by one."""
STEP = 500
"""Receipts between two reports of progress."""
PLACE = ((b',"job":"', b'"'), (b',"prev":"', b'"'), (b',"seq":', b","), (b',"v":', b","))
"""How the keys that give a receipt its place begin and end in canonical JSON."""


class Entry(NamedTuple):
    """One receipt in its place."""

    id: str
    """SHA-256 of `content`."""
    content: bytes
    path: str
    """Where it stands on the state branch."""


class Verdict(NamedTuple):
    """What `verify` found."""

    receipts: int
    chains: int
    problems: tuple[str, ...]
    """A sentence each; empty: all good."""


def append(
    positions: Mapping[str, Position],
    receipts: Sequence[Receipt],
    runner: Runner,
    leases: Mapping[str, Lease],
) -> tuple[tuple[Entry, ...], dict[str, Position]]:
    """Give receipts their places at the ends of their jobs' chains.

    Returns the entries in the order given, and all positions with seq, last, contract and lease generation moved on.
    Raises KeyError for a job without a lease: who holds none writes no receipt.
    """
    after, entries = dict(positions), []
    for receipt in receipts:
        lease = leases[receipt.job]
        position = after.get(receipt.job) or Position(receipt.job)
        entry = _entry(receipt, runner, lease, position)
        entries.append(entry)
        after[receipt.job] = position._replace(
            seq=position.seq + 1,
            last=entry.id,
            contract=receipt.contract or position.contract,
            lease_generation=max(position.lease_generation, lease.generation),
        )
    return tuple(entries), after


def head(positions: Mapping[str, Position]) -> tuple[int, str]:
    """Return how many receipts there are, and the hash over the sorted lines `job seq last`; "" without any."""
    lines = sorted(f"{name} {position.seq} {position.last}\n" for name, position in positions.items() if position.seq)
    count = sum(position.seq for position in positions.values())
    return count, hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


def verify(view: View, receipts: Iterable[tuple[str, bytes]], *, progress: Callable[[int], Any]) -> Verdict:
    """Prove the ledger from raw bytes: names, chains, positions, count, head. One pass, 400 bytes a receipt."""
    problems: list[str] = []
    chains: dict[str, dict[int, tuple[str, str]]] = {}
    done = 0
    sha256 = hashlib.sha256
    for name, content in receipts:
        done += 1
        if sha256(content).hexdigest() != name:
            problems.append(f"receipt {name[:12]} was changed: its bytes have another hash than its name")
        elif (link := _link(content)) is None:
            problems.append(f"receipt {name[:12]} cannot be read as a receipt of format {VERSION}")
        else:
            job, seq, prev = link
            chain = chains.setdefault(job, {})
            if seq in chain and chain[seq][0] != name:
                problems.append(f"{job}: two receipts claim place {seq} ({chain[seq][0][:12]}, {name[:12]})")
            chain[seq] = (name, prev)
        if done % STEP == 0:
            progress(done)
    progress(done)
    for job in sorted(chains.keys() | view.positions.keys()):
        problems.extend(_breaks(job, chains.get(job, {}), view.positions.get(job)))
    problems.extend(_sums(view))
    if len(problems) > TOLD:
        problems[TOLD:] = [f"and {len(problems) - TOLD} more"]
    return Verdict(done, len(chains), tuple(problems))


def newest(
    receipts: Iterable[tuple[str, bytes]],
    *,
    job: str = "",
    limit: int = 20,
) -> list[tuple[str, dict[str, Any]]]:
    """Return the newest receipts as id and document, newest first; `job` "": of all jobs; `limit` 0: all.

    Reads no further than it must when they come newest month first, as `State.receipts` yields them.
    """
    kept: list[tuple[tuple[str, str, int, str], dict[str, Any]]] = []
    for name, content in receipts:
        document = json.loads(content)
        month = document["as_of"][:7]
        if limit and len(kept) >= limit and month < kept[0][0][0][:7]:
            break
        if job in {"", document["job"]}:
            item = ((document["as_of"], document["job"], document["seq"], name), document)
            if not limit or len(kept) < limit:
                heapq.heappush(kept, item)
            else:
                heapq.heappushpop(kept, item)
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


def _link(content: bytes) -> tuple[str, int, str] | None:
    """Return job, seq and prev of a receipt; None if the bytes are no receipt of a format this program reads.

    Canonical JSON has one spelling and escapes quotes within text, so a key that is there once is the receipt's own.
    Where an input has such a name too, the whole document is parsed, which takes four times as long.
    """
    values = []
    for key, end in PLACE:
        start = content.find(key) + len(key)
        stop = content.find(end, start)
        if start < len(key) or stop < 0 or content.find(key, stop) > 0:
            return _parsed(content)
        values.append(content[start:stop])
    job, prev, seq, version = values
    if b"\\" in job or not seq.isdigit() or version != b"%d" % VERSION:
        return _parsed(content)
    return job.decode(), int(seq), prev.decode()


def _parsed(content: bytes) -> tuple[str, int, str] | None:
    try:
        document = json.loads(content)
        job, seq, prev, version = (document[name] for name in ("job", "seq", "prev", "v"))
    except (ValueError, KeyError, TypeError):
        return None
    whole = isinstance(job, str) and isinstance(prev, str) and type(seq) is int
    return (job, seq, prev) if whole and seq > 0 and version == VERSION else None


def _breaks(job: str, chain: Mapping[int, tuple[str, str]], position: Position | None) -> list[str]:
    """Return what is wrong with one job's chain."""
    if position is None:
        return [f"{job}: {len(chain)} receipts, but the state has no position for this job"]
    problems: list[str] = []
    due, before = 1, ""
    for seq in sorted(chain):
        name, prev = chain[seq]
        if seq > due:
            problems.append(_gap(job, due, seq - 1))
        elif prev != before:
            problems.append(f"{job}: receipt {seq} follows {prev[:12] or 'none'}, not {before[:12] or 'none'}")
        due, before = seq + 1, name
    if due <= position.seq:
        problems.append(_gap(job, due, position.seq))
    end = chain.get(position.seq, ("", ""))[0]
    if chain and max(chain) > position.seq:
        problems.append(f"{job}: {max(chain)} receipts, but its position counts {position.seq}")
    if end and end != position.last:
        problems.append(f"{job}: its position ends with {position.last[:12]}, the chain with {end[:12]}")
    return problems


def _gap(job: str, first: int, last: int) -> str:
    return f"{job}: receipt {first} is missing" if first == last else f"{job}: receipts {first} to {last} are missing"


def _sums(view: View) -> list[str]:
    """Return what is wrong with ledger.json."""
    count, top = head(view.positions)
    problems = []
    if view.count != count:
        problems.append(f"ledger.json counts {view.count} receipts, the positions {count}")
    if view.head != top:
        problems.append(f"ledger.json has the head {view.head[:12] or 'none'}, the positions give {top[:12] or 'none'}")
    return problems
