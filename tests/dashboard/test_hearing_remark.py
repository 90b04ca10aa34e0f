"""Comments and closed pages as answers."""

from __future__ import annotations

import pytest

from hz_team.dashboard import hearing
from hz_team.dashboard.hearing import Speaker
from hz_team.model.job import Index
from hz_team.model.observation import Heard
from hz_team.model.state import View

OPEN = "p-3f9c21ab"
MONA = Speaker("mona", "write", 1_000, "https://github.example/acme/housework/issues/4#issuecomment-1")
EMPTY = Index("", 0)


def remark(text: str, page: str = OPEN, who: Speaker = MONA, doubt: str = "") -> Heard:
    return hearing.remark(page, text, who, doubt, config=EMPTY)


def test_an_answer_names_who_how_and_where_it_can_be_read_again() -> None:
    (answer,) = remark("/hz reject not this week").answers
    assert (answer.proposal, answer.verb, answer.by, answer.role) == (OPEN, "reject", "mona", "write")
    assert (answer.via, answer.at, answer.ref, answer.note) == ("comment", 1_000, MONA.ref, "not this week")


def test_what_is_in_doubt_is_refused_with_the_reason() -> None:
    heard = remark("/hz approve", doubt="it was edited")
    assert (heard.answers, heard.refused) == ((), ("mona: it was edited",))


def test_words_that_ask_for_nothing_are_nothing() -> None:
    assert remark("I like it", doubt="it was edited") == Heard()


@pytest.mark.parametrize("text", ["/hz pause", "/hz run news", "/hz retry news"])
def test_who_may_not_write_steers_nothing(text: str) -> None:
    heard = remark(text, "dashboard", Speaker("bob", "read", 1))
    assert heard == Heard(refused=("bob: bob may read but not write here",))


def test_pause_and_resume() -> None:
    assert remark("/hz pause", "dashboard").pause == (True, "mona")
    assert remark("/hz resume", "dashboard").pause == (False, "mona")


def test_an_unknown_helper_is_said() -> None:
    assert "no helper called nwes" in remark("/hz run nwes", "dashboard").refused[0]


def test_whoever_closes_the_dashboard_pauses_everything() -> None:
    assert hearing.closed("dashboard", MONA, View("")).pause == (True, "mona")
    assert hearing.closed("dashboard", MONA, View("", paused={"by": "x"})).pause is None
    assert hearing.closed("dashboard", Speaker("bob", "none", 1), View("")).pause is None
