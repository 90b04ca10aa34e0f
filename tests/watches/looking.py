"""A watch that is looked at again and again, as observe does it: the snapshot is kept between looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team import snapshot
from hz_team.adapters.http import HttpClient
from hz_team.fingerprint import sha256
from hz_team.model.facet import Cursor, Facets, Item, Polled
from hz_team.model.job import Watch
from hz_team.ports import WatchTools
from hz_team.watches import feed, files

if TYPE_CHECKING:
    from hz_team.ports import Http

NOW = 1_791_360_000
"""7 October 2026, 08:00:00 UTC."""
KINDS = {"feed": feed.poll, "files": files.poll}


class Nobody:
    """No process may be started by these watches."""

    def run(self, command: object) -> Any:
        raise AssertionError(command)


class Look:
    """One watch with its cursor and snapshot."""

    def __init__(
        self, kind: str, spec: dict[str, Any], *, every: int = 3600, root: str = "/", http: Http | None = None
    ) -> None:
        self.watch = Watch("learning", kind, every, spec, "0123456789ab")
        self.cursor = Cursor("learning", "0123456789ab")
        self.items: tuple[Item, ...] = ()
        self.loads = 0
        self.stats: dict[str, Any] = {}
        self.notes: tuple[str, ...] = ()
        self._root = root
        self._http: Http = http or HttpClient({})

    def __call__(self, now: int = NOW) -> Polled:
        """Poll once and keep what came of it."""
        tools = WatchTools(self._http, Nobody(), self._root, now, self._load, lambda: 0.5, self.stats)
        polled = KINDS[self.watch.kind](self.watch, self.cursor, tools)
        self.cursor, self.notes = polled.cursor, polled.notes
        if polled.items is not None:
            self.items = polled.items
            self.cursor = self.cursor._replace(snapshot=sha256(snapshot.document(self.items)))
        return polled

    def _load(self) -> tuple[Item, ...]:
        self.loads += 1
        return self.items

    def since(self, base: tuple[Item, ...]) -> Facets:
        """Return what a job sees whose base is an older snapshot."""
        return snapshot.compare(self.items, base, accumulates=self.watch.kind == "feed")

    @property
    def titles(self) -> list[str]:
        """The snapshot's titles, newest first."""
        return [item["title"] for item in self.items]


def rss(*items: str, title: str = "Notes", link: str = "https://notes.example/") -> str:
    """Return an RSS 2.0 document around `<item>` contents."""
    inner = "\n".join(f"<item>{item}</item>" for item in items)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel><title>{title}</title><link>{link}</link>\n{inner}\n</channel></rss>'


def entry(number: int, *, title: str = "", guid: str = "", date: str = "", scheme: str = "https") -> str:
    """Return the content of one ordinary `<item>`."""
    link = f"{scheme}://notes.example/{number}"
    when = f"<pubDate>{date}</pubDate>" if date else ""
    return f"<guid>{guid or link}</guid><title>{title or f'Note {number}'}</title><link>{link}</link>{when}"
