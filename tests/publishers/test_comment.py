from __future__ import annotations

from pathlib import Path

import pytest

from hz_team.adapters.local import LocalForge
from hz_team.errors import PublishRefused
from hz_team.markdown import code
from hz_team.model.draft import Draft
from hz_team.publishers import comment
from tests.publishers.sample import DRAFTS, part_of, tools_of

FOUR = tuple({"target": f"#{number}"} for number in (7, 9, 11, 13))


def test_words() -> None:
    assert comment.words(DRAFTS["comment"].payload()) == "comments on #7"
    assert comment.words(Draft("comment", "#7", "t", "", parts=FOUR).payload()) == "comments on 4 issues"


def test_becomes_shows_numbers_that_refer_to_nothing() -> None:
    told = comment.becomes(DRAFTS["comment"].payload())
    assert told == f"exactly the text between the lines becomes a comment on {code('#7')}"
    assert "#7" not in told
    four = comment.becomes(Draft("comment", "#7", "t", "", parts=FOUR).payload())
    assert four.startswith("exactly the 4 texts between the lines become comments on `")
    assert four.count("`") == 8


@pytest.mark.parametrize("target", ["#7", "acme/garden#12"])
def test_it_goes_under_the_issue_it_names(target: str, tmp_path: Path) -> None:
    part = part_of("comment", target=target)
    assert comment.publish(part, tools_of(LocalForge(str(tmp_path)))) == "comment-1"
    text = (tmp_path / ".hz/local/outbox/comment-1.md").read_text(encoding="utf-8")
    assert text == f'---\ntarget: "{target}"\n---\n<!-- hz:key {part.key} -->\n\nQuiet since June.\n'


@pytest.mark.parametrize("target", ["", "7", "#0", "#7 ", "#\u0667", "here", "../x#7", "a/b/c#7", "#7\n"])
def test_a_target_that_is_no_issue_is_refused(target: str, tmp_path: Path) -> None:
    with pytest.raises(PublishRefused, match="is no issue"):
        comment.publish(part_of("comment", target=target), tools_of(LocalForge(str(tmp_path))))
    assert not list(tmp_path.iterdir())
