"""What a job made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.errors import RemoteError

if TYPE_CHECKING:
    from collections.abc import Mapping


VERSION = 1
"""Format of draft documents; a part of their digest, like all that is in them."""


class Cost(NamedTuple):
    """What a run cost."""

    ms: int = 0
    tokens: int = 0
    usd_micros: int = 0


class Draft(NamedTuple):
    """One draft, ready to be a proposal: everything the publisher will send, already neutralised."""

    kind: str
    """The publisher; "" for a draft that is kept, not proposed."""
    target: str
    """What it is published to: `here` or owner/name for an issue, `#7` for a comment, a path for a file, a branch name
    for a pull request, a URL for a webhook. For `each:` the first target; the rest is in `parts`."""
    title: str
    body: str
    labels: tuple[str, ...] = ()
    files: Mapping[str, Any] = {}
    """Path → new text; {"base64": text} for bytes; null for a removed file. Only files and pull requests have them."""
    fields: Mapping[str, Any] = {}
    """Every further field the kind sends (branch, base, patch, …)."""
    parts: tuple[Mapping[str, Any], ...] = ()
    """`each:` one mapping a target: {"target", "title", "body", "labels"}. Empty: the draft itself is the only part."""

    def payload(self) -> dict[str, Any]:
        """Everything the publisher will send; the digest is over this document's canonical JSON."""
        return {
            "body": self.body,
            "fields": dict(self.fields),
            "files": dict(self.files),
            "kind": self.kind,
            "labels": list(self.labels),
            "parts": [dict(part) for part in self.parts],
            "target": self.target,
            "title": self.title,
            "v": VERSION,
        }


def readable(payload: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Return a stored draft document. Raises RemoteError for one of a format that this program does not know."""
    version = payload.get("v")
    if version != VERSION:
        raise RemoteError(f"{path} on the state branch has format {version}; this hz-team reads {VERSION}: upgrade it")
    return payload


class Refusal(NamedTuple):
    """A draft that asked for more than `publish:` leaves open."""

    asked: str
    ceiling: str
    title: str = ""


class Outcome(NamedTuple):
    """What came of one order."""

    job: str
    status: str
    """rendered, failed or refused (nothing but refusals)."""
    drafts: tuple[Draft, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    cost: Cost = Cost()
    error: str = ""
    """One sentence, "" if rendered."""
    tail: str = ""
    """The last lines of output (redacted, bounded), for where a person meets a failure."""
    level: str = ""
    """Containment reached: `landlock-7`, `none`, …"""
    env: tuple[str, ...] = ()
    """Names (never values) of the variables that were passed on."""
    warnings: tuple[str, ...] = ()
    sources: Mapping[str, int] = {}
    """Watch id → items that were new to it."""
    retry: bool = True
    """False: trying again cannot help (a refusal, an invalid template)."""
    outputs: Mapping[str, str] = {}
    """What the steps wrote to $HZ_OUTPUT, if a title or path of `publish` may name it: in split mode it is rendered
    again where the draft is checked."""
