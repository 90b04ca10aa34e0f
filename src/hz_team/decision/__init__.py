"""The rules of approval: a proposal, what people said, policies and now → what follows. Pure; touches nothing.

In this order, whatever order the answers came in (one person's own are taken in time order):

  reject    beats everything until the proposal is published, wherever it was given
  edit      a permitted person's text takes the draft's place; answers to the old text are void
  redraft   somebody wants another text; answers to this one are void
  withdraw  takes back that person's yes (without one, a shared box was cleared: every yes)
  approve   from `need` people; `always` is a yes too
  policy    a standing yes with an owner, never after a withdrawal, never for what cannot be undone
  expiry    when nothing else happened in time; what is approved already never lapses

A yes is bound to the digest it was given for. Everything else that was said is refused with a reason in plain words;
saying the same thing twice is neither counted nor refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.decision.objection import VERBS, YES, Terms, no_right, objection, person, reaches, same_draft
from hz_team.model.proposal import APPROVED, AWAITING, UNKNOWN, Answer, Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hz_team.model.job import Policy
    from hz_team.model.proposal import Proposal


def decide(
    proposal: Proposal,
    answers: Sequence[Answer],
    policies: Sequence[Policy],
    now: int,
    *,
    rights: Callable[[str], str] | None = None,
    teams: Mapping[str, Sequence[str]] | None = None,
    undoable: bool = True,
) -> Decision:
    """Return what follows for one open proposal.

    `rights` gives a policy owner's role, "" if it cannot be found out; None: not asked (locally). The answers of the
    result are the ones that led to it, newest last, each bound to the full digest. After `withdrawn` they are the
    yeses that are left and then the withdrawals; who gave the last belongs into `Proposal.withdrawn`, so that no policy
    says yes in the person's stead.
    """
    terms = Terms(now, teams or {}, undoable)
    taken, refused = _sort(proposal, answers, terms)
    decision = _first_word(proposal, taken) or _doubt(proposal, taken)
    if not decision:
        standing, complaint = _policy(proposal, policies, rights, terms)
        decision = _weigh(proposal, taken, standing, terms, complaint)
    return decision._replace(refused=(*refused, *_overruled(decision, taken)))


def permitted(answer: Answer, proposal: Proposal, teams: Mapping[str, Sequence[str]] | None = None) -> bool:
    """Whether the person may decide on this proposal at all."""
    return not no_right(answer, proposal, teams or {})


def approvals(proposal: Proposal) -> tuple[Answer, ...]:
    """Return the yeses that count for the proposal as it is now, oldest first."""
    return tuple(answer for answer in proposal.answers if answer.verb in YES and same_draft(answer, proposal))


def _sort(
    proposal: Proposal, answers: Sequence[Answer], terms: Terms
) -> tuple[list[Answer], tuple[tuple[Answer, str], ...]]:
    """Return the answers that may count, in the order they are taken, and the refused ones with the reason."""
    taken: list[Answer] = []
    refused: list[tuple[Answer, str]] = []
    heard = dict.fromkeys(answer for answer in answers if answer.proposal == proposal.id)  # each once, if read twice
    for answer in sorted(heard, key=_order):
        reason = objection(answer, proposal, terms)
        if reason:
            refused.append((answer, reason))
        else:
            taken.append(answer._replace(digest=proposal.digest))
    return taken, tuple(refused)


def _order(answer: Answer) -> tuple[int, int, tuple[str, ...]]:
    rank = VERBS.index(answer.verb) if answer.verb in VERBS else len(VERBS)
    return answer.at, rank, (answer.by, answer.role, answer.via, answer.digest, answer.ref, answer.note, answer.body)


def _first_word(proposal: Proposal, taken: Sequence[Answer]) -> Decision | None:
    """Return what a no, an edit or a wish for another draft leads to: the newest of the strongest kind decides."""
    for verb, outcome in (("reject", "rejected"), ("edit", "edited"), ("redraft", "redraft")):
        said = tuple(answer for answer in taken if answer.verb == verb)
        if said:
            reason = f"edited by {said[-1].by}" if verb == "edit" else said[-1].note
            return Decision(proposal.id, outcome, said if verb == "reject" else said[-1:], reason=reason)
    return None


def _doubt(proposal: Proposal, taken: Sequence[Answer]) -> Decision | None:
    """Return what is known of a write of unknown fate; "it arrived" goes first, because it sends nothing."""
    if proposal.state != UNKNOWN:
        return None
    for verb in ("arrived", "again"):
        said = tuple(answer for answer in taken if answer.verb == verb)
        if said:
            return Decision(proposal.id, verb, said)
    return Decision(proposal.id, "wait", proposal.answers, reason="nobody knows yet whether it arrived")


def _weigh(
    proposal: Proposal,
    taken: Sequence[Answer],
    standing: Answer | None,
    terms: Terms,
    complaint: str,
) -> Decision:
    """Return what the yeses come to, after this tick's were added and taken back."""
    before = approvals(proposal)
    yes, back = _count(before, taken)
    need = max(1, int(proposal.by.get("need", 1)))
    enough = len(yes) >= need or any(answer.via == "policy" for answer in yes)
    if proposal.state == APPROVED:
        return _approved_before(proposal, yes, back, enough=enough)
    if enough:
        return Decision(proposal.id, "approved", yes, reason=f"{len(yes)} of {need} yes")
    if standing and not back and not proposal.withdrawn:
        return Decision(proposal.id, "approved", (*yes, standing), reason=standing.note)
    if terms.now >= proposal.expires_at:
        return Decision(proposal.id, "expired", reason="nobody decided in time")
    if back:
        return Decision(proposal.id, "withdrawn", (*yes, *back), reason=_taken_back(back))
    if len(yes) > len(before):
        return Decision(proposal.id, "answered", yes, reason=f"{len(yes)} of {need} yes")
    return Decision(proposal.id, "wait", yes, reason=complaint)


