"""Addresses: http and https only, with nothing in them that could end a link or hide where it goes."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_SAFE = "!-._/?:=&+,;%"
_REFERENCE = re.compile(r"/[^/]+/[^/]+/(?:issues|pull|discussions|commit)/", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


def url(text: str, *, foreign: bool = True) -> str:
    """Return an http(s) address with everything encoded that could end a link early; "#" if it is none.

    A foreign address of an issue, a pull request or a commit goes through GitHub's own redirecting host, which works
    and leaves no reference behind (docs.github.com, "Avoiding backlinks to linked references").
    """
    text = text.strip()
    if not re.match(r"https?://[^\s/?#]", text, re.IGNORECASE) or re.search(r"[\s\x00-\x1f\x7f]", text):
        return "#"
    try:
        parts = urlsplit(text)
        name, port = _ascii(parts.hostname or ""), parts.port
    except ValueError:  # a port that is no number, brackets that do not match
        return "#"
    if not _HOST.fullmatch(name) or "@" in parts.netloc:
        return "#"
    path, query, fragment = (_encoded(part) for part in (parts.path, parts.query, parts.fragment))
    if foreign and name in {"github.com", "www.github.com"} and _REFERENCE.match(path):
        name = "redirect.github.com"
    rest = (path or ("/" if query or fragment else "")) + (query and f"?{query}") + (fragment and f"#{fragment}")
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}{rest}"


def host(address: str) -> str:
    """Return the host a person should see for an address that `url` made."""
    name = urlsplit(address).hostname or ""
    return "github.com" if name == "redirect.github.com" else name.removeprefix("www.")


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return ""


def _encoded(part: str) -> str:
    part = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", part)
    part = re.sub(r"&(?=#?[A-Za-z0-9]+;|$)", "%26", part)  # entities are read inside a link's address, too
    return quote(part.encode("utf-8", "replace"), safe=_SAFE).replace("~", "%7E")
