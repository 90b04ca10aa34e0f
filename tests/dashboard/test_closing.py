"""A decision's page after the decision."""

from __future__ import annotations

from hz_team.dashboard import row
from hz_team.dashboard.closing import NOTHING, closed

OPEN = """\
<!-- hz:proposal p-3f9c21ab 5d41402abc4b -->
**A helper wrote this for you.** If you say yes, it goes out.

- [ ] <!-- hz:approve p-3f9c21ab 5d41402abc4b --> Yes, publish it
- [ ] <!-- hz:reject p-3f9c21ab 5d41402abc4b --> No

---

<!-- hz:draft -->
### Digest

- one
---
- two
<!-- hz:end -->

---

By phone: comment `/hz approve`.

<details><summary>Where it comes from</summary>

Draft `5d41402abc4b`.

</details>

- [ ] <!-- hz:always p-3f9c21ab 5d41402abc4b --> Yes, and stop asking
"""


def test_what_became_of_it_stands_first_and_no_box_is_left() -> None:
    text = closed(OPEN, "Published #415: Digest, approved by octocat")
    first, second, *_ = text.split("\n")
    assert first == "<!-- hz:proposal p-3f9c21ab 5d41402abc4b -->"
    assert second.startswith("**Published #415" if "\\#" not in second else "**Published")
    assert row.rows(text) == ()
    assert "- one\n---\n- two" in text
    assert "Where it comes from" in text
    assert "By phone" not in text


def test_without_words_it_says_that_nothing_is_left() -> None:
    assert NOTHING in closed(OPEN, "")


def test_a_page_that_was_torn_apart_is_closed_all_the_same() -> None:
    assert row.rows(closed("- [ ] <!-- hz:approve p-3f9c21ab 5d41402abc4b --> Yes", "Rejected")) == ()


def test_closing_twice_changes_nothing_more() -> None:
    once = closed(OPEN, "Rejected")
    assert closed(once, "Rejected") == once
