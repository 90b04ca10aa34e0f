"""Actions: workflows, their runs and attempts, and the two ways to start some."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hz_team.testing.github import shape_run, work
from hz_team.testing.github.call import Answer, Refused, missing, route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.testing.github.call import Call
    from hz_team.testing.github.noun import Run, Workflow

ACTIONS = "/repos/{owner}/{repo}/actions"
RUN = f"{ACTIONS}/runs/{{run_id}}"
WORKFLOW = f"{ACTIONS}/workflows/{{workflow_id}}"
READ, WRITE = "actions:read", "actions:write"
LARGEST = 65_535
"""Characters of a payload."""
KEYS = 10
"""At the top of a payload."""
LONGEST = 100
"""Characters of an event type."""
STATUSES = ("queued", "in_progress", "completed", "waiting", "requested", "pending")


def run_of(call: Call) -> Run:
    """Return the run of the path. Raises Refused: 404."""
    number = call.number("run_id")
    found = next((one for one in call.repo.runs if one.id == number), None)
    if found is None:
        raise missing()
    return found


def workflow_of(call: Call) -> Workflow:
    """Return the workflow of the path, by its id or the name of its file. Raises Refused: 404."""
    said = call.args["workflow_id"]
    for one in call.repo.workflows:
        if said in (str(one.id), one.path.rpartition("/")[2]):
            return one
    raise missing()


@route("GET", f"{ACTIONS}/runs", READ)
def list_runs(call: Call) -> Answer:
    """List runs, newest first."""
    return _runs(call, call.repo.runs)


@route("GET", f"{WORKFLOW}/runs", READ)
def list_workflow_runs(call: Call) -> Answer:
    """List one workflow's runs, newest first."""
    workflow = workflow_of(call)
    return _runs(call, [one for one in call.repo.runs if one.workflow is workflow])


@route("GET", RUN, READ)
def get_run(call: Call) -> Answer:
    """Show one."""
    return Answer(200, shape_run.run(call.site, call.store, call.repo, run_of(call)))


@route("GET", f"{RUN}/attempts/{{attempt_number}}", READ)
def get_attempt(call: Call) -> Answer:
    """Show one attempt of a run."""
    one, number = run_of(call), call.number("attempt_number")
    if number != one.attempt and number not in one.attempts:
        raise missing()
    return Answer(200, shape_run.run(call.site, call.store, call.repo, one, number))


@route("GET", f"{ACTIONS}/workflows", READ)
def list_workflows(call: Call) -> Answer:
    """List workflows."""
    return call.page(call.repo.workflows, lambda one: shape_run.workflow(call.site, call.repo, one), inside="workflows")


@route("GET", WORKFLOW, READ)
def get_workflow(call: Call) -> Answer:
    """Show one."""
    return Answer(200, shape_run.workflow(call.site, call.repo, workflow_of(call)))


@route("PUT", f"{WORKFLOW}/enable", WRITE)
def enable(call: Call) -> Answer:
    """Let a workflow run again."""
    workflow_of(call).state = "active"
    return Answer(204)


@route("PUT", f"{WORKFLOW}/disable", WRITE)
def disable(call: Call) -> Answer:
    """Let a workflow run no more."""
    workflow_of(call).state = "disabled_manually"
    return Answer(204)


@route("POST", f"{WORKFLOW}/dispatches", WRITE)
def dispatch_workflow(call: Call) -> Answer:
    """Start a workflow by hand. Refused: 422 for one that is switched off, or no such branch."""
    one, words = workflow_of(call), call.words()
    ref = call.text("ref", resource="Workflow").removeprefix("refs/heads/")
    if one.state != "active":
        raise Refused(422, "Cannot trigger a 'workflow_dispatch' on a disabled workflow")
    if not call.repo.bare.branch(ref):
        raise Refused(422, f"No ref found for: {ref}")
    work.starts(call.actor_here, one, words.get("inputs") or {}, ref)
    return Answer(204)


@route("POST", "/repos/{owner}/{repo}/dispatches", "contents:write")
def dispatch(call: Call) -> Answer:
    """Send a repository_dispatch. Refused: 422 for too much."""
    event, payload = call.text("event_type", resource="Dispatch"), call.words().get("client_payload") or {}
    if len(event) > LONGEST:
        raise Refused(422, f"event_type is too long (maximum is {LONGEST} characters)")
    if not isinstance(payload, dict):
        raise Refused(422, "Invalid request.\n\nFor 'properties/client_payload', it is not an object.")
    if len(payload) > KEYS:
        raise Refused(422, f"No more than {KEYS} properties are allowed; {len(payload)} were supplied.")
    if len(json.dumps(payload)) > LARGEST:
        raise Refused(422, "client_payload is too large.")
    work.dispatches(call.actor_here, event, payload)
    return Answer(204)


def _runs(call: Call, runs: list[Run]) -> Answer:
    found = list(_chosen(call, call.shown(reversed(runs))))
    return call.page(found, lambda one: shape_run.run(call.site, call.store, call.repo, one), inside="workflow_runs")


def _chosen(call: Call, runs: list[Run]) -> Iterator[Run]:
    query = call.query
    status = query.get("status")
    for one in runs:
        if status and status != (one.status if status in STATUSES else one.conclusion):
            continue
        if query.get("branch") not in (None, one.head_branch) or query.get("event") not in (None, one.event):
            continue
        if query.get("actor") not in (None, one.actor.login) or query.get("head_sha") not in (None, one.head_sha):
            continue
        yield one
