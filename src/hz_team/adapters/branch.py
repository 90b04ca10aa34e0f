"""The state branch, read and written by Git without a working tree; `state` opens it when a look is not enough."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hz_team.adapters import ancestry, git, refusal, rescue
from hz_team.adapters import view as views
from hz_team.adapters.git_runner import GitError, Repository
from hz_team.adapters.mirror import TIP, Mirror
from hz_team.adapters.nearby import BRANCH, loose_ref
from hz_team.errors import TryAgain
from hz_team.model.state import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hz_team.ports import Lease

AT_ONCE = 5_000
"""Objects asked for in one request."""
NAMED = 50
"""Files that are asked for by their paths: Git reads a whole folder for each of them."""
OLDER = 1_000
"""Commits that are brought here when the history known does not tell whether a record arrived."""


class Branch:
    """One state branch and the cache it is read through."""

    def __init__(self, url: str, cache: str, name: str, *, environ: Mapping[str, str]) -> None:
        """Nothing is asked yet; `name` is what the repository is called before a ledger.json says so."""
        self.url, self._name = url, name
        self._mirror = Mirror(url, cache, environ)
        self.say: Callable[[str], None] = lambda _: None
        """Told what happened to the cache that a person should know."""

    def fetch(self) -> View:
        """Return the branch as it is now. Raises RemoteError when the repository cannot be reached."""
        with self._mirror.writing() as repository:
            return self._mirror.insist(lambda: self._fetch(repository))

    def read(self, view: View, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the named files of that view in one batch; names that do not exist are left out."""
        if len(paths) > NAMED:
            return self._read_again(view.tip, paths)
        names = {f"{view.tip}:{path}": path for path in paths}
        try:
            found = git.contents(self._mirror.repository, list(names))
        except GitError:
            found = {}
        if len(found) < len(names):
            found = {f"{view.tip}:{path}": content for path, content in self._read_again(view.tip, paths).items()}
        return {names[name]: content for name, content in found.items()}

    def record(
        self,
        view: View,
        files: Mapping[str, bytes | None],
        about: git.Message,
        *,
        leases: Sequence[Lease] = (),  # noqa: ARG002  (one writer has one lock: nothing is renewed)
        last: bool = False,  # noqa: ARG002  (the same)
    ) -> View:
        """Write or remove (None) files in one commit on `view.tip` and push it, expecting that tip.

        Returns the new view. Raises TryAgain when the branch moved (nothing was written), RemoteError when refused.
        """
        after = views.applied(view, files, view.tip)  # what this program could not read again is never pushed
        with self._mirror.writing() as repository:
            if self._mirror.is_crowded():
                self._mirror.rebuild()
            commit = self._mirror.insist(lambda: self._commit(repository, view.tip, files, about))
            update = git.Update(BRANCH, view.tip, commit)
            pushed = git.push(repository, (update,))
            if answer := pushed.lines.get(BRANCH):
                self._judge(update, answer, pushed.stderr)
            elif self._find_out(repository, update, pushed.stderr) != commit:
                return self._mirror.insist(lambda: self._fetch(repository))  # ours arrived, and others came after it
            after = after._replace(tip=commit)
            views.save(self._mirror.path, after)
        return after

    def receipts(self, view: View) -> Iterator[tuple[str, bytes]]:
        """Yield id and raw bytes of every receipt, newest months first, then sealed lines, newest segment first.

        The id of an unsealed receipt is its file's name; a sealed line has no name but its own hash.
        """
        try:
            for folder in (*reversed(self._months(view.tip)), "segments"):
                files = sorted(self._files(view.tip, folder), key=_number, reverse=True)
                turn = 1 if folder == "segments" else len(files)
                while files:  # who looks for the newest does not wait for all segments
                    for path, content in git.stream(self._mirror.repository, self._present(view.tip, files[:turn])):
                        if folder == "segments":
                            yield from _lines(content)
                        else:
                            yield os.path.basename(path).removesuffix(".json"), content
                    del files[:turn]
                    turn *= 8
        except GitError as error:
            raise refusal.damaged(self.url, error) from None

    def ledger(self, view: View) -> Iterator[tuple[str, bytes]]:
        """Yield path and raw bytes of every file that holds receipts: loose ones, then segments by their numbers."""
        try:
            files = sorted(self._files(view.tip, "receipts", "segments"), key=_number)
            yield from git.stream(self._mirror.repository, self._present(view.tip, files))
        except GitError as error:
            raise refusal.damaged(self.url, error) from None

    def names(self, view: View, folder: str) -> tuple[str, ...]:
        """Return the paths of the files below a folder of that view, in order."""
        with self._mirror.writing() as repository:

            def attempt() -> tuple[str, ...]:
                self._have(repository, view.tip)
                return tuple(blob.path for blob in git.blobs(repository, view.tip, f"{folder}/"))

            return self._mirror.insist(attempt)

    def follows(self, view: View, tip: str) -> bool | None:
        """Whether that view's commit comes after (or is) an older one; None if nobody here can tell."""
        try:
            return ancestry.is_ancestor(self._mirror.repository, tip, view.tip)
        except GitError:
            return None  # the cache was made anew since

    def _fetch(self, repository: Repository) -> View:
        tip = self._tip(repository)
        self._tell(repository, tip)
        if not tip:
            return View("", repository=self._name)
        if known := views.load(self._mirror.path, tip):
            return known
        files = git.blobs(repository, tip, *views.PLACES)
        found = self._contents(repository, files)
        view = views.applied(View("", repository=self._name), found, tip)
        views.save(self._mirror.path, view)
        return view

    def _tip(self, repository: Repository) -> str:
        """Ask the remote where the branch stands and have that commit here; "" if there is no branch yet."""
        if self._mirror.source:
            return git.commit_of(repository._replace(path=self._mirror.source), BRANCH)
        cold = not loose_ref(repository.path, TIP)
        try:  # a warm cache asks without depth, so that ancestry stays known
            git.fetch(repository, f"+{BRANCH}:{TIP}", depth=1 if cold else 0, whole=self._mirror.is_whole)
        except GitError as error:
            if error.missing:
                return ""
            raise
        return git.commit_of(repository, TIP)

    def contains(self, repository: Repository, tip: str, commit: str) -> bool:
        """Whether a commit stands on the branch; older history is fetched if that takes it. Raises GitError."""
        told = ancestry.is_ancestor(repository, commit, tip)
        if told is None:
            ancestry.deepen(repository, BRANCH, OLDER)
            told = ancestry.is_ancestor(repository, commit, tip)
        if told is None:
            raise GitError(("merge-base",), 1, "the history known here is too short")
        return told

    def _tell(self, repository: Repository, tip: str) -> None:
        """Say what was saved from a damaged cache, once."""
        place = rescue.place_of(self._mirror.path)
        if rescue.untold(place):
            told = rescue.settle(place, lambda: _receipts(repository, tip), refusal.shown(self.url))
            if told:
                self.say(told)

    def _have(self, repository: Repository, tip: str) -> None:
        """Bring the commit back if the cache was made anew since it was fetched."""
        if tip and not self._mirror.source and not loose_ref(repository.path, TIP) and self._tip(repository) != tip:
            raise refusal.moved(self.url)

    def _contents(self, repository: Repository, files: Sequence[git.Blob]) -> dict[str, bytes]:
        """Return path → content, after asking the remote for what is not here."""
        found = git.contents(repository, [blob.id for blob in files])
        if missing := [blob.id for blob in files if blob.id not in found]:
            self._bring(repository, missing)
            found.update(git.contents(repository, missing))
        try:
            return {blob.path: found[blob.id] for blob in files}
        except KeyError as error:
            raise GitError(("cat-file",), 1, f"object {error} is missing") from None

    def _bring(self, repository: Repository, ids: Sequence[str]) -> None:
        if self._mirror.source:
            raise GitError(("cat-file",), 1, f"object {ids[0]} is missing")
        for start in range(0, len(ids), AT_ONCE):
            git.fetch_objects(repository, ids[start : start + AT_ONCE])

    def _read_again(self, tip: str, paths: Sequence[str]) -> dict[str, bytes]:
        with self._mirror.writing() as repository:

            def attempt() -> dict[str, bytes]:
                self._have(repository, tip)
                wanted = set(paths)
                places = wanted if len(wanted) <= NAMED else {_folder(path) for path in wanted}
                files = [blob for blob in git.blobs(repository, tip, *sorted(places)) if blob.path in wanted]
                return self._contents(repository, files)

            return self._mirror.insist(attempt)

    def _months(self, tip: str) -> list[str]:
        with self._mirror.writing() as repository:

            def attempt() -> list[str]:
                self._have(repository, tip)
                return git.folders(repository, tip, "receipts/")

            return [name for name in self._mirror.insist(attempt) if name.count("/") == 2]  # noqa: PLR2004  (receipts/YYYY/MM)

    def _files(self, tip: str, *folders: str) -> list[git.Blob]:
        with self._mirror.writing() as repository:

            def attempt() -> list[git.Blob]:
                self._have(repository, tip)
                return git.blobs(repository, tip, *(f"{folder}/" for folder in folders))

            return self._mirror.insist(attempt)

    def _present(self, tip: str, files: list[git.Blob]) -> list[git.Blob]:
        """Return these files of a commit after all of them were brought here."""
        if self._mirror.source:
            return files
        with self._mirror.writing() as repository:

            def attempt() -> list[git.Blob]:
                self._have(repository, tip)
                if missing := git.absent(repository, [blob.id for blob in files]):
                    self._bring(repository, missing)
                return files

            return self._mirror.insist(attempt)

    def _commit(self, repository: Repository, tip: str, files: Mapping[str, bytes | None], about: git.Message) -> str:
        self._have(repository, tip)
        return git.commit(repository, tip, files, about)

    def _judge(self, update: git.Update, answer: tuple[str, str], stderr: str) -> None:
        """Turn the remote's word on our push into nothing, TryAgain or RemoteError."""
        verdict = refusal.judge(self.url, update.ref, answer, stderr)
        if isinstance(verdict, TryAgain):
            self._mirror.free_source(update.ref)
        if verdict:
            raise verdict

    def _find_out(self, repository: Repository, update: git.Update, stderr: str) -> str:
        """Look what became of a push that nobody answered; return the branch's tip if our commit is in it."""
        if refusal.is_denied(stderr):
            raise refusal.denied(self.url, stderr)
        try:
            tip = self._tip(repository)
            arrived = bool(tip) and self.contains(repository, tip, update.new)
        except GitError:
            raise refusal.unknown(self.url, stderr) from None
        if not arrived:
            raise refusal.lost(self.url, stderr)
        return tip


def _receipts(repository: Repository, tip: str) -> set[str]:
    files = git.blobs(repository, tip, "receipts/") if tip else []
    return {os.path.basename(blob.path).removesuffix(".json") for blob in files}


def _number(blob: git.Blob) -> tuple[int, str]:
    """Return what orders segments by their number, and everything else by name."""
    number = os.path.basename(blob.path).partition("-")[0]
    return (int(number) if number.isdigit() else 0, blob.path)


def _folder(path: str) -> str:
    """Return the folder of a file, the file itself if it lies in none."""
    folder = os.path.dirname(path)
    return f"{folder}/" if folder else path


def _lines(segment: bytes) -> Iterator[tuple[str, bytes]]:
    from hashlib import sha256

    for line in reversed(segment.splitlines()):
        yield sha256(line).hexdigest(), line
