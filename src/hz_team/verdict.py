"""What people's answers come to: edits bound first, then the rules of `hz_team.decision`. Pure.

An edit that counts takes the draft's place before anything is decided, so that who edits and ticks yes on one page in
one go has approved what they wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import decision, duty, registry
from hz_team.model.order import Redraft
from hz_team.model.proposal import APPROVED, AWAITING, UNKNOWN, Answer, Decision, Proposal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.job import Index
    from hz_team.model.state import View


class Question(NamedTuple):
    """What is decided on."""

    config: Index
    view: View
    answers: tuple[Answer, ...]
    retries: tuple[tuple[str, str], ...]
    """Refused proposals to send once more, and who asked."""
    payloads: Mapping[str, Mapping[str, Any]]
    """Draft documents, by digest: of all open proposals, where somebody edited or wants another draft."""
    now: int


class Verdict(NamedTuple):
    """What follows for one open proposal."""

    before: Proposal
    proposal: Proposal
    """As its last edit left it."""
    decision: Decision
    said: tuple[Answer, ...] = ()
    """Everything that was said about it."""
    edit: Answer | None = None
    """The edit that counts."""
    payload: Mapping[str, Any] | None = None
    """The draft document as that edit made it."""


def weigh(question: Question) -> dict[str, Verdict]:
    """Return what follows for every open proposal, by id."""
    return {name: _verdict(question, proposal) for name, proposal in question.view.proposals.items()}


def decide(question: Question, proposal: Proposal, said: tuple[Answer, ...] = ()) -> Decision:
    """Return what the rules say; what is approved lapses only when its job's file is gone."""
    settings = question.config.settings
    made = decision.decide(
        proposal,
        said,
        settings.policies,
        question.now,
        rights=None,
        teams=settings.teams,
        undoable=registry.undoable(proposal.kind),
    )
    lapsed = proposal.state == APPROVED and question.now >= proposal.expires_at
    if made.outcome == "wait" and lapsed and duty.is_gone(proposal.job, question.config):
        return made._replace(outcome="expired", answers=(), reason="its job is gone")
    return made


def is_ready(question: Question, proposal: Proposal) -> bool:
    """Whether an approved proposal is to be tried now: nothing went wrong before, or a person asked again.

    While an effect of an earlier process may still arrive, it is left alone.
    """
    if proposal.state != APPROVED or duty.is_held(proposal.job, question.config, question.view):
        return False
    if question.now < proposal.quiet_until:
        return False
    return not proposal.attempted.get("error") or is_retried(question, proposal)


def is_retried(question: Question, proposal: Proposal) -> bool:
    """Whether somebody asked to send a refused proposal once more."""
    stuck = proposal.state == APPROVED and bool(proposal.attempted.get("error"))
    return stuck and any(subject == proposal.id for subject, _ in question.retries)


def unsettled(question: Question, verdicts: Mapping[str, Verdict]) -> tuple[str, ...]:
    """Return the jobs whose proposals need a receipt, a publication or both in this tick."""
    return tuple(
        sorted(
            {
                verdict.before.job
                for verdict in verdicts.values()
                if verdict.decision.outcome != "wait"
                or verdict.decision.refused
                or verdict.edit
                or is_ready(question, verdict.proposal)
            }
        )
    )


def redrafts(question: Question, verdicts: Mapping[str, Verdict]) -> dict[str, Redraft]:
    """Return the drafts that people want written again, by job; one a job and tick, the oldest proposal first."""
    wanted: dict[str, Redraft] = {}
    for verdict in sorted(verdicts.values(), key=lambda one: (one.before.created_at, one.before.id)):
        asked = wish(verdict)
        if asked:
            payload = question.payloads[asked["digest"]]
            again = Redraft(verdict.before.id, asked["note"], asked["digest"], payload["title"], payload["body"])
            wanted.setdefault(verdict.before.job, again._replace(by=asked["by"]))
    return wanted


def wish(verdict: Verdict) -> Mapping[str, Any]:
    """Return what another draft was asked for, now or before, as Proposal.redraft keeps it; {} if it was not."""
    if verdict.decision.outcome == "redraft":
        answer = verdict.decision.answers[-1]
        return {"by": answer.by, "note": answer.note, "digest": verdict.before.digest}
    open_still = verdict.decision.outcome in ("wait", "answered", "withdrawn") and verdict.proposal.state == AWAITING
    return verdict.proposal.redraft if open_still else {}


def counting(verdicts: Mapping[str, Verdict]) -> frozenset[str]:
    """Return the proposals whose drafts count though no base says so yet: on their way out, or rejected just now."""
    return frozenset(name for name, verdict in verdicts.items() if _counts(verdict))


def _counts(verdict: Verdict) -> bool:
    outcome = verdict.decision.outcome
    if outcome in ("wait", "answered"):
        return verdict.proposal.state in (APPROVED, UNKNOWN)
    return outcome in ("approved", "rejected", "arrived", "again")


def _verdict(question: Question, proposal: Proposal) -> Verdict:
    said = tuple(answer for answer in question.answers if answer.proposal == proposal.id)
    edits = [answer for answer in said if answer.verb == "edit" and _replaces(answer, proposal, question)]
    if not edits:
        return Verdict(proposal, proposal, decide(question, proposal, said), said)
    from hz_team.fingerprint import digest

    edit = edits[-1]
    payload = _edited(question.payloads[proposal.digest], edit)
    edited = proposal._replace(
        digest=digest(payload),
        answers=(),
        author=edit.by,
        changed=f"edited by {edit.by}",
        redraft={},
        words=len(edit.body.split()),
    )
    if edited.digest == proposal.digest:
        rest = tuple(answer for answer in said if answer not in edits)
        return Verdict(proposal, proposal, decide(question, proposal, rest), said)
    bound = tuple(_rebound(answer, edit, proposal.digest, edited.digest) for answer in said if answer not in edits)
    return Verdict(proposal, edited, decide(question, edited, bound), said, edit, payload)


def _edited(payload: Mapping[str, Any], edit: Answer) -> dict[str, Any]:
    """Return the draft document with a person's text; a file's end of line is no part of what a page shows."""
    from hz_team.markdown import sealed

    end = "\n" if payload["body"].endswith("\n") else ""
    return {**payload, "body": f"{sealed(edit.body)}{end}"}


def _replaces(edit: Answer, proposal: Proposal, question: Question) -> bool:
    """Whether an edit takes the draft's place; one that does not is refused by the rules like any other answer."""
    return (
        proposal.state == AWAITING
        and question.now < proposal.expires_at
        and decision.permitted(edit, proposal, question.config.settings.teams)
        and bool(edit.digest)
        and proposal.digest.startswith(edit.digest)
    )


def _rebound(answer: Answer, edit: Answer, old: str, new: str) -> Answer:
    same_page = answer.by == edit.by and answer.at == edit.at and answer.via == edit.via
    if answer.verb == "approve" and same_page and answer.digest and old.startswith(answer.digest):
        return answer._replace(digest=new)
    return answer
