"""What a tick asks about open proposals: nothing where only time passes, and the answer is the same when it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hz_team import docket
from hz_team.model.observation import Heard
from hz_team.model.proposal import APPROVED, AWAITING, QUIET, UNKNOWN
from tests.team import HOUR, MONDAY, Team, job, yes

if TYPE_CHECKING:
    from pathlib import Path

UNTIL = MONDAY + HOUR
TRIED = {"at": MONDAY, "until": UNTIL, "generation": 2}
FAILED = {"at": MONDAY, "part": 0, "error": "no", "left": 0}


@pytest.mark.parametrize(
    ("state", "attempted", "now", "calm", "settle"),
    [
        (AWAITING, {}, MONDAY + HOUR, True, ()),
        (UNKNOWN, FAILED, MONDAY + HOUR, True, ()),
        (APPROVED, TRIED, UNTIL + QUIET - 1, True, ()),
        (APPROVED, TRIED, UNTIL + QUIET, False, ("news",)),
        (APPROVED, {**TRIED, "until": 0}, MONDAY, False, ("news",)),
        (APPROVED, FAILED, MONDAY, False, ()),
        (APPROVED, {}, MONDAY, False, ("news",)),
    ],
)
def test_what_is_asked_about(
    state: str, attempted: dict[str, int], now: int, settle: tuple[str, ...], tmp_path: Path, *, calm: bool
) -> None:
    team = Team(tmp_path, {"news": job()})
    team.tick(MONDAY - HOUR)
    team.tick(MONDAY)
    one = team.only()._replace(state=state, attempted=attempted)
    said = yes(one, "local:mona", MONDAY).answers
    one = one._replace(answers=said if state != AWAITING else ())
    view = team.view()._replace(proposals={one.id: one})
    world = team.world(now)
    plain = docket.call(world, view, Heard(), now)
    asked = docket.call(world, view, Heard(retries=(("links", "local:mona"),)), now)  # somebody says something else
    assert (plain.question is None, plain.settle, asked.settle) == (calm, settle, settle)
    assert list(plain.counting) == list(asked.counting) == [one.id] * (state != AWAITING)
