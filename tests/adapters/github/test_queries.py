"""The GraphQL documents: against GitHub's own schema where it is installed, and against its double always."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hz_team.adapters.github.address import address_of
from hz_team.adapters.github.answer import GRANTED
from hz_team.adapters.github.api import GitHubApi
from hz_team.adapters.github.queries import DOCUMENTS, PERMISSIONS
from hz_team.adapters.http import HttpClient
from hz_team.testing.github import GitHub
from tests.testing.github.published import ROOT, VARIABLE

REPO = "acme/housework"
SCHEMA = "@octokit/graphql-schema/schema.graphql"
NAMES = sorted(DOCUMENTS)
HOW = "THE GRAPHQL DOCUMENTS ARE NOT CHECKED AGAINST GITHUB'S SCHEMA"


@cache
def checker() -> Any:
    """Return a function that lists what GitHub would say against a document, or skip, saying how to get it."""
    graphql = pytest.importorskip("graphql", reason=f"{HOW}: install graphql-core. A check of our own was made.")
    path = Path(os.environ.get(VARIABLE) or ROOT / "node_modules") / SCHEMA
    if not path.is_file():
        pytest.skip(
            f"{HOW}: run `npm install --no-save @octokit/graphql-schema` in the repository's root, or name a "
            f"node_modules folder in {VARIABLE}. A check of our own was made."
        )
    schema = graphql.build_schema(path.read_text("utf-8"), assume_valid=True)
    return lambda document: [str(error) for error in graphql.validate(schema, graphql.parse(document))]


@pytest.mark.parametrize("name", NAMES)
def test_github_would_take_it(name: str) -> None:
    assert checker()(DOCUMENTS[name]) == []


def test_github_would_not_take_anything() -> None:
    wrong = DOCUMENTS["BodyEdits"].replace("editedAt", "edited_at")
    assert ["edited_at" in error for error in checker()(wrong)] == [True]
    assert len(checker()(DOCUMENTS["PinIssue"].replace("$id: ID!", "$id: String!"))) == 1


def complaints(name: str, document: str) -> list[str]:
    """Return what is wrong with a document by its shape: its name, brackets, variables and fragments."""
    head = re.match(r"(query|mutation) (\w+)\(([^)]*)\) \{", document)
    if head is None:
        return ["no head"]
    found = [] if head[2] == name else [f"it is called {head[2]}"]
    rest = document[head.end() - 1 :]
    found += [f"{one} is not closed" for one in ("{}", "()") if rest.count(one[0]) != rest.count(one[1])]
    declared, used = set(re.findall(r"\$(\w+):", head[3])), set(re.findall(r"\$(\w+)", rest))
    found += [f"${one} is declared or used, not both" for one in sorted(declared ^ used)]
    spread, made = set(re.findall(r"\.\.\.(\w+)", rest)), set(re.findall(r"fragment (\w+) on", rest))
    return found + [f"fragment {one} is made or used, not both" for one in sorted(spread ^ made)]


@pytest.mark.parametrize("name", NAMES)
def test_its_shape(name: str) -> None:
    assert complaints(name, DOCUMENTS[name]) == []
    assert len(DOCUMENTS[name]) < 2_000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("BodyEdits", "BodyEdit", "it is called BodyEdit"),
        ("$id: ID!, ", "", "$id is declared or used, not both"),
        ("(id: $id)", "(id: 1)", "$id is declared or used, not both"),
        ("fragment edits", "fragment edit", "fragment edit is made or used, not both"),
        ("endCursor }", "endCursor", "{} is not closed"),
        ("query", "question", "no head"),
    ],
)
def test_a_wrong_shape_is_seen(old: str, new: str, words: str) -> None:
    assert words in complaints("BodyEdits", DOCUMENTS["BodyEdits"].replace(old, new, 1))


@pytest.mark.parametrize("name", [name for name in NAMES if "$after" in DOCUMENTS[name]])
def test_what_has_pages_says_whether_there_are_more(name: str) -> None:
    assert "pageInfo { hasNextPage endCursor }" in DOCUMENTS[name]


def test_every_one_says_what_it_needs() -> None:
    assert PERMISSIONS.keys() == DOCUMENTS.keys()
    for name, permission in PERMISSIONS.items():
        scope, _, level = permission.partition(": ")
        assert scope in GRANTED
        assert level == ("write" if DOCUMENTS[name].startswith("mutation") else "read")


def test_the_whole_way_through_the_double() -> None:
    with GitHub() as github:
        mona = github.person("mona", "write", repo=REPO)
        issue = mona.opens(github.repository(REPO), "Title", "one")
        mona.edits(issue, "two")
        address = address_of({"GITHUB_SERVER_URL": github.url})
        api = GitHubApi(HttpClient({}), address, github.token("actions", REPO), REPO)
        node = api.get(f"/repos/{REPO}/issues/{issue.number}").data["node_id"]
        edits = api.query("BodyEdits", {"id": node, "after": None})["node"]["userContentEdits"]["nodes"]
        assert [(one["diff"], one["editor"]["login"]) for one in edits] == [("two", "mona"), ("one", "mona")]
        assert api.query("PinIssue", {"id": node})["pinIssue"]["issue"]["number"] == issue.number
        place = {"owner": "acme", "name": "housework"}
        about = api.query("DiscussionCategories", place)["repository"]
        category = about["discussionCategories"]["nodes"][0]
        words = {"repository": about["id"], "category": category["id"], "title": "Talk", "body": "text"}
        made = api.query("CreateDiscussion", words)["createDiscussion"]["discussion"]
        asked = {**place, "after": None, "category": category["id"]}
        (found,) = api.query("Discussions", asked)["repository"]["discussions"]["nodes"]
        assert (found["number"], found["title"], found["body"], found["closed"]) == (
            made["number"],
            "Talk",
            "text",
            False,
        )
        closed = api.query("CloseDiscussion", {"id": found["id"]})["closeDiscussion"]["discussion"]
        assert closed["number"] == made["number"]
        (found,) = api.query("Discussions", asked)["repository"]["discussions"]["nodes"]
        assert found["closed"] is True
