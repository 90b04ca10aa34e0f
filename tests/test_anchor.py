"""Who vouches for a longer ledger than the one that stands there."""

from __future__ import annotations

import pytest

from hz_team.anchor import Chain, Witness, behind, shorter, told
from hz_team.model.state import Anchor, Folded, Position, View

HEAD, OTHER = "a" * 64, "b" * 64
HERE = View("t", count=5, head=HEAD, era=1, positions={"news": Position("news", seq=4)}, folded={"old": Folded(3, "x")})


@pytest.mark.parametrize(
    "anchor",
    [
        Anchor(),
        Anchor(1, 5, HEAD),
        Anchor(1, 5, HEAD[:12]),
        Anchor(1, 5),
        Anchor(1, 4, OTHER),
        Anchor(0, 5, OTHER),
        Anchor(0, 500, OTHER),
    ],
)
def test_who_has_seen_no_more_contradicts_nothing(anchor: Anchor) -> None:
    assert behind(HERE, [Witness("the dashboard", anchor, follows=True), Witness("a lease", anchor)]) == ()


@pytest.mark.parametrize(
    ("anchor", "said"),
    [
        (Anchor(1, 6, OTHER), "6 receipts (head bbbbbbbbbbbb), the ledger has 5"),
        (Anchor(1, 1200), "1,200 receipts, the ledger has 5"),
        (Anchor(1, 5, OTHER), "the head bbbbbbbbbbbb, the ledger has aaaaaaaaaaaa"),
        (
            Anchor(2, 1, OTHER),
            "1 receipt after 2 accepted losses (head bbbbbbbbbbbb), the ledger has 5 and is from before that",
        ),
        (
            Anchor(2, 9),
            "9 receipts after 2 accepted losses, the ledger has 5 and is from before that",
        ),
    ],
)
def test_who_has_seen_more_is_named(anchor: Anchor, said: str) -> None:
    witnesses = [Witness("the dashboard", Anchor(1, 3)), Witness("somebody", anchor)]
    assert behind(HERE, witnesses) == (f"somebody vouches for {said}",)


def test_a_history_that_is_gone_is_named_unless_its_loss_was_accepted() -> None:
    seen = Anchor(1, 4, OTHER)
    (said,) = behind(HERE, [Witness("this machine", seen, follows=False)])
    assert said == "this machine saw 4 receipts (head bbbbbbbbbbbb) on a history that hz-state does not have any more"
    assert behind(HERE, [Witness("this machine", seen._replace(era=0), follows=False)]) == ()
    assert behind(HERE, [Witness("this machine", seen, follows=None)]) == ()


def test_a_chain_that_ends_before_its_lease_says_is_named() -> None:
    chains = [Chain("news", 4, 1), Chain("news", 9, 0), Chain("old", 3, 1), Chain("nobody", 0, 1)]
    assert shorter(HERE, chains) == ()
    assert shorter(HERE, [Chain("news", 5, 1), Chain("old", 7, 2), Chain("nobody", 1, 1)]) == (
        "news: its lease knows of 5 receipts, its chain has 4: receipt 5 is missing",
        "old: its lease knows of 7 receipts, its chain has 3: receipts 4 to 7 are missing",
        "nobody: its lease knows of 1 receipt, its chain has 0: receipt 1 is missing",
    )


def test_an_anchor_in_words() -> None:
    words = [told(Anchor(era, count)) for era, count in ((0, 1284), (1, 1), (3, 0))]
    assert words == ["1,284 receipts", "1 receipt after 1 accepted loss", "0 receipts after 3 accepted losses"]
