"""Ledgers of any length, for measurements: `make` writes a bare repository whose state branch holds one.

Real chains of canonical receipts, their positions and ledger.json, sealed as ticks would have sealed them; one commit.

    python bench/ledgers.py DIR [--receipts 100000] [--jobs 20] [--loose]
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hz_team import keeping, ledger
from hz_team.model.receipt import Receipt, Runner
from hz_team.model.state import VERSION, Position, document, stored
from hz_team.ports import Lease

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

END = 1_796_029_200
"""When the newest receipt was made: Monday 30 November 2026, 09:00 UTC."""
APART = 240
"""Seconds between two receipts."""
RUNNER = Runner("actions", "mona", "0123456789ab", run="9876543210", hz="0.1.0", python="3.11.9")
PREV, MEMO, DRAFT = "1" * 64, "2" * 64, "3" * 64
SEQ = 1_000_000_001


class Made(NamedTuple):
    """One receipt in its place."""

    path: str
    content: bytes


def make(path: Path, *, receipts: int, jobs: int = 20, sealed: bool = True, loose: int = keeping.LOOSE) -> None:
    """Make a bare repository with a ledger on its state branch; `sealed`: older ones than `loose` stand in segments."""
    subprocess.run(("git", "init", "-q", "--bare", "--template=", str(path)), check=True)
    words = ("git", "-C", str(path), "fast-import", "--quiet", "--done", "--date-format=raw")
    with subprocess.Popen(words, stdin=subprocess.PIPE) as importer:
        if importer.stdin is None:
            raise OSError("git fast-import takes no input")
        message = b"A ledger made for a measurement\n"
        head = f"commit refs/heads/hz-state\ncommitter hz-team <hz-team@localhost> {END} +0000\ndata {len(message)}\n"
        importer.stdin.write(head.encode() + message + b"\n")
        for name, content in _files(receipts, jobs, loose=loose if sealed else receipts):
            importer.stdin.write(f"M 100644 inline {name}\ndata {len(content)}\n".encode() + content + b"\n")
        importer.stdin.write(b"\ndone\n")
    if importer.returncode:
        sys.exit(f"git fast-import: {importer.returncode}")


def _files(receipts: int, jobs: int, *, loose: int) -> Iterator[tuple[str, bytes]]:
    """Yield everything that stands on the branch."""
    positions: dict[str, Position] = {}
    waiting: list[Made] = []
    count = number = 0
    for made in _receipts(receipts, jobs, positions):
        waiting.append(made)
        while len(waiting) >= keeping.LINES and receipts - count > loose:
            batch = _batch(waiting[: keeping.LINES])
            number, count = number + 1, count + len(batch)
            yield keeping.segment(number, [one.content for one in batch])
            del waiting[: len(batch)]
    yield from waiting
    for job, position in positions.items():
        yield f"jobs/{job}.json", stored(document(position))
    total, head = ledger.head(positions)
    summary = {"count": total, "era": 0, "head": head, "repository": "local", "sealed": count, "v": VERSION}
    yield "ledger.json", stored(summary)


def _batch(waiting: list[Made]) -> list[Made]:
    """Return the first receipts that fit into a segment."""
    while sum(len(one.content) + 1 for one in waiting) > keeping.LARGEST:
        waiting = waiting[:-10]
    return waiting


def _receipts(receipts: int, jobs: int, positions: dict[str, Position]) -> Iterator[Made]:
    """Yield receipts from the oldest on, of one job after the other, and note where each chain ends."""
    forms = {f"job-{number:02}": _form(f"job-{number:02}") for number in range(min(jobs, receipts))}
    names = tuple(forms)
    for at in range(receipts):
        job = names[at % len(names)]
        position = positions.get(job) or Position(job, rendered_at=END, lease_generation=1)
        made = _filled(forms[job], position, END - (receipts - 1 - at) * APART)
        name = hashlib.sha256(made.content).hexdigest()
        positions[job] = position._replace(seq=position.seq + 1, last=name)
        yield made


def _form(job: str) -> Mapping[str, bytes]:
    """Return the spelling of one receipt of a job by what stands between the values that differ, in their order."""
    slot = "2026-11-30T09:00:00Z"
    receipt = Receipt(
        job=job,
        disposition="rendered",
        as_of=END,
        contract=hashlib.sha256(job.encode()).hexdigest(),
        cause="schedule",
        slot=END + 1,
        inputs={"news": "4" * 64},
        memo_key=MEMO,
        draft=DRAFT,
        cost={"ms": 4100},
        level="landlock-4",
    )
    lease = Lease(job, f"refs/hz/lease/job/{job}", "5" * 40, 1, END + 900)
    before = {job: Position(job, seq=SEQ - 1, last=PREV)}
    (entry,), _ = ledger.append(before, (receipt,), RUNNER, {job: lease})
    rest, form = entry.content, {}
    for name, value in (("as_of", slot), ("draft", DRAFT), ("memo_key", MEMO), ("prev", PREV), ("seq", str(SEQ))):
        form[name], found, rest = rest.partition(value.encode())
        if not found:
            sys.exit(f"{name} is not where it is looked for: receipts have another form now")
    return {**form, "rest": rest}


def _filled(form: Mapping[str, bytes], position: Position, at: int) -> Made:
    """Return the receipt that follows a position."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    draft = hashlib.sha256(f"{position.job} {position.seq}".encode()).hexdigest()
    memo = hashlib.sha256(draft.encode()).hexdigest()
    values = {"as_of": when, "draft": draft, "memo_key": memo, "prev": position.last, "seq": str(position.seq + 1)}
    content = b"".join(form[name] + value.encode() for name, value in values.items()) + form["rest"]
    return Made(f"receipts/{when[:4]}/{when[5:7]}/{hashlib.sha256(content).hexdigest()}.json", content)


def main() -> int:
    """Make one ledger and say where."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", type=Path, metavar="DIR")
    parser.add_argument("--receipts", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--loose", action="store_true", help="nothing is sealed")
    options = parser.parse_args()
    started = time.perf_counter()
    make(options.place, receipts=options.receipts, jobs=options.jobs, sealed=not options.loose)
    print(f"{options.receipts:,} receipts in {options.place}, made in {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
