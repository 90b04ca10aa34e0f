"""A tour over every route of the double: what was asked, and what came back."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from hz_team.testing.github import GitHub
from hz_team.testing.github.call import find
from tests.testing.github.asking import HERE, NAME, Client, Got

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL = {"issues": "write", "contents": "write", "pull_requests": "write", "actions": "write", "members": "read"}


class Stop(NamedTuple):
    """One request of the tour."""

    method: str
    template: str
    """The path as GitHub's description writes it."""
    path: str
    got: Got


class Tour:
    """Visits every route at least once, with answers of every kind; keeps the stops."""

    def __init__(self, github: GitHub) -> None:
        self.stops: list[Stop] = []
        self.github = github
        self.repo = github.repository(NAME, private=False)
        self.mona = github.person("mona", "write", repo=NAME)
        github.team("acme/writers", "mona")
        self.app = Client(github, github.token("app", NAME, permissions={**ALL, "workflows": "write"}))
        self.actions = Client(github, github.token("actions", NAME, permissions=ALL))
        self.person = Client(github, github.token("classic", who="mona"))
        self.mona.pushes(self.repo, {"README.md": "# Here\n", "docs/a.md": "a\n"})

    def go(self, method: str, path: str, body: Any = None, *, who: Client | None = None) -> Got:
        got = (who or self.app)(method, path, body)
        found = find(method, path.partition("?")[0])
        assert found, f"{method} {path} is no route"
        self.stops.append(Stop(method, found[0].template, path, got))
        return got

    def everywhere(self) -> list[Stop]:
        for part in (self.issues, self.comments, self.labels, self.git, self.files, self.pulls, self.releases):
            part()
        self.runs()
        self.people()
        self.house()
        return self.stops

    def issues(self) -> None:
        words = {"title": "One", "body": "text", "labels": ["hz"], "assignees": ["mona"]}
        assert self.go("POST", f"{HERE}/issues", words).status == 201
        self.go("POST", f"{HERE}/issues", {"title": "Two"}, who=self.person)
        self.go("POST", f"{HERE}/issues", {"title": "Long", "body": "x" * 65_537})
        self.go("GET", f"{HERE}/issues?state=all&per_page=1")
        self.go("GET", f"{HERE}/issues/1")
        self.go("GET", f"{HERE}/issues/99")
        self.go("PATCH", f"{HERE}/issues/2", {"state": "closed", "state_reason": "not_planned", "body": "new"})
        self.go("GET", f"{HERE}/issues/2")
        self.go("POST", f"{HERE}/issues/2/assignees", {"assignees": ["mona"]})
        self.go("DELETE", f"{HERE}/issues/2/assignees", {"assignees": ["mona"]})
        self.go("GET", f"{HERE}/assignees/mona")
        self.go("GET", f"{HERE}/assignees/nobody")
        self.go("PUT", f"{HERE}/issues/2/lock")
        self.go("DELETE", f"{HERE}/issues/2/lock")
        self.mona.deletes(self.mona.opens(self.repo, "Three"))
        self.go("GET", f"{HERE}/issues/3")
        self.mona.transfers(self.mona.opens(self.repo, "Four"), "acme/other")
        self.go("GET", f"{HERE}/issues/4")

    def comments(self) -> None:
        made = self.go("POST", f"{HERE}/issues/1/comments", {"body": "hello"}).data
        place = f"{HERE}/issues/comments/{made['id']}"
        self.go("GET", f"{HERE}/issues/comments")
        self.go("GET", f"{HERE}/issues/1/comments")
        self.go("GET", place)
        self.go("PATCH", place, {"body": "hi"})
        for text in (place, f"{HERE}/issues/1"):
            reaction = self.go("POST", f"{text}/reactions", {"content": "eyes"}).data
            assert self.go("POST", f"{text}/reactions", {"content": "eyes"}).status == 200
            self.go("GET", f"{text}/reactions")
            self.go("DELETE", f"{text}/reactions/{reaction['id']}")
        self.go("DELETE", place)
        self.go("GET", place)

    def labels(self) -> None:
        self.go("POST", f"{HERE}/labels", {"name": "bug", "color": "ff0000", "description": "a bug"})
        self.go("POST", f"{HERE}/labels", {"name": "BUG"})
        self.go("GET", f"{HERE}/labels")
        self.go("GET", f"{HERE}/labels/bug")
        self.go("PATCH", f"{HERE}/labels/bug", {"new_name": "fault"})
        self.go("POST", f"{HERE}/issues/1/labels", {"labels": ["fault", "new"]})
        self.go("PUT", f"{HERE}/issues/1/labels", {"labels": ["fault"]})
        self.go("GET", f"{HERE}/issues/1/labels")
        self.go("DELETE", f"{HERE}/issues/1/labels/fault")
        self.go("DELETE", f"{HERE}/labels/fault")

    def git(self) -> None:
        git = f"{HERE}/git"
        head = self.go("GET", f"{git}/ref/heads/main").data["object"]["sha"]
        blob = self.go("POST", f"{git}/blobs", {"content": "b\n"}).data["sha"]
        entry = {"path": "docs/b.md", "mode": "100644", "type": "blob", "sha": blob}
        tree = self.go("POST", f"{git}/trees", {"base_tree": head, "tree": [entry]}).data["sha"]
        words = {"message": "Add b", "tree": tree, "parents": [head]}
        commit = self.go("POST", f"{git}/commits", words).data["sha"]
        self.go("POST", f"{git}/refs", {"ref": "refs/heads/side", "sha": commit})
        self.go("POST", f"{git}/refs", {"ref": "refs/heads/side", "sha": commit})
        self.go("PATCH", f"{git}/refs/heads/side", {"sha": head})
        self.go("PATCH", f"{git}/refs/heads/side", {"sha": head, "force": True})
        self.go("PATCH", f"{git}/refs/heads/side", {"sha": commit})
        self.go("GET", f"{git}/matching-refs/heads/")
        self.go("GET", f"{git}/blobs/{blob}")
        self.go("GET", f"{git}/trees/{tree}?recursive=1")
        self.go("GET", f"{git}/commits/{commit}")
        self.go("GET", f"{git}/commits/{'0' * 40}")
        self.go("POST", f"{git}/refs", {"ref": "refs/heads/gone", "sha": commit})
        self.go("DELETE", f"{git}/refs/heads/gone")

    def files(self) -> None:
        self.go("GET", f"{HERE}/contents/README.md")
        self.go("GET", f"{HERE}/contents/docs?ref=side")
        self.go("GET", f"{HERE}/contents/none")
        content = base64.b64encode(b"new\n").decode()
        made = self.go("PUT", f"{HERE}/contents/docs/new.md", {"message": "New", "content": content}).data
        self.go("PUT", f"{HERE}/contents/docs/new.md", {"message": "New", "content": content})
        words = {"message": "Newer", "content": content, "sha": made["content"]["sha"]}
        self.go("PUT", f"{HERE}/contents/docs/new.md", words)
        self.go("PUT", f"{HERE}/contents/docs/new.md", {**words, "sha": "0" * 40})
        self.go("GET", f"{HERE}/commits?sha=main&path=docs")
        self.go("GET", f"{HERE}/commits/main")
        self.go("GET", f"{HERE}/branches/main")

    def pulls(self) -> None:
        words = {"title": "Side", "head": "side", "base": "main", "body": "text"}
        number = self.go("POST", f"{HERE}/pulls", words).data["number"]
        self.go("POST", f"{HERE}/pulls", words)
        self.go("POST", f"{HERE}/pulls", {**words, "head": "none"})
        self.go("GET", f"{HERE}/pulls?head={quote('acme:side')}&state=all")
        self.go("GET", f"{HERE}/pulls/{number}")
        self.go("PATCH", f"{HERE}/pulls/{number}", {"title": "Side by side"})
        self.go("GET", f"{HERE}/pulls/{number}/merge")
        self.go("PUT", f"{HERE}/pulls/{number}/merge", {})
        self.go("PUT", f"{HERE}/pulls/{number}/merge", {})
        self.go("GET", f"{HERE}/pulls/{number}/merge")
        self.go("GET", f"{HERE}/pulls/{number}")
        self.go("GET", f"{HERE}/issues/{number}")

    def releases(self) -> None:
        words = {"tag_name": "v1", "name": "One", "body": "first"}
        made = self.go("POST", f"{HERE}/releases", words).data
        self.go("POST", f"{HERE}/releases", words)
        draft = self.go("POST", f"{HERE}/releases", {"tag_name": "v2", "draft": True}).data
        self.go("PATCH", f"{HERE}/releases/{draft['id']}", {"draft": False})
        self.go("GET", f"{HERE}/releases")
        self.go("GET", f"{HERE}/releases/latest")
        self.go("GET", f"{HERE}/releases/tags/v1")
        self.go("GET", f"{HERE}/releases/tags/v9")
        self.go("GET", f"{HERE}/releases/{made['id']}")
        self.go("DELETE", f"{HERE}/releases/{made['id']}")

    def runs(self) -> None:
        run = self.github.run(NAME, "tick.yml")
        run.attempts[1], run.attempt = ("completed", "failure", run.created_at), 2
        actions = f"{HERE}/actions"
        self.go("GET", f"{actions}/runs?status=success")
        self.go("GET", f"{actions}/runs/{run.id}")
        self.go("GET", f"{actions}/runs/{run.id}/attempts/1")
        self.go("GET", f"{actions}/workflows")
        self.go("GET", f"{actions}/workflows/tick.yml")
        self.go("GET", f"{actions}/workflows/tick.yml/runs")
        self.go("PUT", f"{actions}/workflows/tick.yml/disable")
        self.go("PUT", f"{actions}/workflows/tick.yml/enable")
        self.go("POST", f"{actions}/workflows/tick.yml/dispatches", {"ref": "main", "inputs": {"a": "b"}})
        self.go("POST", f"{HERE}/dispatches", {"event_type": "hz-poke", "client_payload": {"job": "digest"}})
        self.go("POST", f"{HERE}/dispatches", {"event_type": "x", "client_payload": {str(n): n for n in range(11)}})

    def people(self) -> None:
        self.go("GET", f"{HERE}/collaborators/mona/permission")
        self.go("GET", f"{HERE}/collaborators/github-actions[bot]/permission")
        self.go("GET", f"{HERE}/collaborators/mona")
        self.go("GET", "/orgs/acme/teams/writers/memberships/mona")
        self.go("GET", "/orgs/acme/teams/writers/memberships/hubot")
        self.go("GET", "/orgs/acme/teams/writers/memberships/mona", who=self.actions)
        self.go("GET", "/orgs/acme/teams/writers")
        self.go("GET", "/orgs/acme/teams/none")
        self.go("GET", "/user", who=self.person)
        self.go("GET", "/user")
        self.go("GET", "/users/mona")

    def house(self) -> None:
        self.repo.rules["main"] = [{"type": "deletion"}, {"type": "non_fast_forward"}]
        self.go("GET", HERE)
        self.go("GET", HERE, who=self.person)
        self.go("GET", f"{HERE}/rules/branches/main")
        admin = self.github.person("ada", "admin", repo=NAME)
        ada = Client(self.github, self.github.token("classic", who=admin.login))
        self.go("GET", f"{HERE}/actions/permissions/workflow", who=ada)
        self.go("GET", f"{HERE}/actions/permissions/workflow")
        self.go("GET", "/rate_limit")
        self.go("GET", "/meta")


def toured() -> Iterator[Stop]:
    """Yield every stop of one tour."""
    with GitHub() as github:
        yield from Tour(github).everywhere()
