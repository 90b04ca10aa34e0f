"""publish: what is approved and durable goes out, once: kill switches, then find(key), then publish, then read back.

*Unknown* is never *absent*. What is going to be sent is put on record first (`intend`): only the tick that did so may
make the first attempt where nobody can look, and what a switch held back in time is not in doubt.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import evidence, registry
from hz_team.dashboard import row
from hz_team.errors import Deferred, HzError, LeaseOver, PublishRefused, PublishUnknown
from hz_team.idle import waits
from hz_team.model.draft import readable
from hz_team.model.proposal import UNKNOWN
from hz_team.model.ruling import Ruling
from hz_team.ports import PublishTools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hz_team.model.observation import Heard
    from hz_team.model.proposal import Part, Proposal
    from hz_team.model.receipt import Receipt
    from hz_team.model.state import View
    from hz_team.ports import Lease, World


class Published(NamedTuple):
    """What went out in this phase."""

    rulings: tuple[Ruling, ...] = ()
    stopped: str = ""
    """Why nothing (more) was published, in plain words."""
    lost: frozenset[str] = frozenset()
    """Jobs whose leases are not ours any more, and of which nothing went out: no record may rely on those."""


class Intended(NamedTuple):
    """What is going to be sent, before that is put on record."""

    rulings: tuple[Ruling, ...] = ()
    stopped: str = ""


def intend(
    world: World,
    rulings: Sequence[Ruling],
    *,
    leases: Mapping[str, Lease],
    heard: Heard,
    now: int,
) -> Intended:
    """Note at each proposal that is to go out who tries it now, and until when; take back what a switch holds.

    `leases`: with the ends that the record gives them.
    """
    intended: list[Ruling] = []
    stopped = ""
    for ruling in rulings:
        if not (ruling.publish and ruling.open):
            intended.append(ruling)
            continue
        lease = leases[ruling.proposal.job]
        reason = _held(world, ruling, heard) or _waits(world, ruling.proposal, lease, now)
        stopped = reason or stopped
        done = ruling._replace(publish=False) if reason else _intended(ruling, lease, now)
        intended.append(done)
    return Intended(tuple(intended), stopped)


def publish(
    world: World,
    view: View,
    rulings: Sequence[Ruling],
    *,
    leases: Mapping[str, Lease],
    heard: Heard,
    now: int,
) -> Published:
    """Publish every ruling that says so and whose job's lease was taken in this tick, while that lease lasts."""
    done: list[Ruling] = []
    stopped, lost = "", set[str]()
    for ruling in rulings:
        lease = leases.get(ruling.proposal.job)
        if not (ruling.publish and ruling.open and lease):
            continue
        proposal = view.proposals[ruling.proposal.id]
        if reason := _held(world, ruling, heard):
            stopped = reason
            done.append(_untried(ruling, proposal, reason))
            continue
        if reason := _lost(world, lease, now):
            stopped = reason
            lost.add(lease.job)
            continue
        try:
            with world.leases.fence(lease) as check:
                done.append(_Attempt(world, view, proposal, now, first=ruling.first, check=check).run())
        except _Late as late:
            stopped = str(late)
            done.extend(late.rulings)
        except LeaseOver as late:
            stopped = str(late)
    return Published(tuple(done), stopped, frozenset(lost - {ruling.proposal.job for ruling in done}))


def _held(world: World, ruling: Ruling, heard: Heard) -> str:
    if not world.publishing:
        return "not published because of --no-publish"
    return world.stopped(ruling.proposal.job) or _paused_since(world, heard)


def _paused_since(world: World, heard: Heard) -> str:
    """Whether the pause box was ticked after this tick had read it: what it said before is in the state by now."""
    page = world.forge.page("dashboard")
    before = heard.pages.get("dashboard", "")
    ticked = page and page.text != before and _is_paused(page.text) and not _is_paused(before)
    return "paused on the dashboard" if ticked else ""


def _is_paused(text: str) -> bool:
    return any(one.verb == "pause" and one.ticked for one in row.rows(text))


def _lost(world: World, lease: Lease, now: int) -> str:
    """Return why this process may not work on the job any more: it may have been asleep since it recorded."""
    return "" if world.leases.holds(lease, now=now) else f"the lease of {lease.job} is not ours any more"


def _waits(world: World, proposal: Proposal, lease: Lease, now: int) -> str:
    """Return until when an attempt that was begun under another lease may still write something, "" if none may."""
    if proposal.attempted.get("generation") == lease.generation:
        return ""
    return waits(proposal, world.config.settings.timezone, now)


def _untried(ruling: Ruling, proposal: Proposal, reason: str) -> Ruling:
    """Take back an attempt that is on record and was not made; an earlier one stays in doubt, and is over."""
    attempted = {} if ruling.first else {"at": proposal.attempted["at"]}
    return Ruling(proposal._replace(attempted=attempted), text=f"{proposal.id} held back: {reason}")


def _intended(ruling: Ruling, lease: Lease, now: int) -> Ruling:
    """Return the ruling with this attempt; it is no first one if somebody tried and nobody knows how far they came."""
    attempted = {"at": now, "until": lease.expires_at, "generation": lease.generation}
    first = not ruling.proposal.attempted
    return ruling._replace(proposal=ruling.proposal._replace(attempted=attempted), first=first)


