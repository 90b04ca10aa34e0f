"""Looks at all that doctor tells of: asks the state, the leases, the server and this machine; `health` judges."""

from __future__ import annotations

import json
import os
import shlex
import time
from typing import TYPE_CHECKING, NamedTuple

from hz_team import anchor, duty, health, keeping, ledger
from hz_team.adapters import cache, probe, refusal
from hz_team.adapters.mirror import Mirror
from hz_team.adapters.nearby import local_directory
from hz_team.commands import assembly, loss
from hz_team.commands.receipts import progress
from hz_team.errors import RemoteError, TryAgain
from hz_team.health import BROKEN, LOOK, OK, Finding
from hz_team.model.state import VERSION, stored
from hz_team.phases.claim import known

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from hz_team.model.state import View
    from hz_team.ports import World

TOLD = 10
"""Problems of the ledger that are named; `receipts verify` has them all."""
ACCEPT = "`hz-team doctor --accept-head` goes on without it, for good"


class Checkup(NamedTuple):
    """Everything that was found."""

    findings: tuple[Finding, ...]
    cut: tuple[loss.Cut, ...] = ()
    """Receipts that are gone, as far as this machine knows them."""


def examine(world: World, options: Namespace, now: int) -> Checkup:
    """Look at everything; what cannot be reached is a finding. Raises TryAgain while another process works here."""
    shown = refusal.shown(world.state.url)
    about = (*_machine(), health.files(world.config.findings, len(world.config.jobs)))
    if is_untouched(world):
        nothing = Finding(LOOK, "state", "nothing is on record yet; `hz-team tick` begins")
        return Checkup((nothing, *about))
    try:
        view = world.state.fetch()
    except RemoteError as error:
        return Checkup((Finding(BROKEN, "state", f"{error}; nothing that stands there was looked at"), *about))
    here = Finding(OK, "state", f"{shown} answers, and what stands there can be read (format {VERSION})")
    owner = health.owner(view.repository, world.forge.repository)
    try:
        seen = loss.look(world)
    except RemoteError as error:
        return Checkup((here, owner, Finding(BROKEN, "lease", f"{error}; the leases were not looked at"), *about))
    findings = [here, owner, *_server(world, seen, options, now, mine=owner.level == OK)]
    findings += health.leases(seen.standing, generations(seen), clock_of(world, options, now), _zone(world))
    findings += health.fleet(beats(world, seen.view), _owed(world, seen.view, now), now, _zone(world))
    findings += _ledger(world, seen)
    return Checkup((*findings, *about), seen.cut)


def is_embedded(world: World) -> bool:
    """Whether the state is this machine's own, below `.hz/local/`."""
    return world.state.url == assembly.local_url(world.root)


def is_untouched(world: World) -> bool:
    """Whether the state is this machine's own and no tick has made it yet; one that was seen and is gone is a loss."""
    return is_embedded(world) and not local_directory(world.state.url) and not world.notes.anchor


def clock_of(world: World, options: Namespace, now: int) -> int:
    """Return the time that leases are judged by: the server's if it tells, and no other moment is replayed."""
    return now if options.now else world.state.time() or now


def generations(seen: loss.Loss) -> dict[str, int]:
    """Return the generation that the state knows of each job with a lease."""
    return {one.job: known(seen.view, one.job).generation for one in seen.standing}


def _cache(world: World) -> str:
    return os.path.join(cache.folder_of(world.root, world.state.url), "state.git")


def _zone(world: World) -> str:
    return world.config.settings.timezone


def _machine() -> Iterator[Finding]:
    yield health.git(probe.version(os.environ))
    yield health.containment(assembly.contained())


def _server(world: World, seen: loss.Loss, options: Namespace, now: int, *, mine: bool) -> Iterator[Finding]:
    """Say what the server of the state does and allows; of the embedded default only how it is guarded."""
    path = shlex.quote(local_directory(world.state.url))
    if is_embedded(world):
        yield health.guard(world.state.guarded(), path, embedded=True)
        return
    mirror = Mirror(world.state.url, _cache(world), os.environ)
    yield health.atomic(can=probe.takes_atomic(mirror, seen.view.tip) if seen.view.tip else None)
    yield health.guard(world.state.guarded(), path, embedded=False)
    if options.now:
        yield Finding(OK, "clock", "not compared with the server's: another moment is replayed")
    else:
        yield health.clock(world.state.time(), int(time.time()))
    yield from _writes(world, seen, now) if mine else ()


def _writes(world: World, seen: loss.Loss, now: int) -> Iterator[Finding]:
    """Find out whether this account may record, by recording that it looked; a ledger that was cut stays as it is."""
    if seen.told:
        yield Finding(OK, "write", "not tried, because the ledger is shorter than it was")
        return
    try:
        world.state.record(seen.view, heartbeat(world, seen.view, now), "Record that doctor looked\n")
    except TryAgain as error:
        yield Finding(LOOK, "write", f"not known: {error}")
    except RemoteError as error:
        yield health.refused(str(error))
    else:
        yield Finding(OK, "write", "this account may record: a heartbeat was")


def heartbeat(world: World, view: View, now: int) -> dict[str, bytes]:
    """Return what doctor records about this runner: that it looked, beside when it ticked last."""
    path, beat = keeping.heartbeat(world.runner, now)
    before = _document(world.state.read(view, [path]).get(path, b""))
    return {path: stored({**_document(beat), "at": before.get("at", 0), "looked": now})}


def beats(world: World, view: View) -> Iterator[health.Beat]:
    """Yield when each runner ticked last."""
    paths = world.state.names(view, "fleet")
    for path, content in world.state.read(view, paths).items():
        name = path.removeprefix("fleet/").removesuffix(".json")
        if beat := health.beat_from(name, _document(content)):
            yield beat


def _document(content: bytes) -> dict[str, object]:
    try:
        said = json.loads(content or b"{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _owed(world: World, view: View, now: int) -> health.Owed | None:
    """Return the job that has been due for longest, by the clock or because somebody asked."""
    found = [health.Owed(poke.job, poke.at) for poke in view.wakes]
    for job in world.config.jobs:
        position = duty.position_of(view, job)
        if job.scope == world.scope and not duty.obstacle(job, position, world.config, view, now)[0]:
            due = duty.clocks(job, position, now, considered=world.notes.considered, limit=1)
            found += [health.Owed(job.id, slot) for one in due for slot in one.due.run]
    return min(found, key=lambda one: one.since, default=None)


def _ledger(world: World, seen: loss.Loss) -> Iterator[Finding]:
    """Prove the ledger from its raw bytes, and say what others know of it that is not there."""
    view = seen.view
    verdict = ledger.verify(view, world.state.ledger(view), progress=progress(view.count))
    for problem in verdict.problems[:TOLD]:
        yield Finding(BROKEN, "ledger", f"{problem}; `hz-team receipts verify` says where to look")
    if len(verdict.problems) > TOLD:
        yield Finding(BROKEN, "ledger", f"and {len(verdict.problems) - TOLD} more: `hz-team receipts verify`")
    for sentence in seen.told:
        yield Finding(BROKEN, "ledger", f"{sentence}; {ACCEPT}")
    if seen.kept:
        yield health.kept(seen.kept, shlex.quote(_cache(world)), shlex.quote(refusal.shown(world.state.url)))
    if not verdict.problems and not seen.told:
        head = f", head {view.head[:12]}" if view.head else ""
        yield Finding(OK, "ledger", f"{anchor.told(view.anchor)}, all good{head}")
