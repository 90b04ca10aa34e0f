"""What of a claim can be taken, as the leases stand. No Git here; only a forge is asked, about runs that hold leases.

A lease is taken when it was given back, when it is over by more than clocks can be apart, or when its holder's run has
ended for as long; never by a clock that is late, never by who read a shorter ledger than the lease knows of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters.lease_note import FREE, HARD, MARGIN, SPLIT, Note
from hz_team.errors import Behind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hz_team.adapters.lease_chain import Tip
    from hz_team.model.state import Anchor
    from hz_team.ports import Attempts, Claim, Known


class Wanted(NamedTuple):
    """One lease commit to make."""

    job: str
    parent: str
    """What the remote has now; "" for nothing."""
    note: Note


class Taker(NamedTuple):
    """Who claims, and when."""

    holder: str
    run: str
    attempt: int
    now: int
    """By the best clock there is."""
    ours: Callable[[str, str], bool]
    """Whether this process made a job's commit: a push that nobody answered was applied late."""
    ended: Callable[[Note], int]
    """When the run that holds a lease ended, 0 if it goes on or nobody can tell."""


def wanted(claim: Claim, jobs: Iterable[str], tips: Mapping[str, Tip], taker: Taker) -> list[Wanted]:
    """Return the commits that would take what can be taken of these jobs; every lease among `tips` can be read.

    Raises Behind when one that could be taken knows of more than the state that was planned from: nothing is then.
    """
    newest = max((tip.note.at for tip in tips.values() if tip.note), default=0)
    blank = note_of(claim, taker)
    found = []
    for job in sorted(jobs):
        known, tip = claim.jobs[job], tips.get(job)
        note = blank.knowing(claim.ledger, known.seq)
        if not tip:
            found.append(Wanted(job, "", note._replace(generation=known.generation + 1)))
        elif tip.note and (taker.ours(job, tip.commit) or is_free(tip.note, newest, taker)):
            check_length(job, tip.note, claim.ledger, known)
            generation = max(known.generation, tip.note.generation) + 1
            found.append(Wanted(job, tip.commit, note._replace(generation=generation)))
    return found


def note_of(claim: Claim, taker: Taker) -> Note:
    """Return what every lease of this claim says, but for what is known of its job."""
    hard = taker.now + HARD if claim.mode == SPLIT else 0
    note = Note(taker.holder, claim.mode, 0, taker.now + claim.ttl, taker.now, hard=hard)
    return note._replace(run=taker.run, attempt=taker.attempt)


def is_free(note: Note, newest: int, taker: Taker) -> bool:
    """Whether a lease may be taken. `newest`: the newest time that any lease tells of."""
    if note.mode == FREE:
        return True
    if taker.now < newest - MARGIN:
        return False
    if taker.now > note.ends + MARGIN:
        return True
    ended = taker.ended(note) if note.run and note.attempt else 0
    return bool(ended) and taker.now > ended + MARGIN


def is_dead(tip: Tip | None, known: Known) -> bool:
    """Whether the lease of a job that nobody names any more can go: given back, and the state has its generation."""
    return bool(tip and tip.note and tip.note.mode == FREE and tip.note.generation <= known.generation)


def end_of_runs(attempts: Attempts | None) -> Callable[[Note], int]:
    """Return a function that tells when a holder's run ended, 0 if nobody knows; it asks about each attempt once."""
    asked: dict[tuple[str, int], int] = {}

    def ended(note: Note) -> int:
        key = (note.run, note.attempt)
        if attempts is None:
            return 0
        if key not in asked:
            state, at = attempts.state(*key)
            asked[key] = at if state == "ended" else 0
        return asked[key]

    return ended


def check_length(job: str, note: Note, ledger: Anchor, known: Known) -> None:
    """Raise Behind if a lease knows of more receipts than the ledger that was read, or than its job has there."""
    if note.era < ledger.era:
        return  # a person has accepted since then that something is missing
    if note.era > ledger.era:
        more = f"a ledger that a person accepted later (era {note.era}; the one read here is of era {ledger.era})"
    elif note.count > ledger.count:
        more = f"{note.count:,} receipts, the ledger read here has {ledger.count:,}"
    elif note.seq > known.seq:
        more = f"{note.seq:,} receipts of its own, the ledger read here has {known.seq:,}"
    else:
        return
    raise Behind(
        f"the lease of {job} knows {more}: another tick recorded meanwhile, or hz-state was reset to an older commit; "
        "nothing was taken, run it again",
    )
