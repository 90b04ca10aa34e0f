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
    from hz_team.adapters.lease_note import Note
    from hz_team.adapters.mirror import Mirror

PLACE = "refs/hz/lease/job/"
COPY = "refs/hz/remote/job/"
"""Where the cache keeps what was fetched."""


class Standing(NamedTuple):
    """Where one job's lease stands on the remote."""

    commit: str
    note: Note | None
    """None: nobody of ours wrote that commit."""


class Wanted(NamedTuple):
    """One lease commit to make."""

    job: str
    parent: str
    """What the remote has now; "" for nothing."""
    note: Note


class Chains:
    """The lease refs of one state repository."""

    def __init__(self, mirror: Mirror, author: str) -> None:
        """`author` commits: `name <address>`."""
        self.mirror, self._author = mirror, author

    def read(self, repository: Repository) -> dict[str, Standing]:
        """Ask the remote where every lease stands, by job. Raises GitError."""
        if self.mirror.source:
            place, found = PLACE, git.refs(repository._replace(path=self.mirror.source), PLACE)
        else:
            place, found = COPY, self._fetched(repository)
        return {one.name.removeprefix(place): Standing(one.commit, lease_note.read(one.message)) for one in found}

    def make(self, repository: Repository, wanted: Sequence[Wanted]) -> list[git.Update]:
        """Make the commits, each on its parent, and return the updates that would push them. Raises GitError."""
        self._have(repository, wanted)
        abouts = [git.Message(lease_note.written(one.job, one.note), self._author, one.note.at) for one in wanted]
        commits = git.commit_empty(repository, [one.parent for one in wanted], abouts)
        pairs = zip(wanted, commits, strict=True)
        return [git.Update(f"{PLACE}{one.job}", one.parent, commit) for one, commit in pairs]

    def push(self, repository: Repository, updates: Sequence[git.Update]) -> set[str]:
        """Push each ref by itself; return those that stand where we wanted. Raises RemoteError if all are refused."""
        pushed = git.push(repository, updates)
        ours, refused = set(), None
        for update in updates:
            if update.ref not in pushed.lines:
                continue
            verdict = refusal.judge(self.mirror.url, update.ref, pushed.lines[update.ref], pushed.stderr)
            if verdict is None:
                ours.add(update.ref)
            elif isinstance(verdict, TryAgain):
                self.mirror.free_source(update.ref)
            else:
                refused = verdict
        unsure = [update for update in updates if update.ref not in pushed.lines]
        ours |= self._arrived(repository, unsure, pushed.stderr) if unsure else set()
        if refused and not ours:
            raise refused
        return ours

    def _arrived(self, repository: Repository, updates: Sequence[git.Update], stderr: str) -> set[str]:
        """Look what became of a push that nobody answered: a commit with our nonce is ours."""
        if refusal.is_denied(stderr):
            raise refusal.denied(self.mirror.url, stderr)
        try:
            now = self.read(repository)
        except GitError:
            raise refusal.unknown(self.mirror.url, stderr) from None
        return {one.ref for one in updates if _commit(now, one.ref) == one.new}

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


def _commit(standing: Mapping[str, Standing], ref: str) -> str:
    found = standing.get(ref.removeprefix(PLACE))
    return found.commit if found else ""
