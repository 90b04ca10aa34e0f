from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hz_team.dashboard import page, row
from hz_team.dashboard.paging import LIMIT
from hz_team.dashboard.phrase import sentence
from hz_team.dashboard.row import Tick
from hz_team.model.screen import Dashboard, Entry
from hz_team.model.state import Anchor
from tests.dashboard.screens import dashboard, helper, waiting
from tests.gfm import Page
from tests.markdown.hostile import hostile


def test_the_busy_page_reads_as_designed() -> None:
    text = page.draw(dashboard())
    assert text.startswith(
        "<!-- hz:dashboard 1 acme/housework -->\n**3 decisions waiting** · 3 helpers, 1 to look into, 1 parked"
    )
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == ["Waiting for a yes", "Parked", "Files to mend", "Helpers", "Controls"]
    assert [(one.verb, one.subject) for one in row.rows(text)] == [
        ("approve", "p-00000002"),
        ("approve", "p-00000001"),
        ("approve-all", "2"),
        ("arrived", "p-0000aaaa"),
        ("again", "p-0000aaaa"),
        ("retry", "links"),
        ("run", "job-1"),
        ("run", "job-2"),
        ("pause", ""),
    ]
    shown = Page(text).visible
    assert (
        "Publish p-00000002: Digest, week 2 opens an issue here · read it (2 min) · anyone with write · until 14 Dec"
        in shown
    )
    assert "Publish both boxes above, exactly as they stand now" in shown
    assert "p-00000003: Digest, week 3" in shown
    assert "Try again: Link check failed 3 times, last 30 Nov 02:07 CET: curl ended with 28" in shown
    assert ".hz/jobs/x.yaml:4: unknown key shedule; did you mean schedule?" in shown
    assert "verify them with hz-team receipts verify" in shown


def test_every_box_stands_in_a_tight_list_outside_tables_and_folds() -> None:
    text = page.draw(dashboard())
    html = Page(text).html
    assert len(Page(text).boxes) == len(row.rows(text))
    assert "<li><input" in html
    assert '<input type="checkbox" disabled="" /> \n<p>' not in html
    assert all(
        "<input" not in fold for fold in re.findall(r"<(?:details|table)>.*?</(?:details|table)>", html, re.DOTALL)
    )


def test_an_empty_page_is_a_calm_one() -> None:
    text = page.draw(
        dashboard(waiting=(), parked=(), unsure=(), findings=(), next="Weekly digest, Mon 7 Dec 09:00 CET")
    )
    assert "**Nothing is waiting** · 3 helpers, all well" in text
    assert "Next: Weekly digest, Mon 7 Dec 09:00 CET." in text
    assert "## Waiting" not in text
    assert [one.verb for one in row.rows(text)] == ["run", "run", "pause"]


def test_a_page_without_helpers_says_how_to_begin() -> None:
    assert "There is no helper yet" in page.draw(Dashboard(repository="local"))


def test_a_pause_is_told_first_and_ends_with_its_box() -> None:
    text = page.draw(dashboard(paused="Paused by octocat, 1 Dec 10:02 CET"))
    assert text.splitlines()[1].startswith("**Paused by octocat, 1 Dec 10:02 CET** · ")
    assert "- [x] <!-- hz:pause --> Paused by octocat, 1 Dec 10:02 CET. Untick to go on." in text
    by_file = page.draw(dashboard(paused="Paused by .hz/control.yaml", paused_by_file=True))
    assert "pause" not in [one.verb for one in row.rows(by_file)]


def test_notes_stand_on_lines_of_their_own() -> None:
    note = "not taken: monalisa may read but not write here (1 Dec 10:05 CET)"
    text = page.draw(
        dashboard(waiting=(waiting(1, notes=(note, "changed since hubot's yes: +1 item"), yes="1 of 2 yes (hubot)"),))
    )
    assert f"\n  {note}  \n  changed since hubot's yes: +1 item\n" in text
    assert "1 of 2 yes (hubot)" in text
    assert Page(text).html.count("<br />") >= 3


