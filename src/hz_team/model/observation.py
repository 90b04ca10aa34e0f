"""What a tick found when it looked around: watches, and what people said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.model.wake import Said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.facet import Cursor
    from hz_team.model.proposal import Answer
    from hz_team.model.wake import Poke


class Look(NamedTuple):
    """One watch, looked at in this tick or not."""

    watch: str
    cursor: Cursor
    polled: bool = False
    dirty: bool = False
    """The cursor differs from the one on the branch (perhaps by a validator only)."""
    must_write: bool = False
    """The snapshot changed, or trouble began or ended: the cursor is written now."""
    document: bytes | None = None
    """The new facets document, if the snapshot changed."""
    added: int = 0


class Heard(NamedTuple):
    """What people said since the last tick, read from pages and commands."""

    answers: tuple[Answer, ...] = ()
    pokes: tuple[Poke, ...] = ()
    retries: tuple[tuple[str, str], ...] = ()
    """Parked job or refused proposal, and who wants it tried again."""
    pause: tuple[bool, str] | None = None
    """Switched on or off, and by whom."""
    closed: bool = False
    """The switch was made by closing the dashboard, or by opening it again."""
    rows: tuple[tuple[str, str, str, str], ...] = ()
    """(page, verb, subject, digest) of every box that was read."""
    resumed: tuple[str, ...] = ()
    """Watches whose paused addresses are asked again from now on."""
    refused: tuple[str, ...] = ()
    """Sentences about what was not taken (a wrong input, an unknown job)."""
    pages: Mapping[str, str] = {}
    """Page → its text as it was read: what changes later is left to the next tick."""
    stamps: Mapping[str, str] = {}
    """Page → fingerprint of its text when it was looked at; of every page that there was."""
    remarks: tuple[Any, ...] = ()
    """Comments that were read (`ports.Remark`): they are acknowledged in the end."""
    event: Said = Said()
    """What started this run, as far as Actions tells: its pokes and refusals stand above, with all others."""
    payloads: Mapping[str, Mapping[str, Any]] = {}
    """Draft documents that were read to understand the answers, by digest."""


class Observations(NamedTuple):
    """Everything observe brings home."""

    looks: Mapping[str, Look] = {}
    """By watch id; every watch of the index is here."""
    heard: Heard = Heard()
    requests: int = 0
    unchanged: int = 0
    polled: int = 0
    notes: tuple[str, ...] = ()
    kept: Mapping[str, bytes] = {}
    """Snapshots that orders read and that somebody swept meanwhile, by id."""

    def snapshot(self, watch: str) -> str:
        """Return the watch's snapshot id, "" before the first success."""
        look = self.looks.get(watch)
        return look.cursor.snapshot if look else ""


class Notes:
    """What a machine remembers between ticks in its cache folder: losing it costs a poll or a redraw, never a fact.

    `polls` watch/key → cursor as JSON; `considered` job/trigger → last slot that was looked at and skipped;
    `pages` page → SHA-256 of what we drew; `shown` [tip, index key]; `stats` watch → path → stat; `anchor` [era, count,
    head, tip] of the newest ledger seen.
    """

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        """Start from what was stored, or from nothing."""
        data = data or {}
        self.polls: dict[str, Any] = data.get("polls", {})
        self.considered: dict[str, int] = data.get("considered", {})
        self.pages: dict[str, str] = data.get("pages", {})
        self.shown: list[str] = data.get("shown", [])
        self.stats: dict[str, Any] = data.get("stats", {})
        self.offline: int = data.get("offline", 0)
        self.anchor: list[Any] = data.get("anchor", [])

    def data_text(self) -> str:
        """Return what to store, as text that tells whether anything changed."""
        import json

        return json.dumps(self.data(), sort_keys=True)

    def data(self) -> dict[str, Any]:
        """Return what to store."""
        return dict(vars(self))
