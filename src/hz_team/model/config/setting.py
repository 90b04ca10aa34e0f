"""`.hz/hz.yaml`, `.hz/control.yaml`, policies, and the files that are accepted and not run yet."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, RootModel

from hz_team.model.config.publish import KINDS, Approval, Approve
from hz_team.model.config.value import (
    Amount,
    Flag,
    Id,
    Misfit,
    Names,
    People,
    Repository,
    Shape,
    Usd,
    Word,
    added,
    text_of,
)
from hz_team.model.config.zone import Zone

_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?|\[[0-9a-f:]+\](?::[0-9]{1,5})?", re.IGNORECASE)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _host(value: Any) -> str:
    text = text_of(value)
    if not _HOST.fullmatch(text):
        raise Misfit(f"`{text}` is no host; write it alone, or with its port: hooks.example.org:8443")
    return text.lower()


def _kind(value: Any) -> str:
    text = text_of(value)
    if text not in KINDS and text not in added("publishers"):
        raise Misfit(f"`{text}` is no kind of publisher; there are {', '.join(KINDS)}")
    return text


def _until(value: Any) -> str:
    from datetime import datetime

    text = text_of(value)
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise Misfit(f"`{text}` is no date; write the last day on which it counts: 2027-03-01") from None
    return text


Host = Annotated[str, BeforeValidator(_host, json_schema_input_type=str)]
Kind = Annotated[str, BeforeValidator(_kind, json_schema_input_type=str)]
Until = Annotated[str, BeforeValidator(_until, json_schema_input_type=str)]


class Budget(Shape):
    """What all jobs together may use."""

    minutes: Amount | None = None
    """Actions minutes a month; the workflow check refuses more. Accepted, not run yet."""
    usd_per_day: Usd | None = None


class Ceilings(Shape):
    """Where drafts may go besides this repository."""

    repositories: tuple[Repository, ...] = ()
    hosts: tuple[Host, ...] = ()
    """Webhook hosts, `host` or `host:port`; a private or loopback address only when it is listed by itself."""


class StatePlace(Shape):
    """Where the state lives."""

    repository: Word = ""
    """A Git URL or owner/name; default: this repository."""


class Limits(Shape):
    """Bounds of one tick."""

    drafts_per_tick: Amount = 10
    parallel: Amount = 4


class SettingsFile(Shape):
    """`.hz/hz.yaml`: the team's settings, every key optional."""

    timezone: Zone = "UTC"
    approve: Approval = Approve()
    budget: Budget = Budget()
    teams: dict[Word, People] = Field(default_factory=dict)
    """org/team → logins, for the built-in token, which cannot ask GitHub."""
    publish: Ceilings = Ceilings()
    state: StatePlace = StatePlace()
    limits: Limits = Limits()
    modules: Names = ()
    """Modules that Python jobs may import unattended; none: anything installed."""


class CostCeilings(Shape):
    """Off switches for money."""

    usd_per_day: Usd | None = None
    """All jobs together."""
    jobs: dict[Id, Usd] = Field(default_factory=dict)
    """Job → US dollars a day."""


class ControlFile(Shape):
    """`.hz/control.yaml`: off switches and ceilings only, so that it can have owners of its own."""

    paused: Flag = False
    disabled: Annotated[tuple[Id, ...], BeforeValidator(lambda v: [v] if isinstance(v, str) and v else v or [])] = ()
    """Ids of jobs."""
    cost: CostCeilings = CostCeilings()


class PolicyEntry(Shape):
    """A kind of draft that goes out without asking."""

    owner: Word
    """Who answers for it; if the right is lost, the entry stops working."""
    job: Id
    kind: Kind
    target: Word
    until: Until
    """The last day on which it counts, or a moment."""


class PoliciesFile(RootModel[tuple[PolicyEntry, ...]]):
    """`.hz/policies/auto-approve.yaml`: every entry names owner, job, kind, target and until."""
