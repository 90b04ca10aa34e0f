"""The old snapshot and what feeds list now → the new snapshot (docs/decisions/0006). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import snapshot
from hz_team.model.facet import NEWEST, Item
from hz_team.moment import iso
from hz_team.watches.feed import text
from hz_team.watches.feed.entry import TITLE
from hz_team.watches.feed.identity import Known, agree, bare, identify, short

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from hz_team.watches.feed.entry import Document, Entry

FLOOD = 200
"""More new items than this at one look at a known feed are a mishap of its publisher …"""
SHOWN = 50
"""… and only so many of them count as new."""
REMEMBERED = 5_000
"""Identities beyond the snapshot that a cursor remembers."""
DATES: tuple[str, ...] = ("published", "date", "first_seen")
"""They stay what they were when the item was new."""
ALIASES = 1_000
"""Further identities that are remembered for one feed."""


class Fetched(NamedTuple):
    """A feed that was read."""

    url: str
    document: Document
    known: bool
    """It was read before: what is new in it is new."""
    aliases: Mapping[str, str]


class Merged(NamedTuple):
    """What came of it."""

    items: tuple[Item, ...]
    seen: tuple[str, ...]
    aliases: Mapping[str, Mapping[str, str]]
    """By url."""
    added: int
    notes: tuple[str, ...]


class Settings(NamedTuple):
    """What a watch says about its snapshot."""

    urls: tuple[str, ...]
    ignore: Collection[str] = ()
    newest: int = NEWEST


def merge(old: Sequence[Item], seen: Sequence[str], feeds: Iterable[Fetched], settings: Settings, now: int) -> Merged:
    """Add what the feeds list to the snapshot; an item that is listed no more stays."""
    pool = _Pool(old, seen, settings, now)
    aliases = {feed.url: pool.take(feed) for feed in feeds}
    items = sorted(pool.items(), key=_date, reverse=True)
    kept, dropped = snapshot.trim(items, newest=min(settings.newest, NEWEST))
    remembered = dict.fromkeys((*seen, *pool.refused, *(short(item["id"]) for item in dropped)))
    before = {item["id"] for item in old}
    return Merged(
        items=kept,
        seen=tuple(remembered)[-REMEMBERED:],
        aliases=aliases,
        added=sum(item["id"] not in before for item in kept),
        notes=tuple(pool.notes),
    )


class _Pool:
    """The items of all feeds while they are being merged."""

    def __init__(self, old: Sequence[Item], seen: Sequence[str], settings: Settings, now: int) -> None:
        self._held = {item["id"]: item for item in old}
        self._new: dict[str, Item] = {}
        self._seen = frozenset(seen)
        self._settings = settings
        self._now = now
        self.refused: list[str] = []
        self.notes: list[str] = []

    def items(self) -> list[Item]:
        """Return new items, then old ones: equal dates keep that order."""
        return [*self._new.values(), *self._held.values()]

    def take(self, feed: Fetched) -> Mapping[str, str]:
        """Take one feed's entries in; return the aliases under which its items are known."""
        entries = identify(feed.document, feed.url)
        aliases = {key: name for key, name in feed.aliases.items() if name in self._held}
        homes = self._homes(feed, entries, aliases)
        fresh: list[Item] = []
        for known in entries:
            item = _item(known, feed, self._settings.ignore, self._now)
            if known.id in homes:
                self._update(homes[known.id], item, feed.url)
            elif short(known.id) not in self._seen:
                fresh.append(item)
        if feed.known and len(fresh) > FLOOD:
            fresh = self._dam(fresh, feed.url)
        self._new.update((item["id"], item) for item in fresh)
        strong = {known.id for known in entries if known.strong}
        aliases |= {key: name for key, name in homes.items() if key != name and key in strong}
        return dict(list(aliases.items())[-ALIASES:])

    def _homes(self, feed: Fetched, entries: Sequence[Known], aliases: Mapping[str, str]) -> dict[str, str]:
        """Return which held item each entry is: by its identity, by an alias, or because they agree in two things."""
        homes: dict[str, str] = {}
        everything = self._held | self._new
        likely = _Likely(item for item in everything.values() if item["url"] == feed.url)

        def own(known: Known) -> str:
            sure = known.id in everything and (known.strong or agree(known.entry, everything[known.id]))
            return known.id if sure else ""

        ways: tuple[Callable[[Known], str], ...] = (
            own,
            lambda known: aliases.get(known.id, ""),
            lambda known: likely.find(known.entry, homes.values()),
            lambda known: known.id if known.id in everything else "",
        )
        for way in ways:
            for known in entries:
                name = "" if known.id in homes else way(known)
                if name and name not in homes.values():
                    homes[known.id] = name
        return homes

    def _update(self, name: str, item: Item, url: str) -> None:
        """Replace an item whose content changed. The feed that brought it first owns it, while it is watched."""
        pool = self._held if name in self._held else self._new
        old = pool[name]
        if old["url"] != url and old["url"] in self._settings.urls:
            return
        if _content(old) != _content(item):
            pool[name] = {**_undated(item), **{field: old[field] for field in DATES if field in old}, "id": name}

    def _dam(self, fresh: list[Item], url: str) -> list[Item]:
        ordered = sorted(fresh, key=_date, reverse=True)
        self.refused += [short(item["id"]) for item in ordered[SHOWN:]]
        self.notes.append(f"{url} brought {len(fresh)} new items at once; the newest {SHOWN} were taken")
        return ordered[:SHOWN]


class _Likely:
    """Finds the item that an entry may be under another identity."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._by: dict[str, list[Item]] = {}
        for item in items:
            for key in {f"link {bare(item.get('link', ''))}", f"title {item['title']}"}:
                self._by.setdefault(key, []).append(item)

    def find(self, entry: Entry, taken: Collection[str]) -> str:
        """Return the id of the one free item that agrees with the entry, "" if there is none or several."""
        near = [*self._by.get(f"link {bare(entry.link)}", ()), *self._by.get(f"title {entry.title}", ())]
        names = {item["id"] for item in near if item["id"] not in taken and agree(entry, item)}
        return names.pop() if len(names) == 1 else ""


def _item(known: Known, feed: Fetched, ignore: Collection[str], now: int) -> Item:
    """Return the canonical item; fields without a value are left out."""
    entry = known.entry
    title = entry.title or text.cut(entry.summary, 80) or entry.link
    published = entry.published or ("" if entry.implausible else entry.updated)
    item: dict[str, Any] = {
        "id": known.id,
        "title": text.cut(title, TITLE),
        "link": entry.link,
        "published": published,
        "date": "implausible" if entry.implausible and not published else "",
        "updated": entry.updated,
        "first_seen": "" if published else iso(now),
        "summary": entry.summary,
        "author": entry.author,
        "source": feed.document.title,
        "url": feed.url,
    }
    keep = ("id", "title", "url", "published", "first_seen")
    return {name: value for name, value in item.items() if value and (name not in ignore or name in keep)}


def _content(item: Item) -> tuple[Any, ...]:
    """Return what makes an item changed when it changes; moving to https does not."""
    return item["title"], bare(item.get("link", "")), item.get("summary")


def _undated(item: Item) -> Item:
    return {name: value for name, value in item.items() if name not in DATES}


def _date(item: Item) -> str:
    return str(item.get("published") or item["first_seen"])
