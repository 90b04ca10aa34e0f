"""Tokens and what they may: GitHub's four kinds, each with its own way to say no."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hz_team.testing.github.noun import Account
    from hz_team.testing.github.store import Repository

KINDS = ("actions", "app", "fine_grained", "classic")
ALL = {
    "actions": "write",
    "contents": "write",
    "discussions": "write",
    "issues": "write",
    "pull_requests": "write",
    "workflows": "write",
}
"""What a token may if nothing is said."""
LIMITS = {"actions": 1000, "app": 5000, "fine_grained": 5000, "classic": 5000, "none": 60}
"""Requests an hour."""
_LEVELS = ("none", "read", "write", "admin")
_ADMINISTRATION = ("administration",)
_PERSONAL = {"read": "read", "write": "write", "admin": "admin"}
_OPEN_TO_READERS = ("issues", "discussions", "pull_requests")
"""Where a person who may only read still may write something of their own."""


@dataclass(eq=False)
class Token:
    """A token: whose it is, where it counts, and what it may."""

    text: str
    kind: str
    account: Account
    repository: str = ""
    """`owner/name`, lower case; "": every repository of its account (classic)."""
    permissions: dict[str, str] = field(default_factory=dict)
    revoked: bool = False
    window: int = 0
    """When its hour of requests began."""
    used: int = 0

    @property
    def is_installation(self) -> bool:
        """Whether it belongs to an app, as GITHUB_TOKEN does, and not to a person."""
        return self.kind in ("actions", "app")

    @property
    def refusal(self) -> str:
        """What GitHub says when it lacks a permission."""
        if self.is_installation:
            return "Resource not accessible by integration"
        if self.kind == "fine_grained":
            return "Resource not accessible by personal access token"
        return "Must have push access to repository"

    def level(self, permission: str) -> str:
        """Return none, read or write."""
        if permission == "metadata":
            return "read"
        return self.permissions.get(permission, "none")


class Need(NamedTuple):
    """What a route asks for: one of several permissions, at a level."""

    permissions: tuple[str, ...]
    level: str

    @property
    def header(self) -> str:
        """As `x-accepted-github-permissions` names it."""
        return "; ".join(f"{permission}={self.level}" for permission in self.permissions)


def need(text: str) -> Need | None:
    """Read `issues|pull_requests:write`; "" asks for nothing but to see the repository."""
    if not text:
        return None
    permissions, _, level = text.partition(":")
    return Need(tuple(permissions.split("|")), level)


def normal(permissions: dict[str, str]) -> dict[str, str]:
    """Return permissions as the API names them: a workflow file writes `pull-requests`."""
    return {name.replace("-", "_"): level for name, level in permissions.items()}


def sees(token: Token | None, repository: Repository) -> bool:
    """Whether a token may know that a repository exists."""
    if not repository.private:
        return True
    if token is None:
        return False
    if token.repository and token.repository != repository.name.lower():
        return False
    return token.is_installation or repository.allows(token.account.login, "read")


def may(token: Token | None, repository: Repository, need: Need) -> bool:
    """Whether a token that sees a repository may do what a route asks for."""
    if need.level == "read" and not repository.private and need.permissions != _ADMINISTRATION:
        return True
    if token is None or (token.repository and token.repository != repository.name.lower()):
        return False
    if not any(_reaches(token, permission, need.level) for permission in need.permissions):
        return False
    return token.is_installation or _person_may(repository, token.account.login, need)


def pushes(token: Token | None, repository: Repository) -> bool:
    """Whether a token acts for somebody with push access: it may label, assign and change what others wrote."""
    if token is None or not sees(token, repository):
        return False
    return token.is_installation or repository.allows(token.account.login, "write")


def _reaches(token: Token, permission: str, level: str) -> bool:
    if token.kind == "classic":
        return True
    return _LEVELS.index(token.level(permission)) >= _LEVELS.index(level)


def _person_may(repository: Repository, login: str, need: Need) -> bool:
    if need.level == "write" and any(one in _OPEN_TO_READERS for one in need.permissions):
        return not repository.private or repository.allows(login, "read")
    return repository.allows(login, "admin" if need.permissions == _ADMINISTRATION else _PERSONAL[need.level])
