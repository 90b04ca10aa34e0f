"""Pull requests as GitHub writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.shape import when

if TYPE_CHECKING:
    from hz_team.testing.github.noun import Pull
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Repository, Store

_LINKS = {
    "issue": "/issues/{number}",
    "comments": "/issues/{number}/comments",
    "review_comments": "/pulls/{number}/comments",
    "review_comment": "/pulls/comments{{/number}}",
    "commits": "/pulls/{number}/commits",
    "statuses": "/statuses/{sha}",
}


def pull(site: Site, store: Store, repository: Repository, one: Pull, *, alone: bool = False) -> dict[str, Any]:
    """Show a pull request; `alone`: not as one of a list."""
    issue = shape.issue(site, store, repository, one)
    links = shape.pull_links(site, repository, one)
    head = current_head(repository, one)
    tails = {name: tail.format(number=one.number, sha=head) for name, tail in _LINKS.items()}
    places = {name: f"{site.repository(repository)}{tail}" for name, tail in tails.items()}
    kept = ("id", "number", "title", "user", "labels", "state", "locked", "assignee", "assignees", "milestone")
    shown = {
        **{name: issue[name] for name in (*kept, "node_id", "created_at", "updated_at", "closed_at", "body")},
        **{name: links[name] for name in ("url", "html_url", "diff_url", "patch_url", "merged_at")},
        **{f"{name}_url": place for name, place in places.items()},
        "merge_commit_sha": one.merge_commit_sha,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _side(site, store, repository, one.head, head),
        "base": _side(site, store, repository, one.base, one.base_sha),
        "_links": {
            "self": {"href": links["url"]},
            "html": {"href": links["html_url"]},
            **{name: {"href": place} for name, place in places.items()},
        },
        "author_association": issue["author_association"],
        "active_lock_reason": None,
        "auto_merge": None,
        "draft": one.draft,
    }
    return {**shown, **_more(site, one)} if alone else shown


def current_head(repository: Repository, one: Pull) -> str:
    """Return where the head branch stands; a closed pull request keeps where it stood last."""
    if one.state == "open" and (stands := repository.bare.branch(one.head)):
        one.head_sha = stands
    return one.head_sha


def _more(site: Site, one: Pull) -> dict[str, Any]:
    return {
        "merged": one.merged,
        "mergeable": None if one.merged else True,
        "rebaseable": None,
        "mergeable_state": "unknown" if one.merged else "clean",
        "merged_by": shape.somebody(site, one.merged_by),
        "merged_at": when(one.merged_at),
        "comments": len(one.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": 1,
        "additions": 0,
        "deletions": 0,
        "changed_files": 1,
    }


def _side(site: Site, store: Store, repository: Repository, ref: str, sha: str) -> dict[str, Any]:
    return {
        "label": f"{repository.owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": shape.account(site, store.account(repository.owner)),
        "repo": shape.whole_repository(site, store, repository),
    }
