"""What an order's job is given to read."""

from __future__ import annotations

from hz_team import registry


def test_only_snapshots_of_feeds_hold_what_was_ever_listed() -> None:
    """A feed's item that is gone is only older than the snapshot reaches; a file that is gone is removed."""
    assert [kind for kind in ("feed", "files", "python", "github.pulls", "") if registry.accumulates(kind)] == ["feed"]
