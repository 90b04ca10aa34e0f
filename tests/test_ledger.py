"""The ledger: what it writes, what it proves, what it lists."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from hz_team import keeping, ledger
from hz_team.model.receipt import Receipt, Runner
from hz_team.model.state import Folded, Position, View
from hz_team.ports import Lease

AT = 1_796_029_200
"""2026-11-30T09:00:00Z"""
RUNNER = Runner("local", "mona", "0123456789ab", hz="0.1.0", python="3.11.9")
LEASES = {job: Lease(job, f"file:{job}", "t" * 32, 4, AT + 900) for job in ("digest", "links")}
Stored = list[tuple[str, bytes]]


def receipt(job: str = "digest", disposition: str = "rendered", **more: Any) -> Receipt:
    return Receipt(job, disposition, more.pop("as_of", AT), contract="c" * 64, cause="schedule", **more)


def written(*receipts: Receipt) -> tuple[Stored, View]:
    entries, positions = ledger.append({}, receipts, RUNNER, LEASES)
    count, head = ledger.head(positions)
    return [(entry.id, entry.content) for entry in entries], View("tip", count, head, positions=positions)


def prove(stored: Stored, view: View) -> tuple[str, ...]:
    return ledger.verify(view, stored, progress=lambda _: None).problems


def some_ledger() -> tuple[Stored, View]:
    steps = ("rendered", "awaiting_approval", "approved", "published")
    return written(*(receipt(job, step) for step in steps for job in ("digest", "links")))


def test_a_receipt_is_canonical_and_named_by_its_hash() -> None:
    entries, _ = ledger.append(
        {},
        [
            receipt(
                slot=AT,
                refs=("poke-1", "2026-11-23T09:00:00Z"),
                inputs={"learning": "f" * 64},
                cost={"ms": 4100},
                level="landlock-4",
                env=("TZ",),
                error="naïve",
            ),
        ],
        RUNNER,
        LEASES,
    )
    (entry,) = entries
    assert entry.id == hashlib.sha256(entry.content).hexdigest()
    assert entry.path == f"receipts/2026/11/{entry.id}.json"
    assert entry.content.startswith(b'{"approval":[],"as_of":"2026-11-30T09:00:00Z","contract":"c')
    assert json.loads(entry.content) == {
        "v": 1,
        "job": "digest",
        "seq": 1,
        "prev": "",
        "contract": "c" * 64,
        "wake": {
            "cause": "schedule",
            "slot": "2026-11-30T09:00:00Z",
            "refs": ["poke-1", "2026-11-23T09:00:00Z"],
        },
        "inputs": {"learning": "f" * 64},
        "memo_key": "",
        "disposition": "rendered",
        "runner": {
            "kind": "local",
            "who": "mona",
            "host": "0123456789ab",
            "run": "",
            "hz": "0.1.0",
            "python": "3.11.9",
            "level": "landlock-4",
            "env": ["TZ"],
        },
        "lease": {"ref": "file:digest", "token": "t" * 32, "generation": 4},
        "proposal": "",
        "idempotency_key": "",
        "draft": None,
        "approval": [],
        "published": [],
        "sources": {},
        "cost": {"ms": 4100, "tokens": 0, "usd_micros": 0},
        "as_of": "2026-11-30T09:00:00Z",
        "reason": "",
        "error": "naïve",
    }


def test_each_job_has_a_chain_of_its_own() -> None:
    entries, positions = ledger.append({}, [receipt(), receipt("links"), receipt()], RUNNER, LEASES)
    places = [{name: json.loads(entry.content)[name] for name in ("job", "seq", "prev")} for entry in entries]
    assert places == [
        {"job": "digest", "seq": 1, "prev": ""},
        {"job": "links", "seq": 1, "prev": ""},
        {"job": "digest", "seq": 2, "prev": entries[0].id},
    ]
    assert positions["digest"] == Position("digest", 2, entries[2].id, contract="c" * 64, lease_generation=4)
    assert positions["links"] == Position("links", 1, entries[1].id, contract="c" * 64, lease_generation=4)


def test_a_chain_goes_on_where_its_position_stands() -> None:
    before = {
        "digest": Position("digest", 7, "a" * 64, failures=2, contract="old", lease_generation=9),
        "other": Position("other", 1, "b" * 64),
    }
    entries, after = ledger.append(before, [receipt()._replace(contract="")], RUNNER, LEASES)
    assert json.loads(entries[0].content)["prev"] == "a" * 64
    assert after["digest"] == Position("digest", 8, entries[0].id, failures=2, contract="old", lease_generation=9)
    assert after["other"] is before["other"]
    assert before["digest"].seq == 7


def test_who_holds_no_lease_writes_no_receipt() -> None:
    with pytest.raises(KeyError, match="stranger"):
        ledger.append({}, [receipt("stranger")], RUNNER, LEASES)


def test_values_without_a_canonical_form_become_text() -> None:
    values = {"half": 0.5, "whole": 2.0, "big": 2**60, "true": True, "none": None, "broken": "a\udcffb", 7: [1.5, (2,)]}
    ((_, content),), _ = written(receipt(inputs=values))
    assert json.loads(content)["inputs"] == {
        "half": "0.5",
        "whole": 2,
        "big": str(2**60),
        "true": True,
        "none": None,
        "broken": "a\\udcffb",
        "7": ["1.5", [2]],
    }


def test_long_words_lose_their_middle_and_say_how_much() -> None:
    ((_, content),), _ = written(receipt(error="start" + "x" * 5000 + "end", reason="y" * 2000))
    document = json.loads(content)
    assert document["reason"] == "y" * 2000
    assert len(document["error"]) <= 2000
    assert document["error"].startswith("startxxx")
    assert document["error"].endswith("xxxend")
    (left_out,) = re.findall(r" … (\d+) characters left out … ", document["error"])
    assert len(re.sub(r" … .* … ", "", document["error"])) + int(left_out) == 5008


def test_the_head_is_over_where_every_chain_ends() -> None:
    positions = {"b": Position("b", 2, "f" * 64), "a": Position("a", 1, "e" * 64), "new": Position("new")}
    lines = f"a 1 {'e' * 64}\nb 2 {'f' * 64}\n"
    assert ledger.head(positions) == (3, hashlib.sha256(lines.encode()).hexdigest())
    assert ledger.head({"new": Position("new")}) == (0, "")


def test_a_whole_ledger_verifies_in_any_order() -> None:
    stored, view = some_ledger()
    seen: list[int] = []
    assert ledger.verify(view, stored, progress=seen.append) == ledger.Verdict(8, 2, ())
    assert prove(stored[::-1], view) == ()
    assert seen == [8]
    assert prove([], View("")) == ()


def test_progress_is_told_on_the_way() -> None:
    seen: list[int] = []
    ledger.verify(View(""), (("x", b"") for _ in range(1200)), progress=seen.append)
    assert seen == [500, 1000, 1200]


def changed(stored: Stored, view: View) -> tuple[Stored, View]:
    return [(stored[0][0], stored[0][1].replace(b"rendered", b"rejected")), *stored[1:]], view


def rewritten(stored: Stored, view: View) -> tuple[Stored, View]:
    content = stored[2][1].replace(b"awaiting_approval", b"approved")
    return [*stored[:2], (hashlib.sha256(content).hexdigest(), content), *stored[3:]], view


def gap(stored: Stored, view: View) -> tuple[Stored, View]:
    return [*stored[:2], *stored[3:]], view


def cut_tail(stored: Stored, view: View) -> tuple[Stored, View]:
    return stored[:-2], view


def cut_tail_and_position(stored: Stored, view: View) -> tuple[Stored, View]:
    position = view.positions["links"]._replace(seq=3, last=stored[5][0])
    return [item for item in stored if item != stored[7]], view._replace(
        positions={**view.positions, "links": position}
    )


def cut_everything_but_the_sum(stored: Stored, view: View) -> tuple[Stored, View]:
    return [], view._replace(positions={})


def extra(stored: Stored, view: View) -> tuple[Stored, View]:
    (entry,), _ = ledger.append(view.positions, [receipt()], RUNNER, LEASES)
    return [*stored, (entry.id, entry.content)], view


def fork(stored: Stored, view: View) -> tuple[Stored, View]:
    ((name, content),), _ = written(receipt(disposition="failed"))
    return [*stored, (name, content)], view


def foreign_job(stored: Stored, view: View) -> tuple[Stored, View]:
    return stored, view._replace(positions={"digest": view.positions["digest"]})


def other_last(stored: Stored, view: View) -> tuple[Stored, View]:
    position = view.positions["links"]._replace(last="9" * 64)
    return stored, view._replace(positions={**view.positions, "links": position})


def no_receipt(stored: Stored, view: View) -> tuple[Stored, View]:
    content = b"hello"
    return [*stored, (hashlib.sha256(content).hexdigest(), content)], view


def newer(stored: Stored, view: View) -> tuple[Stored, View]:
    content = stored[-1][1].replace(b',"v":1,', b',"v":2,')
    return [*stored, (hashlib.sha256(content).hexdigest(), content)], view


def far_away(stored: Stored, view: View) -> tuple[Stored, View]:
    content = stored[-1][1].replace(b'"seq":4,', b'"seq":999999999999,')
    return [*stored, (hashlib.sha256(content).hexdigest(), content)], view


def wrong_count(stored: Stored, view: View) -> tuple[Stored, View]:
    return stored, view._replace(count=9)


def wrong_head(stored: Stored, view: View) -> tuple[Stored, View]:
    return stored, view._replace(head="0" * 64)


def sealed(stored: Stored, view: View) -> tuple[Stored, View]:
    """The same ledger by its paths, with two segments of three."""
    segments = [keeping.segment(at, [content for _, content in stored[3 * at - 3 : 3 * at]]) for at in (1, 2)]
    loose = [(f"receipts/2026/11/{name}.json", content) for name, content in stored[6:]]
    return [*loose, *reversed(segments)], view._replace(sealed=6)


def renamed_segment(stored: Stored, view: View) -> tuple[Stored, View]:
    files, view = sealed(stored, view)
    return [*files[:-1], ("segments/1-" + "0" * 64 + ".jsonl", files[-1][1])], view


def numberless_segment(stored: Stored, view: View) -> tuple[Stored, View]:
    files, view = sealed(stored, view)
    return [*files[:-1], (files[-1][0].replace("/1-", "/x-"), files[-1][1])], view


def changed_line(stored: Stored, view: View) -> tuple[Stored, View]:
    files, view = sealed(stored, view)
    content = files[-1][1].replace(b"rendered", b"rejected")
    return [*files[:-1], keeping.segment(1, content.splitlines())], view


def lost_segment(stored: Stored, view: View) -> tuple[Stored, View]:
    files, view = sealed(stored, view)
    return files[:-1], view


def all_segments_lost(stored: Stored, view: View) -> tuple[Stored, View]:
    files, view = sealed(stored, view)
    return files[:2], view


def sealed_and_loose(stored: Stored, view: View) -> tuple[Stored, View]:
    files, view = sealed(stored, view)
    return [(f"receipts/2026/11/{stored[0][0]}.json", stored[0][1]), *files], view


def sealed_twice(stored: Stored, view: View) -> tuple[Stored, View]:
    files, view = sealed(stored, view)
    return [*files, keeping.segment(3, [stored[0][1]])], view._replace(sealed=7)


def sealed_more_than_all(stored: Stored, view: View) -> tuple[Stored, View]:
    return stored, view._replace(sealed=9)


def position_and_line(stored: Stored, view: View) -> tuple[Stored, View]:
    return stored, view._replace(folded={"links": Folded(4, view.positions["links"].last)})


def other_line(stored: Stored, view: View) -> tuple[Stored, View]:
    positions = {"digest": view.positions["digest"]}
    return stored, view._replace(positions=positions, folded={"links": Folded(3, view.positions["links"].last)})


TAMPERED: list[tuple[Callable[[Stored, View], tuple[Stored, View]], str]] = [
    (changed, r"receipt [0-9a-f]{12} was changed: its bytes have another hash than its name"),
    (rewritten, r"digest: receipt 3 follows [0-9a-f]{12}, not [0-9a-f]{12}"),
    (gap, "digest: receipt 2 is missing"),
    (cut_tail, "links: receipt 4 is missing"),
    (cut_tail_and_position, "ledger.json counts 8 receipts, the positions 7"),
    (cut_everything_but_the_sum, "ledger.json counts 8 receipts, the positions 0"),
    (extra, "digest: 5 receipts, but its position counts 4"),
    (fork, r"digest: two receipts claim place 1 \([0-9a-f]{12}, [0-9a-f]{12}\)"),
    (foreign_job, "links: 4 receipts, but the state has no position for this job"),
    (other_last, r"links: its position ends with 999999999999, the chain with [0-9a-f]{12}"),
    (no_receipt, r"receipt [0-9a-f]{12} cannot be read as a receipt of format 1"),
    (newer, r"receipt [0-9a-f]{12} cannot be read as a receipt of format 1"),
    (far_away, "links: receipts 5 to 999999999998 are missing"),
    (renamed_segment, r"segments/1-0{29} was changed: its bytes have another hash than its name"),
    (numberless_segment, r"segments/x-[0-9a-f]{29} was changed: its bytes have another hash than its name"),
    (changed_line, r"links: receipt 2 follows [0-9a-f]{12}, not [0-9a-f]{12}"),
    (lost_segment, "ledger.json counts 6 sealed receipts, the segments hold 3"),
    (all_segments_lost, "ledger.json counts 6 sealed receipts, the segments hold 0"),
    (sealed_and_loose, "receipt [0-9a-f]{12} is there twice: in a file of its own and in segment 1"),
    (sealed_twice, "receipt [0-9a-f]{12} is there twice: in segment 1 and in segment 3"),
    (sealed_more_than_all, "ledger.json counts 9 sealed receipts of 8"),
    (position_and_line, "links: it has a position, and a line in jobs/.folded.json as well"),
    (other_line, "links: 4 receipts, but its position counts 3"),
    (wrong_count, "ledger.json counts 9 receipts, the positions 8"),
    (wrong_head, r"ledger.json has the head 000000000000, the positions give [0-9a-f]{12}"),
]


@pytest.mark.parametrize(("tamper", "sentence"), TAMPERED, ids=[tamper.__name__ for tamper, _ in TAMPERED])
def test_tampering_is_told_in_a_sentence(tamper: Callable[[Stored, View], tuple[Stored, View]], sentence: str) -> None:
    problems = prove(*tamper(*some_ledger()))
    assert any(re.fullmatch(sentence, problem) for problem in problems), problems


def test_a_sealed_ledger_verifies_in_any_order() -> None:
    files, view = sealed(*some_ledger())
    assert ledger.verify(view, files, progress=lambda _: None) == ledger.Verdict(8, 2, ())
    assert prove(files[::-1], view) == ()


def test_a_folded_job_counts_like_any_other() -> None:
    stored, view = some_ledger()
    line = Folded(4, view.positions["links"].last, 4)
    positions = {"digest": view.positions["digest"]}
    assert ledger.head(positions, {"links": line}) == (view.count, view.head)
    assert prove(stored, view._replace(positions=positions, folded={"links": line})) == ()


def test_a_job_that_is_back_goes_on_from_its_line() -> None:
    line = {"digest": Folded(7, "a" * 64, 9)}
    entries, after = ledger.append({}, [receipt()], RUNNER, LEASES, folded=line)
    assert json.loads(entries[0].content)["prev"] == "a" * 64
    assert (after["digest"].seq, after["digest"].last, after["digest"].lease_generation) == (8, entries[0].id, 9)


def test_many_problems_are_counted() -> None:
    problems = prove([(f"{number:064}", b"{}") for number in range(500)], View(""))
    assert len(problems) == 101
    assert problems[-1] == "and 400 more"


JSON = some.recursive(
    some.none() | some.booleans() | some.integers(-9, 9) | some.text(max_size=6),
    lambda inner: (
        some.lists(inner, max_size=2)
        | some.dictionaries(some.sampled_from(["job", "seq", "v", 'a,"v', "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@example(inputs={"a": "x", "job": "evil"}, reason="")
@example(inputs={"a": {"b": 1, "seq": 9}}, reason="")
@given(
    inputs=some.dictionaries(some.sampled_from(["job", "prev", "seq", "v", ',"job":"', 'x,"seq":9', "learning"]), JSON),
    reason=some.text(max_size=20),
)
def test_no_text_and_no_input_is_taken_for_a_receipts_own_place(inputs: dict[str, Any], reason: str) -> None:
    stored, view = written(receipt(inputs=inputs, reason=reason), receipt(error=f'","job":"evil","seq":9,{reason}'))
    assert prove(stored, view) == ()


def test_listing_is_newest_first_and_stops_reading_early() -> None:
    months = [AT - 40 * 86400, AT - 40 * 86400 + 60, AT, AT + 60]
    long_ago = [(str(number), b'{"as_of":"2026-09-01T00:00:00Z","job":"links","seq":1}') for number in range(2000)]
    stored, _ = written(*(receipt(as_of=at) for at in months), receipt("links", as_of=AT + 30))
    read: list[str] = []

    def reading() -> Any:
        for name, content in (*stored[2:], *stored[:2], *long_ago):
            read.append(name)
            yield name, content

    listed = ledger.newest(reading(), limit=2)
    assert [name for name, _ in listed] == [stored[3][0], stored[4][0]]
    assert len(read) == 3 + ledger.STRAY
    assert [name for name, _ in ledger.newest(reading(), limit=0)][:5] == [stored[at][0] for at in (3, 4, 2, 1, 0)]
    assert [name for name, _ in ledger.newest(stored, job="links")] == [stored[4][0]]
    assert ledger.newest(iter([])) == []


def test_a_newer_receipt_behind_older_ones_is_found() -> None:
    stored, _ = written(*(receipt(as_of=AT + number) for number in range(3)), receipt(as_of=AT - 40 * 86400))
    read = [stored[0], stored[3], stored[2], stored[1]]  # a clock was set back, so the oldest is not sealed yet
    assert [name for name, _ in ledger.newest(read, limit=1)] == [stored[2][0]]


def test_steps_of_one_moment_are_listed_in_the_order_of_their_chain() -> None:
    stored, _ = written(receipt(), receipt(disposition="awaiting_approval"), receipt(disposition="approved"))
    assert [d["disposition"] for _, d in ledger.newest(stored)] == ["approved", "awaiting_approval", "rendered"]


def test_a_receipt_is_found_by_its_first_digits() -> None:
    stored, _ = some_ledger()
    name, content = stored[3]
    assert ledger.found(stored, name[:16]) == [(name, json.loads(content))]
    assert len(ledger.found(stored, "")) == 8
    assert ledger.found(stored, "zz") == []
