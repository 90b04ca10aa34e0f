"""The GraphQL operations that the double knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import access, shape, shape_discussion, shape_release, work
from hz_team.testing.github.graphql import Failed, operation
from hz_team.testing.github.noun import Discussion, Issue, Pull
from hz_team.testing.github.shape import iso, when

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hz_team.testing.github.call import Call
    from hz_team.testing.github.noun import Edit, Text
    from hz_team.testing.github.store import Repository

_KINDS = {"Issue": "I", "Pull": "PR", "Comment": "IC", "Discussion": "D", "Release": "RE"}
_MOST = 100


@operation("BodyEdits")
def body_edits(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """The history of a text by node id, or of an issue by owner, name and number; newest first.

    A text that nobody changed has none; one that was changed has the way it was written as its oldest.
    """
    if "id" in variables:
        repo, text = _text(call, str(variables["id"]))
        _demand(call, repo, "issues|pull_requests|discussions:read")
        return {"node": _edits(text, variables)}
    repo = _repository(call, variables, "issues|pull_requests:read")
    issue = repo.threads.get(int(variables.get("number") or 0))
    if issue is None or not issue.is_there:
        raise Failed("NOT_FOUND", "Could not resolve to an Issue.", data={"repository": {"issue": None}})
    return {"repository": {"issue": _edits(issue, variables)}}


@operation("PinIssue")
def pin_issue(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Pin an issue; a repository has three pins."""
    repo, text = _text(call, str(variables["id"]))
    _demand(call, repo, "issues:write")
    if not isinstance(text, Issue) or isinstance(text, Pull):
        raise _nothing(str(variables["id"]))
    if not text.pinned and sum(one.pinned for one in repo.issues) >= 3:  # noqa: PLR2004  (GitHub's own)
        raise Failed("UNPROCESSABLE", "Maximum 3 pinned issues per repository", data={"pinIssue": None})
    call.actor_in(repo).pins(text)
    return {"pinIssue": {"issue": {"id": variables["id"], "number": text.number, "isPinned": True}}}


