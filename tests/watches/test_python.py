"""A watch function: cursor in, facets and cursor out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hz_team.adapters.process import SupervisedProcesses
from hz_team.model.facet import Cursor, Item, Source
from hz_team.model.job import Watch
from hz_team.ports import Http, Request, Response, WatchTools
from hz_team.watches.python import poll

HEAD = "from datetime import date\nfrom hz_team.plugin import *\n"
COUNT = """
@watch(every="1h")
def count(cursor: Cursor, step: int = 1):
    n = cursor.get("n", 0) + step
    return Facets([{"ref": f"#{i}", "title": "t", "day": date(2026, 9, i), "share": 0.5} for i in range(1, n + 1)], cursor={"n": n})
"""
NOW = 1_800_000_000


class NoNetwork:
    def send(self, request: Request) -> Response:
        raise AssertionError(request.url)


def polled(tmp_path: Path, source: str, cursor: Cursor | None = None, old: tuple[Item, ...] = (), **spec: Any) -> Any:
    (tmp_path / "w.py").write_text(HEAD + source, encoding="utf-8")
    http: Http = NoNetwork()
    tools = WatchTools(http, SupervisedProcesses(), str(tmp_path), NOW, lambda: old, lambda: 0.0, {})
    watch = Watch("count", "python", 3600, {"file": "w.py", "function": "count", **spec}, "key")
    return poll(watch, cursor or Cursor("count", "key"), tools)


def test_items_and_cursor_come_back_as_plain_values(tmp_path: Path) -> None:
    first = polled(tmp_path, COUNT)
    assert first.items == ({"ref": "#1", "title": "t", "day": "2026-09-01", "share": "0.5", "id": "#1"},)
    assert (first.cursor.state, first.cursor.polled_at, first.added) == ({"n": 1}, NOW, 1)


def test_the_cursor_goes_in_and_only_what_is_new_is_counted(tmp_path: Path) -> None:
    first = polled(tmp_path, COUNT)
    second = polled(tmp_path, COUNT, first.cursor._replace(snapshot="x"), first.items)
    assert (len(second.items), second.added, second.cursor.state) == (2, 1, {"n": 2})


def test_settings_come_from_the_definition(tmp_path: Path) -> None:
    assert polled(tmp_path, COUNT, params={"step": 3}).cursor.state == {"n": 3}


def test_the_same_items_are_unchanged(tmp_path: Path) -> None:
    source = "def count():\n    return [{'id': 1, 'title': 'x'}]\n"
    first = polled(tmp_path, source)
    again = polled(tmp_path, source, first.cursor._replace(snapshot="x"), first.items)
    assert (again.items, again.unchanged, again.urgent) == (None, 1, False)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def count():\n    1 / 0\n", "w.py:4: ZeroDivisionError"),
        ("def count():\n    return 5\n", "returned int; a watch returns Facets"),
        ("def count():\n    return [5]\n", "dict"),
        ("def count():\n    return [{'a': object()}]\n", "no JSON"),
        ("import os\ndef count():\n    os._exit(9)\n", "ended with 9"),
        ("def count():\n    while True: pass\n", "took too long"),
    ],
)
def test_a_failure_keeps_the_cursor_and_waits(tmp_path: Path, source: str, words: str) -> None:
    before = Cursor("count", "key", snapshot="x", state={"n": 7})
    result = polled(tmp_path, source, before, timeout=2)
    source_after = result.cursor.sources["count"]
    assert (result.items, result.cursor.snapshot, result.cursor.state, result.urgent) == (None, "x", {"n": 7}, True)
    assert words in source_after.error
    assert result.notes == (f"count: {source_after.error}",)
    assert (source_after.failures, source_after.failing_since, source_after.not_before) == (1, NOW, NOW + 60)


def test_the_wait_doubles_and_is_kept(tmp_path: Path) -> None:
    waiting = Cursor("count", "key", sources={"count": Source(failures=3, failing_since=5, not_before=NOW + 1)})
    assert polled(tmp_path, COUNT, waiting) == (waiting, None, 0, 0, 0, (), False)
    over = waiting._replace(sources={"count": Source(failures=3, failing_since=5, not_before=NOW)})
    result = polled(tmp_path, "def count():\n    1 / 0\n", over)
    assert (result.cursor.sources["count"].not_before, result.urgent) == (NOW + 480, False)


def test_the_first_success_after_trouble_is_told_at_once(tmp_path: Path) -> None:
    trouble = Cursor("count", "key", sources={"count": Source(failures=3, error="x")})
    result = polled(tmp_path, COUNT, trouble)
    assert (result.urgent, result.cursor.sources["count"]) == (True, Source(polled_at=NOW))
