"""One value of foreign text.

GitHub looks for mentions and references in the rendered text, so neither a backslash nor a code span stops them
(github/cmark-gfm#389, dependabot/dependabot-core#3157); a character without width inside the word does, in mail
replies too.
Characters without width that were there before are dropped first, so doing it again changes nothing that shows.
"""

from __future__ import annotations

import re

from hz_team.markdown.address import url

BREAK = "\u2060"
"""Word joiner, put inside what would act: nobody sees it, no line ends there, no parser takes it for white space."""

_ENDS = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
_GONE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]",
)
"""Controls, bidirectional controls, and characters that take no room (joiners are treated apart)."""
_JOINERS = re.compile(
    r"(?<=[^\x00-\x7f\u200c\u200d])([\u200c\u200d])[\u200c\u200d]*(?=[^\x00-\x7f\u200c\u200d])|[\u200c\u200d]+",
)
"""A joiner between two characters beyond ASCII belongs to a script or an emoji; anywhere else it only hides."""
_SURROGATES = re.compile(r"[\ud800-\udfff]")

_ACTING = re.compile(
    r"@(?!\s)|\#(?!\s)|(?<![A-Za-z0-9])[Gg][Hh](?=-|$)|:(?=//)|(?<![A-Za-z0-9])[Ww]{3}(?=\.)"
    r"|\[(?=[ xX\xa0]\])|<(?=!)|:(?=[\w+-]+:)",
)
"""Mention, reference (twice), address (twice), box, comment, emoji name: stopped by a break after each of these."""
_MARKUP = re.compile(r"[\\`*\[\]<>|~$#]|&(?=[#A-Za-z]|$)|(?<![^\W_])_+|_+(?![^\W_])|!$")
_START = re.compile(r"[-+=:().]|[0-9]{1,9}(?=[.)](?:\s|$))")


def clean(text: str) -> str:
    """Return the text without controls and invisible characters, its lines ended by a line feed; tabs stay."""
    text = _GONE.sub("", _ENDS.sub("\n", text))
    return _SURROGATES.sub("\ufffd", _JOINERS.sub(lambda found: found[1] or "", text))


def plain(text: str) -> str:
    """Return foreign text for a terminal: one line, no control character, nothing invisible."""
    return re.sub(r"[ \t\n]+", " ", clean(text)).strip()


def one_line(text: str) -> str:
    """Return foreign text for a place that is no Markdown (an issue's title, a commit message): one inert line."""
    return _ACTING.sub(rf"\g<0>{BREAK}", plain(text))


def literal(text: str) -> str:
    """Return foreign text as one line of inert Markdown that shows the same words, wherever in a line it is put."""
    line = _MARKUP.sub(lambda found: "".join(f"\\{character}" for character in found[0]), one_line(text))
    start = _START.match(line)
    if not start:
        return line
    cut = start.end() if start[0].isdigit() else 0
    return f"{line[:cut]}\\{line[cut:]}"


def literal_block(text: str) -> str:
    """Return foreign text of several lines as inert Markdown with the same lines and paragraphs."""
    paragraphs = re.split(r"\n[ \t]*\n\s*", clean(text).strip())
    return "\n\n".join("\\\n".join(literal(line) for line in paragraph.split("\n")) for paragraph in paragraphs)


def value(text: str) -> str:
    """Return what a template fills in: an http(s) address as one that works inside `(…)`, anything else literally."""
    address = url(text) if clean(text) == text else "#"
    return literal(text) if address == "#" else address


def code(text: str) -> str:
    """Return foreign text as one code span; "" for nothing."""
    line = re.sub(r"[<|]", rf"\g<0>{BREAK}", one_line(text))
    if not line:
        return ""
    ticks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"
