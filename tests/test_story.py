"""One team, many real feeds, from the first look to the second issue: only what is new goes out, and only once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hz_team.testing.feedserver import FeedServer
from tests.commands.terminal import DIGEST, MONDAY, NEXT, NOON, TEMPLATE, Team
from tests.gfm import Page
from tests.watches.test_feed import OUR_TITLES, OURS, REAL, REAL_TITLES, real

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS_TOLD = [title for titles in OUR_TITLES.values() for title in titles]
REAL_TOLD = [title for _, titles in REAL_TITLES.values() for title in titles]
HEARTBEAT = """\
name: "Heartbeat"
id: heartbeat
enabled: true
ttl: 24h
on:
  - cron: '*/5 * * * *'
    mode: create_new

init:
  steps:
    - type: shell
      run: |
        set -euo pipefail
        date -u

resume:
  steps: []

end:
  steps: []
"""
"""The minimal task of the orchestration daemon, as it is printed."""


@pytest.fixture(params=[("ours", OURS), pytest.param(("real", REAL), marks=real)], ids=["ours", "real"])
def shelf(request: pytest.FixtureRequest) -> Iterator[tuple[str, FeedServer, list[str]]]:
    which, folder = request.param
    with FeedServer(folder) as server:
        yield which, server, sorted(os.listdir(folder))


def test_a_digest_of_every_feed(tmp_path: Path, shelf: tuple[str, FeedServer, list[str]]) -> None:
    which, server, names = shelf
    team = Team(tmp_path)
    urls = "\n".join(f"  - {server.url(name)}" for name in names)
    team.write(".hz/watches.yaml", f"learning:\n  type: feed\n  every: 1h\n  urls:\n{_indented(urls)}\n")
    team.write(".hz/templates/digest.md.j2", TEMPLATE)
    team.job("weekly-digest", DIGEST)
    team.tick(NOON)
    server.seen.clear()

    first = team.tick(MONDAY)
    assert '"Digest, week 49"' in first.out
    assert server.count() == server.count(status=304) == len(names)  # the Sunday's look was the first
    (name,) = team.waiting
    shown = Page(team.page(name)).visible
    for title in OURS_TOLD if which == "ours" else REAL_TOLD:
        assert " ".join(title.split()) in shown, title
    assert not [wrong for wrong in ("\ufffd", "Ã", "Ð") if wrong in shown]

    before, server_before = team.contents(), len(server.seen)
    idle = team.tick("2026-11-30T10:02:00Z")
    assert idle.out.startswith("Nothing due, 1 waiting for a yes. Next: Mon 7 Dec 2026 09:00 UTC, weekly-digest.")
    assert [seen.status for seen in server.seen[server_before:]] == [304] * len(names)
    assert team.contents() == before

    team.tick_box()
    team.tick("2026-11-30T10:05:00Z")
    assert team.out == ["issue-1.md"]
    server.add_item(names[0], "One more thing", link="https://new.example/1", published=1_796_200_000)
    team.tick(NEXT)
    (second,) = team.waiting
    page = team.page(second)
    draft = page.partition("<!-- hz:draft -->")[2].partition("<!-- hz:end -->")[0]
    assert draft.split("\n")[1:-1] == ["- One more thing"]


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def test_the_heartbeat_task_loads_unchanged_and_runs(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.job("heartbeat", HEARTBEAT)
    checked = team.hz("validate")
    assert checked.err == ""
    assert checked.out.splitlines()[0] == ".hz/jobs/heartbeat.yaml:4: accepted, not run yet: `ttl`"
    team.tick("2026-11-30T09:01:00Z")
    ran = team.tick("2026-11-30T09:05:30Z")
    assert "heartbeat     due since 09:05" in ran.out
    (receipt,) = team.receipts()
    assert (receipt["job"], receipt["disposition"], receipt["draft"]) == ("heartbeat", "rendered", None)
    assert receipt["wake"] == {"cause": "schedule", "refs": [], "slot": "2026-11-30T09:05:00Z"}
    assert team.waiting == []


def test_a_thousand_schedules_cost_no_parser(tmp_path: Path) -> None:
    team = Team(tmp_path)
    zones = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC")
    for number in range(1_000):
        cron = f"{number % 60} {number % 24} * * {number % 7}"
        zone = zones[number % 4]
        team.job(f"job-{number:04}", f"on: {{cron: '{cron}', timezone: {zone}}}\nsteps: [{{run: 'true'}}]\n")
    first = team.hz("plan", "--next", "1", "--now", NOON)
    assert len(first.out.splitlines()) == 1_001
    script = (
        "import sys; from hz_team import cli; code = cli.main(sys.argv[1:]);"
        f"print(*(name for name in {PARSERS!r} if name in sys.modules), file=sys.stderr); sys.exit(code)"
    )
    again = _python(script, "plan", "--next", "1", "--now", NOON, "--root", str(tmp_path))
    assert again == (first.out, "\n")


PARSERS = ("croniter", "pydantic", "ruamel.yaml", "jinja2", "feedparser", "rfc8785")


def _python(script: str, *words: str) -> tuple[str, str]:
    import subprocess

    done = subprocess.run((sys.executable, "-c", script, *words), capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


IDLE = """
import sys
start = set(sys.modules)
from hz_team import cli
code = cli.main(sys.argv[1:])
print(*sorted(set(sys.modules) - start), file=sys.stderr)
sys.exit(code)
"""
OURS_ON_AN_IDLE_TICK = """
    adapters adapters.address adapters.cache adapters.connection adapters.folder adapters.http adapters.leases
    adapters.local adapters.nearby adapters.outbox adapters.state adapters.view cli commands commands.assembly
    commands.identity commands.option commands.tick config config.cache config.tree docket duty errors fingerprint idle model model.facet
    model.job model.observation model.order model.proposal model.receipt model.state model.wake moment phases
    phases.claim phases.listen phases.observe phases.plan phases.wake ports registry schedule schedule.debt
    schedule.slot tick watches watches.feed watches.feed.source
