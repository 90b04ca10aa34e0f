"""Foreign markup to plain text: the words a reader would see, and nothing else.

Feeds do not say whether a title is text or HTML, and people write about `<area>`. So a tag counts as markup only where
it can be meant as such; anything else stays as the literal characters. The standard library's HTML parser is no help
here: it drops what it cannot place, and what it drops differs between the Pythons we support.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape

LARGEST = 20_000
"""Characters of one field that are looked at."""
_TAG = re.compile(
    r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]*)"""
    r"""(?:(?=[\s/>])(?:"[^"]*"|'[^']*'|[^"'<>])*|[\s/][^<>]*)>""",
    re.DOTALL,
)
_INLINE = frozenset(
    re.findall(
        r"\w+",
        """a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q rp rt ruby s samp small span
        strike strong sub sup time tt u var""",
    )
)
_BLOCK = frozenset(
    re.findall(
        r"\w+",
        """address area article aside audio blockquote body button canvas caption center col colgroup dd details dialog
        div dl dt embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup html iframe input
        label legend li link main map menu meta meter nav noscript object ol optgroup option output p param picture pre
        progress search section select source summary svg table tbody td template textarea tfoot th thead title tr
        track ul video""",
    )
)
_ALONE = frozenset(("br", "hr", "img", "wbr"))
_LOOSE = frozenset(("p", "li"))
_SILENT = frozenset(("script", "style"))
_SILENCED = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def plain(text: str) -> str:
    """Return text in NFC, in one line, without control characters."""
    return unicodedata.normalize("NFC", " ".join(_CONTROL.sub("", text[:LARGEST]).split()))


def title(html: str) -> str:
    """Return a title's words. Only pairs of inline tags and few lone ones count as markup: no title loses a word."""
    return plain(_without(html[:LARGEST], _title_tags(html[:LARGEST])))


def summary(html: str) -> str:
    """Return the words of a longer text. Every tag that HTML knows is markup; scripts and styles are not words."""
    html = _SILENCED.sub(" ", html[:LARGEST])
    known = _INLINE | _BLOCK | _ALONE | _SILENT
    tags = [tag for tag in _TAG.finditer(html) if tag["name"] is None or _name(tag) in known]
    return plain(_without(html, tags))


def cut(text: str, length: int) -> str:
    """Return at most `length` characters, ending between words where that costs little."""
    if len(text) <= length:
        return text
    head = text[: length - 1]
    words = head.rpartition(" ")[0]
    return (words if len(words) > length * 2 // 3 else head).rstrip() + "…"


def _title_tags(html: str) -> list[re.Match[str]]:
    """Return the tags that are markup: comments, lone ones, and pairs of opening and closing tags."""
    markup, opened = [], []
    for tag in _TAG.finditer(html):
        name = _name(tag)
        if tag["name"] is None or name in _ALONE:
            markup.append(tag)
        elif not tag["end"] and name not in _SILENT:
            opened.append(tag)
        elif tag["end"]:
            start = next((other for other in reversed(opened) if _name(other) == name), None)
            if start is not None and name in _INLINE | _BLOCK:
                opened.remove(start)
                markup += [start, tag]
    markup += [tag for tag in opened if _name(tag) in _LOOSE]
    return sorted(markup, key=lambda tag: tag.start())


def _without(html: str, tags: list[re.Match[str]]) -> str:
    """Replace tags: by nothing inside a word, by a blank where they part words; then resolve character references."""
    parts, place = [], 0
    for tag in tags:
        parts += [unescape(html[place : tag.start()]), "" if _name(tag) in _INLINE | {"wbr", ""} else " "]
        if tag[0].startswith("<![CDATA["):
            parts.append(tag[0][9:-3])
        place = tag.end()
    return "".join([*parts, unescape(html[place:])])


def _name(tag: re.Match[str]) -> str:
    return (tag["name"] or "").lower()
