"""`hz-team tick`: one pass. Looks, drafts, takes answers, publishes what was approved; idle, it writes nothing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from hz_team.adapters import cache
from hz_team.commands import assembly, identity, option
from hz_team.errors import RemoteError
from hz_team.idle import is_idle, words
from hz_team.model.observation import Heard
from hz_team.tick import tick

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping

    from hz_team.commands.delivery import Delivery
    from hz_team.model.screen import Report
    from hz_team.ports import World
    from hz_team.tick import Story

LOCAL = os.path.join(".hz", "local")


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("tick", __doc__ or "")
    parser.add_argument("--scope", choices=("team", "personal"), default="team")
    parser.add_argument("--dry-run", action="store_true", help="stop after plan and print it")
    parser.add_argument("--no-publish", action="store_true", help="take answers, publish nothing")
    parser.add_argument("--job", default="", metavar="ID", help="run no other helper")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Tick once, on Actions for the event that started the run."""
    return perform(options, only=options.job, delivered=_delivered())


def _delivered() -> Delivery | None:
    """Return the event that started this run of Actions; elsewhere there is none, and nothing of it is loaded."""
    if not identity.on_actions():
        return None
    from hz_team.commands import delivery

    return delivery.received()


def perform(
    options: Namespace,
    said: Callable[[str], Heard] | None = None,
    *,
    only: str = "",
    drafting: bool = True,
    delivered: Delivery | None = None,
) -> int:
    """Tick once with what the command or an event brings along, and print what happened."""
    root, now = option.root_of(options), option.now_of(options)
    if delivered and (done := _barred(delivered, root, options, now)) is not None:
        return done
    dry_run = bool(getattr(options, "dry_run", False))
    world = assembly.open_world(
        root,
        options,
        now,
        scope=getattr(options, "scope", "team"),
        only=only,
        drafting=drafting,
        publishing=not getattr(options, "no_publish", False),
    )
    if only:
        from hz_team import poke

        poke.find(world.config, only)
    heard = _heard(delivered, world, options, now) if delivered else Heard()
    if heard.event.ignored:
        return _ignored(heard.event.ignored, options)
    story = once(world, said(world.actor) if said else heard, now, dry_run=dry_run)
    say(world, story, options, dry_run=dry_run)
    return code(story)


def _barred(delivered: Delivery, root: str, options: Namespace, now: int) -> int | None:
    """Return the exit code of an event for which nothing is even opened; None if something is."""
    from hz_team.commands import delivery

    why = delivery.barred(delivered, root, options, now)
    return delivery.ignore(why, options) if why else None


def _heard(delivered: Delivery, world: World, options: Namespace, now: int) -> Heard:
    from hz_team.commands import delivery

    return delivery.heard(delivered, world, options, now)


def _ignored(why: str, options: Namespace) -> int:
    from hz_team.commands import delivery

    return delivery.ignore(why, options)


def code(story: Story) -> int:
    """Return the exit code: a ledger that lost its tail waits for a person."""
    return RemoteError.code if story.behind else 0


def told(world: World, story: Story, options: Namespace, *, dry_run: bool = False) -> Report:
    """Return the tick's report, with paths as this person would type them."""
    from hz_team import account

    return account.tell(world, story, dry_run=dry_run, home=os.path.join(option.typed(options, world.root), LOCAL))


def once(world: World, said: Heard, now: int, *, dry_run: bool = False) -> Story:
    """Tick, and remember on this machine what it is worth remembering."""
    before = world.notes.data_text()
    story = tick(world, said, now=now, dry_run=dry_run)
    if not dry_run:
        remember(world, story, before)
    return story


def remember(world: World, story: Story, before: str) -> None:
    """Keep on this machine what differs from `before`; of a ledger that lost its tail nothing is worth keeping."""
    if story.halted:
        return
    consider(world, story)
    world.notes.anchor = [*story.after.anchor, story.after.tip]
    if world.notes.data_text() != before:
        cache.save_notes(cache.folder_of(world.root, world.state.url), world.notes)


def consider(world: World, story: Story) -> None:
    """Note the slots that were looked at and found to bring nothing new: no later tick asks about them again."""
    for skip in story.plan.skips:
        if skip.trigger and skip.slots:
            world.notes.considered[skip.trigger] = max(skip.slots)


def say(
    world: World, story: Story, options: Namespace, *, dry_run: bool = False, more: Mapping[str, Any] | None = None
) -> None:
    """Print what happened; `more` is what a command adds to the JSON document."""
    errors = [str(finding) for finding in world.config.findings if finding.level == "error"]
    if options.json:
        from hz_team.commands import document

        report = told(world, story, options, dry_run=dry_run)
        document.show({**as_document(report, story, errors), **(more or {})})
        return
    for error in errors:
        from hz_team.commands import document

        print(document.lines(error), file=sys.stderr)
    if is_idle(story) and not dry_run:
        print(words(story, world.config))
        return
    from hz_team.dashboard import summary

    print(summary.lines(told(world, story, options, dry_run=dry_run), colour=coloured()))


def as_document(report: Report, story: Story, errors: list[str]) -> dict[str, Any]:
    """Return what `--json` prints of a tick: the report, and what a program would have to parse out of its words."""
    from hz_team.moment import iso

    after = story.after
    coming = story.plan.next
    return {
        **report._asdict(),
        "now": iso(story.now),
        "halted": story.halted,
        "orders": [{"job": order.job, "cause": order.cause, "why": order.why} for order in story.plan.orders],
        "skips": [{"job": skip.job, "reason": skip.reason} for skip in story.plan.skips if not skip.trigger],
        "next": {"job": coming[0], "slot": iso(coming[1])} if coming else None,
        "open": sorted(after.proposals),
        "receipts": after.count,
        "head": after.head,
        "errors": errors,
    }


def coloured() -> bool:
    """Whether output is for a person's terminal that shows colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
