"""Pieces that pages are made of: raw text in, Markdown that is safe out."""

from __future__ import annotations

import re
from urllib.parse import quote

from hz_team.markdown import code, literal, one_line, url

LONGEST = 200
"""Characters of a title or a reason on a page; the whole text stands where it came from."""


def said(text: str, longest: int = LONGEST) -> str:
    """Return raw text as inert Markdown, cut with an ellipsis after `longest` characters."""
    text = text.strip()
    return literal(text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…")


def sentence(text: str, longest: int = 400) -> str:
    """Return one of our sentences with raw text in it: a place in a file, and what stands in backticks, is code."""
    text = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    text = re.sub(r"^([^\s`]+:\d+)(?=: )", r"`\1`", text.strip())
    parts = re.split(r"`([^`]+)`", text.strip())
    return "".join(code(part) if at % 2 else _beside(part) for at, part in enumerate(parts))


def link(text: str, target: str) -> str:
    """Return a link to our own page or to what a person should see; the bare text without a target."""
    address = _address(target)
    return f"[{said(text)}]({address})" if address else said(text)


def joined(*parts: str) -> str:
    """Return the parts that say something, with a dot between."""
    return " · ".join(part for part in parts if part)


def counted(count: int, one: str, many: str) -> str:
    """Return "1 helper" or "1,284 helpers"."""
    return f"{count:,} {one if count == 1 else many}"


def folded(summary: str, tail: str, *, lines: int = 20, width: int = 200) -> str:
    """Return the last lines of some output, folded away; "" for nothing.

    It is one block of HTML without an empty line: a list that it stands in stays a tight one.
    """
    from html import escape

    last = [escape(one_line(line[:width]), quote=False) for line in tail.rstrip().splitlines()[-lines:]]
    text = "\n".join(line for line in last if line)
    return f"<details><summary>{escape(summary)}</summary><pre>{text}</pre></details>" if text else ""


def name(text: str) -> str:
    """Return a short technical name (a path, a label, the start of a hash) as code."""
    return code(text[:LONGEST])


def _beside(text: str) -> str:
    """Return raw text literally, with the blanks that keep it apart from code."""
    if not text.strip(" :"):
        return text[:2]
    before = ": " if text.startswith(": ") else " " if text.startswith(" ") else ""
    return f"{before}{literal(text.removeprefix(before))}{' ' if text.endswith(' ') else ''}"


def _address(target: str) -> str:
    if not target:
        return ""
    if "://" in target:
        address = url(target, foreign=False)
        return "" if address == "#" else address
    return "" if target.startswith("/") or ":" in target else quote(target, safe="/._-#")
