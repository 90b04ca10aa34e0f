"""What is sealed, folded and swept: the rules, one by one."""

from __future__ import annotations

import hashlib
import json

import pytest

from hz_team import keeping, ledger
from hz_team.model.receipt import Receipt, Runner
from hz_team.model.state import Folded, Position, View
from hz_team.ports import Lease

DAY = 86400
AT = 1_796_029_200
"""2026-11-30T09:00:00Z"""
RUNNER = Runner("local", "mona", "0123456789ab", hz="0.1.0", python="3.11.9")


def loose(count: int, *, words: str = "", apart: int = -60) -> dict[str, bytes]:
    """Return receipts by their paths, made with a clock that goes back by a minute each time."""
    receipts = [Receipt("digest", "rendered", AT + number * apart, reason=words) for number in range(count)]
    lease = {"digest": Lease("digest", "file:digest", "t", 1, 0)}
    entries, _ = ledger.append({}, receipts, RUNNER, lease)
    return {entry.path: entry.content for entry in entries}


@pytest.mark.parametrize(
    ("count", "sealed", "segments"),
    [(1000, 0, 0), (1001, 0, 1), (2000, 0, 1), (2001, 0, 2), (9000, 8000, 0), (9001, 8000, 1), (99_999, 0, 10)],
)
def test_how_many_segments_are_made(count: int, sealed: int, segments: int) -> None:
    assert keeping.overdue(View("t", count=count, sealed=sealed)) == segments


def test_the_oldest_months_are_read_until_there_are_enough() -> None:
    paths = ["receipts/2026/11/c.json", "receipts/2026/02/b.json", "receipts/2025/12/a.json", "receipts/2026/02/d.json"]
    assert keeping.oldest(paths, 2) == (paths[2], paths[1], paths[3])
    assert keeping.oldest(paths, 1) == (paths[2],)
    assert set(keeping.oldest(paths, 99)) == set(paths)


def test_the_oldest_receipts_are_sealed_byte_for_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LINES", 3)
    files = loose(5)
    sealed = keeping.seal(files, ["segments/9-aa.jsonl", "segments/10-bb.jsonl"], segments=1)
    by_time = sorted(files, key=lambda path: str(json.loads(files[path])["as_of"]))
    content = b"".join(files[path] + b"\n" for path in by_time[:3])
    name = f"segments/11-{hashlib.sha256(content).hexdigest()}.jsonl"
    assert sealed == keeping.Sealed({name: content, **dict.fromkeys(by_time[:3])}, 3)


def test_receipts_of_one_moment_stay_in_the_order_of_their_chain() -> None:
    sealed = keeping.seal(loose(12, apart=0), [], segments=1)
    (content,) = (content for content in sealed.files.values() if content)
    assert [json.loads(line)["seq"] for line in content.splitlines()] == list(range(1, 13))


def test_a_segment_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    files = loose(10, words="x" * 900)
    size = max(map(len, files.values())) + 1
    monkeypatch.setattr(keeping, "LARGEST", 4 * size)
    sealed = keeping.seal(files, [], segments=2)
    sizes = [len(content.splitlines()) for content in sealed.files.values() if content]
    assert (sizes, sealed.receipts) == ([4, 4], 8)
    monkeypatch.setattr(keeping, "LARGEST", 1)
    assert keeping.seal(files, [], segments=1).receipts == 1


@pytest.mark.parametrize("damage", [b"", b" ", b"\n"])
def test_a_damaged_receipt_keeps_everything_from_being_sealed(damage: bytes) -> None:
    files = loose(3)
    path = next(iter(files))
    content = files[path] + damage if damage else b"{}"
    assert keeping.seal({**files, path: content}, [], segments=1) == keeping.Sealed()
    renamed = f"receipts/2026/11/{hashlib.sha256(content).hexdigest()}.json"
    if b"\n" in damage or not damage:
        assert keeping.seal({**files, renamed: content}, [], segments=1) == keeping.Sealed()


