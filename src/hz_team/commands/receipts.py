"""`hz-team receipts list|show|verify`: every step on record, and the proof that none was changed or cut."""

from __future__ import annotations

import json
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

from hz_team import ledger
from hz_team.commands import assembly, document, loss, option
from hz_team.commands.table import clean, columns
from hz_team.errors import HzError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator

    from hz_team.ports import World


SHOWN = ("approval", "as_of", "disposition", "error", "job", "proposal", "published", "reason", "seq")
"""Keys of a receipt that a list shows."""


class BrokenLedger(HzError):
    """The ledger does not verify."""

    code = 4


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("receipts", __doc__ or "")
    parser.add_argument("verb", nargs="?", default="list", choices=("list", "show", "verify"))
    parser.add_argument("id", nargs="?", help="first digits of a receipt's id (show)")
    parser.add_argument("--job", metavar="ID", help="only this helper's receipts")
    parser.add_argument(
        "--lines", type=option.count, default=20, metavar="N", help="how many to list (default 20, 0: all)"
    )
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """List, show or verify."""
    world = assembly.open_world(option.root_of(options), options, option.now_of(options))
    verbs: dict[str, Callable[[World, Namespace], int]] = {"list": _list, "show": _show, "verify": _verify}
    return verbs[options.verb](world, options)


def _sound(receipts: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the receipts as long as they can be read. Raises BrokenLedger."""
    for name, content in receipts:
        try:
            receipt = json.loads(content)
        except ValueError:
            receipt = None
        if not isinstance(receipt, dict) or not receipt.keys() >= set(SHOWN):
            raise BrokenLedger(f"receipt {name[:12]} cannot be read; `hz-team receipts verify` says what else is wrong")
        yield name, content


def _list(world: World, options: Namespace) -> int:
    view = world.state.fetch()
    job = options.job or ""
    shown = ledger.newest(_sound(world.state.receipts(view)), job=job, limit=options.lines)
    position = view.positions.get(job)
    older = (view.count if not job else position.seq if position else 0) - len(shown)
    if options.json:
        document.show([{"id": name, **receipt} for name, receipt in shown])
        return 0
    rows = [(name[:12], d["as_of"], d["job"], d["disposition"].replace("_", " "), _about(d)) for name, d in shown]
    print(columns(("receipt", "when", "helper", "step", "about"), rows) if rows else "no receipts yet")
    if older > 0:
        print(f"… and {older:,} older; --lines 0 lists all")
    return 0


def _about(receipt: dict[str, Any]) -> str:
    who = ", ".join(answer["by"] for answer in receipt["approval"])
    where = ", ".join(part["ref"] for part in receipt["published"])
    words = [
        receipt["proposal"] or "",
        f"by {who}" if who else "",
        where,
        receipt["error"] or receipt["reason"] or "",
    ]
    return " ".join(clean(" ".join(words).split("\n")[0]).split())[:100]


def _show(world: World, options: Namespace) -> int:
    if not options.id:
        raise UsageError("receipts show needs the first digits of an id; `hz-team receipts list` has them")
    every = world.state.receipts(world.state.fetch())
    found = ledger.found(_sound(item for item in every if item[0].startswith(options.id)), options.id)
    if len(found) != 1:
        how = f"{len(found)} receipts begin so, give more digits" if found else "no receipt begins so"
        raise UsageError(f"{options.id}: {how}; `hz-team receipts list` has them all")
    name, receipt = found[0]
    print(document.text({"id": name, **receipt}, indent=2))
    return 0


def _verify(world: World, options: Namespace) -> int:
    seen = loss.look(world)
    view = seen.view
    verdict = ledger.verify(view, world.state.ledger(view), progress=progress(view.count))
    verdict = verdict._replace(problems=(*verdict.problems, *seen.told))
    if options.json:
        document.show({**verdict._asdict(), "head": view.head, "cut": [one._asdict() for one in seen.cut]})
        return BrokenLedger.code if verdict.problems else 0
    counts = f"{_many(verdict.receipts, 'receipt')}, {_many(verdict.chains, 'chain')}"
    for problem in verdict.problems:
        print(f"problem: {document.lines(problem)}", file=sys.stderr)
    for line in loss.lines(seen.cut):
        print(f"missing: {clean(line)}", file=sys.stderr)
    if verdict.problems:
        raise BrokenLedger(f"{_many(len(verdict.problems), 'problem')} in {counts}; {_next(world, seen)}")
    print(f"verify   {counts}, all good" + (f"   head {view.head[:12]}" if view.head else ""))
    return 0


def _next(world: World, seen: loss.Loss) -> str:
    """Return what a person can do about a ledger that does not verify."""
    from hz_team.adapters.nearby import local_directory

    place = local_directory(world.state.url)
    where = f"`git -C {quote(place)} log hz-state`" if place else "`git log` of hz-state in a clone"
    more = "; `hz-team doctor --accept-head` goes on without it, for good" if seen.told else ""
    return f"{where} shows who wrote when{more}"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def progress(total: int) -> Callable[[int], None]:
    """Return a counter for a terminal; elsewhere it says nothing."""
    if not sys.stderr.isatty() or total < 1000:  # noqa: PLR2004  (below that it is over before it could be read)
        return lambda _: None

    def show(done: int) -> None:
        end = "\n" if done >= total else ""
        print(f"\rverify   {done} of {total}", end=end, file=sys.stderr, flush=True)

    return show
