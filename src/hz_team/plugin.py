"""The front door for team code: `from hz_team.plugin import Cursor, Facets, Inputs, Proposal, Retry, job, watch`.

Decorators only take notes, and leave the function as it is: a test calls it like any other. A file in `.hz/jobs/` is
imported nowhere but in a contained child process (`hz_team.steps.python`); `declare` asks such a child what a file
declares.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hz_team.ports import Finished, Processes

Function = TypeVar("Function", bound="Callable[..., Any]")

READING = 15
"""Seconds that reading a file's declarations may take."""
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}.*)?")

DECLARED: list[Declaration] = []
"""What the decorators of this process have seen, in order."""


class Proposal(NamedTuple):
    """A draft that asks to be published. What is left out is filled from the job's `publish`, which is its ceiling."""

    title: str = ""
    body: str = ""
    """Markdown."""
    target: str = ""
    """`#7` for a comment, a path for a file, …; with `each` one a proposal."""
    kind: str = ""
    """Needed when `publish` has several."""
    labels: tuple[str, ...] | list[str] = ()
    files: Mapping[str, str | None] = {}
    """Path → new text, None to remove it."""


class Retry(NamedTuple):
    """How often a failed run is tried again on later ticks before the job is parked, and after what time."""

    max: int = 3
    backoff: str = "5m"


class Item(dict[str, Any]):
    """One thing that a watch saw: `item.title` is `item["title"]`, but dates and times in it arrive as such."""

    def __getattr__(self, name: str) -> Any:
        """Return the field; ISO 8601 text as date or datetime, a mapping as an Item."""
        try:
            return _alive(self[name])
        except KeyError:
            known = ", ".join(sorted(self)) or "nothing"
            raise AttributeError(f"this item has no {name}; it has {known}") from None


class Facets:
    """What a watch saw: for a job the snapshot against its last draft that counts, from a watch function the whole.

    `added`, `changed`, `removed` and `all` are tuples of items, newest first; iterating goes through `all`.
    """

    def __init__(
        self,
        items: Iterable[Mapping[str, Any]] = (),
        *,
        cursor: Any = None,
        added: Iterable[Mapping[str, Any]] = (),
        changed: Iterable[Mapping[str, Any]] = (),
        removed: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """`items`: the whole snapshot. `cursor`: what the watch is given next time (JSON)."""
        self.all = tuple(Item(item) for item in items)
        self.added = tuple(Item(item) for item in added)
        self.changed = tuple(Item(item) for item in changed)
        self.removed = tuple(Item(item) for item in removed)
        self.cursor = cursor.state if isinstance(cursor, Cursor) else cursor

    def __iter__(self) -> Iterator[Item]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)


class Cursor:
    """Where a watch function stopped last time: what it gave as `Facets(items, cursor=…)`; false before the first."""

    def __init__(self, state: Any = None) -> None:
        """`state`: any JSON value."""
        self.state = state

    def __bool__(self) -> bool:
        return self.state is not None

    def get(self, name: str, default: Any = None) -> Any:
        """Return one entry of a state that is a mapping."""
        return self.state.get(name, default) if isinstance(self.state, dict) else default


class Inputs(Item):
    """What a poke carried: the declared inputs, checked, with their defaults."""


class Declaration(NamedTuple):
    """What one decorator said."""

    kind: str
    """job or watch."""
    function: Callable[..., Any]
    options: Mapping[str, Any]


@overload
def watch(function: Function, /) -> Function: ...
@overload
def watch(*, every: str = "1h", name: str = "") -> Callable[[Function], Function]: ...
def watch(function: Any = None, /, *, every: str = "1h", name: str = "") -> Any:
    """Declare a watch: a function that takes its Cursor and returns Facets. Parameters with defaults are settings."""
    return _noted("watch", function, {"every": every, "name": name})


@overload
def job(function: Function, /) -> Function: ...
@overload
def job(
    *,
    schedule: str | list[str] | tuple[str, ...] | None = None,
    on: Any = (),
    publish: Mapping[str, Any] | Iterable[str] | None = None,
    publishes: Iterable[str] = (),
    approve: Any = None,
    timeout: str | None = None,
    retries: Retry | Mapping[str, Any] | int | None = None,
    **more: Any,
) -> Callable[[Function], Function]: ...
def job(function: Any = None, /, **options: Any) -> Any:
    """Declare a job: a function whose parameters are watches (by name), Inputs, `slot` (a datetime) or `note`.

    It returns a Proposal, a list of them, Markdown text, or nothing. Everything a job file can say may be said here
    (`id name owner enabled timezone catch_up max_late fresh_for concurrency cost environment env inputs scope`);
    `publishes`, `idempotency` and `Retry` are taken as well.
    """
    return _noted("job", function, options)


def _noted(kind: str, function: Any, options: Mapping[str, Any]) -> Any:
    def note(decorated: Any) -> Any:
        DECLARED.append(Declaration(kind, decorated, options))
        return decorated

    return note(function) if function is not None else note


def declare(processes: Processes, path: str, root: str, *, modules: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a Python file declares, read in a contained child: {"jobs": […], "watches": […], "errors": […]}.

    A job: {name, function, doc, line, watch: [parameter names], publish: {kind: ceiling}, publishes: […], idempotency:
    bool} and, as it was written, whatever else was said (schedule, on, approve, timeout, retries {max, backoff} or a
    number, concurrency, catch_up, fresh_for, inputs, id, …). A watch: {name, function, doc, line, every, params: {name:
    default}}. An error: {line, text}; then the file declares nothing.
    """
    import os

    from hz_team import workroom

    file = os.path.join(os.path.abspath(root), path)
    request = {"action": "declare", "file": file, "shown": os.path.relpath(file, root), "modules": list(modules)}
    answer, finished = workroom.ask(processes, "hz_team.steps.python", request, read=(file,), timeout=READING)
    if isinstance(answer, dict) and all(isinstance(answer.get(part), list) for part in ("jobs", "watches", "errors")):
        return answer
    return {"jobs": [], "watches": [], "errors": [{"line": 1, "text": _unread(finished)}]}


def _unread(finished: Finished) -> str:
    """Return why a file gave no answer."""
    if finished.timed_out:
        return f"takes longer than {READING} s to be read; move the work into the function"
    if finished.code is None:
        return f"its process was ended by signal {finished.signal} while it was read"
    last = finished.stderr.strip().rpartition("\n")[2]
    return f"its process ended with {finished.code} while it was read{f': {last}' if last else ''}"


def _alive(value: Any) -> Any:
    if isinstance(value, str) and _ISO.fullmatch(value):
        try:
            return date.fromisoformat(value) if len(value) == len("2026-09-01") else datetime.fromisoformat(value)
        except ValueError:
            return value
    if isinstance(value, dict):
        return Item(value)
    return value
