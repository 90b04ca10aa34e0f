"""Validators, pages, limits and the clock: what every answer of the double has."""

from __future__ import annotations

import re
import socket
import time
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from hz_team.testing.github import GitHub
from tests.testing.github.asking import HERE, NAME, Client

if TYPE_CHECKING:
    from hz_team.testing.github import Person, Repository

ISSUES = f"{HERE}/issues"


def actions(github: GitHub, **permissions: str) -> Client:
    return Client(github, github.token("actions", NAME, permissions=permissions or {"issues": "write"}))


def test_an_etag_counts_for_the_token_that_got_it(github: GitHub, repo: Repository, mona: Person) -> None:
    mona.opens(repo, "One")
    first, second = actions(github), actions(github)
    tag = first("GET", ISSUES).headers["etag"]
    assert first("GET", ISSUES, If_None_Match=tag).status == 304
    assert first("GET", ISSUES, If_None_Match=f'"x", {tag}').status == 304
    assert first("GET", ISSUES, If_None_Match=tag).body == b""
    assert second("GET", ISSUES, If_None_Match=tag).status == 200
    mona.opens(repo, "Two")
    assert first("GET", ISSUES, If_None_Match=tag).status == 200


def test_etags_can_be_shared() -> None:
    with GitHub(etags="shared") as github:
        github.person("mona", "write", repo=NAME).opens(github.repository(NAME), "One")
        tag = actions(github)("GET", ISSUES).headers["etag"]
        assert actions(github)("GET", ISSUES, If_None_Match=tag).status == 304


def test_single_things_have_last_modified_whatever_the_token(github: GitHub, repo: Repository, mona: Person) -> None:
    github.now = lambda: 1_790_000_000
    issue = mona.opens(repo, "One")
    when = actions(github)("GET", f"{ISSUES}/1").headers["last-modified"]
    assert when == "Mon, 21 Sep 2026 14:13:20 GMT"
    assert "last-modified" not in actions(github)("GET", ISSUES).headers
    assert actions(github)("GET", f"{ISSUES}/1", If_Modified_Since=when).status == 304
    github.now = lambda: 1_790_000_060
    mona.edits(issue, "new")
    assert actions(github)("GET", f"{ISSUES}/1", If_Modified_Since=when).status == 200


def test_everything_follows_the_clock(github: GitHub, repo: Repository, mona: Person) -> None:
    github.now = lambda: 1_790_000_000
    mona.opens(repo, "One")
    got = actions(github)("GET", f"{ISSUES}/1")
    assert got.headers["date"] == "Mon, 21 Sep 2026 14:13:20 GMT"
    assert got.data["created_at"] == "2026-09-21T14:13:20Z"
    assert int(got.headers["x-ratelimit-reset"]) == 1_790_000_000 + 3600


def test_lists_have_pages_by_the_number_of_the_repository(github: GitHub, repo: Repository, mona: Person) -> None:
    for number in range(1, 6):
        mona.opens(repo, str(number))
    ask = actions(github)
    path, titles, following = f"{ISSUES}?per_page=2&direction=asc", [], ""
    for _ in range(3):
        got = ask("GET", path)
        titles += [one["title"] for one in got.data]
        links = {rel: url for url, rel in re.findall(r'<([^>]+)>; rel="(\w+)"', got.headers.get("link", ""))}
        following = links.get("next", "")
        path = following.removeprefix(github.rest)
    assert titles == ["1", "2", "3", "4", "5"]
    assert following == ""
    assert f"/repositories/{repo.id}/issues" in ask("GET", f"{ISSUES}?per_page=2").headers["link"]
    assert "link" not in ask("GET", f"{ISSUES}?per_page=100").headers
    assert ask("GET", f"{ISSUES}?per_page=2&page=9").data == []
    assert len(ask("GET", f"{ISSUES}?per_page=999").data) == 5


def test_limits_count_down_and_a_304_is_free(github: GitHub, repo: Repository) -> None:
    github.now = lambda: 1_790_000_000
    ask = actions(github)
    first = ask("GET", ISSUES)
    assert [first.headers[f"x-ratelimit-{name}"] for name in ("limit", "remaining", "used")] == ["1000", "999", "1"]
    again = ask("GET", ISSUES, If_None_Match=first.headers["etag"])
    assert (again.status, again.headers["x-ratelimit-remaining"]) == (304, "999")
    assert ask("GET", ISSUES).headers["x-ratelimit-remaining"] == "998"
    assert ask("GET", "/rate_limit").data["resources"]["graphql"]["remaining"] == 1000
    github.now = lambda: 1_790_000_000 + 3600
    assert ask("GET", ISSUES).headers["x-ratelimit-remaining"] == "999"


def test_a_used_up_limit_refuses(github: GitHub, repo: Repository) -> None:
    github.now = lambda: 1_790_000_000
    ask = Client(github)
    github.repository("acme/open", private=False)
    assert [ask("GET", "/repos/acme/open/issues").status for _ in range(61)] == [200] * 60 + [403]
    got = ask("GET", "/repos/acme/open/issues")
    assert "API rate limit exceeded" in got.data["message"]
    assert got.headers["x-ratelimit-remaining"] == "0"


def test_requests_are_counted(github: GitHub, repo: Repository) -> None:
    ask = actions(github)
    ask("GET", f"{ISSUES}?state=all")
    ask("GET", f"{ISSUES}/9")
    ask.query("Nothing", {})
    Client(github, "wrong")("GET", ISSUES)
    assert [tuple(one) for one in github.requests] == [
        ("GET", f"{ISSUES}?state=all", 200, "actions"),
        ("GET", f"{ISSUES}/9", 404, "actions"),
        ("POST", "/graphql?operation=Nothing", 200, "actions"),
        ("GET", ISSUES, 401, ""),
    ]
    assert github.count("GET", r"/issues$") == 2
    assert github.count(status=404) == 1
    assert github.count("POST", "Nothing") == 1
    github.forget()
    assert github.count() == 0


def test_who_says_nothing_of_themselves_is_refused(github: GitHub, repo: Repository) -> None:
    link = HTTPConnection(urlsplit(github.url).netloc, timeout=5)
    link.putrequest("GET", "/api/v3/meta", skip_accept_encoding=True)
    link.endheaders()
    assert link.getresponse().status == 403
    link.close()
    assert Client(github).raw("POST", f"/api/v3{ISSUES}", b"{", {}).status == 400
    assert Client(github)("GET", "/nothing").status == 404


def test_it_stops_by_itself_and_leaves_nothing() -> None:
    with GitHub(lifetime=0.1) as github:
        git = github.repository(NAME).git
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", int(github.url.rpartition(":")[2])), 1).close()
            except OSError:
                break
            time.sleep(0.02)
        else:
            pytest.fail("it still listens")
    with pytest.raises(OSError, match="HEAD"), open(f"{git}/HEAD", encoding="utf-8"):
        pass


def test_a_connection_serves_several_requests(github: GitHub, repo: Repository, mona: Person) -> None:
    link = HTTPConnection(urlsplit(github.url).netloc, timeout=5)
    token = github.token("actions", NAME)
    headers = {"Authorization": f"token {token}", "User-Agent": "x"}
    for method, path, body in (
        ("GET", ISSUES, None),
        ("POST", ISSUES, b'{"title": "A"}'),
        ("GET", f"{ISSUES}/1", None),
    ):
        link.request(method, f"/api/v3{path}", body, headers)
        assert link.getresponse().read()
    link.close()
    assert repo.issues[1].title == "A"
