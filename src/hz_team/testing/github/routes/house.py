"""The repository itself, its rules, and what the server says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.testing.github import shape
from hz_team.testing.github.call import Answer, route
from hz_team.testing.github.noun import ROLES

if TYPE_CHECKING:
    from hz_team.testing.github.call import Call

_GRANTS = {"admin": "admin", "maintain": "maintain", "push": "write", "triage": "triage", "pull": "read"}


@route("GET", "/repos/{owner}/{repo}", "metadata:read")
def get_repository(call: Call) -> Answer:
    """Show a repository, and what a person may do in it."""
    repo = call.repo
    shown = {
        **shape.whole_repository(call.site, call.store, repo),
        "network_count": 0,
        "subscribers_count": 0,
    }
    if call.token and not call.token.is_installation:
        role = ROLES.index(repo.role(call.token.account.login))
        shown["permissions"] = {name: role >= ROLES.index(needed) for name, needed in _GRANTS.items()}
    return Answer(200, shown, modified=repo.created_at)


@route("GET", "/repos/{owner}/{repo}/rules/branches/{branch}", "metadata:read")
def get_rules(call: Call) -> Answer:
    """List the rules that count for a branch."""
    source = {"ruleset_source_type": "Repository", "ruleset_source": call.repo.name, "ruleset_id": call.repo.id}
    return call.page(call.repo.rules.get(call.args["branch"], []), lambda rule: {**source, **rule})


@route("GET", "/repos/{owner}/{repo}/actions/permissions/workflow", "administration:read")
def get_workflow_permissions(call: Call) -> Answer:
    """Say what tokens of workflows may, and whether they may open pull requests; only administrators may know."""
    allowed = call.repo.actions_may_open_pulls
    return Answer(200, {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": allowed})


@route("GET", "/rate_limit")
def get_rate_limit(call: Call) -> Answer:
    """Show what is left of the hour; asking costs nothing."""
    names = ("core", "search", "graphql", "integration_manifest", "code_scanning_upload")
    resources = {name: call.rate(call.token, name) for name in names}
    return Answer(200, {"resources": resources, "rate": resources["core"]})


@route("GET", "/meta")
def get_meta(_: Call) -> Answer:
    """Show what the server says of itself; its time is in the Date header."""
    return Answer(200, {"verifiable_password_authentication": False})
