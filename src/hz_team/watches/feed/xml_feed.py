"""RSS, RDF and Atom, by feedparser; what it leaves open is decided here."""

from __future__ import annotations

import io
import re
from typing import Any

from hz_team.watches.feed import date, text
from hz_team.watches.feed.entry import SUMMARY, TITLE, Document, Entry, NotFeedError, web_address

_ALONE = ("br", "hr", "img")
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
DEEPEST = 5_000
"""Levels of nesting at most: feedparser takes time with the square of them."""
_CRASHES = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What feedparser and the codecs and dates below it raise on hostile input."""


def read(content: str, url: str, now: int) -> Document:
    """Read an XML feed. Raises NotFeedError."""
    import feedparser

    if depth(content) > DEEPEST:
        raise NotFeedError("nested too deeply to be read")
    # A stream, because feedparser opens files and addresses that a text happens to name. No address of the document,
    # because feedparser would resolve guids against it too: they would change with the feed's address.
    stream = io.BytesIO(content.lstrip().encode("utf-8", "replace"))
    headers = {"content-type": "application/xml; charset=utf-8"}
    try:
        parsed = feedparser.parse(stream, response_headers=headers, sanitize_html=False, resolve_relative_uris=False)
    except _CRASHES as error:
        raise NotFeedError(f"feedparser gave up ({type(error).__name__})") from None
    version = str(parsed.get("version") or "")
    fault = parsed.get("bozo_exception") if parsed.bozo else None
    if not parsed.entries and (fault is not None or not version):
        raise NotFeedError(_what_it_is(content))
    atom = version.startswith("atom")
    return Document(
        title=text.cut(_words(dict.get(parsed.feed, "title_detail"), atom=atom), TITLE),
        link=web_address(str(dict.get(parsed.feed, "link") or ""), url),
        entries=tuple(_entry(entry, url, now, atom=atom) for entry in parsed.entries),
        warning=_fault(fault),
    )


def depth(content: str) -> int:
    """Return how deep a document nests, at least: what is marked as text does not count, nor what never closes."""
    first, *others = content.split("<![CDATA[")
    deepest = level = 0
    for tag in "".join([first, *(other.partition("]]>")[2] for other in others)]).split("<"):
        if tag.startswith("/"):
            level = max(0, level - 1)
        elif tag[:1].isalpha() and not tag.partition(">")[0].endswith("/") and not tag[:3].lower().startswith(_ALONE):
            level += 1
            deepest = max(deepest, level)
    return deepest


def _entry(entry: Any, url: str, now: int, *, atom: bool) -> Entry:
    # dict.get, because feedparser's own invents `updated` from `published` and says so in a warning.
    published = date.read(str(dict.get(entry, "published") or ""), now)
    updated = date.read(str(dict.get(entry, "updated") or ""), now)
    summary = text.summary(_long(entry, atom=atom))
    return Entry(
        guid=text.plain(str(dict.get(entry, "id") or "")),
        title=_words(dict.get(entry, "title_detail"), atom=atom),
        link=_link(entry, url),
        published=published.iso,
        updated=updated.iso,
        implausible=published.implausible or (updated.implausible and not published.iso),
        summary=text.cut(summary, SUMMARY),
        author=text.cut(text.title(str(dict.get(entry, "author") or "")), TITLE),
    )


def _words(detail: Any, *, atom: bool) -> str:
    """Return the visible words of a title: Atom says whether it is text or HTML, RSS leaves it open."""
    if not detail:
        return ""
    value = str(detail.get("value") or "")
    return text.plain(value) if atom and detail.get("type") == "text/plain" else text.title(value)


def _long(entry: Any, *, atom: bool) -> str:
    """Return the summary or, without one, the content, as HTML."""
    contents = dict.get(entry, "content") or [{}]
    detail = dict.get(entry, "summary_detail") or {}
    if not detail.get("value"):
        detail = contents[0]
    value = str(detail.get("value") or "")
    if atom and detail.get("type") == "text/plain":
        return value.replace("&", "&amp;").replace("<", "&lt;")
    return value


def _link(entry: Any, url: str) -> str:
    """Return the entry's address. Without a link feedparser puts the guid there, which often is none."""
    named = [link for link in dict.get(entry, "links") or () if link.get("rel", "alternate") == "alternate"]
    if named:
        return web_address(str(named[0].get("href") or ""), url)
    guid = str(dict.get(entry, "id") or "") if dict.get(entry, "guidislink") else ""
    return web_address(guid, url) if _ABSOLUTE.match(guid) else ""


def _what_it_is(content: str) -> str:
    head = content[:2000].lstrip().lower()
    if head.startswith("<!doctype html") or "<html" in head:
        return "a web page (a login or an error page?)"
    return "neither RSS, RDF, Atom nor JSON Feed" if head else "empty"


def _fault(fault: BaseException | None) -> str:
    if fault is None or type(fault).__name__ in ("CharacterEncodingOverride", "NonXMLContentType"):
        return ""
    return "it is not well-formed XML; what could be read was taken"
