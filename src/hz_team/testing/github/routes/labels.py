"""Labels of the repository and of its issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.call import Answer, forbidden, invalid, missing, route
from hz_team.testing.github.routes.issues import ISSUE, READ, WRITE, issue_of, names

if TYPE_CHECKING:
    from hz_team.testing.github.call import Call
    from hz_team.testing.github.noun import Issue, Label

LABELS = "/repos/{owner}/{repo}/labels"
LONGEST = 50
"""Characters of a name."""
_DESCRIPTION = 100


def show(call: Call, one: Label) -> dict[str, Any]:
    """Show a label."""
    return shape.label(call.site, call.repo, one)


def label_of(call: Call) -> Label:
    """Return the label of the path. Raises Refused: 404."""
    found = call.repo.labels.get(call.args["name"].lower())
    if found is None:
        raise missing()
    return found


@route("GET", LABELS, READ)
def list_labels(call: Call) -> Answer:
    """List the repository's labels by name."""
    return call.page([one for _, one in sorted(call.repo.labels.items())], lambda one: show(call, one))


@route("POST", LABELS, WRITE)
def create_label(call: Call) -> Answer:
    """Make a label. Refused: 422 if there is one of that name."""
    _needs_push(call)
    words = call.words()
    name = call.text("name", resource="Label", largest=LONGEST)
    description = words.get("description")
    if name.lower() in call.repo.labels:
        raise invalid("Label", "name", "already_exists")
    if description and len(description) > _DESCRIPTION:
        raise invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")
    one = call.actor_here.label(name, str(words.get("color") or "ededed").lstrip("#").lower(), description)
    shown = show(call, one)
    return Answer(201, shown, {"Location": shown["url"]})


@route("GET", f"{LABELS}/{{name}}", READ)
def get_label(call: Call) -> Answer:
    """Show one."""
    return Answer(200, show(call, label_of(call)))


@route("PATCH", f"{LABELS}/{{name}}", WRITE)
def update_label(call: Call) -> Answer:
    """Rename or paint a label; issues that carry it follow."""
    _needs_push(call)
    one, words = label_of(call), call.words()
    old, new = one.name, str(words.get("new_name") or one.name)
    if new.lower() != old.lower() and new.lower() in call.repo.labels:
        raise invalid("Label", "name", "already_exists")
    one.name, one.color = new, str(words.get("color") or one.color).lower()
    one.description = words.get("description", one.description)
    call.repo.labels[new.lower()] = call.repo.labels.pop(old.lower())
    for thread in call.repo.threads.values():
        thread.labels = [new if name == old else name for name in thread.labels]
    return Answer(200, show(call, one))


@route("DELETE", f"{LABELS}/{{name}}", WRITE)
def delete_label(call: Call) -> Answer:
    """Remove a label, from its issues too."""
    _needs_push(call)
    one = label_of(call)
    del call.repo.labels[one.name.lower()]
    for thread in call.repo.threads.values():
        thread.labels = [name for name in thread.labels if name != one.name]
    return Answer(204)


@route("GET", f"{ISSUE}/labels", READ)
def list_issue_labels(call: Call) -> Answer:
    """List a thread's labels."""
    return _of(call, issue_of(call))


@route("POST", f"{ISSUE}/labels", WRITE)
def add_issue_labels(call: Call) -> Answer:
    """Give a thread further labels; unknown ones are made."""
    _needs_push(call)
    one = issue_of(call)
    call.actor_here.sets_labels(one, [*one.labels, *_wanted(call)])
    return _of(call, one)


@route("PUT", f"{ISSUE}/labels", WRITE)
def set_issue_labels(call: Call) -> Answer:
    """Give a thread exactly these labels."""
    _needs_push(call)
    one = issue_of(call)
    call.actor_here.sets_labels(one, _wanted(call))
    return _of(call, one)


@route("DELETE", f"{ISSUE}/labels/{{name}}", WRITE)
def remove_issue_label(call: Call) -> Answer:
    """Take a label off. Refused: 404 if it is not there."""
    _needs_push(call)
    one, name = issue_of(call), call.args["name"].lower()
    if name not in {label.lower() for label in one.labels}:
        raise missing("Label does not exist")
    call.actor_here.sets_labels(one, [label for label in one.labels if label.lower() != name])
    return _of(call, one)


def _wanted(call: Call) -> list[str]:
    """Return the names: a list of them, or an object with one."""
    if isinstance(call.body, list):
        return [str(one["name"]) if isinstance(one, dict) else str(one) for one in call.body]
    return list(names(call, "labels"))


def _of(call: Call, one: Issue) -> Answer:
    return call.page([call.repo.labels[name.lower()] for name in one.labels], lambda label: show(call, label))


def _needs_push(call: Call) -> None:
    if not call.pushes:
        raise forbidden("Must have push access to repository")
