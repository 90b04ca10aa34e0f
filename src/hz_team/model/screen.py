"""What pages and summaries show: plain inputs, filled by the show phase and drawn by `hz_team.dashboard`.

Every text here is raw, foreign or not: the pages make it inert. Times are texts already (`dashboard.clock`), absolute
and never "now". Links are http(s) addresses or relative paths; "" for none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.model.draft import Draft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.job import Finding


class Waiting(NamedTuple):
    """A decision that waits for people, one row."""

    id: str
    digest: str
    """64 hex digits; rows carry the first 12."""
    title: str
    at: int = 0
    """When it was drafted: newest stand first."""
    effect: str = ""
    """What a yes does, in a few words: its publisher's `words`."""
    link: str = ""
    """Its own page."""
    words: int = 0
    """Length of the draft, for the reading time."""
    who: str = ""
    """Who may decide: "anyone with write", "octocat or hubot"."""
    until: str = ""
    """"14 Dec"."""
    yes: str = ""
    """"1 of 2 yes (hubot)", or "approved by mona, goes out with the next tick"."""
    box: bool = True
    """False: it is answered on its own page (kinds that cannot be undone, `from: page`, pull requests)."""
    ticked: bool = False
    """Approved and not out yet: unticking withdraws."""
    link_text: str = "read it"
    notes: tuple[str, ...] = ()
    """Lines of their own: "not taken: monalisa may read but not write here (1 Dec 10:05 CET)"."""


class Unsure(NamedTuple):
    """A write of unknown fate: a person has to say whether it arrived."""

    id: str
    digest: str
    title: str
    effect: str = ""
    error: str = ""
    """What happened, with the time."""
    link: str = ""


class Parked(NamedTuple):
    """A job that failed too often to go on by itself."""

    job: str
    name: str
    number: int
    """How many times it has been parked: binds the retry box to this parking."""
    failures: int
    at: str
    """The last failure, "30 Nov 02:07 CET"."""
    error: str
    tail: str = ""
    """The last lines of output."""
    link: str = ""
    told: str = ""
    """"owner mona was told"."""


class Helper(NamedTuple):
    """One job in the table of helpers."""

    job: str
    name: str
    last: str
    """"30 Nov 09:06 waiting"."""
    next: str
    """"Mon 7 Dec 09:00 CET", "on change", "switched off"."""
    runnable: bool = True
    """Has a run-now box."""


class Entry(NamedTuple):
    """One line of the last decisions."""

    text: str
    link: str = ""


class Dashboard(NamedTuple):
    """The page where a team decides."""

    repository: str
    title: str = ""
    """A heading for a file; "" on a forge, where the issue has a title of its own."""
    waiting: tuple[Waiting, ...] = ()
    unsure: tuple[Unsure, ...] = ()
    parked: tuple[Parked, ...] = ()
    helpers: tuple[Helper, ...] = ()
    findings: tuple[Finding, ...] = ()
    """Invalid files; only errors are shown."""
    next: str = ""
    """What comes next when nothing waits: "Weekly digest, Mon 7 Dec 09:00 CET"."""
    paused: str = ""
    """"Paused by octocat, 1 Dec 10:02 CET"; "" if nothing is paused."""
    paused_by_file: bool = False
    """control.yaml paused it: no box can undo that."""
    entries: tuple[Entry, ...] = ()
    """Last decisions, newest first."""
    costs: tuple[str, ...] = ()
    """Lines about minutes and money, as of the last receipt."""
    count: int = 0  # type: ignore[assignment]  # (nobody asks a screen how often it holds a value)
    """Receipts in the ledger."""
    head: str = ""
    """64 hex digits."""
    era: int = 0
    """How often a person accepted a shortened ledger."""
    badge: str = ""
    """Picture of the last scheduled run."""
    workflow: str = ""
    """Where a run is started by hand; "" locally."""
    guide: str = ""
    """How to read this."""
    verify: str = ""
    """Where it is told how to verify, or the command that does."""
    pages: tuple[str, ...] = ()
    """Links of the second and further pages, as far as they are known."""


class ProposalPage(NamedTuple):
    """One proposal with the whole draft and its boxes."""

    id: str
    digest: str
    draft: Draft
    repository: str = ""
    effect: str = ""
    """What a yes does, in a few words: its publisher's `words`."""
    promise: str = "exactly the text between the lines is published"
    """The same as the rest of a sentence, Markdown that is safe already: its publisher's `becomes`."""
    job: str = ""
    """The helper's name."""
    file: str = ""
    """Its file, `.hz/jobs/weekly-digest.yaml`."""
    file_link: str = ""
    reason: str = ""
    """Why it was drafted: "slot Mon 30 Nov 09:00 CET", "asked for by mona"."""
    drafted: str = ""
    """When."""
    run: str = ""
    """Link of the run that drafted it."""
    sources: Mapping[str, int] = {}
    """Watch → items that were new to it."""
    cost: str = ""
    """"4.1 s, no model use"."""
    receipt: str = ""
    """Id of the receipt that recorded it."""
    who: str = "anyone with write"
    need: int = 1
    yes: str = ""
    """"1 of 2 yes (hubot)"."""
    until: str = ""
    """"14 December"."""
    ticked: bool = False
    """Approved and not out yet."""
    always: bool = True
    """Offer the last box (never for kinds that cannot be undone)."""
    local: bool = True
    """A file: a note is written on the page, not in a comment."""
    note: str = ""
    """A note for another draft that somebody began to write; it is kept until it is taken."""
    notes: tuple[str, ...] = ()
    """"not taken: …", "changed since hubot's yes: edited by mona"."""
    replaces: str = ""
    """Id of the proposal that it supersedes."""
    replaces_link: str = ""
    unsure: str = ""
    """The write of unknown fate: what happened, with the time."""
    closed: str = ""
    """Why there is nothing left to decide: "Published as #415 on octocat's word, 1 Dec 08:12 CET"; "" while open."""
    closed_link: str = ""


class PhaseLine(NamedTuple):
    """One line of a tick's report."""

    phase: str
    """wake, observe, plan, claim, draft, approve, record, publish, show."""
    subject: str = ""
    """Job, proposal or thing; a column of its own. "" if `text` says it all."""
    text: str = ""
    amount: str = ""
    """"0.2 s", "5 requests"."""
    failed: bool = False


class Failure(NamedTuple):
    """Something that went wrong, with the last lines of its output."""

    subject: str
    text: str
    tail: str = ""


class Report(NamedTuple):
    """What one tick did."""

    at: str = ""
    """"Mon 30 Nov 2026 09:00 CET"."""
    title: str = ""
    """"tick 1"; "" outside the demo."""
    lines: tuple[PhaseLine, ...] = ()
    failures: tuple[Failure, ...] = ()
    drafted: int = 0
    published: int = 0
    waiting: int = 0
    idle: str = ""
    """The one line of a tick that did nothing: "Nothing due. Next: Mon 7 Dec 07:00 CET."."""
    link: str = ""
    """The dashboard."""
    link_text: str = "Helpers: decisions and duties"