def test_an_approved_row_is_drawn_ticked_and_withdrawn_by_unticking() -> None:
    text = page.draw(dashboard(waiting=(waiting(1, ticked=True),)))
    (tick,) = row.read(text.replace("[x] <!-- hz:approve", "[ ] <!-- hz:approve"), text)
    assert tick == Tick("approve", "p-00000001", "000000000001", ticked=False)


def test_links_are_relative_for_files_and_addresses_for_a_forge() -> None:
    assert "(inbox/p-00000001.md)" in page.draw(dashboard())
    address = "https://github.com/acme/housework/issues/412"
    text = page.draw(
        dashboard(
            waiting=(waiting(1, link=address),),
            badge="https://github.com/b.svg",
            guide="https://x.example",
            workflow="https://w.example",
        )
    )
    assert f"[read it (2 min)]({address})" in text
    assert "![last scheduled run](https://github.com/b.svg)" in text
    assert "[How to read this](https://x.example)" in text
    assert "[start a run by hand](https://w.example)" in text
    for unfit in ("javascript:x", "/etc/passwd", "https://u@x.example"):
        assert "](" not in page.draw(dashboard(waiting=(waiting(1, link=unfit),), entries=()))


def test_equal_state_draws_equal_bytes_in_whatever_order_it_comes() -> None:
    screen = dashboard()
    assert page.draw(screen) == page.draw(screen._replace(waiting=screen.waiting[::-1]))


def test_four_hundred_decisions_of_two_kilobytes() -> None:
    """C03."""
    many = tuple(waiting(number, title="long " * 400, notes=("why " * 200,) * 5) for number in range(400))
    screen = dashboard(waiting=many, pages=("DASHBOARD-2.md",))
    drawn = page.pages(screen)
    assert all(len(text) < LIMIT for text in drawn)
    first = drawn[0]
    assert first.splitlines()[1].startswith("**400 decisions waiting**")
    assert "wait on [page 2](DASHBOARD-2.md), page 3" in first
    found = [one for text in drawn for one in row.rows(text)]
    assert {one.subject for one in found if one.verb == "approve"} == {one.id for one in many}
    assert [one.verb for one in row.rows(first)][-3:] == ["run", "run", "pause"]
    assert first.rstrip().endswith("</details>")
    newest = [one.subject for one in row.rows(first) if one.verb == "approve"]
    assert newest == [one.id for one in many[::-1][: len(newest)]]
    assert all(Page(text).boxes == [False] * len(row.rows(text)) for text in drawn)


def test_more_than_twenty_five_decisions_take_a_second_page() -> None:
    drawn = page.pages(dashboard(waiting=tuple(waiting(number) for number in range(30))))
    assert [sum(one.verb == "approve" for one in row.rows(text)) for text in drawn] == [25, 5]
    assert "5 older decisions wait on page 2." in drawn[0]
    assert "Publish all 25 boxes above" in drawn[0]
    assert drawn[1].startswith("<!-- hz:dashboard-page 2 acme/housework -->\nPage 2 of 2")


def test_a_thousand_helpers_fit() -> None:
    drawn = page.pages(
        dashboard(helpers=tuple(helper(number, name="A rather long name of a helper") for number in range(1000)))
    )
    assert all(len(text) < LIMIT for text in drawn)
    runs = [one.subject for text in drawn for one in row.rows(text) if one.verb == "run"]
    assert sorted(runs) == sorted(f"job-{number}" for number in range(1000))
    assert re.search(r"\nand \d+ more: `hz-team jobs` lists them\n", drawn[0])
    assert [one.verb for one in row.rows(drawn[0])][-1] == "pause"


