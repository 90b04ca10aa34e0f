"""`/hz …` in comments: what counts, what does not, and what is said when it cannot be taken."""

from __future__ import annotations

import pytest

from hz_team.dashboard.command import Command, inputs, read

OPEN = "p-3f9c21ab"


@pytest.mark.parametrize(
    ("text", "page", "asked"),
    [
        ("/hz approve", OPEN, Command("approve", OPEN)),
        ("/HZ approve", OPEN, None),
        ("/hz Approve\r\n", OPEN, Command("approve", OPEN)),
        ("Fine by me.\n\n/hz approve\n", OPEN, Command("approve", OPEN)),
        ("/hz reject last week's list again", OPEN, Command("reject", OPEN, "last week's list again")),
        ("/hz redraft shorter, and\nwithout emoji", OPEN, Command("redraft", OPEN, "shorter, and\nwithout emoji")),
        ("/hz approve p-81d0c7e2", OPEN, Command("approve", "p-81d0c7e2")),
        ("/hz reject p-81d0c7e2 not now", "dashboard", Command("reject", "p-81d0c7e2", "not now")),
        ("/hz run weekly-digest week=49", "dashboard", Command("run", "weekly-digest", "week=49")),
        ("/hz retry nightly-links", "dashboard", Command("retry", "nightly-links")),
        ("/hz retry", OPEN, Command("retry", OPEN)),
        ("/hz pause", "dashboard", Command("pause")),
        ("/hz resume all is well", "dashboard", Command("resume", text="all is well")),
        ("> /hz approve", OPEN, None),
        ("```\n/hz approve\n```", OPEN, None),
        ("    /hz approve", OPEN, None),
        ("please /hz approve", OPEN, None),
        ("/hzapprove", OPEN, None),
        ("", OPEN, None),
        ("<!-- /hz approve -->", OPEN, None),
    ],
)
def test_what_is_read(text: str, page: str, asked: Command | None) -> None:
    assert read(text, page) == asked


@pytest.mark.parametrize(
    ("text", "page", "wrong"),
    [
        ("/hz", OPEN, "needs a word behind it"),
        ("/hz aprove", OPEN, "/hz aprove is no command; there are approve, reject"),
        ("/hz approve", "dashboard", "say which one: /hz approve p-…"),
        ("/hz run", "dashboard", "say which helper"),
    ],
)
def test_what_cannot_be_taken_says_why(text: str, page: str, wrong: str) -> None:
    asked = read(text, page)
    assert asked
    assert wrong in asked.wrong


def test_the_first_command_counts_and_no_other() -> None:
    assert read("/hz reject\n/hz approve", OPEN) == Command("reject", OPEN, "/hz approve")


def test_inputs_are_words_with_an_equals_sign() -> None:
    assert inputs('week=49 title="A long one" odd') == {"week": "49", "title": "A long one"}
