"""Feed documents that gain an item, byte-exact elsewhere and in their own encoding."""

from __future__ import annotations

import codecs
import json
import re
import time
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Callable

_DECLARED = re.compile(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']""")
_ITEM = re.compile(rb"<(item|entry)[\s>]")
_END = re.compile(rb"</(?:channel|feed|rdf:RDF)>")


def with_item(content: bytes, title: str, *, link: str, published: int | None = None, summary: str = "") -> bytes:
    """Return a feed with one more item at its head; its identity is the link. Raises ValueError if it is no feed."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        narrow = content.decode("utf-16").encode("utf-8")
        wide = with_item(narrow, title, link=link, published=published, summary=summary)
        return wide.decode("utf-8").encode("utf-16")
    if content.lstrip().startswith(b"{"):
        return _json(content, title, link, published, summary)
    place = _ITEM.search(content) or _END.search(content)
    if place is None:
        raise ValueError("this document is no feed: it has no item, entry, channel or feed")
    write = _shape(content)
    text = write(escape(title), escape(link), published, escape(summary))
    item = (text + "\n").encode(_encoding(content), "xmlcharrefreplace")
    return content[: place.start()] + item + content[place.start() :]


def _shape(content: bytes) -> Callable[[str, str, int | None, str], str]:
    if b"http://www.w3.org/2005/Atom" in content and re.search(rb"<feed[\s>]", content):
        return _atom
    return _rdf if b"<rdf:RDF" in content else _rss


def _rss(title: str, link: str, published: int | None, summary: str) -> str:
    date = "" if published is None else f"<pubDate>{_rfc822(published)}</pubDate>"
    head = f"<item><title>{title}</title><link>{link}</link><guid>{link}</guid>"
    return f"{head}{date}<description>{summary}</description></item>"


def _rdf(title: str, link: str, published: int | None, summary: str) -> str:
    dublin = "http://purl.org/dc/elements/1.1/"
    date = "" if published is None else f'<dc:date xmlns:dc="{dublin}">{_iso(published)}</dc:date>'
    head = f'<item rdf:about="{link}"><title>{title}</title><link>{link}</link>'
    return f"{head}{date}<description>{summary}</description></item>"


def _atom(title: str, link: str, published: int | None, summary: str) -> str:
    at = "" if published is None else _iso(published)
    date = f"<published>{at}</published><updated>{at}</updated>" if at else ""
    head = f'<entry><id>{link}</id><title>{title}</title><link href="{link}"/>'
    return f"{head}{date}<summary>{summary}</summary></entry>"


def _json(content: bytes, title: str, link: str, published: int | None, summary: str) -> bytes:
    document = json.loads(content)
    item = {"id": link, "url": link, "title": title, "content_text": summary}
    if published is not None:
        item["date_published"] = _iso(published)
    document["items"] = [item, *document["items"]]
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8")


def _encoding(content: bytes) -> str:
    declared = _DECLARED.search(content[:200])
    if declared and not declared[1].lower().startswith(b"utf-16"):
        return declared[1].decode("ascii")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "iso-8859-1"
    return "utf-8"


def _rfc822(moment: int) -> str:
    from email.utils import formatdate

    return formatdate(moment, usegmt=True)


def _iso(moment: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
