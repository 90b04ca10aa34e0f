"""A GitHub on loopback: its face for tests and demos. REST, GraphQL and Git in one server that stops by itself."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from hz_team.testing.github import access, desk, git_http, operations, push, routes
from hz_team.testing.github.access import ALL, KINDS, Token
from hz_team.testing.github.deed import Actor
from hz_team.testing.github.fault import AFTER, BEFORE, Fault
from hz_team.testing.github.noun import ROLES, Run, Workflow
from hz_team.testing.github.person import Person
from hz_team.testing.github.shape import Site
from hz_team.testing.github.store import Repository, Store
from hz_team.testing.github.wire import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from hz_team.testing.github.desk import Asked, Sent
    from hz_team.testing.github.noun import Text

__all__ = ["GitHub", "Seen", "operations", "routes"]


class Seen(NamedTuple):
    """One request that arrived, and how it was answered."""

    method: str
    path: str
    """With its query and without `/api/v3`; of GraphQL `/graphql?operation=NAME`."""
    status: int
    """0: the connection was cut, or nothing was said."""
    kind: str
    """Of its token; "": it came without one that counts."""


class GitHub:
    """A GitHub; a context manager. It lives at most `lifetime` seconds."""

    def __init__(self, *, etags: str = "token", lifetime: float = 600) -> None:
        """`etags`: `token` (an ETag counts for the token that got it, as on GitHub) or `shared`."""
        self.now: Callable[[], float] = time.time
        """The server's clock in seconds since 1970; may be replaced at any time."""
        self.requests: list[Seen] = []
        """What arrived, oldest first."""
        self.lock = threading.RLock()
        """Held while one request is answered; hold it to change several things at once."""
        self._root = tempfile.mkdtemp(prefix="hz-github-")
        self._stopping = threading.Event()
        self._server = Server(self._answer, self._stopping)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        """Where it is: REST at {url}/api/v3, GraphQL at {url}/api/graphql, Git at {url}/OWNER/NAME.git."""
        self.site = Site(self.url)
        self.store = Store(self._root, lambda: self.now())  # noqa: PLW0108  (it may be replaced)
        self._desk = desk.Desk(self.store, self.site, etags=etags)
        self._tokens = 0
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._timer = threading.Timer(lifetime, self.stop)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._thread.start()
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the port and every connection, and remove the repositories; doing it twice does no harm."""
        self._timer.cancel()
        self._stopping.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        shutil.rmtree(self._root, ignore_errors=True)

    @property
    def rest(self) -> str:
        """The address of the REST API."""
        return self.site.api

    @property
    def graphql(self) -> str:
        """The address of the GraphQL API."""
        return f"{self.url}{desk.GRAPHQL}"

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Webhook payloads (name, payload) as Actions writes them into the event file, newest last."""
        return self.store.events

    def repository(self, name: str, *, private: bool = True) -> Repository:
        """Return a repository (`owner/name`), made with an empty bare repository when it is first named."""
        with self.lock:
            return self.store.repository(name, private=private)

    def person(self, login: str, role: str = "read", *, repo: str = "") -> Person:
        """Return a person, and give them a role in a repository: admin, maintain, write, triage, read or none."""
        if role not in ROLES:
            raise ValueError(f"{role!r} is no role; use one of {', '.join(ROLES)}")
        with self.lock:
            account = self.store.account(login)
            if repo:
                self.repository(repo).roles[login.lower()] = role
            return Person(self, account)

    def team(self, name: str, *logins: str) -> None:
        """Make a team (`org/team`) of these people; tokens of Actions cannot read it."""
        self.store.teams[name.lower()] = [self.store.account(login).login for login in logins]

    def token(self, kind: str, repo: str = "", *, permissions: Mapping[str, str] | None = None, who: str = "") -> str:
        """Return a new token: actions, app, fine_grained or classic.

        `repo`: the one repository where it counts ("": all of its person's). `permissions`: what it may, nothing else;
        None: everything but `members`. `who`: an app's name, or the login of a personal token's owner.
        """
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of token; use one of {', '.join(KINDS)}")
        login = {"actions": "github-actions[bot]", "app": f"{who or 'hz-helper'}[bot]"}.get(kind, who or "octocat")
        given = access.normal(dict(ALL if permissions is None else permissions))
        prefix = {"actions": "ghs", "app": "ghs", "fine_grained": "github_pat", "classic": "ghp"}[kind]
        with self.lock:
            self._tokens += 1
            text = f"{prefix}_{self._tokens:036d}"
            self._desk.tokens[text] = Token(text, kind, self.store.account(login), repo.lower(), given)
        return text

    def revoke(self, token: str) -> None:
        """Let a token count no more: 401."""
        self._desk.tokens[token].revoked = True

    def workflow(self, repo: str, path: str, *, state: str = "active", name: str = "") -> Workflow:
        """Return a workflow of a repository, made when it is first named; `path`: `tick.yml` or the whole path."""
        whole = path if "/" in path else f".github/workflows/{path}"
        repository = self.repository(repo)
        for one in repository.workflows:
            if one.path == whole:
                return one
        made = Workflow(self.store.serial(), whole, name or whole.rpartition("/")[2], self.store.time(), state)
        repository.workflows.append(made)
        return made

    def run(
        self,
        repo: str,
        workflow: str = "tick.yml",
        *,
        status: str = "completed",
        conclusion: str | None = "success",
        event: str = "schedule",
        branch: str = "",
        who: str = "github-actions[bot]",
    ) -> Run:
        """Let a workflow run; status: queued, in_progress or completed (then with a conclusion)."""
        repository, now = self.repository(repo), self.store.time()
        of, branch = self.workflow(repo, workflow), branch or repository.default_branch
        one = Run(
            self.store.serial(),
            of,
            event,
            self.store.account(who),
            branch,
            repository.bare.branch(branch) or "0" * 40,
            of.name,
            now,
            now,
            number=len(repository.runs) + 1,
            status=status,
            conclusion=conclusion if status == "completed" else None,
        )
        repository.runs.append(one)
        return one

    def fault(self, method: str, pattern: str, kind: str, *, times: int = 1) -> Fault:
        """Let the next `times` requests go wrong (0: all, until `calm`) whose path matches, with or without its query.

        Nothing is done: before-500, dropped, forbidden, secondary, too-many, rate, not-found, dead-token. It is done:
        after-500, timeout, after-dropped, lag, null-body, null-user, oversize, not-json; not-stored only says so.
        `pattern`: a regular expression; GraphQL is `/graphql?operation=NAME`, Git `/OWNER/NAME.git/…`.
        """
        if kind not in (*BEFORE, *AFTER):
            raise ValueError(f"{kind!r} is no fault; use one of {', '.join((*BEFORE, *AFTER))}")
        with self.lock:
            one = Fault(method, re.compile(pattern), kind, times, self.store.serial())
            self._desk.faults.append(one)
            return one

    def calm(self) -> None:
        """Let nothing go wrong any more."""
        self._desk.faults.clear()

    def count(self, method: str = "", pattern: str = "", *, status: int | None = None) -> int:
        """Return how many requests came, by method and path (a regular expression)."""
        return sum(
            method in ("", one.method) and status in (None, one.status) and bool(_matches(pattern, one.path))
            for one in self.requests
        )

    def forget(self) -> None:
        """Forget what was asked so far."""
        self.requests.clear()

    def place(self, text: Text) -> Repository:
        """Return the repository where a text stands."""
        return next(repository for repository, one in self.store.texts() if one is text)

    def _answer(self, asked: Asked) -> Sent:
        if repository := git_http.repository_of(self._desk, asked.path):
            return self._git(asked, repository)
        shown = self._shown(asked)
        with self.lock:
            sent, token = self._desk.answer(asked, shown)
            self.requests.append(Seen(asked.method, shown, sent.status, token.kind if token else ""))
            return sent

    def _git(self, asked: Asked, repository: Repository) -> Sent:
        pushing = git_http.is_push(asked) and asked.method == "POST"
        before = repository.bare.refs() if pushing else {}
        sent, token = git_http.answer(self._desk, asked, repository)
        with self.lock:
            self.requests.append(Seen(asked.method, asked.path, sent.status, token.kind if token else ""))
            if pushing and token:
                actor = Actor(self.store, self.site, repository, token.account, token.kind == "actions")
                push.tell_difference(actor, before)
            return sent

    def _shown(self, asked: Asked) -> str:
        if asked.path.startswith(desk.GRAPHQL):
            return f"/graphql?operation={desk.operation(asked.body)}"
        return asked.path.removeprefix(desk.REST)


def _matches(pattern: str, path: str) -> bool:
    return bool(re.search(pattern, path) or re.search(pattern, path.partition("?")[0]))
