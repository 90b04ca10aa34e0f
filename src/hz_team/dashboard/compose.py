"""From the state to what its pages show: pure, so that the same state and configuration draw the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import moment, schedule
from hz_team.model.draft import Draft, readable
from hz_team.model.proposal import APPROVED, UNKNOWN
from hz_team.model.screen import Dashboard, Entry, Helper, Parked, ProposalPage, Unsure, Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hz_team.model.job import Index, Job
    from hz_team.model.proposal import Proposal
    from hz_team.model.state import View


TITLE = "🧝 Helpers: decisions and duties"
WORKFLOW = "actions/workflows/hz-team.yml"
"""Of the file that a team pastes (SCREENS 5)."""


class Effect(NamedTuple):
    """What a yes to a draft does, as its publisher tells it."""

    words: str
    """A few words, plain text."""
    becomes: str
    """The rest of a sentence, Markdown."""
    undoable: bool


class Context(NamedTuple):
    """What pages need besides state and configuration; all of it depends on those alone."""

    drafts: Mapping[str, Draft]
    """By digest."""
    effects: Mapping[str, Effect]
    """By digest."""
    link: Callable[[str], str]
    """Gives a page's address."""
    web: str = ""
    """The repository's address for people; "": pages are files."""


def dashboard(view: View, config: Index, context: Context) -> Dashboard:
    """Return the dashboard of a state."""
    zone = config.settings.timezone
    proposals = sorted(view.proposals.values(), key=lambda proposal: (proposal.created_at, proposal.id))
    return Dashboard(
        repository=view.repository,
        title="" if context.web else TITLE,
        waiting=tuple(_waiting(item, zone, context) for item in proposals if not _stuck(item)),
        unsure=tuple(_unsure(item, context) for item in proposals if item.state == UNKNOWN),
        parked=(*_parked(view, config), *_refused(proposals, zone)),
        helpers=tuple(_helper(view, config, job) for job in config.jobs if job.scope == "team"),
        findings=config.findings,
        next=_coming(view, config),
        paused=_paused(view, config),
        paused_by_file=config.settings.paused,
        entries=tuple(Entry(f"{item['text']}, {moment.told(item['at'], zone)}") for item in view.decisions),
        costs=_costs(view),
        count=view.count,
        head=view.head,
        era=view.era,
        badge=f"{context.web}/{WORKFLOW}/badge.svg?event=schedule" if context.web else "",
        workflow=f"{context.web}/{WORKFLOW}" if context.web else "",
        verify="hz-team receipts verify",
        pages=tuple(context.link(f"dashboard-{number}") for number in range(2, 2 + _most_pages(view, config))),
    )


def _most_pages(view: View, config: Index) -> int:
    """Return how many further pages there can be: each takes a row at least, a job has two and a proposal one."""
    return len(view.proposals) + 2 * len(config.jobs)


def proposal(view: View, config: Index, item: Proposal, context: Context) -> ProposalPage:
    """Return the page of one open proposal."""
    zone = config.settings.timezone
    job = next((job for job in config.jobs if job.id == item.job), None)
    return ProposalPage(
        id=item.id,
        digest=item.digest,
        draft=context.drafts[item.digest],
        repository=view.repository,
        effect=context.effects[item.digest].words,
        promise=context.effects[item.digest].becomes,
        job=job.name if job else item.job,
        file=job.file if job else "",
        file_link=f"{context.web}/blob/HEAD/{job.file}" if job and context.web else "",
        local=not context.web,
        reason=_reason(item, zone),
        drafted=moment.when(item.created_at, zone),
        sources=dict(item.sources),
        cost=f"{item.ms / 1000:.1f} s",
        receipt=item.receipts.get("awaiting_approval", ""),
        who=who(item.by["by"]),
        need=item.by["need"],
        yes=_yes(item),
        until=moment.date(item.expires_at, zone),
        ticked=item.state == APPROVED and not _stuck(item),
        always=False,
        notes=_notes(item),
        replaces=item.replaces,
        replaces_link=context.link(item.replaces) if item.replaces in view.proposals else "",
        unsure=str(item.attempted.get("error", "")) if item.state == UNKNOWN else "",
    )


def draft_of(payload: Mapping[str, Any]) -> Draft:
    """Read a draft document back. Raises RemoteError for one of a newer format."""
    known = readable(payload, f"a draft ({str(payload.get('title'))[:60]})")
    return Draft(
        **{
            **{name: value for name, value in known.items() if name != "v"},
            "labels": tuple(payload["labels"]),
            "parts": tuple(payload["parts"]),
        },
    )


def who(by: tuple[str, ...] | list[str]) -> str:
    """Return who may decide, in plain words: "anyone with write", "octocat or hubot"."""
    words = {"write": "anyone with write", "role:write": "anyone with write"}
    named = [words.get(entry, f"anyone with {entry[5:]}" if entry.startswith("role:") else entry) for entry in by]
    return " or ".join(named)


def _stuck(item: Proposal) -> bool:
    return bool(item.attempted.get("error"))


