"""`on:` compiled: cron lines read, timestamps as instants, identities, and the slots ahead."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from hz_team import schedule
from hz_team.event import sight
from hz_team.model.config.trigger import Trigger as Written
from hz_team.model.config.zone import FIXED
from hz_team.model.job import Finding, Trigger
from hz_team.moment import Unreadable
from hz_team.schedule.calendar import first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ONCE_LATE = 86400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Entry(NamedTuple):
    """One entry as written, and its line."""

    written: Written
    line: int


class Frame(NamedTuple):
    """What every entry of a job is read against."""

    job: str
    file: str
    zone: str
    """The team's zone; "" if hz.yaml has an error and does not say."""
    now: int


def compiled(entries: Iterable[Entry], frame: Frame) -> tuple[tuple[Trigger, ...], tuple[Finding, ...]]:
    """Return the triggers of a job and what is to be said about them; entries that are off are left out."""
    triggers: dict[object, Trigger] = {}
    findings: list[Finding] = []
    for written, line in entries:
        if not written.enabled:
            continue
        try:
            trigger = one(written, frame)
        except Unreadable as error:
            findings.append(Finding(frame.file, line, str(error)))
            continue
        findings.extend(Finding(frame.file, line, text, "warning") for text in _doubts(written, trigger, frame))
        same = trigger.identity or (trigger.kind, trigger.name, trigger.types, str(written.lark_bot))
        if same in triggers:
            findings.append(Finding(frame.file, line, "the same entry stands twice in `on`; remove one", "warning"))
        triggers.setdefault(same, trigger)
    return tuple(triggers.values()), tuple(findings)


def one(written: Written, frame: Frame) -> Trigger:
    """Compile one entry. Raises Unreadable."""
    kind = written.kind
    if kind not in ("cron", "once"):
        name = written.watch or written.dispatch or written.event or ""
        return Trigger(kind, name=str(name), types=written.types)
    zone = written.timezone or frame.zone
    if not zone:
        raise Unreadable("the zone comes from .hz/hz.yaml, which has an error; mend it, or write `timezone` here")
    trigger = Trigger(kind, zone=zone, catch_up=written.catch_up, max_late=written.max_late)
    if written.cron is not None:
        trigger = trigger._replace(cron=schedule.parse(written.cron, frame.job))
    else:
        times = tuple(sorted({instant(text, zone) for text in written.once or ()}))
        late = ONCE_LATE if written.max_late is None else written.max_late
        trigger = trigger._replace(times=times, max_late=late)
    trigger = trigger._replace(identity=schedule.identity(trigger))
    return trigger._replace(window=schedule.window(trigger, frame.now))


def instant(text: str, zone: str) -> int:
    """Return the instant of a timestamp; without an offset it is local, and inside a gap right after the jump."""
    read = datetime.fromisoformat(text.strip())
    if read.tzinfo is None:
        local = read.replace(tzinfo=UTC) - _EPOCH
        return first(local.days * 86400 + local.seconds, zone)
    past = read - _EPOCH
    return past.days * 86400 + past.seconds


def watched(names: Sequence[str]) -> tuple[Trigger, ...]:
    """Return what wakes a job without `on`: each of its watches."""
    return tuple(Trigger("watch", name=name) for name in names)


def sighted(triggers: Sequence[Trigger], kinds: Mapping[str, str]) -> tuple[Trigger, ...]:
    """Return the triggers, and one for each watch that shows what an event of theirs tells; `kinds` by watch id.

    The event makes the job look at once; what wakes it is the watch, so a lost event is made up for by the next look.
    """
    events = [trigger.name for trigger in triggers if trigger.kind == "event"]
    named = {trigger.name for trigger in triggers if trigger.kind == "watch"}
    seeing = (name for name, kind in kinds.items() if any(sight.shows(kind, event) for event in events))
    return (*triggers, *watched(tuple(name for name in seeing if name not in named)))


def blind(entries: Iterable[Entry], kinds: Mapping[str, str], file: str) -> Iterator[Finding]:
    """Say where an event can never wake its job, because no watch of the job shows what it tells."""
    for written, line in entries:
        event = written.event
        if not event or not written.enabled or any(sight.shows(kind, event) for kind in kinds.values()):
            continue
        made = next(iter(sight.kinds(event)), "")
        hint = f"add `{{type: {made}}}` to `watch`" if made else "add a watch that does, or use a dispatch"
        text = f"an event only makes the job look, and no watch of it shows `{event}`: it never wakes it; {hint}"
        yield Finding(file, line, text, "warning")


def _doubts(written: Written, trigger: Trigger, frame: Frame) -> tuple[str, ...]:
    fixed = FIXED.get(written.timezone or "")
    said = (
        (f"`{written.timezone}` is one offset all year, without summer time; write {fixed} if clocks change there",)
        if fixed
        else ()
    )
    return (*said, *schedule.lint(trigger, frame.now))
