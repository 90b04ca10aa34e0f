"""Pages as issues, against a GitHub on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hz_team import fingerprint
from hz_team.adapters.github.address import Address, address_of
from hz_team.adapters.github.api import GitHubApi
from hz_team.adapters.github.hand import Hand
from hz_team.adapters.github.issues import Issues
from hz_team.adapters.http import HttpClient
from hz_team.errors import RemoteError
from hz_team.ports import Cover
from hz_team.testing.github import GitHub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hz_team.testing.github import Issue, Person, Repository

REPO = "acme/housework"
BOARD = "<!-- hz:dashboard 1 acme/housework -->\n\n- [ ] <!-- hz:pause --> Pause\n- [ ] <!-- hz:run news --> Run\n"
PAGE = "<!-- hz:proposal p-3f9c21ab 5d41402abc4b -->\n\n- [ ] <!-- hz:approve p-3f9c21ab 5d41402abc4b --> Yes\n"
OPEN = "p-3f9c21ab"
COVER = Cover("Helpers", ("hz",))
RIGHTS = {"issues": "write", "contents": "write", "metadata": "read"}


class Site:
    """One repository on one GitHub; each tick has a token and a memory of its own."""

    def __init__(self, github: GitHub) -> None:
        self.github = github
        self.repo: Repository = github.repository(REPO)
        self.known: dict[str, Any] = {}
        self.seconds = 1_796_000_000
        github.now = lambda: float(self.seconds)

    @property
    def board(self) -> Issue:
        """The only issue, or the first."""
        return next(iter(self.repo.issues))

    def token(self) -> str:
        """A token of a new run."""
        return self.github.token("actions", REPO, permissions=RIGHTS)

    def tick(self) -> Issues:
        """A machine that knows what the state says and nothing else."""
        self.seconds += 300
        token = self.token()
        address: Address = address_of({"GITHUB_SERVER_URL": self.github.url})
        api = GitHubApi(HttpClient(), address, token, REPO, clock=lambda: float(self.seconds))
        return Issues(api, Hand(address, token, REPO), f"{self.github.url}/{REPO}")

    def drawn(self, *, board: str = BOARD, **pages: str) -> Issues:
        """A tick that has drawn pages, and whose memory is on record."""
        issues = self.tick()
        issues.survey(self.known, pages.keys())
        self.known = issues.memory(settled=True)
        assert issues.put_page("dashboard", board, expected=None, cover=COVER)
        for name, text in pages.items():
            assert issues.put_page(name.replace("_", "-"), text, expected=None, cover=Cover(name, ("hz",)))
        return issues

    def person(self, login: str = "mona", role: str = "write") -> Person:
        return self.github.person(login, role, repo=REPO)


@pytest.fixture
def site() -> Iterator[Site]:
    with GitHub() as github:
        yield Site(github)


def record(site: Site, issues: Issues) -> None:
    """Keep what was surveyed, as a record does."""
    site.known = issues.memory(settled=True)


def test_a_page_is_made_once_and_found_again_by_whoever_knows_nothing(site: Site) -> None:
    site.drawn()
    issue = site.board
    assert (issue.title, issue.labels) == ("Helpers", ["hz"])
    for known in ({}, site.known, {"pages": "nonsense", "at": "x"}):
        issues = site.tick()
        survey = issues.survey(known, ())
        assert survey.stamps == {"dashboard": fingerprint.page(BOARD)}
        assert issues.link("dashboard") == f"{site.github.url}/{REPO}/issues/{issue.number}"
        assert issues.put_page("dashboard", BOARD, expected=BOARD, cover=COVER)
    assert len(list(site.repo.issues)) == 1


def test_an_idle_look_costs_one_request_and_two_where_decisions_are_open(site: Site) -> None:
    record(site, site.drawn())
    issues = site.tick()
    issues.survey(site.known, ())
    record(site, issues)
    site.github.forget()
    site.tick().survey(site.known, ())
    assert site.github.count() == 1


def test_what_is_not_listed_is_known_from_the_state(site: Site) -> None:
    issues = site.drawn(**{OPEN: PAGE})
    record(site, issues)
    for _ in range(2):
        issues = site.tick()
        survey = issues.survey(site.known, (OPEN,))
        assert survey.stamps == {"dashboard": fingerprint.page(BOARD), OPEN: fingerprint.page(PAGE)}
        record(site, issues)
    site.github.forget()
    assert site.tick().survey(site.known, (OPEN,)).pages.keys() == {"dashboard"}
    assert site.github.count() == 2


def test_a_tick_in_the_browser_is_read_with_its_author(site: Site) -> None:
    record(site, site.drawn())
    site.person().ticks(site.board, "pause")
    issues = site.tick()
    survey = issues.survey(site.known, ())
    assert survey.stamps["dashboard"] != fingerprint.page(BOARD)
    assert "\r" not in survey.pages["dashboard"].text
    first, edit = issues.edits("dashboard")
    assert (first.ours, first.text) == (True, BOARD)
    assert (edit.by, edit.at, edit.ours) == ("mona", site.seconds - 300, False)
    assert "- [x] <!-- hz:pause -->" in edit.text


def test_what_was_read_is_not_read_again_and_what_was_not_settled_is(site: Site) -> None:
    record(site, site.drawn())
    site.person().ticks(site.board, "pause")
    issues = site.tick()
    issues.survey(site.known, ())
    assert [edit.by for edit in issues.edits("dashboard") if not edit.ours] == ["mona"]
    unsettled, settled = issues.memory(settled=False), issues.memory(settled=True)
    for known, heard in ((unsettled, ["mona"]), (settled, [])):
        again = site.tick()
        again.survey(known, ())
        assert [edit.by for edit in again.edits("dashboard") if not edit.ours] == heard


class LateHand(Hand):
    """Somebody ticks a box in the instant before it writes."""

    act: Callable[[], None] | None = None

    def edit_issue(self, number: int, **changes: Any) -> None:
        act, self.act = self.act, None
        if act:
            act()
        super().edit_issue(number, **changes)


def test_a_tick_that_we_wrote_over_stands_there_again(site: Site) -> None:
    record(site, site.drawn())
    issues = site.tick()
    issues.survey(site.known, ())
    hand = LateHand(address_of({"GITHUB_SERVER_URL": site.github.url}), site.token(), REPO)
    hand.act = lambda: site.person().ticks(site.board, "run", "news")
    issues._pen = hand  # noqa: SLF001
    assert not issues.put_page("dashboard", f"{BOARD}\nmore\n", expected=BOARD, cover=COVER)
    page = issues.page("dashboard")
    assert page
    assert "- [x] <!-- hz:run news -->" in page.text
    assert issues.put_page("dashboard", f"{page.text}\nmore\n", expected=page.text, cover=COVER)
    assert "- [x] <!-- hz:run news -->" in site.board.text


def test_whoever_was_faster_keeps_what_they_wrote(site: Site) -> None:
    issues = site.drawn()
    site.person().ticks(site.board, "pause")
    assert not issues.put_page("dashboard", "anything\n", expected=BOARD, cover=COVER)
    assert "- [x]" in site.board.text


def test_a_deleted_dashboard_is_made_anew_once(site: Site) -> None:
    record(site, site.drawn())
    site.person(role="admin").deletes(site.board)
    issues = site.tick()
    assert issues.survey(site.known, ()).stamps == {}
    assert issues.put_page("dashboard", BOARD, expected=None, cover=COVER)
    assert len(list(site.repo.issues)) == 1


def test_a_dashboard_that_was_moved_away_is_left_alone_and_said(site: Site) -> None:
    record(site, site.drawn())
    other = site.github.repository("acme/other")
    moved = site.person(role="admin").transfers(site.board, "acme/other")
    issues = site.tick()
    survey = issues.survey(site.known, ())
    assert "nothing on it counts" in survey.notes[0]
    assert not issues.put_page("dashboard", "anything\n", expected=None, cover=COVER)
    assert (len(list(site.repo.issues)), moved.text, len(list(other.issues))) == (0, BOARD, 1)


def test_who_closes_a_page_is_told_and_nothing_is_made_anew(site: Site) -> None:
    record(site, site.drawn())
    site.person().closes(site.board)
    issues = site.tick()
    survey = issues.survey(site.known, ())
    assert survey.closed["dashboard"].by == "mona"
    assert issues.pages() == ("dashboard",)
    assert len(list(site.repo.issues)) == 1


def test_comments_below_our_pages_are_read_once(site: Site) -> None:
    record(site, site.drawn(**{OPEN: PAGE}))
    mona, stranger = site.person(), site.person("eve", "read")
    other = stranger.opens(site.repo, "Help", "me")
    page = next(issue for issue in site.repo.issues if OPEN in issue.text)
    mona.comments(page, "/hz approve")
    edited = mona.comments(page, "/hz reject")
    site.seconds += 5
    mona.edits_comment(edited, "/hz approve")
    stranger.comments(other, "/hz approve p-3f9c21ab")
    issues = site.tick()
    remarks = issues.survey(site.known, (OPEN,)).remarks
    assert [(one.page, one.by, one.text, bool(one.doubt)) for one in remarks] == [
        (OPEN, "mona", "/hz approve", False),
        (OPEN, "mona", "/hz approve", True),
    ]
    issues.acknowledge(remarks[0], done=True)
    record(site, issues)
    assert site.tick().survey(site.known, (OPEN,)).remarks == ()


def test_a_pull_request_or_a_strangers_issue_is_no_page_of_ours(site: Site) -> None:
    eve = site.person("eve", "read")
    eve.opens(site.repo, "Helpers", BOARD, labels=["hz"])
    issues = site.tick()
    assert issues.survey({}, ()).stamps == {}
    assert issues.put_page("dashboard", BOARD, expected=None, cover=COVER)
    assert len(list(site.repo.issues)) == 2


def test_two_dashboards_are_said_and_the_lower_counts(site: Site) -> None:
    site.drawn()
    bot = site.github.person("github-actions[bot]", "write", repo=REPO)
    second = bot.opens(site.repo, "Helpers", BOARD, labels=["hz"])
    survey = site.tick().survey({}, ())
    assert f"close #{second.number}" in survey.notes[0]


def test_what_was_not_stored_is_said(site: Site) -> None:
    site.github.fault("POST", r"/issues$", "not-stored")
    issues = site.tick()
    issues.survey({}, ())
    with pytest.raises(RemoteError, match="is not there"):
        issues.put_page("dashboard", BOARD, expected=None, cover=COVER)


def test_a_closed_page_has_its_last_words(site: Site) -> None:
    issues = site.drawn(**{OPEN: PAGE})
    page = next(issue for issue in site.repo.issues if OPEN in issue.text)
    issues.drop_page(OPEN, "Published as #9\n", ("hz", "hz:published"))
    assert (page.state, page.text, sorted(page.labels)) == ("closed", "Published as #9\n", ["hz", "hz:published"])
    assert OPEN not in issues.pages()
