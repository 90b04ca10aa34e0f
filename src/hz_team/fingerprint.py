"""Fingerprints: SHA-256 over bytes, and over canonical JSON (RFC 8785, integers only).

Two spellings of one text (NFC, NFD) are two values here; whoever takes text in normalises it.
"""

from __future__ import annotations

import hashlib
from typing import Any

SHORT = 12
"""Hex digits people are shown and boxes carry."""
LARGEST = 2**53 - 1
"""The greatest whole number that every JSON reader keeps."""


class NotCanonical(TypeError, ValueError):
    """A value has no canonical form: a float, a number too large, a key that is no text, text that is no Unicode."""


def canonical(value: Any) -> bytes:
    """Return the one JSON spelling of a value. Raises NotCanonical, naming where."""
    import rfc8785

    _check(value, "$")
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise NotCanonical(f"this value has no canonical JSON: {error}") from None


def sha256(content: bytes) -> str:
    """Return 64 hex digits over bytes."""
    return hashlib.sha256(content).hexdigest()


def page(text: str) -> str:
    """Return 64 hex digits over a page, the same whatever its line ends and however many of them end it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"
    return sha256(lines.encode("utf-8", "surrogatepass"))


def digest(value: Any) -> str:
    """Return 64 hex digits over the canonical JSON of a value. Raises NotCanonical."""
    return sha256(canonical(value))


def short(digest: str) -> str:
    """Return the first digits of a digest, as people see it."""
    return digest[:SHORT]


def _check(value: Any, path: str) -> None:
    if isinstance(value, float):
        raise NotCanonical(f"{path} is the float {value!r}; keep whole numbers of a smaller unit, or text")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST:
        raise NotCanonical(f"{path} is {value}, which JSON readers round; keep it as text")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotCanonical(f"{path} has the key {key!r}, which is no text")
            _check(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            _check(item, f"{path}[{place}]")
