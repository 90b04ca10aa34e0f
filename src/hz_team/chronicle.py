"""What a run leaves behind: its receipts, where its job stands afterwards, and how that is put in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import duty, schedule
from hz_team.model.receipt import Receipt
from hz_team.model.state import Served

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.model.draft import Outcome
    from hz_team.model.job import Job, Settings
    from hz_team.model.order import Order
    from hz_team.model.ruling import Ruling
    from hz_team.model.state import Position

KEEP_WAKES = 30 * 86400
KEEP_DAYS = 40
NAMED = 20
"""Passed slots that a receipt names one by one."""


class Run(NamedTuple):
    """One order, and what came of it."""

    job: Job
    order: Order
    outcome: Outcome
    now: int


def settled(run: Run, position: Position) -> Position:
    """Return the position after one run: slots served, failures counted, parked when they are too many."""
    job, order, outcome, now = run
    if position.parked and position.parked.get("contract") != job.contract:
        position = duty.unparked(position)
    position = position._replace(contract=job.contract)
    if outcome.status == "failed":
        return _failed(run, position)
    wakes = {name: at for name, at in position.wakes.items() if at > now - KEEP_WAKES}
    position = position._replace(
        wakes={**wakes, **dict.fromkeys(order.pokes, now)}, outcome={"at": now, "text": _words(outcome)}
    )
    if outcome.status == "refused" and not outcome.refusals:
        return position  # it never ran, so nothing is known about the job
    position = duty.unparked(position)
    return position if order.redraft else _rendered(run, position)


def _rendered(run: Run, position: Position) -> Position:
    """Return the position after what was due was drafted (a redraft asks for the same once more: it moves nothing)."""
    job, order, outcome, now = run
    proposed = any(draft.kind for draft in outcome.drafts) or outcome.status == "refused"
    position = position._replace(
        triggers=_served(job, order, position, now),
        memo_key=order.memo_key,
        rendered_at=now,
        epoch=order.epoch,
        seen=order.snapshot,
    )
    return position if proposed else moved(position, order.snapshot, now)


def moved(position: Position, snapshot: Mapping[str, str], at: int) -> Position:
    """Return the position with its base at the snapshot of a draft made at `at`, unless a later one counts already."""
    return position if at < position.based_at else position._replace(base=snapshot, based_at=at)


def _words(outcome: Outcome) -> str:
    if outcome.status == "refused":
        return "refused"
    if any(draft.kind for draft in outcome.drafts):
        return "waiting"
    return "drafted" if outcome.drafts else "nothing to say"


def _failed(run: Run, position: Position) -> Position:
    job, outcome, now = run.job, run.outcome, run.now
    failures = position.failures + 1
    if failures <= job.retries and outcome.retry:
        wait = job.backoff * 2 ** min(failures - 1, 6)
        words = f"failed, try {failures} of {job.retries + 1}"
        return position._replace(failures=failures, retry_at=now + wait, outcome={"at": now, "text": words})
    parkings = position.parkings + 1
    parked = {
        "at": now,
        "contract": job.contract,
        "error": outcome.error,
        "failures": failures,
        "n": parkings,
        "tail": outcome.tail,
    }
    return position._replace(
        failures=failures, retry_at=0, parked=parked, parkings=parkings, outcome={"at": now, "text": "parked"}
    )


def _served(job: Job, order: Order, position: Position, now: int) -> dict[str, Served]:
    """Return the triggers after a run: every slot up to now that it stands for is served."""
    triggers = dict(position.triggers)
    for trigger in job.triggers:
        mine = order.slot is not None and trigger.identity == order.trigger
        run = (order.slot,) if mine and order.slot is not None else ()
        passed = order.marks.get(trigger.identity, ())
        if trigger.identity and (run or passed):
            before = triggers.get(trigger.identity)
            triggers[trigger.identity] = schedule.served(before, schedule.Due(run, {"overlapped": passed}), now)
    return triggers


def noticed(job: Job, position: Position, now: int) -> Position:
    """Return the position with the job's present triggers: from when one is first seen on it owes its slots."""
    identities = [trigger.identity for trigger in job.triggers if trigger.identity]
    known = {name: position.triggers[name] for name in identities if name in position.triggers}
    if len(known) == len(position.triggers) == len(set(identities)):
        return position
    return position._replace(triggers={**{name: Served(first_seen=now) for name in identities}, **known})


