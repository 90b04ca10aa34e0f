"""The double answers as GitHub says it does: every route, against the published description of the API."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from hz_team.testing.github.call import ROUTES
from tests.testing.github.asking import HERE
from tests.testing.github.published import OPENAPI, keys, published, resolved
from tests.testing.github.tour import Stop, toured

NEW = {"user_view_type", "verified_at", "immutable", "updated_at", "status"}
"""Keys that GitHub sends and its description leaves out in places."""
FORMATS = FormatChecker(())
API = "urn:api"
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@FORMATS.checks("date-time")
def is_date(value: object) -> bool:
    return not isinstance(value, str) or bool(DATE.fullmatch(value))


@FORMATS.checks("uri")
def is_address(value: object) -> bool:
    return not isinstance(value, str) or value.startswith("http://127.0.0.1:")


@cache
def stops() -> tuple[Stop, ...]:
    return tuple(toured())


def schema_of(description: Any, stop: Stop) -> Any:
    """Return the schema of an answer, None for one without a body; an error without one of its own is a basic one."""
    answers = description["paths"][stop.template][stop.method.lower()]["responses"]
    listed = resolved(answers.get(str(stop.got.status), {}), description)
    assert listed or stop.got.status >= 300, f"{stop.method} {stop.template} never answers {stop.got.status}"
    if found := listed.get("content", {}).get("application/json"):
        return found["schema"]
    return description["components"]["schemas"]["basic-error"] if stop.got.status >= 300 else None


def wrong(stop: Stop, schema: Any, description: Any, registry: Registry[Any]) -> list[str]:
    """Return what a description has against an answer."""
    if schema is None:
        return [f"{stop.got.body!r} where nothing is"] if stop.got.body else []
    validator = Draft202012Validator(absolute(schema), registry=registry, format_checker=FORMATS)
    found = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(stop.got.data)]
    inner = resolved(schema, description)
    one = stop.got.data[0] if isinstance(stop.got.data, list) and stop.got.data else stop.got.data
    known = set(keys(inner["items"] if inner.get("type") == "array" else inner, description)) | NEW
    if isinstance(one, dict) and known != NEW:
        found += [f"GitHub sends no {key!r}" for key in sorted(set(one) - known)]
    return found


def absolute(node: Any) -> Any:
    """Return a schema whose references name the whole description."""
    if isinstance(node, list):
        return [absolute(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: f"{API}{value}" if key == "$ref" and isinstance(value, str) else absolute(value)
        for key, value in node.items()
    }


class Judge:
    """The published description, asked about answers."""

    def __init__(self, description: Any) -> None:
        self.description = description
        root = Resource.from_contents(description, default_specification=DRAFT202012)
        self.registry: Registry[Any] = Registry().with_resource(API, root)

    def __call__(self, stop: Stop) -> list[str]:
        return wrong(stop, schema_of(self.description, stop), self.description, self.registry)


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(published(OPENAPI))


def test_every_answer_is_as_published(judge: Judge) -> None:
    said = {f"{stop.method} {stop.path} → {stop.got.status}": judge(stop) for stop in stops()}
    assert {path: found for path, found in said.items() if found} == {}


@pytest.mark.parametrize(
    "change", [{"title": None}, {"number": "1"}, {"created_at": "today"}, {"titel": ""}, {"user": {}}]
)
def test_a_wrong_answer_is_found(judge: Judge, change: dict[str, Any]) -> None:
    stop = next(stop for stop in stops() if (stop.method, stop.path) == ("GET", f"{HERE}/issues/1"))
    assert judge(stop) == []
    changed = json.dumps({**stop.got.data, **change}).encode()
    assert judge(stop._replace(got=stop.got._replace(body=changed)))


def test_the_tour_misses_no_route() -> None:
    assert {(row.method, row.template) for row in ROUTES} == {(stop.method, stop.template) for stop in stops()}


TEXT, NUMBER, FLAG, LIST, OBJECT = str, int, bool, list, dict
USER = {"login": TEXT, "id": NUMBER, "type": TEXT, "html_url": TEXT}
ISSUE = {
    "number": NUMBER, "id": NUMBER, "node_id": TEXT, "title": TEXT, "state": TEXT, "locked": FLAG, "labels": LIST,
    "assignees": LIST, "comments": NUMBER, "user": OBJECT, "created_at": TEXT, "updated_at": TEXT, "html_url": TEXT,
    "repository_url": TEXT, "author_association": TEXT, "reactions": OBJECT,
}  # fmt: skip
COMMENT = {"id": NUMBER, "node_id": TEXT, "body": TEXT, "user": OBJECT, "issue_url": TEXT, "created_at": TEXT}
PULL = {
    "number": NUMBER,
    "state": TEXT,
    "head": OBJECT,
    "base": OBJECT,
    "draft": FLAG,
    "html_url": TEXT,
    "user": OBJECT,
}
RELEASE = {"id": NUMBER, "tag_name": TEXT, "draft": FLAG, "prerelease": FLAG, "html_url": TEXT, "author": OBJECT}
RUN = {"id": NUMBER, "status": TEXT, "run_attempt": NUMBER, "path": TEXT, "event": TEXT, "updated_at": TEXT}
REQUIRED: dict[tuple[str, str], dict[str, type]] = {
    ("GET", "/repos/{owner}/{repo}/issues"): ISSUE,
    ("POST", "/repos/{owner}/{repo}/issues"): ISSUE,
    ("GET", "/repos/{owner}/{repo}/issues/{issue_number}"): ISSUE,
    ("PATCH", "/repos/{owner}/{repo}/issues/{issue_number}"): ISSUE,
    ("GET", "/repos/{owner}/{repo}/issues/comments"): COMMENT,
    ("POST", "/repos/{owner}/{repo}/issues/{issue_number}/comments"): COMMENT,
    ("GET", "/repos/{owner}/{repo}/pulls"): PULL,
    ("GET", "/repos/{owner}/{repo}/pulls/{pull_number}"): {**PULL, "merged": FLAG, "comments": NUMBER},
    ("GET", "/repos/{owner}/{repo}/releases"): RELEASE,
    ("GET", "/repos/{owner}/{repo}/releases/tags/{tag}"): RELEASE,
    ("GET", "/repos/{owner}/{repo}/labels"): {"id": NUMBER, "name": TEXT, "color": TEXT},
    ("GET", "/repos/{owner}/{repo}/git/ref/{ref}"): {"ref": TEXT, "object": OBJECT},
    ("GET", "/repos/{owner}/{repo}/git/commits/{commit_sha}"): {"sha": TEXT, "tree": OBJECT, "parents": LIST},
    ("GET", "/repos/{owner}/{repo}/git/trees/{tree_sha}"): {"sha": TEXT, "tree": LIST, "truncated": FLAG},
    ("GET", "/repos/{owner}/{repo}/git/blobs/{file_sha}"): {"content": TEXT, "encoding": TEXT, "size": NUMBER},
    ("GET", "/repos/{owner}/{repo}/commits"): {"sha": TEXT, "commit": OBJECT, "parents": LIST, "html_url": TEXT},
    ("GET", "/repos/{owner}/{repo}/actions/runs"): {"total_count": NUMBER, "workflow_runs": LIST},
    ("GET", "/repos/{owner}/{repo}/actions/runs/{run_id}"): RUN,
    ("GET", "/repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}"): RUN,
    ("GET", "/repos/{owner}/{repo}/actions/workflows/{workflow_id}"): {"id": NUMBER, "state": TEXT, "path": TEXT},
    ("GET", "/repos/{owner}/{repo}/collaborators/{username}/permission"): {"permission": TEXT, "role_name": TEXT},
    ("GET", "/orgs/{org}/teams/{team_slug}/memberships/{username}"): {"state": TEXT, "role": TEXT},
    ("GET", "/repos/{owner}/{repo}"): {
        "id": NUMBER,
        "full_name": TEXT,
        "default_branch": TEXT,
        "fork": FLAG,
        "owner": OBJECT,
    },
    ("GET", "/user"): USER,
    ("GET", "/rate_limit"): {"resources": OBJECT, "rate": OBJECT},
}  # what our own code reads of the answers; asked whether or not the published description is here


def test_what_we_read_is_there() -> None:
    good = [stop for stop in stops() if stop.got.status in (200, 201)]
    asked = 0
    for stop in good:
        items = stop.got.data if isinstance(stop.got.data, list) else [stop.got.data]
        for key, kind in REQUIRED.get((stop.method, stop.template), {}).items():
            asked += 1
            assert items, stop.path
            assert all(type(item[key]) is kind for item in items), (stop.path, key)
    assert asked > 150
    assert {(stop.method, stop.template) for stop in good} >= set(REQUIRED)


def test_errors_say_what_github_says() -> None:
    bad = [stop for stop in stops() if stop.got.status >= 300]
    assert {stop.got.status for stop in bad} == {301, 403, 404, 405, 409, 410, 422}
    for stop in bad:
        assert stop.got.data["message"], stop.path
        assert stop.got.data["status"] == str(stop.got.status), stop.path
        assert stop.got.data["documentation_url"].startswith("https://"), stop.path
