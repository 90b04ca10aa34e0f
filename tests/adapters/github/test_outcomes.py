"""Outcomes on a GitHub on loopback: made, found again, taken back; and what is true after every kind of mishap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hz_team.adapters.github.address import address_of
from hz_team.adapters.github.api import GitHubApi
from hz_team.adapters.github.hand import Hand
from hz_team.adapters.github.outcomes import Outcomes, branch_of
from hz_team.adapters.http import HttpClient
from hz_team.errors import Deferred, Forbidden, HzError, PublishRefused, PublishUnknown, RemoteError
from hz_team.publishers import marker
from hz_team.testing.github import GitHub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.testing.github import Repository

REPO = "acme/housework"
RIGHTS = {"issues": "write", "contents": "write", "pull_requests": "write", "metadata": "read"}
ONE, TWO = marker("1" * 64), marker("2" * 64)
FILES = {"docs/news.md": "# News\n", "logo.bin": {"base64": "AAEC"}, "old.md": None}
CONTENTS: dict[str, dict[str, Any]] = {
    "issue": {"target": "here", "title": "Digest", "labels": ("newsletter",), "body": "Seven items.\n"},
    "comment": {"target": "#1", "body": "Quiet since June.\n"},
    "file": {"title": "News", "files": FILES},
    "pull_request": {"title": "Changelog", "base": "main", "files": FILES, "body": "From 3.\n", "labels": ("docs",)},
}


class Site:
    """One repository, and as many machines as one likes."""

    def __init__(self, github: GitHub) -> None:
        self.github = github
        self.repo: Repository = github.repository(REPO)
        self.mona = github.person("mona", "write", repo=REPO)
        self.mona.pushes(self.repo, {"README.md": "# Us\n", "old.md": "old\n"})
        self.mona.opens(self.repo, "Quiet", "since June")

    def machine(self, *, revoked: bool = False, **rights: str) -> Outcomes:
        token = self.github.token("actions", REPO, permissions={**RIGHTS, **rights})
        if revoked:
            self.github.revoke(token)
        address = address_of({"GITHUB_SERVER_URL": self.github.url})
        return Outcomes(GitHubApi(HttpClient(), address, token, REPO), Hand(address, token, REPO), address)

    def refs(self, kind: str, one: str = ONE) -> tuple[str, ...]:
        """What carries a marker, as a machine sees it that knows nothing."""
        return self.machine().find(kind, one, target=str(CONTENTS[kind].get("target", ""))).refs


@pytest.fixture
def site() -> Iterator[Site]:
    with GitHub() as github:
        yield Site(github)


@pytest.mark.parametrize("kind", CONTENTS)
def test_what_was_made_is_found_by_its_marker_and_by_no_other(site: Site, kind: str) -> None:
    assert site.machine().find(kind, ONE, target=CONTENTS[kind].get("target", "")).status == "absent"
    ref = site.machine().create(kind, CONTENTS[kind], ONE)
    assert site.refs(kind) == (ref,)
    assert site.refs(kind, TWO) == ()
    assert site.machine().link(ref).startswith(f"{site.github.url}/{REPO}/")


def test_an_issue_is_what_was_read(site: Site) -> None:
    ref = site.machine().create("issue", CONTENTS["issue"], ONE)
    issue = site.repo.threads[int(ref.removeprefix("#"))]
    assert (issue.title, list(issue.labels)) == ("Digest", ["newsletter"])
    assert issue.text == f"{ONE}\nSeven items.\n"


def test_a_pull_request_holds_exactly_the_files_and_no_other_branch_moves(site: Site) -> None:
    main = site.repo.bare.branch("main")
    ref = site.machine().create("pull_request", CONTENTS["pull_request"], ONE)
    pull = site.repo.threads[int(ref.removeprefix("#"))]
    assert (pull.title, list(pull.labels)) == ("Changelog", ["docs"])
    assert site.repo.bare.branch("main") == main
    assert site.repo.bare.branch(branch_of(ONE))


def test_files_are_one_commit(site: Site) -> None:
    before = site.repo.bare.branch("main")
    ref = site.machine().create("file", CONTENTS["file"], ONE)
    assert site.repo.bare.branch("main") == ref != before


def test_a_list_shows_only_what_is_not_older_than_the_proposal(site: Site) -> None:
    now = site.github.now()
    site.machine().create("issue", CONTENTS["issue"], ONE)
    site.github.forget()
    assert site.machine().find("issue", ONE, since=int(now) + 10_000).status == "absent"
    assert site.github.count() == 1


def test_where_actions_may_not_open_pull_requests_the_branch_stands_and_is_linked(site: Site) -> None:
    machine = site.machine(pull_requests="read")
    ref = machine.create("pull_request", CONTENTS["pull_request"], ONE)
    assert ref == f"{site.github.url}/{REPO}/compare/main...{branch_of(ONE)}?expand=1"
    assert (site.repo.bare.branch(branch_of(ONE)) != "", machine.link(ref)) == (True, ref)


@pytest.mark.parametrize("kind", ["issue", "comment", "pull_request"])
def test_a_double_is_taken_back_once_and_found_no_more(site: Site, kind: str) -> None:
    first = site.machine().create(kind, CONTENTS[kind], ONE)
    second = site.machine().create(kind, CONTENTS[kind], ONE) if kind != "pull_request" else first
    for _ in range(2):
        site.machine().withdraw(kind, second, f"double of {first}")
    assert site.refs(kind) == (() if kind == "pull_request" else (first,))


def test_a_pull_request_is_no_issue(site: Site) -> None:
    site.machine().create("pull_request", CONTENTS["pull_request"], ONE)
    assert site.refs("issue") == ()


LAST = {"issue": r"/issues$", "comment": r"/comments$", "pull_request": r"/pulls$", "file": r"/git/refs/heads/main$"}
"""The request that makes it visible."""
METHOD = {"file": "PATCH"}


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("mishap", ["before-500", "after-500", "dropped", "after-dropped"])
def test_after_every_mishap_there_is_one_effect_and_what_is_said_is_true(site: Site, kind: str, mishap: str) -> None:
    site.github.fault(METHOD.get(kind, "POST"), LAST[kind], mishap)
    with pytest.raises(PublishUnknown):
        site.machine().create(kind, CONTENTS[kind], ONE)
    found = site.refs(kind)
    assert len(found) == (1 if mishap.startswith("after") else 0)
    if not found:  # whoever looks and finds nothing may try again
        site.machine().create(kind, CONTENTS[kind], ONE)
    assert len(site.refs(kind)) == 1


REFUSALS = [
    ("forbidden", Forbidden),
    ("secondary", Deferred),
    ("too-many", Deferred),
    ("rate", Deferred),
    ("not-found", PublishRefused),
    ("dead-token", RemoteError),
]


@pytest.mark.parametrize("kind", ["issue", "comment"])
@pytest.mark.parametrize(("mishap", "error"), REFUSALS)
def test_a_refusal_is_told_for_what_it_is_and_nothing_was_done(
    site: Site, kind: str, mishap: str, error: type[HzError]
) -> None:
    site.github.fault("POST", LAST[kind], mishap)
    with pytest.raises(error) as raised:
        site.machine().create(kind, CONTENTS[kind], ONE)
    assert "ghs_" not in str(raised.value)
    assert site.refs(kind) == ()


def test_what_a_token_lacks_is_named(site: Site) -> None:
    with pytest.raises(Forbidden, match="issues: write"):
        site.machine(issues="read").create("issue", CONTENTS["issue"], ONE)


def test_nothing_is_asked_of_a_server_that_is_not_there(site: Site) -> None:
    machine = site.machine()
    site.github.stop()
    with pytest.raises(HzError):
        machine.create("issue", CONTENTS["issue"], ONE)


def test_a_target_that_is_none_is_refused(site: Site) -> None:
    with pytest.raises(PublishRefused, match="no place on GitHub"):
        site.machine().create("comment", {"target": "seven", "body": "x"}, ONE)
    with pytest.raises(PublishRefused, match="nothing that can be made"):
        site.machine().create("webhook", {}, ONE)
