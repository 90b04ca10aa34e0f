"""A state branch with several writers: a record and the leases it relies on are one push, all or nothing.

If others were faster but our leases are intact, what still holds is replayed on their tip; if a lease was lost, nothing
is recorded. A push that nobody answered is looked for by ancestry.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters import git, refusal
from hz_team.adapters import view as views
from hz_team.adapters.branch import Branch
from hz_team.adapters.git_runner import GitError
from hz_team.adapters.nearby import BRANCH
from hz_team.adapters.replay import Moved, Tree, asked, replay
from hz_team.errors import RemoteError, TryAgain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.adapters.git_runner import Repository
    from hz_team.adapters.lease_hand import Renewal
    from hz_team.adapters.lease_ref import RefLeases
    from hz_team.model.state import View
    from hz_team.ports import Lease

ATTEMPTS = 8
"""Pushes of one record; each that fails means that another writer's came through, or that nobody answered."""
PAUSE = 0.05
"""Seconds; the longest pause before the second push, doubled for each one after it."""
Files = dict[str, "bytes | None"]


class Record(NamedTuple):
    """What is to be recorded."""

    view: View
    """What it was computed from."""
    files: Mapping[str, bytes | None]
    about: git.Message
    leases: Sequence[Lease]
    last: bool
    """The leases are given back with it."""


class Try(NamedTuple):
    """One push of a record."""

    after: View
    """The state as it leaves it."""
    renewals: Sequence[Renewal]


