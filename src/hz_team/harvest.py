"""What was asked for becomes drafts: within the ceiling, made inert, put together, not too large. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import ceiling, markdown
from hz_team.errors import HzError
from hz_team.model.draft import Draft, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.ceiling import Asked, Home

PROPOSALS, PARTS = 20, 100
"""Of one run, and of one proposal with `each`."""
BODY = 60_000
"""Characters of a body: GitHub takes 65,536, and our own lines need room."""
FILES = 1_000_000
"""Characters of all files of a draft together."""


class TooMuchError(HzError):
    """More than can be published; says how much is."""


class Wanted(NamedTuple):
    """One draft that a run asks for."""

    asked: Asked
    foreign: bool = True
    """A script or a function wrote it; a template has made its values inert itself."""


class Crop(NamedTuple):
    """What a run may propose, and what not."""

    drafts: tuple[Draft, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def harvest(wanted: Sequence[Wanted], publish: Mapping[str, Mapping[str, Any]], home: Home) -> Crop:
    """Judge every draft; put those of a kind with `each` together. Raises TooMuchError."""
    judged = [_judged(one, publish, home) for one in wanted]
    drafts = gather([one for one in judged if isinstance(one, Draft)], publish, home)
    _check(drafts)
    return Crop(drafts, tuple(one for one in judged if isinstance(one, Refusal)))


def with_change(
    wanted: Sequence[Wanted],
    publish: Mapping[str, object],
    files: Mapping[str, Any],
    patch: str,
) -> tuple[list[Wanted], str]:
    """Give the change of the checkout to the draft of the pull request; without such a draft it is one by itself.

    Returns the drafts, and a sentence if one was dropped because nothing had changed. Raises TooMuchError.
    """
    only = len(publish) == 1
    at = [n for n, (asked, _) in enumerate(wanted) if asked.kind == "pull_request" or (only and not asked.kind)]
    if files and len(at) > 1:
        raise TooMuchError(f"{len(at)} drafts for one pull request: one checkout makes one")
    if files and at and wanted[at[0]].asked.files:
        raise TooMuchError("a draft with `files` and a changed checkout: a pull request takes the checkout alone")
    if files:
        one = wanted[at[0]] if at else Wanted(ceiling.Asked())
        whole = one._replace(asked=one.asked._replace(kind="pull_request", files=files, patch=patch))
        return [*(other for n, other in enumerate(wanted) if n not in at), whole], ""
    empty = [n for n in at if not wanted[n].asked.files]
    words = "a draft for a pull request was written and no file was changed: nothing to propose" if empty else ""
    return [one for n, one in enumerate(wanted) if n not in empty], words


def gather(drafts: Sequence[Draft], publish: Mapping[str, Mapping[str, Any]], home: Home) -> tuple[Draft, ...]:
    """Make one draft with parts of all those whose kind says `each`; the others stay, in their order."""
    made: dict[str | int, list[Draft]] = {}
    for number, draft in enumerate(drafts):
        each = draft.kind and publish[draft.kind].get("each")
        made.setdefault(draft.kind if each else number, []).append(draft)
    return tuple(group[0] if isinstance(key, int) else _together(group, publish, home) for key, group in made.items())


def _together(group: list[Draft], publish: Mapping[str, Mapping[str, Any]], home: Home) -> Draft:
    first = group[0]
    fixed = ceiling.one_line(str(publish[first.kind].get("title") or ""))
    counted = f"{home.name}: {len(group)} {first.kind.replace('_', ' ')}s"
    parts = tuple({"target": o.target, "title": o.title, "body": o.body, "labels": list(o.labels)} for o in group)
    title = fixed or (first.title if len(group) == 1 else counted)
    return first._replace(title=title, body="", labels=(), parts=parts)


def _judged(wanted: Wanted, publish: Mapping[str, Mapping[str, Any]], home: Home) -> Draft | Refusal:
    found = ceiling.judge(wanted.asked, publish, home)
    if isinstance(found, Refusal):
        return found
    fixed = not wanted.foreign or (bool(found.kind) and publish[found.kind].get("title") == found.title)
    title = found.title if fixed else markdown.one_line(found.title)
    return found._replace(title=title, body=_inert(found, foreign=wanted.foreign))


def _inert(found: Draft, *, foreign: bool) -> str:
    """Return the body as it is shown and sent: without our markers, and nothing in foreign text acts."""
    if found.kind == "file" and not found.target.lower().endswith((".md", ".markdown")):
        return found.body  # published as the bytes of a file and shown as such: nothing in it acts
    body = markdown.neutralise(found.body) if foreign else markdown.sealed(found.body)
    return f"{body}\n" if found.kind == "file" and body else body


def _check(drafts: Sequence[Draft]) -> None:
    if len(drafts) > PROPOSALS:
        raise TooMuchError(f"{len(drafts)} proposals from one run; at most {PROPOSALS} are taken, or use `each`")
    for one in drafts:
        longest = max([len(one.body), *(len(str(part["body"])) for part in one.parts)])
        if longest > BODY:
            raise TooMuchError(f"{one.title}: the body has {longest:,} characters; at most {BODY:,} can be published")
        if len(one.parts) > PARTS:
            raise TooMuchError(f"{one.title}: {len(one.parts)} parts; at most {PARTS} are taken")
        if sum(len(str(content)) for content in one.files.values()) > FILES:
            raise TooMuchError(f"{one.title}: its files have more than {FILES:,} characters together")
