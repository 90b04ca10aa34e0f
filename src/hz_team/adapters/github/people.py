"""What people may do in a repository: looked up when they speak, once a tick; a look-up that fails denies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from hz_team.errors import HzError
from hz_team.moment import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.ports import Api

ROLES = ("admin", "maintain", "write", "triage", "read", "none")
OLD = {"pull": "read", "push": "write"}
"""Names of permissions that older servers give."""
OK, ABSENT = 200, 404


class People:
    """The permissions of one repository, and teams where the token may read them."""

    def __init__(self, api: Api) -> None:
        """Nothing is asked yet."""
        self._api = api
        self._roles: dict[str, tuple[str, str]] = {}
        self._teams: dict[str, bool] = {}
        """Whether the token sees a team."""
        self._members: dict[tuple[str, str], bool | None] = {}

    def role(self, login: str) -> tuple[str, str]:
        """Return a login's permission and how it is known; ("none", why) where nobody can tell. Never raises."""
        name = login.lower()
        if not name or name.startswith("local:"):
            return "none", "nobody can tell who spoke"
        if name not in self._roles:
            self._roles[name] = self._role(login)
        return self._roles[name]

    def member(self, login: str, team: str) -> bool | None:
        """Whether a login is in a team `org/slug`; None where nobody can tell (GITHUB_TOKEN cannot read teams)."""
        key = (login.lower(), team.lower())
        if key not in self._members:
            self._members[key] = self._is_member(login, team)
        return self._members[key]

    def _role(self, login: str) -> tuple[str, str]:
        """Ask for a permission. Who may not push is not told: 403."""
        path = f"/repos/{self._api.repository}/collaborators/{_part(login)}/permission"
        try:
            reply = self._api.get(path, permission="contents: write")
        except HzError as error:
            return "none", f"the permission of {login} cannot be looked up: {error}"
        if reply.status == ABSENT:
            return "none", f"{login} is no collaborator here"
        if reply.status != OK or not isinstance(reply.data, dict):
            return "none", f"the permission of {login} cannot be looked up: GitHub answered {reply.status}"
        return _known(reply.data), f"collaborator permission, {told(self._api.time() or int(time.time()), 'UTC')}"

    def _is_member(self, login: str, team: str) -> bool | None:
        organisation, _, slug = team.partition("/")
        if not organisation or not slug:
            return None
        base = f"/orgs/{_part(organisation)}/teams/{_part(slug)}"
        try:
            reply = self._api.get(f"{base}/memberships/{_part(login)}", permission="members: read")
            if reply.status == ABSENT:
                return False if self._sees(base) else None
        except HzError:
            return None
        if reply.status != OK or not isinstance(reply.data, dict):
            return None
        return bool(reply.data.get("state") == "active")

    def _sees(self, base: str) -> bool:
        """Whether the token sees the team at all: 404 for a member says both."""
        if base not in self._teams:
            self._teams[base] = self._api.get(base, permission="members: read").status == OK
        return self._teams[base]


def _known(said: Mapping[str, object]) -> str:
    """Return a permission by our names; of a role that an organisation made itself, the one that it is built on."""
    for name in (str(said.get("role_name") or ""), str(said.get("permission") or "")):
        if OLD.get(name, name) in ROLES:
            return OLD.get(name, name)
    return "none"


def _part(name: str) -> str:
    """Return a name as one part of a path; a bot's has brackets."""
    return quote(name, safe="")
