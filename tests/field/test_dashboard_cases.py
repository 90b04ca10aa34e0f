"""Field kind C, end to end: hostile titles → draft → dashboard → a person's tick → what goes out.

Drawing and reading alone are tested in tests/dashboard/; here every case passes through real ticks and real files.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

import pytest

from hz_team.testing.feedserver import FeedServer
from tests.commands.terminal import LATER, MONDAY, NOON, TEMPLATE, Team
from tests.gfm import Page

if TYPE_CHECKING:
    from pathlib import Path

TITLED = """\
name: "{name}"
on: {{cron: "0 9 * * MON"}}
watch: [learning]
steps:
  - template: digest.md.j2
publish:
  issue: {{title: "{{{{ learning.added[0].title }}}}"}}
"""
PUBLISHED = "published"


def feed(*titles: str) -> str:
    items = "\n".join(
        f"<item><guid>https://n.example/{at}</guid><title>{html.escape(title)}</title></item>"
        for at, title in enumerate(titles)
    )
    return f'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>N</title>{items}</channel></rss>'


def drafted(root: Path, *titles: str, name: str = "Digest") -> Team:
    """Return a team whose digest of these titles waits; its own title is the first of them."""
    team = Team(root)
    with FeedServer({"/feed.xml": feed(*titles)}) as server:
        team.write(".hz/watches.yaml", f'learning: {{type: feed, urls: ["{server.url("/feed.xml")}"], every: 7d}}\n')
        team.write(".hz/templates/digest.md.j2", TEMPLATE)
        team.job("digest", TITLED.format(name=name))
        team.tick(NOON)
        team.tick(MONDAY)
    return team


def content(team: Team, ref: str = "issue-1") -> tuple[str, str]:
    """Return title and body of what was published."""
    head, _, body = team.published(ref).removeprefix("---\n").partition("\n---\n")
    (title,) = (line.partition(": ")[2] for line in head.splitlines() if line.startswith("title: "))
    return json.loads(title), body.partition("-->\n\n")[2]


def publish(team: Team) -> tuple[str, str]:
    """Tick the box, tick, and return title and body of what went out."""
    team.tick_box()
    team.tick(LATER)
    assert team.out == ["issue-1.md"]
    return content(team)


HOSTILE = {
    "b21-escaped": ("<a> as <area>", "<a> as <area>"),
    "b21-atom-html": ("<3 Deno", "<3 Deno"),
    "c12-mentions": (
        "@octo-team thanks @alice, mail a@b.example",
        "@octo-team thanks @alice, mail a@b.example",
    ),
    "c13-closes": ("Fixes #12, closes o/r#5 and GH-7", "Fixes #12, closes o/r#5 and GH-7"),
    "c13-link": (
        "see https://github.com/acme/housework/issues/3",
        "see https://github.com/acme/housework/issues/3",
    ),
    "c14-bracket": ("[JIRA-1] rotate key", "[JIRA-1] rotate key"),
    "c14-end": ("](x)", "](x)"),
    "c14-box": ("- [x] <!-- hz:approve p-00000000 000000000000 --> yes", None),
    "c17-emoji": ("🎉 Café élan 👩‍👩‍👧", "🎉 Café élan 👩‍👩‍👧"),
}


@pytest.mark.parametrize(("title", "visible"), HOSTILE.values(), ids=HOSTILE)
def test_a_foreign_title_is_the_same_words_and_nothing_acts(tmp_path: Path, title: str, visible: str | None) -> None:
    team = drafted(tmp_path, title, "second")
    (name,) = team.waiting
    board, page = Page(team.board), Page(team.page(name))
    for shown in (board, page):
        assert shown.acting == []
        if visible:
            assert visible in shown.visible
    assert board.boxes == [False, False, False]  # the decision, run now, pause
    assert page.boxes == [False, False, False]
    assert team.board.count("hz:approve ") == 1
    assert re.search(
        rf"^- \[ \] <!-- hz:approve {name} [0-9a-f]{{12}} --> \*\*Publish\*\* {name}: ", team.board, re.MULTILINE
    )

    sent, body = publish(team)
    out = Page(body)
    assert out.acting == []
    assert out.boxes == []
    assert out.tags <= {"ul", "li", "a", "p"}
    if visible:
        assert visible in out.visible
    assert Page(sent).acting == []
    messages = team.git("log", "--format=%B", "hz-state")
    assert title not in messages
    assert "alice" not in messages


def test_c02_one_that_fails_clears_no_other_tick(tmp_path: Path) -> None:
    script = """for name in a b blocked/c d; do
      mkdir -p "$HZ_DRAFTS"
      printf -- '---\\ntarget: %s.md\\ntitle: %s\\n---\\nhello\\n' $name $name > "$HZ_DRAFTS/${name%/c}.md"
    done"""
    team = Team(tmp_path)
    team.job("pages", f"on: {{cron: '0 9 * * MON'}}\nsteps:\n  - run: {json.dumps(script)}\npublish: {{file: {{}}}}\n")
    team.tick(NOON)
    team.tick(MONDAY)
    blocked = team.local / "outbox" / "files" / "blocked"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("in the way", encoding="utf-8")
    team.tick_box("approve-all")
    team.tick(LATER)
    (left,) = team.waiting
    assert len(team.receipts("approved")) == 4
    assert (len(team.receipts("published")), len(team.receipts("failed")), len(team.out)) == (3, 1, 3)
    assert team.board.count(f"- [ ] <!-- hz:retry {left} ") == 1
    before = team.contents()
    team.tick("2026-11-30T10:00:00Z")
    assert team.contents() == before  # a refused write is not tried again by itself
    blocked.unlink()
    team.tick_box("retry")
    team.tick("2026-11-30T10:10:00Z")
    assert (team.waiting, len(team.out)) == ([], 4)


@pytest.mark.slow
def test_c03_four_hundred_proposals_keep_the_controls(tmp_path: Path) -> None:
    team = Team(tmp_path)
    team.write(".hz/hz.yaml", "limits: {drafts_per_tick: 50, parallel: 4}\n")
    script = 'for n in $(seq 20); do printf -- "---\\ntitle: %s\\n---\\n%2000s\\n" "$n $(printf %0180d 7)" x > "$HZ_DRAFTS/$n.md"; done'
    for number in range(20):
        team.job(
            f"many-{number}", f"name: Many\non: poke\nsteps:\n  - run: {json.dumps(script)}\npublish: {{issue: {{}}}}\n"
        )
        team.hz("tick", "--now", NOON) if number == 0 else None
    for number in range(20):
        team.hz("run", f"many-{number}", "--now", f"2026-11-29T12:{number:02}:00Z")
    assert len(team.waiting) == 400
    first = team.board
    assert len(first) < 60_000
    assert first.index("## Waiting") < first.index("Pause everything")
    assert "400 decisions waiting" in first
    whole = [line for line in first.splitlines() if "hz:approve " in line]
    assert all(
        re.fullmatch(r"- \[ \] <!-- hz:approve p-\w+ [0-9a-f]{12} --> \*\*Publish\*\* p-\w+: .+", line.rstrip())
        for line in whole
    )
    assert re.search(r"\d+ older decisions wait on ", Page(first).visible)
    ids = {
        found
        for path in team.local.glob("DASHBOARD*.md")
        for found in re.findall(r"hz:approve (p-\w+)", path.read_text())
    }
    assert ids == set(team.waiting)
    assert Page(first).boxes.count(False) == len(Page(first).boxes)


@pytest.mark.parametrize("ends", ["crlf", "mixed"])
def test_c09_line_ends_of_an_editor(tmp_path: Path, ends: str) -> None:
    team = drafted(tmp_path, "one")
    board = team.local / "DASHBOARD.md"
    lines = board.read_text().split("\n")
    line_ends = ["\r\n"] if ends == "crlf" else ["\r\n", "\n"]
    quiet = "".join(f"{line}{line_ends[at % len(line_ends)]}" for at, line in enumerate(lines[:-1]))
    board.write_bytes(quiet.encode())
    before = team.contents()
    assert team.tick("2026-11-30T09:02:00Z").out.startswith("Nothing due, 1 waiting")
    assert team.contents() == before  # no rewrite only for line ends
    board.write_bytes(quiet.replace("- [ ] <!-- hz:approve", "- [x] <!-- hz:approve").encode())
    team.tick(LATER)
    assert team.out == ["issue-1.md"]
    (yes,) = team.receipts("approved")
    assert "\r" not in json.dumps(yes)


READ = ["- [X]", "* [x]", "+ [x]", "1. [x]", "  - [x]"]
UNREAD = ["- [x]", "- [ x ]", "-[x]", "- [v]", "    - [x]"]


@pytest.mark.parametrize(
    ("box", "glue", "counts"),
    [*((box, " ", True) for box in READ), *((box, "" if box == "- [x]" else " ", False) for box in UNREAD)],
)
def test_c10_exactly_what_github_reads_as_ticked(tmp_path: Path, box: str, glue: str, counts: bool) -> None:  # noqa: FBT001  (a column of the table)
    team = Team(tmp_path)
    team.job(
        "hello",
        'on: {cron: "0 9 * * MON"}\nsteps: [{run: echo hello > "$HZ_DRAFT"}]\npublish: {issue: {title: Hello}}\n',
    )
    team.tick(NOON)
    team.tick(MONDAY)
    board = team.local / "DASHBOARD.md"
    text = re.sub(r"- \[ \] (<!-- hz:approve )", rf"{box}{glue}\1", board.read_text())
    board.write_text(text)
    assert (True in Page(text).boxes) == counts
    team.tick(LATER)
    assert team.out == (["issue-1.md"] if counts else [])


def test_c17_the_dashboard_is_found_again_by_its_number_not_its_title(tmp_path: Path) -> None:
    team = drafted(tmp_path, "🎉 élan", name="Zażółć 🧝")
    board = team.local / "DASHBOARD.md"
    text = board.read_text()
    assert "Zażółć 🧝" in Page(text).visible
    board.write_text(text.replace("# 🧝 Helpers: decisions and duties", "# Another title"))
    team.tick_box()
    team.tick(LATER)
    assert team.out == ["issue-1.md"]
    assert len(list(team.local.glob("DASHBOARD*"))) == 1
    assert "# 🧝 Helpers" in team.board