"""
"""Everything of ours that a tick imports which polls a feed and finds nothing new."""
HEAVY = (
    "asyncio", "concurrent", "dataclasses", "inspect", "logging", "pathlib", "shutil", "tempfile", "urllib.request",
)  # fmt: skip
"""Parts of the standard library that cost an idle tick more than they are worth to it."""


def test_what_an_idle_tick_imports(tmp_path: Path) -> None:
    team = Team(tmp_path)
    with FeedServer(OURS) as server:
        url = server.url("german-rdf-utf-8.xml")
        team.write(".hz/watches.yaml", f'learning: {{type: feed, urls: ["{url}"], every: 1h}}\n')
        team.write(".hz/templates/digest.md.j2", TEMPLATE)
        team.job("weekly-digest", DIGEST)
        team.tick(NOON)
        out, err = _python(IDLE, "tick", "--now", "2026-11-29T13:05:00Z", "--root", str(tmp_path))
        assert out.startswith("Nothing due. Next: Mon 30 Nov")
        assert server.count(status=304) == 1
    names = set(err.split())
    ours = {name.removeprefix("hz_team.") for name in names if name.startswith("hz_team.")}
    more, less = ours - set(OURS_ON_AN_IDLE_TICK.split()), set(OURS_ON_AN_IDLE_TICK.split()) - ours
    assert not more, f"an idle tick imports more than it did, {' '.join(sorted(more))}: import it where it is used"
    assert not less, f"an idle tick imports less than it did: take {' '.join(sorted(less))} out of the list"
    tops = {name.partition(".")[0] for name in names if not name.startswith("_sysconfigdata")}
    foreign = tops - sys.stdlib_module_names - {"hz_team"}
    assert foreign == set(), "an idle tick imports what is not ours and not Python's"
    assert names.isdisjoint(HEAVY)
