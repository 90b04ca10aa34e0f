"""What the commit of a lease says: who may work until when, in words for people and in one line for programs."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

VERSION = 1
HELD, FREE = "full", "free"
MARGIN = 60
"""Seconds by which clocks may be apart."""


class Note(NamedTuple):
    """The message of one lease commit."""

    holder: str
    """Host and process, or run and attempt."""
    mode: str
    """`full` while somebody works, `free` once it was given back."""
    generation: int
    expires_at: int
    at: int
    """When it was written, by the holder's clock."""
    count: int = 0  # type: ignore[assignment]  # (nobody asks a note how often it holds a value)
    """Receipts in the ledger its holder knew."""
    head: str = ""
    nonce: str = ""
    """128 random bits: two holders never write the same commit."""


def written(job: str, note: Note) -> str:
    """Return the message of a lease commit, with a new nonce."""
    data = {"v": VERSION, **note._replace(nonce=os.urandom(16).hex())._asdict()}
    held = f"held by {note.holder} until {note.expires_at}" if note.mode != FREE else "free"
    return f"lease {job}: {held}\n\n{json.dumps(data, sort_keys=True)}\n"


def read(message: str) -> Note | None:
    """Return what a lease commit says; None if nobody of ours wrote it."""
    try:
        data = json.loads(message.strip().rpartition("\n")[2])
        note = Note(**{name: data[name] for name in Note._fields})
    except (ValueError, KeyError, TypeError):
        return None
    numbers = (note.generation, note.expires_at, note.at, note.count)
    return note if all(type(number) is int for number in numbers) else None


def is_free(note: Note, now: int, newest: int) -> bool:
    """Whether a lease may be taken: given back, or over by more than clocks can be apart, and ours is not late.

    `newest`: the newest time that any lease tells of.
    """
    return note.mode == FREE or (now > note.expires_at + MARGIN and now >= newest - MARGIN)
