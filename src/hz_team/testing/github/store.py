"""A GitHub's memory without HTTP: repositories, who may do what in them, and one clock."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hz_team.testing.github.bare import Bare
from hz_team.testing.github.noun import (
    ROLES,
    Account,
    Comment,
    Discussion,
    Edit,
    Issue,
    Label,
    Pull,
    Release,
    Run,
    Text,
    Workflow,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CATEGORIES = ("Announcements", "General", "Ideas", "Polls", "Q&A", "Show and tell")
LARGEST = 65_536
"""Characters of a body."""
_Numbered = TypeVar("_Numbered", bound="Issue | Discussion")


class Shelf(Generic[_Numbered]):
    """Things by number: `shelf[7]` gives any, also a deleted one; iterating shows those that are there, in order."""

    def __init__(self, things: Iterable[_Numbered]) -> None:
        """`things`: in any order."""
        self._things = {thing.number: thing for thing in things}

    def __getitem__(self, number: int) -> _Numbered:
        return self._things[number]

    def __iter__(self) -> Iterator[_Numbered]:
        return (thing for _, thing in sorted(self._things.items()) if thing.is_there)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, number: object) -> bool:
        return number in self._things


class Repository:
    """One repository: its bare Git repository and everything around it."""

    def __init__(self, store: Store, name: str, *, private: bool = True) -> None:
        """`name`: owner/name."""
        self.name = name
        self.id = store.serial()
        self.private = private
        self.created_at = store.time()
        self.default_branch = "main"
        self.bare = Bare(os.path.join(store.root, f"{name}.git"))
        self.has_issues = True
        self.has_discussions = True
        self.fork = False
        self.archived = False
        self.actions_may_open_pulls = True
        """False: an organisation switched off pull requests opened by Actions."""
        self.roles: dict[str, str] = {}
        """Login in lower case → admin, maintain, write, triage or read."""
        self.labels: dict[str, Label] = {}
        """By lower-case name."""
        self.threads: dict[int, Issue] = {}
        """Issues and pull requests by number."""
        self.releases: list[Release] = []
        """Oldest first."""
        self.workflows: list[Workflow] = []
        self.runs: list[Run] = []
        self.categories = CATEGORIES
        self.talks: dict[int, Discussion] = {}
        self.rules: dict[str, list[dict[str, Any]]] = {}
        """Branch → rules of active rulesets, such as `{"type": "deletion"}`."""
        self.last_number = 0

    @property
    def git(self) -> str:
        """The path of the bare repository."""
        return self.bare.path

    @property
    def owner(self) -> str:
        """The first half of the name."""
        return self.name.partition("/")[0]

    @property
    def issues(self) -> Shelf[Issue]:
        """Its issues, without pull requests."""
        return Shelf(thread for thread in self.threads.values() if not isinstance(thread, Pull))

    @property
    def pulls(self) -> Shelf[Pull]:
        """Its pull requests."""
        return Shelf(thread for thread in self.threads.values() if isinstance(thread, Pull))

    @property
    def discussions(self) -> Shelf[Discussion]:
        """Its discussions."""
        return Shelf(self.talks.values())

    @property
    def comments(self) -> list[Comment]:
        """Every comment below its issues and pull requests, oldest first."""
        threads = (thread for thread in self.threads.values() if thread.is_there)
        return sorted((one for thread in threads for one in thread.comments), key=lambda one: one.id)

    def role(self, login: str) -> str:
        """Return a login's permission; the owner of a personal repository is its admin."""
        default = "admin" if login.lower() == self.owner.lower() else "none"
        return self.roles.get(login.lower(), default)

    def allows(self, login: str, role: str) -> bool:
        """Whether a login has at least a role."""
        return ROLES.index(self.role(login)) >= ROLES.index(role)

    def next_number(self) -> int:
        """Return the number of the next issue, pull request or discussion."""
        self.last_number += 1
        return self.last_number

    def comment(self, number: int) -> tuple[Issue, Comment] | None:
        """Return a comment by its id, and what it stands below."""
        threads = (thread for thread in self.threads.values() if thread.is_there)
        return next(((thread, one) for thread in threads for one in thread.comments if one.id == number), None)


class Store:
    """Every repository, account and team of one GitHub."""

    def __init__(self, root: str, clock: Callable[[], float]) -> None:
        """`root`: the folder of the bare repositories; `clock`: a plain function, for stores are copied."""
        self.root = root
        self.clock = clock
        self.repositories: dict[str, Repository] = {}
        """By lower-case name."""
        self.accounts: dict[str, Account] = {}
        """By login in lower case."""
        self.teams: dict[str, list[str]] = {}
        """`org/team` → logins."""
        self.events: list[tuple[str, dict[str, Any]]] = []
        """Webhook payloads, newest last."""
        self._serial = 1_000_000_000

    def time(self) -> int:
        """Return the server's time."""
        return int(self.clock())

    def serial(self) -> int:
        """Return an id that nothing else has; later ones are greater."""
        self._serial += 1
        return self._serial

    def account(self, login: str, kind: str = "") -> Account:
        """Return an account, made when it is first named; its kind follows from the name unless given."""
        key = login.lower()
        if key not in self.accounts:
            kind = kind or ("Bot" if login.endswith("[bot]") else "User")
            self.accounts[key] = Account(self.serial(), login, kind)
        return self.accounts[key]

    def repository(self, name: str, *, private: bool = True) -> Repository:
        """Return a repository, made when it is first named."""
        key = name.lower()
        if key not in self.repositories:
            owner = name.partition("/")[0]
            if owner.lower() not in self.accounts:
                self.account(owner, "Organization")
            self.repositories[key] = Repository(self, name, private=private)
        return self.repositories[key]

    def write(self, text: Text, body: str | None, editor: Account | None) -> bool:
        """Replace a body and keep the history; False: it is the same."""
        if (text.body or "") == (body or ""):
            return False
        text.body, text.updated_at = body, self.time()
        text.edits.append(Edit(self.serial(), body or "", editor, text.updated_at))
        return True

    def begin(self, author: Account | None, body: str | None) -> dict[str, Any]:
        """Return the fields that every new text starts with."""
        now = self.time()
        return {
            "id": self.serial(),
            "author": author,
            "body": body,
            "created_at": now,
            "updated_at": now,
            "edits": [Edit(self.serial(), body or "", author, now)],
        }

    def texts(self) -> Iterator[tuple[Repository, Text]]:
        """Yield every text of every repository."""
        for repository in self.repositories.values():
            threads: list[Issue | Discussion] = [*repository.threads.values(), *repository.talks.values()]
            for thread in threads:
                yield repository, thread
                for comment in thread.comments:
                    yield repository, comment
            for release in repository.releases:
                yield repository, release
