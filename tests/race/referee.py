"""What must hold when a race is over, read from Git, the outcomes and what every process said: no rule of hz-team's own."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.race.repository import BRANCH

if TYPE_CHECKING:
    from tests.race.front import Sink
    from tests.race.machine import Done
    from tests.race.repository import Repository

Slot = tuple[str, int]
"""A job, and when."""
ENDS = {0, 4, 75}
"""Exit codes of a command in a race: done, refused by the remote, try again. 2 is a wrong word of ours, 3 a bug."""
FASTER = ("no open decision has this id", "nothing to accept", "is not parked")
"""What is said to a person when another has answered meanwhile, with exit 2."""
KILL, FENCE = -9, -14
CLOSED = ("published", "superseded", "rejected", "expired")
"""How the story of a proposal ends."""
ZERO = "0" * 40


class Outcome(NamedTuple):
    """Something that went out."""

    key: str
    slot: Slot
    where: str


class Heard(NamedTuple):
    """What the race knows besides what is on record."""

    slots: frozenset[Slot]
    """Everything that comes due."""
    done: tuple[Done, ...] = ()
    killed: frozenset[tuple[str, int]] = frozenset()
    """Processes that were killed: machine and number."""
    resumed: frozenset[tuple[str, int]] = frozenset()
    """Processes that were stopped and went on."""
    resets: tuple[tuple[str, str], ...] = ()
    """Where the branch stood, and where it was set to."""


class Record(NamedTuple):
    """What stands on the branch."""

    history: tuple[str, ...]
    """Commits, newest first."""
    ledgers: dict[str, str]
    """Commit → head."""
    receipts: dict[str, dict[str, Any]]
    """By id."""
    wrong: tuple[str, ...]
    """Receipts whose bytes have another hash than their name."""
    open: tuple[dict[str, Any], ...]


def read(repository: Repository) -> Record:
    """Read the whole branch."""
    history = repository.history()
    ledgers = repository.contents([f"{commit}:ledger.json" for commit in history])
    heads = {commit: json.loads(text or b"{}").get("head", "") for commit, text in zip(history, ledgers, strict=True)}
    receipts, wrong = {}, []
    for path, content in repository.files(BRANCH).items() if history else ():
        if path.startswith("receipts/"):
            receipts[sha256(content).hexdigest()] = json.loads(content)
            if sha256(content).hexdigest() != Path(path).stem:
                wrong.append(path)
        elif path.startswith("segments/"):
            receipts |= {sha256(line).hexdigest(): json.loads(line) for line in content.splitlines()}
    return Record(history, heads, receipts, tuple(wrong), tuple(repository.proposals()))


def outcomes(forge: Path, sink: Sink) -> tuple[Outcome, ...]:
    """Return everything that ever went out, doubles that were closed included."""
    found = [Outcome(post.key, slot_of(post.body), post.path) for post in sink.posts]
    for path in sorted((forge / ".hz/local/outbox").glob("*.md")):
        key = re.search(r"<!-- hz:(?:key|closed) (\w+) -->\n+(?:> .*\n+)?(.*)", path.read_text())
        assert key, path.read_text()
        found.append(Outcome(key[1], slot_of(key[2]), path.stem))
    return tuple(found)


def slot_of(body: str) -> Slot:
    """Return the slot that a draft was made for: its first line names it."""
    job, slot = body.strip().splitlines()[0].replace("\u2060", "").split()
    return job, epoch(slot)


def epoch(text: str) -> int:
    """Return a moment in seconds since 1970."""
    return int(datetime.fromisoformat(text).astimezone(UTC).timestamp())


def judge(repository: Repository, out: tuple[Outcome, ...], heard: Heard) -> list[str]:
    """Return a sentence for everything that must not be; [] if all is well."""
    record = read(repository)
    return [
        *record.wrong,
        *chains(record),
        *renders(record, heard),
        *effects(record, out, heard, set(cut_off(repository, heard))),
        *acknowledged(repository, record, heard),
        *moves(repository, record, heard),
        *left_open(record),
        *ends(heard),
    ]


def chains(record: Record) -> Iterator[str]:
    """Check that each job has one chain without gaps, and that no two holders shared a generation or went back."""
    chained: dict[str, list[tuple[int, str, dict[str, Any]]]] = {}
    for name, receipt in record.receipts.items():
        chained.setdefault(receipt["job"], []).append((receipt["seq"], name, receipt))
    for job, links in sorted(chained.items()):
        before, generation, tokens = "", 0, dict[int, str]()
        for place, (seq, name, receipt) in enumerate(sorted(links, key=lambda link: link[:2]), 1):
            if seq != place or (receipt["prev"] or "") != before:
                yield f"{job}: receipt {name[:12]} at {seq} does not follow {before[:12]} at {place - 1}"
            lease = receipt["lease"]
            if lease["generation"] < generation:
                yield f"{job}: receipt {seq} is of generation {lease['generation']}, after one of {generation}"
            if tokens.setdefault(lease["generation"], lease["token"]) != lease["token"]:
                yield f"{job}: generation {lease['generation']} had two holders, seen at receipt {seq}"
            before, generation = name, lease["generation"]


def rendered(record: Record) -> Counter[Slot]:
    """Return how often each slot was rendered on record."""
    found = (one for one in record.receipts.values() if one["disposition"] == "rendered" and one["wake"]["slot"])
    return Counter((one["job"], epoch(one["wake"]["slot"])) for one in found)


def renders(record: Record, heard: Heard) -> Iterator[str]:
    """Check that each slot was rendered once, and nothing else was."""
    times = rendered(record)
    for slot in sorted(heard.slots | times.keys()):
        if times[slot] != (slot in heard.slots):
            yield f"{_named(slot)} was rendered {times[slot]} times"


def effects(record: Record, out: tuple[Outcome, ...], heard: Heard, cut: Collection[Slot]) -> Iterator[str]:
    """Check that nothing went out twice, that all that was approved went out, and nothing else.

    `cut`: slots whose receipts a reset took away. That they went out may be among what was lost, and a newer draft may
    have taken their place.
    """
    for key, times in Counter(one.key for one in out).items():
        if times > 1:
            where = [one.where for one in out if one.key == key]
            yield f"{where} are {times} effects of one key, {key[:12]}"
    ended = {
        (one["job"], epoch(one["wake"]["slot"])): one["disposition"]
        for one in sorted(record.receipts.values(), key=lambda one: one["seq"])
        if one["wake"]["slot"] and one["proposal"] and one["disposition"] in CLOSED
    }
    sent = {one.slot for one in out}
    for slot in sorted(heard.slots | sent):
        end = ended.get(slot, "")
        if slot in sent and end != "published" and slot not in cut:
            yield f"{_named(slot)} went out, and the last word on record is {end!r}"
        if slot not in sent and end in {"published", ""}:
            yield f"{_named(slot)} did not go out, and the last word on record is {end!r}"


def acknowledged(repository: Repository, record: Record, heard: Heard) -> Iterator[str]:
    """Check that what a process was told is recorded still is, and every receipt that stood beside it then."""
    cut = {head for old, new in heard.resets for head in _cut(repository, old, new)}
    known = {head: commit for commit, head in record.ledgers.items()}
    told = {str(done.json["head"]): done for done in heard.done if done.code == 0 and done.json.get("head")}
    for head, done in told.items():
        commit = known.get(head)
        if commit:
            names = repository.git("ls-tree", "-r", "--name-only", commit, "receipts/").split()
            gone = {Path(name).stem for name in names} - record.receipts.keys()
            if gone:
                yield f"{done.machine}/{done.number} was told of receipts that are gone: {sorted(gone)}"
        elif head not in cut:
            yield f"{done.machine}/{done.number} was told of the head {head[:12]}, which the history does not have"


def cut_off(repository: Repository, heard: Heard) -> Iterator[Slot]:
    """Yield the slots that lost receipts by a reset."""
    for old, new in heard.resets:
        before, after = (repository.files(commit, "receipts/") for commit in (old, new))
        for path in before.keys() - after.keys():
            receipt = json.loads(before[path])
            if receipt["wake"]["slot"]:
                yield receipt["job"], epoch(receipt["wake"]["slot"])


def _cut(repository: Repository, old: str, new: str) -> Iterator[str]:
    commits = repository.git("rev-list", old, f"^{new}").split()
    for text in repository.contents([f"{commit}:ledger.json" for commit in commits]):
        yield json.loads(text).get("head", "")


def moves(repository: Repository, record: Record, heard: Heard) -> Iterator[str]:
    """Check that the branch only ever went on by one commit, but for the resets."""
    for old, new in repository.moves():
        if (old, new) in heard.resets:
            continue
        parents = repository.git("log", "-1", "--format=%P", new).split()
        if parents != ([] if old == ZERO else [old]):
            yield f"the branch was moved from {old[:12]} to {new[:12]}, which follows {parents}"


def left_open(record: Record) -> Iterator[str]:
    """Check that nothing waits any more after everybody had the time to work."""
    for one in record.open:
        yield f"{one['id']} of {one['job']} is still {one['state']} (tried: {one['attempted']})"


def ends(heard: Heard) -> Iterator[str]:
    """Check that every process ended by itself in a way that is foreseen, or by our hand."""
    for done in heard.done:
        name = (done.machine, done.number)
        fine = {*ENDS, *((KILL,) if name in heard.killed else ()), *((FENCE,) if name in heard.resumed else ())}
        fine |= {2} if any(words in done.err for words in FASTER) else set()
        if done.code not in fine or "Traceback" in done.err or (done.json.get("halted") and not heard.resets):
            yield f"{done}"


def _named(slot: Slot) -> str:
    return f"{slot[0]} at {datetime.fromtimestamp(slot[1], UTC):%d %H:%M}"


def total(sentences: Iterable[str]) -> str:
    """Return what a failure prints."""
    return "\n".join(f"- {sentence}" for sentence in sentences)
