"""`hz-team pause`: nothing is drafted or published until `hz-team resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.commands import option
from hz_team.commands.tick import perform
from hz_team.model.observation import Heard

if TYPE_CHECKING:
    from argparse import Namespace


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    return option.parser("pause", __doc__ or "").parse_args(words)


def run(options: Namespace) -> int:
    """Pause everything, on record."""
    return switch(options, on=True)


def switch(options: Namespace, *, on: bool) -> int:
    """Turn the team's pause on or off by a tick that runs no job."""
    return perform(options, lambda actor: Heard(pause=(on, actor)), drafting=False)
