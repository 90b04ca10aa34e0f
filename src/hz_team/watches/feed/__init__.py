"""`feed`: RSS, RDF, Atom and JSON Feed behind conditional GETs.

An idle poll, in which every address says "not modified", loads no parser and not even the old snapshot.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hz_team.model.facet import NEWEST, Cursor, Item, Polled, Source
from hz_team.watches.feed.source import Clock, Visit, failed, shown, succeeded, visit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hz_team.model.job import Watch
    from hz_team.ports import WatchTools
    from hz_team.watches.feed.merge import Fetched, Merged

ACCUMULATES = True
"""A snapshot holds what was ever listed; what leaves a feed's window is not removed."""
EACH = 20.0
"""Seconds for one address …"""
ALL = 60.0
"""… and for all of a watch; those not reached stay due."""
LARGEST = 8_000_000
"""Bytes of one feed."""
OFFLINE = "offline: no feed could be reached; nothing counts as failed, and the next tick asks again"
_LEAST = 1.0


def poll(watch: Watch, cursor: Cursor, tools: WatchTools) -> Polled:
    """Ask every address that may be asked; return where they stand and, if anything changed, the new snapshot."""
    urls = addresses(watch.spec)
    clock = Clock(tools.now, watch.every, tools.jitter)
    visits, late = _visit_all(urls, cursor, tools, clock)
    if visits and all(each.offline for each in visits):
        return Polled(cursor, None, requests=len(visits), notes=(OFFLINE,))
    visits = [_settle(each, clock) for each in visits]
    visits, merged = _merge(watch, visits, cursor, tools)
    sources = {url: cursor.sources.get(url, Source()) for url in urls} | {each.url: each.source for each in visits}
    notes = [note for each in visits for note in each.notes] + list(merged.notes if merged else ())
    return Polled(
        cursor=cursor._replace(
            polled_at=max(cursor.polled_at + 1, tools.now - watch.every + 1) if late else tools.now,
            sources=sources,
            seen=merged.seen if merged else cursor.seen,
            warnings=tuple(f"{shown(url)}: {source.paused}" for url, source in sources.items() if source.paused),
        ),
        items=merged.items if merged and _differs(merged, cursor, tools) else None,
        requests=len(visits),
        unchanged=sum(each.unchanged for each in visits),
        added=merged.added if merged else 0,
        notes=tuple(f"{watch.id}: {note}" for note in notes),
        urgent=any(each.urgent for each in visits),
    )


def addresses(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a watch's addresses, each once."""
    urls = spec.get("urls") or [spec["url"]]
    return tuple(dict.fromkeys(urls))


def _visit_all(urls: Sequence[str], cursor: Cursor, tools: WatchTools, clock: Clock) -> tuple[list[Visit], bool]:
    """Visit the addresses one after another, longest unasked first; return the visits and whether time ran out."""
    end = time.monotonic() + ALL
    visits: list[Visit] = []
    sources = {url: cursor.sources.get(url, Source()) for url in urls}
    for url, source in sorted(sources.items(), key=lambda pair: pair[1].polled_at):
        if source.paused or source.not_before > tools.now:
            continue
        left = end - time.monotonic()
        if left < _LEAST:
            return visits, True
        visits.append(visit(url, source, tools.http, clock, deadline=min(EACH, left), limit=LARGEST))
    return visits, False


def _settle(each: Visit, clock: Clock) -> Visit:
    """Where others could be reached, an address that could not has failed."""
    return failed(each.url, each.source, each.notes[0], clock) if each.offline else each


def _merge(watch: Watch, visits: list[Visit], cursor: Cursor, tools: WatchTools) -> tuple[list[Visit], Merged | None]:
    """Read the bodies and merge them into the old snapshot, if there are any."""
    if not any(each.response for each in visits):
        return visits, None
    from hz_team.watches.feed import merge

    read = [_read(each, Clock(tools.now, watch.every, tools.jitter)) for each in visits]
    feeds = [feed for _, feed in read if feed]
    if not feeds:
        return [each for each, _ in read], None
    urls = addresses(watch.spec)
    ignore, newest = frozenset(watch.spec.get("ignore") or ()), int(watch.spec.get("newest") or NEWEST)
    feeds.sort(key=lambda feed: urls.index(feed.url))
    merged = merge.merge(tools.items(), cursor.seen, feeds, merge.Settings(urls, ignore, newest), tools.now)
    return [_renamed(each, merged) if feed else each for each, feed in read], merged


def _renamed(each: Visit, merged: Merged) -> Visit:
    return each._replace(source=each.source._replace(aliases=merged.aliases[each.url]))


def _read(each: Visit, clock: Clock) -> tuple[Visit, Fetched | None]:
    """Read one body. What is no feed (a login page, an error page) is a failure and changes nothing."""
    if each.response is None:
        return each, None
    from hz_team.watches.feed import document
    from hz_team.watches.feed.entry import NotFeedError
    from hz_team.watches.feed.merge import Fetched

    response = each.response
    try:
        found = document.read(response.body, response.headers.get("content-type", ""), response.url, clock.now)
    except NotFeedError as error:
        return failed(each.url, each.source, f"{shown(each.url)} is no feed but {error}", clock), None
    known = "body" in each.source.validators
    warning = (f"{shown(each.url)}: {found.warning}",) if found.warning else ()
    settled = succeeded(each, response, clock)
    return settled._replace(notes=settled.notes + warning), Fetched(each.url, found, known, each.source.aliases)


def _differs(merged: Merged, cursor: Cursor, tools: WatchTools) -> bool:
    """Whether the snapshot is another one, or the first."""
    old: tuple[Item, ...] = tools.items()
    return not cursor.snapshot or merged.items != old
