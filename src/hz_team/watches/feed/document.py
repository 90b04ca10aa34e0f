"""Bytes of an answer → a feed document."""

from __future__ import annotations

from hz_team.watches.feed.encoding import decode
from hz_team.watches.feed.entry import Document


def read(body: bytes, content_type: str, url: str, now: int) -> Document:
    """Read a feed that was found at `url`; what it is shows in its first character. Raises NotFeedError."""
    content, warning = decode(body, content_type)
    if content.lstrip().startswith("{"):
        from hz_team.watches.feed import json_feed as shape
    else:
        from hz_team.watches.feed import xml_feed as shape  # type: ignore[no-redef]  # (the same two names in each)
    document = shape.read(content, url, now)
    return document._replace(warning="; ".join(filter(None, (warning, document.warning))))
