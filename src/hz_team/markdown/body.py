"""A whole body of foreign text: its formatting stays, everything that acts is stopped.

Safety does not hang on reading Markdown exactly as GitHub does: every mention, reference, tag and box is broken
wherever it stands. What is read (links, code) only decides how little a reader notices; in doubt the break is made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hz_team.markdown.address import host, url
from hz_team.markdown.block import broken, sealed
from hz_team.markdown.text import BREAK, clean, literal

if TYPE_CHECKING:
    from collections.abc import Iterator


def _target(name: str) -> str:
    """Return the pattern of a link's `(address "title")`; the address is the named group."""
    address = rf"(?P<{name}>[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)"
    return rf"\(\s*<?{address}>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"


_WORDS = r"(?:[^\[\]\\]|\\.)*"
_TOKEN = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    rf"|\[!\[(?P<alt>{_WORDS})\]{_target('picture')}\]{_target('badge')}"
    rf"|!?\[(?P<words>{_WORDS})\]{_target('link')}"
    r"|<(?P<angle>https?://[^\s<>]+)>"
    r"|(?<![A-Za-z0-9])(?P<bare>(?:https?://|www\.(?=[^\s.]+\.))[^\s<>\"`\\|\[\]{}^*]+)",
    re.IGNORECASE,
)
_ACTING = re.compile(
    r"(?<![A-Za-z0-9])@(?=\S|$)|@(?=\S|$)(?![A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    r"|(?<!&)\#(?=[0-9&])|(?<=&)\#(?=[0-9]+(?![0-9;]))|(?<![A-Za-z0-9])gh(?=\\?-|&)"
    r"|<(?=[A-Za-z/!?\\]|$)|\[(?=[ xX\xa0]\])|\](?=[(:])|:(?=//)|(?<=mailto):|(?<=xmpp):|(?<![A-Za-z0-9])www(?=\.)",
    re.IGNORECASE,
)
"""Mention, reference (three ways to write one), tag, check box, link or its definition, address (two ways)."""
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]*);")


def neutralise(text: str) -> str:
    """Return a foreign body with its headings, lists, emphasis, code and web links, and nothing in it that acts.

    Mentions, references, closing words, check boxes, tags, comments and bidirectional controls show and do nothing;
    a web link shows its host; a picture becomes a link to it. Doing it again changes nothing.
    """
    return sealed("\n".join(_lines(clean(text))))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines made inert; inside a fence that is one for certain, code stays as it is, to be copied."""
    fence, certain = "", True
    for line in text.split("\n"):
        if fence:
            fence = "" if re.fullmatch(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*", line) else fence
            yield broken(line)
        elif certain and (opening := re.match(r"(`{3,})([^`]*)$|(~{3,})(.*)$", line)):
            fence = opening[1] or opening[3]
            yield fence + re.sub(r"[^A-Za-z0-9+_.-].*", "", (opening[2] or opening[4] or "").strip())
        else:
            certain = certain and "$$" not in line.replace("\\", "") and not re.match(r" {1,3}(?:```|~~~)", line)
            yield _inert(line)


def _inert(line: str) -> str:
    done, made = 0, ""
    for found in _TOKEN.finditer(line):
        if found["escape"]:
            continue  # it is told from the sign itself only so that what follows is read right
        made += _text(line[done : found.start()])
        token = _token(found)
        if token.startswith("[") and re.search(r"(?<!\\)(?:\\\\)*(?:!|\\)$", made):
            made = f"{made[:-1]}\\{made[-1]}"  # or the link would be a picture, or none
        made += token
        done = found.end()
    return made + _text(line[done:])


def _token(found: re.Match[str]) -> str:
    if found["code"]:
        return _code(found["code"])
    if found["badge"]:
        return _link(found["alt"], found["badge"], found)
    if found["words"] is not None:
        return _link(found["words"], found["link"], found)
    return _bare(found["angle"] or found["bare"], found.string[found.end() :], alone=found["bare"] is not None)


def _code(span: str) -> str:
    """A code span: addresses stay to be copied, unless they would act if this were no code after all."""
    parts = re.split(r"(https?://[^\s`]+)", span)
    return "".join(part if index % 2 and url(part) == part else _text(part) for index, part in enumerate(parts))


def _link(words: str, target: str, found: re.Match[str]) -> str:
    address = url(target)
    if address == "#":
        return _text(found[0])
    return _shown(_text(words) or "picture", address, found.string[found.end() :])


def _bare(text: str, following: str, *, alone: bool) -> str:
    """An address as it stands, or as a link that shows it where it would otherwise act or run into its neighbours."""
    text, tail = _trimmed(text) if alone else (text, "")
    address = url(text if "://" in text else f"http://{text}")
    if address == "#":
        return _text(text + tail if alone else f"<{text}>")
    if alone and address == text and not re.search(r"#[0-9]", text):
        return text + _text(tail)
    return _shown(_text(literal(text).replace(BREAK, "")), address, tail + following) + _text(tail)


def _shown(words: str, address: str, following: str) -> str:
    """A link, and behind it the host where the words do not tell it."""
    name = host(address)
    seen = re.search(rf"(?<![\w.-])(?:www\.)?{re.escape(name)}(?![\w-]|\.\w)", words.replace(BREAK, "").lower())
    return f"[{words}]({address})" + ("" if seen or following.startswith(f" ({name})") else f" ({_text(name)})")


def _trimmed(text: str) -> tuple[str, str]:
    """Cut off the punctuation that ends a sentence and not the address."""
    end = len(text)
    while end:
        last = text[end - 1]
        if last not in ".,;:!?'\"_~)" or (last == ")" and text[:end].count("(") >= text[:end].count(")")):
            break
        end -= 1
    return text[:end], text[end:]


def _text(text: str) -> str:
    done, made = 0, ""
    for found in _ENTITY.finditer(text):
        made += _ACTING.sub(rf"\g<0>{BREAK}", text[done : found.start()]) + _entity(found[0])
        done = found.end()
    return made + _ACTING.sub(rf"\g<0>{BREAK}", text[done:])


def _entity(text: str) -> str:
    """Keep an entity that stands for a letter or an acting sign apart from its neighbours."""
    from html import unescape

    meaning = unescape(text)
    if clean(meaning) != meaning:
        return f"&{BREAK}{text[1:]}"
    return f"{BREAK}{text}{BREAK}" if re.search(r"[A-Za-z0-9@#:/._-]", meaning) else text
