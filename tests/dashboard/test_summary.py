from __future__ import annotations

from hypothesis import given

from hz_team.dashboard import summary
from hz_team.model.screen import Failure, PhaseLine, Report
from tests.gfm import Page
from tests.markdown.hostile import hostile

REPORT = Report(
    at="Mon 30 Nov 2026 09:00 CET",
    title="tick 1",
    drafted=1,
    waiting=3,
    lines=(
        PhaseLine("wake", text="schedule"),
        PhaseLine("observe", "learning", "2 new items"),
        PhaseLine("observe", "releases", "unchanged", "1 request"),
        PhaseLine("draft", "p-3f9c21ab", '"Digest, week 49"', "0.2 s"),
        PhaseLine("publish", text="nothing approved"),
    ),
    link="https://github.com/acme/housework/issues/1",
)
BROKEN = REPORT._replace(failures=(Failure("links", "`curl` ended with 28", "one\ntwo\x1b[31m"),))


def test_the_terminal_shows_aligned_phases() -> None:
    assert summary.lines(REPORT) == (
        "tick 1   Mon 30 Nov 2026 09:00 CET\n"
        "  wake     schedule\n"
        "  observe  learning      2 new items\n"
        "           releases      unchanged                            1 request\n"
        '  draft    p-3f9c21ab    "Digest, week 49"                        0.2 s\n'
        "  publish  nothing approved"
    )


def test_failures_come_first_with_their_last_lines() -> None:
    lines = summary.lines(BROKEN).splitlines()
    assert lines[1:4] == ["  failed   links: `curl` ended with 28", "           | one", "           | two[31m"]
    text = summary.markdown(BROKEN)
    assert text.index("failed: `curl` ended with 28") < text.index("| wake |")
    assert "<pre>one\ntwo[31m</pre>" in text


def test_colours_only_when_asked() -> None:
    assert "\x1b" not in summary.lines(BROKEN)
    coloured = summary.lines(BROKEN, colour=True)
    assert "\x1b[31mlinks" in coloured
    assert coloured.replace("\x1b[31m", "").replace("\x1b[2m", "").replace("\x1b[1m", "").replace(
        "\x1b[0m", ""
    ) == summary.lines(BROKEN)


def test_an_idle_run_is_one_line() -> None:
    idle = Report(idle="Nothing due. Next: Mon 7 Dec 07:00 CET.")
    assert summary.lines(idle) == "Nothing due. Next: Mon 7 Dec 07:00 CET."
    assert summary.markdown(idle) == "Nothing due. Next: Mon 7 Dec 07:00 CET.\n"


def test_the_summary_of_a_run() -> None:
    assert summary.markdown(REPORT) == (
        "### Tick: 1 drafted, 0 published, 3 waiting\n\n"
        "| | what happened | |\n"
        "|---|---|--:|\n"
        "| wake | schedule |  |\n"
        "| observe | learning: 2 new items |  |\n"
        "|  | releases: unchanged | 1 request |\n"
        '| draft | p-3f9c21ab: "Digest, week 49" | 0.2 s |\n'
        "| publish | nothing approved |  |\n\n"
        "Decide: [Helpers: decisions and duties](https://github.com/acme/housework/issues/1)\n"
    )


@given(hostile)
def test_no_foreign_text_leaves_its_cell_or_moves_the_cursor(text: str) -> None:
    report = Report(
        lines=(PhaseLine("draft", text, text, text), PhaseLine("show", text=text)),
        failures=(Failure(text, text, text),),
    )
    shown = Page(summary.markdown(report))
    assert shown.html.count("<tr>") == 3
    assert shown.acting == []
    assert shown.links == []
    assert "\x1b" not in summary.lines(report)
    assert "\x00" not in summary.lines(report)