def _approved_before(
    proposal: Proposal,
    yes: tuple[Answer, ...],
    back: tuple[Answer, ...],
    *,
    enough: bool,
) -> Decision:
    """Return what a proposal that waits to go out comes to: more yeses change nothing, fewer may."""
    if not enough:
        return Decision(proposal.id, "withdrawn", (*yes, *back), reason=_taken_back(back))
    if back:
        return Decision(proposal.id, "answered", yes, reason=f"{_taken_back(back)}; the others are enough")
    return Decision(proposal.id, "wait", proposal.answers)


def _taken_back(back: Sequence[Answer]) -> str:
    return f"{back[-1].by} took the yes back" if back else "the draft is another than the one that was approved"


def _count(before: Iterable[Answer], taken: Iterable[Answer]) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
    """Return each person's yes, the newest last, and the withdrawals that took one back for good."""
    yes = {person(answer.by): answer for answer in before}
    back: dict[str, Answer] = {}
    for answer in taken:
        who = person(answer.by)
        if answer.verb in YES and who not in yes:
            yes[who] = answer
            back.pop(who, None)
        elif answer.verb == "withdraw" and yes:
            yes = {} if who not in yes else {other: said for other, said in yes.items() if other != who}
            back[who] = answer
    return tuple(yes.values()), tuple(back.values())


def _policy(
    proposal: Proposal,
    policies: Sequence[Policy],
    rights: Callable[[str], str] | None,
    terms: Terms,
) -> tuple[Answer | None, str]:
    """Return a standing yes for the proposal, and what is to be said about entries that stopped working."""
    complaint = ""
    if not terms.undoable or proposal.state != AWAITING or terms.now >= proposal.expires_at:
        return None, complaint
    for policy in policies:
        if not _covers(policy, proposal, terms.now):
            continue
        role = rights(policy.owner) if rights else "local"
        if role == "local" or reaches(role, "write"):
            note = f"policy {policy.id} of {policy.owner}"
            by = f"policy:{policy.id}"
            return Answer(proposal.id, "approve", by, role, "policy", terms.now, digest=proposal.digest, note=note), ""
        complaint = f"policy {policy.id} does not count: its owner {policy.owner} may not write here"
    return None, complaint


def _covers(policy: Policy, proposal: Proposal, now: int) -> bool:
    same = policy.job == proposal.job and policy.kind == proposal.kind
    return same and policy.target in ("*", proposal.target) and now < policy.until


def _overruled(decision: Decision, taken: Iterable[Answer]) -> tuple[tuple[Answer, str], ...]:
    """Return answers that were fine and came to nothing, because another one goes first: none is lost in silence."""
    if decision.outcome not in ("rejected", "edited", "redraft", "arrived"):
        return ()
    verbs = {"rejected": "reject", "edited": "edit", "redraft": "redraft", "arrived": "arrived"}
    first = decision.answers[-1]
    reasons = {
        "rejected": f"{first.by} said no, and that goes first",
        "edited": f"changed since: {first.by} edited the draft; read it again, then answer",
        "redraft": f"{first.by} asked for another draft",
        "arrived": f"{first.by} saw that it arrived",
    }
    return tuple(
        (answer, reasons[decision.outcome])
        for answer in taken
        if answer.verb != verbs[decision.outcome] and answer.verb != "withdraw"
    )
