"""What only rides along with a record and keeps the branch small and known; `hz_team.keeping` has the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team import duty, keeping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.facet import Cursor
    from hz_team.model.state import Position
    from hz_team.phases.record.book import Book

KEEP_CURSORS = 30 * 86400
"""Seconds for which the cursor of a removed or redefined watch stays: its file may come back."""


def fold(book: Book) -> None:
    """Note since when jobs are gone, and make those that have been gone for long a line."""
    config, now = book.world.config, book.entries.now
    for job, position in book.positions.items():
        book.positions[job] = keeping.marked(position, gone=duty.is_gone(job, config), now=now)
    busy = {proposal.job for proposal in book.proposals.values()}
    busy |= {poke.job for poke in book.view.wakes} | {receipt.job for receipt in book.receipts}
    lines = keeping.retired(book.positions, busy=busy, now=now)
    for job in lines:
        del book.positions[job]
        book.files[f"jobs/{job}.json"] = None
    book.folded |= lines


def seal(book: Book) -> None:
    """Fold the oldest receipts into segments when too many have files of their own."""
    state, segments = book.world.state, keeping.overdue(book.view)
    if segments:
        paths = keeping.oldest(state.names(book.view, "receipts"), segments * keeping.LINES)
        loose = state.read(book.view, paths)
        sealed = keeping.seal(loose, state.names(book.view, "segments"), segments=segments)
        book.files.update(sealed.files)
        book.sealed += sealed.receipts


def live(book: Book) -> None:
    """Leave the runner's sign of life."""
    path, content = keeping.heartbeat(book.world.runner, book.entries.now)
    book.files[path] = content


def shelve(book: Book) -> None:
    """Put drafts that belong to nothing open on their jobs' shelves, and remove those that lay there for long."""
    named = {proposal.digest for proposal in book.proposals.values()}
    closed: dict[str, set[str]] = {}
    for job, digest in book.drafts:
        if digest not in named:
            closed.setdefault(job, set()).add(digest)
    if closed:  # further ones are looked at in turn: no draft of theirs may ever be closed again
        further = keeping.turn(book.world.state.names(book.view, "closed"), book.entries.now)
        closed.update({further: set()} if further and further not in closed else {})
    shelves = {job: keeping.shelf(job) for job in sorted(closed)}
    held = book.world.state.read(book.view, tuple(shelves.values()))
    for job, path in shelves.items():
        shelved = keeping.shelve(held.get(path), closed[job], named=named, now=book.entries.now)
        book.files[path] = shelved.content
        for old in shelved.old:
            book.files.setdefault(keeping.draft(old), None)


def sweep(book: Book, positions: Mapping[str, Position]) -> None:
    """Remove snapshots that nothing names any more."""
    cursors = _cursors(book)
    before = keeping.snapshots(book.view.positions, book.view.proposals.values(), book.view.cursors)
    after = keeping.snapshots(positions, book.proposals.values(), cursors)
    for snapshot in before - after:
        book.files.setdefault(keeping.facets(snapshot), None)


def _cursors(book: Book) -> dict[str, Cursor]:
    """Return the cursors that stay: the present watches' and, for a while, those of watches that are gone."""
    looks = {f"{look.watch}/{look.cursor.key}": look.cursor for look in book.entries.seen.looks.values()}
    present = {f"{watch.id}/{watch.key}" for watch in book.world.config.watches}
    old = book.entries.now - KEEP_CURSORS
    kept = {name: one for name, one in book.view.cursors.items() if name in present or one.polled_at > old}
    for name in book.view.cursors.keys() - kept.keys():
        book.files[f"cursors/{name}.json"] = None
    return {**kept, **looks}
