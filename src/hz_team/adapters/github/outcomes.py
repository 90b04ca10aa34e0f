"""Outcomes on GitHub: what is published there, found again by its marker, and taken back where it was made twice.

`find` lists (search lags) all that may carry a marker, from a little before the proposal was made; a list without an
end is *unknown*. An issue, comment, pull request and release carry the marker in their text, a commit as a
trailer; a pull request's branch is named after it, so that one question finds it.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.errors import Forbidden, HzError, PublishRefused, RemoteError
from hz_team.ports import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from github.GitTree import GitTree
    from github.InputGitTreeElement import InputGitTreeElement
    from github.Repository import Repository

    from hz_team.adapters.github.address import Address
    from hz_team.adapters.github.hand import Hand
    from hz_team.ports import Api

EARLY = 300
"""Seconds before the proposal's time from which lists are read: clocks differ."""
MOST = 20
"""Pages of a hundred in one list; what has more is not listed to its end."""
HUNDRED, OK, GONE = 100, 200, (404, 410)
PREFIX = "hz/"
"""Of the branches of our pull requests."""
_KEY = re.compile(r"<!-- hz:key ([0-9a-f]{64}) -->")
_TRAILER = "Hz-Key"
_TARGET = re.compile(r"(?:([A-Za-z0-9-]+/[A-Za-z0-9._-]+))?#([1-9][0-9]*)")
_COMMENT = re.compile(r"((?:[A-Za-z0-9-]+/[A-Za-z0-9._-]+)?#[1-9][0-9]*)\(comment ([1-9][0-9]*)\)")
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Place(NamedTuple):
    """Where an outcome goes."""

    repository: str
    number: int = 0
    """Of an issue; 0 for the repository itself."""


