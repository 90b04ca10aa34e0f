"""What the commit of a lease says: who may work until when, in words for people and in one line for programs."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from hz_team.model.state import Anchor

VERSION = 1
HELD, SPLIT, FREE = "full", "split", "free"
MARGIN = 60
"""Seconds by which clocks may be apart."""
HARD = 6 * 3600
"""Seconds after which a lease of split mode ends, whatever its run does."""


class Note(NamedTuple):
    """The message of one lease commit."""

    holder: str
    """Host and process, or run and attempt."""
    mode: str
    """`full` while one process works, `split` while processes of one run take turns, `free` once it was given back."""
    generation: int
    expires_at: int
    at: int
    """When it was written, by the holder's clock."""
    count: int = 0  # type: ignore[assignment]  # (nobody asks a note how often it holds a value)
    """Receipts in the ledger its holder knew."""
    head: str = ""
    nonce: str = ""
    """128 random bits: two holders never write the same commit."""
    era: int = 0
    """Of that ledger."""
    seq: int = 0
    """Receipts of this very job in that ledger."""
    hard: int = 0
    """Until when a run that takes turns keeps it while its attempt goes on; 0 in other modes."""
    run: str = ""
    """The run of a forge that holds it, "" if none does."""
    attempt: int = 0

    @property
    def anchor(self) -> Anchor:
        """How long the ledger was."""
        return Anchor(self.era, self.count, self.head)

    @property
    def ends(self) -> int:
        """When it is over by the clock: while a run takes turns, its latest end, for nobody renews between turns."""
        return max(self.expires_at, self.hard) if self.mode == SPLIT and self.run else self.expires_at

    def knowing(self, anchor: Anchor, seq: int) -> Note:
        """Return it with what is known of the ledger and of the job's own receipts."""
        return self._replace(era=anchor.era, count=anchor.count, head=anchor.head, seq=seq)


NEEDED = frozenset(Note._fields) - Note._field_defaults.keys()


def written(job: str, note: Note) -> str:
    """Return the message of a lease commit, with a new nonce."""
    data = {"v": VERSION, **note._replace(nonce=os.urandom(16).hex())._asdict()}
    held = f"held by {note.holder} until {note.expires_at}" if note.mode != FREE else "free"
    return f"lease {job}: {held}\n\n{json.dumps(data, sort_keys=True)}\n"


def read(message: str) -> Note | None:
    """Return what a lease commit says; None if nobody of ours wrote it. Older ones say less."""
    try:
        data = json.loads(message.strip().rpartition("\n")[2])
        if not (data.keys() >= NEEDED) or data["v"] > VERSION:
            return None
        note = Note(**{name: data[name] for name in Note._fields if name in data})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    typed = all(type(value) is (int if name in NUMBERS else str) for name, value in note._asdict().items())
    return note if typed and note.mode in {HELD, SPLIT, FREE} else None


NUMBERS = frozenset({"generation", "expires_at", "at", "count", "era", "seq", "hard", "attempt"})
