"""What bytes of a feed mean, whatever their headers say.

Servers add a wrong charset to a right document more often than the other way round, and documents declare an encoding
that they do not use. Bytes that happen to be well-formed UTF-8 beyond ASCII are UTF-8; that is no accident.
"""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARATION = re.compile(r"""\s*<\?xml\b[^>]*?\?>""")
_DECLARED = re.compile(rb"""<\?xml\b[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9._:-]+)""", re.IGNORECASE)
_OWN_RULES = re.compile(
    r"iso-?2022|hz|gb|big5|euc|shift|sjis|cp932|ms932|ks_c|johab|utf-?(?:7|16|32)|ucs", re.IGNORECASE
)
"""Encodings whose text may look like UTF-8 or ASCII by chance: their declaration is tried first."""
_SUPERSETS = {
    "iso-8859-1": "windows-1252",
    "latin-1": "windows-1252",
    "latin1": "windows-1252",
    "us-ascii": "windows-1252",
}
"""What is really meant, as in every browser (WHATWG Encoding)."""


def decode(body: bytes, content_type: str) -> tuple[str, str]:
    """Return the text without its XML declaration, and a warning ("" for none) if no declared encoding fits."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _text(body, name) or "", ""
    declared = _found(_DECLARED.search(body[:1024]))
    charset = _found(_CHARSET.search(content_type))
    first = [declared] if _OWN_RULES.match(declared) else []
    for name in (*first, "utf-8", declared, charset):
        text = _text(body, name) if name else None
        if text is not None:
            claimed = declared or charset or "utf-8"
            fits = _same(name, claimed) or body.isascii()
            return text, "" if fits else f"its text is {name}, though it says {claimed}"
    return body.decode(
        "windows-1252", "replace"
    ), f"its text is not {declared or charset or 'utf-8'}; read as windows-1252"


def _found(match: re.Match[bytes] | re.Match[str] | None) -> str:
    name = match[1] if match else ""
    return (name.decode("ascii") if isinstance(name, bytes) else name).lower()


def _text(body: bytes, name: str) -> str | None:
    try:
        text = body.decode(_SUPERSETS.get(name, name))
    except (LookupError, UnicodeError, AssertionError):  # AssertionError: some codecs of Python on broken input
        return None
    return _DECLARATION.sub("", text, count=1)


def _same(one: str, other: str) -> bool:
    try:
        return codecs.lookup(one).name == codecs.lookup(other).name
    except LookupError:
        return False
