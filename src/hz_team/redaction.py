"""Finds secrets in bytes, also in the forms in which programs like to print them."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASK = "***"
SHORTEST = 6
"""A shorter value is not masked: it would blot out half of every text."""
_NAMES = re.compile(
    r"TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SIGNATURE|DSN|PRIVATE|(?:^|_)(?:PAT|PWD|KEY|KEYS)(?:_|$)|APIKEY"
)
_VALUES = re.compile(
    r"(?:gh[a-z]_|github_pat_|glpat-|sk-|xox[a-z]-|AKIA|ASIA|eyJ|-----BEGIN|npm_|pypi-)|[^/\s]+://[^/\s:@]+:[^/\s@]+@"
)
_LINE = rb"[\r\n]*"
_HEX_GAP = rb"(?:[\s:,-]|\\x|0x|%)*"


def secret(name: str, value: str) -> bool:
    """Whether a declared variable looks like a secret: by its name, by a known beginning, or by looking random."""
    return bool(_NAMES.search(name.upper()) or _VALUES.match(value) or _random(value))


def _random(value: str) -> bool:
    kinds = (r"[0-9]", r"[a-z]", r"[A-Z]")
    return bool(re.fullmatch(r"[A-Za-z0-9+/=_.~-]{24,}", value)) and all(re.search(kind, value) for kind in kinds)


def secrets(environ: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the values of the named variables that look like secrets."""
    return tuple(environ[name] for name in names if name in environ and secret(name, environ[name]))


def pattern(values: Iterable[str]) -> re.Pattern[bytes] | None:
    """Return one pattern for all forms of all values: as they are, URL-encoded, in JSON, base64 and hexadecimal."""
    forms: set[bytes] = set()
    for value in values:
        for piece in {value, *value.splitlines()}:
            if len(piece) >= SHORTEST:
                forms |= _forms(piece.encode("utf-8", "surrogateescape"))
    longest_first: list[bytes] = sorted(forms, key=len, reverse=True)
    return re.compile(b"|".join(longest_first)) if forms else None


def margin(values: Iterable[str]) -> int:
    """Return how many bytes the longest form of the longest value may take."""
    return 64 + 5 * max((len(value.encode("utf-8", "surrogateescape")) for value in values), default=0)


def spans(data: bytes, forms: re.Pattern[bytes] | None) -> list[tuple[int, int]]:
    """Return where secrets stand, ascending."""
    return [found.span() for found in forms.finditer(data)] if forms else []


def redact(text: str, forms: re.Pattern[bytes] | None) -> str:
    """Return the text with every secret masked."""
    if not forms:
        return text
    data = text.encode("utf-8", "surrogatepass")
    return forms.sub(MASK.encode(), data).decode("utf-8", "surrogatepass")


def _forms(value: bytes) -> set[bytes]:
    forms = {b"".join(_plainly(byte) for byte in value), _HEX_GAP.join(_either_case(b"%02x" % byte) for byte in value)}
    for shift in range(3):
        for altchars in (b"+/", b"-_"):
            core = _core(value, shift, altchars)
            if len(core) >= SHORTEST:
                forms.add(_LINE.join(re.escape(core[at : at + 1]) for at in range(len(core))))
    return forms


def _plainly(byte: int) -> bytes:
    """Match one byte as it is, as %XX, and as JSON, shells and forms write it."""
    character = bytes([byte])
    ways = [re.escape(character), b"%" + _either_case(b"%02x" % byte)]
    if character in b'"\\/$`':
        ways.append(rb"\\" + re.escape(character))
    special = {
        b" ": rb"\+",
        b"\n": rb"\\n",
        b"\t": rb"\\t",
        b"&": b"&amp;",
        b"<": b"&lt;",
        b">": b"&gt;",
        b'"': b"&quot;",
    }
    if character in special:
        ways.append(special[character])
    return b"(?:" + b"|".join(ways) + b")"


def _either_case(digits: bytes) -> bytes:
    return b"".join(b"[%c%c]" % (digit, bytes([digit]).upper()[0]) if digit > 57 else b"%c" % digit for digit in digits)  # noqa: PLR2004


def _core(value: bytes, shift: int, altchars: bytes) -> bytes:
    """Return the base64 digits that stand for the value alone when `shift` bytes come before it."""
    encoded = base64.b64encode(bytes(shift) + value, altchars).rstrip(b"=")
    start = (0, 2, 3)[shift]
    end = len(encoded) - (1 if (shift + len(value)) % 3 else 0)
    return encoded[start:end]