def test_a_position_says_since_when_its_job_is_gone() -> None:
    here = Position("news", seq=3, last="a")
    gone = keeping.marked(here, gone=True, now=AT)
    assert gone == here._replace(gone_at=AT)
    assert keeping.marked(gone, gone=True, now=AT + 5) == gone
    assert keeping.marked(gone, gone=False, now=AT + 5) == here
    assert keeping.marked(here, gone=False, now=AT) is here


def test_a_job_that_is_gone_for_long_becomes_a_line() -> None:
    positions = {
        "old": Position("old", 3, "a", lease_generation=4, gone_at=AT - 90 * DAY),
        "busy": Position("busy", 1, "b", gone_at=AT - 99 * DAY),
        "young": Position("young", 1, "c", gone_at=AT - 90 * DAY + 1),
        "here": Position("here", 1, "d"),
    }
    assert keeping.retired(positions, busy={"busy"}, now=AT) == {"old": Folded(3, "a", 4)}
    assert keeping.folded({}) is None
    told = json.loads(keeping.folded({"old": Folded(3, "a", 4)}) or b"")
    assert told == {"v": 1, "jobs": {"old": {"seq": 3, "last": "a", "generation": 4}}}


def test_a_draft_leaves_90_days_after_nothing_needs_it() -> None:
    first = keeping.shelve(None, {"aa"}, named=(), now=AT)
    assert (json.loads(first.content or b""), first.old) == ({"v": 1, "drafts": {"aa": "2026-11-30"}}, ())
    second = keeping.shelve(first.content, {"bb"}, named=(), now=AT + 90 * DAY)
    assert (set(json.loads(second.content or b"")["drafts"]), second.old) == ({"aa", "bb"}, ())
    third = keeping.shelve(second.content, {"cc"}, named=(), now=AT + 91 * DAY)
    assert (set(json.loads(third.content or b"")["drafts"]), third.old) == ({"bb", "cc"}, ("aa",))
    wanted = keeping.shelve(second.content, (), named={"aa"}, now=AT + 91 * DAY)
    assert (set(json.loads(wanted.content or b"")["drafts"]), wanted.old) == ({"bb"}, ())
    again = keeping.shelve(second.content, {"aa"}, named=(), now=AT + 91 * DAY)
    assert again.old == ()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"drafts": 3}', b"\xff"])
def test_a_broken_shelf_is_begun_anew(content: bytes) -> None:
    shelved = keeping.shelve(content, {"aa"}, named=(), now=AT)
    assert json.loads(shelved.content or b"")["drafts"] == {"aa": "2026-11-30"}


@pytest.mark.parametrize(
    ("kind", "who", "path"),
    [
        ("laptop", "mona", "fleet/mona@0123456789ab.json"),
        ("actions", "dependabot[bot]", "fleet/dependabot[bot]@actions.json"),
        ("local", '../Jürgen "x"\'\\\n', "fleet/..-J-rgen--x----@0123456789ab.json"),
        ("local", "", "fleet/@0123456789ab.json"),
    ],
)
def test_a_sign_of_life_has_a_name_that_git_takes(kind: str, who: str, path: str) -> None:
    from hz_team.adapters.git import _check_path

    found, content = keeping.heartbeat(RUNNER._replace(kind=kind, who=who), AT)
    _check_path(found)
    assert found == path
    life = json.loads(content)
    assert set(life) == {"v", "at", "who", "host", "kind", "run", "hz", "python"}
    assert (life["at"], life["who"]) == (AT, who)


def test_every_shelf_has_its_turn_and_an_empty_one_goes() -> None:
    paths = ["closed/a.json", "closed/b.json", "closed/c.json"]
    assert {keeping.turn(paths, day * 86400) for day in range(3)} == {"a", "b", "c"}
    assert keeping.turn([], 0) == ""
    full = keeping.shelve(None, ["d" * 64], named=(), now=0)
    later = keeping.shelve(full.content, (), named=(), now=keeping.KEEP + 2 * 86400)
    assert (later.content, later.old) == (None, ("d" * 64,))
