"""Why an answer cannot count, in plain words: state, right, draft, time and place, asked in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.model.proposal import APPROVED, AWAITING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.model.proposal import Answer, Proposal

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
"""A forge's permissions, ascending."""
YES = ("approve", "always")
VERBS = ("approve", "always", "withdraw", "redraft", "edit", "arrived", "again", "reject")
"""In the order they are taken when one person said several things in the same second: the careful one comes last."""
ON_PAGE = ("page", "comment", "command", "file-page")
"""Where the draft is in view when a person answers; the dashboard's `box` and `file` are not."""
DIGITS = 12
"""A digest may be shortened to so many hex digits."""
LOCAL = "local:"
FOR_ROLE = "role:"


class Terms(NamedTuple):
    """What a decision depends on besides the proposal and the answers."""

    now: int
    teams: Mapping[str, Sequence[str]] = {}
    undoable: bool = True
    """Whether the kind can be undone."""


def objection(answer: Answer, proposal: Proposal, terms: Terms) -> str:
    """Return why an answer cannot count, "" if it can."""
    return (
        _misplaced(answer, proposal)
        or no_right(answer, proposal, terms.teams)
        or _not_this_draft(answer, proposal)
        or _too_late(answer, proposal)
        or (_not_like_this(answer, proposal, terms) if answer.verb in YES else "")
    )


def _misplaced(answer: Answer, proposal: Proposal) -> str:
    if answer.verb not in VERBS:
        return f"{answer.verb} is not an answer; say approve, reject or redraft"
    if answer.verb == "reject":
        return ""
    if (proposal.state == UNKNOWN) != (answer.verb in ("arrived", "again")):
        if proposal.state == UNKNOWN:
            return "it may be out already; say whether it arrived or is to be sent again"
        return "nothing was sent whose arrival is in doubt"
    if proposal.state == APPROVED and answer.verb in ("edit", "redraft"):
        return "it is approved already; take the yes back first"
    return ""


def no_right(answer: Answer, proposal: Proposal, teams: Mapping[str, Sequence[str]]) -> str:
    """Return why the person may not decide on this proposal, "" if they may."""
    wanted = tuple(proposal.by.get("by", ("write",)))
    if any(_fits(answer, entry, teams) for entry in wanted):
        return ""
    who = answer.by
    if who.startswith(LOCAL):
        return f"a changed file does not tell who changed it, and only {_either(wanted)} may decide; use --as LOGIN"
    if answer.role not in (*ROLES, "local"):
        return f"what {who} may do here could not be looked up"
    if wanted in {("write",), ("role:write",)}:
        return f"{who} may {answer.role} but not write here" if answer.role != "none" else f"{who} has no access here"
    return f"{who} is not among those who may decide: {_either(wanted)}"


def person(by: str) -> str:
    """Return who stands behind a name: logins have no case, and changed files no author, so they are one person."""
    return LOCAL if by.startswith(LOCAL) else by.lower()


def _fits(answer: Answer, entry: str, teams: Mapping[str, Sequence[str]]) -> bool:
    local = answer.by.startswith(LOCAL)
    if entry == "write" or entry.startswith(FOR_ROLE):
        return local or answer.role == "local" or reaches(answer.role, entry.removeprefix(FOR_ROLE))
    if local or answer.role in {"", "none"}:
        return False
    if "/" in entry:
        return any(person(member) == person(answer.by) for member in teams.get(entry, ()))
    return person(entry) == person(answer.by)


def reaches(role: str, wanted: str) -> bool:
    """Whether a role includes another."""
    return role in ROLES and wanted in ROLES and ROLES.index(role) >= ROLES.index(wanted)


def _either(entries: Sequence[str]) -> str:
    words = [_words(entry) for entry in entries]
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def _words(entry: str) -> str:
    role = "write" if entry == "write" else entry.removeprefix(FOR_ROLE) if entry.startswith(FOR_ROLE) else ""
    return f"anyone with {role}" if role else entry


def _not_this_draft(answer: Answer, proposal: Proposal) -> str:
    if not answer.digest and answer.via in ("command", "comment"):
        return ""
    if not answer.digest:
        return "it does not say which draft it is for; answer on the page as it is now"
    if not same_draft(answer, proposal):
        return f"changed since: the draft is now {proposal.digest[:DIGITS]}; read it again, then answer"
    return ""


def same_draft(answer: Answer, proposal: Proposal) -> bool:
    """Whether an answer was given for the proposal's present digest."""
    return len(answer.digest) >= DIGITS and proposal.digest.startswith(answer.digest)


def _too_late(answer: Answer, proposal: Proposal) -> str:
    lapsed = proposal.state == AWAITING and answer.at >= proposal.expires_at
    return "it had lapsed by then; run the job again for a new draft" if lapsed else ""


def _not_like_this(answer: Answer, proposal: Proposal, terms: Terms) -> str:
    if proposal.by.get("not_author") and proposal.author and person(answer.by) == person(proposal.author):
        return f"{answer.by} asked for or changed this draft, and somebody else must say yes to it"
    if answer.verb == "always" and not terms.undoable:
        return f"a {proposal.kind} cannot be undone, so every one needs its own yes"
    if answer.via in ON_PAGE:
        return ""
    if not terms.undoable:
        return f"a {proposal.kind} cannot be undone; say yes on the page of {proposal.id}, where the draft is shown"
    if proposal.by.get("from_page"):
        return f"this job asks for a yes on the page of {proposal.id}, where the draft is shown"
    return ""
