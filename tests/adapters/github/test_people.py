"""What people may do: looked up once, and nothing where nobody can tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from hz_team.adapters.github.address import address_of
from hz_team.adapters.github.api import GitHubApi
from hz_team.adapters.github.people import People
from hz_team.adapters.http import HttpClient
from hz_team.errors import RemoteError
from hz_team.ports import Reply
from hz_team.testing.github import GitHub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

REPO = "acme/housework"


@pytest.fixture
def github() -> Iterator[GitHub]:
    with GitHub() as made:
        made.repository(REPO)
        yield made


def people(github: GitHub, *, kind: str = "actions", **rights: str) -> People:
    token = github.token(kind, REPO, permissions=rights or None)
    return People(GitHubApi(HttpClient({}), address_of({"GITHUB_SERVER_URL": github.url}), token, REPO))


class Told:
    """An API that says one thing about everybody."""

    repository = REPO

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.asked: list[str] = []

    def get(self, path: str, params: Mapping[str, str | int] = {}, **_: str) -> Reply:
        self.asked.append(path)
        return self._reply

    def query(self, operation: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        raise AssertionError(operation)

    def time(self) -> int | None:
        return 1_796_112_720


@pytest.mark.parametrize("role", ["admin", "maintain", "write", "triage", "read", "none"])
def test_what_a_person_may_is_asked_once(github: GitHub, role: str) -> None:
    github.person("mona", role, repo=REPO)
    here = people(github)
    assert here.role("mona") == here.role("Mona")
    found, how = here.role("mona")
    assert (found, github.count()) == (role, 1)
    assert re.fullmatch(r"collaborator permission, \d{1,2} [A-Z][a-z]{2} \d\d:\d\d UTC", how)


def test_how_it_is_known_has_the_servers_time() -> None:
    told = Told(Reply(200, {"permission": "write", "role_name": "write"}))
    assert People(told).role("mona") == ("write", "collaborator permission, 1 Dec 08:12 UTC")


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ({"permission": "write", "role_name": "maintain"}, "maintain"),
        ({"permission": "write", "role_name": "release crew"}, "write"),
        ({"permission": "read", "role_name": "push"}, "write"),
        ({"permission": "pull"}, "read"),
        ({"permission": "admin", "role_name": None}, "admin"),
        ({"permission": "none", "role_name": ""}, "none"),
        ({"permission": "owner", "role_name": "god"}, "none"),
        ({}, "none"),
    ],
)
def test_roles_of_every_age_have_our_names(said: dict[str, str | None], role: str) -> None:
    assert People(Told(Reply(200, said))).role("mona")[0] == role


@pytest.mark.parametrize("reply", [Reply(200, []), Reply(200), Reply(301), Reply(304), Reply(404), Reply(422)])
def test_an_answer_that_says_nothing_denies(reply: Reply) -> None:
    role, how = People(Told(reply)).role("mona")
    assert role == "none"
    assert how.startswith(("mona is no collaborator", "the permission of mona cannot be looked up"))


def test_nobody_and_local_people_are_not_asked_for(github: GitHub) -> None:
    here = people(github)
    assert [here.role(login)[0] for login in ("", "local:mona", "LOCAL:x")] == ["none"] * 3
    assert github.count() == 0


def test_a_bot_is_no_collaborator(github: GitHub) -> None:
    assert people(github).role("dependabot[bot]") == ("none", "dependabot[bot] is no collaborator here")


def test_a_name_is_one_part_of_the_path() -> None:
    told = Told(Reply(404))
    People(told).role("../../user?x=")
    assert told.asked == [f"/repos/{REPO}/collaborators/..%2F..%2Fuser%3Fx%3D/permission"]


@pytest.mark.parametrize("kind", ["before-500", "forbidden", "too-many", "dropped", "not-json", "dead-token"])
def test_a_look_up_that_fails_denies_and_says_why(github: GitHub, kind: str) -> None:
    github.person("mona", "admin", repo=REPO)
    github.fault("GET", "permission$", kind)
    here = people(github)
    role, how = here.role("mona")
    assert role == "none"
    assert how.startswith("the permission of mona cannot be looked up: GET /repos/")
    assert here.role("mona") == (role, how), "it is asked once a tick"


def test_a_token_that_may_not_push_is_told_so(github: GitHub) -> None:
    github.person("mona", "admin", repo=REPO)
    github.person("octocat", "read", repo=REPO)
    role, how = people(github, kind="classic").role("mona")
    assert role == "none"
    assert "Must have push access" in how
    assert "add the line `contents: write`" in how


def test_teams_where_the_token_reads_them(github: GitHub) -> None:
    github.team("acme/docs", "mona")
    here = people(github, kind="app", members="read")
    found = [here.member(login, "acme/docs") for login in ("mona", "Mona", "eve", "hubot", "eve")]
    assert found == [True, True, False, False, False]
    assert github.count("GET", "/memberships/") == 3
    assert github.count("GET", "/teams/docs$") == 1


@pytest.mark.parametrize(
    ("kind", "rights"), [("actions", {}), ("app", {"issues": "write"}), ("fine_grained", {"issues": "read"})]
)
def test_teams_are_unknown_to_tokens_that_cannot_read_them(github: GitHub, kind: str, rights: dict[str, str]) -> None:
    github.team("acme/docs", "mona")
    assert people(github, kind=kind, **rights).member("mona", "acme/docs") is None


def test_a_team_that_is_not_there_is_unknown(github: GitHub) -> None:
    assert people(github, kind="app", members="read").member("mona", "acme/none") is None


@pytest.mark.parametrize("kind", ["before-500", "too-many", "not-json"])
def test_a_team_look_up_that_fails_is_unknown(github: GitHub, kind: str) -> None:
    github.team("acme/docs", "mona")
    github.fault("GET", "/memberships/", kind)
    assert people(github, kind="app", members="read").member("mona", "acme/docs") is None


def test_who_has_not_accepted_yet_is_no_member() -> None:
    assert People(Told(Reply(200, {"state": "pending"}))).member("mona", "acme/docs") is False
    assert People(Told(Reply(200, []))).member("mona", "acme/docs") is None


@pytest.mark.parametrize("team", ["docs", "", "..", "acme/.."])
def test_what_is_no_team_is_unknown_and_not_asked(github: GitHub, team: str) -> None:
    assert people(github, kind="app", members="read").member("mona", team) is None
    assert github.count() == 0


def test_the_double_would_refuse_a_client_without_a_token(github: GitHub) -> None:
    api = GitHubApi(HttpClient({}), address_of({"GITHUB_SERVER_URL": github.url}), "ghs_none", REPO)
    with pytest.raises(RemoteError):
        api.get(f"/repos/{REPO}")
    assert People(api).role("mona")[0] == "none"
