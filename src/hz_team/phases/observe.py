"""observe: polls the watches that are due. Reading twice harms nobody, so it needs no lease."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team import duty, registry
from hz_team.errors import HzError
from hz_team.model.facet import Cursor, Polled
from hz_team.model.job import plain
from hz_team.model.observation import Heard, Look, Observations
from hz_team.model.state import View, cursor_from
from hz_team.ports import WatchTools

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hz_team.model.facet import Item
    from hz_team.model.job import Job, Watch
    from hz_team.model.wake import Poke
    from hz_team.ports import World


def observe(world: World, view: View, heard: Heard, pokes: Sequence[Poke], now: int) -> Observations:
    """Look at every watch that is due, or that a due job reads; return where all of them stand."""
    retried = [subject for subject, _ in heard.retries]
    wanted = wanted_watches(world, view, pokes, now, retried=retried, woken=heard.event.woken)
    looks: dict[str, Look] = {}
    notes: list[str] = []
    requests = unchanged = polled = 0
    for watch in world.config.watches:
        before, stored = _cursor(world, view, watch)
        if watch.id in heard.resumed:
            looks[watch.id] = resumed = _resumed(watch, before)
            _note(world, watch, resumed)
            notes.append(f"{watch.id}: asked again from the next tick on")
            continue
        if watch.id not in wanted:
            looks[watch.id] = Look(watch.id, before, dirty=before != stored)
            continue
        result = _poll(world, view, watch, before, now)
        looks[watch.id] = _look(watch, stored, result)
        _note(world, watch, looks[watch.id])
        requests += result.requests
        unchanged += result.unchanged
        polled += 1
        notes.extend(result.notes)
    return Observations(looks, heard, requests, unchanged, polled, tuple(dict.fromkeys(notes)))


def wanted_watches(
    world: World,
    view: View,
    pokes: Collection[Poke],
    now: int,
    *,
    retried: Collection[str] = (),
    woken: Collection[str] = (),
) -> set[str]:
    """Return the watches to poll: their `every` has passed, or a job reads them that is due or that an event woke."""
    wanted: set[str] = set()
    ready = [job for job in world.config.jobs if _may_run(world, view, job, now, retried)]
    watches = {watch.id: watch for watch in world.config.watches}
    for job in ready:
        due = job.id in retried or job.id in woken or _is_due(world, view, job, pokes, now)
        for name in job.watches.values():
            watch = watches.get(name)
            if watch and (due or now >= _cursor(world, view, watch)[0].polled_at + watch.every):
                wanted.add(name)
    return wanted


def _may_run(world: World, view: View, job: Job, now: int, retried: Collection[str]) -> bool:
    if not world.drafting or job.scope != world.scope or (world.only and job.id != world.only):
        return False
    reason, _ = duty.obstacle(job, duty.position_of(view, job, retried), world.config, view, now)
    return reason in ("", "retry")


def _is_due(world: World, view: View, job: Job, pokes: Collection[Poke], now: int) -> bool:
    position = duty.position_of(view, job)
    if any(poke.job == job.id for poke in pokes) or duty.stale(job, position, now):
        return True
    clocks = duty.clocks(job, position, now, considered=world.notes.considered, limit=1)
    return any(clock.due.run for clock in clocks)


def _cursor(world: World, view: View, watch: Watch) -> tuple[Cursor, Cursor]:
    """Return the watch's cursor as this machine knows it, and as it stands on the branch."""
    stored = view.cursors.get(f"{watch.id}/{watch.key}") or Cursor(watch.id, watch.key)
    noted = world.notes.polls.get(f"{watch.id}/{watch.key}")
    if noted and noted["snapshot"] == stored.snapshot and noted["polled_at"] > stored.polled_at:
        return _as_resumed(cursor_from(noted), stored), stored
    return stored, stored


def _as_resumed(noted: Cursor, stored: Cursor) -> Cursor:
    """Return a machine's own cursor without a pause that is over: beginning and end are written at once."""
    over = {
        url: source._replace(paused="")
        for url, source in noted.sources.items()
        if source.paused and url in stored.sources and not stored.sources[url].paused
    }
    return noted._replace(sources={**noted.sources, **over}) if over else noted


def _resumed(watch: Watch, before: Cursor) -> Look:
    """Return a watch with no address paused, due with the next tick; nothing is asked now."""
    sources = {url: source._replace(paused="") for url, source in before.sources.items()}
    after = before._replace(sources=sources, polled_at=max(0, before.polled_at - watch.every), warnings=())
    return Look(watch.id, after, dirty=True, must_write=True)


def is_paused(view: View, watch: Watch) -> bool:
    """Whether an address of the watch is not asked any more until a person resumes it."""
    cursor = view.cursors.get(f"{watch.id}/{watch.key}")
    return bool(cursor and any(source.paused for source in cursor.sources.values()))


def _poll(world: World, view: View, watch: Watch, before: Cursor, now: int) -> Polled:
    """Look once; what a kind of watch cannot do is a note, and nothing is known to have changed."""
    try:
        return _look_once(world, view, watch, before, now)
    except HzError as error:
        return Polled(before._replace(polled_at=now), None, notes=(f"{watch.id}: {error}",))


def _look_once(world: World, view: View, watch: Watch, before: Cursor, now: int) -> Polled:
    kind = registry.watch(watch.kind)
    tools = WatchTools(
        http=world.http,
        processes=world.processes,
        root=world.root,
        now=now,
        items=_loader(world, view, before.snapshot),
        jitter=_jitter,
        stats=world.notes.stats.setdefault(watch.id, {}),
        api=world.api,
    )
    result: Polled = kind.poll(watch, before, tools)
    return result


def glance(world: World, name: str, now: int) -> tuple[Item, ...]:
    """Return what a watch shows at this moment; nothing is remembered (`try`). Raises HzError."""
    watch = next(watch for watch in world.config.watches if watch.id == name)
    empty = View(tip="")
    return _look_once(world, empty, watch, Cursor(watch.id, watch.key), now).items or ()


def _jitter() -> float:
    """Return a number from 0 to 1 that spreads back-offs."""
    from random import random

    return random()  # noqa: S311  (no secret hangs on it)


def _loader(world: World, view: View, snapshot: str) -> Callable[[], tuple[Item, ...]]:
    def load() -> tuple[Item, ...]:
        if not snapshot:
            return ()
        from hz_team import snapshot as facets

        path = f"facets/{snapshot[:2]}/{snapshot}.json"
        content = world.state.read(view, [path]).get(path)
        return facets.items(content) if content else ()

    return load


def _look(watch: Watch, stored: Cursor, result: Polled) -> Look:
    cursor, document = result.cursor, None
    if result.items is not None:
        from hz_team import snapshot as facets
        from hz_team.fingerprint import sha256

        document = facets.document(result.items)
        cursor = cursor._replace(snapshot=sha256(document))
        if cursor.snapshot == stored.snapshot:
            document = None
    return Look(
        watch=watch.id,
        cursor=cursor,
        polled=True,
        dirty=cursor != stored,
        must_write=document is not None or result.urgent,
        document=document,
        added=result.added,
    )


def _note(world: World, watch: Watch, look: Look) -> None:
    """Remember on this machine what need not be written to the branch."""
    cursor: dict[str, Any] = plain(look.cursor)
    world.notes.polls[f"{watch.id}/{watch.key}"] = cursor
