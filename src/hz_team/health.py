"""How a team's state and this machine are doing: one finding a line, each with what to do. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import moment
from hz_team.model.state import is_same

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hz_team.model.job import Finding as Trouble
    from hz_team.ports import Guard, Standing

OK, LOOK, BROKEN = "ok", "look", "broken"
MARGIN = 60
"""Seconds by which clocks may be apart."""
DAY = 86400
SHOWN = 5
"""Runners that are named one by one."""
GIT = (2, 31)
"""The first Git that takes settings from its environment, which is how it is given a token."""
RULES = ("hook declined", "rule violations", "rotected branch", "GH006", "GH013")
"""Words of a server whose rules, not its rights, refuse a push (docs.github.com/repositories, rulesets)."""


class Finding(NamedTuple):
    """One thing that was looked at."""

    level: str
    """ok; look: it works, and somebody should know; broken: somebody must do something."""
    subject: str
    text: str
    """What is so, and what to do about it."""


class Beat(NamedTuple):
    """When a runner ticked last, as it wrote down itself."""

    name: str
    """who@host"""
    at: int
    kind: str = ""
    hz: str = ""


class Owed(NamedTuple):
    """A job that is due, and since when."""

    job: str
    since: int


def owner(theirs: str, ours: str) -> Finding:
    """Say whose the state is. `theirs`: the repository that ledger.json names; `ours`: the one around us."""
    if theirs == "local":
        return Finding(OK, "owner", "hz-state belongs to no repository of a forge")
    if ours == "local" or is_same(theirs, ours):
        return Finding(OK, "owner", f"hz-state belongs to {theirs}")
    return Finding(
        BROKEN,
        "owner",
        f"hz-state belongs to {theirs}, and in {ours} nothing is done: that is right in a fork; where the repository "
        "was renamed, write its new name into ledger.json on hz-state",
    )


def clock(server: int | None, here: int) -> Finding:
    """Compare the server's time with ours."""
    if server is None:
        return Finding(OK, "clock", "not known: the server does not say what time it is")
    apart = abs(here - server)
    if apart <= MARGIN:
        return Finding(OK, "clock", f"{_counted(apart, 'second')} from the server's")
    way = "ahead of" if here > server else "behind"
    return Finding(
        BROKEN,
        "clock",
        f"{span(apart)} {way} the server's: set this machine's clock; more than {MARGIN} seconds apart, two ticks may "
        "hold one lease",
    )


def is_live(one: Standing, now: int) -> bool:
    """Whether a lease's holder may still be at work."""
    return one.mode not in {"", "free"} and now <= one.expires_at + MARGIN


def ailment(one: Standing, generation: int, now: int) -> str:
    """Return what is wrong with a lease, "" if nothing is. `generation`: the one that the state knows of its job."""
    if not one.mode:
        return f"{one.ref} at {one.commit[:12]} holds nothing that this hz-team can read"
    if one.generation < generation:
        return f"its lease is of generation {one.generation}, and the state knows of {generation}"
    if one.mode != "free" and not is_live(one, now):
        return f"held by {one.holder} and over for {span(now - one.expires_at)}, never given back"
    return ""


def held(one: Standing, zone: str) -> str:
    """Return who holds a lease until when: "held by ann@3fe1/771 until 30 Nov 10:06 UTC"."""
    return f"held by {one.holder} until {moment.told(one.expires_at, zone)}"


def leases(standing: Sequence[Standing], generations: dict[str, int], now: int, zone: str) -> Iterator[Finding]:
    """Look at every lease. `generations`: what the state knows, by job."""
    for one in standing:
        wrong = ailment(one, generations.get(one.job, 0), now)
        if not wrong:
            if one.mode != "free":
                yield Finding(OK, "lease", f"{one.job}: {held(one, zone)}, renewed {ago(one.at, now)}")
        elif one.mode and one.generation >= generations.get(one.job, 0):
            yield Finding(
                LOOK, "lease", f"{one.job}: {wrong}; the next tick takes it over, `hz-team doctor --repair` frees it"
            )
        elif is_live(one, now):
            yield Finding(BROKEN, "lease", f"{one.job}: {wrong}; it is {held(one, zone)}: repair it after that")
        else:
            yield Finding(BROKEN, "lease", f"{one.job}: {wrong}; `hz-team doctor --repair` puts a new one there")
    if free := sum(one.mode == "free" for one in standing):
        yield Finding(OK, "lease", f"{_counted(free, 'lease')} free")
    if not standing:
        yield Finding(OK, "lease", "none")


