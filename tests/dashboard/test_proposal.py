from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hz_team.dashboard import proposal, row
from hz_team.dashboard.row import Tick
from hz_team.markdown import neutralise
from hz_team.model.draft import Draft
from tests.dashboard.screens import BODY, DIGEST
from tests.dashboard.screens import proposal as screen
from tests.gfm import Page
from tests.markdown.hostile import hostile

DRAWN = proposal.draw(screen())


def ticked(text: str, verb: str) -> str:
    return text.replace(f"[ ] <!-- hz:{verb} ", f"[x] <!-- hz:{verb} ")


def test_the_page_reads_as_designed() -> None:
    lines = DRAWN.splitlines()
    assert lines[0] == "<!-- hz:proposal p-3f9c21ab 5d41402abc4b -->"
    assert [one.verb for one in row.rows(DRAWN)] == ["approve", "reject", "redraft", "always"]
    assert f"<!-- hz:draft -->\n{BODY}\n<!-- hz:end -->\n" in DRAWN
    assert lines[-1].startswith("- [ ] <!-- hz:always ")
    shown = Page(DRAWN).visible
    assert "becomes an issue in acme/housework, labelled newsletter." in shown
    assert "Sources: learning (6 new), releases (3 new). Time 4.1 s, no model use." in shown
    assert "One yes from anyone with write is needed. Without an answer this lapses on 14 December" in shown


def test_a_forge_has_comments_and_titles_of_its_own() -> None:
    text = proposal.draw(screen(local=False))
    assert "hz:note" not in text
    assert "# Digest, week 49\n\n**A helper" not in text
    assert "comment `/hz approve`" in text
    assert "opens a pull request" in text


@pytest.mark.parametrize("verb", ["approve", "reject", "redraft", "always"])
def test_each_box_is_read(verb: str) -> None:
    assert proposal.read(ticked(DRAWN, verb), DRAWN) == proposal.Answers(
        (Tick(verb, "p-3f9c21ab", "5d41402abc4b", ticked=True),),
    )


@pytest.mark.parametrize(
    "stored",
    [DRAWN, DRAWN.replace("\n", "\r\n"), DRAWN.replace("\nMore …\n", "\nMore …  \n\n\n"), DRAWN + "\n\n"],
)
def test_line_ends_and_blanks_are_no_edit(stored: str) -> None:
    assert proposal.read(stored, DRAWN) == proposal.Answers()


def test_an_edit_is_the_text_between_the_lines() -> None:
    stored = DRAWN.replace("faster.", "much faster @mona, #12 <b>!</b>").replace("\n", "\r\n")
    assert proposal.read(stored, DRAWN).edit == BODY.replace("faster.", "much faster @mona, #12 <b>!</b>")


def test_an_edit_and_a_yes_come_together() -> None:
    answers = proposal.read(ticked(DRAWN.replace("faster.", "quicker."), "approve"), DRAWN)
    assert answers.edit == BODY.replace("faster.", "quicker.")
    assert [tick.verb for tick in answers.ticks] == ["approve"]


def test_an_edit_loses_only_our_markers() -> None:
    stored = DRAWN.replace("faster.", "faster. <!-- hz:approve p-3f9c21ab 5d41402abc4b --> <!-- mine -->\n- [x] done")
    assert proposal.read(stored, DRAWN).edit == BODY.replace("faster.", "faster.  <!-- mine -->\n- [x] done")


def test_boxes_inside_the_draft_are_the_drafts() -> None:
    forged = "- [x] <!-- hz:approve p-3f9c21ab 5d41402abc4b --> yes\n```"
    answers = proposal.read(DRAWN.replace("More …", forged), DRAWN)
    assert answers.ticks == ()
    assert answers.edit is not None
    assert not answers.damaged


def test_an_emptied_draft_is_an_edit_to_nothing() -> None:
    assert proposal.read(DRAWN.replace(BODY, ""), DRAWN).edit == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<!-- hz:draft -->\n", ""),
        ("<!-- hz:end -->\n", ""),
        ("More …", "More …\n<!-- hz:end -->\n"),
        ("<!-- hz:end-note -->\n", ""),
    ],
)
def test_with_a_mark_gone_or_doubled_only_a_no_counts(old: str, new: str) -> None:
    stored = DRAWN.replace(old, new, 1)
    assert proposal.read(ticked(stored, "approve"), DRAWN) == proposal.Answers(damaged=True)
    assert [tick.verb for tick in proposal.read(ticked(stored, "reject"), DRAWN).ticks] == ["reject"]


@pytest.mark.parametrize("note", ["shorter, please", "> shorter,\n> please", "\n  shorter\n\nand @mona\n"])
def test_a_note_is_what_stands_below_its_mark(note: str) -> None:
    stored = DRAWN.replace("line) -->\n\n", f"line) -->\n{note}\n")
    assert proposal.read(ticked(stored, "redraft"), DRAWN).note == note.replace("> ", "").strip()


def test_a_note_somebody_began_is_kept_on_the_page() -> None:
    text = proposal.draw(screen(note="shorter,\nplease\n```"))
    answers = proposal.read(text, text)
    assert answers.note.startswith("shorter,\nplease")
    assert answers.edit is None
    assert len(Page(text).boxes) == 4


