"""Comments below issues and pull requests, and reactions to both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.call import Answer, forbidden, invalid, missing, ordered, route, since
from hz_team.testing.github.noun import REACTIONS
from hz_team.testing.github.routes.issues import ISSUE, ISSUES, READ, WRITE, body_of, issue_of

if TYPE_CHECKING:
    from hz_team.testing.github.call import Call
    from hz_team.testing.github.noun import Comment, Issue, Text

COMMENT = f"{ISSUES}/comments/{{comment_id}}"


def comment_of(call: Call) -> tuple[Issue, Comment]:
    """Return the comment of the path and its thread. Raises Refused: 404."""
    found = call.repo.comment(call.number("comment_id"))
    if found is None:
        raise missing()
    return found


def show(call: Call, thread: Issue, one: Comment) -> dict[str, Any]:
    """Show a comment."""
    return shape.comment(call.site, call.repo, thread, one)


@route("GET", f"{ISSUES}/comments", READ)
def list_all(call: Call) -> Answer:
    """List the comments of a repository; by number if no order is asked for."""
    found = since(call, call.shown(call.repo.comments))
    if "sort" in call.query:
        found = ordered(call, found, sort="created", direction="asc")
    return call.page(found, lambda one: show(call, call.repo.threads[one.number], one))


@route("GET", f"{ISSUE}/comments", READ)
def list_comments(call: Call) -> Answer:
    """List the comments of one thread, oldest first."""
    thread = issue_of(call)
    return call.page(since(call, call.shown(thread.comments)), lambda one: show(call, thread, one))


@route("POST", f"{ISSUE}/comments", WRITE)
def create_comment(call: Call) -> Answer:
    """Comment; on a locked thread only with push access."""
    thread = issue_of(call)
    if thread.locked and not call.pushes:
        raise forbidden("Unable to create comment because issue is locked.")
    one = call.actor_here.comments(thread, body_of(call, "IssueComment", needed=True) or "")
    shown = show(call, thread, one)
    return Answer(201, shown, {"Location": shown["url"]})


@route("GET", COMMENT, READ)
def get_comment(call: Call) -> Answer:
    """Show one."""
    thread, one = comment_of(call)
    return Answer(200, show(call, thread, one), modified=one.updated_at)


@route("PATCH", COMMENT, WRITE)
def update_comment(call: Call) -> Answer:
    """Change one."""
    thread, one = comment_of(call)
    _may_change(call, one)
    call.actor_here.edits_comment(thread, one, body_of(call, "IssueComment", needed=True) or "")
    return Answer(200, show(call, thread, one))


@route("DELETE", COMMENT, WRITE)
def delete_comment(call: Call) -> Answer:
    """Remove one."""
    thread, one = comment_of(call)
    _may_change(call, one)
    call.actor_here.deletes_comment(thread, one)
    return Answer(204)


@route("GET", f"{COMMENT}/reactions", READ)
def list_comment_reactions(call: Call) -> Answer:
    """List the reactions to a comment."""
    return _list(call, comment_of(call)[1])


@route("POST", f"{COMMENT}/reactions", WRITE)
def react_to_comment(call: Call) -> Answer:
    """React to a comment."""
    return _react(call, comment_of(call)[1])


@route("DELETE", f"{COMMENT}/reactions/{{reaction_id}}", WRITE)
def unreact_to_comment(call: Call) -> Answer:
    """Take a reaction to a comment back."""
    return _unreact(call, comment_of(call)[1])


@route("GET", f"{ISSUE}/reactions", READ)
def list_issue_reactions(call: Call) -> Answer:
    """List the reactions to an issue."""
    return _list(call, issue_of(call))


@route("POST", f"{ISSUE}/reactions", WRITE)
def react_to_issue(call: Call) -> Answer:
    """React to an issue."""
    return _react(call, issue_of(call))


@route("DELETE", f"{ISSUE}/reactions/{{reaction_id}}", WRITE)
def unreact_to_issue(call: Call) -> Answer:
    """Take a reaction to an issue back."""
    return _unreact(call, issue_of(call))


def _list(call: Call, text: Text) -> Answer:
    wanted = call.query.get("content")
    found = [one for one in text.reactions if wanted in (None, one.content)]
    return call.page(found, lambda one: shape.reaction(call.site, one))


def _react(call: Call, text: Text) -> Answer:
    content = call.words().get("content")
    if content not in REACTIONS:
        raise invalid("Reaction", "content", "invalid")
    one, is_new = call.actor_here.reacts(text, content)
    return Answer(201 if is_new else 200, shape.reaction(call.site, one))


def _unreact(call: Call, text: Text) -> Answer:
    number = call.number("reaction_id")
    found = next((one for one in text.reactions if one.id == number), None)
    if found is None or found.user is not call.actor:
        raise missing()
    text.reactions.remove(found)
    return Answer(204)


def _may_change(call: Call, one: Comment) -> None:
    if not call.pushes and one.author is not call.actor:
        raise forbidden("Must have admin rights to Repository.")
