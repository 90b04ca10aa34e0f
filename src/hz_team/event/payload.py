"""Event payloads: what GitHub writes into the event file of a run, read without trusting any of it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.model.wake import Said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.job import Index

LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,98}(?:\[bot\])?")
WORD = re.compile(r"[a-z][a-z_]{0,39}")


class Ground(NamedTuple):
    """What events are read against."""

    config: Index
    repository: str
    run: str
    now: int


class Event(NamedTuple):
    """One event, as far as all kinds of them are alike."""

    name: str
    payload: Mapping[str, Any]
    action: str
    """"" if there is none, or none that GitHub could have written."""
    by: str
    is_bot: bool
    woken: tuple[str, ...]
    """Jobs whose `on` names it."""

    @property
    def deed(self) -> str:
        """The action in plain words."""
        return self.action.replace("_", " ") or "changed"

    def said(self, deed: str, **more: Any) -> Said:
        """Return that it counts, in plain words."""
        return Said(f"{self.by} {deed}", self.by, woken=self.woken, **more)

    def ignored(self, why: str) -> Said:
        """Return why it does not count."""
        return Said(by=self.by, ignored=why)


def read(name: str, payload: Mapping[str, Any], config: Index) -> Event:
    """Return the event of a name and a payload."""
    sender = part(payload, "sender")
    login, action = str(sender.get("login") or ""), str(payload.get("action") or "")
    by = login if LOGIN.fullmatch(login) else "somebody"
    is_bot = sender.get("type") == "Bot" or by.endswith("[bot]")
    action = action if WORD.fullmatch(action) else ""
    return Event(name, payload, action, by, is_bot, _woken(name, action, config))


def _woken(name: str, action: str, config: Index) -> tuple[str, ...]:
    return tuple(
        job.id
        for job in config.jobs
        if any(
            trigger.kind == "event" and trigger.name == name and (not trigger.types or action in trigger.types)
            for trigger in job.triggers
        )
    )


def part(value: Any, key: str) -> Mapping[str, Any]:
    """Return a mapping inside a mapping, an empty one if it is anything else."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def number(value: Mapping[str, Any]) -> int:
    """Return the number of an issue, a pull request or a discussion; 0 if it has none."""
    found: Any = value.get("number")
    return int(found) if is_count(found) else 0


def is_count(value: Any) -> bool:
    """Whether this is a number that GitHub counts things with."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**15


def shown(value: Any) -> str:
    """Return a short foreign name for one of our sentences, without anything that a screen or a page would obey."""
    return re.sub(r"[^A-Za-z0-9._/+-]", "?", str(value)[:80]) or "nothing"
