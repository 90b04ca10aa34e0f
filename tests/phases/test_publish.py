"""What goes out: once, after it was on record, and never where nobody can tell. Real outbox, real HTTP on loopback."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from hz_team import tick as page
from hz_team.adapters.local import LocalForge
from hz_team.errors import RemoteError, TryAgain
from hz_team.model.observation import Heard
from tests.team import DAY, HOUR, MINUTE, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hz_team.ports import Lease

MONA = "local:mona"


class Hook:
    """A webhook's host that answers what it is told to."""

    def __init__(self) -> None:
        self.status, self.got = 200, []  # type: tuple[int, list[str]]
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                hook.got.append(self.headers["Idempotency-Key"])
                self.send_response(hook.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class names it so)
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def drafted(tmp_path: Path, **more: str) -> Team:
    team = Team(tmp_path, {"news": job(**more), ".hz/hz.yaml": "timezone: UTC\n"})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    return team


def hooked(tmp_path: Path, hook: Hook, *paths: str) -> Team:
    """A draft that waits to be sent to the hook."""
    url = f"http://127.0.0.1:{hook.port}/in"
    team = Team(tmp_path, {"news": job(publish=f'{{webhook: {{url: "{url}"}}}}')})
    team.write(".hz/hz.yaml", f'publish: {{hosts: ["127.0.0.1:{hook.port}"]}}\n')
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    return team


def say(team: Team, minute: int, verb: str = "approve") -> None:
    now = MONDAY + minute * MINUTE
    team.tick(now, yes(team.only(), MONA, now, verb=verb))


def crash(team: Team, minute: int) -> None:
    """Approve in a tick that ends between record and publish."""

    class Crash(BaseException):
        pass

    now = MONDAY + minute * MINUTE
    world = team.world(now)

    def stopped(name: str, asked: list[str] = []) -> str:  # noqa: B006  (it remembers that it was asked before)
        asked.append(name)
        if len(asked) > 1:
            raise Crash
        return ""

    with pytest.raises(Crash):
        page.tick(world._replace(stopped=stopped), yes(team.only(), MONA, now), now=now)