def _waiting(item: Proposal, zone: str, context: Context) -> Waiting:
    effect = context.effects[item.digest]
    return Waiting(
        id=item.id,
        digest=item.digest,
        title=item.title,
        at=item.created_at,
        effect=effect.words,
        link=context.link(item.id),
        words=item.words,
        who=who(item.by["by"]),
        until=moment.date(item.expires_at, zone),
        yes=_yes(item),
        box=not item.by["from_page"] and effect.undoable,
        ticked=item.state == APPROVED,
        notes=_notes(item),
    )


def _yes(item: Proposal) -> str:
    by = ", ".join(answer.by for answer in item.answers)
    if item.state == APPROVED:
        return f"approved by {by}, goes out with the next tick"
    return f"{len(item.answers)} of {item.by['need']} yes ({by})" if item.answers else ""


def _notes(item: Proposal) -> tuple[str, ...]:
    refused = item.told.get("refused", {})
    changed = (f"changed: {item.changed}",) if item.changed else ()
    return (*changed, *(f"not taken: {text}" for text in refused.values()))


def _unsure(item: Proposal, context: Context) -> Unsure:
    return Unsure(
        id=item.id,
        digest=item.digest,
        title=item.title,
        effect=context.effects[item.digest].words,
        error=str(item.attempted.get("error", "")),
        link=context.link(item.id),
    )


def _parked(view: View, config: Index) -> tuple[Parked, ...]:
    zone = config.settings.timezone
    found = []
    for job in config.jobs:
        position = view.positions.get(job.id)
        if position and position.parked and position.parked["contract"] == job.contract:
            parked = position.parked
            found.append(
                Parked(
                    job=job.id,
                    name=job.name,
                    number=parked["n"],
                    failures=parked["failures"],
                    at=moment.told(parked["at"], zone),
                    error=parked["error"],
                    tail=parked["tail"],
                    told=f"owner {', '.join(job.owner)}" if job.owner else "",
                ),
            )
    return tuple(found)


def _refused(proposals: list[Proposal], zone: str) -> tuple[Parked, ...]:
    """Return approved proposals that the target refused: they wait for a person who says "try again"."""
    return tuple(
        Parked(
            job=item.id,
            name=f"{item.id}: {item.title}",
            number=1,
            failures=1,
            at=moment.told(item.attempted["at"], zone),
            error=str(item.attempted["error"]),
        )
        for item in proposals
        if _stuck(item) and item.state == APPROVED
    )


def _helper(view: View, config: Index, job: Job) -> Helper:
    position = view.positions.get(job.id)
    zone = job.triggers[0].zone if job.triggers else config.settings.timezone
    last = "never"
    stuck = [item for item in view.proposals.values() if item.job == job.id and _stuck(item)]
    if stuck:
        last = f"{moment.short(stuck[-1].attempted['at'], zone)} not published"
    elif position and position.outcome:
        last = f"{moment.short(position.outcome['at'], zone)} {position.outcome['text']}"
    switched_off = not job.enabled or job.id in config.settings.disabled
    return Helper(
        job.id, job.name, last, _next(view, config, job), runnable=not switched_off and not _is_parked(view, job)
    )


def _is_parked(view: View, job: Job) -> bool:
    position = view.positions.get(job.id)
    return bool(position and position.parked and position.parked["contract"] == job.contract)


def _next(view: View, config: Index, job: Job) -> str:
    if not job.enabled or job.id in config.settings.disabled:
        return "disabled"
    if _is_parked(view, job):
        return "after a retry"
    slot = _slot(view, job)
    if slot:
        return moment.when(slot[0], slot[1])
    position = view.positions.get(job.id)
    if position and position.retry_at:
        return moment.when(position.retry_at, config.settings.timezone)
    return "on change" if any(trigger.kind == "watch" for trigger in job.triggers) else "when asked"


def _slot(view: View, job: Job) -> tuple[int, str] | None:
    """Return the first slot after the recorded position, and the zone it is written in."""
    position = view.positions.get(job.id)
    coming = []
    for trigger in job.triggers:
        served = position.triggers.get(trigger.identity) if position else None
        if not trigger.identity or served is None:
            continue
        after = served.last if served.last is not None else served.first_seen - 1
        slot = schedule.next_slot(trigger, after)
        if slot is not None:
            coming.append((slot, trigger.zone))
    return min(coming) if coming else None


def _coming(view: View, config: Index) -> str:
    coming = [(*slot, job.name) for job in config.jobs if (slot := _slot(view, job)) and job.enabled]
    if not coming:
        return ""
    at, zone, name = min(coming)
    return f"{name}, {moment.when(at, zone)}"


def _paused(view: View, config: Index) -> str:
    if view.paused:
        when = moment.when(view.paused["at"], config.settings.timezone)
        return f"Paused by {view.paused['by']}, {when}"
    return "Paused in .hz/control.yaml" if config.settings.paused else ""


def _costs(view: View) -> tuple[str, ...]:
    spent = sum(sum(position.spent.values()) for position in view.positions.values())
    return (f"{spent / 1_000_000:.2f} USD of model use in the last 40 days",) if spent else ()


def _reason(item: Proposal, zone: str) -> str:
    if item.slot is not None:
        return f"slot {moment.when(item.slot, zone)}"
    return f"asked for by {item.author}" if item.author else "because something it watches changed"
