"""What doctor makes of what it found: levels, words, and what to do."""

from __future__ import annotations

import pytest

from hz_team import health
from hz_team.health import BROKEN, LOOK, OK, Beat, Owed
from hz_team.model.job import Finding
from hz_team.ports import Guard, Standing

NOW = 1_796_029_200
"""Monday 30 November 2026, 09:00 UTC."""
HOUR, DAY = 3600, 86400


def standing(mode: str = "full", *, generation: int = 3, at: int = NOW - 180, end: int = NOW + 600) -> Standing:
    holder = "ann@3fe1/771" if mode else ""
    return Standing("news", "refs/hz/lease/job/news", holder, mode, generation, at, end, commit="c" * 40)


def told(*leases: Standing, knows: int = 3) -> list[tuple[str, str]]:
    found = health.leases(leases, {"news": knows}, NOW, "UTC")
    return [(one.level, one.text) for one in found if one.subject == "lease"]


def test_whose_the_state_is() -> None:
    pairs = [("acme/x", "acme/x"), ("acme/x", "local"), ("local", "acme/x"), ("local", "local"), ("acme/x", "bob/x")]
    found = [health.owner(*pair) for pair in pairs]
    assert [one.level for one in found] == [OK, OK, OK, OK, BROKEN]
    assert found[-1].text.startswith(
        "hz-state belongs to acme/x, and in bob/x nothing is done: that is right in a fork"
    )


@pytest.mark.parametrize(
    ("here", "level", "text"),
    [
        (NOW, OK, "0 seconds from the server's"),
        (NOW + 60, OK, "60 seconds from the server's"),
        (NOW - 1, OK, "1 second from the server's"),
        (NOW + 61, BROKEN, "61 seconds ahead of the server's: set this machine's clock"),
        (NOW - 2 * DAY, BROKEN, "2 days behind the server's: set this machine's clock"),
    ],
)
def test_a_clock_that_is_off(here: int, level: str, text: str) -> None:
    found = health.clock(NOW, here)
    assert (found.level, found.text.partition(";")[0]) == (level, text)


def test_a_server_without_a_clock() -> None:
    found = health.clock(None, NOW)
    assert (found.level, found.text) == (OK, "not known: the server does not say what time it is")


def test_leases_as_they_should_be() -> None:
    assert told() == [(OK, "none")]
    assert told(standing("free")) == [(OK, "1 lease free")]
    held = (OK, "news: held by ann@3fe1/771 until 30 Nov 09:10 UTC, renewed 3 minutes ago")
    assert told(standing(), standing("free"), standing("free")) == [held, (OK, "2 leases free")]
    assert told(standing("split")) == [held]


def test_a_lease_that_is_just_over_may_still_be_held() -> None:
    assert health.is_live(standing(end=NOW - 60), NOW)
    assert told(standing(end=NOW - 60))[0][0] == OK


def test_a_stuck_lease_is_taken_over_by_itself() -> None:
    ((level, text),) = told(standing(end=NOW - 3 * HOUR))
    assert level == LOOK
    assert text == (
        "news: held by ann@3fe1/771 and over for 3 hours, never given back; the next tick takes it over, "
        "`hz-team doctor --repair` frees it"
    )


def test_a_lease_that_nobody_can_use_is_repaired() -> None:
    ((level, text),) = told(standing("", generation=0, end=0))
    assert level == BROKEN
    assert text == (
        "news: refs/hz/lease/job/news at cccccccccccc holds nothing that this hz-team can read; "
        "`hz-team doctor --repair` puts a new one there"
    )
    (old, _) = told(standing("free", generation=2))
    assert old[0] == BROKEN
    assert "its lease is of generation 2, and the state knows of 3; `hz-team doctor --repair`" in old[1]


def test_an_old_lease_that_is_held_is_repaired_later() -> None:
    ((level, text),) = told(standing(generation=2))
    assert level == BROKEN
    assert text.endswith("it is held by ann@3fe1/771 until 30 Nov 09:10 UTC: repair it after that")


def test_the_last_runs_newest_first_and_only_some_of_them() -> None:
    beats = [Beat(f"mona@{n}", NOW - n * HOUR, "local", "0.1") for n in range(2, 9)]
    texts = [one.text for one in health.fleet(reversed(beats), None, NOW, "UTC")]
    assert texts[0] == "mona@2 (local, hz-team 0.1) ran 2 hours ago"
    assert (len(texts), texts[-1]) == (6, "and 2 more")
    assert [one.text for one in health.fleet([Beat("x@y", NOW)], None, NOW, "UTC")] == ["x@y ran just now"]


