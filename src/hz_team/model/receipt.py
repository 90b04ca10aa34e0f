"""One step, on record. The ledger (`hz_team.ledger`) gives it its place in the job's chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

DISPOSITIONS = (
    "rendered",
    "failed",
    "awaiting_approval",
    "answered",
    "approved",
    "rejected",
    "withdrawn",
    "refused",
    "expired",
    "superseded",
    "published",
)


class Runner(NamedTuple):
    """Who executed."""

    kind: str
    """actions, laptop or local."""
    who: str
    host: str
    """A short hash of the host's name, not the name."""
    run: str = ""
    hz: str = ""
    python: str = ""


class Receipt(NamedTuple):
    """Everything about a step but its place in the chain (`v seq prev` and the id)."""

    job: str
    disposition: str
    as_of: int
    """The tick's `now`; stored as ISO 8601 text in UTC."""
    contract: str = ""
    cause: str = ""
    slot: int | None = None
    refs: tuple[str, ...] = ()
    """Everything this run stands for: poke ids, and passed slots as ISO 8601 text."""
    inputs: Mapping[str, Any] = {}
    """Watch id → snapshot fingerprint, and declared inputs under their names."""
    memo_key: str = ""
    proposal: str = ""
    idempotency_key: str = ""
    draft: str | None = None
    approval: tuple[Mapping[str, Any], ...] = ()
    """{by, role, via, ref, digest, at}"""
    published: tuple[Mapping[str, Any], ...] = ()
    """{part, target, ref}"""
    sources: Mapping[str, Any] = {}
    cost: Mapping[str, int] = {}
    """{ms, tokens, usd_micros}"""
    reason: str = ""
    error: str = ""
    level: str = ""
    """Containment that the job process reached; stored within runner."""
    env: tuple[str, ...] = ()
    """Names of the variables it was given; stored within runner."""
