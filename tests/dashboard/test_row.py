from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hz_team import fingerprint
from hz_team.dashboard import row
from hz_team.dashboard.row import Row, Tick
from hz_team.markdown import literal
from tests.gfm import Page
from tests.markdown.hostile import hostile

MARK = "<!-- hz:approve p-1 aa -->"
ROW = Row("approve", "p-1", "aa")

ids = st.from_regex(r"p-[0-9a-f]{8}", fullmatch=True)
digests = st.from_regex(r"[0-9a-f]{12}", fullmatch=True)
placed = st.builds(Row, st.sampled_from(["approve", "reject", "run", "retry"]), ids, digests, st.booleans())
pages = st.lists(st.tuples(placed, hostile, hostile), max_size=8, unique_by=lambda one: one[0][:2])


def page(rows: list[tuple[Row, str, str]]) -> str:
    return "\n".join(row.draw(one, f"**x** {literal(title)}", literal(note)) for one, title, note in rows)


@given(pages)
def test_what_is_drawn_is_read(rows: list[tuple[Row, str, str]]) -> None:
    text = page(rows)
    assert row.rows(text) == tuple(one for one, _, _ in rows)
    assert Page(text).boxes == [one.ticked for one, _, _ in rows]
    assert row.read(text, text) == ()
    assert row.read(text.replace("\n", "\r\n"), text) == ()


@given(pages, st.data())
def test_one_changed_character_is_one_tick(rows: list[tuple[Row, str, str]], data: st.DataObject) -> None:
    if not rows:
        return
    drawn = page(rows)
    chosen = data.draw(st.sampled_from([one for one, _, _ in rows]))
    tick = Tick(chosen.verb, chosen.subject, chosen.digest, ticked=not chosen.ticked)
    stored = row.with_boxes(drawn, [tick])
    assert sum(a != b for a, b in zip(stored, drawn, strict=True)) == 1
    assert row.read(stored, drawn) == (tick,)


