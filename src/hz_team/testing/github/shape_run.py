"""Workflows and their runs as GitHub writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.shape import iso

if TYPE_CHECKING:
    from hz_team.testing.github.noun import Run, Workflow
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Repository, Store


def workflow(site: Site, repository: Repository, one: Workflow) -> dict[str, Any]:
    """Show a workflow."""
    name = one.path.rpartition("/")[2]
    return {
        "id": one.id,
        "node_id": shape.node("W", one.id),
        "name": one.name,
        "path": one.path,
        "state": one.state,
        "created_at": iso(one.created_at),
        "updated_at": iso(one.created_at),
        "url": f"{site.repository(repository)}/actions/workflows/{one.id}",
        "html_url": f"{site.page(repository)}/blob/{repository.default_branch}/{one.path}",
        "badge_url": f"{site.page(repository)}/actions/workflows/{name}/badge.svg",
    }


def run(site: Site, store: Store, repository: Repository, one: Run, attempt: int = 0) -> dict[str, Any]:
    """Show a run as its newest attempt stands, or an earlier attempt of it."""
    status, conclusion, updated = one.attempts.get(attempt, (one.status, one.conclusion, one.updated_at))
    attempt = attempt or one.attempt
    url = f"{site.repository(repository)}/actions/runs/{one.id}"
    tails = {"jobs": "jobs", "logs": "logs", "cancel": "cancel", "rerun": "rerun", "artifacts": "artifacts"}
    return {
        "id": one.id,
        "name": one.workflow.name,
        "node_id": shape.node("WFR", one.id),
        "check_suite_id": one.id,
        "check_suite_node_id": shape.node("CS", one.id),
        "head_branch": one.head_branch,
        "head_sha": one.head_sha,
        "path": one.workflow.path,
        "run_number": one.number,
        "run_attempt": attempt,
        "event": one.event,
        "display_title": one.title,
        "status": status,
        "conclusion": conclusion,
        "workflow_id": one.workflow.id,
        "url": url,
        "html_url": f"{site.page(repository)}/actions/runs/{one.id}",
        "pull_requests": [],
        "referenced_workflows": [],
        "created_at": iso(one.created_at),
        "updated_at": iso(updated),
        "run_started_at": iso(one.created_at),
        "actor": shape.account(site, one.actor),
        "triggering_actor": shape.account(site, one.actor),
        **{f"{name}_url": f"{url}/{tail}" for name, tail in tails.items()},
        "check_suite_url": f"{site.repository(repository)}/check-suites/{one.id}",
        "workflow_url": f"{site.repository(repository)}/actions/workflows/{one.workflow.id}",
        "previous_attempt_url": f"{url}/attempts/{attempt - 1}" if attempt > 1 else None,
        "head_commit": _head(one),
        "repository": shape.repository(site, store, repository),
        "head_repository": shape.repository(site, store, repository),
    }


def _head(one: Run) -> dict[str, Any]:
    person = {"name": one.actor.login, "email": f"{one.actor.login}@users.noreply.github.com"}
    return {
        "id": one.head_sha,
        "tree_id": one.head_sha,
        "message": one.title,
        "timestamp": iso(one.created_at),
        "author": person,
        "committer": person,
    }
