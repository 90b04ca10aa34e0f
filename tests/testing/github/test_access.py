"""Who sees what and may do what, by kind of token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.testing.github.asking import HERE, NAME, Client

if TYPE_CHECKING:
    from hz_team.testing.github import GitHub, Person, Repository

ISSUES = f"{HERE}/issues"
NEW = {"title": "New"}


def test_nobody_and_the_dead_are_told_apart(github: GitHub, repo: Repository, mona: Person) -> None:
    token = github.token("classic", who="mona")
    ask = Client(github, token)
    assert ask("GET", ISSUES).status == 200
    github.revoke(token)
    assert (ask("GET", ISSUES).status, ask("GET", ISSUES).data["message"]) == (401, "Bad credentials")
    assert Client(github)("GET", ISSUES).status == 404
    github.repository("acme/open", private=False)
    assert Client(github)("GET", "/repos/acme/open/issues").status == 200
    assert Client(github)("POST", "/repos/acme/open/issues", NEW).status == 401


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("actions", "Resource not accessible by integration"),
        ("app", "Resource not accessible by integration"),
        ("fine_grained", "Resource not accessible by personal access token"),
    ],
)
def test_a_lacking_permission_is_named(github: GitHub, repo: Repository, mona: Person, kind: str, message: str) -> None:
    ask = Client(github, github.token(kind, NAME, permissions={"issues": "read"}, who="mona"))
    assert ask("GET", ISSUES).status == 200
    got = ask("POST", ISSUES, NEW)
    assert (got.status, got.data["message"]) == (403, message)
    assert got.headers["x-accepted-github-permissions"] == "issues=write"
    assert ask("GET", f"{HERE}/pulls").status == 403
    assert ask("GET", f"{HERE}/releases").status == 403
    assert ask("GET", HERE).status == 200
    other = github.repository("acme/other")
    assert ask("GET", f"/repos/{other.name}/issues").status == 404


def test_permissions_may_be_written_as_in_a_workflow(github: GitHub, repo: Repository) -> None:
    ask = Client(github, github.token("actions", NAME, permissions={"pull-requests": "write"}))
    assert ask("GET", f"{HERE}/pulls").status == 200
    assert ask("GET", ISSUES).status == 200, "one of the two permissions is enough to read"
    assert ask("POST", ISSUES, NEW).status == 403, "an issue needs issues: write"


def test_who_acts(github: GitHub, repo: Repository, mona: Person) -> None:
    said = {"actions": "github-actions[bot]", "app": "helper[bot]", "fine_grained": "mona", "classic": "mona"}
    for kind, login in said.items():
        ask = Client(github, github.token(kind, NAME, who="helper" if kind == "app" else "mona"))
        user = ask("POST", ISSUES, NEW).data["user"]
        assert (user["login"], user["type"]) == (login, "Bot" if login.endswith("[bot]") else "User")
        assert ask("GET", "/user").status == (200 if login == "mona" else 403)


def test_a_reader_writes_only_what_is_theirs(github: GitHub, repo: Repository, mona: Person) -> None:
    github.person("rita", "read", repo=NAME)
    ask = Client(github, github.token("classic", who="rita"))
    issue = mona.opens(repo, "Mona's")
    made = ask("POST", ISSUES, {**NEW, "labels": ["x"], "assignees": ["mona"]}).data
    assert (made["labels"], made["assignees"]) == ([], [])
    assert ask("PATCH", f"{ISSUES}/{made['number']}", {"body": "mine"}).status == 200
    assert ask("PATCH", f"{ISSUES}/{issue.number}", {"body": "not mine"}).status == 403
    assert ask("POST", f"{ISSUES}/{issue.number}/labels", {"labels": ["x"]}).status == 403
    comment = ask("POST", f"{ISSUES}/{issue.number}/comments", {"body": "hi"})
    assert comment.status == 201
    theirs = mona.comments(issue, "hello")
    assert ask("PATCH", f"{ISSUES}/comments/{theirs.id}", {"body": "x"}).status == 403
    assert ask("DELETE", f"{ISSUES}/comments/{comment.data['id']}").status == 204
    mona.locks(issue)
    assert ask("POST", f"{ISSUES}/{issue.number}/comments", {"body": "hi"}).status == 403
    assert ask("PUT", f"{HERE}/contents/a", {"message": "x", "content": ""}).status == 403


def test_strangers_see_nothing(github: GitHub, repo: Repository) -> None:
    ask = Client(github, github.token("classic", who="stranger"))
    assert [ask("GET", path).status for path in (HERE, ISSUES, f"{HERE}/contents/a")] == [404] * 3


def test_permission_look_ups(github: GitHub, repo: Repository, mona: Person) -> None:
    for role in ("admin", "maintain", "triage", "read"):
        github.person(role, role, repo=NAME)
    github.person("stranger")
    ask = Client(github, github.token("actions", NAME, permissions={"issues": "write"}))

    def said(login: str) -> tuple[str, str]:
        data = ask("GET", f"{HERE}/collaborators/{login}/permission").data
        return data["permission"], data["role_name"]

    assert said("admin") == ("admin", "admin")
    assert said("maintain") == ("write", "maintain")
    assert said("mona") == ("write", "write")
    assert said("triage") == ("read", "triage")
    assert said("read") == ("read", "read")
    assert said("MONA") == ("write", "write")
    assert said("stranger") == ("none", "none")
    for login in ("github-actions[bot]", "nobody"):
        assert ask("GET", f"{HERE}/collaborators/{login}/permission").status == 404
    reader = Client(github, github.token("classic", who="read"))
    assert reader("GET", f"{HERE}/collaborators/mona/permission").status == 403
    repo.roles["mona"] = "read"
    assert said("mona") == ("read", "read")


def test_teams_are_for_apps_and_people(github: GitHub, repo: Repository, mona: Person) -> None:
    github.team("acme/writers", "mona")
    place = "/orgs/acme/teams/writers/memberships"

    def statuses(token: str) -> list[int]:
        return [Client(github, token)("GET", f"{place}/{login}").status for login in ("mona", "hubot")]

    assert statuses(github.token("actions", NAME)) == [403, 403]
    assert statuses(github.token("app", NAME)) == [403, 403]
    assert statuses(github.token("app", NAME, permissions={"members": "read"})) == [200, 404]
    assert statuses(github.token("fine_grained", NAME, who="mona")) == [404, 404]
    assert statuses(github.token("classic", who="mona")) == [200, 404]


def test_only_administrators_know_the_settings(github: GitHub, repo: Repository, mona: Person) -> None:
    github.person("ada", "admin", repo=NAME)
    repo.private = False
    place = f"{HERE}/actions/permissions/workflow"
    for kind, who, status in (("classic", "ada", 200), ("classic", "mona", 403), ("actions", "", 403)):
        assert Client(github, github.token(kind, NAME, who=who))("GET", place).status == status


def test_pull_requests_by_actions_can_be_switched_off(github: GitHub, repo: Repository, mona: Person) -> None:
    mona.pushes(repo, {"a": "1"})
    repo.bare.update("refs/heads/side", repo.bare.branch("main"))
    mona.pushes(repo, {"b": "1"}, branch="side")
    repo.actions_may_open_pulls = False
    words = {"title": "Side", "head": "side", "base": "main"}
    got = Client(github, github.token("actions", NAME))("POST", f"{HERE}/pulls", words)
    assert (got.status, "not permitted to create" in got.data["message"]) == (403, True)
    assert Client(github, github.token("app", NAME))("POST", f"{HERE}/pulls", words).status == 201


def test_what_is_public_is_read_by_all_and_written_by_few(github: GitHub) -> None:
    github.repository("acme/open", private=False)
    ask = Client(github, github.token("actions", "acme/open", permissions={"contents": "read"}))
    assert ask("GET", "/repos/acme/open/issues").status == 200
    assert ask("POST", "/repos/acme/open/issues", NEW).status == 403
    other = Client(github, github.token("actions", NAME))
    assert other("GET", "/repos/acme/open/issues").status == 200
    assert other("POST", "/repos/acme/open/issues", NEW).status == 403


def test_wrong_words_are_refused(github: GitHub) -> None:
    with pytest.raises(ValueError, match="use one of actions, app"):
        github.token("magic")
    with pytest.raises(ValueError, match="use one of none, read"):
        github.person("mona", "king")
