from __future__ import annotations

import pytest
from hypothesis import given, settings

from hz_team.markdown import fence, normal, same, sealed, strip_markers
from hz_team.markdown.block import live
from tests.gfm import Page
from tests.markdown.hostile import hostile


@pytest.mark.parametrize(
    "text",
    [
        "```\nX\n```",
        "~~~~\n~~~\nX\n~~~~",
        "> X",
        "- > X",
        "  > X",
        "<!--\nX\n-->",
        "<pre>\n\nX\n\n</pre>",
        "<details>\nX",
        "- a\n  ```\n  X\n  ```",
        "1. ```\n   X",
        "<b>\nX",
    ],
)
def test_a_line_that_is_quoted_or_code_or_raw_html_is_not_live(text: str) -> None:
    assert not [line for line in live(f"{text}\n") if "X" in line]


@pytest.mark.parametrize(
    "text",
    [
        "X",
        "```\na\n```\nX",
        "> a\n\nX",
        "<!-- a -->\nX",
        "<details>\n\nX",
        "- ```\nX",
        "<b>a</b> c\nX",
        "- a\n  <details><summary>s</summary><pre>a\n  b</pre></details>\nX",
        "    ```\nX",
    ],
)
def test_a_line_of_the_page_itself_is_live(text: str) -> None:
    assert [line for line in live(f"{text}\n") if "X" in line] == ["X"]


@settings(max_examples=300, deadline=None)
@given(hostile)
def test_a_fence_holds_what_is_in_it(text: str) -> None:
    page = Page(f"{fence(text)}\n\n- [ ] a")
    assert page.boxes == [False]
    assert page.tags == {"pre", "code", "ul", "li", "input"}
    assert page.comments == []


@pytest.mark.parametrize(
    "text",
    ["a\n```\nb", "~~~~\nb", "<pre>\nb", "<script>\n", "<!-- b", "<?php", "   ```\nb", "<![CDATA[ b", "<details>"],
)
def test_what_a_body_leaves_open_is_closed(text: str) -> None:
    page = Page(f"{sealed(text)}\n<!-- hz:end -->\n\n- [ ] a")
    assert page.boxes == [False]


@pytest.mark.parametrize(
    "text", ["- ```\n  b", "> ```\n> b", "- a\nlazy\n  ```\n  b", "1. a\n\n   ~~~\n   b", "<b>x</b>\n"]
)
def test_what_ends_by_itself_is_not_closed_again(text: str) -> None:
    assert sealed(text) == text.strip("\n")
    assert Page(f"{sealed(text)}\n<!-- hz:end -->\n\n- [ ] a").boxes == [False]


def test_only_our_markers_are_taken_from_a_persons_text() -> None:
    text = "a\n<!-- hz:end -->\nb <!-- hz:approve p-1 aa --> c\n<!-- mine -->\n- [x] <b>d</b> @e"
    assert strip_markers(text) == "a\nb  c\n<!-- mine -->\n- [x] <b>d</b> @e"


@pytest.mark.parametrize(
    "text", ["<!<!-- hz:a -->-- hz:approve p-1 -->", "<!-- hz:approve p-1", "<!--hz:end-->", "<!-- hz:a\nb -->"]
)
def test_no_marker_survives_however_it_is_nested(text: str) -> None:
    assert "hz:" not in strip_markers(text)


def test_line_ends_make_no_difference() -> None:
    assert same("a\r\nb\r\n", "a\nb")
    assert same("a\rb\n\n", "a\nb\n")
    assert not same("a\nb", "a\n\nb")
    assert normal("a\r\nb") == "a\nb\n"
