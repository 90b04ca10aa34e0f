"""Tells a tick's story in the words of its phases: plain, short, failures first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from hz_team import moment
from hz_team.idle import is_idle, waits, words
from hz_team.model.proposal import APPROVED
from hz_team.model.screen import Failure, PhaseLine, Report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hz_team.model.draft import Outcome
    from hz_team.model.order import Order, Skip
    from hz_team.model.proposal import Answer
    from hz_team.model.receipt import Receipt
    from hz_team.model.ruling import Ruling
    from hz_team.phases.record import Recorded
    from hz_team.ports import World
    from hz_team.tick import Story


class Reader(NamedTuple):
    """Who reads the account: their own name in it is "you", and paths start where they stand."""

    me: str = ""
    """The actor of the tick when it is this machine's user, else ""."""
    home: str = ""
    """The folder of the local pages, as the reader would type it."""

    def name(self, who: str) -> str:
        """Return a person's name, "you" for the reader."""
        return "you" if who and who == self.me else who

    def path(self, link: str) -> str:
        """Return where the reader finds a page or an outcome: an address as it is, a path from where they stand."""
        return link if "://" in link or not link else os.path.join(self.home, link)


def tell(world: World, story: Story, *, title: str = "", dry_run: bool = False, home: str = "") -> Report:
    """Return what the tick did, for the person who started it; one line if it did nothing."""
    at = moment.moment(story.now, world.config.settings.timezone)
    waiting = len(story.after.proposals)
    if story.halted or (is_idle(story) and not (dry_run and (story.plan.orders or story.plan.settle or _held(story)))):
        return Report(at, title, idle=words(story, world.config), waiting=waiting)
    reader = Reader(world.actor if world.actor.startswith("local:") else "", home)
    done = [*_wake(story, reader), *_observe(story), *_plan(world, story, reader)]
    return Report(
        at=at,
        title=title,
        lines=tuple(done if dry_run else (*done, *_worked(world, story, reader))),
        failures=tuple(_failures(story)),
        drafted=sum(len(outcome.drafts) for outcome in story.outcomes),
        published=sum(not ruling.open for ruling in story.published.rulings) if story.published else 0,
        waiting=waiting,
        link=reader.path(world.forge.link("dashboard")),
    )


SAID = {
    "approve": "ticked {}",
    "withdraw": "took the yes to {} back",
    "reject": "said no to {}",
    "redraft": "asked for another {}",
    "edit": "edited {}",
    "always": "said yes for good to {}",
    "arrived": "saw that {} arrived",
    "again": "asked to send {} again",
}
"""What an answer is called on the wake line."""
ASKED = {"dispatch": "poked"}
"""What asking for a run is called there, by the way it came."""


def _wake(story: Story, reader: Reader) -> list[PhaseLine]:
    heard = story.seen.heard
    said = [f"{reader.name(answer.by)} {_deed(answer)}" for answer in heard.answers]
    retried = [f"{reader.name(by)} asked to try {subject} again" for subject, by in heard.retries]
    paused = []
    if heard.pause:
        on, by = heard.pause
        paused = [f"{reader.name(by)} {'paused everything' if on else 'ended the pause'}"]
    poked = [f"{reader.name(poke.by)} {ASKED.get(poke.via, 'asked for')} {poke.job}" for poke in story.woken.pokes]
    texts = list(dict.fromkeys([*said, *retried, *paused, *poked])) or [story.woken.text]
    return [PhaseLine("wake", text=text) for text in texts]


def _deed(answer: Answer) -> str:
    if answer.verb == "approve" and answer.via == "command":
        return f"said yes to {answer.proposal}"
    return SAID.get(answer.verb, f"said {answer.verb} to {{}}").format(answer.proposal)


def _observe(story: Story) -> list[PhaseLine]:
    seen = story.seen
    lines = [
        PhaseLine("observe", look.watch, f"{look.added} new item{'s' * (look.added != 1)}")
        for look in seen.looks.values()
        if look.polled and look.document is not None
    ]
    if seen.unchanged:
        lines.append(PhaseLine("observe", text=f"{seen.unchanged} source{'s' * (seen.unchanged != 1)} unchanged"))
    lines += [PhaseLine("observe", text=note) for note in (*seen.notes, *seen.heard.refused)]
    return lines


def _plan(world: World, story: Story, reader: Reader) -> list[PhaseLine]:
    lines = [PhaseLine("plan", order.job, _yours(order.why, order.by, reader)) for order in story.plan.orders]
    held = [PhaseLine("plan", skip.job, f"not run: {skip.text}") for skip in _held(story)]
    zone, approved = world.config.settings.timezone, [o for o in story.before.proposals.values() if o.state == APPROVED]
    late = [PhaseLine("plan", text=text) for one in approved if (text := waits(one, zone, story.now))]
    return [*lines, *held, *late] or [PhaseLine("plan", text="nothing due")]


def _held(story: Story) -> list[Skip]:
    return [skip for skip in story.plan.skips if skip.text]


def _yours(text: str, who: str, reader: Reader) -> str:
    """Return one of our sentences that ends with a person's name."""
    return f"{text.removesuffix(who)}{reader.name(who)}" if who and text.endswith(who) else text


def _worked(world: World, story: Story, reader: Reader) -> list[PhaseLine]:
    return [
        *_claim(story),
        *_draft(story),
        *_approve(story, reader),
        *_record(story.recorded, leaving=story.confirmed is not None),
        *_publish(world, story, reader),
        *_show(world, story, reader),
    ]