def spent(position: Position, run: Run, settings: Settings, *, others: int) -> Position:
    """Return the position with what the run cost; who reaches a ceiling says so, once a day.

    `others`: micro-dollars that all other jobs spent today.
    """
    cost = run.outcome.cost.usd_micros
    if not cost:
        return position
    day = schedule.day(run.now, settings.timezone)
    today = position.spent.get(day, 0) + cost
    position = position._replace(spent=dict(sorted({**position.spent, day: today}.items())[-KEEP_DAYS:]))
    whose = duty.ceiling(run.job, today, today + others, settings)
    if not whose or position.held == day:
        return position
    words = f"held until tomorrow: {whose} cost ceiling"
    return position._replace(held=day, outcome={"at": run.now, "text": words})


def skipped(position: Position, identity: str, reason: str, slots: Sequence[int]) -> Position:
    """Return the position with slots counted that passed without a draft: each once, and never again owed."""
    served = position.triggers.get(identity)
    fresh = [slot for slot in slots if served and slot > (served.last or 0)]
    if not served or not fresh:
        return position
    old = position.skips.get(reason, {"count": 0, "first": fresh[0]})
    count = {"count": old["count"] + len(fresh), "first": old["first"], "last": fresh[-1]}
    triggers = {**position.triggers, identity: served._replace(last=fresh[-1])}
    return position._replace(triggers=triggers, skips={**position.skips, reason: count})


def receipts(run: Run) -> list[Receipt]:
    """Return the receipts of one run: what was rendered or failed, and every draft that went over its ceiling."""
    from hz_team.fingerprint import digest

    job, order, outcome, now = run
    again = (f"tried again because {order.again} asked",) if order.again else ()
    if order.skew:
        again = (*again, f"the clock was set back by {order.skew} s since the last slot on record")
    base = Receipt(
        job=job.id,
        disposition="rendered",
        as_of=now,
        contract=job.contract,
        cause=order.cause,
        slot=order.slot,
        refs=(*order.pokes, *_named(order.passed)),
        inputs={**order.snapshot, **({"inputs": dict(order.inputs)} if order.inputs else {})},
        memo_key=order.memo_key,
        sources=outcome.sources,
        cost=outcome.cost._asdict(),
        level=outcome.level,
        env=outcome.env,
        reason="; ".join((*again, *outcome.warnings)),
    )
    refused = [
        base._replace(
            disposition="refused",
            reason=f"asked for {refusal.asked}; `publish:` allows {refusal.ceiling}",
            memo_key="",
        )
        for refusal in outcome.refusals
    ]
    if outcome.status == "failed":
        reason = "; ".join((*again, outcome.tail)) if outcome.tail else "; ".join(again)
        return [base._replace(disposition="failed", error=outcome.error, reason=reason), *refused]
    if outcome.status == "refused":
        return refused or [base._replace(disposition="refused", reason=outcome.error, memo_key="")]
    draft = digest(outcome.drafts[0].payload()) if outcome.drafts else None
    return [base._replace(draft=draft), *refused]


def last_word(ruling: Ruling) -> str:
    """Return what the helpers' table says of a closed proposal: "published issue-1", "rejected", "expired"."""
    refs = ", ".join(str(part["ref"]) for part in ruling.proposal.published)
    return f"published {refs}" if refs else ruling.receipts[-1].disposition


def message(receipts: Sequence[Receipt]) -> str:
    """Return a commit message in our own words only: foreign text never enters it."""
    counts: dict[str, int] = {}
    for receipt in receipts:
        counts[receipt.disposition] = counts.get(receipt.disposition, 0) + 1
    what = ", ".join(f"{count} {name}" for name, count in counts.items()) or "what was seen"
    jobs = ", ".join(sorted({receipt.job for receipt in receipts})[:5])
    return f"Record {what}" + (f" ({jobs})" if jobs else "") + "\n"


def _named(slots: Sequence[int]) -> tuple[str, ...]:
    """Return passed slots as texts; of a long absence the newest, and how many more there were."""
    if len(slots) <= NAMED:
        return tuple(schedule.iso(slot) for slot in slots)
    more = f"{len(slots) - NAMED} from {schedule.iso(slots[0])}"
    return (more, *(schedule.iso(slot) for slot in slots[-NAMED:]))
