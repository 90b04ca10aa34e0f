"""`hz-team draft --plan DIR --job ID --out DIR`: one job of a plan, drafted without anything that may write.

Opens neither state nor forge nor leases: the plan, the team's files and the job's own processes are all there is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hz_team import registry, snapshot
from hz_team.commands import assembly, document, option
from hz_team.errors import UsageError
from hz_team.model.draft import Outcome
from hz_team.parcel import artefact, sheet

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Mapping

    from hz_team.model.facet import Facets, Item
    from hz_team.model.job import Index
    from hz_team.model.order import Order
    from hz_team.parcel.sheet import Parcel
    from hz_team.phases.draft import Workshop
    from hz_team.ports import Processes


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("draft", __doc__ or "")
    parser.add_argument("--plan", required=True, metavar="DIR", help="what `plan --out` wrote")
    parser.add_argument("--job", required=True, metavar="ID", help="the job to draft")
    parser.add_argument("--out", required=True, metavar="DIR", help="where ID.json is written")
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Draft and write what came of it; a job that fails is an outcome like any other."""
    root = option.root_of(options)
    parcel, digest = sheet.read(options.plan)
    orders = tuple(order for order in parcel.plan.orders if order.job == options.job)
    if not orders:
        planned = ", ".join(sorted({order.job for order in parcel.plan.orders})) or "nothing"
        raise UsageError(f"{options.plan}: no order for {options.job!r}; planned: {planned}")
    index = assembly.index_of(root, parcel.now)
    outcomes = _outcomes(orders, index, parcel, bench(root, index, parcel, options.plan))
    made = artefact.Artefact(artefact.VERSION, digest, options.job, outcomes)
    path = artefact.write(options.out, made)
    if options.json:
        document.show({"path": path, **made._asdict()})
    else:
        print(document.lines("\n".join(_lines(outcomes))))
    return 0


def _outcomes(orders: tuple[Order, ...], index: Index, parcel: Parcel, workshop: Workshop) -> tuple[Outcome, ...]:
    name = orders[0].job
    job = next((job for job in index.jobs if job.id == name), None)
    if job is None or job.contract != parcel.contracts.get(name):
        what = "other files of it are here than those it was planned from; check out the same commit"
        return (Outcome(name, "failed", error=what),)
    return tuple(in_turn(orders, workshop))


def in_turn(orders: Iterable[Order], workshop: Workshop) -> list[Outcome]:
    """Run the orders of one job one after the other; after a failure the rest waits for another tick."""
    from hz_team.phases.draft import draft

    done: list[Outcome] = []
    for order in orders:
        done += draft((order,), workshop)
        if done[-1].status == "failed":
            break
    return done


def bench(root: str, index: Index, parcel: Parcel, folder: str, processes: Processes | None = None) -> Workshop:
    """Return what drafting needs, with the snapshots of a parcel's folder."""
    from hz_team.phases.draft import Workshop

    return Workshop(
        root=root,
        config=index,
        processes=processes or assembly.processes(root),
        environ=dict(os.environ),
        now=parcel.now,
        facets=facets_of(index, folder),
        withheld=tuple(value for name, value in os.environ.items() if name in assembly.TOKENS and value),
    )


def facets_of(index: Index, folder: str) -> Callable[[Order], Mapping[str, Facets]]:
    """Return what tells what the watches of an order saw, by watch id, from the snapshots of a parcel."""
    kinds = {watch.id: watch.kind for watch in index.watches}

    def items(name: str) -> tuple[Item, ...]:
        return snapshot.items(sheet.facet(folder, name)) if name else ()

    def facets(order: Order) -> dict[str, Facets]:
        return {
            watch: snapshot.compare(
                items(name),
                items(order.base.get(watch, "")),
                accumulates=registry.accumulates(kinds.get(watch, "")),
            )
            for watch, name in order.snapshot.items()
        }

    return facets


def _lines(outcomes: Iterable[Outcome]) -> Iterable[str]:
    for one in outcomes:
        titles = ", ".join(f'"{draft.title}"' for draft in one.drafts) or "nothing to say"
        what = titles if one.status == "rendered" else f"{one.status}: {one.error}"
        yield f"draft  {one.job}  {what}  {one.cost.ms / 1000:.1f} s"
        yield from (f"       refused, it asked for {no.asked}; `publish:` allows {no.ceiling}" for no in one.refusals)
        yield from (f"       note: {warning}" for warning in one.warnings)
        yield from (f"       {line}" for line in one.tail.splitlines())
