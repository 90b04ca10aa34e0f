"""What makes an entry the same entry next time.

Publishers leave the guid out, give every entry the same one, flip its scheme, or mend a slug in it. So a guid counts
only if it is alone in its document; then the link, then title and date. A key never holds a scheme, and empty text is
no key.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hz_team.watches.feed.entry import Document, Entry

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_WORLDWIDE = re.compile(r"https?://|tag:|urn:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LONGEST = 300


class Known(NamedTuple):
    """An entry and its identity in this document."""

    id: str
    entry: Entry
    strong: bool
    """It is the publisher's own guid; a weak one is made of a link or of title and date."""


def bare(address: str) -> str:
    """Return an address or guid without its http scheme: publishers move to https."""
    return _SCHEME.sub("", address)


def short(identity: str) -> str:
    """Return the 16 hex digits under which a cursor remembers an identity."""
    return hashlib.sha256(identity.encode("utf-8")).hexdigest()[:16]


def identify(document: Document, url: str) -> list[Known]:
    """Return the document's entries with their identities, each identity once, in the document's order.

    An entry that would show nothing is left out.
    """
    site = urlsplit(document.link or url).hostname or ""
    never = {bare(document.link), bare(url)}
    entries = [entry for entry in dict.fromkeys(document.entries) if entry.title or entry.link or entry.summary]
    distinct = {(entry.guid, entry.link, entry.title, entry.published) for entry in entries}
    guids = Counter(bare(guid) for guid, *_ in distinct)
    links = Counter(bare(link) for _, link, *_ in distinct)
    known: dict[str, Known] = {}
    for entry in entries:
        guid, link = bare(entry.guid), bare(entry.link)
        if guid and guids[guid] == 1 and guid not in never:
            identity = guid if _WORLDWIDE.match(entry.guid) else f"{site}#{guid}"
        elif link and links[link] == 1 and link not in never:
            identity = link
        else:
            identity = f"{site}#{_digest(site, known, entry)}"
        identity = identity if len(identity) <= _LONGEST else f"{site}#{short(identity)}"
        known.setdefault(identity, Known(identity, entry, strong=bool(guid) and identity.endswith(guid)))
    return list(known.values())


def agree(entry: Entry, item: dict[str, object]) -> bool:
    """Whether an entry under another identity is the item all the same: two of link, title, date are equal.

    Two dates that differ speak against it, whatever else is equal: "Picture of the day" has one title and one address.
    """
    date = entry.published or entry.updated
    if date and item.get("published") and date != item["published"]:
        return False
    same = (
        bool(entry.link) and bare(entry.link) == bare(str(item.get("link", ""))),
        bool(entry.title) and entry.title == item["title"],
        bool(date) and date == item.get("published"),
    )
    return sum(same) >= 2  # noqa: PLR2004  (as the docstring says)


def _digest(site: str, known: Iterable[str], entry: Entry) -> str:
    """Return a key of title and date, with the summary where that is taken or there is no title."""
    key = short(f"{entry.title}\x00{entry.published}")
    if not entry.title or f"{site}#{key}" in known:
        key = short(f"{entry.title}\x00{entry.published}\x00{entry.link}\x00{entry.summary}")
    return key
