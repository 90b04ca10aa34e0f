"""What is decided about a proposal in this tick: receipts, its next form, and whether it goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.proposal import Proposal
    from hz_team.model.receipt import Receipt


class Ruling(NamedTuple):
    """One proposal after the approve phase, or after publish."""

    proposal: Proposal
    receipts: tuple[Receipt, ...] = ()
    open: bool = True
    """Stays among the open proposals."""
    publish: bool = False
    first: bool = False
    """What is going to be sent is put on record by this very tick: nobody can have sent it before."""
    base: Mapping[str, str] | None = None
    """The job's base moves to this snapshot: the draft counts."""
    payload: Mapping[str, object] | None = None
    """The draft document, if it is new."""
    text: str = ""
    """Plain words for the summary, the helpers table and the last decisions."""
    decision: bool = False
    """`text` belongs among the last decisions."""
