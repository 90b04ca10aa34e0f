"""The leases of a repository as Git keeps them: one ref a job, a chain of commits without files on each.

No decisions here: what stands where, new commits, and a push that says of each ref whether it is ours now.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters import git, lease_note, refusal
from hz_team.adapters.git_runner import GitError
from hz_team.adapters.nearby import loose_ref
from hz_team.errors import TryAgain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.adapters.git_runner import Repository
    from hz_team.adapters.lease_claim import Wanted
    from hz_team.adapters.lease_note import Note
    from hz_team.adapters.mirror import Mirror
    from hz_team.errors import HzError

PLACE = "refs/hz/lease/job/"
COPY = "refs/hz/remote/job/"
"""Where the cache keeps what was fetched."""


class Tip(NamedTuple):
    """Where one job's lease stands on the remote."""

    commit: str
    note: Note | None
    """None: nobody of ours wrote that commit."""


class Outcome(NamedTuple):
    """What became of a push of several refs, each by itself or all or nothing."""

    ours: frozenset[str]
    """Refs that stand where we wanted."""
    unsure: frozenset[str] = frozenset()
    """Refs that nobody answered for and that do not stand there yet: they still may."""
    atomic: bool | None = None
    """Whether the server can do all or nothing; None if it was not asked."""


class Chains:
    """The lease refs of one state repository."""

    def __init__(self, mirror: Mirror, author: str) -> None:
        """`author` commits: `name <address>`."""
        self.mirror, self.author = mirror, author
        self._made: dict[str, set[str]] = {}

    def read(self, repository: Repository) -> dict[str, Tip]:
        """Ask the remote where every lease stands, by job. Raises GitError."""
        if self.mirror.source:
            place, found = PLACE, git.refs(repository._replace(path=self.mirror.source), PLACE)
        else:
            place, found = COPY, self._fetched(repository)
        return {one.name.removeprefix(place): Tip(one.commit, lease_note.read(one.message)) for one in found}

    def make(self, repository: Repository, wanted: Sequence[Wanted]) -> list[git.Update]:
        """Make the commits, each on its parent, and return the updates that would push them. Raises GitError."""
        if not wanted:
            return []
        self._have(repository, wanted)
        abouts = [git.Message(lease_note.written(one.job, one.note), self.author, one.note.at) for one in wanted]
        commits = git.commit_empty(repository, [one.parent for one in wanted], abouts)
        for one, commit in zip(wanted, commits, strict=True):
            self._made.setdefault(one.job, set()).add(commit)
        pairs = zip(wanted, commits, strict=True)
        return [git.Update(f"{PLACE}{one.job}", one.parent, commit) for one, commit in pairs]

    def is_ours(self, job: str, commit: str) -> bool:
        """Whether we made that commit: of a push that nobody answered, one of the first may be applied last."""
        return commit in self._made.get(job, ())

    def forget(self, job: str) -> None:
        """Take what we made so far for somebody else's: another process goes on from there."""
        self._made.pop(job, None)

    def push(self, repository: Repository, updates: Sequence[git.Update], *, atomic: bool = False) -> Outcome:
        """Push each ref by itself, or all or nothing (`atomic`) where the server can do that.

        Raises RemoteError if no lease was moved and one was refused, or if nobody can tell what became of them.
        """
        if not updates:  # Git would push what it thinks is meant
            return Outcome(frozenset())
        pushed = git.push(repository, updates, atomic=atomic)
        can = None
        if atomic and (pushed.lines or refusal.CANNOT in pushed.stderr):
            can = refusal.CANNOT not in pushed.stderr
            pushed = pushed if can else git.push(repository, updates)
        ours, refused = self._judged(updates, pushed)
        left = {update.ref for update in updates} - pushed.lines.keys()
        if any(ref.startswith(PLACE) for ref in left):
            ours |= self._arrived(repository, [one for one in updates if one.ref in left], pushed.stderr)
        if refused and not any(one.ref in ours and _is_lease(one) for one in updates):
            raise refused
        return Outcome(frozenset(ours), frozenset(left - ours), can)

    def _judged(self, updates: Sequence[git.Update], pushed: git.Pushed) -> tuple[set[str], HzError | None]:
        """Return the refs that were moved, and why a lease was refused for good."""
        ours, refused = set(), None
        for update in updates:
            if update.ref not in pushed.lines:
                continue
            verdict = refusal.judge(self.mirror.url, update.ref, pushed.lines[update.ref], pushed.stderr)
            if verdict is None:
                ours.add(update.ref)
            elif isinstance(verdict, TryAgain):
                self.mirror.free_source(update.ref)
            elif _is_lease(update):
                refused = verdict
        return ours, refused

    def _arrived(self, repository: Repository, updates: Sequence[git.Update], stderr: str) -> set[str]:
        """Look what became of a push that nobody answered: a commit with our nonce is ours."""
        if refusal.is_denied(stderr):
            raise refusal.denied(self.mirror.url, stderr)
        try:
            now = self.read(repository)
        except GitError:
            raise refusal.unknown(self.mirror.url, stderr) from None
        return {one.ref for one in updates if one.ref.startswith(PLACE) and _commit(now, one.ref) == one.new}

    def _fetched(self, repository: Repository) -> list[git.Ref]:
        cold = not os.path.isdir(os.path.join(repository.path, COPY))
        try:  # a cold cache takes the newest commit of each chain, a warm one what is new
            git.fetch(repository, f"+{PLACE}*:{COPY}*", depth=1 if cold else 0, prune=True)
        except GitError as error:
            if error.stderr.strip() or not cold:
                raise
            return []  # with a depth Git ends with 1 and without a word where nothing matches
        return git.refs(repository, COPY)

    def _have(self, repository: Repository, wanted: Sequence[Wanted]) -> None:
        """Bring the parents back if the cache was made anew since they were read."""
        if self.mirror.source:
            return
        lost = [one.job for one in wanted if one.parent and not self._is_here(one)]
        if lost:
            now = self.read(repository)
            if gone := next((job for job in lost if job not in now), ""):
                raise TryAgain(f"the lease of {gone} is not ours any more (it was removed); run the tick again")

    def _is_here(self, one: Wanted) -> bool:
        """Whether the parent lies in the cache: as we made it, or as it was fetched."""
        loose = os.path.join(self.mirror.path, "objects", one.parent[:2], one.parent[2:])
        return os.path.exists(loose) or loose_ref(self.mirror.path, f"{COPY}{one.job}") == one.parent


def _is_lease(update: git.Update) -> bool:
    """Whether an update takes or moves a lease; others ride along and may be refused."""
    return update.ref.startswith(PLACE) and bool(update.new)


def _commit(tips: Mapping[str, Tip], ref: str) -> str:
    tip = tips.get(ref.removeprefix(PLACE))
    return tip.commit if tip else ""
