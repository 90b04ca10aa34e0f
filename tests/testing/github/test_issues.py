"""Issues and comments over REST and by hand: states, histories, filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.testing.github.asking import HERE, NAME, Client

if TYPE_CHECKING:
    from hz_team.testing.github import GitHub, Person, Repository

ISSUES = f"{HERE}/issues"
BOX = "<!-- hz:dashboard 1 -->\n\n- [ ] <!-- hz:approve p-3f9c21ab 5d41402abc4b --> **Publish**\n- [ ] <!-- hz:pause --> Pause\n"


@pytest.fixture
def ask(github: GitHub, repo: Repository) -> Client:
    return Client(github, github.token("actions", NAME))


def test_what_a_browser_stores(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    ask("POST", ISSUES, {"title": "Dashboard", "body": BOX})
    issue = repo.issues[1]
    assert issue.body == BOX
    mona.ticks(issue, "approve", "p-3f9c21ab")
    ticked = BOX.replace("[ ] <!-- hz:approve", "[x] <!-- hz:approve").replace("\n", "\r\n")
    assert issue.body == ticked
    mona.ticks(issue, "pause", mark="X")
    assert "[X] <!-- hz:pause" in issue.text
    mona.unticks(issue, "approve", "p-3f9c21ab")
    assert [edit.editor.login for edit in issue.edits if edit.editor] == ["github-actions[bot]", "mona", "mona", "mona"]
    assert [edit.text for edit in issue.edits][:2] == [BOX, ticked]
    name, payload = github.events[-1]
    assert (name, payload["action"], payload["sender"]["login"]) == ("issues", "edited", "mona")
    assert payload["changes"]["body"]["from"] == issue.edits[-2].text
    for verb, target in (("approve", "p-00000000"), ("run", "digest"), ("approve", "p-3f9c21")):
        with pytest.raises(ValueError, match="no box to change"):
            mona.ticks(issue, verb, target)
    comment = mona.comments(issue, BOX)
    mona.ticks(comment, "pause")
    assert "[x] <!-- hz:pause" in comment.text


def test_lists_are_filtered_and_ordered(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    github.now = lambda: 1_790_000_000
    one = mona.opens(repo, "one", labels=["a", "B"])
    github.now = lambda: 1_790_000_100
    two = mona.opens(repo, "two", labels=["a"])
    ask("POST", ISSUES, {"title": "three"})
    github.now = lambda: 1_790_000_200
    mona.comments(one, "x")
    mona.closes(two)

    def titles(query: str) -> list[str]:
        return [issue["title"] for issue in ask("GET", f"{ISSUES}?{query}").data]

    assert titles("") == ["three", "one"]
    assert titles("state=closed") == ["two"]
    assert titles("state=all&direction=asc") == ["one", "two", "three"]
    assert titles("state=all&sort=updated") == ["two", "one", "three"]
    assert titles("state=all&sort=comments") == ["one", "three", "two"]
    assert titles("state=all&labels=a") == ["two", "one"]
    assert titles("labels=a,b") == ["one"]
    assert titles("creator=mona") == ["one"]
    assert titles("creator=github-actions[bot]") == ["three"]
    assert titles("state=all&since=2026-09-21T14:16:40Z") == ["two", "one"]


def test_lists_hold_pull_requests_too(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    mona.pushes(repo, {"a": "1"})
    repo.bare.update("refs/heads/side", repo.bare.branch("main"))
    mona.pushes(repo, {"b": "1"}, branch="side")
    mona.opens(repo, "Issue")
    pull = mona.opens_pull(repo, "Pull", "side")
    assert [("pull_request" in one, one["title"]) for one in ask("GET", ISSUES).data] == [
        (True, "Pull"),
        (False, "Issue"),
    ]
    assert ask("GET", f"{ISSUES}/{pull.number}").data["html_url"].endswith(f"/pull/{pull.number}")
    assert [one.title for one in repo.issues] == ["Issue"]
    assert [one.title for one in repo.pulls] == ["Pull"]


def test_states_of_an_issue(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    mona.opens(repo, "One")
    closed = ask("PATCH", f"{ISSUES}/1", {"state": "closed"}).data
    assert (closed["state"], closed["state_reason"]) == ("closed", "completed")
    assert closed["closed_by"]["login"] == "github-actions[bot]"
    assert closed["closed_at"]
    opened = ask("PATCH", f"{ISSUES}/1", {"state": "open"}).data
    assert (opened["state"], opened["state_reason"], opened["closed_at"]) == ("open", "reopened", None)
    assert ask("PATCH", f"{ISSUES}/1", {"state": "ajar"}).status == 422
    assert ask("PATCH", f"{ISSUES}/1", {"title": " "}).status == 422


def test_limits_of_texts(github: GitHub, repo: Repository, ask: Client) -> None:
    assert ask("POST", ISSUES, {"title": "x", "body": "y" * 65_536}).status == 201
    got = ask("POST", ISSUES, {"title": "x", "body": "y" * 65_537})
    assert (got.status, "maximum is 65536 characters" in got.data["errors"][0]["message"]) == (422, True)
    assert ask("PATCH", f"{ISSUES}/1", {"body": "y" * 65_537}).status == 422
    assert ask("POST", f"{ISSUES}/1/comments", {"body": "y" * 65_537}).status == 422
    assert ask("POST", f"{ISSUES}/1/comments", {"body": ""}).status == 422
    assert ask("POST", ISSUES, {"body": "no title"}).status == 422
    assert len(repo.issues) == 1


def test_what_is_gone(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    mona.deletes(mona.opens(repo, "Deleted"))
    mona.comments(mona.opens(repo, "Moved", "text"), "below")
    moved = mona.transfers(repo.issues[2], "acme/other")
    assert [ask("GET", f"{ISSUES}/{number}").status for number in (1, 2, 3)] == [410, 301, 404]
    assert ask("PATCH", f"{ISSUES}/2", {"body": "x"}).status == 301
    place = ask("GET", f"{ISSUES}/2").headers["location"]
    github.person("mona", "write", repo="acme/other")
    wide = Client(github, github.token("classic", who="mona"))
    there = wide("GET", place.removeprefix(github.rest)).data
    assert (there["title"], there["repository_url"]) == ("Moved", f"{github.rest}/repos/acme/other")
    assert [one.text for one in moved.comments] == ["below"]
    assert ask("GET", place.removeprefix(github.rest)).status == 404, "not with a token of the old place"
    assert ask("GET", f"{ISSUES}?state=all").data == []
    assert ask("GET", f"{ISSUES}/comments").data == []
    assert (len(repo.issues), repo.issues[1].deleted, repo.issues[2].moved_to) == (0, True, "acme/other#1")
    repo.has_issues = False
    assert [ask(method, ISSUES, {"title": "x"} if method == "POST" else None).status for method in ("GET", "POST")] == [
        410,
        410,
    ]


def test_labels_and_assignees(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    made = ask("POST", ISSUES, {"title": "x", "labels": ["New", "new"], "assignees": ["mona"]}).data
    assert [label["name"] for label in made["labels"]] == ["New"]
    assert [one["login"] for one in made["assignees"]] == ["mona"]
    assert ask("POST", ISSUES, {"title": "x", "assignees": ["stranger"]}).status == 422
    added = ask("POST", f"{ISSUES}/1/assignees", {"assignees": ["stranger", "github-actions[bot]"]}).data
    assert [one["login"] for one in added["assignees"]] == ["mona"]
    assert ask("POST", f"{HERE}/labels", {"name": "NEW"}).data["errors"][0]["code"] == "already_exists"
    ask("PATCH", f"{HERE}/labels/new", {"new_name": "old"})
    assert repo.issues[1].labels == ["old"]
    assert ask("DELETE", f"{ISSUES}/1/labels/none").status == 404
    ask("DELETE", f"{HERE}/labels/old")
    assert repo.issues[1].labels == []


def test_comments_have_an_order_and_a_since(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    github.now = lambda: 1_790_000_000
    first, second = mona.opens(repo, "One"), mona.opens(repo, "Two")
    early = mona.comments(first, "early")
    github.now = lambda: 1_790_000_100
    mona.comments(second, "late")
    every = ask("GET", f"{ISSUES}/comments").data
    assert [one["body"] for one in every] == ["early", "late"]
    assert every[0]["issue_url"].endswith("/issues/1")
    late = "since=2026-09-21T14:15:00Z"
    assert [one["body"] for one in ask("GET", f"{ISSUES}/comments?{late}").data] == ["late"]
    mona.edits_comment(early, "early, edited")
    got = ask("GET", f"{ISSUES}/comments?{late}&sort=updated&direction=desc").data
    assert [one["body"] for one in got] == ["late", "early, edited"]
    assert got[1]["updated_at"] != got[1]["created_at"]
    assert ask("GET", f"{ISSUES}/1").data["comments"] == 1


def test_a_thousand_issues_are_read_by_page(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    for number in range(1000):
        mona.opens(repo, f"Issue {number}")
    seen = {one["number"] for page in range(1, 11) for one in ask("GET", f"{ISSUES}?per_page=100&page={page}").data}
    assert seen == set(range(1, 1001))
    assert github.count("GET", "issues") == 10
