"""A person with a browser: what they write is stored with CRLF, and what they change keeps its history.

Whether they may is not asked: a page can have been theirs when they opened it. Tokens are asked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hz_team.testing.github import push, work
from hz_team.testing.github.bare import NOTHING, Signed
from hz_team.testing.github.deed import Actor
from hz_team.testing.github.noun import Comment, Issue, Pull

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hz_team.testing.github.noun import Account, Discussion, Release, Text
    from hz_team.testing.github.server import GitHub
    from hz_team.testing.github.store import Repository


class Person:
    """A person at work."""

    def __init__(self, github: GitHub, account: Account) -> None:
        """Made by `GitHub.person`."""
        self.github, self.account = github, account

    @property
    def login(self) -> str:
        """Their name."""
        return self.account.login

    def opens(self, repo: Repository, title: str, body: str = "", *, labels: Iterable[str] = ()) -> Issue:
        """Open an issue."""
        with self.github.lock:
            return self._at(repo).opens(title, as_typed(body), labels)

    def edits(self, issue: Issue, text: str, *, title: str | None = None) -> None:
        """Change the body of an issue or pull request."""
        with self.github.lock:
            self._of(issue).edits(issue, title=title, body=as_typed(text))

    def renames(self, issue: Issue, title: str) -> None:
        """Change only the title."""
        with self.github.lock:
            self._of(issue).edits(issue, title=title)

    def ticks(self, page: Issue | Comment, verb: str, target: str = "", *, mark: str = "x") -> None:
        """Tick the box of a row, found by its marker. Raises ValueError if there is none that is empty."""
        self._sets(page, verb, target, r"\[ \]", f"[{mark}]")

    def unticks(self, page: Issue | Comment, verb: str, target: str = "") -> None:
        """Clear the box of a row. Raises ValueError if there is none that is ticked."""
        self._sets(page, verb, target, r"\[[xX]\]", "[ ]")

    def comments(self, issue: Issue, text: str) -> Comment:
        """Comment on an issue or pull request."""
        with self.github.lock:
            return self._of(issue).comments(issue, as_typed(text))

    def edits_comment(self, comment: Comment, text: str) -> None:
        """Change a comment."""
        with self.github.lock:
            actor = self._of(comment)
            actor.edits_comment(actor.repo.threads[comment.number], comment, as_typed(text))

    def deletes_comment(self, comment: Comment) -> None:
        """Remove a comment."""
        with self.github.lock:
            actor = self._of(comment)
            actor.deletes_comment(actor.repo.threads[comment.number], comment)

    def reacts(self, text: Text, content: str) -> None:
        """React with +1, eyes, rocket, …."""
        with self.github.lock:
            self._of(text).reacts(text, content)

    def closes(self, issue: Issue, reason: str = "completed") -> None:
        """Close an issue or pull request."""
        with self.github.lock:
            self._of(issue).closes(issue, reason)

    def reopens(self, issue: Issue) -> None:
        """Open it again."""
        with self.github.lock:
            self._of(issue).reopens(issue)

    def labels(self, issue: Issue, *names: str) -> None:
        """Add labels."""
        with self.github.lock:
            self._of(issue).sets_labels(issue, [*issue.labels, *names])

    def unlabels(self, issue: Issue, *names: str) -> None:
        """Take labels off."""
        with self.github.lock:
            self._of(issue).sets_labels(issue, [name for name in issue.labels if name not in names])

    def assigns(self, issue: Issue, *logins: str) -> None:
        """Assign further people."""
        with self.github.lock:
            self._of(issue).sets_assignees(issue, [*issue.assignees, *logins])

    def locks(self, issue: Issue) -> None:
        """Lock the conversation."""
        with self.github.lock:
            self._of(issue).sets_lock(issue, locked=True)

    def unlocks(self, issue: Issue) -> None:
        """Unlock it."""
        with self.github.lock:
            self._of(issue).sets_lock(issue, locked=False)

    def pins(self, issue: Issue) -> None:
        """Pin an issue."""
        with self.github.lock:
            self._of(issue).pins(issue)

    def deletes(self, issue: Issue) -> None:
        """Delete an issue: 410 from now on."""
        with self.github.lock:
            self._of(issue).deletes(issue)

    def transfers(self, issue: Issue, to: str) -> Issue:
        """Move an issue to another repository (`owner/name`): 301 from now on. Return it as it is there."""
        with self.github.lock:
            return self._of(issue).transfers(issue, self.github.repository(to))

    def deletes_revision(self, text: Text, at: int) -> None:
        """Remove one revision's text from the edit history; `at`: its place in `edits`."""
        with self.github.lock:
            text.edits[at].deleted_at = self.github.store.time()

    def pushes(
        self, repo: Repository, files: Mapping[str, str | bytes | None], message: str = "Change", *, branch: str = ""
    ) -> str:
        """Push one commit that writes or removes (None) files; return it."""
        branch = branch or repo.default_branch
        with self.github.lock:
            old = repo.bare.branch(branch)
            new = repo.bare.put(branch, files, message, self._signed())
            push.tell(self._at(repo), f"refs/heads/{branch}", old or NOTHING, new)
            return new

    def opens_pull(self, repo: Repository, title: str, head: str, *, base: str = "", body: str = "") -> Pull:
        """Open a pull request from a branch that was pushed."""
        with self.github.lock:
            return work.opens_pull(self._at(repo), title, as_typed(body), head, base or repo.default_branch)

    def merges(self, pull: Pull) -> str:
        """Merge a pull request; return the merge commit. Raises GitRefused on a conflict."""
        with self.github.lock:
            return work.merges(self._of(pull), pull, self._signed())

    def releases(self, repo: Repository, tag: str, body: str = "", *, name: str = "") -> Release:
        """Publish a release of the default branch."""
        with self.github.lock:
            return work.releases(self._at(repo), tag, as_typed(body), name=name or tag, target=repo.default_branch)

    def discusses(self, repo: Repository, title: str, body: str = "", *, category: str = "General") -> Discussion:
        """Start a discussion."""
        with self.github.lock:
            return work.discusses(self._at(repo), title, as_typed(body), category)

    def dispatches(self, repo: Repository, event: str, payload: Mapping[str, Any]) -> None:
        """Send a repository_dispatch."""
        with self.github.lock:
            work.dispatches(self._at(repo), event, payload)

    def starts(self, repo: Repository, workflow: str, inputs: Mapping[str, Any] = {}) -> None:
        """Start a workflow by hand."""
        with self.github.lock:
            work.starts(self._at(repo), self.github.workflow(repo.name, workflow), inputs, repo.default_branch)

    def _sets(self, page: Issue | Comment, verb: str, target: str, box: str, to: str) -> None:
        words = re.escape(f"hz:{verb} {target}".rstrip())
        row = re.compile(rf"^([^\S\n]*[-*+][^\S\n]+){box}(?=[^\n]*<!-- {words}(?: [^\n]*)?-->)", re.MULTILINE)
        text, count = row.subn(lambda match: f"{match[1]}{to}", page.text, count=1)
        if not count:
            raise ValueError(f"there is no box to change at {verb} {target} on:\n{page.text}")
        if isinstance(page, Comment):
            self.edits_comment(page, text)
        else:
            self.edits(page, text)

    def _at(self, repo: Repository) -> Actor:
        return Actor(self.github.store, self.github.site, repo, self.account)

    def _of(self, text: Text) -> Actor:
        return self._at(self.github.place(text))

    def _signed(self) -> Signed:
        return Signed(self.login, f"{self.login}@users.noreply.github.com", self.github.store.time())


def as_typed(text: str) -> str:
    """Return a text as a browser sends it: with CRLF."""
    return re.sub(r"\r\n|\r|\n", "\r\n", text)
