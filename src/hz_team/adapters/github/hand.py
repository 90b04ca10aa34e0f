"""Writes to GitHub, through PyGithub: one request each, a pause between two, and never again by itself.

Who gets an error here knows what became of the write: refused, not sent, or unknown. Looking before trying again is for
those who know what they look for.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, TypeVar

from hz_team import __version__
from hz_team.adapters.github import answer
from hz_team.errors import Deferred, HzError, PublishRefused, PublishUnknown, TryAgain

if TYPE_CHECKING:
    from collections.abc import Callable

    from github import Github
    from github.GithubException import GithubException
    from github.GitRef import GitRef
    from github.InputGitTreeElement import InputGitTreeElement
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.Repository import Repository

    from hz_team.adapters.github.address import Address

Result = TypeVar("Result")
PAUSE = 1.0
"""Seconds between two writes (docs.github.com: "Best practices for using the REST API"); none on this machine."""
DEADLINE = 20
"""Seconds for one request."""
BROKEN, NOT_VALID = 500, (404, 409, 410, 422)


class Hand:
    """What writes with one token in one repository, and in others that it may."""

    def __init__(
        self, address: Address, token: str, repository: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Nothing is loaded or asked yet."""
        self.repository, self.writes = repository, 0
        self._address, self._token, self._clock = address, token, clock
        self._github: Github | None = None
        self._deferred: Deferred | None = None

    def __repr__(self) -> str:
        """Show no token."""
        return f"Hand({self._address.rest}, {self.repository})"

    def open_issue(self, title: str, body: str, labels: tuple[str, ...] = (), assignees: tuple[str, ...] = ()) -> int:
        """Open an issue here; return its number. Raises what `write` raises."""

        def act() -> int:
            made = self.at().create_issue(title, body, labels=list(labels), assignees=list(assignees))
            return made.number

        return self.write("open an issue", "issues: write", act)

    def edit_issue(self, number: int, **changes: Any) -> None:
        """Change body, state or labels of an issue here."""
        self.write(f"change #{number}", "issues: write", lambda: self.issue(number).edit(**changes))

    def comment(self, number: int, body: str) -> int:
        """Comment on an issue here; return the comment's id."""
        return self.write(f"comment on #{number}", "issues: write", lambda: self.issue(number).create_comment(body).id)

    def edit_comment(self, comment: int, body: str) -> None:
        """Change a comment here."""
        self.write("change a comment", "issues: write", lambda: self._comment(comment).edit(body))

    def drop_comment(self, comment: int, name: str = "") -> None:
        """Remove a comment, here or in another repository."""
        self.write("remove a comment", "issues: write", lambda: self._comment(comment, name).delete())

    def react(self, comment: int, content: str) -> None:
        """Add a reaction to a comment here; a second one of the same kind changes nothing."""
        self.write("react to a comment", "issues: write", lambda: self._comment(comment).create_reaction(content))

    def write(self, what: str, permission: str, act: Callable[[], Result]) -> Result:
        """Make one write. `what`: in a few words.

        Raises Forbidden, Deferred, RemoteError (refused for good: the token, a limit), PublishRefused (what was sent is
        not valid, or its place is gone), TryAgain (nothing was sent), PublishUnknown (nobody can tell).
        """
        from github.GithubException import GithubException
        from requests.exceptions import RequestException

        if self._deferred and self._clock() < self._deferred.until:
            raise self._deferred
        self.writes += 1
        try:
            return act()
        except GithubException as error:
            judged = self._judged(error, what, permission)
            self._deferred = judged if isinstance(judged, Deferred) else None
            raise judged from None
        except RequestException as error:
            raise _unanswered(error, what) from None

    def at(self, name: str = "") -> Repository:
        """Return a repository without asking for it."""
        return self._opened().get_repo(name or self.repository)

    def issue(self, number: int, name: str = "") -> Issue:
        """Return an issue or pull request without asking for it."""
        return self.at(name).get_issue(number)

    def branch(self, name: str) -> GitRef:
        """Return a branch here without asking for it; one that PyGithub has not read would be changed elsewhere."""
        from github.GitRef import GitRef

        return GitRef(
            self._opened().requester, url=f"{self._address.rest}/repos/{self.repository}/git/refs/heads/{name}"
        )

    def entry(self, path: str, text: str | None = None, *, sha: str = "") -> InputGitTreeElement:
        """Return a file of a tree: with a text, as a blob, or (neither) removed."""
        from github import InputGitTreeElement

        if text is not None:
            return InputGitTreeElement(path, "100644", "blob", content=text)
        return InputGitTreeElement(path, "100644", "blob", sha=sha or None)

    def _comment(self, number: int, name: str = "") -> IssueComment:
        from github.IssueComment import IssueComment

        url = f"{self._address.rest}/repos/{name or self.repository}/issues/comments/{number}"
        return IssueComment(self._opened().requester, url=url)

    def _opened(self) -> Github:
        if self._github is None:
            from github import Auth, Github

            self._github = Github(
                auth=Auth.Token(self._token),
                base_url=self._address.rest,
                timeout=DEADLINE,
                retry=None,
                seconds_between_requests=0,
                seconds_between_writes=0 if self._address.is_here else PAUSE,
                user_agent=f"hz-team/{__version__}",
                lazy=True,
            )
        return self._github

    def _judged(self, error: GithubException, what: str, permission: str) -> HzError:
        headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
        body = json.dumps(error.data).encode() if isinstance(error.data, dict) else str(error.data or "").encode()
        said = answer.message(body)
        if error.status in NOT_VALID:
            return PublishRefused(f"{what}: GitHub answered {error.status}{f': {said}' if said else ''}")
        if error.status >= BROKEN:
            return PublishUnknown(f"{what}: GitHub answered {error.status}; nobody can tell whether it was done")
        found = answer.trouble(error.status, headers, body, asked=what, permission=permission, now=int(self._clock()))
        return found or PublishUnknown(f"{what}: GitHub answered {error.status}, which says nothing")


def _unanswered(error: Exception, what: str) -> HzError:
    """Return what a missing answer means: nothing left this machine, or nobody knows."""
    from requests.exceptions import ConnectTimeout
    from urllib3.exceptions import NameResolutionError, NewConnectionError

    reason = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(error, ConnectTimeout) or isinstance(reason, NewConnectionError | NameResolutionError):
        return TryAgain(f"{what}: GitHub cannot be reached; nothing was sent")
    return PublishUnknown(f"{what}: GitHub did not answer; nobody can tell whether it was done")