class Outcomes:
    """The outcomes of one team."""

    def __init__(self, api: Api, hand: Hand, address: Address) -> None:
        """Nothing is asked yet."""
        self._api, self._hand, self._server = api, hand, address.server

    def find(self, kind: str, marker: str, *, target: str = "", since: int = 0) -> Found:
        """List the outcomes of a kind at a target that carry the marker, lowest first."""
        try:
            refs = list(self._found(kind, marker, target, max(0, since - EARLY)))
        except _EndlessError:
            return Found("unknown")
        return Found("found", tuple(refs)) if refs else Found("absent")

    def create(self, kind: str, content: Mapping[str, Any], marker: str) -> str:
        """Make one outcome; return its ref. Never looks first. Raises what `Hand.write` raises."""
        makers: dict[str, Callable[[Mapping[str, Any], str], str]] = {
            "issue": self._issue,
            "comment": self._comment,
            "pull_request": self._pull,
            "file": self._file,
        }
        if kind not in makers:
            raise PublishRefused(f"{kind} is nothing that can be made on GitHub yet")
        return makers[kind](content, marker)

    def withdraw(self, kind: str, ref: str, note: str) -> None:
        """Close an outcome that turned out to be a double; its marker counts no more."""
        if found := _COMMENT.fullmatch(ref):
            where = self._place(found[1]).repository
            if self._api.get(f"/repos/{where}/issues/comments/{found[2]}", permission="issues: read").status == OK:
                self._hand.drop_comment(int(found[2]), where)
            return
        if kind == "file":
            raise PublishRefused(f"{ref} wrote the same files twice; there is nothing to take back")
        place = self._place(ref)
        reply = self._api.get(f"/repos/{place.repository}/issues/{place.number}", permission="issues: read")
        if reply.status in GONE or not isinstance(reply.data, dict) or not _KEY.search(str(reply.data.get("body"))):
            return
        body = _KEY.sub(r"<!-- hz:closed \1 -->", str(reply.data["body"]))
        text = f"> Closed: {' '.join(note.split())}\n\n{body}"
        issue = self._hand.issue(place.number, place.repository)
        self._hand.write(f"close {ref}", "issues: write", lambda: issue.edit(body=text, state="closed"))

    def link(self, ref: str) -> str:
        """Return the address of an outcome, "" if nothing is called so."""
        if found := _COMMENT.fullmatch(ref):
            return f"{self.link(found[1])}#issuecomment-{found[2]}"
        if found := _TARGET.fullmatch(ref):
            return f"{self._server}/{found[1] or self._api.repository}/issues/{found[2]}"
        if _COMMIT.fullmatch(ref):
            return f"{self._server}/{self._api.repository}/commit/{ref}"
        return ref if ref.startswith(f"{self._server}/") else ""

    def _found(self, kind: str, marker: str, target: str, since: int) -> Iterator[str]:
        finders: dict[str, Callable[[str, str, int], Iterator[str]]] = {
            "issue": self._issues,
            "comment": self._comments,
            "pull_request": self._pulls,
            "file": self._commits,
        }
        if kind not in finders:
            raise _EndlessError
        yield from finders[kind](marker, target, since)

    def _issues(self, marker: str, target: str, since: int) -> Iterator[str]:
        place = self._place(target)
        params = {"state": "all", "since": _iso(since), "direction": "asc", "sort": "created"}
        for one in self._listed(f"/repos/{place.repository}/issues", params, "issues: read"):
            if "pull_request" not in one and _carries(one, marker):
                yield self._ref(place.repository, int(one["number"]))

    def _comments(self, marker: str, target: str, since: int) -> Iterator[str]:
        place = self._place(target)
        path = f"/repos/{place.repository}/issues/{place.number}/comments"
        for one in self._listed(path, {"since": _iso(since)}, "issues: read"):
            if _carries(one, marker):
                yield f"{self._ref(place.repository, place.number)}(comment {one['id']})"

    def _pulls(self, marker: str, target: str, since: int) -> Iterator[str]:  # noqa: ARG002  (its branch tells)
        owner = self._api.repository.partition("/")[0]
        params = {"state": "all", "head": f"{owner}:{branch_of(marker)}", "direction": "asc"}
        for one in self._listed(f"/repos/{self._api.repository}/pulls", params, "pull_requests: read"):
            if _carries(one, marker):
                yield f"#{one['number']}"

    def _commits(self, marker: str, target: str, since: int) -> Iterator[str]:  # noqa: ARG002  (there is one branch)
        path = f"/repos/{self._api.repository}/commits"
        for one in self._listed(path, {"since": _iso(since)}, "contents: read"):
            if _trailer(marker) in str((one.get("commit") or {}).get("message")).split("\n"):
                yield str(one["sha"])

    def _listed(self, path: str, params: Mapping[str, str | int], permission: str) -> Iterator[Mapping[str, Any]]:
        for page in range(1, MOST + 1):
            reply = self._api.get(path, {**params, "per_page": HUNDRED, "page": page}, permission=permission)
            if reply.status in GONE:
                raise PublishRefused(f"{path.removeprefix('/repos/')} is not there, or the token may not see it")
            if reply.status != OK or not isinstance(reply.data, list):
                raise RemoteError(f"{path} answered {reply.status} and no list")
            yield from (one for one in reply.data if isinstance(one, dict))
            if not reply.next:
                return
        raise _EndlessError

    def _issue(self, content: Mapping[str, Any], marker: str) -> str:
        place = self._place(str(content.get("target") or ""))
        repository = self._hand.at(place.repository)
        text, labels = _marked(str(content.get("body") or ""), marker), list(content.get("labels") or ())

        def act() -> int:
            return repository.create_issue(str(content["title"]), text, labels=labels).number

        return self._ref(place.repository, self._hand.write("open an issue", "issues: write", act))

    def _comment(self, content: Mapping[str, Any], marker: str) -> str:
        place = self._place(str(content["target"]))
        issue, text = self._hand.issue(place.number, place.repository), _marked(str(content.get("body") or ""), marker)
        number = self._hand.write("comment", "issues: write", lambda: issue.create_comment(text).id)
        return f"{self._ref(place.repository, place.number)}(comment {number})"

    def _pull(self, content: Mapping[str, Any], marker: str) -> str:
        """Push one commit to a branch named after the marker, then open the pull request from it."""
        repository, branch = self._hand.at(), branch_of(marker)
        base = str(content.get("base") or "") or self._default()
        if not self._has(branch):
            commit = self._commit(repository, base, content, marker)
            ref = f"refs/heads/{branch}"
            self._hand.write("make a branch", "contents: write", lambda: repository.create_git_ref(ref, commit))
        title, text = str(content["title"]), _marked(str(content.get("body") or ""), marker)

        def act() -> int:
            return repository.create_pull(base, branch, title=title, body=text).number

        try:
            number = self._hand.write("open a pull request", "pull_requests: write", act)
        except (Forbidden, PublishRefused) as refused:
            if "not permitted to create" not in str(refused) and not isinstance(refused, Forbidden):
                raise
            return f"{self._server}/{self._api.repository}/compare/{base}...{branch}?expand=1"
        labels = [str(label) for label in content.get("labels") or ()]
        if labels:
            issue = self._hand.issue(number)
            self._hand.write("label a pull request", "pull_requests: write", lambda: issue.add_to_labels(*labels))
        return f"#{number}"

    def _file(self, content: Mapping[str, Any], marker: str) -> str:
        """Write files in one commit on the default branch, or on the one that the draft names."""
        repository, branch = self._hand.at(), str(content.get("branch") or "") or self._default()
        commit = self._commit(repository, branch, content, marker)
        ref = self._hand.branch(branch)
        self._hand.write("move the branch", "contents: write", lambda: ref.edit(commit, force=False))
        return commit

    def _commit(self, repository: Repository, base: str, content: Mapping[str, Any], marker: str) -> str:
        """Make a commit on a branch's tip and return it; nothing shows it yet."""
        tip = self._tip(base)
        parent, below = repository.get_git_commit(tip), repository.get_git_tree(self._tree(tip))
        elements = [self._element(repository, path, text) for path, text in (content.get("files") or {}).items()]
        message = f"{content.get('title') or 'Update files'}\n\n{_trailer(marker)}\n"

        def tree() -> GitTree:
            return repository.create_git_tree(elements, below)

        made = self._hand.write("make a tree", "contents: write", tree)

        def commit() -> str:
            return repository.create_git_commit(message, made, [parent]).sha

        return self._hand.write("make a commit", "contents: write", commit)

    def _element(self, repository: Repository, path: str, text: Any) -> InputGitTreeElement:
        if not isinstance(text, dict):
            return self._hand.entry(path, None if text is None else str(text))

        def act() -> str:
            return repository.create_git_blob(str(text["base64"]), "base64").sha

        return self._hand.entry(path, sha=self._hand.write("send a file", "contents: write", act))

    def _tree(self, commit: str) -> str:
        reply = self._api.get(f"/repos/{self._api.repository}/git/commits/{commit}", permission="contents: read")
        if reply.status != OK or not isinstance(reply.data, dict):
            raise RemoteError(f"commit {commit} cannot be read: GitHub answered {reply.status}")
        return str(reply.data["tree"]["sha"])

    def _tip(self, branch: str) -> str:
        reply = self._api.get(f"/repos/{self._api.repository}/git/ref/heads/{branch}", permission="contents: read")
        if reply.status != OK or not isinstance(reply.data, dict):
            raise PublishRefused(f"there is no branch {branch} in {self._api.repository}")
        return str(reply.data["object"]["sha"])

    def _has(self, branch: str) -> bool:
        path = f"/repos/{self._api.repository}/git/ref/heads/{branch}"
        return self._api.get(path, permission="contents: read").status == OK

    def _default(self) -> str:
        reply = self._api.get(f"/repos/{self._api.repository}", permission="metadata: read")
        return str((reply.data or {}).get("default_branch") or "main")

    def _place(self, target: str) -> Place:
        """Return where a target is. Raises PublishRefused for a text that is none."""
        if found := _TARGET.fullmatch(target):
            return Place(found[1] or self._api.repository, int(found[2]))
        if "/" in target and "#" not in target:
            return Place(target)
        if target in ("", "here"):
            return Place(self._api.repository)
        raise PublishRefused(f"{target[:80]!a} is no place on GitHub; write #7, owner/name#7, owner/name or here")

    def _ref(self, repository: str, number: int) -> str:
        here = repository.lower() == self._api.repository.lower()
        return f"#{number}" if here else f"{repository}#{number}"


class _EndlessError(HzError):
    """A list has no end within reason."""


def branch_of(marker: str) -> str:
    """Return the branch of a pull request's marker."""
    return f"{PREFIX}{_key(marker)[:16]}"


def _key(marker: str) -> str:
    found = _KEY.fullmatch(marker)
    if not found:
        raise ValueError(f"{marker!r} is no marker")
    return found[1]


def _trailer(marker: str) -> str:
    return f"{_TRAILER}: {_key(marker)}"


def _marked(body: str, marker: str) -> str:
    """Return a text with its marker as the first line: a body may quote one further down."""
    return f"{marker}\n{body}" if body else marker


def _carries(thing: Mapping[str, Any], marker: str) -> bool:
    return str(thing.get("body") or "").partition("\n")[0].rstrip("\r") == marker


def _iso(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
