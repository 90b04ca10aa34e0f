"""The state branch of a Git repository, whatever its URL.

A tick on an unchanged branch costs at most one Git process (`fetch`); beside a repository on this machine none: the
branch's own file says where it stands, a copy of the View lies in the cache, and Git's adapters are not even loaded.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hz_team.adapters import view as views
from hz_team.adapters.nearby import BRANCH, file_url, local_directory, loose_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hz_team.adapters.branch import Branch
    from hz_team.adapters.clock import Reading
    from hz_team.adapters.lease_ref import RefLeases
    from hz_team.model.state import View
    from hz_team.ports import Guard, Lease


class GitState:
    """`ports.State` on a Git URL, with a cache folder that may be deleted at any time."""

    def __init__(
        self,
        url: str,
        cache: str,
        *,
        repository: str = "local",
        author: str = "hz-team <hz-team@localhost>",
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        leases: RefLeases | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Nothing is asked before `fetch`; `repository` is the name the first ledger.json is expected to carry.

        `leases`: others write this branch too; records renew them, and are replayed where the branch moved. `say` is
        told in a sentence what was saved from a damaged cache.
        """
        self._leases, self._say = leases, say
        self._reading: Reading | None = None
        self._asked = False
        self.url, self.author, self.clock = url, author, clock
        self._cache, self._name = os.path.abspath(cache), repository
        self._environ = os.environ if environ is None else environ
        self._branch: Branch | None = None

    @staticmethod
    def create_local(path: str, environ: Mapping[str, str] | None = None) -> str:
        """Make the bare repository of the embedded default unless it is there; return its URL. Raises RemoteError."""
        if not os.path.isfile(os.path.join(path, "HEAD")):
            from hz_team.adapters.mirror import make_embedded

            make_embedded(os.path.abspath(path), os.environ if environ is None else environ)
        return file_url(os.path.abspath(path))

    def fetch(self) -> View:
        """Return the branch as it is now. Raises RemoteError when the repository cannot be reached."""
        source = local_directory(self.url)
        if source and (tip := loose_ref(source, BRANCH)) and (known := views.load(self._cache, tip)):
            return known
        return self._opened().fetch()

    def read(self, view: View, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the named files of that view in one batch; names that do not exist are left out."""
        return self._opened().read(view, paths) if view.tip and paths else {}

    def record(
        self,
        view: View,
        files: Mapping[str, bytes | None],
        message: str,
        *,
        leases: Sequence[Lease] = (),
        last: bool = False,
    ) -> View:
        """Write or remove (None) files in one commit on `view.tip` and push it, expecting that tip.

        Leases on refs are renewed (`last`: given back) by the same push. Returns the new view. Raises TryAgain when the
        branch moved and what was computed does not hold there, or a lease was lost (nothing was written); RemoteError
        when refused.
        """
        if not files:
            return view
        from hz_team.adapters.git import Message

        about = Message(message, self.author, int(self.clock()))
        return self._opened().record(view, files, about, leases=leases, last=last)

    def receipts(self, view: View) -> Iterator[tuple[str, bytes]]:
        """Yield id and raw bytes of every receipt, newest months first, then sealed lines, newest segment first."""
        return self._opened().receipts(view) if view.tip else iter(())

    def ledger(self, view: View) -> Iterator[tuple[str, bytes]]:
        """Yield path and raw bytes of every file that holds receipts, segments too."""
        return self._opened().ledger(view) if view.tip else iter(())

    def names(self, view: View, folder: str) -> tuple[str, ...]:
        """Return the paths of the files below a folder of that view, in order."""
        return self._opened().names(view, folder) if view.tip else ()

    def follows(self, view: View, tip: str) -> bool | None:
        """Whether that view's commit comes after (or is) an older one; None if nobody here can tell."""
        return self._opened().follows(view, tip) if view.tip else False

    def time(self) -> int | None:
        """Return the server's time in seconds since 1970, None if it does not say. Asks once a process."""
        if not self.url.startswith(("https://", "http://")):
            return None
        if not self._asked:
            from hz_team.adapters import clock

            self._asked, self._reading = True, clock.ask(self.url)
        return self._reading.now() if self._reading else None

    def guarded(self) -> Guard | None:
        """Return how the server guards the branch against those who may push; None if that cannot be asked here."""
        source = local_directory(self.url)
        if not source:
            return None
        from hz_team.adapters import probe

        return probe.guarded(source, self._environ)

    def _opened(self) -> Branch:
        if self._branch is None and self._leases is not None:
            from hz_team.adapters.shared_branch import SharedBranch

            self._branch = SharedBranch(self.url, self._cache, self._name, environ=self._environ, leases=self._leases)
        if self._branch is None:
            from hz_team.adapters.branch import Branch

            self._branch = Branch(self.url, self._cache, self._name, environ=self._environ)
        self._branch.say = self._say
        return self._branch
