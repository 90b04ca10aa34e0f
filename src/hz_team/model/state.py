"""What stands on the state branch, as one value; and what a tick wants to change there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.model.facet import Cursor, Source
from hz_team.model.proposal import Proposal, proposal_from
from hz_team.model.wake import Poke

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]
VERSION = 1
"""Format of every document on the branch."""
FOLDED = "jobs/.folded.json"
"""Where the chains ended of jobs that have no position any more; no position itself."""


class Anchor(NamedTuple):
    """How long the ledger was when somebody looked: a shorter one lost its tail. Compared by era, then by count."""

    era: int = 0
    """Grows by one each time a person accepts a ledger that is shorter than what was seen of it."""
    count: int = 0  # type: ignore[assignment]  # (nobody asks an anchor how often it holds a value)
    """Receipts."""
    head: str = ""
    """64 hex digits, fewer where people read them, "" if not known."""


class Folded(NamedTuple):
    """The end of a chain whose job has been gone for 90 days: a line of jobs/.folded.json."""

    seq: int
    last: str
    generation: int = 0


class Served(NamedTuple):
    """What a position remembers of one trigger."""

    first_seen: int
    last: int | None = None
    """The last slot that was served (run, or passed over by a run)."""
    recent: tuple[int, ...] = ()
    """The last 50 slots that were run, ascending: after the clock is set back none of them runs twice."""


class Position(NamedTuple):
    """jobs/<job>.json: where a job stands."""

    job: str
    seq: int = 0
    last: str = ""
    """Id of the last receipt; "" before the first."""
    triggers: Mapping[str, Served] = {}
    """By trigger identity."""
    skips: Mapping[str, Mapping[str, int]] = {}
    """Reason → {count, first, last}."""
    memo_key: str = ""
    """Of the last `rendered` receipt."""
    rendered_at: int = 0
    epoch: int = 0
    """Of the last `rendered` receipt: its slot, or how often `fresh_for` has run out."""
    seen: Mapping[str, str] = {}
    """Watch id → snapshot at the last `rendered` receipt: what a watch trigger compares with."""
    base: Mapping[str, str] = {}
    """Watch id → snapshot of the last draft that counts."""
    based_at: int = 0
    """When that draft was made: one that is older never moves the base back."""
    failures: int = 0
    retry_at: int = 0
    parked: Mapping[str, Any] = {}
    """{at, error, tail, contract, failures, n}; {} if not parked. n counts parkings, for the retry box."""
    parkings: int = 0
    contract: str = ""
    """Contract at the last receipt."""
    lease_generation: int = 0
    wakes: Mapping[str, int] = {}
    """Consumed poke ids → when; kept 30 days."""
    spent: Mapping[str, int] = {}
    """Day (YYYY-MM-DD in the team's zone) → usd_micros; the last 40 days."""
    held: str = ""
    """The day on which the owner was told that the cost ceiling holds the job."""
    gone_at: int = 0
    """Since when no file names this job; 0 while one does."""
    outcome: Mapping[str, Any] = {}
    """The last thing a person should know: {at, text}: "waiting", "nothing new", "published issue-1", "parked"."""


def is_same(theirs: str, ours: str) -> bool:
    """Whether two names mean one repository: GitHub keeps their spelling and ignores it."""
    return theirs.casefold() == ours.casefold()


class View(NamedTuple):
    """The state branch at one commit."""

    tip: str
    """40 hex digits, or "" before the first write."""
    count: int = 0  # type: ignore[assignment]  # (nobody asks a view how often it holds a value)
    head: str = ""
    """64 hex digits; "" before the first receipt."""
    era: int = 0
    """How often a person accepted a shortened ledger."""
    sealed: int = 0
    """Receipts that stand in segments."""
    repository: str = "local"
    folded: Mapping[str, Folded] = {}
    """Jobs that have been gone for long, by id."""
    positions: Mapping[str, Position] = {}
    proposals: Mapping[str, Proposal] = {}
    cursors: Mapping[str, Cursor] = {}
    """By `<watch>/<key>`."""
    wakes: tuple[Poke, ...] = ()
    """Pokes accepted and not yet drafted, oldest first."""
    paused: Mapping[str, Any] = {}
    """switches.json: {by, at, via} while a person paused everything; {} if not."""
    dashboard: Mapping[str, Any] = {}
    """dashboard.json."""
    decisions: tuple[Mapping[str, Any], ...] = ()
    """The last ten decisions for the dashboard, newest first: {at, text}; kept in dashboard.json."""

    @property
    def anchor(self) -> Anchor:
        """How long the ledger is here."""
        return Anchor(self.era, self.count, self.head)


def document(value: Any) -> Json:
    """The stored form of a named tuple: its fields and the format version."""
    from hz_team.model.job import plain

    return {"v": VERSION, **plain(value)}


def stored(value: Any) -> bytes:
    """The bytes of a document on the branch: one key a line, so that people can read what changed."""
    import json

    from hz_team.model.job import plain

    return (json.dumps(plain(value), ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def position_from(data: Json) -> Position:
    """Read jobs/<job>.json."""
    fields = {name: value for name, value in data.items() if name != "v"}
    fields["triggers"] = {
        identity: Served(**{**served, "recent": tuple(served["recent"])})
        for identity, served in data["triggers"].items()
    }
    return Position(**fields)


def cursor_from(data: Json) -> Cursor:
    """Read cursors/<watch>/<key>.json."""
    fields = {name: value for name, value in data.items() if name != "v"}
    fields["sources"] = {name: Source(**source) for name, source in data["sources"].items()}
    fields["seen"], fields["warnings"] = tuple(data["seen"]), tuple(data["warnings"])
    return Cursor(**fields)


def view_from(data: Json) -> View:
    """Read back what `plain` wrote of a View (the cache of a tip)."""
    return View(
        **{
            **data,
            "folded": {name: Folded(**line) for name, line in data["folded"].items()},
            "positions": {name: position_from(item) for name, item in data["positions"].items()},
            "proposals": {name: proposal_from(item) for name, item in data["proposals"].items()},
            "cursors": {name: cursor_from(item) for name, item in data["cursors"].items()},
            "wakes": tuple(Poke(**poke) for poke in data["wakes"]),
            "decisions": tuple(data["decisions"]),
        },
    )
