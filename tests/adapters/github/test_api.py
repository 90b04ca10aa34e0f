"""The client against a GitHub on loopback, and against servers that lie: what it sends, counts, and never says."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from hz_team import __version__
from hz_team.adapters.github.address import address_of
from hz_team.adapters.github.api import GitHubApi
from hz_team.adapters.http import HttpClient
from hz_team.errors import Deferred, Forbidden, HzError, PublishUnknown, RemoteError, TryAgain, UsageError
from hz_team.testing.feedserver import Answer, FeedServer
from hz_team.testing.github import GitHub

if TYPE_CHECKING:
    from collections.abc import Iterator

REPO = "acme/housework"
TOKEN = "ghs_" + "7" * 36
NODE = {"id": "I_1", "after": None}


@pytest.fixture
def github() -> Iterator[GitHub]:
    with GitHub() as made:
        made.repository(REPO)
        yield made


@pytest.fixture
def server() -> Iterator[FeedServer]:
    """A server that says what it is told to."""
    with FeedServer() as running:
        yield running


def client(github: GitHub, *, kind: str = "actions", budget: int = 200, **rights: str) -> GitHubApi:
    token = github.token(kind, REPO, permissions=rights or None)
    return GitHubApi(HttpClient({}), address_of({"GITHUB_SERVER_URL": github.url}), token, REPO, budget=budget)


def caller(server: FeedServer, *, clock: Any = lambda: 1_796_000_000.0) -> GitHubApi:
    address = address_of({"GITHUB_SERVER_URL": server.url("").rstrip("/")})
    return GitHubApi(HttpClient({}), address, TOKEN, REPO, clock=clock)


def said(document: Any, status: int = 200, **headers: str) -> Answer:
    return Answer(
        status, {name.replace("_", "-"): text for name, text in headers.items()}, json.dumps(document).encode()
    )


def test_what_every_request_carries(server: FeedServer) -> None:
    server.script("/api/v3/x", said([]))
    server.script("/api/graphql", said({"data": {"node": {}}}))
    api = caller(server)
    api.get("/x", permission="issues: read")
    api.query("BodyEdits", NODE)
    for one in server.seen:
        assert one.headers["authorization"] == f"Bearer {TOKEN}"
        assert one.headers["accept"] == "application/vnd.github+json"
        assert one.headers["x-github-api-version"] == "2022-11-28"
        assert one.headers["user-agent"] == f"hz-team/{__version__}"
        assert "if-none-match" not in one.headers
        assert "if-modified-since" not in one.headers


def test_a_query_names_its_operation(server: FeedServer) -> None:
    server.script("/api/graphql", said({"data": {"node": {}}}))
    caller(server).query("BodyEdits", NODE)
    body = json.loads(server.seen[0].body)
    assert (body["operationName"], body["variables"]) == ("BodyEdits", NODE)
    assert body["query"].startswith("query BodyEdits(")


def test_parameters_and_paths_are_encoded(server: FeedServer) -> None:
    api = caller(server)
    api.get("/repos/acme/a b/c#d", {"labels": "a,b & c=ü", "page": 2})
    api.get("/users/dependabot%5Bbot%5D")
    assert [one.path for one in server.seen] == [
        "/api/v3/repos/acme/a%20b/c%23d?labels=a%2Cb+%26+c%3D%C3%BC&page=2",
        "/api/v3/users/dependabot%5Bbot%5D",
    ]


@pytest.mark.parametrize("path", ["/repos/../user", "/repos/acme/./x", "user", "//../x", "/.."])
def test_a_path_that_leads_elsewhere_is_not_asked(server: FeedServer, path: str) -> None:
    with pytest.raises(RemoteError, match="no path of GitHub's API"):
        caller(server).get(path)
    assert not server.seen


def test_a_tag_is_trusted_and_a_date_only_without_one(server: FeedServer) -> None:
    api, date = caller(server), "Tue, 01 Dec 2026 08:00:00 GMT"
    api.get("/x", etag='W/"1"', modified=date)
    api.get("/x", modified=date)
    conditions = [(one.headers.get("if-none-match"), one.headers.get("if-modified-since")) for one in server.seen]
    assert conditions == [('W/"1"', None), (None, date)]


def test_a_list_and_its_pages(github: GitHub) -> None:
    mona = github.person("mona", "write", repo=REPO)
    for number in range(3):
        mona.opens(github.repository(REPO), f"Issue {number}")
    api = client(github)
    first = api.get(f"/repos/{REPO}/issues", {"per_page": 2})
    last = api.get(first.next)
    assert (first.status, len(first.data), len(last.data), last.next) == (200, 2, 1, "")
    assert last.data == api.get(f"/repos/{REPO}/issues", {"per_page": 2, "page": 2}).data
    assert api.requests == github.count() == 3


def test_a_validator_spares_the_answer_where_the_token_lives_on(github: GitHub) -> None:
    github.person("octocat", "write", repo=REPO)
    api = client(github, kind="classic")
    etag = api.get(f"/repos/{REPO}").headers["etag"]
    again = api.get(f"/repos/{REPO}", etag=etag)
    assert (again.status, again.data) == (304, None)
    assert client(github).get(f"/repos/{REPO}", etag=etag).status == 200, "an ETag belongs to one token"


def test_what_is_not_there_gone_or_moved_is_a_fact(github: GitHub) -> None:
    repo, mona = github.repository(REPO), github.person("mona", "admin", repo=REPO)
    gone, away = mona.opens(repo, "x"), mona.opens(repo, "y")
    mona.deletes(gone)
    mona.transfers(away, "acme/other")
    api = client(github)
    found = [api.get(f"/repos/{REPO}/issues/{number}").status for number in (gone.number, away.number, 99)]
    assert found == [410, 301, 404]
    assert github.count() == 3, "a redirect was followed"


@pytest.mark.parametrize(
    "answer",
    [
        said([], link='<https://evil.example/api/v3/x?page=2>; rel="next"'),
        Answer(301, {"Location": "https://evil.example/x"}),
        Answer(302, {"Location": "http://localhost:1/x"}),
        Answer(307, {"Location": "//evil.example/x"}),
    ],
)
def test_the_token_is_shown_to_one_host(server: FeedServer, answer: Answer) -> None:
    server.script("/api/v3/x", answer)
    with pytest.raises(RemoteError, match=r"not to 127\.0\.0\.1, .*GITHUB_API_URL"):
        caller(server).get("/x")
    assert len(server.seen) == 1


@pytest.mark.parametrize("kind", ["too-many", "secondary", "rate"])
def test_after_a_limit_nothing_more_is_asked(github: GitHub, kind: str) -> None:
    api = client(github)
    github.fault("GET", r"/repos", kind)
    told = set()
    for _ in range(2):
        with pytest.raises(Deferred) as raised:
            api.get(f"/repos/{REPO}")
        told.add((str(raised.value), raised.value.until))
    with pytest.raises(Deferred) as raised:
        api.query("BodyEdits", NODE)
    assert {*told, (str(raised.value), raised.value.until)} == told
    assert (len(told), github.count(), api.requests) == (1, 1, 1)


def test_when_the_time_has_come_it_is_asked_again(server: FeedServer) -> None:
    now = [1_796_000_000.0]
    api = caller(server, clock=lambda: now[0])
    server.script("/api/v3/x", said({}, 429, retry_after="90"), said([]))
    with pytest.raises(Deferred) as raised:
        api.get("/x")
    assert raised.value.until == now[0] + 90
    now[0] += 89
    with pytest.raises(Deferred):
        api.get("/x")
    now[0] += 1
    assert api.get("/x").status == 200
    assert len(server.seen) == 2


def test_a_limit_of_graphql_silences_all(server: FeedServer) -> None:
    server.script("/api/graphql", said({"data": None, "errors": [{"type": "RATE_LIMITED", "message": "x"}]}))
    api = caller(server)
    with pytest.raises(Deferred) as raised:
        api.query("BodyEdits", NODE)
    assert raised.value.until == 1_796_000_060
    with pytest.raises(Deferred):
        api.get("/x")
    assert len(server.seen) == 1


def test_the_budget_of_a_tick_ends(github: GitHub) -> None:
    api = client(github, budget=2)
    api.get(f"/repos/{REPO}")
    api.get(f"/repos/{REPO}")
    for _ in range(2):
        with pytest.raises(Deferred, match="the tick's budget of 2 requests is used up"):
            api.get(f"/repos/{REPO}")
    assert api.requests == github.count() == 2


MISHAPS: list[tuple[str, type[HzError]]] = [
    ("before-500", TryAgain),
    ("dropped", TryAgain),
    ("forbidden", Forbidden),
    ("dead-token", RemoteError),
    ("not-json", RemoteError),
    ("oversize", RemoteError),
]


@pytest.mark.parametrize(("kind", "error"), MISHAPS)
def test_mishaps_are_told_without_the_token(github: GitHub, kind: str, error: type[HzError]) -> None:
    api = client(github)
    github.fault("GET", r"/repos", kind)
    with pytest.raises(error, match=rf"^GET /repos/{REPO}: ") as raised:
        api.get(f"/repos/{REPO}", {"secret": "word"}, permission="contents: read")
    assert type(raised.value) is error
    shown = f"{raised.value}{api!r}{raised.value!r}"
    assert "ghs_" not in shown
    assert "word" not in shown
    assert github.count() == 1, "nothing is tried again"


def test_what_a_proxy_repeats_is_masked(server: FeedServer) -> None:
    server.script("/api/v3/x", said({"message": f"Bearer {TOKEN} is unknown"}, 401))
    server.script("/api/v3/y", said({"message": f"not accessible by {TOKEN}"}, 403))
    for path in ("/x", "/y"):
        with pytest.raises(RemoteError, match=r"\*\*\*") as raised:
            caller(server).get(path)
        assert TOKEN not in repr(raised.value)


@pytest.mark.parametrize("token", ["ghs_1\nX-Evil: 1", "ghs 1", "ghs_ü", "ghs_1\x00"])
def test_what_is_no_token_is_not_sent(github: GitHub, token: str) -> None:
    with pytest.raises(UsageError, match="store it again") as raised:
        GitHubApi(HttpClient({}), address_of({"GITHUB_SERVER_URL": github.url}), token, REPO)
    assert token not in str(raised.value)


def test_nobody_there(github: GitHub) -> None:
    api = client(github)
    github.stop()
    with pytest.raises(TryAgain, match=r"GET /x: GitHub cannot be reached: .* the next tick asks again"):
        api.get("/x")


def test_the_time_is_the_servers(server: FeedServer) -> None:
    now = [1_796_000_000.0]
    api = caller(server, clock=lambda: now[0])
    assert api.time() is None
    server.script("/api/v3/x", said([], Date="Tue, 01 Dec 2026 08:00:00 GMT"), said([]), said([], Date="yesterday"))
    api.get("/x")
    assert api.time() == 1_796_112_000
    now[0] += 30
    api.get("/x")
    assert api.time() == 1_796_112_030, "an answer without a date tells no time"
    api.get("/x")
    assert api.time() is None


def test_an_error_tells_the_time_too(github: GitHub) -> None:
    api = client(github)
    github.now = lambda: 1_796_000_000.0
    assert api.get("/nowhere").status == 404
    assert abs((api.time() or 0) - 1_796_000_000) <= 1


def test_a_graphql_field_that_is_not_there_is_none(github: GitHub) -> None:
    assert client(github).query("BodyEdits", {"id": "nonsense", "after": None}) == {"node": None}


def test_a_graphql_permission_is_named(github: GitHub) -> None:
    with pytest.raises(Forbidden, match=r"GraphQL Discussions: .*`discussions: read`"):
        client(github, issues="write").query("Discussions", {"owner": "acme", "name": "housework", "after": None})


@pytest.mark.parametrize(("kind", "error"), MISHAPS)
def test_mishaps_of_a_query(github: GitHub, kind: str, error: type[HzError]) -> None:
    github.fault("POST", "graphql", kind)
    with pytest.raises(error, match=r"^GraphQL BodyEdits: ") as raised:
        client(github).query("BodyEdits", NODE)
    assert type(raised.value) is error


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("before-500", PublishUnknown),
        ("after-500", PublishUnknown),
        ("after-dropped", PublishUnknown),
        ("not-json", PublishUnknown),
        ("oversize", PublishUnknown),
        ("forbidden", Forbidden),
        ("dead-token", RemoteError),
        ("too-many", Deferred),
    ],
)
def test_a_mutation_without_an_answer_is_unknown(github: GitHub, kind: str, error: type[HzError]) -> None:
    issue = github.person("mona", "write", repo=REPO).opens(github.repository(REPO), "x")
    api = client(github)
    node = api.get(f"/repos/{REPO}/issues/{issue.number}").data["node_id"]
    github.fault("POST", "graphql", kind)
    with pytest.raises(error) as raised:
        api.query("PinIssue", {"id": node})
    assert type(raised.value) is error


def test_a_mutation_that_was_not_sent_may_be_tried_again(github: GitHub) -> None:
    api = client(github)
    github.stop()
    with pytest.raises(TryAgain, match="cannot be reached"):
        api.query("PinIssue", {"id": "I_1"})


HEAVY = ("github", "requests", "pydantic", "dataclasses", "inspect", "asyncio", "logging", "tempfile", "shutil")
IMPORTS = """
import sys
from hz_team.adapters.github import address, api, people, runs
print(*sys.modules)
"""


def test_the_client_loads_little() -> None:
    done = subprocess.run([sys.executable, "-I", "-c", IMPORTS], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "hz_team.adapters.github.api" in loaded
    assert not [name for name in (*HEAVY, "pathlib", "urllib.request", "email", "http.client") if name in loaded]
    assert not [name for name in ("graph", "queries", "hand") if f"hz_team.adapters.github.{name}" in loaded]
