"""The open proposals that need something in this tick: asked each time, so it costs next to nothing if none does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.model.proposal import AWAITING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hz_team.model.observation import Heard
    from hz_team.model.order import Redraft
    from hz_team.model.proposal import Proposal
    from hz_team.model.state import View
    from hz_team.ports import World
    from hz_team.verdict import Question, Verdict


class Docket(NamedTuple):
    """What is to be decided, and what planning has to know of it."""

    question: Question | None = None
    """None: nobody said anything, nothing is approved, and nothing lapses."""
    verdicts: Mapping[str, Verdict] = {}
    """By proposal."""
    redrafts: Mapping[str, Redraft] = {}
    """Drafts that people want written again, by job."""
    settle: tuple[str, ...] = ()
    """Jobs whose proposals need a receipt or a publication."""
    counting: Collection[str] = ()
    """Proposals whose drafts count already, for what is new to the next one."""


def call(world: World, view: View, heard: Heard, now: int) -> Docket:
    """Weigh what was said, what policies say and what time does. `view`: with the pause as it was heard."""
    if _is_calm(world, view, heard, now):
        return Docket(counting=[name for name, item in view.proposals.items() if item.state != AWAITING])
    from hz_team import pages, verdict

    payloads = heard.payloads
    wishes = any(answer.verb in ("edit", "redraft") for answer in heard.answers)
    if not payloads and (wishes or any(item.redraft for item in view.proposals.values())):
        payloads = {digest: draft.payload() for digest, draft in pages.drafts_of(world, view).items()}
    question = verdict.Question(world.config, view, heard.answers, heard.retries, payloads, now)
    verdicts = verdict.weigh(question)
    return Docket(
        question,
        verdicts,
        verdict.redrafts(question, verdicts),
        verdict.unsettled(question, verdicts),
        verdict.counting(verdicts),
    )


def _is_calm(world: World, view: View, heard: Heard, now: int) -> bool:
    """Whether no open proposal can need anything; an idle tick asks no more than this."""
    if not view.proposals:
        return True
    if heard.answers or heard.retries or world.config.settings.policies:
        return False
    return all(_is_settled(item, now) for item in view.proposals.values())


def _is_settled(item: Proposal, now: int) -> bool:
    """Whether time alone asks nothing: a person has to say what became of it, decide on it, or it is not yet tried."""
    if item.state == AWAITING:
        return now < item.expires_at and not item.redraft
    return item.state == UNKNOWN or now < item.quiet_until
