"""What rides along with a claim: a commit on the state branch as one more ref of the same push, not all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters import git
from hz_team.adapters import view as views
from hz_team.adapters.branch import Branch
from hz_team.adapters.git_runner import GitError
from hz_team.adapters.nearby import BRANCH
from hz_team.errors import HzError

if TYPE_CHECKING:
    from hz_team.adapters.git_runner import Repository
    from hz_team.adapters.lease_chain import Outcome
    from hz_team.model.state import View
    from hz_team.ports import Riding


class Passenger(NamedTuple):
    """A commit that is pushed with a claim."""

    update: git.Update
    after: View
    """The state as it leaves it."""
    came: bool | None = False
    """None: nobody answered."""

    def pushed(self, outcome: Outcome) -> Passenger:
        """Return it with what became of it."""
        unsure = self.update.ref in outcome.unsure
        return self._replace(came=None if unsure else self.update.ref in outcome.ours)


def board(repository: Repository, riding: Riding, author: str, at: int) -> Passenger | None:
    """Make the commit; None if that needs what the cache does not have: then it is recorded by itself, later."""
    about = git.Message(riding.message, author, at)
    try:
        commit = git.commit(repository, riding.view.tip, riding.files, about)
    except GitError:
        return None
    return Passenger(git.Update(BRANCH, riding.view.tip, commit), views.applied(riding.view, riding.files, commit))


def arrive(passenger: Passenger, branch: Branch, folder: str) -> View | None:
    """Return the state with what rode along, None if it is not known to be there; `folder`: the branch's cache."""
    if passenger.came:
        views.save(folder, passenger.after)
        return passenger.after
    if passenger.came is False:
        return None
    try:
        view = branch.fetch()
    except HzError:
        return None  # whoever records it by itself will find out
    return view if view.tip and branch.follows(view, passenger.update.new) else None
