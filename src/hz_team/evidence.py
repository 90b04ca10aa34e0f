"""Receipts about a proposal: who said what, on which draft, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team import registry
from hz_team.model.receipt import Receipt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hz_team.model.job import Index
    from hz_team.model.proposal import Answer, Proposal


def receipt(
    proposal: Proposal,
    disposition: str,
    *,
    config: Index,
    repository: str,
    now: int,
    approval: Iterable[Answer] = (),
    published: tuple[Mapping[str, Any], ...] = (),
    reason: str = "",
    error: str = "",
) -> Receipt:
    """Return the receipt of one step of a proposal."""
    job = next((job for job in config.jobs if job.id == proposal.job), None)
    said = tuple(_said(answer) for answer in approval)
    return Receipt(
        job=proposal.job,
        disposition=disposition,
        as_of=now,
        contract=job.contract if job else "",
        cause="manual" if said else proposal.cause,
        slot=proposal.slot,
        refs=proposal.refs,
        proposal=proposal.id,
        idempotency_key=registry.first_key(repository, proposal.key),
        draft=proposal.digest,
        approval=said,
        published=published,
        reason=reason,
        error=error,
    )


def _said(answer: Answer) -> dict[str, object]:
    return {
        "at": answer.at,
        "by": answer.by,
        "digest": answer.digest,
        "ref": answer.ref,
        "role": answer.role,
        "via": answer.via,
        **({"verb": answer.verb} if answer.verb != "approve" else {}),
    }
