"""What every `State` must do, on each way a repository is reached: a folder on this machine, and another host."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hz_team.adapters.state import GitState
from hz_team.errors import TryAgain
from hz_team.model.facet import Cursor, Source
from hz_team.model.proposal import Answer, Proposal
from hz_team.model.state import Position, Served, View, document
from hz_team.model.wake import Poke
from hz_team.ports import State

Opener = Callable[[], State]
FAR_HOST = """#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
exec sh -c "$2"
"""
"""Stands in for ssh: what the far host would run is run here, so that objects really travel."""


def nearby(place: Path) -> Opener:
    """A bare repository on this machine, each holder with a cache of its own."""
    url = GitState.create_local(str(place / "remote.git"))
    return lambda: GitState(url, str(place / f"cache-{os.urandom(4).hex()}"))


def far(place: Path) -> Opener:
    """A repository on another host: partial clone, prefetch, the whole protocol."""
    GitState.create_local(str(place / "remote.git"))
    with (place / "remote.git/config").open("a") as config:
        config.write("[uploadpack]\n\tallowFilter = true\n")
    script = place / "ssh"
    script.write_text(FAR_HOST)
    script.chmod(0o755)
    environ = {
        **os.environ,
        "GIT_SSH_COMMAND": str(script),
        "GIT_SSH_VARIANT": "ssh",
        "GIT_ALLOW_PROTOCOL": "ssh",
    }
    url = f"ssh://far.invalid{place}/remote.git"
    return lambda: GitState(url, str(place / f"cache-{os.urandom(4).hex()}"), environ=environ)


@pytest.fixture(params=[nearby, far])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    made: Opener = request.param(tmp_path)
    return made


def paper(value: object) -> bytes:
    return json.dumps(document(value), sort_keys=True).encode()


def proposal(**more: Any) -> Proposal:
    return Proposal(
        id="p-3f9c21ab",
        key="k" * 64,
        job="digest",
        kind="issue",
        target="here",
        title="Digest, week 49 · naïve",
        digest="d" * 64,
        state="awaiting",
        created_at=1,
        expires_at=2,
        cause="schedule",
        slot=1_700_000_000,
        refs=("x",),
        snapshot={"learning": "e" * 64},
        base={},
        by={"by": ["write"], "need": 1},
        answers=(Answer("p-3f9c21ab", "approve", "local:mona", "local", "file", 5),),
        **more,
    )


POSITION = Position("digest", 1, "a" * 64, triggers={"0" * 16: Served(1, 2, (1, 2))}, skips={"paused": {"count": 1}})
CURSOR = Cursor("learning", "abc", 7, {"https://e.org": Source({"etag": 'W/"x"'})}, "s" * 64, ("q",), warnings=("w",))
FULL: Mapping[str, bytes] = {
    "ledger.json": json.dumps({"v": 1, "count": 1, "head": "f" * 64, "repository": "acme/housework"}).encode(),
    "jobs/digest.json": paper(POSITION),
    "proposals/p-3f9c21ab.json": paper(proposal()),
    "cursors/learning/abc.json": paper(CURSOR),
    "wakes/digest/b.json": paper(Poke("b", "digest", "manual", "local:mona", "box", 9, {"since": "v1"})),
    "wakes/digest/a.json": paper(Poke("a", "digest", "manual", "local:mona", "box", 12)),
    "switches.json": json.dumps({"v": 1, "paused": {"by": "local:mona", "at": 3, "via": "dashboard"}}).encode(),
    "dashboard.json": json.dumps({"v": 1, "number": 7, "decisions": [{"at": 1, "text": "Published"}]}).encode(),
    "drafts/ab/cd.json": b'{"body":"hello"}',
}


def test_an_empty_repository_is_an_empty_view(opener: Opener) -> None:
    state = opener()
    view = state.fetch()
    assert view == View("", repository=view.repository)
    assert state.read(view, ["ledger.json"]) == {}
    assert list(state.receipts(view)) == []


def test_what_was_recorded_is_what_everybody_sees(opener: Opener) -> None:
    state = opener()
    written = state.record(state.fetch(), FULL, "Record everything\n")
    assert len(written.tip) == 40
    assert (written.count, written.head, written.repository) == (1, "f" * 64, "acme/housework")
    assert written.positions == {"digest": POSITION}
    assert written.proposals == {"p-3f9c21ab": proposal()}
    assert written.cursors == {"learning/abc": CURSOR}
    assert [poke.id for poke in written.wakes] == ["b", "a"]
    assert written.paused["by"] == "local:mona"
    assert written.dashboard == {"number": 7}
    assert written.decisions == ({"at": 1, "text": "Published"},)
    assert state.fetch() == written
    assert opener().fetch() == written


def test_removed_files_are_gone(opener: Opener) -> None:
    state = opener()
    view = state.record(state.fetch(), FULL, "one\n")
    gone = dict.fromkeys(("wakes/digest/a.json", "proposals/p-3f9c21ab.json", "drafts/ab/cd.json", "switches.json"))
    view = state.record(view, gone, "two\n")
    assert [poke.id for poke in view.wakes] == ["b"]
    assert (view.proposals, view.paused) == ({}, {})
    assert opener().fetch() == view
    assert state.read(view, ["drafts/ab/cd.json", "jobs/digest.json"]) == {"jobs/digest.json": FULL["jobs/digest.json"]}


def test_files_are_read_in_one_batch_from_the_view_that_is_given(opener: Opener) -> None:
    state = opener()
    old = state.record(state.fetch(), {"facets/aa/1.json": b"old", "facets/aa/2.json": b"\x00\xff\n"}, "one\n")
    new = state.record(old, {"facets/aa/1.json": b"new"}, "two\n")
    wanted = ["facets/aa/1.json", "facets/aa/2.json", "facets/aa/3.json", "facets/aa"]
    assert state.read(old, wanted) == {"facets/aa/1.json": b"old", "facets/aa/2.json": b"\x00\xff\n"}
    reader = opener()
    assert reader.fetch() == new
    assert reader.read(new, wanted) == {"facets/aa/1.json": b"new", "facets/aa/2.json": b"\x00\xff\n"}


def test_who_comes_second_is_told_to_try_again_and_wrote_nothing(opener: Opener) -> None:
    first, second = opener(), opener()
    view = first.record(first.fetch(), FULL, "base\n")
    assert second.fetch() == view
    winner = first.record(view, {"switches.json": None}, "first\n")
    with pytest.raises(TryAgain):
        second.record(view, {"jobs/digest.json": None}, "second\n")
    assert second.fetch() == winner
    again = second.record(winner, {"jobs/digest.json": None}, "second, again\n")
    assert first.fetch() == again
    assert again.positions == {}


def test_two_first_writers_make_one_branch(opener: Opener) -> None:
    first, second = opener(), opener()
    empty = second.fetch()
    view = first.record(first.fetch(), FULL, "first\n")
    with pytest.raises(TryAgain):
        second.record(empty, {"switches.json": FULL["switches.json"]}, "second\n")
    assert second.fetch() == view


def test_receipts_come_newest_month_first_sealed_ones_last(opener: Opener) -> None:
    def named(content: bytes) -> tuple[str, bytes]:
        return hashlib.sha256(content).hexdigest(), content

    old, new, newer = (named(b'{"n":%d}' % number) for number in (3, 4, 5))
    sealed = [named(b'{"n":%d}' % number) for number in (1, 2)]
    state = opener()
    segment = b"".join(content + b"\n" for _, content in sealed)
    files = {
        f"segments/1-{hashlib.sha256(segment).hexdigest()}.jsonl": segment,
        f"receipts/2026/09/{old[0]}.json": old[1],
        f"receipts/2026/11/{new[0]}.json": new[1],
        f"receipts/2027/01/{newer[0]}.json": newer[1],
    }
    view = state.record(state.fetch(), files, "receipts\n")
    assert list(state.receipts(view)) == [newer, new, old, *reversed(sealed)]
    reader = opener()
    assert list(reader.receipts(reader.fetch())) == [newer, new, old, *reversed(sealed)]


def test_nothing_to_write_is_no_commit(opener: Opener) -> None:
    state = opener()
    view = state.record(state.fetch(), FULL, "one\n")
    assert state.record(view, {}, "nothing\n") is view
    assert opener().fetch().tip == view.tip
