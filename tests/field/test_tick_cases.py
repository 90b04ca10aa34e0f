"""Kinds A and B of the field cases through whole ticks: what a team finds on record and on its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team.moment import parse_iso
from hz_team.testing.feedserver import Answer, FeedServer
from tests.commands import terminal
from tests.team import DAY, HOUR, MINUTE, MONDAY, WEEK, Team, job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ITEM = "<item><title>{0}</title><link>https://e.example/{0}</link><guid>{0}</guid></item>"
TITLES = "template: titles.md.j2"
TEMPLATE = "{% for item in notes.added -%}\n- {{ item.title }}\n{% endfor %}"
HOURLY = '{{cron: "0 * * * *", catch_up: {}}}'
SIX = MONDAY - 3 * HOUR


def rss(*names: str) -> str:
    return f"<rss version='2.0'><channel><title>T</title>{''.join(map(ITEM.format, names))}</channel></rss>"


def feed(server: FeedServer, *names: str, every: str = "1h", **more: str) -> dict[str, str]:
    urls = ", ".join(f'"{server.url(name)}"' for name in names)
    watch = f"{{notes: {{type: feed, urls: [{urls}], every: {every}}}}}"
    return {"news": job(watch=watch, step=TITLES, on="{watch: notes}"), ".hz/templates/titles.md.j2": TEMPLATE, **more}


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer({"a.xml": rss("one", "two"), "b.xml": rss("three")}) as running:
        yield running


def bodies(team: Team) -> list[str]:
    return [team.draft(item.digest)["body"].strip() for item in team.view().proposals.values()]


def slots(team: Team, name: str = "news", *, only: str = "rendered") -> list[int]:
    return [parse_iso(one["wake"]["slot"]) for one in team.receipts(name) if one["disposition"] == only]


@pytest.mark.parametrize(
    ("policy", "ran"),
    [
        pytest.param("latest", [11], id="A16-latest"),
        pytest.param("all", [7, 8, 9, 10, 11], id="A16-all"),
        pytest.param("skip", [], id="A16-skip"),
    ],
)
def test_missed_slots_leave_a_trace(tmp_path: Path, policy: str, ran: Sequence[int]) -> None:
    team = Team(tmp_path, {"news": job(on=HOURLY.format(policy))})
    team.tick(SIX - HOUR + 1)
    team.tick(SIX)
    team.tick(SIX + 5 * HOUR + 20 * MINUTE)
    team.tick(SIX + 5 * HOUR + 25 * MINUTE)
    assert slots(team) == [SIX, *(SIX + (hour - 6) * HOUR for hour in ran)]
    keys = [one["proposal"] for one in team.receipts() if one["disposition"] == "awaiting_approval"]
    assert len(set(keys)) == len(keys) == 1 + len(ran)
    if policy == "latest":
        late = [one["wake"] for one in team.receipts() if one["disposition"] == "rendered"][-1]
        assert late["refs"] == [f"2026-11-30T{hour:02}:00:00Z" for hour in range(7, 11)]
    team.tick(SIX + 6 * HOUR)
    assert slots(team)[-1] == SIX + 6 * HOUR
    last = [one["wake"] for one in team.receipts() if one["disposition"] == "rendered"][-1]
    assert last["refs"] == ([f"2026-11-30T{hour:02}:00:00Z" for hour in range(7, 12)] if policy == "skip" else [])


def test_a18_a_clock_that_was_wrong(tmp_path: Path) -> None:
    team = Team(tmp_path, {"news": job(on='{cron: "*/5 * * * *"}')})
    team.tick(MONDAY - MINUTE)
    team.tick(MONDAY)
    back = MONDAY - 2 * HOUR
    for minutes in range(0, 21, 5):
        team.tick(back + minutes * MINUTE)
    found = slots(team)
    assert found == [MONDAY, *(back + minutes * MINUTE for minutes in range(0, 21, 5))]
    assert [one["reason"] for one in team.receipts() if one["disposition"] == "rendered"][
        1
    ] == "the clock was set back by 7200 s since the last slot on record"
    team.tick(MONDAY + DAY)
    assert slots(team) == [*found, MONDAY + DAY]


def test_b16_a_captive_portal_changes_nothing_and_is_told(tmp_path: Path, server: FeedServer) -> None:
    team = Team(tmp_path, feed(server, "a.xml"))
    team.tick(MONDAY)
    server.put("login.html", "<!DOCTYPE html><html><body>Log in</body></html>", "text/html")
    server.script("a.xml", Answer(301, {"Location": server.url("login.html")}))
    configured = (tmp_path / ".hz/jobs/news.yaml").read_bytes()
    story = team.tick(MONDAY + 2 * HOUR)
    assert "is no feed" in " ".join(story.seen.notes)
    team.tick(MONDAY + 4 * HOUR)
    assert (tmp_path / ".hz/jobs/news.yaml").read_bytes() == configured
    assert bodies(team) == ["- one\n- two"]


def test_b16_a_lasting_move_is_told_once(tmp_path: Path, server: FeedServer) -> None:
    team = Team(tmp_path, feed(server, "a.xml"))
    server.script("a.xml", Answer(308, {"Location": server.url("b.xml")}), forever=True)
    told = [note for day in range(12) for note in team.tick(MONDAY + day * DAY).seen.notes if "has moved" in note]
    assert len(told) == 1
    assert bodies(team) == ["- three"]


def test_b17_gone_is_paused_told_once_and_resumed_by_a_person(tmp_path: Path, server: FeedServer) -> None:
    team = Team(tmp_path, feed(server, "a.xml", "b.xml"))
    server.script("a.xml", Answer(410), forever=True)
    stories = [team.tick(MONDAY + hours * HOUR) for hours in (0, 2, 4)]
    (note,) = (note for story in stories for note in story.seen.notes if "gone for good" in note)
    assert note.startswith(f"news.notes: {server.url('a.xml')} is gone for good (410) and is not asked any more; ")
    assert note.endswith("; take it out, or `hz-team resume --watch NAME`")
    assert (server.count("a.xml"), server.count("b.xml")) == (1, 3)
    assert bodies(team) == ["- three"]
    server.script("a.xml")
    typed = terminal.Team(tmp_path)
    assert "did you mean `news.notes`" in typed.hz("resume", "--watch", "news.note", code=2).said
    out = typed.hz("resume", "--watch", "news.notes", "--now", "2026-11-30T13:01:00Z").out
    assert "news.notes: asked again from the next tick on" in out
    assert (server.count("a.xml"), server.count("b.xml")) == (1, 3)
    assert "no address" in typed.hz("resume", "--watch", "news.notes", code=2).said
    typed.hz("tick", "--now", "2026-11-30T13:02:00Z")
    assert server.count("a.xml") == 2
    assert bodies(team) == ["- one\n- two\n- three"]


def test_b17_what_another_machine_remembers_does_not_outlive_the_resumption(
    tmp_path: Path, server: FeedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Team(tmp_path, feed(server, "a.xml", "b.xml"))
    server.script("a.xml", Answer(410))
    team.tick(MONDAY)
    team.tick(MONDAY + 2 * HOUR)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    terminal.Team(tmp_path).hz("resume", "--watch", "news.notes", "--now", "2026-11-30T11:30:00Z")
    monkeypatch.undo()
    team.tick(MONDAY + 4 * HOUR)
    assert server.count("a.xml") == 2


@pytest.mark.parametrize(
    ("asked", "wait"),
    [("7200", 2 * HOUR), ("Mon, 30 Nov 2026 11:00:00 GMT", 2 * HOUR), ("99999999", DAY)],
    ids=["B18", "B18-date", "B18-clamped"],
)
def test_b18_a_busy_server_is_left_alone_and_its_neighbour_is_not(
    tmp_path: Path, server: FeedServer, asked: str, wait: int
) -> None:
    team = Team(tmp_path, feed(server, "a.xml", "b.xml", every="10m"))
    server.script("a.xml", Answer(429, {"Retry-After": asked}))
    team.tick(MONDAY)
    team.tick(MONDAY + wait - MINUTE)
    assert (server.count("a.xml"), server.count("b.xml")) == (1, 2)
    team.tick(MONDAY + wait + 10 * MINUTE)
    assert server.count("a.xml") == 2
    assert bodies(team) == ["- one\n- two\n- three"]


def test_b19_a_dripping_server_ends_and_its_neighbour_is_drafted(
    tmp_path: Path, server: FeedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hz_team.watches.feed.EACH", 1.5)
    team = Team(tmp_path, feed(server, "a.xml", "b.xml"))
    server.script("a.xml", Answer(body=b"<rss>" * 100, drip=0.5), forever=True)
    story = team.tick(MONDAY)
    assert "a.xml" in " ".join(story.seen.notes)
    assert bodies(team) == ["- three"]
    assert team.tick(MONDAY + WEEK).seen.looks["news.notes"].polled
