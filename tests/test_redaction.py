"""Secrets are found in every usual form."""

from __future__ import annotations

import base64
import json
import re
import textwrap
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hz_team.redaction import MASK, margin, pattern, redact, secret, secrets, spans

SECRET = 'gh/p+Ab 3"\\é&~long-enough?'
LONG = "a-very-long-secret-" * 8


def test_as_it_is() -> None:
    assert redact(f"x{SECRET}y", pattern([SECRET])) == f"x{MASK}y"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("after", ["", "z", "zz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_at_every_alignment(before: str, after: str, encode: object) -> None:
    shown = encode(f"{before}{SECRET}{after}".encode()).decode()  # type: ignore[operator]
    masked = redact(shown, pattern([SECRET]))
    assert MASK in masked
    assert len(masked.replace(MASK, "")) <= 10


def test_base64_and_hexadecimal_over_several_lines() -> None:
    encoded = "\n".join(textwrap.wrap(base64.b64encode(LONG.encode()).decode(), 76))
    digits = "\n".join(textwrap.wrap(LONG.encode().hex(), 60))
    for shown in (encoded, digits):
        assert redact(shown, pattern([LONG])).startswith(MASK)


@pytest.mark.parametrize(
    "shown",
    [
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
        "".join(f"%{byte:02X}" for byte in SECRET.encode()),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        SECRET.encode().hex(" "),
        "".join(f"\\x{byte:02x}" for byte in SECRET.encode()),
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
    ],
)
def test_other_forms(shown: str) -> None:
    assert redact(f"<{shown}>", pattern([SECRET])) in {f"<{MASK}>", f"<\\x{MASK}>", f"<%{MASK}>"}


def test_every_line_of_a_key_is_masked() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----"
    assert redact("only\nkqhkiG9w0BAQEF\n", pattern([key])) == f"only\n{MASK}\n"


def test_short_values_are_left() -> None:
    assert pattern(["", "x", "12345"]) is None
    assert redact("x 12345", None) == "x 12345"


@given(st.text(min_size=6, max_size=40), st.binary(max_size=20), st.binary(max_size=20))
def test_no_form_is_longer_than_the_margin(value: str, before: bytes, after: bytes) -> None:
    if any(ord(character) > 0xD7FF and ord(character) < 0xE000 for character in value):
        return
    forms = pattern([value])
    for shown in (value.encode(), value.encode().hex().encode(), base64.b64encode(before + value.encode() + after)):
        found = spans(shown, forms)
        assert found
        assert all(end - start <= margin([value]) for start, end in found)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_TOKEN", "x"),
        ("MY_KEY", "x"),
        ("DB_PASSWORD", "x"),
        ("PAT", "x"),
        ("URL", "https://u:p@h/"),
        ("X", "ghp_abc"),
        ("X", "aB3" * 9),
    ],
)
def test_what_looks_like_a_secret(name: str, value: str) -> None:
    assert secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"), [("CHANGELOG_STYLE", "keepachangelog"), ("MONKEY", "banana"), ("PATH_TO", "docs/a")]
)
def test_what_does_not(name: str, value: str) -> None:
    assert not secret(name, value)
    assert secrets({name: value}, [name, "MISSING"]) == ()
