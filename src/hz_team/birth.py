"""New drafts as proposals: their keys, ids and pages, what they supersede, and what policies say to them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import duty, evidence, verdict
from hz_team.model.proposal import APPROVED, AWAITING, Decision, Proposal
from hz_team.model.ruling import Ruling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hz_team.model.draft import Draft, Outcome
    from hz_team.model.job import Job
    from hz_team.model.order import Order
    from hz_team.model.receipt import Receipt
    from hz_team.verdict import Question


class _Newborn(NamedTuple):
    job: Job
    order: Order
    outcome: Outcome
    draft: Draft
    ordinal: int
    """Its place among the run's drafts of the same kind and target."""
    again: bool
    """It takes the place of the draft that was to be written again."""


def births(
    question: Question, orders: Sequence[Order], outcomes: Sequence[Outcome], ruled: Mapping[str, Ruling]
) -> tuple[Ruling, ...]:
    """Return rulings for new proposals, for the open ones they supersede, and for wishes that nothing came of.

    `ruled` is what was decided about open proposals in this tick.
    """
    made: dict[str, Ruling] = {}
    for order, outcome in zip(orders, outcomes, strict=True):
        for newborn in _newborns(question, order, outcome):
            for ruling in _birth(question, newborn, ruled, made):
                made[ruling.proposal.id] = ruling
        old = _open(question, ruled, made).get(order.redraft.proposal) if order.redraft else None
        if old and old.redraft and outcome.status != "failed":
            made[old.id] = Ruling(old._replace(redraft={}, changed="written again, and nothing new came of it"))
    return tuple(made.values())


def approved(proposal: Proposal, made: Decision) -> Proposal:
    """Return the proposal after its last yes; an attempt from before a withdrawal stays in doubt."""
    return proposal._replace(answers=made.answers, state=APPROVED, redraft={})


def words(proposal: Proposal) -> str:
    """Return "p-3f9c21ab by mona, bound to 5d41402abc4b"."""
    by = ", ".join(answer.by for answer in proposal.answers)
    return f"{proposal.id} by {by}, bound to {proposal.digest[:12]}"


def _newborns(question: Question, order: Order, outcome: Outcome) -> Iterable[_Newborn]:
    job = next(job for job in question.config.jobs if job.id == order.job)
    drafts = [draft for draft in outcome.drafts if draft.kind]
    heir = _heir(question, order, drafts)
    ordinals: dict[tuple[str, str], int] = {}
    for draft in drafts:
        place = (draft.kind, draft.target)
        ordinals[place] = ordinals.get(place, -1) + 1
        yield _Newborn(job, order, outcome, draft, ordinals[place], draft is heir)


def _heir(question: Question, order: Order, drafts: Sequence[Draft]) -> Draft | None:
    """Return the draft that takes the old one's id and page: the first for the same place, else the first."""
    old = question.view.proposals.get(order.redraft.proposal) if order.redraft else None
    if old is None or not drafts:
        return None
    same = (draft for draft in drafts if (draft.kind, draft.target) == (old.kind, old.target))
    return next(same, drafts[0])


def _open(question: Question, ruled: Mapping[str, Ruling], made: Mapping[str, Ruling]) -> dict[str, Proposal]:
    """Return the proposals that are open and were not made in this tick, as this tick has left them."""
    now = {name: ruled[name].proposal if name in ruled else one for name, one in question.view.proposals.items()}
    return {name: one for name, one in now.items() if name not in made and (name not in ruled or ruled[name].open)}


def _birth(
    question: Question, newborn: _Newborn, ruled: Mapping[str, Ruling], made: Mapping[str, Ruling]
) -> tuple[Ruling, ...]:
    proposal, payload = _proposal(question, newborn, made)
    place = (proposal.job, proposal.kind, proposal.target)
    superseded = [
        old
        for old in _open(question, ruled, made).values()
        if (old.job, old.kind, old.target) == place and old.id != proposal.id and old.state == AWAITING
    ]
    gone = tuple(_superseded(question, old, proposal) for old in superseded)
    if superseded:
        proposal = proposal._replace(replaces=superseded[-1].id)
    asked = _receipt(question, proposal, "awaiting_approval", reason=proposal.changed)
    decided = verdict.decide(question, proposal)
    if decided.outcome != "approved":
        return (*gone, Ruling(proposal, (asked,), payload=payload, text=f'{proposal.id} "{proposal.title}"'))
    yes = approved(proposal, decided)
    receipts = (asked, _receipt(question, yes, "approved", approval=yes.answers, reason=decided.reason))
    held = duty.is_held(yes.job, question.config, question.view)
    return (*gone, Ruling(yes, receipts, publish=not held, payload=payload, text=words(yes)))


def _superseded(question: Question, old: Proposal, new: Proposal) -> Ruling:
    receipt = _receipt(question, old, "superseded", reason=f"{new.id} is newer")
    return Ruling(old, (receipt,), open=False, text=f"{old.id} gave way to {new.id}")


def _proposal(
    question: Question, newborn: _Newborn, made: Mapping[str, Ruling]
) -> tuple[Proposal, Mapping[str, object]]:
    from hz_team.fingerprint import digest

    job, order, draft = newborn.job, newborn.order, newborn.draft
    payload = draft.payload()
    approve_by = job.approve._asdict()
    fresh = Proposal(
        id="",
        key=digest([job.id, order.wake_id, draft.kind, draft.target, newborn.ordinal]),
        job=job.id,
        kind=draft.kind,
        target=draft.target,
        title=draft.title,
        digest=digest(payload),
        state=AWAITING,
        created_at=question.now,
        expires_at=question.now + job.approve.expires,
        cause=order.cause,
        slot=order.slot,
        refs=order.pokes,
        snapshot=order.snapshot,
        base=order.base,
        by={name: approve_by[name] for name in ("by", "need", "not_author", "from_page")},
        author=order.by,
        words=len(draft.body.split()),
        ms=newborn.outcome.cost.ms,
        sources=newborn.outcome.sources,
        inputs=order.inputs,
    )
    if newborn.again and order.redraft:
        old = question.view.proposals[order.redraft.proposal]
        changed = f"written again for {order.by or 'a person'}"
        heir = fresh._replace(id=old.id, key=old.key, created_at=old.created_at, attempted=old.attempted)
        return heir._replace(changed=changed), payload
    taken = {**question.view.proposals, **{name: ruling.proposal for name, ruling in made.items()}}
    return fresh._replace(id=_name(fresh.key, taken)), payload


def _name(key: str, taken: Mapping[str, Proposal]) -> str:
    """Return `p-` and the first 8 hex digits of the key, more when another open proposal has them already."""
    for length in range(8, 65):
        name = f"p-{key[:length]}"
        if name not in taken or taken[name].key == key:
            return name
    message = "two proposals with one key"
    raise AssertionError(message)


def _receipt(question: Question, proposal: Proposal, disposition: str, **more: Any) -> Receipt:
    return evidence.receipt(
        proposal, disposition, config=question.config, repository=question.view.repository, now=question.now, **more
    )
