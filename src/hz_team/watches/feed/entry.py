"""What a feed document holds, in plain text."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

SUMMARY = 600
"""Characters of an item's summary at most."""
TITLE = 300
"""Characters of a title or a name at most."""


class Entry(NamedTuple):
    """One entry as the document has it, in plain text."""

    guid: str = ""
    """What the publisher calls its identity, "" if nothing."""
    title: str = ""
    link: str = ""
    """An http(s) address, or ""."""
    published: str = ""
    """ISO 8601 in UTC, "" if unknown or implausible."""
    updated: str = ""
    implausible: bool = False
    summary: str = ""
    author: str = ""


class Document(NamedTuple):
    """One feed document."""

    title: str
    link: str
    """The site's address, or ""."""
    entries: tuple[Entry, ...]
    warning: str = ""
    """What is odd about it, though it can be read."""


class NotFeedError(Exception):
    """The bytes are no feed; the text says what they are."""


def web_address(address: str, base: str) -> str:
    """Return an absolute http(s) address, "" for any other and for one that only leads back to `base`."""
    try:
        address = "".join(urljoin(base, address.strip()).split())
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc or address == base:
        return ""
    return parts.scheme + address[len(parts.scheme) :]