def fleet(beats: Iterable[Beat], owed: Owed | None, now: int, zone: str) -> Iterator[Finding]:
    """Say who ticked when, and whether nobody does any more although something is due."""
    newest = sorted(beats, key=lambda one: -one.at)
    if owed and (not newest or now - newest[0].at > DAY):
        since = f"no helper has run since {moment.told(newest[0].at, zone)}" if newest else "no helper has run yet"
        level = BROKEN if newest and now - owed.since > DAY else LOOK
        yield Finding(
            level,
            "runner",
            f"{since}, and {owed.job} is due since {moment.told(owed.since, zone)}: run `hz-team tick`, and look "
            "whether the schedule that should is still on",
        )
    for one in newest[:SHOWN]:
        about = ", ".join(part for part in (one.kind, f"hz-team {one.hz}" if one.hz else "") if part)
        yield Finding(OK, "runner", f"{one.name}{f' ({about})' if about else ''} ran {ago(one.at, now)}")
    if len(newest) > SHOWN:
        yield Finding(OK, "runner", f"and {len(newest) - SHOWN} more")


def kept(tip: str, cache: str, url: str) -> Finding:
    """Say how a ledger that was cut is put back. `cache`, `url`: as a shell takes them."""
    way = f"`git -C {cache} push {url} {tip}:refs/heads/hz-state`"
    return Finding(
        LOOK, "ledger", f"this machine still has what is missing: {way} puts it back, if nobody meant to cut it"
    )


def files(troubles: Iterable[Trouble], jobs: int) -> Finding:
    """Count what is wrong with the files of `.hz/`."""
    wrong = [one for one in troubles if one.level == "error"]
    if not wrong:
        return Finding(OK, "files", f"{_counted(jobs, 'helper')}, all files read")
    places = len({one.file for one in wrong})
    return Finding(
        BROKEN,
        "files",
        f"{_counted(len(wrong), 'error')} in {_counted(places, 'file')}, and what stands there waits: "
        "`hz-team validate` names them",
    )


def guard(found: Guard | None, path: str, *, embedded: bool) -> Finding:
    """Say how the branch is guarded. `embedded`: one machine's own, which whoever may write its folder may remove."""
    if found is None:
        return Finding(OK, "branch", "whether it is guarded against force pushes and removal cannot be asked here")
    missing = [
        f"`git -C {path} config receive.{name} true`"
        for name, on in (("denyNonFastForwards", found.rewriting), ("denyDeletes", found.removal or embedded))
        if not on
    ]
    if not missing:
        return Finding(OK, "branch", f"no push can rewrite {'' if embedded else 'or remove '}hz-state")
    what = "rewritten or removed" if len(missing) > 1 else "removed" if found.rewriting else "rewritten"
    return Finding(LOOK, "branch", f"hz-state can be {what} by whoever may push: {' and '.join(missing)} refuses that")


def atomic(*, can: bool | None) -> Finding:
    """Say what a record is worth on that server."""
    if can:
        return Finding(OK, "push", "a record and the leases it relies on arrive together or not at all")
    if can is None:
        return Finding(OK, "push", "not known yet whether the server takes atomic pushes")
    return Finding(
        LOOK,
        "push",
        "the server takes no atomic pushes: leases are renewed first and another tick may come between; nothing is "
        "recorded twice, and a tick stops publishing a minute earlier. A server that takes them lifts that",
    )


def refused(said: str) -> Finding:
    """Say what to do where a record was refused, by a rule or for want of a right."""
    if not any(sign in said for sign in RULES):
        return Finding(BROKEN, "write", said)
    return Finding(
        BROKEN,
        "write",
        f"{said.partition('; let this account')[0]}. Three ways on: let this account or app bypass the rule for "
        "refs/heads/hz-state; keep the state in another repository (`state: {repository: owner/name}` in .hz/hz.yaml); "
        "or leave hz-state out of the branches that the rule names",
    )


def containment(level: str) -> Finding:
    """Say what holds job processes back on this machine."""
    if level == "none":
        return Finding(LOOK, "steps", "job processes are not contained here (no Landlock): see docs/security.md")
    return Finding(OK, "steps", f"job processes are contained ({level})")


def git(version: tuple[int, ...]) -> Finding:
    """Look at the version of Git."""
    said = ".".join(map(str, version))
    if not version:
        return Finding(LOOK, "git", "it does not say which version it is; 2.31 or newer is needed")
    if version < GIT:
        return Finding(BROKEN, "git", f"version {said} cannot be given a token safely: install 2.31 or newer")
    return Finding(OK, "git", f"version {said}")


def beat_from(name: str, data: Any) -> Beat | None:
    """Read a heartbeat; None for one without a time."""
    if not isinstance(data, dict) or type(data.get("at")) is not int or data["at"] <= 0:
        return None
    return Beat(name, data["at"], str(data.get("kind") or ""), str(data.get("hz") or ""))


def ago(at: int, now: int) -> str:
    """Return how long ago an instant was: "3 hours ago"."""
    return f"{span(now - at)} ago" if now > at else "just now"


def span(seconds: int) -> str:
    """Return a length of time in its greatest whole unit: "40 seconds", "3 hours", "2 days"."""
    for size, what in ((DAY, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{seconds // size} {what}s"
    return _counted(seconds, "second")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
