"""Kinds of outcomes, one file each, all with the same names; docs/add-a-kind.md is the recipe.

`KIND`, `UNDOABLE`, `find(part, tools)`, `publish(part, tools)`, `words(payload)`, `becomes(payload, repository)`.
A `publish` that makes more than one write asks `tools.check()` right before each: its time may be over.
`words` is plain text for rows and terminals, `becomes` is Markdown for the proposal's page; `payload` is what
`Draft.payload` returns. What they share stands here: parts and their keys, the marker, safe paths, and phrases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.errors import PublishRefused
from hz_team.model.proposal import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 1024
"""Bytes of a path; and of one name in it:"""
LONGEST_NAME = 255
_HERE = ("", "here")
_KEY = 64


def parts(
    payload: Mapping[str, Any], repository: str, proposal_key: str, *, job: str = "", proposal: str = ""
) -> tuple[Part, ...]:
    """Return the outcomes a payload asks for, each with its idempotency key: one, or one for each target."""
    each: tuple[Mapping[str, Any], ...] = tuple(payload["parts"]) or ({},)
    return tuple(
        Part(
            part=number,
            key=key_of(repository, proposal_key, number),
            kind=payload["kind"],
            target=one.get("target", payload["target"]),
            title=one.get("title", payload["title"]),
            body=one.get("body", payload["body"]),
            labels=tuple(one.get("labels", payload["labels"])),
            files=payload["files"],
            fields=payload["fields"],
            job=job,
            proposal=proposal,
        )
        for number, one in enumerate(each)
    )


def key_of(repository: str, proposal_key: str, part: int) -> str:
    """Return a part's idempotency key: no digest, time, lease or receipt is in it, so nothing can change it."""
    from hz_team.fingerprint import digest

    return digest([repository, proposal_key, part])


def marker(key: str) -> str:
    """Return the line, hidden where Markdown is shown, by which an outcome is found again."""
    if len(key) != _KEY or set(key) - set("0123456789abcdef"):
        raise ValueError(f"{key!r} is no idempotency key: 64 hex digits are")
    return f"<!-- hz:key {key} -->"


def checked_path(text: str) -> str:
    """Return a path below the repository's root. Raises PublishRefused for one that leads or looks elsewhere."""
    names = text.split("/")
    if text.startswith("/") or "\\" in text or {"", ".", ".."} & set(names) or ".git" in map(str.lower, names):
        raise PublishRefused(f"the path {shown(text)} does not stay below the repository's root; name one that does")
    if names[0].lower() == ".hz":
        raise PublishRefused(f"{shown(text)} is configuration: it changes by pull request only, so publish as one")
    if not text.isprintable():
        raise PublishRefused(f"the path {shown(text)} holds characters that cannot be seen; take them out")
    if len(text.encode()) > LONGEST or any(len(name.encode()) > LONGEST_NAME for name in names):
        raise PublishRefused(f"the path {shown(text)[:80]}… is too long; name a shorter one")
    return text


def shown(text: str) -> str:
    """Return foreign text for a sentence: one visible line, ASCII where anything else could mislead."""
    return text if text.isprintable() else ascii(text)[1:-1]


def targets(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the target of each part."""
    each: tuple[Mapping[str, Any], ...] = tuple(payload["parts"]) or ({},)
    return tuple(str(one.get("target", payload["target"])) for one in each)


def is_here(target: str) -> bool:
    """Whether a target is the team's own repository."""
    return target in _HERE


def paths(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that an outcome writes."""
    return tuple(payload["files"]) or targets(payload)


def counted(names: tuple[str, ...], noun: str) -> str:
    """Return the only name as plain text, or how many there are: "4 issues"."""
    return shown(names[0]) if len(names) == 1 else f"{len(names)} {noun}s"


def spelled(names: tuple[str, ...]) -> str:
    """Return names as Markdown code: "`a`, `b` and `c`"."""
    from hz_team.markdown import code

    spans = [code(name) or "``" for name in names]
    return " and ".join((", ".join(spans[:-1]), spans[-1])) if len(spans) > 1 else "".join(spans)
