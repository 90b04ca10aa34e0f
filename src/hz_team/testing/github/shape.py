"""JSON as GitHub writes it: accounts, repositories, labels, issues, comments, reactions."""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.testing.github.noun import REACTIONS, Pull

if TYPE_CHECKING:
    from hz_team.testing.github.noun import Account, Comment, Issue, Label, Reaction, Text
    from hz_team.testing.github.store import Repository, Store

_OF_USERS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_OF_REPOSITORIES = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


class Site(NamedTuple):
    """Where this GitHub is."""

    web: str
    """Its address for people."""

    @property
    def api(self) -> str:
        """Its address for programs."""
        return f"{self.web}/api/v3"

    def repository(self, repository: Repository) -> str:
        """Return a repository's address for programs."""
        return f"{self.api}/repos/{repository.name}"

    def page(self, repository: Repository) -> str:
        """Return a repository's address for people."""
        return f"{self.web}/{repository.name}"


def iso(at: int) -> str:
    """Return a time as GitHub writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def when(at: int) -> str | None:
    """Return a time, None for 0: never."""
    return iso(at) if at else None


def node(kind: str, number: int) -> str:
    """Return a global node id."""
    return f"{kind}_{base64.urlsafe_b64encode(str(number).encode()).decode().rstrip('=')}"


def account(site: Site, one: Account) -> dict[str, Any]:
    """Show a person, bot or organisation."""
    url = f"{site.api}/users/{one.login}"
    page = f"{site.web}/apps/{one.login.removesuffix('[bot]')}" if one.kind == "Bot" else f"{site.web}/{one.login}"
    return {
        "login": one.login,
        "id": one.id,
        "node_id": node("U", one.id),
        "avatar_url": f"{site.web}/avatars/u/{one.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": page,
        **{name: f"{url}{tail}" for name, tail in _OF_USERS.items()},
        "type": one.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def somebody(site: Site, one: Account | None) -> dict[str, Any] | None:
    """Show an account, None if it was deleted."""
    return account(site, one) if one else None


def repository(site: Site, store: Store, one: Repository) -> dict[str, Any]:
    """Show a repository as lists and payloads do."""
    url, page = site.repository(one), site.page(one)
    return {
        "id": one.id,
        "node_id": node("R", one.id),
        "name": one.name.partition("/")[2],
        "full_name": one.name,
        "private": one.private,
        "owner": account(site, store.account(one.owner)),
        "html_url": page,
        "description": None,
        "fork": one.fork,
        "url": url,
        **{name: f"{url}{tail}" for name, tail in _OF_REPOSITORIES.items()},
    }


def whole_repository(site: Site, store: Store, one: Repository) -> dict[str, Any]:
    """Show a repository by itself."""
    page, open_ones = site.page(one), sum(thread.state == "open" for thread in one.threads.values() if thread.is_there)
    return {
        **repository(site, store, one),
        "created_at": iso(one.created_at),
        "updated_at": iso(one.created_at),
        "pushed_at": iso(one.created_at),
        "git_url": f"git:{page.partition(':')[2]}.git",
        "ssh_url": f"git@localhost:{one.name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": None,
        "mirror_url": None,
        "language": None,
        "license": None,
        **dict.fromkeys(("size", "stargazers_count", "watchers_count", "forks_count", "watchers", "forks"), 0),
        **dict.fromkeys(("has_projects", "has_downloads", "has_wiki", "has_pages", "disabled"), False),
        "has_issues": one.has_issues,
        "has_discussions": one.has_discussions,
        "archived": one.archived,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": "private" if one.private else "public",
        "open_issues": open_ones,
        "open_issues_count": open_ones,
        "default_branch": one.default_branch,
    }


def label(site: Site, repository: Repository, one: Label) -> dict[str, Any]:
    """Show a label."""
    return {
        "id": one.id,
        "node_id": node("LA", one.id),
        "url": f"{site.repository(repository)}/labels/{one.name}",
        "name": one.name,
        "color": one.color,
        "default": False,
        "description": one.description,
    }


def association(repository: Repository, author: Account | None) -> str:
    """Return what an author is to the repository."""
    if author is None:
        return "NONE"
    if author.login == repository.owner:
        return "OWNER"
    return "COLLABORATOR" if repository.allows(author.login, "triage") else "NONE"


def reactions(url: str, one: Text) -> dict[str, Any]:
    """Show how many reactions of each kind there are."""
    counts = {content: sum(reaction.content == content for reaction in one.reactions) for content in REACTIONS}
    return {"url": f"{url}/reactions", "total_count": len(one.reactions), **counts}


def reaction(site: Site, one: Reaction) -> dict[str, Any]:
    """Show one reaction."""
    return {
        "id": one.id,
        "node_id": node("REA", one.id),
        "user": account(site, one.user),
        "content": one.content,
        "created_at": iso(one.created_at),
    }


def thread_page(site: Site, repository: Repository, one: Issue) -> str:
    """Return an issue's or pull request's address for people."""
    return f"{site.page(repository)}/{'pull' if isinstance(one, Pull) else 'issues'}/{one.number}"


def issue(site: Site, store: Store, repository: Repository, one: Issue, *, alone: bool = False) -> dict[str, Any]:
    """Show an issue, or a pull request as issue routes do; `alone`: not as one of a list."""
    url, page = f"{site.repository(repository)}/issues/{one.number}", thread_page(site, repository, one)
    people = [account(site, store.account(login)) for login in one.assignees]
    shown = {
        "url": url,
        "repository_url": site.repository(repository),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": page,
        "id": one.id,
        "node_id": thread_node(one),
        "number": one.number,
        "title": one.title,
        "user": somebody(site, one.author),
        "labels": [label(site, repository, repository.labels[name.lower()]) for name in one.labels],
        "state": one.state,
        "locked": one.locked,
        "assignee": people[0] if people else None,
        "assignees": people,
        "milestone": None,
        "comments": len(one.comments),
        "created_at": iso(one.created_at),
        "updated_at": iso(one.updated_at),
        "closed_at": when(one.closed_at),
        "author_association": association(repository, one.author),
        "active_lock_reason": None,
        "body": one.body,
        "reactions": reactions(url, one),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "state_reason": one.state_reason,
    }
    if alone:
        shown["closed_by"] = somebody(site, one.closed_by)
    if isinstance(one, Pull):
        shown["draft"] = one.draft
        shown["pull_request"] = pull_links(site, repository, one)
    return shown


def thread_node(one: Issue) -> str:
    """Return the node id of an issue or a pull request."""
    return node("PR" if isinstance(one, Pull) else "I", one.id)


def pull_links(site: Site, repository: Repository, one: Pull) -> dict[str, Any]:
    """Show where a pull request is."""
    page = thread_page(site, repository, one)
    return {
        "url": f"{site.repository(repository)}/pulls/{one.number}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": when(one.merged_at),
    }


def comment(site: Site, repository: Repository, thread: Issue, one: Comment) -> dict[str, Any]:
    """Show a comment."""
    url = f"{site.repository(repository)}/issues/comments/{one.id}"
    return {
        "url": url,
        "html_url": f"{thread_page(site, repository, thread)}#issuecomment-{one.id}",
        "issue_url": f"{site.repository(repository)}/issues/{one.number}",
        "id": one.id,
        "node_id": node("IC", one.id),
        "user": somebody(site, one.author),
        "created_at": iso(one.created_at),
        "updated_at": iso(one.updated_at),
        "body": one.body,
        "author_association": association(repository, one.author),
        "reactions": reactions(url, one),
        "performed_via_github_app": None,
    }