def _claim(story: Story) -> list[PhaseLine]:
    drafting = {order.job for order in story.plan.orders}
    taken = sorted(drafting & set(story.leases))
    lost = sorted((drafting | set(story.plan.settle)) - set(story.leases))
    lines = [PhaseLine("claim", text=", ".join(taken))] if taken else []
    return lines + [PhaseLine("claim", job, "another tick works on it") for job in lost]


def _draft(story: Story) -> list[PhaseLine]:
    born = {ruling.proposal.id: ruling.proposal for ruling in story.rulings if ruling.payload is not None}
    lines = []
    for order, outcome in zip(story.orders, story.outcomes, strict=True):
        lines += list(
            _drafted(order, outcome, [p.id for p in born.values() if (p.job, p.slot) == (order.job, order.slot)])
        )
    return lines


def _drafted(order: Order, outcome: Outcome, names: list[str]) -> Iterable[PhaseLine]:
    took = f"{outcome.cost.ms / 1000:.1f} s"
    if outcome.status != "rendered":
        yield PhaseLine("draft", order.job, outcome.status, took, failed=True)
    elif not outcome.drafts:
        yield PhaseLine("draft", order.job, "nothing to say", took)
    for number, draft in enumerate(outcome.drafts):
        name = names[number] if number < len(names) else order.job
        yield PhaseLine("draft", name, f'"{draft.title}"', took if number == 0 else "")
    for warning in outcome.warnings:
        yield PhaseLine("draft", order.job, f"note: {warning}")


DECIDED = {
    "answered": "a yes from {by}, more are needed",
    "approved": "by {by}, bound to {digest}",
    "rejected": "no, from {by}",
    "withdrawn": "the yes was taken back by {by}",
    "expired": "nobody answered in time",
    "superseded": "gave way to a newer draft",
    "published": "arrived, seen by {by}",
}
"""What was decided about a proposal, by disposition."""
ANSWERED = {
    "redraft": "another draft is wanted by {by}",
    "arrived": "one part arrived, seen by {by}; the rest goes out",
}
"""What was answered without deciding, by the answer; anything else is one yes of several."""


def _approve(story: Story, reader: Reader) -> list[PhaseLine]:
    lines = [line for ruling in story.rulings for receipt in ruling.receipts for line in _decided(receipt, reader)]
    if not lines and any(item.state == "awaiting" for item in story.after.proposals.values()):
        return [PhaseLine("approve", text="waiting for a person")]
    return lines


def _words(receipt: Receipt) -> str:
    verb = str(receipt.approval[-1].get("verb", "")) if receipt.approval else ""
    words = DECIDED[receipt.disposition]
    return ANSWERED.get(verb, words) if receipt.disposition == "answered" else words


def _decided(receipt: Receipt, reader: Reader) -> Iterable[PhaseLine]:
    people = [reader.name(str(answer["by"])) for answer in receipt.approval]
    if receipt.disposition == "refused":
        who = f"{people[-1]}: " if people else ""
        yield PhaseLine("approve", receipt.proposal, f"not taken, {who}{receipt.reason}")
    elif receipt.disposition in DECIDED:
        words = _words(receipt)
        by = ", ".join(dict.fromkeys(people)) or "a policy"
        yield PhaseLine("approve", receipt.proposal, words.format(by=by, digest=(receipt.draft or "")[:12]))


def _record(recorded: Recorded | None, *, leaving: bool = False) -> list[PhaseLine]:
    if recorded is None or not recorded.wrote:
        return []
    many = len(recorded.receipts)
    if not many:
        return [PhaseLine("record", text="what was seen")]
    head = "before anything leaves" if leaving else f"head {recorded.view.head[:12]}"
    return [PhaseLine("record", f"{many} receipt{'s' * (many != 1)}", head)]


def _publish(world: World, story: Story, reader: Reader) -> list[PhaseLine]:
    if not story.published:
        return []
    lines = [
        PhaseLine("publish", ruling.proposal.kind, _where(world, ruling, reader), failed=ruling.open)
        for ruling in story.published.rulings
    ]
    if story.published.stopped:
        lines.append(PhaseLine("publish", text=f"held back: {story.published.stopped}"))
    return [*(lines or [PhaseLine("publish", text="nothing approved")]), *_record(story.confirmed)]


def _where(world: World, ruling: Ruling, reader: Reader) -> str:
    """Return where the outcomes of a proposal are."""
    refs = [str(item["ref"]) for item in ruling.proposal.published]
    return "not published" if ruling.open else ", ".join(reader.path(world.forge.link(ref)) or ref for ref in refs)


def _show(world: World, story: Story, reader: Reader) -> list[PhaseLine]:
    if story.shown and story.shown.note:
        return [PhaseLine("show", text=story.shown.note, failed=True)]
    if not story.shown or not story.shown.wrote:
        return []
    board = reader.path(world.forge.link("dashboard"))
    is_new = "dashboard" not in story.seen.heard.pages
    return [PhaseLine("show", text=board if story.after.proposals or is_new else "dashboard: nothing waiting")]


def _failures(story: Story) -> Iterable[Failure]:
    for order, outcome in zip(story.orders, story.outcomes, strict=True):
        if outcome.status == "failed":
            yield Failure(order.job, outcome.error, outcome.tail)
        elif outcome.status == "refused" and not outcome.refusals:
            yield Failure(order.job, f"not run, {outcome.error}")
        for refusal in outcome.refusals:
            text = f"refused, it asked for {refusal.asked} and `publish:` allows {refusal.ceiling}"
            yield Failure(order.job, text)
    for ruling in story.published.rulings if story.published else ():
        if ruling.open:
            error = ruling.proposal.attempted.get("error") or ruling.text
            yield Failure(ruling.proposal.id, f"not published, {error}")
