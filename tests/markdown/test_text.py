from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hz_team.markdown import clean, code, literal, literal_block, one_line, plain, value
from hz_team.markdown.text import BREAK
from tests.gfm import MENTION, REFERENCE, Page
from tests.markdown.hostile import hostile

PLACES = (
    "{}",
    "- {}",
    "> {}",
    "# {}",
    "1. {}",
    "**{}**",
    "[{}](https://t.example)",
    "| h |\n|---|\n| {} |",
    "a {} b",
    "- [ ] p-1: {}",
)


def words(text: str) -> str:
    return " ".join(clean(text).replace(BREAK, "").split())


def unlinked(text: str) -> Page:
    page = Page(text)
    page.links = [link for link in page.links if link != "https://t.example"]
    return page


@settings(max_examples=300, deadline=None)
@given(hostile, st.sampled_from(PLACES))
@example("`[a](x)` ![", "{}")
@example("1. - + x", "- {}")
@example("a |", "| h |\n|---|\n| {} |")
def test_literal_shows_the_same_words_and_does_nothing(text: str, place: str) -> None:
    assume(words(text))
    page = unlinked(place.format(literal(text)))
    assert page.visible == Page(place.format("QQQ")).visible.replace("QQQ", words(text))
    assert page.acting == page.links == page.comments == []
    assert page.boxes == ([False] if "[ ]" in place else [])
    assert page.tags <= Page(place.format("x")).tags


@settings(max_examples=200, deadline=None)
@given(hostile, hostile)
@example("@", "alice")
@example("#", "12")
@example("GH", "-7")
@example("&", "commat;alice")
@example("wow!", "[a](https://x.example)")
def test_two_values_side_by_side_are_as_inert_as_one(one: str, other: str) -> None:
    page = Page(literal(one) + literal(other))
    assert page.acting == []
    assert page.links == []
    assert page.boxes == []
    assert page.tags <= {"p"}


@given(hostile)
def test_literal_of_shown_words_shows_the_same_again(text: str) -> None:
    assert literal(one_line(text)) == literal(text)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("B21", "escaped `<a> as <area>`"),
        ("B21", "doubly escaped &lt;b&gt;"),
        ("B21", "<3 Deno"),
        ("C12", "@octo-team thanks @alice, mail a@b.example"),
        ("C13", "Fixes #12, closes o/r#5, https://github.com/o/r/issues/5 and GH-7"),
        ("C14", "[JIRA-1] rotate key"),
        ("C14", "](x)"),
        ("C17", "🧝 Déjà vu: e\u0301"),
        ("", "1986. A great year"),
        ("", "a_b_c and _d_, 2 * 3 * 4, ~~x~~, C#, $5 and $6"),
    ],
)
def test_titles_of_the_field_cases_read_as_they_were_written(case: str, text: str) -> None:
    page = Page(f"- [ ] <!-- hz:approve p-1 aa --> p-1: {literal(text)}")
    assert page.visible == f"p-1: {text}"
    assert page.acting == page.links == []
    assert page.boxes == [False]


def test_a_number_is_not_made_ugly() -> None:
    assert literal("0.84 USD") == "0.84 USD"
    assert literal("1. x") == "1\\. x"


@given(hostile)
def test_a_title_that_is_no_markdown_is_inert_as_it_stands(text: str) -> None:
    title = one_line(text)
    assert not MENTION.search(title)
    assert not REFERENCE.search(title)
    assert "\n" not in title
    assert one_line(title) == title


def test_a_terminal_gets_no_escape_sequence() -> None:
    assert plain("a\x1b[31m\r\nb\u202e\x9b1m") == "a[31m b1m"


def test_joiners_stay_where_a_script_or_an_emoji_needs_them() -> None:
    assert (
        clean("\u0645\u06cc\u200c\u062e \U0001f9d1\u200d\U0001f4bb a\u200db\u200d")
        == "\u0645\u06cc\u200c\u062e \U0001f9d1\u200d\U0001f4bb ab"
    )


def test_a_block_keeps_its_lines_and_paragraphs() -> None:
    page = Page(literal_block("- one\n@two\r\n\n\n# three"))
    assert page.html.count("<p>") == 2
    assert page.html.count("<br />") == 1
    assert page.visible == "- one @two# three" or page.visible.split() == ["-", "one", "@two", "#", "three"]
    assert page.acting == []


def test_a_value_that_is_an_address_works_as_one() -> None:
    page = Page(f"[{value('A [b]')}]({value('https://x.example/a b')})")
    assert page.links == []
    page = Page(f"[{value('A [b]')}]({value('https://x.example/a_(b)?c=1&d=2#e')})")
    assert page.links == ["https://x.example/a_%28b%29?c=1&d=2#e"]
    assert page.visible == "A [b]"


@given(hostile)
def test_code_is_one_span_with_the_same_words(text: str) -> None:
    page = Page(code(text))
    if words(text):
        assert page.visible == words(text)
        assert page.html.count("<code>") == 1
    assert page.tags <= {"p", "code"}
