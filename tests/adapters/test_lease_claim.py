"""Which leases of a claim can be taken: the table of what a lease says, what the time is, and what became of its run."""

from __future__ import annotations

from typing import Any

import pytest

from hz_team.adapters.lease_chain import Tip
from hz_team.adapters.lease_claim import Taker, end_of_runs, is_dead, is_free, wanted
from hz_team.adapters.lease_note import FREE, HELD, SPLIT, Note, read, written
from hz_team.errors import Behind
from hz_team.model.state import Anchor
from hz_team.ports import Claim, Known

NOW = 1_800_000_000
TTL = 900
HOUR = 3600


def taker(now: int = NOW, ended: int = 0, **more: Any) -> Taker:
    return Taker("ann", "7", 2, now, more.get("ours", lambda job, commit: False), lambda note: ended)


def note(mode: str = HELD, **more: Any) -> Note:
    return Note("ben", mode, 4, NOW + TTL, NOW)._replace(**more)


def claim(job: str = "digest", **more: Any) -> Claim:
    return Claim({job: more.pop("known", Known())}, NOW, TTL, **more)


RUN = {"run": "31", "attempt": 1, "hard": NOW + 6 * HOUR}
FREEDOM = {
    "given back": (note(FREE), NOW, 0, True),
    "alive": (note(), NOW + TTL, 0, False),
    "over, within the margin": (note(), NOW + TTL + 60, 0, False),
    "over": (note(), NOW + TTL + 61, 0, True),
    "its run ended just now": (note(run="31", attempt=1), NOW + 130, NOW + 70, False),
    "its run ended a minute ago": (note(run="31", attempt=1), NOW + 131, NOW + 70, True),
    "its run ended, on a machine that goes on": (note(run="31"), NOW + 131, NOW + 70, False),
    "taking turns on a machine of their own, over by its clock": (
        note(SPLIT, run="31", hard=NOW + 6 * HOUR),
        NOW + TTL + 61,
        0,
        False,
    ),
    "alive, of a run that nobody knows": (note(run="31"), NOW + TTL, 0, False),
    "over, of a run that nobody knows": (note(run="31"), NOW + TTL + 61, 0, True),
    "taking turns, over by its clock": (note(SPLIT, **RUN), NOW + TTL + 61, 0, False),
    "taking turns, at its hard end": (note(SPLIT, **RUN), NOW + 6 * HOUR + 60, 0, False),
    "taking turns, past its hard end": (note(SPLIT, **RUN), NOW + 6 * HOUR + 61, 0, True),
    "taking turns, its run ended": (note(SPLIT, **RUN), NOW + 131, NOW + 70, True),
    "taking turns without a run, over": (note(SPLIT, hard=NOW + 6 * HOUR), NOW + TTL + 61, 0, True),
}


@pytest.mark.parametrize("case", FREEDOM)
def test_when_a_lease_may_be_taken(case: str) -> None:
    said, now, ended, free = FREEDOM[case]
    assert is_free(said, NOW, taker(now, ended)) is free


def test_a_clock_that_is_late_takes_over_neither_by_time_nor_by_run_end() -> None:
    newest = NOW + TTL + 200
    assert not is_free(note(), newest, taker(newest - 61))
    assert is_free(note(), newest, taker(newest - 60))
    assert not is_free(note(run="31", attempt=1), NOW + 300, taker(NOW + 239, ended=NOW))
    assert is_free(note(FREE), newest, taker(NOW))


def test_a_run_is_asked_about_once_and_only_where_that_decides() -> None:
    asked: list[tuple[str, int]] = []

    class Runs:
        def state(self, run: str, attempt: int) -> tuple[str, int]:
            asked.append((run, attempt))
            return {"31": ("ended", NOW - 90), "32": ("running", 0), "33": ("unknown", 0)}[run]

    one = taker()._replace(ended=end_of_runs(Runs()))
    tips = {
        "a": Tip("a" * 40, note(run="31", attempt=1)),
        "b": Tip("b" * 40, note(run="31", attempt=1)),
        "c": Tip("c" * 40, note(run="32", attempt=2)),
        "d": Tip("d" * 40, note(SPLIT, run="33", attempt=1, hard=NOW + HOUR)),
        "e": Tip("e" * 40, note(FREE, run="34")),
        "f": Tip("f" * 40, note(run="35", expires_at=NOW - 61)),
        "g": Tip("g" * 40, note()),
        "not wanted": Tip("9" * 40, note(run="36")),
    }
    asking = Claim(dict.fromkeys("abcdefg", Known()), NOW, TTL)
    assert [want.job for want in wanted(asking, "abcdefg", tips, one)] == ["a", "b", "e", "f"]
    assert asked == [("31", 1), ("32", 2), ("33", 1)]


