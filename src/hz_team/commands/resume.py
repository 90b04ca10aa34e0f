"""`hz-team resume`: go on after `hz-team pause`, or ask the addresses of a watch again that were given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.commands import option
from hz_team.commands.pause import switch

if TYPE_CHECKING:
    from argparse import Namespace


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("resume", __doc__ or "")
    parser.add_argument("--watch", metavar="NAME", help="ask this watch's addresses again that answered 410 (gone)")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Go on, on record."""
    return _watch(options, str(options.watch)) if options.watch is not None else switch(options, on=False)


def _watch(options: Namespace, name: str) -> int:
    """Resume one watch by a tick that runs no job and asks no address. Raises UsageError."""
    from hz_team.commands import assembly
    from hz_team.commands.tick import perform
    from hz_team.config import watch
    from hz_team.errors import UsageError
    from hz_team.model.observation import Heard
    from hz_team.phases.observe import is_paused

    now = option.now_of(options)
    world = assembly.open_world(option.root_of(options), options, now)
    known = {one.id: one for one in world.config.watches}
    if name not in known:
        raise UsageError(watch.unknown(name, known))
    if not is_paused(world.state.fetch(), known[name]):
        raise UsageError(f"no address of the watch `{name}` is paused; nothing was changed")
    return perform(options, lambda _: Heard(resumed=(name,)), drafting=False)
