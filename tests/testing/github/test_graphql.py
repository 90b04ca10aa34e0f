"""GraphQL by the name of the operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hz_team.testing.github import shape
from tests.testing.github.asking import HERE, NAME, Client

if TYPE_CHECKING:
    from hz_team.testing.github import GitHub, Person, Repository

PLACE = {"owner": "acme", "name": "housework"}


@pytest.fixture
def ask(github: GitHub, repo: Repository) -> Client:
    return Client(github, github.token("actions", NAME))


def history(ask: Client, variables: dict[str, Any]) -> Any:
    data = ask.query("BodyEdits", variables)["data"]
    return (data.get("node") or data["repository"]["issue"])["userContentEdits"]


def test_the_history_of_a_text(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    node = ask("POST", f"{HERE}/issues", {"title": "x", "body": "first"}).data["node_id"]
    assert history(ask, {"id": node})["nodes"] == []
    issue = repo.issues[1]
    mona.edits(issue, "second\nline")
    mona.edits(issue, "third")
    found = history(ask, {"id": node})
    assert [(one["diff"], one["editor"]["login"], one["editor"]["__typename"]) for one in found["nodes"]] == [
        ("third", "mona", "User"),
        ("second\r\nline", "mona", "User"),
        ("first", "github-actions", "Bot"),
    ]
    assert found["pageInfo"] == {"hasNextPage": False, "endCursor": None}
    assert history(ask, {**PLACE, "number": 1})["nodes"] == found["nodes"]
    mona.deletes_revision(issue, 1)
    gone = history(ask, {"id": node})["nodes"][1]
    assert (gone["diff"], gone["deletedAt"] is None) == (None, False)


def test_a_long_history_has_pages(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    comment = mona.comments(mona.opens(repo, "x"), "0")
    for number in range(1, 150):
        mona.edits_comment(comment, str(number))
    node = ask("GET", f"{HERE}/issues/comments/{comment.id}").data["node_id"]
    texts, after, page = [], None, {}
    for _ in range(2):
        page = history(ask, {"id": node, "after": after})
        texts += [one["diff"] for one in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
    assert texts == [str(number) for number in reversed(range(150))]
    assert page["pageInfo"]["hasNextPage"] is False


def test_three_pins(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    for number in range(4):
        mona.opens(repo, str(number))
    said = [ask.query("PinIssue", {"id": shape.thread_node(issue)}) for issue in repo.issues]
    assert [("errors" in one) for one in said] == [False, False, False, True]
    assert [issue.pinned for issue in repo.issues] == [True, True, True, False]


def test_discussions(github: GitHub, repo: Repository, ask: Client, mona: Person) -> None:
    data = ask.query("DiscussionCategories", PLACE)["data"]["repository"]
    ids = {one["name"]: one["id"] for one in data["discussionCategories"]["nodes"]}
    words = {"repository": data["id"], "category": ids["Ideas"], "title": "Talk", "body": "text"}
    made = ask.query("CreateDiscussion", words)["data"]["createDiscussion"]["discussion"]
    mona.discusses(repo, "Other", "x")
    assert (repo.discussions[1].title, repo.discussions[1].category) == ("Talk", "Ideas")

    def titles(**variables: Any) -> list[str]:
        found = ask.query("Discussions", {**PLACE, **variables})["data"]["repository"]["discussions"]
        return [one["title"] for one in found["nodes"]]

    assert titles() == ["Other", "Talk"]
    assert titles(category=ids["Ideas"]) == ["Talk"]
    assert titles(first=1, after="1") == ["Talk"]
    assert ask.query("CloseDiscussion", {"id": made["id"]})["data"]["closeDiscussion"]["discussion"]["closed"]
    assert repo.discussions[1].closed
    ask.query("DeleteDiscussion", {"id": made["id"]})
    assert titles() == ["Other"]
    assert ask.query("CloseDiscussion", {"id": made["id"]})["errors"][0]["type"] == "NOT_FOUND"


def test_what_changed_last_in_several_repositories(github: GitHub, repo: Repository, mona: Person) -> None:
    mona.releases(repo, "v1")
    mona.opens(repo, "One")
    github.repository("acme/hidden")
    ask = Client(github, github.token("actions", NAME, permissions={"issues": "read"}))
    data = ask.query("RecentActivity", {"repositories": {"a": NAME, "b": "acme/hidden"}})["data"]
    assert data["b"] is None
    assert data["a"]["issues"]["nodes"][0]["title"] == "One"
    assert data["a"]["releases"] is None, "contents may not be read"
    wide = Client(github, github.token("actions", NAME))
    data = wide.query("RecentActivity", PLACE)["data"]["repository"]
    assert data["releases"]["nodes"][0]["tagName"] == "v1"


def test_what_fails_is_an_errors_document(github: GitHub, repo: Repository, mona: Person) -> None:
    issue = mona.opens(repo, "x")
    ask = Client(github, github.token("actions", NAME, permissions={"issues": "read"}))
    assert ask.query("Nonsense", {})["errors"][0]["message"].endswith("'Nonsense'")
    assert ask.query("PinIssue", {"id": shape.thread_node(issue)})["errors"][0]["type"] == "FORBIDDEN"
    assert ask.query("PinIssue", {"id": "I_none"})["errors"][0]["type"] == "NOT_FOUND"
    assert ask.query("Discussions", {"owner": "acme", "name": "none"})["errors"][0]["type"] == "NOT_FOUND"
    assert Client(github).query("Discussions", PLACE)["status"] == "401"
