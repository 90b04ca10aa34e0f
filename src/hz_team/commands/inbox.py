"""`hz-team inbox list|show|approve|reject|redraft|retry|arrived|again`: the same answers without an editor."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hz_team.commands import assembly, document, option
from hz_team.commands.table import columns
from hz_team.commands.tick import perform
from hz_team.errors import UsageError
from hz_team.model.draft import readable
from hz_team.model.observation import Heard
from hz_team.model.proposal import AWAITING, UNKNOWN, Answer
from hz_team.moment import moment

if TYPE_CHECKING:
    from argparse import Namespace

    from hz_team.model.proposal import Proposal
    from hz_team.ports import World

ANSWERS = ("approve", "reject", "redraft", "arrived", "again")


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("inbox", __doc__ or "")
    parser.add_argument("verb", nargs="?", default="list", choices=("list", "show", "retry", *ANSWERS))
    parser.add_argument("id", nargs="?", help="a decision's id, or its first digits; for retry a helper's id")
    parser.add_argument("note", nargs="*", help="why (reject), what to change (redraft)")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """List, show or answer."""
    now = option.now_of(options)
    world = assembly.open_world(option.root_of(options), options, now)
    if options.verb == "list":
        return _list(world, options)
    if not options.id:
        raise UsageError(f"inbox {options.verb} needs an id; `hz-team inbox` lists what waits")
    if options.verb == "retry":
        return _retry(world, options)
    proposal = find(world, options.id)
    if options.verb == "show":
        return _show(world, proposal, options)
    return _answer(proposal, options, now)


def find(world: World, name: str) -> Proposal:
    """Return the open proposal whose id begins with `name` (with or without `p-`). Raises UsageError."""
    proposals = world.state.fetch().proposals
    wanted = name if name.startswith("p-") else f"p-{name}"
    found = [proposal for key, proposal in proposals.items() if key.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{name}: {len(found)} decisions begin so ({', '.join(p.id for p in found)}); give more digits"
        )
    raise UsageError(f"{name}: no open decision has this id; `hz-team inbox` lists those that wait")


def _list(world: World, options: Namespace) -> int:
    view = world.state.fetch()
    if options.json:
        document.show(tuple(view.proposals.values()))
        return 0
    zone = world.config.settings.timezone
    rows = [
        (p.id, p.title, p.job, _state(p), moment(p.expires_at, zone))
        for p in sorted(view.proposals.values(), key=lambda p: p.created_at)
    ]
    print(columns(("id", "title", "helper", "state", "until"), rows) if rows else "Nothing is waiting for you.")
    return 0


def _state(proposal: Proposal) -> str:
    if proposal.state == UNKNOWN:
        return "did it arrive?"
    if proposal.attempted.get("error"):
        return "not published"
    return "waiting" if proposal.state == AWAITING else proposal.state


def _show(world: World, proposal: Proposal, options: Namespace) -> int:
    view = world.state.fetch()
    path = f"drafts/{proposal.digest[:2]}/{proposal.digest}.json"
    draft = readable(json.loads(world.state.read(view, [path])[path]), path)
    if options.json:
        document.show({"proposal": proposal, "draft": draft})
        return 0
    page = world.forge.page(proposal.id)
    print(document.lines(page.text if page else f"# {proposal.title}\n\n{draft['body']}"))
    return 0


def _answer(proposal: Proposal, options: Namespace, now: int) -> int:
    note = " ".join(options.note)
    if options.verb == "redraft" and not note:
        raise UsageError(f"inbox redraft {proposal.id} needs a note behind the id: what should be different?")

    def said(actor: str) -> Heard:
        role = "local" if actor.startswith("local:") else "named"
        answer = Answer(proposal.id, options.verb, actor, role, "command", now, proposal.digest, note=note)
        return Heard(answers=(answer,))

    drafting = options.verb == "redraft"
    return perform(options, said, drafting=drafting, only=proposal.job if drafting else "")


def _retry(world: World, options: Namespace) -> int:
    view = world.state.fetch()
    position = view.positions.get(options.id)
    proposal = view.proposals.get(options.id)
    if not (position and position.parked) and not (proposal and proposal.attempted.get("error")):
        raise UsageError(f"{options.id} is not parked; `hz-team jobs` shows what is")
    only = options.id if position else ""
    return perform(options, lambda actor: Heard(retries=((options.id, actor),)), only=only, drafting=bool(position))
