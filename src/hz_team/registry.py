"""The one table of kinds: what a watch can look at, a step can do, and a publisher can make.

Modules are named as text and imported when their kind is used. Installed packages add kinds by the entry points
`hz_team.watches`, `hz_team.steps` and `hz_team.publishers`. Those are looked up only for a kind that is not in the
table, so they can neither replace a built-in one nor cost a tick that does not use them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hz_team.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.metadata import EntryPoint

    from hz_team.model.facet import Cursor, Polled
    from hz_team.model.job import Step, Watch
    from hz_team.model.proposal import Part
    from hz_team.ports import Command, Found, PublishTools, WatchTools
    from hz_team.workroom import Workroom

WATCHES = {
    "feed": "hz_team.watches.feed",
    "files": "hz_team.watches.files",
    "python": "hz_team.watches.python",
}
LATER = "github."
"""Watches that begin so are accepted in files and not run yet."""
STEPS = {
    "file": "hz_team.steps.file",
    "python": "hz_team.steps.python",
    "shell": "hz_team.steps.shell",
    "template": "hz_team.steps.template",
}
PUBLISHERS = {
    "comment": "hz_team.publishers.comment",
    "file": "hz_team.publishers.file",
    "issue": "hz_team.publishers.issue",
    "pull_request": "hz_team.publishers.pull_request",
    "webhook": "hz_team.publishers.webhook",
}


class WatchKind(Protocol):
    """The module of a kind of watch."""

    def poll(self, watch: Watch, cursor: Cursor, tools: WatchTools, /) -> Polled:
        """Look once. A failure is a note and a back-off in what is returned, never an exception."""
        ...


class StepKind(Protocol):
    """The module of a kind of step."""

    def command(self, step: Step, room: Workroom, /) -> Command:
        """Return the one process that does the step."""
        ...


class Publisher(NamedTuple):
    """A kind of outcome, out of the names of its module."""

    kind: str
    undoable: bool
    """False: what went out cannot be taken back, so it is approved on the page that shows the draft."""
    find: Callable[[Part, PublishTools], Found]
    publish: Callable[[Part, PublishTools], str]
    words: Callable[[Mapping[str, Any]], str]
    becomes: Callable[..., str]
    """(payload, repository="") → Markdown."""

    def parts(
        self, payload: Mapping[str, Any], repository: str, proposal_key: str, *, job: str = "", proposal: str = ""
    ) -> tuple[Part, ...]:
        """Return the outcomes that a payload asks for, each with its idempotency key."""
        from hz_team import publishers

        return publishers.parts(payload, repository, proposal_key, job=job, proposal=proposal)


class _Group(NamedTuple):
    """One part of the table."""

    noun: str
    points: str
    """Group of entry points."""
    table: Mapping[str, str]
    names: tuple[str, ...]
    """What a module of it must define."""


_WATCHES = _Group("watch", "hz_team.watches", WATCHES, ("poll",))
_STEPS = _Group("step", "hz_team.steps", STEPS, ("command",))
_PUBLISHERS = _Group(
    "publisher", "hz_team.publishers", PUBLISHERS, ("KIND", "UNDOABLE", "becomes", "find", "publish", "words")
)


def watch(kind: str) -> WatchKind:
    """Return the module of a kind of watch. Raises UsageError if there is none."""
    module: WatchKind = _module(_WATCHES, kind)
    return module


def accumulates(kind: str) -> bool:
    """Whether snapshots of this kind of watch hold what was ever listed, so that nothing is ever "removed" from one."""
    try:
        return bool(getattr(watch(kind), "ACCUMULATES", False))
    except UsageError:
        return False


def step(kind: str) -> StepKind:
    """Return the module of a kind of step. Raises UsageError if there is none."""
    module: StepKind = _module(_STEPS, kind)
    return module


def publisher(kind: str) -> Publisher:
    """Return a kind of outcome. Raises UsageError if there is none."""
    module = _module(_PUBLISHERS, kind)
    return Publisher(kind, module.UNDOABLE, module.find, module.publish, module.words, module.becomes)


def undoable(kind: str) -> bool:
    """Whether what this kind makes can be taken back; a kind that nobody knows cannot."""
    try:
        return publisher(kind).undoable
    except UsageError:
        return False


def first_key(repository: str, proposal_key: str) -> str:
    """Return the idempotency key of a proposal's first part: the one its receipts name."""
    from hz_team import publishers

    return publishers.key_of(repository, proposal_key, 0)


def _module(group: _Group, kind: str) -> Any:
    if kind in group.table:
        return import_module(group.table[kind])
    points = _installed(group, kind)
    if not points and group is _WATCHES and kind.startswith(LATER):
        raise UsageError(f"watch type `{kind}` is not run yet")
    if not points:
        known = ", ".join(sorted(group.table))
        raise UsageError(
            f"there is no {group.noun} `{kind}`; there are {known}, and what packages add to {group.points}"
        )
    if len(points) > 1:
        owners = " and ".join(sorted(_owner(point) for point in points))
        raise UsageError(f"{owners} both bring a {group.noun} `{kind}`; uninstall one of them")
    return _loaded(group, points[0])


def _installed(group: _Group, kind: str) -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group.points, name=kind))


def _loaded(group: _Group, point: EntryPoint) -> Any:
    try:
        module = point.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        raise UsageError(f"the {group.noun} `{point.name}` of {_owner(point)} cannot be loaded: {error}") from error
    missing = [name for name in group.names if not hasattr(module, name)]
    if missing:
        raise UsageError(f"the {group.noun} `{point.name}` of {_owner(point)} lacks {', '.join(missing)}")
    return module


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