def test_a_crash_between_record_and_publish_publishes_later_exactly_once(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    crash(team, 1)
    assert (team.steps()[2:], team.outbox()) == (["approved"], [])
    team.tick(MONDAY + 2 * MINUTE)
    team.tick(MONDAY + 3 * MINUTE)
    assert (team.steps()[2:], team.outbox()) == (["approved", "published"], ["issue-1.md"])


def test_a_crash_after_publish_finds_what_is_there(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    now = MONDAY + MINUTE
    world = team.world(now)
    real = world.state.record
    wrote = []

    def record(view: object, files: object, message: str, **more: object) -> object:
        wrote.append(message)
        if len(wrote) > 1:
            raise RemoteError("the disk is full")
        return real(view, files, message, **more)  # type: ignore[arg-type]

    world.state.record = record  # type: ignore[assignment,method-assign]
    with pytest.raises(RemoteError):
        page.tick(world, yes(team.only(), MONA, now), now=now)
    assert (team.outbox(), team.steps()[2:]) == (["issue-1.md"], ["approved"])
    team.tick(now + MINUTE)
    assert (team.outbox(), team.steps()[2:]) == (["issue-1.md"], ["approved", "published"])


def test_who_lost_the_lease_since_the_record_publishes_nothing(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    now = MONDAY + MINUTE
    world = team.world(now)
    asked = []

    def holds(lease: Lease, *, now: int) -> bool:
        asked.append((lease.job, now))
        return False

    world.leases.holds = holds  # type: ignore[method-assign]
    story = page.tick(world, yes(team.only(), MONA, now), now=now)
    assert story.published
    assert story.published.stopped == "the lease of news is not ours any more"
    assert (asked, team.outbox(), team.only().attempted["generation"]) == ([("news", now)], [], 2)
    assert (story.published.rulings, story.published.lost, story.confirmed) == ((), frozenset({"news"}), None)
    team.tick(now + MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_after_a_crash_a_webhook_is_not_sent_but_asked_about(tmp_path: Path, hook: Hook) -> None:
    team = hooked(tmp_path, hook)
    name = team.only().id
    crash(team, 1)
    team.tick(MONDAY + 2 * MINUTE)
    assert (team.only().state, hook.got) == ("unknown", [])
    assert all(f"hz:{verb} {name}" in team.page() for verb in ("arrived", "again"))
    team.box("again", name)
    team.tick(MONDAY + 3 * MINUTE)
    assert (len(hook.got), team.view().proposals) == (1, {})
    assert team.steps()[2:] == ["approved", "failed", "approved", "published"]


def test_what_a_switch_held_back_is_not_in_doubt(tmp_path: Path, hook: Hook) -> None:
    team = hooked(tmp_path, hook)
    team.tick(MONDAY + MINUTE, yes(team.only(), MONA, MONDAY + MINUTE), publishing=False)
    assert (team.only().state, team.only().attempted, hook.got) == ("approved", {}, [])
    team.tick(MONDAY + 2 * MINUTE)
    assert (len(hook.got), team.view().proposals) == (1, {})


def test_a_switch_that_is_turned_between_record_and_publish_holds(tmp_path: Path, hook: Hook) -> None:
    team = hooked(tmp_path, hook)
    now = MONDAY + MINUTE
    world = team.world(now)

    def stopped(name: str, asked: list[str] = []) -> str:  # noqa: B006  (it remembers that it was asked before)
        asked.append(name)
        return "paused on the dashboard" if len(asked) > 1 else ""

    story = page.tick(world._replace(stopped=stopped), yes(team.only(), MONA, now), now=now)
    assert (story.published and story.published.stopped, hook.got) == ("paused on the dashboard", [])
    assert (team.only().state, team.only().attempted) == ("approved", {})
    team.tick(now + MINUTE)
    assert len(hook.got) == 1


def test_a_5xx_is_unknown_and_a_person_says_that_it_arrived(tmp_path: Path, hook: Hook) -> None:
    team = hooked(tmp_path, hook)
    hook.status = 503
    say(team, 1)
    name = team.only().id
    assert (team.only().state, len(hook.got)) == ("unknown", 1)
    team.tick(MONDAY + 2 * MINUTE)
    assert len(hook.got) == 1
    team.box("arrived", name)
    team.tick(MONDAY + 3 * MINUTE)
    assert (len(hook.got), team.view().proposals, team.steps()[-1]) == (1, {}, "published")
    assert "on the word of local:" in team.receipts()[-1]["published"][0]["ref"]


def test_a_4xx_is_refused_and_the_retry_box_sends_it_once_more(tmp_path: Path, hook: Hook) -> None:
    team = hooked(tmp_path, hook)
    hook.status = 404
    say(team, 1)
    name = team.only().id
    assert (team.only().state, len(hook.got)) == ("approved", 1)
    tip = team.view().tip
    team.tick(MONDAY + 2 * MINUTE)
    assert (team.view().tip, len(hook.got)) == (tip, 1)
    hook.status = 200
    team.box("retry", name)
    team.tick(MONDAY + 3 * MINUTE)
    assert (len(hook.got), len(set(hook.got)), team.view().proposals) == (2, 1, {})
    assert "asked to try again" in team.receipts()[-2]["reason"]


def test_a_host_that_cannot_be_reached_is_tried_again_by_a_person(tmp_path: Path, hook: Hook) -> None:
    team = hooked(tmp_path, hook)
    hook.server.server_close()
    say(team, 1)
    assert (team.only().state, "nothing was sent" in team.only().attempted["error"]) == ("approved", True)


def test_the_parts_after_the_one_in_doubt_go_out_when_it_is_settled(tmp_path: Path) -> None:
    step = """\
run: |
      for n in 1 2 3; do printf -- '---\\ntarget: "#%s"\\n---\\n%s\\n' $n $n > "$HZ_DRAFTS/$n.md"; done"""
    team = drafted(tmp_path, step=step, publish="{comment: {each: issue}}")
    assert len(team.draft(team.only().digest)["parts"]) == 3
    crash(team, 1)
    (team.root / ".hz/local/outbox/comment-7.md").mkdir(parents=True)  # nobody can tell what it says
    team.tick(MONDAY + 2 * MINUTE)
    assert (team.only().state, team.only().attempted["part"], team.only().attempted["left"]) == ("unknown", 0, 2)
    say(team, 3, "arrived")
    assert (team.outbox(), team.view().proposals) == (["comment-7.md", "comment-8.md", "comment-9.md"], {})
    parts = team.receipts()[-1]["published"]
    assert [(part["part"], part["ref"]) for part in parts] == [
        (0, f"on the word of {MONA}"),
        (1, "comment-8"),
        (2, "comment-9"),
    ]


def test_of_two_outcomes_with_one_key_the_lowest_stays(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    crash(team, 1)
    key = team.receipts()[2]["idempotency_key"]
    forge = LocalForge(str(team.root))
    for title in ("one", "two"):
        forge.create("issue", {"title": title, "body": ""}, f"<!-- hz:key {key} -->")
    team.tick(MONDAY + 2 * MINUTE)
    assert team.steps()[2:] == ["approved", "published", "superseded"]
    assert team.receipts()[-1]["published"][0]["ref"] == "issue-2"
    assert forge.find("issue", f"<!-- hz:key {key} -->").refs == ("issue-1",)
    assert "Closed: double of issue-1" in team.sent("issue-2")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".hz/control.yaml", "paused: true\n"),
        (".hz/control.yaml", "disabled: [news]\n"),
        (".hz/jobs/news.yaml", job(more="enabled: false")),
    ],
)
def test_switches_keep_what_is_approved_in(file: str, text: str, tmp_path: Path) -> None:
    team = drafted(tmp_path)
    before = (team.root / file).read_text() if (team.root / file).exists() else ""
    team.write(file, text)
    say(team, 1)
    assert (team.steps()[2:], team.outbox()) == (["approved"], [])
    tip = team.view().tip
    team.tick(MONDAY + 2 * MINUTE)
    assert team.view().tip == tip
    (team.root / file).write_text(before)
    team.tick(MONDAY + 3 * MINUTE)
    assert team.outbox() == ["issue-1.md"]


def test_a_job_that_is_switched_off_in_its_file_meanwhile_publishes_nothing(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    now = MONDAY + MINUTE
    world = team.world(now)
    team.write("news", job(more="enabled: false"))
    page.tick(world, yes(team.only(), MONA, now), now=now)
    assert team.outbox() == []


def test_the_pause_box_holds_what_is_approved_in_the_same_save(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.box("approve", team.only().id)
    team.box("pause")
    team.tick(MONDAY + MINUTE)
    assert (team.steps()[2:], team.outbox()) == (["approved"], [])
    team.tick(MONDAY + 2 * MINUTE, Heard(pause=(False, MONA)))
    team.tick(MONDAY + 3 * MINUTE)
    assert (team.outbox(), team.view().paused) == (["issue-1.md"], {})


def test_a_paused_state_holds_though_the_dashboard_is_gone(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.tick(MONDAY + MINUTE, Heard(pause=(True, MONA)))
    team.file().unlink()
    say(team, 2)
    assert team.outbox() == []


def test_a_lost_race_is_tried_again_and_publishes_nothing(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    now = MONDAY + MINUTE
    world = team.world(now)
    view = world.state.fetch()
    team.world(now).state.record(view, {"x.json": b"{}"}, "another was faster\n")
    stale = world._replace(state=_Stale(world.state, view))  # type: ignore[arg-type]
    with pytest.raises(TryAgain) as lost:
        page.tick(stale, yes(team.only(), MONA, now), now=now)
    assert (lost.value.code, team.outbox(), team.steps()[2:]) == (75, [], [])
    team.tick(now + MINUTE, yes(team.only(), MONA, now))
    assert team.outbox() == ["issue-1.md"]


class _Stale:
    """The real state, fetched a moment ago."""

    def __init__(self, state: object, view: object) -> None:
        self._state, self._view = state, view

    def fetch(self) -> object:
        return self._view

    def __getattr__(self, name: str) -> object:
        return getattr(self._state, name)


def test_a_kind_that_nobody_can_publish_is_a_failed_receipt(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    view = team.view()
    proposal = team.only()._replace(kind="carrier_pigeon")
    from hz_team.model.state import document

    content = (json.dumps(_plain(document(proposal))) + "\n").encode()
    team.world(0).state.record(view, {f"proposals/{proposal.id}.json": content}, "another kind\n")
    now = MONDAY + MINUTE
    team.tick(now, yes(proposal, MONA, now))
    assert team.steps()[2:] == ["approved", "failed"]
    assert "carrier_pigeon" in team.receipts()[-1]["error"]
    assert team.tick(MONDAY + DAY).plan.orders


def _plain(value: object) -> object:
    from hz_team.model.job import plain

    return plain(value)


def test_resume_publishes_at_once_although_the_page_still_shows_the_pause(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    team.tick(MONDAY + MINUTE, Heard(pause=(True, MONA)))
    say(team, 2)
    assert ("- [x] <!-- hz:pause -->" in team.page(), team.outbox()) == (True, [])
    story = team.tick(MONDAY + 3 * MINUTE, Heard(pause=(False, MONA)))
    assert (story.published and story.published.stopped, team.outbox()) == ("", ["issue-1.md"])
    assert "- [ ] <!-- hz:pause -->" in team.page()


def test_the_pause_box_holds_even_when_it_is_ticked_after_the_tick_began(tmp_path: Path, hook: Hook) -> None:
    team = hooked(tmp_path, hook)
    now = MONDAY + MINUTE
    world = team.world(now)
    real = world.state.record

    def record(*given: Any, **more: Any) -> Any:
        view = real(*given, **more)
        team.box("pause")
        return view

    world.state.record = record  # type: ignore[method-assign]
    story = page.tick(world, yes(team.only(), MONA, now), now=now)
    assert (story.published and story.published.stopped, hook.got) == ("paused on the dashboard", [])
    team.tick(now + MINUTE)
    assert (team.view().paused["via"], team.only().attempted, hook.got) == ("dashboard", {}, [])


def test_a_draft_of_a_newer_format_ends_the_tick_with_a_sentence_and_goes_nowhere(tmp_path: Path) -> None:
    team = drafted(tmp_path)
    said, world = yes(team.only(), MONA, MONDAY), team.world(MONDAY)
    newer = {**team.draft(team.only().digest), "v": 2}
    path = f"drafts/{team.only().digest[:2]}/{team.only().digest}.json"
    world.state.record(team.view(), {path: json.dumps(newer).encode()}, "a newer program\n")
    with pytest.raises(RemoteError, match=r"has format 2; this hz-team reads 1: upgrade it"):
        team.tick(MONDAY + MINUTE, said)
    assert team.outbox() == []
