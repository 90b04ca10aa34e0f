"""Rows with a box: `- [ ] <!-- hz:verb subject digest --> text`, drawn and read back."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from hz_team.markdown import block

if TYPE_CHECKING:
    from collections.abc import Iterable

VERBS = (
    "approve",
    "reject",
    "redraft",
    "always",
    "approve-all",
    "retry",
    "run",
    "pause",
    "arrived",
    "again",
)
"""What a box may say. `arrived` and `again` settle a write of unknown fate."""

_ROW = re.compile(
    r"( {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?: {1,4}|\t)\[)([ xX])(\][ \t]+<!-- hz:"
    r"([a-z-]+)(?: ([A-Za-z0-9][A-Za-z0-9._-]*))?(?: ([0-9a-f]+))? -->)(?=[ \t]|$)",
)
"""GitHub's own reading of a task list item at list level, and our marker right behind the box."""


class Row(NamedTuple):
    """One box and what it stands for."""

    verb: str
    subject: str = ""
    """A proposal's or job's id; for approve-all the number of boxes; "" for pause."""
    digest: str = ""
    """What the box binds to: 12 hex digits of a proposal's digest, the number of a parking, or ""."""
    ticked: bool = False


class Tick(NamedTuple):
    """A box that is not as it was drawn."""

    verb: str
    subject: str
    digest: str
    """As it stands in the stored page."""
    ticked: bool
    """True: it was ticked; False: it was drawn ticked and is not any more."""
    stale: bool = False
    """The stored box binds to another digest than the drawn one: it says yes to something else."""
    by_all: bool = False
    """An approve that was given by the approve-all box."""


def draw(row: Row, text: str, *more: str, fold: str = "") -> str:
    """Return the row; `text`, the further lines and what is folded away below are Markdown that is safe already."""
    marker = " ".join(part for part in (f"hz:{row.verb}", row.subject, row.digest) if part)
    return plain(f"[{'x' if row.ticked else ' '}] <!-- {marker} --> {text}", *more, fold=fold)


def plain(text: str, *more: str, fold: str = "") -> str:
    """Return a row without a box; two blanks make each further line begin anew wherever Markdown is shown."""
    lines = "  \n  ".join((f"- {text}", *(line for line in more if line)))
    return f"{lines}\n  {fold.replace(chr(10), f'{chr(10)}  ')}" if fold else lines


def rows(text: str) -> tuple[Row, ...]:
    """Return the rows of a page in order. A row that stands there twice counts not at all."""
    found = tuple(_row(match) for line in block.live(text) if (match := _ROW.match(line)))
    known = tuple(row for row in found if row.verb in VERBS)
    times = Counter((row.verb, row.subject) for row in known)
    return tuple(row for row in known if times[row.verb, row.subject] == 1)


def read(stored: str, drawn: str) -> tuple[Tick, ...]:
    """Return what people did to the boxes of a page since it was drawn; a row that was not drawn never counts.

    A ticked approve-all is followed by one `by_all` approve for each row it stands for that nobody touched itself.
    """
    if block.same(stored, drawn):
        return ()
    placed = {(row.verb, row.subject): row for row in rows(drawn)}
    every = _every(placed.values())
    ticks = []
    for row in rows(stored):
        before = _before(row, placed)
        if before is None:
            continue
        stale = row.digest != before.digest or row.subject != before.subject
        if row.ticked != before.ticked and (row.ticked or not stale):
            ticks.append(Tick(row.verb, row.subject, row.digest, ticked=row.ticked, stale=stale))
    said = {(tick.verb, tick.subject) for tick in ticks}
    if any(tick.verb == "approve-all" and not tick.stale for tick in ticks):
        ticks += [tick for tick in every if ("approve", tick.subject) not in said]
    return tuple(ticks)


def _before(row: Row, placed: dict[tuple[str, str], Row]) -> Row | None:
    """Return the drawn row; the subject of approve-all is a count, and another count is another set."""
    if row.verb != "approve-all":
        return placed.get((row.verb, row.subject))
    return next((known for known in placed.values() if known.verb == "approve-all"), None)


def _every(placed: Iterable[Row]) -> list[Tick]:
    """Return what a ticked approve-all stands for."""
    return [
        Tick("approve", row.subject, row.digest, ticked=True, by_all=True)
        for row in placed
        if row.verb == "approve" and not row.ticked
    ]


def approve_all(listed: Iterable[Row]) -> Row:
    """Return the row that approves all listed approve rows, exactly as they stand: another set has another digest."""
    pairs = [[row.subject, row.digest] for row in listed if row.verb == "approve" and not row.ticked]
    text = json.dumps(pairs, separators=(",", ":"))
    return Row("approve-all", str(len(pairs)), hashlib.sha256(text.encode()).hexdigest()[:12])


def with_boxes(text: str, ticks: Iterable[Tick]) -> str:
    """Return a page with the given boxes set where the same verb, subject and digest stand: no tick gets lost.

    It changes single characters between the brackets and nothing else.
    """
    wanted = {(tick.verb, tick.subject, tick.digest): tick.ticked for tick in ticks if not tick.by_all}

    def box(match: re.Match[str]) -> str:
        ticked = wanted.get((match[4], match[5] or "", match[6] or ""))
        return match[0] if ticked is None else f"{match[1]}{'x' if ticked else ' '}{match[3]}"

    return re.sub(f"^{_ROW.pattern}", box, text, flags=re.MULTILINE) if wanted else text


def _row(match: re.Match[str]) -> Row:
    return Row(match[4], match[5] or "", match[6] or "", ticked=match[2] != " ")