@pytest.mark.parametrize(
    ("ran", "since", "level"),
    [
        (2 * DAY, HOUR, LOOK),
        (2 * DAY, DAY + 1, BROKEN),
        (DAY, 2 * DAY, ""),
        (None, DAY + 1, LOOK),
        (2 * DAY, None, ""),
    ],
)
def test_nobody_has_run_although_something_is_due(ran: int | None, since: int | None, level: str) -> None:
    beats = [] if ran is None else [Beat("mona@1", NOW - ran), Beat("ann@2", NOW - ran - DAY)]
    owed = None if since is None else Owed("news", NOW - since)
    found = [one for one in health.fleet(beats, owed, NOW, "UTC") if one.level != OK]
    assert [one.level for one in found] == [level] * bool(level)
    if ran and found:
        assert found[0].text.startswith("no helper has run since 28 Nov 09:00 UTC, and news is due since ")
    if ran is None:
        assert found[0].text.startswith(
            "no helper has run yet, and news is due since 29 Nov 08:59 UTC: run `hz-team tick`"
        )


def test_a_heartbeat_of_another_shape_is_left_out() -> None:
    wrong: list[object] = [None, [], {}, {"at": "now"}, {"at": True}, {"at": 0}]
    assert [health.beat_from("x", one) for one in wrong] == [None] * 6
    assert health.beat_from("x", {"at": 5, "kind": "actions", "hz": None}) == Beat("x", 5, "actions", "")


def test_files_that_are_wrong_are_counted() -> None:
    wrong = (Finding("a.yaml", 1, "x"), Finding("a.yaml", 2, "x"), Finding("b.yaml", 2, "x", "warning"))
    assert health.files(wrong[2:], 1) == (OK, "files", "1 helper, all files read")
    found = health.files(wrong, 1)
    assert found.level == BROKEN
    assert found.text.startswith("2 errors in 1 file, and what stands there waits: `hz-team validate`")


@pytest.mark.parametrize(
    ("guard", "embedded", "level", "says"),
    [
        (None, False, OK, "cannot be asked here"),
        (Guard(rewriting=True, removal=True), False, OK, "no push can rewrite or remove hz-state"),
        (Guard(rewriting=True, removal=False), True, OK, "no push can rewrite hz-state"),
        (
            Guard(rewriting=True, removal=False),
            False,
            LOOK,
            "can be removed by whoever may push: `git -C /x config",
        ),
        (
            Guard(rewriting=False, removal=True),
            False,
            LOOK,
            "can be rewritten by whoever may push: `git -C",
        ),
        (Guard(rewriting=False, removal=False), False, LOOK, "can be rewritten or removed by"),
        (Guard(rewriting=False, removal=False), True, LOOK, "can be rewritten by"),
    ],
)
def test_how_the_branch_is_guarded(guard: Guard | None, embedded: bool, level: str, says: str) -> None:  # noqa: FBT001
    found = health.guard(guard, "/x", embedded=embedded)
    assert (found.level, says in found.text) == (level, True), found


def test_a_weaker_guarantee_is_named() -> None:
    assert [health.atomic(can=can).level for can in (True, None, False)] == [OK, OK, LOOK]
    assert (
        "no atomic pushes: leases are renewed first and another tick may come between" in health.atomic(can=False).text
    )


@pytest.mark.parametrize(
    "said",
    [
        "https://x: the repository refused the record: pre-receive hook declined; let this account write refs/x",
        "https://x: the repository refused the record: push declined due to repository rule violations; remote: GH013",
        "https://x: the repository refused the record: protected branch hook declined; let this account write refs/x",
    ],
)
def test_a_rule_that_refuses_the_branch_leaves_three_ways(said: str) -> None:
    found = health.refused(said)
    assert (found.level, found.text.count("; let this account write")) == (BROKEN, 0)
    for way in (
        "bypass the rule for refs/heads/hz-state",
        "`state: {repository: owner/name}`",
        "leave hz-state out of",
    ):
        assert way in found.text


def test_a_right_that_is_missing_is_said_as_it_is() -> None:
    said = "https://x: the repository refused the record: error: 403; this account may not write"
    assert health.refused(said) == (BROKEN, "write", said)


def test_git_and_containment() -> None:
    assert [health.git(one).level for one in ((), (2, 30, 9), (2, 31), (3,))] == [LOOK, BROKEN, OK, OK]
    assert health.git((2, 39, 5)).text == "version 2.39.5"
    assert [health.containment(one).level for one in ("none", "landlock-4")] == [LOOK, OK]


def test_lengths_of_time() -> None:
    spans = [health.span(seconds) for seconds in (0, 1, 119, 120, 7199, 7200, 2 * DAY - 1, 2 * DAY)]
    assert spans == [
        "0 seconds",
        "1 second",
        "119 seconds",
        "2 minutes",
        "119 minutes",
        "2 hours",
        "47 hours",
        "2 days",
    ]


def test_a_repository_is_the_same_however_it_is_spelled() -> None:
    assert health.owner("Acme/Housework", "acme/housework").level == health.OK
    assert health.owner("acme/housework", "someone/housework").level == health.BROKEN
