"""The front door: values, decorators that only take notes, and declarations read in a contained child."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from hz_team import plugin, signature
from hz_team.adapters.process import SupervisedProcesses
from hz_team.plugin import Cursor, Facets, Inputs, Item, Proposal, Retry

SCREEN = '''
"""Ask politely whether quiet issues may go."""
from __future__ import annotations
from hz_team.plugin import Cursor, Facets, Inputs, Proposal, Retry, job, watch


@watch(every="6h")
def quiet(cursor: Cursor, days: int = 60) -> Facets:
    """Issues without a word."""
    ...


@job(schedule="0 7 * * MON", publish={"comment": {"each": "issue"}}, approve="write", timeout="5m")
def stale(quiet: Facets, inputs: Inputs) -> list[Proposal]:
    """One part per issue."""
    return []


@job(
    schedule="0 9 * * MON",
    on=["releases"],
    scope="team",
    publishes={"newsletter.send", "issue"},
    timeout="15m",
    retries=Retry(max=3),
    concurrency=1,
    catch_up="latest",
    idempotency=lambda inputs: inputs.week,
)
def weekly_digest(feeds, releases: Facets, slot, note: str = "") -> Proposal:
    """Draft this week's newsletter."""


@job
def bare():
    """Nothing said."""
'''


def declared(tmp_path: Path, source: str, **more: Any) -> dict[str, Any]:
    (tmp_path / "job.py").write_text(source, encoding="utf-8")
    return plugin.declare(SupervisedProcesses(), "job.py", str(tmp_path), **more)


def test_declarations_are_read_as_they_were_written(tmp_path: Path) -> None:
    said = declared(tmp_path, SCREEN)
    assert said["errors"] == []
    assert said["watches"] == [
        {
            "name": "quiet",
            "function": "quiet",
            "doc": "Issues without a word.",
            "line": 7,
            "every": "6h",
            "params": {"days": 60},
        },
    ]
    stale, weekly, bare = said["jobs"]
    assert stale == {
        "name": "stale",
        "function": "stale",
        "doc": "One part per issue.",
        "line": 13,
        "schedule": "0 7 * * MON",
        "publish": {"comment": {"each": "issue"}},
        "publishes": [],
        "approve": "write",
        "timeout": "5m",
        "idempotency": False,
        "watch": ["quiet"],
    }
    assert weekly["watch"] == ["feeds", "releases"]
    assert weekly["retries"] == {"max": 3, "backoff": "5m"}
    assert weekly["publish"] == {"issue": {}}
    assert weekly["publishes"] == ["issue", "newsletter.send"]
    assert weekly["idempotency"] is True
    assert (weekly["on"], weekly["catch_up"], weekly["concurrency"]) == (["releases"], "latest", 1)
    assert (bare["watch"], bare["publish"]) == ([], {})


@pytest.mark.parametrize(
    ("source", "line", "text"),
    [
        ("def f(:\n", 1, "is no valid Python"),
        ("\nimport nothing_like_this\n", 2, "No module named 'nothing_like_this'"),
        ("x = 1\nraise ValueError('no')\n", 2, "ValueError: no"),
        ("\n\nimport sys; sys.exit(5)\n", 3, "it exits (code 5)"),
        ("import os; os._exit(5)\n", 1, "ended with 5 while it was read"),
        ("import os; os.kill(os.getpid(), 9)\n", 1, "signal 9"),
        ("from hz_team.plugin import job\n@job(approve=object())\ndef f(): ...\n", 1, "no job file can say"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path: Path, source: str, line: int, text: str) -> None:
    said = declared(tmp_path, source)
    assert (said["jobs"], said["watches"]) == ([], [])
    assert said["errors"][0]["line"] == line
    assert text in said["errors"][0]["text"]


def test_a_file_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "READING", 1)
    began = time.monotonic()
    said = declared(tmp_path, "while True: pass\n")
    assert time.monotonic() - began < 10
    assert "takes longer than 1 s to be read" in said["errors"][0]["text"]


def test_a_file_that_prints_and_forks_declares_all_the_same(tmp_path: Path) -> None:
    noise = "import os, sys\nprint('{\"jobs\": 1}')\nsys.stderr.write('x' * 300_000)\nif os.fork() == 0: os._exit(0)\n"
    assert len(declared(tmp_path, noise + SCREEN.replace("from __future__ import annotations\n", ""))["jobs"]) == 3


def test_the_allowlist_holds_while_a_file_is_read(tmp_path: Path) -> None:
    said = declared(tmp_path, "import json\nimport jinja2\n", modules=["markupsafe"])
    assert (said["errors"][0]["line"], "jinja2 is not on the list" in said["errors"][0]["text"]) == (2, True)


def test_dates_of_items_arrive_as_dates() -> None:
    item = Item(
        {"day": "2026-09-01", "at": "2026-09-01T10:00:00Z", "title": "2026-budget", "n": 7, "user": {"name": "x"}}
    )
    assert item.day == date(2026, 9, 1)
    assert item.at == datetime(2026, 9, 1, 10, tzinfo=UTC)
    assert (item.title, item.n, item.user.name, item["day"]) == ("2026-budget", 7, "x", "2026-09-01")
    with pytest.raises(AttributeError, match="has no size; it has at, day, n, title, user"):
        _ = item.size


def test_facets_and_cursors() -> None:
    facets = Facets([{"id": "1"}], cursor=Cursor({"page": 2}), added=[{"id": "1"}])
    assert ([item.id for item in facets], len(facets), facets.cursor, facets.added[0].id) == (
        ["1"],
        1,
        {"page": 2},
        "1",
    )
    assert not Cursor()
    assert Cursor({"page": 0})
    assert (Cursor({"page": 3}).get("page"), Cursor().get("page", 1), Cursor("token").get("page")) == (3, 1, None)


def test_a_decorated_function_is_the_function() -> None:
    before = len(plugin.DECLARED)

    @plugin.job(schedule="@daily", retries=Retry(1))
    def f(inputs: Inputs) -> Proposal:
        return Proposal(title=inputs.since)

    assert f(Inputs(since="v1")).title == "v1"
    assert plugin.DECLARED[before:][0].function is f
    del plugin.DECLARED[before:]


def test_arguments_go_by_type_and_then_by_name() -> None:
    def f(a: Facets, b: "Facets", c, who: Inputs, cursor, slot, note, days=60, *rest, **more) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN003, UP037
        ...

    given = {"watches": {"a": 1, "b": 2, "c": 3}, "inputs": 4, "cursor": 5, "slot": 6, "note": 7, "params": {"days": 8}}
    assert signature.arguments(f, given) == {
        "a": 1, "b": 2, "c": 3, "who": 4, "cursor": 5, "slot": 6, "note": 7, "days": 8,
    }  # fmt: skip
