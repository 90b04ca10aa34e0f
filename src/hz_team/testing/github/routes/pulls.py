"""Pull requests: listed, made, changed, merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape_pull, work
from hz_team.testing.github.bare import GitRefused, Signed
from hz_team.testing.github.call import Answer, Refused, forbidden, invalid, missing, ordered, route
from hz_team.testing.github.noun import Pull
from hz_team.testing.github.routes.issues import LONGEST, body_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.testing.github.call import Call

PULLS = "/repos/{owner}/{repo}/pulls"
PULL = f"{PULLS}/{{pull_number}}"
READ, WRITE = "pull_requests:read", "pull_requests:write"


def pull_of(call: Call) -> Pull:
    """Return the pull request of the path. Raises Refused: 404."""
    found = call.repo.threads.get(call.number("pull_number"))
    if not isinstance(found, Pull) or not found.is_there:
        raise missing()
    return found


def show(call: Call, one: Pull, *, alone: bool = True) -> dict[str, Any]:
    """Show a pull request."""
    return shape_pull.pull(call.site, call.store, call.repo, one, alone=alone)


@route("GET", PULLS, READ)
def list_pulls(call: Call) -> Answer:
    """List pull requests; `head` is `owner:branch`."""
    found = ordered(call, _chosen(call, call.shown(call.repo.pulls)), sort="created", direction="desc")
    return call.page(found, lambda one: show(call, one, alone=False))


@route("POST", PULLS, WRITE)
def create_pull(call: Call) -> Answer:
    """Open one. Refused: 403 where Actions may not; 422 for no such branch, nothing new, or one that is open."""
    words, repo = call.words(), call.repo
    if call.token and call.token.kind == "actions" and not repo.actions_may_open_pulls:
        raise forbidden("GitHub Actions is not permitted to create or approve pull requests.")
    title = call.text("title", resource="PullRequest", largest=LONGEST)
    head, base = str(words.get("head") or "").rpartition(":")[2], str(words.get("base") or "")
    body = body_of(call, "PullRequest")
    tip, onto = repo.bare.branch(head), repo.bare.branch(base)
    for field, found in (("head", tip), ("base", onto)):
        if not found:
            raise invalid("PullRequest", field, "invalid")
    if repo.bare.follows(onto, tip):
        raise _refused(f"No commits between {base} and {head}")
    if any(one.state == "open" and (one.head, one.base) == (head, base) for one in repo.pulls):
        raise _refused(f"A pull request already exists for {repo.owner}:{head}.")
    pull = work.opens_pull(call.actor_here, title, body, head, base, draft=bool(words.get("draft")))
    shown = show(call, pull)
    return Answer(201, shown, {"Location": shown["url"]})


@route("GET", PULL, READ)
def get_pull(call: Call) -> Answer:
    """Show one."""
    one = pull_of(call)
    return Answer(200, show(call, one), modified=one.updated_at)


@route("PATCH", PULL, WRITE)
def update_pull(call: Call) -> Answer:
    """Change title, body, base or state."""
    one, words, actor = pull_of(call), call.words(), call.actor_here
    if not call.pushes and one.author is not call.actor:
        raise forbidden("Must have admin rights to Repository.")
    title = call.text("title", resource="PullRequest", largest=LONGEST) if "title" in words else None
    body = (body_of(call, "PullRequest") or "") if "body" in words else None
    state = words.get("state")
    if state not in (None, "open", "closed"):
        raise invalid("PullRequest", "state", "invalid")
    if state == "open" and one.merged:
        raise _refused("state cannot be changed. The pull request was merged.")
    actor.edits(one, title=title, body=body)
    if state == "closed":
        shape_pull.current_head(call.repo, one)
        actor.closes(one)
    elif state == "open":
        actor.reopens(one)
    return Answer(200, show(call, one))


@route("GET", f"{PULL}/merge", READ)
def is_merged(call: Call) -> Answer:
    """Whether one was merged."""
    if not pull_of(call).merged:
        raise missing()
    return Answer(204)


@route("PUT", f"{PULL}/merge", "contents:write")
def merge(call: Call) -> Answer:
    """Merge one. Refused: 405 if it is closed or in conflict."""
    one, who = pull_of(call), call.actor
    if one.state != "open":
        raise Refused(405, "Pull Request is not mergeable")
    signed = Signed(who.login, f"{who.login}@users.noreply.github.com", call.store.time())
    try:
        sha = work.merges(call.actor_here, one, signed)
    except GitRefused:
        raise Refused(405, "Pull Request is not mergeable") from None
    return Answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def _chosen(call: Call, pulls: list[Pull]) -> Iterator[Pull]:
    state, base = call.query.get("state", "open"), call.query.get("base")
    head = call.query.get("head")
    for one in pulls:
        if state not in ("all", one.state) or base not in (None, one.base):
            continue
        if head and ":" in head and head.lower() != f"{call.repo.owner}:{one.head}".lower():
            continue
        yield one


def _refused(message: str) -> Refused:
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return Refused(422, "Validation Failed", errors=[error])
