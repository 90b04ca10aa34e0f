"""One HTTP answer of GitHub's: what it says, or which error it is. Pure.

Limits, permissions and dead tokens have several faces (docs.github.com: "Rate limits for the REST API" and
"Troubleshooting the REST API"); each is told once, here.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hz_team.errors import Deferred, Forbidden, HzError, RemoteError, TryAgain
from hz_team.ports import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

FACTS = frozenset({200, 201, 202, 204, 301, 302, 304, 307, 308, 404, 409, 410, 422})
"""Statuses that are replies."""
DEAD, FORBIDDEN, MANY, BROKEN = 401, 403, 429, 500
WAIT = 60
"""Seconds to wait where a secondary limit does not say how long."""
LONGEST = 300
"""Characters of GitHub's own words in a sentence."""
_LACKING = ("not accessible by", "must have", "permission", "requires")
_LIMITS = ("secondary rate limit", "abuse detection")


def judged(status: int, headers: Mapping[str, str], body: bytes, *, asked: str, permission: str, now: int) -> Reply:
    """Return what an answer says; raises what it means otherwise. `asked`: the request in a few words."""
    if error := trouble(status, headers, body, asked=asked, permission=permission, now=now):
        raise error
    return Reply(status, _document(status, body, asked), headers, next_of(headers.get("link", "")))


def trouble(
    status: int, headers: Mapping[str, str], body: bytes, *, asked: str, permission: str, now: int
) -> HzError | None:
    """Return the error that an answer is, None if it is a fact."""
    if status in FACTS:
        return None
    words = message(body)
    if status == DEAD:
        return RemoteError(f"{asked}: GitHub does not know the token (any more): {words or 'bad credentials'}")
    if status in (FORBIDDEN, MANY):
        until = waits(headers, words, now=now, limited=status == MANY)
        return _deferred(asked, until) if until else _refused(asked, words, permission)
    if status >= BROKEN:
        return TryAgain(f"{asked}: GitHub answered {status}; the next tick asks again")
    return RemoteError(f"{asked}: GitHub answered {status}{f': {words}' if words else ''}")


def waits(headers: Mapping[str, str], words: str, *, now: int, limited: bool) -> int:
    """Return until when GitHub asks us to wait, 0 if it does not."""
    after = headers.get("retry-after", "")
    if after.isdigit():
        return now + int(after)
    if headers.get("x-ratelimit-remaining") == "0" and headers.get("x-ratelimit-reset", "").isdigit():
        return max(now + 1, int(headers["x-ratelimit-reset"]))
    return now + WAIT if limited or any(one in words.lower() for one in _LIMITS) else 0


def message(body: bytes) -> str:
    """Return GitHub's own words about an error, in one neutral line."""
    try:
        said = json.loads(body)
        text = str(said.get("message") or "") if isinstance(said, dict) else ""
        details = said.get("errors") if isinstance(said, dict) else None
        if isinstance(details, list):
            more = [str(one.get("message") or "") if isinstance(one, dict) else str(one) for one in details]
            text = " ".join(part for part in (text, *more) if part)
    except ValueError:
        text = ""
    line = " ".join(text.split())
    return "".join(mark for mark in line if mark.isprintable())[:LONGEST]


def next_of(link: str) -> str:
    """Return path and query of the next page by a Link header, "" if there is none. Its host is never believed."""
    for part in link.split(","):
        address, _, about = part.partition(">")
        if 'rel="next"' in about:
            found = urlsplit(address.strip().removeprefix("<"))
            return f"{found.path}?{found.query}" if found.query else found.path
    return ""


def _deferred(asked: str, until: int) -> Deferred:
    when = time.strftime("%H:%M:%S UTC", time.gmtime(until))
    return Deferred(f"{asked}: GitHub asks us to wait until {when}; a later tick goes on", until)


def _refused(asked: str, words: str, permission: str) -> RemoteError:
    if any(one in words.lower() for one in _LACKING) or not words:
        name, _, level = permission.partition(": ")
        line = f"; it needs `{name}: {level or 'read'}` (in the workflow below `permissions:`)" if name else ""
        return Forbidden(f"{asked}: the token may not do that ({words or 'forbidden'}){line}")
    return RemoteError(f"{asked}: GitHub refused it: {words}")


def _document(status: int, body: bytes, asked: str) -> Any:
    if not body.strip():
        return None
    try:
        return json.loads(body)
    except ValueError:
        if status in (200, 201):
            raise RemoteError(f"{asked}: what came is no answer of GitHub's API (no JSON)") from None
        return None
