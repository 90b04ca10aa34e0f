"""JSON Feed 1.0 and 1.1 (jsonfeed.org)."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from hz_team.watches.feed import date, text
from hz_team.watches.feed.entry import SUMMARY, TITLE, Document, Entry, NotFeedError, web_address


def read(content: str, url: str, now: int) -> Document:
    """Read a JSON Feed. Raises NotFeedError."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise NotFeedError("neither a feed nor well-formed JSON") from None
    if not isinstance(data.get("items"), list) or "jsonfeed.org/version/" not in _text(data.get("version")):
        raise NotFeedError("JSON, but no JSON Feed")
    return Document(
        title=text.cut(text.plain(_text(data.get("title"))), TITLE),
        link=_link(data.get("home_page_url"), url),
        entries=tuple(_entry(item, url, now) for item in data["items"] if isinstance(item, dict)),
    )


def _entry(item: dict[str, Any], url: str, now: int) -> Entry:
    published = date.read(_text(item.get("date_published")), now)
    updated = date.read(_text(item.get("date_modified")), now)
    return Entry(
        guid=text.plain(_text(item.get("id"))),
        title=text.plain(_text(item.get("title"))),
        link=_link(item.get("url") or item.get("external_url"), url),
        published=published.iso,
        updated=updated.iso,
        implausible=published.implausible or (updated.implausible and not published.iso),
        summary=text.cut(text.summary(_long(item)), SUMMARY),
        author=text.cut(text.plain(_author(item)), TITLE),
    )


def _long(item: dict[str, Any]) -> str:
    words = _text(item.get("summary")) or _text(item.get("content_text"))
    return escape(words, quote=False) if words else _text(item.get("content_html"))


def _author(item: dict[str, Any]) -> str:
    authors = item.get("authors") or [item.get("author")]
    names = (
        [_text(author.get("name")) for author in authors if isinstance(author, dict)]
        if isinstance(authors, list)
        else []
    )
    return ", ".join(filter(None, names))


def _link(value: Any, url: str) -> str:
    return web_address(value, url) if isinstance(value, str) and value else ""


def _text(value: Any) -> str:
    """Return text; 1.0 feeds write ids as numbers."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
