from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from hz_team.markdown import clean, neutralise
from hz_team.markdown.text import BREAK
from tests.gfm import Page
from tests.markdown.hostile import hostile


@settings(max_examples=600, deadline=None)
@given(hostile)
@example("  ```\nfoo\n```\n@alice\n```\n")
@example("~~~ `\nfoo\n~~~\n@alice")
@example("- ```\n```\n@alice")
@example("> ```\n@alice")
@example("`a | <b>`\n|---|---|")
@example("`\n`<b>`")
@example("[a](https://github.com/o/r/issues/1)")
@example("<https://github.com/o/r/issues/1>")
@example("Fixes #&#49;2 GH\\-7 GH&#45;7 @&#97;lice &commat;bob")
@example("[@alice]\n\n[@alice]: https://x.example '#12'")
def test_nothing_in_a_foreign_body_acts(text: str) -> None:
    body = neutralise(text)
    page = Page(body)
    assert page.acting == []
    assert page.boxes == []
    assert page.comments == []
    assert page.tags.isdisjoint({"b", "script", "details", "img", "input"})
    assert all(link.startswith(("http://", "https://", "mailto:")) for link in page.links)
    assert neutralise(body) == body


@settings(max_examples=300, deadline=None)
@given(hostile)
def test_a_foreign_body_cannot_swallow_what_follows(text: str) -> None:
    page = Page(f"{neutralise(text)}\n<!-- hz:end -->\n\n- [ ] <!-- hz:approve p-1 aa --> yes\n")
    assert page.boxes == [False]
    assert page.comments == [" hz:end ", " hz:approve p-1 aa "]


def test_formatting_stays() -> None:
    text = "# A\n\n- *b* **c**\n  1. d\n\n> e ~~f~~\n\n| g | h |\n|---|---|\n| i | `j` |\n\n```python\n@k\n<l>\n```\n"
    assert neutralise(text) + "\n" == text


def test_code_in_a_fence_can_be_copied_but_our_marks_in_it_are_broken() -> None:
    body = neutralise("```sh x=\"@a\"\necho @alice '#12' <b>\n<!-- hz:end -->\n")
    assert body == f"```sh\necho @alice '#12' <b>\n<{BREAK}!-- hz:end -->\n```"


@pytest.mark.parametrize(
    ("text", "shown", "links"),
    [
        ("[docs](https://x.example/a)", "docs (x.example)", ["https://x.example/a"]),
        ("[x.example](https://x.example/a)", "x.example", ["https://x.example/a"]),
        ("[bank.example](https://evil.example)", "bank.example (evil.example)", ["https://evil.example"]),
        (
            "[evil.example.bank.example](https://evil.example)",
            "evil.example.bank.example (evil.example)",
            ["https://evil.example"],
        ),
        ("![a](https://t.example/p.png)", "a (t.example)", ["https://t.example/p.png"]),
        ("[![ci](https://i.example/b.svg)](https://ci.example/r)", "ci (ci.example)", ["https://ci.example/r"]),
        ("see https://x.example/a.", "see https://x.example/a.", ["https://x.example/a"]),
        ("(https://x.example/a_(b))", "(https://x.example/a_(b))", ["https://x.example/a_%28b%29"]),
        ("<https://x.example/a>", "https://x.example/a", ["https://x.example/a"]),
        ("www.x.example/a", "www.x.example/a", ["http://www.x.example/a"]),
        (
            "https://github.com/o/r/issues/5",
            "https://github.com/o/r/issues/5",
            ["https://redirect.github.com/o/r/issues/5"],
        ),
        ("[#5](https://github.com/o/r/pull/5)", "#5 (github.com)", ["https://redirect.github.com/o/r/pull/5"]),
        ("[j](javascript:x)", "[j](javascript:x)", []),
        ("[rel](../issues/1)", "[rel](../issues/1)", []),
        ("[a][1]\n\n[1]: https://x.example/y", "[a][1]\n[1]: https://x.example/y", ["https://x.example/y"]),
    ],
)
def test_web_links_work_and_show_their_host(text: str, shown: str, links: list[str]) -> None:
    page = Page(neutralise(text))
    assert page.visible == " ".join(shown.split())
    assert page.links == links
    assert page.acting == []


@pytest.mark.parametrize(
    "text",
    [
        "C12 @octo-team thanks @alice, `@bob` too",
        "C13 Fixes #12, closes o/r#5, GH-7, resolves: #3",
        "- [ ] a box\n- [x] another",
        "raw <b>bold</b> <!-- and hidden -->",
        "entities &lt;b&gt; &copy; AT&T",
        "mail a@b.example, 5 < 6 > 4",
    ],
)
def test_the_words_stay_as_they_were(text: str) -> None:
    body = neutralise(text)
    assert body.replace(BREAK, "") == text
    assert Page(body).acting == []


def test_controls_go() -> None:
    assert neutralise("a\u202eb\u200bc\x00\r\nd") == "abc\nd"
    assert clean("\u2028") == "\n"
