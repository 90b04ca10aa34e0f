"""Blocks of a page: which lines are live Markdown, and how text is put on a page so that it cannot swallow the rest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hz_team.markdown.text import BREAK, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

_ITEM = re.compile(r" {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?: {1,4}(?! )|\t| (?= {4})|$)")
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    "|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu"
    "|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr"
    "|track|ul"
)
_HTML = (
    (re.compile(r"<(?:script|pre|style|textarea)(?:[\s>]|$)", re.IGNORECASE), "</pre>"),
    (re.compile(r"<!--"), "-->"),
    (re.compile(r"<\?"), "?>"),
    (re.compile(r"<!\[CDATA\["), "]]>"),
    (re.compile(r"<![A-Za-z]"), ">"),
    (re.compile(rf"</?(?:{_NAMES})(?:[\s>]|/>|$)", re.IGNORECASE), ""),
    (re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>\s*$"), ""),
)
"""How a block of raw HTML begins, and what ends it ("": a blank line); GitHub Flavored Markdown, 4.6."""
_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_MARKER = r"<!--\s*/?hz:(?:(?!-->)[\s\S])*(?:-->|\Z)"


class _Open(NamedTuple):
    """A block that swallows lines."""

    end: str
    """A run of fence characters, the text that ends raw HTML, or "" for a blank line."""
    fence: bool
    offset: int
    """The column where its list item's content begins: a line further left is outside. 0: in no item."""


def live(text: str) -> Iterator[str]:
    """Yield the lines that are neither quoted nor inside a code fence or raw HTML.

    In doubt (lazy lines, deep lists) a line counts as swallowed: what is not seen approves nothing.
    """
    yield from (line for line, _ in _walk(text) if line is not None)


def closing(text: str) -> str:
    """Return the line that ends what the text leaves open at its end, "" if nothing is."""
    *_, (_, last) = _walk(text)
    return last.end if last and not last.offset else ""


def sealed(text: str) -> str:
    """Return a body as it is put on a page: without our markers, and with an open fence or raw HTML closed."""
    text = strip_markers(text).strip("\r\n")
    end = closing(text)
    return f"{text}\n{end}" if end else text


def _walk(text: str) -> Iterator[tuple[str | None, _Open | None]]:
    """Yield each line (None: swallowed) with the block that is open behind it."""
    inside: _Open | None = None
    columns: list[int] = []
    paragraph = False
    for line in normal(text).split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if inside and not (line.strip() and indent < inside.offset):
            inside = None if _ends(inside, line) else inside
            yield None, inside
            continue
        column, inner = _item(line, _column(columns, indent))
        inside = _begins(inner, column)
        quoted = inner.lstrip(" ").startswith(">")
        lazy = paragraph and not inside and not quoted and inner == line.lstrip(" ")
        if line.strip() and not lazy:
            columns[:] = [*(known for known in columns if known <= indent), *([column] if column > indent else [])]
        paragraph = bool(inner.strip()) and not inside
        swallowed = quoted or inside is not None
        inside = None if inside and not inside.fence and inside.end and _ends(inside, inner) else inside
        yield (None if swallowed else line), inside


def _column(columns: list[int], indent: int) -> int:
    """Return where the content of the innermost list item begins that a line of this indent belongs to."""
    return max((known for known in columns if known <= indent), default=0)


def _item(line: str, start: int) -> tuple[int, str]:
    """Return the column behind a line's own list marks, and what stands there."""
    while found := _ITEM.match(line[start:]):
        start += found.end()
    return start, line[start:]


def _begins(inner: str, column: int) -> _Open | None:
    content = inner.lstrip(" ")
    if len(inner) - len(content) > 3:  # noqa: PLR2004  (four blanks are code)
        return None
    if content[:1] in {"`", "~"} and (found := _FENCE.match(content)):
        return _Open(found[1], fence=True, offset=column)
    if not content.startswith("<"):
        return None
    return next((_Open(end, fence=False, offset=column) for begins, end in _HTML if begins.match(content)), None)


def _ends(inside: _Open, line: str) -> bool:
    content = line.strip()
    if inside.fence:
        return len(content) >= len(inside.end) and not content.strip(inside.end[0])
    if inside.end == "</pre>":
        return bool(_RAW_END.search(content))
    return inside.end in content if inside.end else not content


def fence(text: str, info: str = "text") -> str:
    """Return foreign text as a code block that nothing inside can end; our markers in it are broken."""
    text = broken(clean(text)).rstrip("\n")
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{info}\n{text}\n{ticks}"


def broken(text: str) -> str:
    """Break the markers of ours that foreign text carries, without a visible change."""
    return re.sub(r"<(?=!--\s*/?hz:)", f"<{BREAK}", text)


def strip_markers(text: str) -> str:
    """Return a person's text without our markers; a line that held nothing else goes with them."""
    while re.search(_MARKER, text):  # taking one out may join the halves of another
        text = re.sub(rf"^[ \t]*{_MARKER}[ \t]*(?:\r?\n|\Z)|{_MARKER}", "", text, flags=re.MULTILINE)
    return text


def normal(text: str) -> str:
    """Return the text with line feeds only and exactly one at its end: what two stored copies are compared by."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"


def same(one: str, other: str) -> bool:
    """Whether two pages differ in nothing but line ends."""
    return normal(one) == normal(other)
