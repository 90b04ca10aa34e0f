"""What people may do in a repository: looked up when they speak, once a tick; a look-up that fails denies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hz_team.errors import Forbidden, HzError

if TYPE_CHECKING:
    from hz_team.ports import Api

ROLES = ("admin", "maintain", "write", "triage", "read")
OLD = {"pull": "read", "push": "write"}
OK = 200


class People:
    """The permissions of one repository."""

    def __init__(self, api: Api) -> None:
        """Nothing is asked yet."""
        self._api = api
        self._roles: dict[str, tuple[str, str]] = {}

    def role(self, login: str) -> tuple[str, str]:
        """Return a login's permission and how it is known; ("none", why) where nobody can tell."""
        name = login.lower()
        if not name or name.startswith("local:"):
            return "none", "nobody can tell who spoke"
        if name not in self._roles:
            self._roles[name] = self._asked(login)
        return self._roles[name]

    def member(self, login: str, team: str) -> bool | None:
        """Whether a login is in a team `org/slug`; None where the token cannot read teams (GITHUB_TOKEN cannot)."""
        organisation, _, slug = team.partition("/")
        path = f"/orgs/{organisation}/teams/{slug}/memberships/{login}"
        try:
            reply = self._api.get(path, permission="members: read")
        except Forbidden:
            return None
        if reply.status != OK:
            return None if self._is_blind(organisation, slug) else False
        return bool(reply.data) and reply.data.get("state") == "active"

    def _is_blind(self, organisation: str, slug: str) -> bool:
        """Whether the token cannot see the team at all: 404 says both."""
        try:
            return self._api.get(f"/orgs/{organisation}/teams/{slug}", permission="members: read").status != OK
        except Forbidden:
            return True

    def _asked(self, login: str) -> tuple[str, str]:
        path = f"/repos/{self._api.repository}/collaborators/{login}/permission"
        try:
            reply = self._api.get(path, permission="metadata: read")
        except HzError as error:
            return "unknown", str(error)
        if reply.status != OK or not isinstance(reply.data, dict):
            return "none", f"{login} is no collaborator here"
        said = str(reply.data.get("role_name") or reply.data.get("permission") or "")
        role = OLD.get(said, said)
        if role not in ROLES:  # a role of the organisation's own: what it is built on counts
            role = OLD.get(str(reply.data.get("permission")), str(reply.data.get("permission")))
        when = time.strftime("%d %b %H:%M UTC", time.gmtime(self._api.time() or 0))
        return (role if role in ROLES else "none"), f"collaborator permission, {when}"
