"""Who somebody is, and what they may do here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import access, shape
from hz_team.testing.github.call import Answer, Refused, forbidden, missing, route
from hz_team.testing.github.deed import organization
from hz_team.testing.github.noun import ROLES
from hz_team.testing.github.shape import iso

if TYPE_CHECKING:
    from hz_team.testing.github.call import Call
    from hz_team.testing.github.noun import Account

_COARSE = {"maintain": "write", "triage": "read"}
"""Roles that `permission` does not know."""
_GRANTS = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}
_COLLABORATOR = "/repos/{owner}/{repo}/collaborators/{username}"


@route("GET", f"{_COLLABORATOR}/permission", "metadata:read")
def get_permission(call: Call) -> Answer:
    """Say what somebody may do. Refused: 404 for bots and strangers, 403 to callers without push access."""
    login = call.args["username"]
    known = call.store.accounts.get(login.lower())
    if not call.pushes:
        raise forbidden("Must have push access to view collaborator permission.")
    if known is None or known.kind != "User":
        raise missing(f"{login} is not a user")
    role = call.repo.role(login)
    if role == "none" and not call.repo.private:
        role = "read"
    grants = {name: ROLES.index(role) >= ROLES.index(needed) for name, needed in _GRANTS.items()}
    user = {**shape.account(call.site, known), "permissions": grants, "role_name": role}
    return Answer(200, {"permission": _COARSE.get(role, role), "user": user, "role_name": role})


@route("GET", _COLLABORATOR, "metadata:read")
def is_collaborator(call: Call) -> Answer:
    """Whether somebody has a role here."""
    if not call.pushes:
        raise forbidden("Must have push access to view repository collaborators.")
    if call.repo.role(call.args["username"]) == "none":
        raise missing()
    return Answer(204)


@route("GET", "/orgs/{org}/teams/{team_slug}/memberships/{username}")
def get_membership(call: Call) -> Answer:
    """Say whether somebody is in a team. Refused: 403 for Actions, 404 for who may not read members, and for no."""
    logins = {login.lower() for login in _team(call)}
    if call.args["username"].lower() not in logins:
        raise missing()
    url = f"{call.site.api}{call.path}"
    return Answer(200, {"url": url, "role": "member", "state": "active"})


@route("GET", "/orgs/{org}/teams/{team_slug}")
def get_team(call: Call) -> Answer:
    """Show a team. Refused as for its members."""
    logins, slug, owner = _team(call), call.args["team_slug"], call.store.account(call.args["org"])
    url, at = f"{call.site.api}/organizations/{owner.id}/team/{owner.id}", iso(0)
    shown = {
        "id": owner.id,
        "node_id": shape.node("T", owner.id),
        "url": url,
        "html_url": f"{call.site.web}/orgs/{owner.login}/teams/{slug}",
        "name": slug,
        "slug": slug,
        "description": None,
        "privacy": "closed",
        "permission": "pull",
        "members_url": f"{url}/members{{/member}}",
        "repositories_url": f"{url}/repos",
        "parent": None,
        "type": "organization",
        "members_count": len(logins),
        "repos_count": 0,
        "created_at": at,
        "updated_at": at,
        "organization": {
            **organization(call.site, owner),
            **dict.fromkeys(("has_organization_projects", "has_repository_projects"), True),
            **dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0),
            "html_url": f"{call.site.web}/{owner.login}",
            "type": "Organization",
            "created_at": at,
            "updated_at": at,
            "archived_at": None,
        },
    }
    return Answer(200, shown)


@route("GET", "/user")
def get_user(call: Call) -> Answer:
    """Show whose token it is. Refused: 403 for one of an app."""
    account = call.actor
    if call.token and call.token.is_installation:
        raise forbidden("Resource not accessible by integration")
    return Answer(200, _whole(call, account))


@route("GET", "/users/{username}")
def get_account(call: Call) -> Answer:
    """Show anybody."""
    known = call.store.accounts.get(call.args["username"].lower())
    if known is None:
        raise missing()
    return Answer(200, _whole(call, known))


def _team(call: Call) -> list[str]:
    """Return who is in the team of the path. Raises Refused for who may not know, and 404 for no such team."""
    token, name = call.token, f"{call.args['org']}/{call.args['team_slug']}".lower()
    if token is None:
        raise Refused(401, "Requires authentication")
    if token.kind == "actions" or (token.kind == "app" and token.level("members") == "none"):
        raise forbidden(token.refusal, access.Need(("members",), "read"))
    if token.kind == "fine_grained" and token.level("members") == "none":
        raise missing()
    if name not in call.store.teams:
        raise missing()
    return call.store.teams[name]


def _whole(call: Call, one: Account) -> dict[str, Any]:
    blank = ("company", "location", "email", "hireable", "bio", "twitter_username")
    at = iso(0)
    return {
        **shape.account(call.site, one),
        "name": one.login,
        "blog": "",
        **dict.fromkeys(blank),
        **dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0),
        "created_at": at,
        "updated_at": at,
    }
