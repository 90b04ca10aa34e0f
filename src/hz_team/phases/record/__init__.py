"""record: receipts, positions, cursors, proposals → one commit, pushed with the tip it was made from.

Called twice in a working tick: before anything leaves, and after publish. Writes nothing if nothing is worth a write;
when it writes, everything that only rides along (validators, skip counters, what `tidying` does) goes with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import chronicle, keeping, ledger
from hz_team.model.state import FOLDED, VERSION, document, stored
from hz_team.phases.record.book import DECISIONS, Book
from hz_team.phases.record.tidying import fold, live, seal, shelve, sweep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.model.draft import Outcome
    from hz_team.model.observation import Observations
    from hz_team.model.order import Plan
    from hz_team.model.receipt import Receipt
    from hz_team.model.ruling import Ruling
    from hz_team.model.state import Position, View
    from hz_team.model.wake import Poke
    from hz_team.ports import Lease, World


class Entries(NamedTuple):
    """What is to be recorded."""

    plan: Plan
    seen: Observations
    outcomes: tuple[Outcome, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    leases: Mapping[str, Lease] = {}
    pokes: tuple[Poke, ...] = ()
    """Everything asked for and not yet drafted, old and new."""
    now: int = 0
    looking: bool = True
    """First record of a tick: cursors, new triggers and switches are written with it."""
    last: bool = False
    """Nothing of this tick needs its leases afterwards: they are given back with it."""


class Recorded(NamedTuple):
    """What the record phase did."""

    view: View
    receipts: tuple[tuple[str, Receipt], ...] = ()
    """Ids and receipts, in the order of their chains."""
    wrote: bool = False


def record(world: World, view: View, entries: Entries) -> Recorded:
    """Write one commit with everything that happened, or nothing. Raises TryAgain when the branch moved meanwhile."""
    book = Book(world, view, entries)
    if entries.looking:
        book.look()
    book.runs()
    book.decide()
    if entries.looking:
        book.pokes()
    if not book.worth_a_write():
        return Recorded(view)
    if entries.looking:
        book.ride_along()
        fold(book)
        seal(book)
        live(book)
    return _close(book)


def _close(book: Book) -> Recorded:
    """Give the receipts their places, write everything, push."""
    world, entries, leases = book.world, book.entries, book.entries.leases
    chained, positions = ledger.append(book.positions, book.receipts, world.runner, leases, folded=book.folded)
    ids = [entry.id for entry in chained]
    book.files.update({entry.path: entry.content for entry in chained})
    _remember(book, ids)
    _positions(book, positions)
    _proposals(book)
    shelve(book)
    sweep(book, positions)
    _summary(book, positions)
    message, held = chronicle.message(book.receipts), tuple(leases.values())
    view = world.state.record(book.view, book.files, message, leases=held, last=entries.last)
    return Recorded(view, tuple(zip(ids, book.receipts, strict=True)), wrote=True)


def _remember(book: Book, ids: Sequence[str]) -> None:
    """Note at each proposal which receipts speak of it."""
    for name, receipt in zip(ids, book.receipts, strict=True):
        proposal = book.proposals.get(receipt.proposal)
        if proposal:
            receipts = {**proposal.receipts, receipt.disposition: name}
            book.proposals[proposal.id] = proposal._replace(receipts=receipts)


def _positions(book: Book, positions: dict[str, Position]) -> None:
    for name, position in positions.items():
        lease = book.entries.leases.get(name)
        if lease and position != book.view.positions.get(name):
            positions[name] = position._replace(lease_generation=lease.generation)
        if positions[name] != book.view.positions.get(name):
            book.files[f"jobs/{name}.json"] = stored(document(positions[name]))
    book.folded = {job: line for job, line in book.folded.items() if job not in positions}
    if book.folded != book.view.folded:
        book.files[FOLDED] = keeping.folded(book.folded)


def _proposals(book: Book) -> None:
    for name, proposal in book.proposals.items():
        if proposal != book.view.proposals.get(name):
            book.files[f"proposals/{name}.json"] = stored(document(proposal))
    for name in book.view.proposals:
        if name not in book.proposals:
            book.files[f"proposals/{name}.json"] = None


def _summary(book: Book, positions: Mapping[str, Position]) -> None:
    count, head = ledger.head(positions, book.folded)
    summary = {"count": count, "era": book.view.era, "head": head, "sealed": book.sealed, "v": VERSION}
    book.files["ledger.json"] = stored({**summary, "repository": book.view.repository})
    known, memory = dict(book.view.dashboard), dict(book.world.forge.memory(settled=book.is_settled()))
    if memory:
        known["forge"] = memory
    if book.decisions != list(book.view.decisions) or known != book.view.dashboard:
        board = {**known, "decisions": book.decisions[:DECISIONS], "v": VERSION}
        book.files["dashboard.json"] = stored(board)
