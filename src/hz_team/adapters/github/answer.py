"""One HTTP answer of GitHub's: what it says, or which error it is. Pure.

Limits, permissions and dead tokens have several faces (docs.github.com: "Rate limits for the REST API" and
"Troubleshooting the REST API"); each is told once, here.
"""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

from hz_team.adapters.github.address import path_of
from hz_team.errors import Deferred, Forbidden, HzError, PublishUnknown, RemoteError, TryAgain
from hz_team.ports import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

MOVED = frozenset({301, 302, 307, 308})
FACTS = frozenset({200, 201, 202, 204, 304, 404, 409, 410, 422}) | MOVED
"""Statuses that are replies."""
FULL = frozenset({200, 201})
"""Statuses that come with a document."""
DEAD, FORBIDDEN, MANY, BROKEN = 401, 403, 429, 500
WAIT = 60
"""Seconds to wait where a secondary limit does not say how long."""
LONGEST_WAIT = 86_400
"""Seconds; a header that says more is wrong."""
LONGEST = 300
"""Characters of GitHub's own words in a sentence."""
GRANTED = frozenset({
    "actions", "attestations", "checks", "contents", "deployments", "discussions", "issues", "packages", "pages",
    "pull-requests", "repository-projects", "security-events", "statuses",
})  # fmt: skip
"""What a workflow may give its own token, by the names that stand there below `permissions:`."""
_LACKING = ("not accessible by", "must have", "permission", "requires")
_LIMITS = ("secondary rate limit", "abuse detection", "api rate limit")
_NEXT = re.compile(r"<([^<>]*)>[^<>]*;\s*rel=\"?next\"?(?![\w-])")


def judged(
    status: int, headers: Mapping[str, str], body: bytes, *, asked: str, permission: str, now: int, home: str
) -> Reply:
    """Return what an answer says; raises what it means otherwise.

    `asked`: the request in a few words. `home`: the address of the API; a link or redirect to another host is an error.
    """
    if error := trouble(status, headers, body, asked=asked, permission=permission, now=now):
        raise error
    if status in MOVED and (location := headers.get("location", "")):
        path_of(location, home, asked)
    return Reply(status, _document(status, body, asked), headers, next_of(headers.get("link", ""), home, asked))


def trouble(
    status: int, headers: Mapping[str, str], body: bytes, *, asked: str, permission: str, now: int
) -> HzError | None:
    """Return the error that an answer is, None if it is a fact."""
    if status in FACTS:
        return None
    words = message(body)
    if status == DEAD:
        return RemoteError(f"{asked}: the token is not valid (any more): {words or 'bad credentials'}; give a new one")
    if status in (FORBIDDEN, MANY):
        until = waits(headers, words, now=now, limited=status == MANY)
        return deferred(asked, until) if until else refused(asked, words, permission)
    if status >= BROKEN:
        return TryAgain(f"{asked}: GitHub answered {status}; the next tick asks again")
    return RemoteError(f"{asked}: GitHub answered {status}{f': {words}' if words else ''}")


def waits(headers: Mapping[str, str], words: str, *, now: int, limited: bool) -> int:
    """Return until when GitHub asks us to wait, 0 if it does not."""
    after = _number(headers.get("retry-after", ""))
    if after is not None:
        return now + min(after, LONGEST_WAIT)
    reset = _number(headers.get("x-ratelimit-reset", ""))
    if headers.get("x-ratelimit-remaining") == "0" and reset is not None:
        return min(max(now + 1, reset), now + LONGEST_WAIT)
    return now + WAIT if limited or is_limit(words) else 0


def is_limit(words: str) -> bool:
    """Whether GitHub's words are about too many requests."""
    return any(one in words.lower() for one in _LIMITS)


def message(body: bytes) -> str:
    """Return GitHub's own words about an error, in one neutral line; "" where it has none (a page of a proxy's)."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(said, dict):
        return ""
    details = said.get("errors")
    more = [_words(one) for one in details] if isinstance(details, list) else []
    return line(" ".join(part for part in (_words(said), *more) if part))


def line(text: str) -> str:
    """Return a foreign text as one short line without control and invisible characters."""
    return "".join(mark for mark in " ".join(text.split()) if mark.isprintable())[:LONGEST]


def next_of(link: str, home: str, asked: str) -> str:
    """Return path and query of the next page by a Link header, "" if there is none. Raises RemoteError: elsewhere."""
    found = _NEXT.search(link)
    return path_of(found[1], home, asked) if found else ""


def deferred(asked: str, until: int) -> Deferred:
    """Return the error of somebody who was asked to wait."""
    when = time.strftime("%H:%M:%S UTC", time.gmtime(until))
    return Deferred(f"{asked}: GitHub asks us to wait until {when}; a later tick goes on", until)


def refused(asked: str, words: str, permission: str) -> RemoteError:
    """Return what a 403 means that is no limit: the token lacks a permission, or something else forbids it."""
    if not words:
        return RemoteError(f"{asked}: forbidden, and what came is no answer of GitHub's API; is a proxy between?")
    if any(one in words.lower() for one in _LACKING):
        return Forbidden(f"{asked}: the token may not do that ({words}){_remedy(permission)}")
    return RemoteError(f"{asked}: GitHub refused it: {words}")


def lost(asked: str, words: str, *, writes: bool) -> HzError:
    """Return what it means that no answer came: a question is asked again, a mutation may have been done."""
    if writes:
        return PublishUnknown(f"{asked}: {words}; nobody can tell whether it was done")
    return TryAgain(f"{asked}: {words}; the next tick asks again")


def _remedy(permission: str) -> str:
    """Return what to do about a permission, as `pull_requests: write`, in a workflow too: its names have hyphens."""
    name, _, level = permission.partition(": ")
    if not name:
        return ""
    level, granted = level or "read", name.replace("_", "-")
    need = f"; it needs the permission `{name}: {level}`"
    if granted in GRANTED:
        return f"{need}: in Actions, add the line `{granted}: {level}` below `permissions:` of the workflow"
    return f"{need}, which a workflow cannot give its own token: use an App's or a personal one"


def _words(said: Any) -> str:
    return str(said.get("message") or "") if isinstance(said, dict) else str(said)


def _number(text: str) -> int | None:
    """Return a header's number; None for what is none, or has more digits than any time."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None  # noqa: PLR2004


def _document(status: int, body: bytes, asked: str) -> Any:
    """Return the document of an answer. Raises RemoteError where there must be one and is none."""
    try:
        document = json.loads(body) if body.strip() else None
    except (ValueError, RecursionError):
        document = None
    if document is None and status in FULL:
        raise RemoteError(f"{asked}: what came is no answer of GitHub's API (no JSON); is a proxy between?")
    return document
