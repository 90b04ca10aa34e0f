"""What of a record still holds on a branch that others moved: the rules, one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hz_team import keeping, ledger
from hz_team.adapters.replay import Moved, Tree, asked, replay
from hz_team.model.proposal import Proposal
from hz_team.model.state import FOLDED, Folded, Position, Served, View, document

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
    assert left("proposals/p.json", b"{}", now=now) == Moved("proposals/p.json")


@pytest.mark.parametrize("change", [{"seq": 2}, {"last": "1" * 64}, {"lease_generation": 3}])
def test_a_position_of_ours_that_somebody_worked_on_stops_everything(change: dict[str, Any]) -> None:
    old = OLD._replace(view=View("1" * 40, positions={"digest": Position("digest", 1, "0" * 64)}))
    moved = Position("digest", 1, "0" * 64)._replace(**change)
    new = Tree(View("2" * 40, positions={"digest": moved}), {**OLD.blobs, "jobs/digest.json": "new"})
    assert replay(old, new, {"jobs/digest.json": b"{}"}, ("digest",)) == Moved("jobs/digest.json")


@pytest.mark.parametrize("before", [None, Position("digest", 1, "0" * 64)])
def test_what_another_only_noted_at_a_position_of_ours_gives_way(before: Position | None) -> None:
    """A tick that holds no lease of the job counts slots that passed, or sees its clock for the first time."""
    positions = {"digest": before} if before else {}
    noted = (before or Position("digest"))._replace(skips={"unchanged": {"count": 1}}, triggers={"x": Served(1)})
    old, ours = OLD._replace(view=View("1" * 40, positions=positions)), paper(Position("digest", 2, "1" * 64))
    new = Tree(View("2" * 40, positions={"digest": noted}), {**OLD.blobs, "jobs/digest.json": "new"})
    assert replay(old, new, {"jobs/digest.json": ours}, ("digest",)) == {"jobs/digest.json": ours}


def test_a_job_that_another_holds_and_a_cursor_give_way() -> None:
    assert left("jobs/digest.json", b"{}", now="new", leased=("links",)) == {}
    assert left("cursors/w/k.json", b"{}", now="new") == {}


def test_what_is_gone_already_needs_no_removal() -> None:
    assert left("proposals/p.json", None, now="") == {}


@pytest.mark.parametrize("path", [FACETS, "drafts/aa/x.json", "wakes/digest/w.json"])
def test_what_is_named_by_its_content_may_be_there_already(path: str) -> None:
    assert left(path, b"x", now="theirs") == {}


def test_a_snapshot_is_removed_on_anothers_tip_unless_something_there_names_it() -> None:
    blobs = {**OLD.blobs, FACETS: "old"}
    old, naming = OLD._replace(blobs=blobs), View("2" * 40, positions={"links": Position("links", base={"w": NAME})})
    assert replay(old, Tree(View("2" * 40), blobs), {FACETS: None}, ()) == {FACETS: None}
    assert replay(old, Tree(naming, blobs), {FACETS: None}, ()) == {}


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
    told = {"v": 1, "count": count, "head": head, "repository": "acme/x", "era": 0, "sealed": 0}
    assert json.loads(found["ledger.json"] or b"") == told
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


SEGMENT = "segments/1-" + "f" * 64 + ".jsonl"


def test_sealing_is_left_to_the_next_tick() -> None:
    receipts = "receipts/2026/11/" + "e" * 64 + ".json"
    new = Tree(View("2" * 40, sealed=2000, era=3), {**OLD.blobs, receipts: "same"})
    old = OLD._replace(blobs={**OLD.blobs, receipts: "same"})
    summary = b'{"v": 1, "count": 0, "head": "", "sealed": 1000, "era": 0}'
    sealing = {SEGMENT: b"x", receipts: None, "ledger.json": summary}
    assert replay(old, new, sealing, ("digest",)) == {}
    found = replay(old, new, {**sealing, "proposals/p.json": None}, ("digest",))
    assert isinstance(found, dict)
    assert set(found) == {"proposals/p.json", "ledger.json"}
    assert {name: json.loads(found["ledger.json"] or b"")[name] for name in ("sealed", "era")} == {
        "sealed": 2000,
        "era": 3,
    }
    assert asked(sealing) == ["ledger.json"]


def folding(job: str, **others: Folded) -> dict[str, bytes | None]:
    """A record that folds a job and does something else."""
    lines = {job: Folded(3, "a", 2), **others}
    ledger_json = b'{"v": 1, "count": 0, "head": ""}'
    return {
        f"jobs/{job}.json": None,
        FOLDED: keeping.folded(lines),
        "ledger.json": ledger_json,
        "proposals/p.json": None,
    }


def folded_after(files: object) -> object:
    assert isinstance(files, dict)
    assert json.loads(files["ledger.json"])["count"] == sum(
        line["seq"] for line in json.loads(files.get(FOLDED) or b'{"jobs": {}}')["jobs"].values()
    )
    return set(json.loads(files[FOLDED])["jobs"]) if files.get(FOLDED) else files.get(FOLDED, "untouched")


def test_a_fold_is_replayed_beside_the_folds_of_others() -> None:
    old = Tree(View("1" * 40), {"jobs/gone.json": "old", "proposals/p.json": "old"})
    new = Tree(View("2" * 40, folded={"other": Folded(5, "b")}), {**old.blobs, FOLDED: "theirs"})
    files = replay(old, new, folding("gone"), ())
    assert folded_after(files) == {"gone", "other"}
    assert isinstance(files, dict)
    assert files["jobs/gone.json"] is None


@pytest.mark.parametrize("leased", [(), ("gone",)])
def test_a_fold_gives_way_where_the_job_moved(leased: tuple[str, ...]) -> None:
    old = Tree(View("1" * 40), {"jobs/gone.json": "old", "proposals/p.json": "old"})
    new = Tree(View("2" * 40), {**old.blobs, "jobs/gone.json": "new"})
    files = replay(old, new, folding("gone"), leased)
    assert folded_after(files) == "untouched"
    assert isinstance(files, dict)
    assert "jobs/gone.json" not in files


def test_a_fold_that_another_made_is_theirs() -> None:
    old = Tree(View("1" * 40), {"jobs/gone.json": "old", "proposals/p.json": "old"})
    new = Tree(View("2" * 40, folded={"gone": Folded(4, "c")}), {"proposals/p.json": "old", FOLDED: "theirs"})
    files = replay(old, new, folding("gone"), ())
    assert isinstance(files, dict)
    assert (FOLDED in files, json.loads(files["ledger.json"] or b"")["count"]) == (False, 4)


def test_a_job_that_is_back_loses_its_line_alone() -> None:
    lines = {"back": Folded(3, "a"), "other": Folded(5, "b")}
    old = Tree(View("1" * 40, folded={"back": lines["back"]}), {FOLDED: "old"})
    new = Tree(View("2" * 40, folded=lines), {FOLDED: "new"})
    position = paper(Position("back", 3, "a"))
    summary = b'{"v": 1, "count": 0, "head": ""}'
    files = replay(old, new, {"jobs/back.json": position, FOLDED: None, "ledger.json": summary}, ("back",))
    assert isinstance(files, dict)
    assert set(json.loads(files[FOLDED] or b"")["jobs"]) == {"other"}
    assert json.loads(files["ledger.json"] or b"")["count"] == 8


def test_a_sign_of_life_stands_but_is_no_reason_to_write() -> None:
    life = "fleet/mona@host.json"
    new = Tree(View("2" * 40), {**OLD.blobs, life: "theirs"})
    assert replay(OLD, new, {life: b"{}", "ledger.json": b"{}"}, ("digest",)) == {}
    assert replay(OLD, new, {life: b"{}", "proposals/p.json": b"{}"}, ("digest",)) == {
        life: b"{}",
        "proposals/p.json": b"{}",
    }


def test_a_draft_that_others_removed_is_written_and_one_that_they_need_stays() -> None:
    path = f"drafts/aa/{NAME}.json"
    there = OLD._replace(blobs={**OLD.blobs, path: "draft"})
    written = {path: b"{}", "proposals/p.json": b"{}"}
    assert replay(there, Tree(View("2" * 40), OLD.blobs), written, ("digest",)) == written
    removal: dict[str, bytes | None] = {path: None, "proposals/p.json": b"{}"}
    assert replay(there, Tree(View("2" * 40), there.blobs), removal, ("digest",)) == removal
    proposal = Proposal(
        "p-1", "k", "news", "issue", "", "T", NAME, "awaiting", 0, 0, "schedule", None, (), {}, {}, {"by": ["write"]}
    )
    needed = Tree(View("2" * 40, proposals={"p-1": proposal}), there.blobs)
    assert replay(there, needed, removal, ("digest",)) == {"proposals/p.json": b"{}"}
