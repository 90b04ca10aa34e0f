"""One feed address: asking it, and what its answer means for when it is asked again. Light: an idle tick runs this."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from hz_team.model.facet import Source
from hz_team.moment import iso
from hz_team.ports import HttpError, Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from hz_team.ports import Http

ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
LONGEST_WAIT = 86400
"""Seconds: no server may ask for more."""
LONGEST_BACK_OFF = 6 * 3600
SOON = 3600
"""A longer wait than this is written at once, so that other machines keep it too."""
MOVED_AFTER = 7 * 86400
"""A permanent redirect that leads to a feed for so long is believed."""
_OK, _UNCHANGED, _GONE, _BUSY = 200, 304, 410, (429, 503)
_PERMANENT = (301, 308)


class Visit(NamedTuple):
    """What came of asking one address."""

    url: str
    source: Source
    """Where the address stands now."""
    response: Response | None = None
    """A body to be read; None if there is none, or it is the one we know."""
    unchanged: bool = False
    offline: bool = False
    notes: tuple[str, ...] = ()
    urgent: bool = False


class Clock(NamedTuple):
    """What waiting depends on."""

    now: int
    every: int
    jitter: Callable[[], float]


def visit(url: str, source: Source, http: Http, clock: Clock, *, deadline: float, limit: int) -> Visit:
    """Ask an address for what changed."""
    request = Request(url, headers=_conditions(source), deadline=deadline, limit=limit, private=_host(url))
    try:
        response = http.send(request)
    except HttpError as error:
        if error.kind == "offline":
            return Visit(url, source, offline=True, notes=(str(error),))
        return failed(url, source, str(error), clock)
    if response.status == _GONE:
        return _gone(url, source, clock)
    if response.status not in (_OK, _UNCHANGED):
        return _refused(url, source, response, clock)
    if response.status == _UNCHANGED or _body(response) == source.validators.get("body"):
        return _settled(url, source, response, clock)._replace(unchanged=True)
    return Visit(url, source, response)


def succeeded(visit: Visit, response: Response, clock: Clock) -> Visit:
    """Return a visit whose body was read as a feed: from now on it stands for this answer."""
    return _settled(visit.url, visit.source, response, clock)._replace(response=response)


def failed(url: str, source: Source, reason: str, clock: Clock, *, wait: int = 0) -> Visit:
    """Count a failure: nothing of what is known changes, and the next try waits longer each time."""
    failures = source.failures + 1
    if not wait:
        longest = max(clock.every, LONGEST_BACK_OFF)
        wait = int(min(clock.every / 2 * 2 ** min(failures - 1, 30), longest) * (1 + clock.jitter() / 10))
    after = source._replace(
        polled_at=clock.now,
        not_before=clock.now + wait,
        failures=failures,
        failing_since=source.failing_since or clock.now,
        error=reason,
    )
    note = f"{reason}; asked again after {iso(after.not_before)}"
    return Visit(url, after, notes=(note,), urgent=failures == 1 or wait > SOON)


def retry_after(text: str, now: int) -> int:
    """Return the seconds a Retry-After asks for, at most a day; 0 if it says nothing readable."""
    text = text.strip()
    if re.fullmatch(r"\d{1,18}", text):
        return min(int(text), LONGEST_WAIT)
    from email.utils import mktime_tz, parsedate_tz

    parts = parsedate_tz(text)
    try:
        seconds = int(mktime_tz(parts)) - now if parts else 0
    except (ValueError, OverflowError):
        return 0
    return max(0, min(seconds, LONGEST_WAIT))


def shown(url: str) -> str:
    """Return an address without its query, which may hold a key."""
    return url.partition("?")[0]


def _host(url: str) -> tuple[str, ...]:
    """Return the host that the team wrote down, so that it may be a private one."""
    try:
        return (urlsplit(url).hostname or "",)
    except ValueError:
        return ()


def _conditions(source: Source) -> dict[str, str]:
    headers = {"Accept": ACCEPT}
    if etag := source.validators.get("etag"):
        headers["If-None-Match"] = etag
    if modified := source.validators.get("last_modified"):
        headers["If-Modified-Since"] = modified
    return headers


def _settled(url: str, source: Source, response: Response, clock: Clock) -> Visit:
    """Return a visit that went well: failures are forgotten, validators are the answer's, a move is watched."""
    moved, told = _moved(url, source, response, clock.now)
    after = source._replace(
        validators=_validators(source, response),
        polled_at=clock.now,
        not_before=0,
        failures=0,
        failing_since=0,
        error="",
        moved=moved,
    )
    notes = (f"{shown(url)} answers again",) if source.failures else ()
    return Visit(url, after, notes=notes + told, urgent=bool(source.failures or told))


def _validators(source: Source, response: Response) -> dict[str, str]:
    """Return the pair of the latest answer, untouched; a 304 that names none leaves the old pair."""
    names = {"etag": response.headers.get("etag"), "last_modified": response.headers.get("last-modified")}
    pair = {name: value for name, value in names.items() if value}
    if response.status == _UNCHANGED:
        body = {name: value for name, value in source.validators.items() if name == "body"}
        return {**pair, **body} if pair else dict(source.validators)
    return {**pair, "body": _body(response)}


def _body(response: Response) -> str:
    """Return what tells one body from another where a server has no validators."""
    return sha256(response.headers.get("content-type", "").encode() + b"\0" + response.body).hexdigest()[:16]


def _moved(url: str, source: Source, response: Response, now: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the permanent redirect that is being watched, and the proposal to follow it once it has lasted."""
    to = ""
    for status, place in response.hops:
        if status not in _PERMANENT:
            break
        to = place
    if not to:
        return {}, ()
    moved: dict[str, Any] = dict(source.moved) if source.moved.get("to") == to else {"to": to, "since": now}
    if moved.get("told") or now - moved["since"] < MOVED_AFTER:
        return moved, ()
    note = f"{shown(url)} has moved for good to {shown(to)}; put the new address into the watch"
    return {**moved, "told": now}, (note,)


def _gone(url: str, source: Source, clock: Clock) -> Visit:
    reason = f"410 Gone since {iso(clock.now)}"
    after = source._replace(polled_at=clock.now, not_before=0, paused=reason)
    note = (
        f"{shown(url)} is gone for good (410) and is not asked any more; take it out, or `hz-team resume --watch NAME`"
    )
    return Visit(url, after, notes=(note,), urgent=True)


def _refused(url: str, source: Source, response: Response, clock: Clock) -> Visit:
    wait = retry_after(response.headers.get("retry-after", ""), clock.now) if response.status in _BUSY else 0
    return failed(url, source, f"{shown(url)} answered {response.status}", clock, wait=wait)
