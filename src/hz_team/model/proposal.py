"""A draft that asks to be published, and what people said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]
AWAITING, APPROVED, UNKNOWN = "awaiting", "approved", "unknown"
"""States of an open proposal: waiting for people; approved and to be published; a write of unknown fate."""
QUIET = 120
"""Seconds after the end of a lease during which an effect under it is neither there nor absent (DESIGN §5)."""


class Answer(NamedTuple):
    """What a person said: a box, a comment, a command or an edited page."""

    proposal: str
    verb: str
    """approve, reject, redraft, always, edit, withdraw; arrived or again settle a write of unknown fate."""
    by: str
    """A login, or `local:NAME`, or `policy:ID`."""
    role: str
    via: str
    """box, page, comment, command, file, policy."""
    at: int
    digest: str = ""
    """The digest it was given for (12 hex digits are enough); "" for commands, which bind to what is open."""
    ref: str = ""
    """Where it can be read again."""
    note: str = ""
    """A redraft's note, a reject's reason."""
    body: str = ""
    """An edit's new text."""


class Proposal(NamedTuple):
    """proposals/<id>.json: open ones only."""

    id: str
    """`p-` and 8 hex digits."""
    key: str
    """64 hex digits."""
    job: str
    kind: str
    target: str
    title: str
    digest: str
    """64 hex digits, and the name of the draft document."""
    state: str
    created_at: int
    expires_at: int
    cause: str
    slot: int | None
    refs: tuple[str, ...]
    snapshot: Mapping[str, str]
    base: Mapping[str, str]
    by: Mapping[str, Any]
    """The Approve it was made under: {by, need, not_author, from_page}."""
    author: str = ""
    """Who poked it or edited it last; "" if nobody."""
    answers: tuple[Answer, ...] = ()
    told: Mapping[str, Any] = {}
    """What was told to whom: {"refused": {login: text}, "assigned": […], "reminded": time}."""
    published: tuple[Mapping[str, Any], ...] = ()
    """Parts already out: {"part", "target", "ref"}."""
    attempted: Mapping[str, Any] = {}
    """The attempt to publish: {"at", "until", "generation"} on record before anything is sent: when, the end of the
    lease that covers it (0: it ends with its process) and that lease's generation; with {"part", "error", "left"} it
    went wrong at that part, and so many parts had not been tried. {}: nobody has tried, or a person asked to try anew.
    """
    generation: int = 0
    """Lease generation under which it was approved."""
    receipts: Mapping[str, str] = {}
    """Ids by step: rendered, awaiting, approved."""
    changed: str = ""
    """Why the digest is another than the one people saw before: "edited by local:mona", "drafted again"."""
    withdrawn: str = ""
    """Who took a yes back, "" if nobody did: from then on no policy says yes to this proposal."""
    redraft: Mapping[str, Any] = {}
    """Another draft that somebody asked for and that is not made yet: {by, note, digest}."""
    replaces: str = ""
    """The superseded proposal's id."""
    words: int = 0
    ms: int = 0
    sources: Mapping[str, int] = {}
    """Watch id → items that were new to this draft."""
    inputs: Mapping[str, Any] = {}

    @property
    def quiet_until(self) -> int:
        """Until when nobody can tell that an earlier process wrote nothing; 0: it came to its end, or none wrote.

        What is sent right before the end of a lease may arrive later, and clocks differ.
        """
        until = int(self.attempted.get("until", 0))
        return until + QUIET if until and "error" not in self.attempted else 0


def proposal_from(data: Json) -> Proposal:
    """Read back what `plain` wrote of a Proposal (unknown fields of a newer version are an error upstream)."""
    fields = {name: value for name, value in data.items() if name != "v"}
    fields["answers"] = tuple(Answer(**answer) for answer in data["answers"])
    fields["refs"] = tuple(data["refs"])
    fields["published"] = tuple(data["published"])
    return Proposal(**fields)


class Decision(NamedTuple):
    """What follows from answers and policies for one proposal."""

    proposal: str
    outcome: str
    """wait, answered, approved, rejected, withdrawn, expired, superseded, edited, redraft, arrived, again."""
    answers: tuple[Answer, ...] = ()
    """The counted ones that led here, newest last."""
    refused: tuple[tuple[Answer, str], ...] = ()
    """Answers that do not count, each with the reason in plain words."""
    reason: str = ""


class Part(NamedTuple):
    """One outcome that a proposal asks for; without `each:` it is the whole draft."""

    part: int
    """0, 1, …: its place in the proposal, and in the idempotency key."""
    key: str
    """Idempotency key: 64 hex digits over [repository, proposal key, part]."""
    kind: str
    target: str
    title: str
    body: str
    labels: tuple[str, ...] = ()
    files: Mapping[str, Any] = {}
    """As in a draft: path → new text; {"base64": text} for bytes; None for a removed file."""
    fields: Mapping[str, Any] = {}
    job: str = ""
    proposal: str = ""
    """The proposal's id."""
