"""Discussions, as GraphQL and as event payloads write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.shape import iso, when

if TYPE_CHECKING:
    from hz_team.testing.github.noun import Account, Discussion
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Repository


def actor(one: Account | None) -> dict[str, Any] | None:
    """Show an account as GraphQL does: a bot's login comes without `[bot]`."""
    if one is None:
        return None
    return {"__typename": one.kind, "login": one.login.removesuffix("[bot]"), "id": shape.node("U", one.id)}


def category(repository: Repository, name: str) -> dict[str, Any]:
    """Show a category of discussions."""
    at = repository.categories.index(name)
    return {
        "id": shape.node("DIC", repository.id * 100 + at),
        "name": name,
        "slug": name.lower().replace("&", "-").replace(" ", "-"),
        "isAnswerable": name == "Q&A",
    }


def discussion(site: Site, repository: Repository, one: Discussion) -> dict[str, Any]:
    """Show a discussion as GraphQL does."""
    return {
        "__typename": "Discussion",
        "id": shape.node("D", one.id),
        "databaseId": one.id,
        "number": one.number,
        "title": one.title,
        "body": one.text,
        "url": f"{site.page(repository)}/discussions/{one.number}",
        "author": actor(one.author),
        "authorAssociation": shape.association(repository, one.author),
        "category": category(repository, one.category),
        "createdAt": iso(one.created_at),
        "updatedAt": iso(one.updated_at),
        "closed": one.closed,
        "locked": one.locked,
        "isAnswered": False,
        "comments": {"totalCount": len(one.comments)},
    }


def payload(site: Site, repository: Repository, one: Discussion) -> dict[str, Any]:
    """Show a discussion as event payloads do."""
    at = repository.categories.index(one.category)
    page = f"{site.page(repository)}/discussions/{one.number}"
    return {
        "repository_url": site.repository(repository),
        "category": {
            "id": repository.id * 100 + at,
            "node_id": shape.node("DIC", repository.id * 100 + at),
            "repository_id": repository.id,
            "emoji": ":hash:",
            "name": one.category,
            "description": "",
            "created_at": iso(repository.created_at),
            "updated_at": iso(repository.created_at),
            "slug": category(repository, one.category)["slug"],
            "is_answerable": one.category == "Q&A",
        },
        "answer_html_url": None,
        "answer_chosen_at": None,
        "answer_chosen_by": None,
        "html_url": page,
        "id": one.id,
        "node_id": shape.node("D", one.id),
        "number": one.number,
        "title": one.title,
        "user": shape.somebody(site, one.author),
        "state": "closed" if one.closed else "open",
        "state_reason": "resolved" if one.closed else None,
        "locked": one.locked,
        "comments": len(one.comments),
        "created_at": iso(one.created_at),
        "updated_at": iso(one.updated_at),
        "author_association": shape.association(repository, one.author),
        "active_lock_reason": None,
        "body": one.text,
        "reactions": shape.reactions(f"{site.repository(repository)}/discussions/{one.number}", one),
        "timeline_url": f"{site.repository(repository)}/discussions/{one.number}/timeline",
        "closed_at": when(0),
    }