class _Late(LeaseOver):
    """There was no time left for the rest."""

    def __init__(self, why: str, rulings: tuple[Ruling, ...]) -> None:
        """`rulings`: what had been done by then, to be recorded."""
        super().__init__(why)
        self.rulings = rulings


class _Attempt(NamedTuple):
    """One approved proposal on its way out."""

    world: World
    view: View
    proposal: Proposal
    now: int
    first: bool
    """Nobody can have sent it before."""
    check: Callable[[], None]
    """Raises LeaseOver when there is no time left for another write."""

    def run(self) -> Ruling:
        done = {item["part"]: item for item in self.proposal.published}
        try:
            left = [part for part in self._parts() if part.part not in done]
        except HzError as unreadable:
            return self._stuck(str(unreadable), _Stop(0, 0, self.proposal.state), done)
        doubles: list[Receipt] = []
        for place, part in enumerate(left):
            try:
                refs = self._send(part)
            except (LeaseOver, Deferred) as late:
                raise _Late(str(late), self._cut_short(str(late), done, tuple(doubles))) from None
            except HzError as error:
                state = UNKNOWN if isinstance(error, PublishUnknown) else self.proposal.state
                return self._stuck(str(error), _Stop(part.part, len(left) - place - 1, state), done, tuple(doubles))
            done[part.part] = {"part": part.part, "target": part.target, "ref": refs[0]}
            doubles.extend(self._double(part, double) for double in refs[1:])
        return self._out(_listed(done), tuple(doubles))

    def _parts(self) -> tuple[Part, ...]:
        digest = self.proposal.digest
        path = f"drafts/{digest[:2]}/{digest}.json"
        content = self.world.state.read(self.view, [path]).get(path)
        if content is None:
            raise PublishRefused(f"{path} is missing on the state branch; `hz-team receipts verify` tells more")
        kind = registry.publisher(self.proposal.kind)
        about, payload = self.proposal, readable(json.loads(content), path)
        return kind.parts(payload, self.view.repository, about.key, job=about.job, proposal=about.id)

    def _send(self, part: Part) -> tuple[str, ...]:
        """Return the outcome's ref, then the refs of doubles that were closed."""
        kind = registry.publisher(self.proposal.kind)
        world, since = self.world, self.proposal.created_at
        tools = PublishTools(world.forge, world.http, world.config.settings, self.check, since)
        found = kind.find(part, tools)
        if found.status == "unknown" and not self.first:
            raise PublishUnknown("nobody can tell whether it arrived")
        if found.status != "found":
            self.check()
            ref = kind.publish(part, tools)
            found = kind.find(part, tools)
            if found.status != "found":
                return (ref,)
        for double in found.refs[1:]:
            self.check()
            tools.forge.withdraw(part.kind, double, f"double of {found.refs[0]}")
        return found.refs

    def _stuck(
        self,
        error: str,
        stop: _Stop,
        done: Mapping[int, Mapping[str, Any]],
        doubles: tuple[Receipt, ...] = (),
    ) -> Ruling:
        attempted = {"part": stop.part, "at": self.now, "error": error, "left": stop.left}
        proposal = self.proposal._replace(state=stop.state, attempted=attempted, published=_listed(done))
        receipt = self._receipt("failed", published=proposal.published, error=error)
        return Ruling(proposal, (receipt, *doubles), text=f"{proposal.id} not published: {error}")

    def _cut_short(
        self, why: str, done: Mapping[int, Mapping[str, Any]], doubles: tuple[Receipt, ...]
    ) -> tuple[Ruling, ...]:
        """Return what is to be recorded of the parts that went out; the attempt stays as it is on record."""
        proposal = self.proposal._replace(published=_listed(done))
        if proposal.published == self.proposal.published:
            return ()
        receipt = self._receipt("failed", published=proposal.published, error=why)
        return (Ruling(proposal, (receipt, *doubles), text=f"{proposal.id} not published: {why}"),)

    def _out(self, published: tuple[Mapping[str, Any], ...], doubles: tuple[Receipt, ...]) -> Ruling:
        refs = ", ".join(item["ref"] for item in published)
        by = ", ".join(answer.by for answer in self.proposal.answers) or "policy"
        words = f"Published {refs}: {self.proposal.title}, approved by {by}"
        proposal = self.proposal._replace(published=published, attempted={})
        receipts = (self._receipt("published", published=published), *doubles)
        return Ruling(proposal, receipts, open=False, base=proposal.snapshot, text=words, decision=True)

    def _double(self, part: Part, ref: str) -> Receipt:
        outcome = ({"part": part.part, "target": part.target, "ref": ref},)
        return self._receipt("superseded", published=outcome, reason=f"a double of part {part.part} was closed")

    def _receipt(self, disposition: str, **more: Any) -> Receipt:
        config, repository = self.world.config, self.view.repository
        return evidence.receipt(self.proposal, disposition, config=config, repository=repository, now=self.now, **more)


class _Stop(NamedTuple):
    """Where an attempt ended."""

    part: int
    left: int
    """Parts that were not tried."""
    state: str
    """Of the proposal from now on."""


def _listed(done: Mapping[int, Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple(done[number] for number in sorted(done))