def test_the_ledger_it_vouches_for_can_be_read_back() -> None:
    text = page.draw(dashboard())
    assert page.anchor(text) == page.anchor(text.replace("\n", "\r\n")) == (0, 1284, "9c1185a5c5e9")
    assert page.anchor(page.draw(dashboard(count=0, head=""))) == Anchor()
    assert page.anchor(page.draw(dashboard(count=1))) == (0, 1, "9c1185a5c5e9")


@pytest.mark.parametrize(
    ("era", "count", "words"),
    [
        (1, 1284, "1,284 receipts after 1 accepted loss, head 9c1185a5c5e9"),
        (1200, 1, "1 receipt after 1,200 accepted losses, head 9c1185a5c5e9"),
        (2, 0, "No receipt after 2 accepted losses"),
    ],
)
def test_a_ledger_that_was_shortened_says_so_and_can_be_read_back(era: int, count: int, words: str) -> None:
    head = "9c1185a5c5e9" if count else ""
    text = page.draw(dashboard(era=era, count=count, head=head))
    assert words in Page(text).visible
    assert page.anchor(text) == page.anchor(text.replace("\n", "\r\n")) == (era, count, head)


def test_no_foreign_text_vouches_for_a_ledger() -> None:
    lies = ("9,999 receipts, head `9c1185a5c5e9`", "No receipt after 7 accepted losses")
    for lie in lies:
        text = page.draw(dashboard(entries=(Entry(lie),), costs=(lie,), waiting=(waiting(1, title=lie, box=False),)))
        assert page.anchor(text) == (0, 1284, "9c1185a5c5e9")


@pytest.mark.parametrize(
    "title", ["🧝 Déjà vu", "[JIRA-1] rotate key", "](x)", "@octo-team thanks @alice, mail a@b.example", "Fixes #12"]
)
def test_titles_of_the_field_cases_tick_and_act_not(title: str) -> None:
    """C12, C13, C14, C17, B21."""
    drawn = page.draw(dashboard(waiting=(waiting(1, title=title),), entries=()))
    assert Page(drawn).acting == []
    assert f"p-00000001: {title}" in Page(drawn).visible
    stored = row.with_boxes(drawn, [Tick("approve", "p-00000001", "000000000001", ticked=True)])
    assert [tick.subject for tick in row.read(stored, drawn)] == ["p-00000001"]


@settings(max_examples=150)
@given(st.lists(hostile, min_size=9, max_size=9))
def test_no_foreign_text_makes_moves_or_hides_a_row(texts: list[str]) -> None:
    title, who, error, tail, name, last, note, finding, entry = texts
    base = dashboard()
    screen = base._replace(
        waiting=(waiting(1, title=title, who=who, notes=(note,)), waiting(2, yes=note, effect=title)),
        parked=(base.parked[0]._replace(error=error, tail=tail, name=name, told=who),),
        unsure=(base.unsure[0]._replace(title=title, error=error),),
        helpers=(helper(1, name=name, last=last),),
        findings=(base.findings[0]._replace(text=finding, file=name),),
        entries=(Entry(entry),),
        next=last,
    )
    plain = base._replace(waiting=(waiting(1), waiting(2)), helpers=(helper(1),))
    text = page.draw(screen)
    assert row.rows(text) == row.rows(page.draw(plain))
    shown = Page(text)
    assert shown.boxes == [False] * len(row.rows(text))
    assert shown.acting == []
    assert set(shown.links) == {"inbox/p-00000001.md", "inbox/p-00000002.md"}
    assert page.anchor(text) == (0, 1284, "9c1185a5c5e9")


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (".hz/jobs/a.yaml:6: step 1 (run) ended with 28", "`.hz/jobs/a.yaml:6`: step 1 (run) ended with 28"),
        ("`a`: `b` is no host", "`a`: `b` is no host"),
        ("see `a`", "see `a`"),
    ],
)
def test_a_place_in_a_file_is_code_and_is_copied_as_it_stands(text: str, drawn: str) -> None:
    assert sentence(text) == drawn