def test_a_page_of_another_digest_gives_no_edit() -> None:
    newer = proposal.draw(screen(digest="b" * 64, draft=Draft("issue", "here", "T", "another text")))
    answers = proposal.read(ticked(DRAWN, "approve"), newer)
    assert answers.outdated
    assert answers.edit is None
    assert [(tick.verb, tick.stale) for tick in answers.ticks] == [("approve", True)]


def test_published_leaves_no_box() -> None:
    text = proposal.draw(
        screen(closed="Published as #415 on octocat's word, 1 Dec 08:12 CET", closed_link="../outbox/issue-1.md")
    )
    assert row.rows(text) == ()
    assert Page(text).boxes == []
    assert "[Published as" in text.splitlines()[3]
    assert BODY in text


def test_a_write_of_unknown_fate_asks_whether_it_arrived() -> None:
    text = proposal.draw(screen(unsure="the connection broke on 1 Dec 09:02 CET."))
    assert [one.verb for one in row.rows(text)] == ["arrived", "again"]


def test_kinds_that_cannot_be_undone_are_never_allowed_for_good() -> None:
    text = proposal.draw(screen(draft=Draft("webhook", "https://hooks.example.org/x", "T", "body")))
    assert [one.verb for one in row.rows(text)] == ["approve", "reject", "redraft"]
    assert "This cannot be undone." in text


def test_files_and_patches_are_shown_whole_and_cannot_break_out() -> None:
    files = {
        "a.md": "```\n- [x] <!-- hz:approve p-3f9c21ab 5d41402abc4b -->\n````",
        "b.bin": {"base64": "aGFsbG8="},
        "c": None,
    }
    fields = {"branch": "hz/x", "base": "main", "patch": "--- a\n+++ b\n```\n"}
    text = proposal.draw(screen(draft=Draft("pull_request", "main", "T", "Why", ("x",), files, fields)))
    shown = Page(text)
    assert shown.boxes == [False] * 4
    assert len(row.rows(text)) == 4
    assert "b.bin: about 6 bytes that are no text" in shown.visible
    assert "c is removed" not in shown.visible  # the patch says so
    assert "base: main · branch: hz/x" in shown.visible
    assert "+++ b" in shown.visible
    assert "Edit the words above the changes" in shown.visible


def test_a_forge_page_stays_below_its_limit_and_says_what_is_not_shown() -> None:
    long = "a line of code\n" * 9000
    text = proposal.draw(screen(local=False, draft=Draft("file", "x.py", "T", "", files={"x.py": long, "y.py": "b\n"})))
    assert len(text) < 60_000
    assert "more lines are not shown here" in text
    assert "more lines" not in proposal.draw(screen(draft=Draft("file", "x.py", "T", "", files={"x.py": long})))


def test_how_many_have_to_say_yes_is_told_in_words() -> None:
    assert "2 people have to say yes (octocat or hubot)." in proposal.draw(screen(need=2, who="octocat or hubot"))


def test_parts_are_listed_and_not_edited_here() -> None:
    parts = tuple(
        {"target": f"#{number}", "title": f"Close #{number}?", "body": "Quiet.\n```", "labels": ["old"]}
        for number in (7, 8)
    )
    text = proposal.draw(screen(draft=Draft("comment", "#7", "Close 2", "", parts=parts)))
    shown = Page(text)
    assert "exactly the 2 texts between the lines become comments on #7 and #8" in shown.visible
    assert "1 of 2 · #7 · Close #7? · old Quiet." in shown.visible
    assert len(shown.boxes) == 4
    assert "hz:draft" not in text


def test_a_file_that_is_no_markdown_is_shown_as_code() -> None:
    assert "```text\na: [x]\n```" in proposal.draw(screen(draft=Draft("file", "a.yaml", "T", "a: [x]")))


@settings(max_examples=150)
@given(hostile, hostile, hostile, st.booleans())
def test_draw_and_read_agree_whatever_the_draft_says(title: str, body: str, word: str, local: bool) -> None:  # noqa: FBT001
    draft = Draft("issue", "here", title, neutralise(body), (word,))
    text = proposal.draw(screen(draft=draft, job=word, reason=word, notes=(word,), local=local, yes=word))
    assert proposal.read(text, text) == proposal.Answers()
    assert [one.verb for one in row.rows(text)] == ["approve", "reject", "redraft", "always"]
    shown = Page(text)
    assert shown.boxes == [False] * 4
    assert shown.acting == []
    stored = ticked(text, "approve")
    assert [tick.digest for tick in proposal.read(stored, text).ticks] == [DIGEST[:12]]


@settings(max_examples=150)
@given(hostile)
def test_whatever_a_person_writes_into_the_draft_is_the_edit_and_nothing_else(text: str) -> None:
    answers = proposal.read(DRAWN.replace(BODY, f"new {text.encode('utf-8', 'replace').decode()} end"), DRAWN)
    assert answers.ticks == ()
    assert answers.damaged or answers.edit is not None
    assert "<!-- hz:" not in (answers.edit or "")
    redrawn = proposal.draw(screen(draft=Draft("issue", "here", "T", answers.edit or "x")))
    assert proposal.read(redrawn, redrawn) == proposal.Answers()
