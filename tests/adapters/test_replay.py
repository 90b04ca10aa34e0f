"""What of a record still holds on a branch that others moved: the rules, one by one."""

from __future__ import annotations

import json

import pytest

from hz_team import ledger
from hz_team.adapters.replay import Moved, Tree, replay
from hz_team.model.state import Position, View, document

NAME = "a" * 64
FACETS = f"facets/aa/{NAME}.json"
OLD = Tree(View("1" * 40), {"jobs/digest.json": "old", "cursors/w/k.json": "old", "proposals/p.json": "old"})


def paper(position: Position) -> bytes:
    return json.dumps(document(position)).encode()


def left(path: str, content: bytes | None, *, now: str = "old", leased: tuple[str, ...] = ("digest",)) -> object:
    """Replay one write on a tip where that path has the blob `now` ("": none)."""
    blobs = {**OLD.blobs, path: now} if now else {name: blob for name, blob in OLD.blobs.items() if name != path}
    return replay(OLD, Tree(View("2" * 40), blobs), {path: content}, leased)


@pytest.mark.parametrize("path", ["jobs/digest.json", "cursors/w/k.json", "proposals/p.json"])
@pytest.mark.parametrize("content", [b"{}", None])
def test_an_unchanged_blob_lets_the_write_stand(path: str, content: bytes | None) -> None:
    if path.startswith("jobs/") and content:
        content = paper(Position("digest"))
    assert left(path, content) == {path: content}


@pytest.mark.parametrize("now", ["new", ""])
def test_a_changed_blob_of_what_we_hold_stops_everything(now: str) -> None:
    assert left("jobs/digest.json", b"{}", now=now) == Moved("jobs/digest.json")
    assert left("proposals/p.json", b"{}", now=now) == Moved("proposals/p.json")


def test_a_job_that_another_holds_and_a_cursor_give_way() -> None:
    assert left("jobs/digest.json", b"{}", now="new", leased=("links",)) == {}
    assert left("cursors/w/k.json", b"{}", now="new") == {}


def test_what_is_gone_already_needs_no_removal() -> None:
    assert left("proposals/p.json", None, now="") == {}


@pytest.mark.parametrize("path", [FACETS, "drafts/aa/x.json", "wakes/digest/w.json"])
def test_what_is_named_by_its_content_may_be_there_already(path: str) -> None:
    assert left(path, b"x", now="theirs") == {}


def test_snapshots_are_never_removed_on_anothers_tip() -> None:
    assert left(FACETS, None) == {}


def test_a_snapshot_stays_if_something_names_it() -> None:
    new = Tree(View("2" * 40), {"cursors/w/k.json": "new"})
    cursor = f'{{"snapshot":"{NAME}"}}'.encode()
    assert replay(OLD, new, {FACETS: b"[]", "cursors/w/k.json": cursor}, ()) == {}
    draft = {"drafts/aa/x.json": cursor}
    assert replay(OLD, new, {FACETS: b"[]", "cursors/w/k.json": cursor, **draft}, ()) == {FACETS: b"[]", **draft}


def test_a_named_snapshot_that_was_swept_stops_everything() -> None:
    old = OLD._replace(blobs={FACETS: "x"})
    assert replay(old, Tree(View("2" * 40), {}), {"drafts/aa/x.json": NAME.encode()}, ()) == Moved(FACETS)
    assert replay(old, Tree(View("2" * 40), {}), {"drafts/aa/x.json": b"other"}, ()) == {"drafts/aa/x.json": b"other"}


def test_the_ledger_is_counted_anew() -> None:
    theirs = Position("links", seq=3, last="b" * 64)
    mine = Position("digest", seq=2, last="c" * 64)
    new = Tree(View("2" * 40, repository="acme/x", positions={"links": theirs}), OLD.blobs)
    summary = json.dumps({"v": 1, "count": 2, "head": "wrong", "repository": "acme/x"}).encode()
    found = replay(OLD, new, {"jobs/digest.json": paper(mine), "ledger.json": summary}, ("digest",))
    assert isinstance(found, dict)
    count, head = ledger.head({"links": theirs, "digest": mine})
    assert json.loads(found["ledger.json"] or b"") == {"v": 1, "count": count, "head": head, "repository": "acme/x"}
    assert count == 5


def test_decisions_of_both_are_shown_ours_first() -> None:
    known = {"at": 0, "text": "known"}
    old = OLD._replace(view=View("1" * 40, decisions=(known,)))
    theirs = tuple({"at": number, "text": "theirs"} for number in range(9))
    new = Tree(View("2" * 40, decisions=(*theirs, known)), OLD.blobs)
    board = json.dumps({"v": 1, "decisions": [{"at": 5, "text": "ours"}, known]}).encode()
    found = replay(old, new, {"proposals/p.json": None, "dashboard.json": board}, ("digest",))
    assert isinstance(found, dict)
    decisions = json.loads(found["dashboard.json"] or b"")["decisions"]
    assert [one["text"] for one in decisions] == ["ours", *["theirs"] * 9]