@operation("Discussions")
def discussions(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """List discussions, newest first; `category` is an id."""
    repo = _repository(call, variables, "discussions:read")
    wanted = variables.get("category")
    found = [
        one
        for one in reversed(call.shown(repo.discussions))
        if wanted in (None, shape_discussion.category(repo, one.category)["id"])
    ]
    shown = _page(found, variables, lambda one: _discussion(call, repo, one))
    return {"repository": {"discussions": shown}}


@operation("DiscussionCategories")
def discussion_categories(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the categories of a repository, and say its id."""
    repo = _repository(call, variables, "discussions:read")
    names = repo.categories if repo.has_discussions else ()
    nodes = [shape_discussion.category(repo, name) for name in names]
    return {
        "repository": {
            "id": shape.node("R", repo.id),
            "hasDiscussionsEnabled": repo.has_discussions,
            "discussionCategories": {"nodes": nodes, "totalCount": len(nodes), "pageInfo": _info(None)},
        }
    }


@operation("CreateDiscussion")
def create_discussion(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Start a discussion in a category by ids."""
    known = call.store.repositories.values()
    repo = next((one for one in known if shape.node("R", one.id) == variables.get("repository")), None)
    if repo is None or not access.sees(call.token, repo):
        raise _nothing(str(variables.get("repository")))
    _demand(call, repo, "discussions:write")
    ids = {shape_discussion.category(repo, name)["id"]: name for name in repo.categories}
    if variables.get("category") not in ids or not repo.has_discussions:
        raise _nothing(str(variables.get("category")))
    category, title = ids[str(variables["category"])], str(variables.get("title") or "")
    if not title.strip():
        raise Failed("UNPROCESSABLE", "Title can't be blank", data={"createDiscussion": None})
    one = work.discusses(call.actor_in(repo), title, str(variables.get("body") or ""), category)
    return {"createDiscussion": {"discussion": _discussion(call, repo, one)}}


@operation("CloseDiscussion")
def close_discussion(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Close a discussion."""
    repo, one = _talk(call, variables)
    if not one.closed:
        one.closed, one.updated_at = True, call.store.time()
        work.tell_discussion(call.actor_in(repo), one, "closed")
    return {"closeDiscussion": {"discussion": _discussion(call, repo, one)}}


@operation("DeleteDiscussion")
def delete_discussion(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Delete a discussion."""
    repo, one = _talk(call, variables)
    one.deleted = True
    work.tell_discussion(call.actor_in(repo), one, "deleted")
    return {"deleteDiscussion": {"discussion": _discussion(call, repo, one)}}


@operation("RecentActivity")
def recent_activity(call: Call, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """The newest of everything in several repositories: `repositories` is alias → `owner/name`.

    Without it: of `owner` and `name`, as `repository`. What the token may not see is None.
    """
    said = variables.get("repositories")
    if not isinstance(said, dict):
        return {"repository": _activity(call, _repository(call, variables, ""))}
    shown = {}
    for alias, name in said.items():
        repo = call.store.repositories.get(str(name).lower())
        shown[alias] = _activity(call, repo) if repo and access.sees(call.token, repo) else None
    return shown


def _activity(call: Call, repo: Repository) -> dict[str, Any]:
    """What changed last of each kind; None for a kind that the token may not read."""
    head = repo.bare.branch(repo.default_branch)
    parts: dict[str, tuple[str, Callable[[], Any]]] = {
        "issues": ("issues:read", lambda: _newest(repo.issues)),
        "pullRequests": ("pull_requests:read", lambda: _newest(repo.pulls)),
        "discussions": ("discussions:read", lambda: _newest(repo.discussions)),
        "releases": ("contents:read", lambda: _releases(call, repo)),
        "defaultBranchRef": ("contents:read", lambda: {"name": repo.default_branch, "target": {"oid": head}}),
    }
    shown: dict[str, Any] = {"nameWithOwner": repo.name, "updatedAt": iso(repo.created_at)}
    for key, (permission, show) in parts.items():
        need = access.need(permission)
        shown[key] = show() if need and access.may(call.token, repo, need) else None
    return shown


def _newest(things: Any) -> dict[str, Any]:
    found = sorted(things, key=lambda one: (one.updated_at, one.id), reverse=True)
    nodes = [{"number": one.number, "title": one.title, "updatedAt": iso(one.updated_at)} for one in found[:1]]
    return {"totalCount": len(found), "nodes": nodes}


def _releases(call: Call, repo: Repository) -> dict[str, Any]:
    shown = [shape_release.release(call.site, repo, one) for one in reversed(repo.releases) if not one.draft]
    nodes = [{"tagName": one["tag_name"], "publishedAt": one["published_at"]} for one in shown[:1]]
    return {"totalCount": len(shown), "nodes": nodes}


def _discussion(call: Call, repo: Repository, one: Discussion) -> dict[str, Any]:
    return {**shape_discussion.discussion(call.site, repo, one), "labels": {"nodes": []}}


def _edits(text: Text, variables: Mapping[str, Any]) -> dict[str, Any]:
    history = list(reversed(text.edits)) if len(text.edits) > 1 else []
    return {"id": variables.get("id"), "userContentEdits": _page(history, variables, _edit)}


def _edit(one: Edit) -> dict[str, Any]:
    return {
        "id": shape.node("UCE", one.id),
        "editedAt": iso(one.at),
        "createdAt": iso(one.at),
        "updatedAt": iso(one.deleted_at or one.at),
        "deletedAt": when(one.deleted_at),
        "diff": None if one.deleted_at else one.text,
        "editor": shape_discussion.actor(one.editor),
    }


def _page(things: Sequence[Any], variables: Mapping[str, Any], show: Callable[[Any], Any]) -> dict[str, Any]:
    """One page of a connection; a cursor is a place in the list."""
    size = min(int(variables.get("first") or _MOST), _MOST)
    start = int(variables.get("after") or variables.get("cursor") or 0)
    end = start + size
    nodes = [show(one) for one in things[start:end]]
    return {"totalCount": len(things), "nodes": nodes, "pageInfo": _info(end if end < len(things) else None)}


def _info(end: int | None) -> dict[str, Any]:
    return {"hasNextPage": end is not None, "endCursor": None if end is None else str(end)}


def _repository(call: Call, variables: Mapping[str, Any], permission: str) -> Repository:
    name = f"{variables.get('owner')}/{variables.get('name')}"
    repo = call.store.repositories.get(name.lower())
    if repo is None or not access.sees(call.token, repo):
        message = f"Could not resolve to a Repository with the name '{name}'."
        raise Failed("NOT_FOUND", message, data={"repository": None})
    _demand(call, repo, permission)
    return repo


def _demand(call: Call, repo: Repository, permission: str) -> None:
    need = access.need(permission)
    if need and call.token and not access.may(call.token, repo, need):
        raise Failed("FORBIDDEN", call.token.refusal, data=None)


def _text(call: Call, node: str) -> tuple[Repository, Text]:
    for repo, text in call.store.texts():
        is_it = shape.node(_KINDS[type(text).__name__], text.id) == node
        if is_it and getattr(text, "is_there", True) and access.sees(call.token, repo):
            return repo, text
    raise _nothing(node)


def _talk(call: Call, variables: Mapping[str, Any]) -> tuple[Repository, Discussion]:
    repo, text = _text(call, str(variables.get("id")))
    _demand(call, repo, "discussions:write")
    if not isinstance(text, Discussion):
        raise _nothing(str(variables.get("id")))
    return repo, text


def _nothing(node: str) -> Failed:
    return Failed("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'", data={"node": None})
