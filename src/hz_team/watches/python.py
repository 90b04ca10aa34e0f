"""A watch function of a file in `.hz/jobs/`: cursor in, facets and cursor out, in a contained child of its own."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hz_team import workroom
from hz_team.model.facet import NEWEST, Cursor, Item, Polled, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.job import Watch
    from hz_team.ports import Finished, WatchTools

TIMEOUT = 120
IDENTITIES = ("id", "ref", "number", "link", "url", "path", "title")
"""Fields that tell one item from another, the first that there is."""
FIRST_WAIT, LONGEST_WAIT = 60, 6 * 3600


def poll(watch: Watch, cursor: Cursor, tools: WatchTools) -> Polled:
    """Call the function once. A failure is a note and a back-off; the snapshot and the cursor stay."""
    file, function = _place(watch.spec)
    path = os.path.join(tools.root, file)
    before = cursor.sources.get(function, Source())
    if before.not_before > tools.now:
        return Polled(cursor, None)
    request = {
        "action": "poll",
        "file": path,
        "shown": file,
        "function": function,
        "cursor": cursor.state,
        "params": dict(watch.spec.get("params", {})),
        "modules": list(watch.spec.get("modules", ())),
    }
    answer, finished = workroom.ask(
        tools.processes, "hz_team.steps.python", request, read=(path,), timeout=watch.spec.get("timeout", TIMEOUT)
    )
    if not _is_answer(answer):
        return _failed(watch, cursor, function, reason=_reason(finished), tools=tools)
    return _seen(cursor, function, before, answer, tools)


def _place(spec: Mapping[str, Any]) -> tuple[str, str]:
    """Return file below the root, and function, of {file, function} or of `python: FILE:FUNCTION`."""
    if "file" in spec:
        return str(spec["file"]), str(spec["function"])
    file, _, function = str(spec["python"]).rpartition(":")
    return (file if "/" in file else f".hz/jobs/{file}"), function


def _is_answer(answer: Any) -> bool:
    return (
        isinstance(answer, dict)
        and isinstance(answer.get("items"), list)
        and all(isinstance(item, dict) for item in answer["items"])
    )


def _reason(finished: Finished) -> str:
    if finished.timed_out:
        return "took too long and was ended"
    if finished.code is None:
        return f"was ended by signal {finished.signal}"
    return finished.stderr.strip().rpartition("\n")[2][:500] or f"ended with {finished.code} and no answer"


def _failed(watch: Watch, cursor: Cursor, function: str, *, reason: str, tools: WatchTools) -> Polled:
    before = cursor.sources.get(function, Source())
    failures = before.failures + 1
    wait = min(FIRST_WAIT * 2 ** (failures - 1), max(watch.every, FIRST_WAIT), LONGEST_WAIT)
    source = before._replace(
        polled_at=tools.now,
        not_before=tools.now + int(wait * (1 + tools.jitter() / 10)),
        failures=failures,
        failing_since=before.failing_since or tools.now,
        error=reason,
    )
    after = cursor._replace(polled_at=tools.now, sources={**cursor.sources, function: source})
    return Polled(after, None, requests=0, notes=(f"{watch.id}: {reason}",), urgent=failures == 1)


def _seen(cursor: Cursor, function: str, before: Source, answer: dict[str, Any], tools: WatchTools) -> Polled:
    items = tuple(_item(item) for item in answer["items"][:NEWEST])
    after = cursor._replace(
        polled_at=tools.now,
        sources={**cursor.sources, function: Source(polled_at=tools.now)},
        state=answer.get("cursor"),
    )
    old = tools.items() if cursor.snapshot else ()
    recovered = before.failures > 0
    if cursor.snapshot and items == tuple(old):
        return Polled(after, None, unchanged=1, urgent=recovered or after.state != cursor.state)
    known = {item["id"] for item in old}
    return Polled(after, items, added=sum(item["id"] not in known for item in items), urgent=recovered)


def _item(given: dict[str, Any]) -> Item:
    """Return the canonical item: always an id and a title, and no fractions (digests take none)."""
    item: Item = json.loads(json.dumps(given), parse_float=_whole)
    identity = next((item[name] for name in IDENTITIES if item.get(name) not in (None, "")), None)
    if identity is None:
        identity = json.dumps(item, sort_keys=True)
    return {"title": "", **item, "id": str(identity)}


def _whole(text: str) -> int | str:
    number = float(text)
    return int(number) if number.is_integer() else text
