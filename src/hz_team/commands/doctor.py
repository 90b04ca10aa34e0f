"""`hz-team doctor`: is everything as it should be, and what to do where it is not; exit 4 if something is broken."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hz_team.commands import assembly, document, loss, option
from hz_team.commands.table import clean
from hz_team.errors import RemoteError, TryAgain
from hz_team.health import BROKEN, LOOK, OK

if TYPE_CHECKING:
    from argparse import Namespace

    from hz_team.commands.checkup import Checkup
    from hz_team.ports import World


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("doctor", __doc__ or "")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--repair", action="store_true", help="free leases that nobody can use; never one that is held")
    what.add_argument("--accept-head", action="store_true", help="go on with a ledger that lost its newest receipts")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Look, repair or accept."""
    now = option.now_of(options)
    world = assembly.open_world(option.root_of(options), options, now, looking=True)
    if options.repair:
        return _repair(world, options, now)
    if options.accept_head:
        return _accept(world, options)
    from hz_team.commands import checkup

    found = checkup.examine(world, options, now)
    broken = sum(one.level == BROKEN for one in found.findings)
    if options.json:
        document.show({"findings": [one._asdict() for one in found.findings], "cut": _cut(found), "broken": broken})
    else:
        _print(found)
    return RemoteError.code if broken else 0


def _cut(found: Checkup) -> list[dict[str, object]]:
    return [one._asdict() for one in found.cut]


def _print(found: Checkup) -> None:
    for one in found.findings:
        print(clean(f"{one.level:<6}  {one.subject:<7} {one.text}"))
    for line in loss.lines(found.cut):
        print(clean(f"        missing {line}"))
    counts = {level: sum(one.level == level for one in found.findings) for level in (BROKEN, LOOK, OK)}
    print(f"{counts[BROKEN]} broken, {counts[LOOK]} to look at, {counts[OK]} ok")


def _repair(world: World, options: Namespace, now: int) -> int:
    from hz_team.commands import remedy

    repairs = remedy.repair(world, options, now)
    done, waits = (sum(getattr(one, what) for one in repairs) for what in ("done", "waits"))
    if options.json:
        document.show({"repairs": [one._asdict() for one in repairs]})
    else:
        for one in repairs:
            print(clean(f"{'repaired' if one.done else 'left'}  {one.job}: {one.text}"))
        if not done:
            print("nothing to repair" if not waits else "nothing was repaired")
    return TryAgain.code if waits else 0


def _accept(world: World, options: Namespace) -> int:
    from hz_team.commands import remedy

    done = remedy.accept(world)
    if options.json:
        told = {"told": done.loss.told, "cut": [one._asdict() for one in done.loss.cut]}
        document.show({**told, "era": done.view.era, "receipts": done.view.count, "head": done.view.head})
        return 0
    for sentence in done.loss.told:
        print(document.lines(sentence), file=sys.stderr)
    for line in loss.lines(done.loss.cut):
        print(clean(f"missing {line}"), file=sys.stderr)
    print(done.text)
    return 0
