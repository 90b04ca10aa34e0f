"""What commands say: one JSON document on standard output, or lines that cannot move a terminal's cursor."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from hz_team.model.job import plain

_HIDDEN = re.compile(r"[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")
"""What JSON may hold as it is and a terminal should not."""


def show(value: Any) -> None:
    """Print a value of this package as one JSON document."""
    print(text(value))


def text(value: Any, *, indent: int | None = None) -> str:
    """Return the JSON text of a value, in ASCII where standard output takes no more."""
    narrow = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "") != "utf8"
    made = json.dumps(plain(value), ensure_ascii=narrow, indent=indent)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", made)


def lines(raw: str) -> str:
    """Return foreign text of several lines without controls: no colour, no cursor, no turned direction."""
    from hz_team.markdown import clean

    return clean(raw)
