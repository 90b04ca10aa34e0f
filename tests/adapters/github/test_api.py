"""The client against a GitHub on loopback: what it sends, what it counts, when it is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team.adapters.github.address import Address, address_of
from hz_team.adapters.github.api import GitHubApi
from hz_team.adapters.github.people import People
from hz_team.adapters.github.runs import Runs
from hz_team.adapters.http import HttpClient
from hz_team.errors import Deferred, Forbidden, RemoteError, TryAgain, UsageError
from hz_team.testing.github import GitHub

if TYPE_CHECKING:
    from collections.abc import Iterator

REPO = "acme/housework"


@pytest.fixture
def github() -> Iterator[GitHub]:
    with GitHub() as made:
        made.repository(REPO)
        yield made


def client(github: GitHub, *, kind: str = "actions", budget: int = 200, **rights: str) -> GitHubApi:
    token = github.token(kind, REPO, permissions=rights or None)
    return GitHubApi(HttpClient(), address_of({"GITHUB_SERVER_URL": github.url}), token, REPO, budget=budget)


def test_a_list_and_its_pages(github: GitHub) -> None:
    mona = github.person("mona", "write", repo=REPO)
    for number in range(3):
        mona.opens(github.repository(REPO), f"Issue {number}")
    api = client(github)
    first = api.get(f"/repos/{REPO}/issues", {"per_page": 2})
    assert (first.status, len(first.data), "page=2" in first.next) == (200, 2, True)
    assert api.get(f"/repos/{REPO}/issues", {"per_page": 2, "page": 2}).next == ""
    assert api.requests == 2


def test_a_validator_spares_the_answer_where_the_token_lives_on(github: GitHub) -> None:
    github.person("octocat", "write", repo=REPO)
    api = client(github, kind="classic")
    etag = api.get(f"/repos/{REPO}").headers["etag"]
    assert api.get(f"/repos/{REPO}", etag=etag).status == 304
    assert client(github).get(f"/repos/{REPO}", etag=etag).status == 200, "an ETag belongs to one token"


def test_what_is_not_there_and_what_is_gone_are_facts(github: GitHub) -> None:
    repo, mona = github.repository(REPO), github.person("mona", "admin", repo=REPO)
    issue = mona.opens(repo, "x")
    mona.deletes(issue)
    api = client(github)
    assert api.get(f"/repos/{REPO}/issues/{issue.number}").status == 410
    assert api.get(f"/repos/{REPO}/issues/99").status == 404


def test_after_a_limit_nothing_more_is_asked(github: GitHub) -> None:
    api = client(github)
    github.fault("GET", r"/repos", "too-many")
    for _ in range(2):
        with pytest.raises(Deferred):
            api.get(f"/repos/{REPO}")
    assert github.count("GET") == 1


def test_the_budget_of_a_tick_ends(github: GitHub) -> None:
    api = client(github, budget=1)
    api.get(f"/repos/{REPO}")
    with pytest.raises(Deferred, match="1 requests of one tick are used up"):
        api.get(f"/repos/{REPO}")
    assert github.count() == 1


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("before-500", TryAgain),
        ("dropped", TryAgain),
        ("forbidden", Forbidden),
        ("dead-token", RemoteError),
        ("not-json", RemoteError),
        ("oversize", RemoteError),
    ],
)
def test_mishaps_are_told_without_the_token(github: GitHub, kind: str, error: type[Exception]) -> None:
    api = client(github)
    github.fault("GET", r"/repos", kind)
    with pytest.raises(error) as raised:
        api.get(f"/repos/{REPO}", permission="metadata: read")
    assert "ghs_" not in f"{raised.value}{api!r}"


def test_the_time_is_the_servers(github: GitHub) -> None:
    api = client(github)
    assert api.time() is None
    github.now = lambda: 1_796_000_000.0
    api.get(f"/repos/{REPO}")
    assert abs((api.time() or 0) - 1_796_000_000) <= 1


def test_a_graphql_field_that_is_not_there_is_none_and_no_answer_a_sentence(github: GitHub) -> None:
    assert client(github).query("BodyEdits", {"id": "nonsense", "after": None}) == {"node": None}
    github.fault("POST", "graphql", "not-json")
    with pytest.raises(RemoteError, match="GraphQL BodyEdits"):
        client(github).query("BodyEdits", {"id": "nonsense", "after": None})


def test_a_redirect_is_a_fact_and_nobody_follows_it(github: GitHub) -> None:
    repo, mona = github.repository(REPO), github.person("mona", "admin", repo=REPO)
    issue = mona.opens(repo, "x")
    mona.transfers(issue, "acme/other")
    assert client(github).get(f"/repos/{REPO}/issues/{issue.number}").status == 301
    assert github.count() == 1


@pytest.mark.parametrize("role", ["admin", "maintain", "write", "triage", "read"])
def test_what_a_person_may(github: GitHub, role: str) -> None:
    github.person("mona", role, repo=REPO)
    people = People(client(github))
    assert people.role("mona") == people.role("Mona")
    assert (people.role("mona")[0], github.count()) == (role, 1)
    assert "collaborator permission" in people.role("mona")[1]


def test_who_cannot_be_looked_up_may_nothing(github: GitHub) -> None:
    people = People(client(github))
    assert people.role("")[0] == "none"
    assert people.role("local:mona")[0] == "none"
    assert people.role("dependabot[bot]")[0] == "none"
    github.fault("GET", "permission$", "before-500")
    assert people.role("hubot")[0] == "unknown"


def test_teams_are_unknown_to_the_built_in_token(github: GitHub) -> None:
    github.team("acme/docs", "mona")
    assert People(client(github)).member("mona", "acme/docs") is None
    reader = People(client(github, kind="app", members="read"))
    assert (reader.member("mona", "acme/docs"), reader.member("eve", "acme/docs")) == (True, False)


@pytest.mark.parametrize(("status", "told"), [("completed", "ended"), ("in_progress", "running"), ("queued", "queued")])
def test_what_became_of_a_run(github: GitHub, status: str, told: str) -> None:
    run = github.run(REPO, status=status)
    state, ended = Runs(client(github)).state(str(run.id), 1)
    assert (state, bool(ended)) == (told, told == "ended")


def test_a_run_that_cannot_be_asked_is_unknown(github: GitHub) -> None:
    runs = Runs(client(github))
    assert runs.state("99", 1) == runs.state("x", 1) == runs.state("", 0) == ("unknown", 0)
    github.fault("GET", "/actions/", "before-500")
    assert runs.state("98", 1) == ("unknown", 0)


@pytest.mark.parametrize(
    ("environ", "rest", "graphql"),
    [
        ({}, "https://api.github.com", "https://api.github.com/graphql"),
        ({"GITHUB_SERVER_URL": "https://github.com/"}, "https://api.github.com", "https://api.github.com/graphql"),
        ({"GITHUB_SERVER_URL": "https://ghe.example"}, "https://ghe.example/api/v3", "https://ghe.example/api/graphql"),
        (
            {"GITHUB_SERVER_URL": "https://ghe.example", "GITHUB_API_URL": "https://ghe.example/api/v3/api/v3/"},
            "https://ghe.example/api/v3",
            "https://ghe.example/api/graphql",
        ),
    ],
)
def test_where_a_github_is(environ: dict[str, str], rest: str, graphql: str) -> None:
    address = address_of(environ)
    assert (address.rest, address.graphql, address.is_here) == (rest, graphql, False)


@pytest.mark.parametrize("url", ["http://ghe.example/api/v3", "https://mona:secret@ghe.example/api/v3", "ghe.example"])
def test_no_token_is_shown_to_such_an_address(url: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_API_URL"):
        address_of({"GITHUB_SERVER_URL": "https://ghe.example", "GITHUB_API_URL": url})


def test_a_server_on_this_machine_is_known_as_such() -> None:
    assert Address("", "http://127.0.0.1:80/api/v3", "").is_here