@pytest.mark.parametrize(
    ("line", "ticked"),
    [
        ("- [x] {}", True),
        ("- [X] {}", True),
        ("* [x] {}", True),
        ("+ [x] {}", True),
        ("1. [x] {}", True),
        ("1) [x] {}", True),
        ("  - [x] {}", True),
        ("   - [x] {}", True),
        ("-    [x] {}", True),
        ("-\t[x] {}", True),
        ("- [x]\t{}", True),
        ("- [ ] {}", False),
        ("- [x]{}", None),
        ("- [ x ] {}", None),
        ("-[x] {}", None),
        ("- [v] {}", None),
        ("- [] {}", None),
        ("    - [x] {}", None),
        ("-     [x] {}", None),
        ("\t- [x] {}", None),
        ("\\- [x] {}", None),
        ("- \\[x] {}", None),
        ("> - [x] {}", None),
        ("[x] {}", None),
        ("`- [x] {}`", None),
        ("```\n- [x] {}\n```", None),
        ("~~~\n- [x] {}", None),
        ("<pre>\n- [x] {}\n</pre>", None),
        ("<!--\n- [x] {} ", None),
        ("- a\n  ```\n- [x] {}", True),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_box_is_what_github_takes_for_one(line: str, ticked: bool | None, ends: str) -> None:  # noqa: FBT001
    """C09, C10."""
    text = f"a\n\n{line.format(MARK)} yes\n".replace("\n", ends)
    quoted = line.startswith(">")  # GitHub shows a box in a quotation, but it is somebody else's
    if not quoted:
        assert Page(text).boxes == ([] if ticked is None else [ticked])
    assert [one.ticked for one in row.rows(text)] == ([] if ticked is None else [ticked])


def test_mixed_line_ends_keep_ids_clean_and_the_fingerprint() -> None:
    """C09."""
    drawn = f"- [ ] {MARK} a\n- [ ] <!-- hz:retry links 3 --> b\n"
    stored = f"- [x] {MARK} a\r\n- [ ] <!-- hz:retry links 3 --> b\n"
    assert row.read(stored, drawn) == (Tick("approve", "p-1", "aa", ticked=True),)
    assert fingerprint.page(drawn.replace("\n", "\r\n")) == fingerprint.page(drawn)
    assert fingerprint.page(stored) != fingerprint.page(drawn)


def test_an_untick_is_told_as_well() -> None:
    drawn = row.draw(ROW._replace(ticked=True), "a")
    assert row.read(row.draw(ROW, "a"), drawn) == (Tick("approve", "p-1", "aa", ticked=False),)


def test_a_row_that_was_not_drawn_never_counts() -> None:
    drawn = row.draw(ROW, "a")
    forged = row.draw(Row("approve", "p-2", "bb", ticked=True), "b")
    assert row.read(f"{drawn}\n{forged}", drawn) == ()
    assert row.read(f"{drawn}\n{forged.replace('approve', 'conquer')}", drawn) == ()


def test_a_doubled_row_voids_both() -> None:
    drawn = row.draw(ROW, "a")
    stored = drawn.replace("[ ]", "[x]")
    assert row.read(f"{stored}\n{stored}", drawn) == ()
    assert row.read(f"{stored}\n{stored.replace(' aa ', ' bb ')}", drawn) == ()
    assert row.read(f"{stored}\n\n> {stored}\n\n```\n{stored}\n```", drawn) == (
        Tick("approve", "p-1", "aa", ticked=True),
    )


def test_a_tick_for_another_digest_is_stale() -> None:
    stored, drawn = row.draw(ROW._replace(ticked=True), "a"), row.draw(ROW._replace(digest="bb"), "a")
    assert row.read(stored, drawn) == (Tick("approve", "p-1", "aa", ticked=True, stale=True),)
    assert row.read(row.draw(ROW, "a"), drawn.replace("[ ]", "[x]")) == ()


def test_approve_all_stands_for_the_rows_it_was_drawn_for() -> None:
    listed = [ROW, Row("approve", "p-2", "bb"), Row("approve", "p-3", "cc", ticked=True), Row("run", "job")]
    every = row.approve_all(listed)
    assert every.subject == "2"
    drawn = "\n".join(row.draw(one, "a") for one in [*listed, every])
    stored = row.with_boxes(drawn, [Tick(*every[:3], ticked=True)])
    assert row.read(stored, drawn) == (
        Tick("approve-all", "2", every.digest, ticked=True),
        Tick("approve", "p-1", "aa", ticked=True, by_all=True),
        Tick("approve", "p-2", "bb", ticked=True, by_all=True),
    )


def test_new_rows_void_approve_all() -> None:
    two, three = [ROW, Row("approve", "p-2", "bb")], [ROW, Row("approve", "p-2", "bb"), Row("approve", "p-3", "cc")]
    old = "\n".join(row.draw(one, "a") for one in [*two, row.approve_all(two)])
    new = "\n".join(row.draw(one, "a") for one in [*three, row.approve_all(three)])
    stored = row.with_boxes(old, [Tick(*row.approve_all(two)[:3], ticked=True)])
    assert [(tick.verb, tick.stale) for tick in row.read(stored, new)] == [("approve-all", True)]


def test_a_no_beside_approve_all_is_left_to_the_rules() -> None:
    listed = [ROW, Row("approve", "p-2", "bb")]
    drawn = "\n".join(row.draw(one, "a") for one in [*listed, row.approve_all(listed)])
    stored = drawn.replace("[ ]", "[x]")
    assert [(tick.subject, tick.by_all) for tick in row.read(stored, drawn) if tick.verb == "approve"] == [
        ("p-1", False),
        ("p-2", False),
    ]


def test_boxes_are_carried_over_only_where_they_bind_to_the_same() -> None:
    fresh = f"{row.draw(ROW, 'a')}\n{row.draw(Row('approve', 'p-2', 'cc'), 'b')}\n"
    ticks = [Tick("approve", "p-1", "aa", ticked=True), Tick("approve", "p-2", "bb", ticked=True)]
    assert row.with_boxes(fresh, ticks) == fresh.replace("- [ ] <!-- hz:approve p-1", "- [x] <!-- hz:approve p-1")
    assert row.with_boxes(fresh, []) == fresh


@settings(max_examples=200)
@given(hostile, hostile)
def test_no_foreign_text_around_a_row_makes_another(before: str, after: str) -> None:
    drawn = f"- a {literal(before)}\n{row.draw(ROW, literal(after))}\n"
    assert row.rows(drawn) == (ROW,)
