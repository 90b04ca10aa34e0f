"""How leases come into a process's hands: by a claim, or from another process of the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters import git, lease_claim, refusal, riding
from hz_team.adapters.branch import Branch
from hz_team.adapters.lease_chain import PLACE
from hz_team.adapters.lease_hand import ATTEMPTS, pause
from hz_team.adapters.lease_note import FREE, HELD
from hz_team.errors import TryAgain
from hz_team.ports import Known, Lease

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.adapters.git_runner import Repository
    from hz_team.adapters.lease_chain import Tip
    from hz_team.adapters.lease_claim import Taker, Wanted
    from hz_team.adapters.lease_ref import RefLeases
    from hz_team.model.state import View
    from hz_team.ports import Claim


class Round(NamedTuple):
    """One push of a claim."""

    unsure: bool = False
    """Nobody answered for a lease: it may be tried again."""
    missed: bool = False
    """A lease was not got."""
    passenger: riding.Passenger | None = None


def take(leases: RefLeases, claim: Claim, jobs: Sequence[str]) -> View | None:
    """Take what can be taken of these jobs; return the state with what rode along, if it is known to be there.

    Raises Behind (this push took nothing), TryAgain, RemoteError.
    """
    mirror, passenger = leases.hand.mirror, None
    with mirror.writing() as repository:
        for number in range(ATTEMPTS):
            left = [job for job in jobs if job not in leases.hand.held]
            done = _push(leases, repository, claim, left)
            passenger = passenger or done.passenger
            if not done.unsure and not (number and done.missed):  # what we missed may be what came late of ours
                break
            claim = claim._replace(riding=None, gone={})
            pause(number)
    if passenger is None:
        return None
    branch = Branch(
        leases.url, mirror.path, passenger.after.repository, environ=leases.environ
    )  # not a scrubbed one: it has the token
    return riding.arrive(passenger, branch, mirror.path)


def _push(leases: RefLeases, repository: Repository, claim: Claim, jobs: Sequence[str]) -> Round:
    """Read where the leases stand, then push against none that lives."""
    hand, taker = leases.hand, _taker(leases, claim.now)
    tips = hand.mirror.insist(lambda: hand.chains.read(repository))
    _check_readable(leases, jobs, tips)
    wanted = lease_claim.wanted(claim, jobs, tips, taker)
    if not wanted:
        return Round()
    updates = hand.mirror.insist(lambda: hand.chains.make(repository, wanted))
    also = [
        git.Update(f"{PLACE}{job}", tips[job].commit, "")
        for job, known in claim.gone.items()
        if job not in claim.jobs and lease_claim.is_dead(tips.get(job), known)
    ]
    rider = riding.board(repository, claim.riding, leases.hand.chains.author, taker.now) if claim.riding else None
    outcome = hand.chains.push(repository, (*updates, *also, *((rider.update,) if rider else ())))
    for one, update in zip(wanted, updates, strict=True):
        if update.ref in outcome.ours:
            hand.take(_lease(one, update), one.note)
    missed = {update.ref for update in updates} - outcome.ours
    return Round(bool(missed & outcome.unsure), bool(missed), rider.pushed(outcome) if rider else None)


def adopt(leases: RefLeases, claim: Claim, given: Mapping[str, Lease]) -> None:
    """Renew leases that another process of this run handed over. Raises TryAgain, Behind; some may be ours then."""
    hand = leases.hand
    with hand.mirror.writing() as repository:
        for number in range(ATTEMPTS):
            tips = hand.mirror.insist(lambda: hand.chains.read(repository))
            wanted = [_continued(leases, claim, lease, tips.get(lease.job)) for lease in given.values()]
            updates = _made(leases, repository, wanted)
            outcome = hand.chains.push(repository, updates, atomic=leases.atomic is not False)
            leases.atomic = leases.atomic if outcome.atomic is None else outcome.atomic
            for one, update in zip(wanted, updates, strict=True):
                if update.ref in outcome.ours:
                    hand.take(_lease(one, update), one.note)
            if len(outcome.ours) == len(updates):
                return
            pause(number)
    raise TryAgain(
        f"{refusal.shown(leases.url)}: {ATTEMPTS} renewals of what `plan` took did not come through; nothing was "
        "recorded, run it again",
    )


def _made(leases: RefLeases, repository: Repository, wanted: Sequence[Wanted]) -> list[git.Update]:
    hand = leases.hand
    return hand.mirror.insist(lambda: hand.chains.make(repository, wanted))


def _continued(leases: RefLeases, claim: Claim, lease: Lease, tip: Tip | None) -> Wanted:
    """Return the commit that goes on with a lease, in this process to the end. Raises TryAgain, Behind."""
    job, note = lease.job, tip.note if tip else None
    here = tip and (tip.commit == lease.token or leases.hand.chains.is_ours(job, tip.commit))
    if not tip or not note or not here or note.mode == FREE or note.generation != lease.generation:
        taker = f"{note.holder} has it" if note and note.mode != FREE else "it was given back"
        raise TryAgain(
            f"the lease of {job} is not where `plan` left it ({taker}); nothing was recorded, the next tick plans anew",
        )
    lease_claim.check_length(job, note, claim.ledger, Known(seq=note.seq))
    mine = lease_claim.note_of(claim, _taker(leases, claim.now)).knowing(claim.ledger, note.seq)
    return lease_claim.Wanted(job, tip.commit, mine._replace(mode=HELD, generation=lease.generation))


def _lease(one: Wanted, update: git.Update) -> Lease:
    made = not one.parent
    return Lease(one.job, update.ref, update.new, one.note.generation, one.note.expires_at, made)


def _taker(leases: RefLeases, now: int) -> Taker:
    ours, at = leases.hand.chains.is_ours, leases.clock.now(now)
    return lease_claim.Taker(leases.holder, leases.run, leases.attempt, at, ours, leases.ended)


def _check_readable(leases: RefLeases, jobs: Sequence[str], tips: Mapping[str, Tip]) -> None:
    for job in jobs:
        tip = tips.get(job)
        if tip and tip.note is None:
            raise refusal.no_lease(leases.url, f"{PLACE}{job}", tip.commit)
