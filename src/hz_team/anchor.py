"""What others have seen of the ledger: the dashboard, this machine, a lease. A shorter ledger lost its tail. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.model.state import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hz_team.model.state import View


class Witness(NamedTuple):
    """Somebody who saw the ledger."""

    name: str
    """As the subject of a sentence: "the dashboard"."""
    anchor: Anchor
    follows: bool | None = None
    """Whether the commit that was seen is part of the branch's history; None if nobody can tell."""


class Chain(NamedTuple):
    """How many receipts of one job its lease knows of."""

    job: str
    seq: int
    era: int = 0


def behind(view: View, witnesses: Iterable[Witness]) -> tuple[str, ...]:
    """Return a sentence for every witness who saw more than, or something else than, what stands there now."""
    return tuple(_contradictions(view, witnesses))


def shorter(view: View, chains: Iterable[Chain]) -> tuple[str, ...]:
    """Return a sentence for every job whose chain ends before its lease says; a smaller era counts no more."""
    found = []
    for job, seq, era in chains:
        known = view.positions.get(job) or view.folded.get(job)
        here = known.seq if known else 0
        if era >= view.era and seq > here:
            places = f"receipt {seq} is" if seq == here + 1 else f"receipts {here + 1} to {seq} are"
            found.append(
                f"{job}: its lease knows of {_counted(seq, 'receipt')}, its chain has {here}: {places} missing"
            )
    return tuple(found)


def told(anchor: Anchor) -> str:
    """Return an anchor's length in words: "1,284 receipts", "3 receipts after 1 accepted loss"."""
    return _counted(anchor.count, "receipt") + losses(anchor.era)


def losses(era: int) -> str:
    """Return how often a person went on without a lost tail: " after 2 accepted losses"; "" for never."""
    if not era:
        return ""
    return f" after {era:,} accepted loss{'es' * (era != 1)}"


def _contradictions(view: View, witnesses: Iterable[Witness]) -> Iterator[str]:
    mine = view.anchor
    for name, seen, follows in witnesses:
        known = told(seen if seen.era != mine.era else seen._replace(era=0))
        known += f" (head {seen.head[:12]})" if seen.head else ""
        if seen.era > mine.era:
            yield f"{name} vouches for {known}, the ledger has {mine.count:,} and is from before that"
        elif seen.era < mine.era:
            continue  # a person has accepted since then that something is missing
        elif seen.count > mine.count:
            yield f"{name} vouches for {known}, the ledger has {mine.count:,}"
        elif seen.count == mine.count and not mine.head.startswith(seen.head):
            yield f"{name} vouches for the head {seen.head[:12]}, the ledger has {mine.head[:12]}"
        elif follows is False:
            yield f"{name} saw {known} on a history that hz-state does not have any more"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
