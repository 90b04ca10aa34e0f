"""`hz-team run JOB [--input K=V]`: one job, now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team import poke
from hz_team.commands import assembly, option
from hz_team.commands.tick import perform
from hz_team.model.observation import Heard

if TYPE_CHECKING:
    from argparse import Namespace


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("run", __doc__ or "")
    parser.add_argument("job", metavar="JOB")
    parser.add_argument("--input", action="append", default=[], metavar="K=V", help="a declared input")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Poke the job and tick."""
    now = option.now_of(options)
    index = assembly.index_of(option.root_of(options), now)
    job = poke.find(index, options.job)
    given = dict(map(option.pair, options.input))
    inputs = poke.inputs(job, given)

    def said(actor: str) -> Heard:
        return Heard(pokes=(poke.make(job, by=actor, via="command", at=now, inputs=inputs),))

    return perform(options, said, only=job.id)
