"""Snapshots as documents, and against a base."""

from __future__ import annotations

import pytest

from hz_team import snapshot
from hz_team.errors import RemoteError
from hz_team.fingerprint import digest, sha256

ITEMS = ({"id": "b", "title": "Zwei €"}, {"id": "a", "title": "Eins"})


def test_the_document_is_canonical() -> None:
    content = snapshot.document(ITEMS)
    assert content == '{"items":[{"id":"b","title":"Zwei €"},{"id":"a","title":"Eins"}],"v":1}'.encode()
    assert sha256(content) == digest({"v": 1, "items": list(ITEMS)})
    assert snapshot.items(content) == ITEMS


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(RemoteError, match="update hz-team"):
        snapshot.items(b'{"items":[],"v":2}')


def test_compare() -> None:
    base = ({"id": "a", "title": "Eins"}, {"id": "b", "title": "Zwei"}, {"id": "c", "title": "Drei"})
    now = ({"id": "d", "title": "Vier"}, {"id": "b", "title": "Zwei!"}, {"id": "a", "title": "Eins"})
    facets = snapshot.compare(now, base)
    assert [[item["id"] for item in part] for part in facets] == [["d"], ["b"], ["c"], ["d", "b", "a"]]
    assert snapshot.compare(now, base, accumulates=True) == facets._replace(removed=())
    assert snapshot.compare(now, now)[:3] == ((), (), ())


def test_trim() -> None:
    items = tuple({"id": str(number), "title": "ü" * 100} for number in range(10))
    assert snapshot.trim(items) == (items, ())
    assert snapshot.trim(items, newest=4) == (items[:4], items[4:])
    for largest in range(len(snapshot.document(())), 3000, 7):
        kept, dropped = snapshot.trim(items, largest=largest)
        assert kept + dropped == items
        assert len(snapshot.document(kept)) <= largest
        assert not dropped or len(snapshot.document(items[: len(kept) + 1])) > largest - 2
