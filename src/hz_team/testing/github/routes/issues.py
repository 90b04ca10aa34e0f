"""Issues: listed, made, changed, assigned, locked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.call import Answer, Refused, forbidden, invalid, missing, ordered, route, since
from hz_team.testing.github.store import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.testing.github.call import Call
    from hz_team.testing.github.noun import Issue

ISSUES = "/repos/{owner}/{repo}/issues"
ISSUE = f"{ISSUES}/{{issue_number}}"
READ = "issues|pull_requests:read"
WRITE = "issues|pull_requests:write"
REASONS = ("completed", "not_planned", "duplicate", "reopened")
LONGEST = 256
"""Characters of a title."""


def issue_of(call: Call) -> Issue:
    """Return the issue or pull request of the path. Raises Refused: 404, 410, 301."""
    repo = call.repo
    if not repo.has_issues:
        raise Refused(410, "Issues has been disabled in this repository.")
    found = repo.threads.get(call.number("issue_number"))
    if found is None:
        raise missing()
    if found.deleted:
        raise Refused(410, "This issue was deleted")
    if found.moved_to:
        name, _, number = found.moved_to.partition("#")
        place = f"{call.site.api}/repositories/{call.store.repositories[name.lower()].id}/issues/{number}"
        raise Refused(301, "Moved Permanently", headers={"Location": place}, extra={"url": place})
    return found


def show(call: Call, one: Issue, *, alone: bool = True) -> dict[str, Any]:
    """Show an issue."""
    return shape.issue(call.site, call.store, call.repo, one, alone=alone)


@route("GET", ISSUES, READ)
def list_issues(call: Call) -> Answer:
    """List issues and pull requests."""
    if not call.repo.has_issues:
        raise Refused(410, "Issues has been disabled in this repository.")
    threads = call.shown(one for one in call.repo.threads.values() if one.is_there)
    found = ordered(call, _chosen(call, since(call, threads)), sort="created", direction="desc")
    return call.page(found, lambda one: show(call, one, alone=False))


@route("POST", ISSUES, "issues:write")
def create_issue(call: Call) -> Answer:
    """Open an issue; who has no push access sets no labels and assigns nobody."""
    if not call.repo.has_issues:
        raise Refused(410, "Issues has been disabled in this repository.")
    title = call.text("title", resource="Issue", largest=LONGEST)
    body = body_of(call, "Issue")
    labels, assignees = list(names(call, "labels")), list(names(call, "assignees"))
    if not call.pushes:
        labels, assignees = [], []
    for login in assignees:
        if not call.repo.allows(login, "read"):
            raise invalid("Issue", "assignees", "invalid")
    issue = call.actor_here.opens(title, body, labels, assignees)
    shown = show(call, issue)
    return Answer(201, shown, {"Location": shown["url"]})


@route("GET", ISSUE, READ)
def get_issue(call: Call) -> Answer:
    """Show one."""
    one = issue_of(call)
    return Answer(200, show(call, one), modified=one.updated_at)


@route("PATCH", ISSUE, WRITE)
def update_issue(call: Call) -> Answer:
    """Change one; who has no push access changes only what is their own."""
    one, words, actor = issue_of(call), call.words(), call.actor_here
    if not call.pushes and one.author is not call.actor:
        raise forbidden("Must have admin rights to Repository.")
    title = call.text("title", resource="Issue", largest=LONGEST) if "title" in words else None
    body = (body_of(call, "Issue") or "") if "body" in words else None
    state = words.get("state")
    if state not in (None, "open", "closed"):
        raise invalid("Issue", "state", "invalid")
    reason = words.get("state_reason") or "completed"
    if reason not in REASONS:
        raise invalid("Issue", "state_reason", "invalid")
    actor.edits(one, title=title, body=body)
    if "labels" in words and call.pushes:
        actor.sets_labels(one, names(call, "labels"))
    if "assignees" in words and call.pushes:
        actor.sets_assignees(one, (login for login in names(call, "assignees") if call.repo.allows(login, "read")))
    if state == "closed":
        actor.closes(one, reason)
    elif state == "open":
        actor.reopens(one)
    return Answer(200, show(call, one))


@route("POST", f"{ISSUE}/assignees", WRITE)
def add_assignees(call: Call) -> Answer:
    """Assign people; those who may not see the repository are left out in silence."""
    one = issue_of(call)
    if call.pushes:
        known = (login for login in names(call, "assignees") if call.repo.allows(login, "read"))
        call.actor_here.sets_assignees(one, [*one.assignees, *known])
    return Answer(201, show(call, one))


@route("DELETE", f"{ISSUE}/assignees", WRITE)
def remove_assignees(call: Call) -> Answer:
    """Take people off."""
    one, gone = issue_of(call), set(names(call, "assignees"))
    if call.pushes:
        call.actor_here.sets_assignees(one, [login for login in one.assignees if login not in gone])
    return Answer(200, show(call, one))


@route("GET", "/repos/{owner}/{repo}/assignees/{assignee}", "metadata:read")
def check_assignee(call: Call) -> Answer:
    """Whether somebody can be assigned."""
    if not call.repo.allows(call.args["assignee"], "read"):
        raise missing()
    return Answer(204)


@route("PUT", f"{ISSUE}/lock", WRITE)
def lock(call: Call) -> Answer:
    """Lock a conversation."""
    _needs_push(call)
    call.actor_here.sets_lock(issue_of(call), locked=True)
    return Answer(204)


@route("DELETE", f"{ISSUE}/lock", WRITE)
def unlock(call: Call) -> Answer:
    """Unlock it."""
    _needs_push(call)
    call.actor_here.sets_lock(issue_of(call), locked=False)
    return Answer(204)


def body_of(call: Call, resource: str, *, needed: bool = False) -> str | None:
    """Return the text of the body. Raises Refused: 422 for one that is too long, or that is needed and not there."""
    body = call.words().get("body")
    if needed and not (isinstance(body, str) and body.strip()):
        raise invalid(resource, "body", "missing_field")
    if body is not None and not isinstance(body, str):
        raise invalid(resource, "body", "invalid")
    if body is not None and len(body) > LARGEST:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {LARGEST} characters)")
    return body


def names(call: Call, key: str) -> Iterator[str]:
    """Yield the strings of a list in the body; labels may also be objects with a name."""
    given = call.words().get(key) or []
    for one in given if isinstance(given, list) else [given]:
        yield str(one["name"]) if isinstance(one, dict) else str(one)


def _chosen(call: Call, threads: list[Issue]) -> Iterator[Issue]:
    query = call.query
    state = query.get("state", "open")
    labels = {name.strip().lower() for name in query.get("labels", "").split(",") if name.strip()}
    for one in threads:
        if state not in ("all", one.state):
            continue
        if labels and not labels <= {name.lower() for name in one.labels}:
            continue
        if (creator := query.get("creator")) and (one.author is None or one.author.login != creator):
            continue
        if (assignee := query.get("assignee")) and assignee != "*" and assignee not in (*one.assignees, "none"):
            continue
        yield one


def _needs_push(call: Call) -> None:
    if not call.pushes:
        raise forbidden("Must have admin rights to Repository.")