class SharedBranch(Branch):
    """One state branch that others write too, and the leases that say who may write what."""

    def __init__(self, url: str, cache: str, name: str, *, environ: Mapping[str, str], leases: RefLeases) -> None:
        """Nothing is asked yet."""
        super().__init__(url, cache, name, environ=environ)
        self._leases = leases

    def record(
        self,
        view: View,
        files: Mapping[str, bytes | None],
        about: git.Message,
        *,
        leases: Sequence[Lease] = (),
        last: bool = False,
    ) -> View:
        """Write one commit and renew its leases. Raises TryAgain (nothing was written), RemoteError when refused."""
        views.applied(view, files, view.tip)  # what this program could not read again is never pushed
        record = Record(view, files, about, leases, last)
        with self._mirror.writing() as repository:
            base, left = view, dict(files)
            tried: list[Try] = []
            while len(tried) < ATTEMPTS:
                tried.append(self._prepared(repository, record, base, left))
                said = self._push(repository, base, tried[-1])
                if not said:
                    after = self._settled(record, tried[-1])
                    if last and self._mirror.is_crowded():  # no earlier: others may record while it is made anew
                        self._mirror.rebuild()
                    return after
                time.sleep(random.uniform(0, PAUSE * 2 ** len(tried)))  # noqa: S311  (jitter, no secret)
                lost, tip = self._looked(repository, record, said)
                if self._arrived(repository, record, tried, tip):  # asked last: a late push moves leases, too
                    return self._mirror.insist(lambda: self._fetch(repository))
                if lost:
                    raise TryAgain(f"{lost}; nothing was recorded or published, run the tick again")
                base, left = self._moved(repository, record, tip)
                if not left:
                    return base
        raise TryAgain(
            f"{refusal.shown(self.url)}: {ATTEMPTS} pushes did not come through because others were faster or nobody "
            "answered; nothing was recorded or published, run the tick again",
        )

    def _prepared(self, repository: Repository, record: Record, base: View, files: Files) -> Try:
        def attempt() -> Try:
            commit = self._commit(repository, base.tip, files, record.about)
            after = views.applied(base, files, commit)
            if not record.leases:
                return Try(after, ())
            if self._leases.atomic is False:  # a lease that knows of a record must not be there without it
                return Try(after, self._leases.hand.renewals(repository, record.leases))
            return Try(after, self._leases.hand.renewals(repository, record.leases, after=after, free=record.last))

        return self._mirror.insist(attempt)

    def _push(self, repository: Repository, base: View, one: Try) -> str:
        """Push; return "" if it is certain that it came through, else what Git said. Raises RemoteError, TryAgain."""
        update = git.Update(BRANCH, base.tip, one.after.tip)
        renewed = [renewal.update for renewal in one.renewals]
        if renewed and self._leases.atomic is False:  # a thief may come between; his record shows him ours
            if self._leases.hand.push(repository, one.renewals):
                return "a lease was not renewed"
            renewed = []
        pushed = git.push(repository, (update, *renewed), atomic=bool(renewed))
        if refusal.CANNOT in pushed.stderr:
            self._leases.atomic = False
            return pushed.stderr
        if renewed and pushed.lines:
            self._leases.atomic = True
        if not pushed.lines and refusal.is_denied(pushed.stderr):
            raise refusal.denied(self.url, pushed.stderr)
        verdicts = [refusal.judge(self.url, ref, line, pushed.stderr) for ref, line in pushed.lines.items()]
        if refused := next((one for one in verdicts if one and not isinstance(one, TryAgain)), None):
            raise refused
        if any(verdicts):
            for ref in (BRANCH, *(one.ref for one in renewed)):
                self._mirror.free_source(ref)
        came = BRANCH in pushed.lines and not any(verdicts)
        return "" if came else pushed.stderr or "no answer"

    def _looked(self, repository: Repository, record: Record, said: str) -> tuple[str, str]:
        """Return what to say about a lost lease ("": none is), and the tip. Raises RemoteError: nobody knows."""
        lost = ""
        try:
            if record.leases:
                lost = self._mirror.insist(lambda: self._leases.hand.lost(repository, record.leases))
            return lost, self._mirror.insist(lambda: self._tip(repository))
        except RemoteError:
            raise refusal.unknown(self.url, said) from None

    def _arrived(self, repository: Repository, record: Record, tried: Sequence[Try], tip: str) -> bool:
        """Whether one of our pushes was applied after all, whatever was said about it; its leases are noted then."""
        for one in tried:
            try:
                if tip and self.contains(repository, tip, one.after.tip):
                    self._settled(record, one)
                    return True
            except GitError as error:
                if "Not a valid commit name" not in error.stderr:
                    raise refusal.unknown(self.url, error.stderr) from None
                continue  # the cache was made anew: what it lost never came to the tip
        return False

    def _settled(self, record: Record, one: Try) -> View:
        if record.leases and self._leases.atomic is False:
            self._leases.hand.learn(record.leases, one.after)
        elif one.renewals:
            self._leases.hand.settle(one.renewals)
        views.save(self._mirror.path, one.after)
        return one.after

    def _moved(self, repository: Repository, record: Record, tip: str) -> tuple[View, Files]:
        """Return the tip as it is now and what is left to write there. Raises TryAgain if that is not for us to say."""
        if tip == record.view.tip:
            return record.view, dict(record.files)
        before = record.view.tip
        if before and not (tip and self._mirror.insist(lambda: self.contains(repository, tip, before))):
            raise TryAgain(
                f"{refusal.shown(self.url)}: hz-state was set to another history while this tick worked; nothing was "
                "recorded, look who did that before you run it again",
            )
        old, new = (self._tree(repository, at, asked(record.files)) for at in (record.view.tip, tip))
        here = self._mirror.insist(lambda: self._fetch(repository))
        left = replay(Tree(record.view, old), Tree(here, new), record.files, {one.job for one in record.leases})
        if isinstance(left, Moved):
            raise TryAgain(
                f"{refusal.shown(self.url)}: another tick changed {left.path} first, so this one recorded nothing; run "
                "it again",
            )
        return here, left

    def _tree(self, repository: Repository, tip: str, paths: Sequence[str]) -> dict[str, str]:
        if not tip:
            return {}
        found = self._mirror.insist(lambda: git.blobs(repository, tip, *paths, "facets"))
        return {blob.path: blob.id for blob in found}
