"""approve: verdicts on open proposals, new drafts, policies and now → rulings. Touches nothing.

The rules themselves are `hz_team.decision`; here their outcome becomes receipts and the proposal's next form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import birth, duty, evidence, moment, verdict
from hz_team.model.proposal import APPROVED, AWAITING, Answer, Proposal
from hz_team.model.ruling import Ruling

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hz_team.model.draft import Outcome
    from hz_team.model.order import Order
    from hz_team.model.receipt import Receipt
    from hz_team.verdict import Question, Verdict


class Case(NamedTuple):
    """What is ruled on."""

    question: Question
    verdicts: Mapping[str, Verdict]
    """What answers and policies come to, for every open proposal."""
    mine: Collection[str]
    """The jobs this tick may write about; proposals of others are left alone."""
    orders: tuple[Order, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


def approve(case: Case) -> tuple[Ruling, ...]:
    """Return one ruling for every proposal that changes, is born, is answered or is to be published now."""
    rulings = {name: _rule(case, each) for name, each in case.verdicts.items() if each.before.job in case.mine}
    ruled = {name: ruling for name, ruling in rulings.items() if ruling}
    for ruling in birth.births(case.question, case.orders, case.outcomes, ruled):
        earlier = ruled.pop(ruling.proposal.id, None)  # what was said about it stays on record, in order
        receipts = (*(earlier.receipts if earlier else ()), *ruling.receipts)
        ruled[ruling.proposal.id] = ruling._replace(receipts=receipts)
    return tuple(ruled.values())


def _rule(case: Case, weighed: Verdict) -> Ruling | None:
    proposal = _told(weighed, moment.told(case.question.now, case.question.config.settings.timezone))
    edited: tuple[Receipt, ...] = ()
    if weighed.edit:
        edited = (_receipt(case, proposal, "awaiting_approval", approval=(weighed.edit,), reason=proposal.changed),)
    refused = tuple(
        _receipt(case, proposal, "refused", approval=(answer,), reason=why) for answer, why in weighed.decision.refused
    )
    ruling = _outcome(case, weighed, proposal)
    ruling = ruling._replace(receipts=(*edited, *refused, *ruling.receipts), payload=weighed.payload)
    nothing = not ruling.receipts and not ruling.publish and ruling.open and ruling.proposal == weighed.before
    return None if nothing else ruling


def _told(weighed: Verdict, when: str) -> Proposal:
    """Return the proposal with what its page has to say to those whose answers were not taken."""
    refused = {answer.by: f"{why} ({when})" for answer, why in weighed.decision.refused}
    speakers = {answer.by for answer in weighed.said}
    older = {by: why for by, why in weighed.proposal.told.get("refused", {}).items() if by not in speakers}
    if not refused and older == weighed.proposal.told.get("refused", {}):
        return weighed.proposal
    return weighed.proposal._replace(told={**weighed.proposal.told, "refused": {**older, **refused}})


def _outcome(case: Case, weighed: Verdict, proposal: Proposal) -> Ruling:
    made = weighed.decision
    match made.outcome:
        case "answered":
            return _answered(case, weighed, proposal)
        case "approved":
            return _approved(case, weighed, proposal)
        case "rejected":
            return _closed(case, weighed, proposal, counts=True)
        case "withdrawn":
            return _withdrawn(case, weighed, proposal)
        case "redraft":
            return _wanted(case, weighed, proposal)
        case "expired":
            return _closed(case, weighed, proposal, counts=False)
        case "arrived":
            return _arrived(case, weighed, proposal)
        case "again":
            return _again(case, proposal._replace(state=APPROVED), made.answers, "a person asked to send it again")
    if verdict.is_retried(case.question, proposal):
        by = next(by for subject, by in case.question.retries if subject == proposal.id)
        asked = Answer(proposal.id, "retry", by, "", "box", case.question.now, proposal.digest)
        return _again(case, proposal, (asked,), f"{by} asked to try again")
    return Ruling(proposal, publish=verdict.is_ready(case.question, proposal))


def _answered(case: Case, weighed: Verdict, proposal: Proposal) -> Ruling:
    now = proposal._replace(answers=weighed.decision.answers)
    yes = ", ".join(answer.by for answer in now.answers)
    receipt = _receipt(case, now, "answered", approval=now.answers, reason=weighed.decision.reason)
    ready = verdict.is_ready(case.question, now)
    return Ruling(now, (receipt,), publish=ready, text=f"{now.id} has a yes from {yes}")


def _approved(case: Case, weighed: Verdict, proposal: Proposal) -> Ruling:
    now = birth.approved(proposal, weighed.decision)
    receipt = _receipt(case, now, "approved", approval=now.answers, reason=weighed.decision.reason)
    held = duty.is_held(now.job, case.question.config, case.question.view)
    return Ruling(now, (receipt,), publish=not held, text=birth.words(now))


def _withdrawn(case: Case, weighed: Verdict, proposal: Proposal) -> Ruling:
    said = weighed.decision.answers
    yes = tuple(answer for answer in said if answer.verb != "withdraw")
    attempted = {} if proposal.attempted.get("error") else proposal.attempted  # it may have gone out all the same
    back = proposal._replace(answers=yes, state=AWAITING, withdrawn=said[-1].by if said else "", attempted=attempted)
    return Ruling(back, (_receipt(case, back, "withdrawn", approval=said, reason=weighed.decision.reason),))


def _wanted(case: Case, weighed: Verdict, proposal: Proposal) -> Ruling:
    """Keep the wish for another draft until there is one, whatever holds the job up."""
    asked = weighed.decision.answers[-1]
    now = proposal._replace(redraft=verdict.wish(weighed), answers=())
    reason = f"another draft is wanted: {asked.note}" if asked.note else "another draft is wanted"
    receipt = _receipt(case, now, "answered", approval=(asked,), reason=reason)
    return Ruling(now, (receipt,), text=f"{now.id} is to be written again for {asked.by}")


def _closed(case: Case, weighed: Verdict, proposal: Proposal, *, counts: bool) -> Ruling:
    made = weighed.decision
    receipt = _receipt(case, proposal, made.outcome, approval=made.answers, reason=made.reason)
    by = f", by {made.answers[-1].by}" if made.answers else ""
    note = f': "{made.answers[-1].note}"' if made.answers and made.answers[-1].note else ""
    words = f"{made.outcome.capitalize()} {proposal.id} {proposal.title}{by}{note}"
    base = proposal.snapshot if counts else None
    return Ruling(proposal, (receipt,), open=False, base=base, text=words, decision=True)


def _arrived(case: Case, weighed: Verdict, proposal: Proposal) -> Ruling:
    """Take a person's word for one part; further parts that nobody has tried are sent now."""
    said = weighed.decision.answers
    part = {
        "part": proposal.attempted.get("part", 0),
        "target": proposal.target,
        "ref": f"on the word of {said[-1].by}",
    }
    done = proposal._replace(published=(*proposal.published, part), attempted={}, state=APPROVED)
    reason = "a person saw that it arrived"
    if proposal.attempted.get("left"):
        receipt = _receipt(case, done, "answered", approval=said, reason=reason)
        held = duty.is_held(done.job, case.question.config, case.question.view)
        return Ruling(done, (receipt,), publish=not held, text=f"{done.id}: one part arrived, seen by {said[-1].by}")
    receipt = _receipt(case, done, "published", approval=said, published=done.published, reason=reason)
    words = f"Published {done.id} {done.title}, seen by {said[-1].by}"
    return Ruling(done, (receipt,), open=False, base=done.snapshot, text=words, decision=True)


def _again(case: Case, proposal: Proposal, said: tuple[Answer, ...], reason: str) -> Ruling:
    """Let a proposal be tried anew: on record first, so that only this tick may send it."""
    again = proposal._replace(attempted={})
    receipt = _receipt(case, again, "approved", approval=said, reason=reason)
    held = duty.is_held(again.job, case.question.config, case.question.view)
    return Ruling(again, (receipt,), publish=not held, text=f"{again.id} is sent again")


def _receipt(case: Case, proposal: Proposal, disposition: str, **more: Any) -> Receipt:
    asked = case.question
    return evidence.receipt(
        proposal, disposition, config=asked.config, repository=asked.view.repository, now=asked.now, **more
    )