def test_what_is_taken_says_who_knows_what() -> None:
    ledger = Anchor(2, 40, "ab")
    tips = {"digest": Tip("a" * 40, note(FREE, generation=9, era=2, count=39, seq=5))}
    (want,) = wanted(claim(known=Known(7, 5), ledger=ledger, mode=SPLIT), ["digest"], tips, taker())
    assert (want.job, want.parent) == ("digest", "a" * 40)
    assert want.note == Note("ann", SPLIT, 10, NOW + TTL, NOW, 40, "ab", "", 2, 5, NOW + 6 * HOUR, "7", 2)
    (made,) = wanted(claim(known=Known(7, 5)), ["digest"], {}, taker())
    assert (made.parent, made.note.generation, made.note.hard) == ("", 8, 0)


LONGER: dict[str, tuple[dict[str, Any], str]] = {
    "the ledger": ({"count": 41}, "knows 41 receipts, the ledger read here has 40"),
    "the job's own part": ({"count": 40, "seq": 6}, "knows 6 receipts of its own, the ledger read here has 5"),
    "a later era": ({"era": 3}, "knows a ledger that a person accepted later .era 3; the one read here is of era 2."),
}


@pytest.mark.parametrize("case", LONGER)
def test_a_lease_that_knows_of_more_takes_nothing(case: str) -> None:
    more, said = LONGER[case]
    over = note(FREE, era=2)._replace(**more)
    tips = {"digest": Tip("a" * 40, over)}
    asking = claim(known=Known(7, 5), ledger=Anchor(2, 40, "ab"))
    with pytest.raises(Behind, match=said):
        wanted(asking, ["digest"], tips, taker())
    alive = {"digest": Tip("a" * 40, over._replace(mode=HELD))}
    assert wanted(asking, ["digest"], alive, taker()) == []


def test_a_lease_of_a_smaller_era_never_stands_in_the_way() -> None:
    tips = {"digest": Tip("a" * 40, note(FREE, era=1, count=900, seq=90))}
    assert wanted(claim(ledger=Anchor(2, 40, "ab")), ["digest"], tips, taker())


def test_a_push_of_ours_that_came_late_is_gone_on_from() -> None:
    tips = {"digest": Tip("a" * 40, note())}
    (want,) = wanted(claim(), ["digest"], tips, taker(ours=lambda job, commit: commit == "a" * 40))
    assert (want.parent, want.note.generation) == ("a" * 40, 5)


def test_what_goes_with_a_job_that_nobody_names() -> None:
    assert is_dead(Tip("a" * 40, note(FREE)), Known(4))
    assert not is_dead(Tip("a" * 40, note(FREE)), Known(3))
    assert not is_dead(Tip("a" * 40, note()), Known(9))
    assert not is_dead(Tip("a" * 40, None), Known(9))
    assert not is_dead(None, Known(9))


OLD = 'lease digest: held\n\n{"at": 1, "count": 2, "expires_at": 3, "generation": 4, "head": "ab", "holder": "ann", "mode": "full", "nonce": "f", "v": 1}\n'


def test_a_note_of_an_older_program_can_be_read() -> None:
    assert read(OLD) == Note("ann", HELD, 4, 3, 1, 2, "ab", "f")
    full = note(SPLIT, era=1, seq=2, **RUN)
    again = read(written("digest", full))
    assert again
    assert again._replace(nonce="") == full
    assert len(again.nonce) == 32


@pytest.mark.parametrize(
    "message",
    [
        "",
        "hello",
        "[]",
        "{}",
        "7",
        OLD.replace("full", "mine"),
        OLD.replace('"v": 1', '"v": 2'),
        OLD.replace('"v": 1', '"v": "1"'),
        OLD.replace('"generation": 4', '"generation": "4"'),
        OLD.replace('"count": 2', '"count": true'),
        OLD.replace('"holder": "ann"', '"holder": 7'),
        OLD.replace('"at": 1, ', ""),
    ],
)
def test_what_nobody_of_ours_wrote_is_no_note(message: str) -> None:
    assert read(message) is None
