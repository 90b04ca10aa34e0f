"""Aligned columns for a terminal."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the rows below their heads, each column as wide as its widest cell; control characters are dropped."""
    cells = [tuple(head), *(tuple(clean(cell) for cell in row) for row in rows)]
    widths = [max(width(row[place]) for row in cells) for place in range(len(head))]
    return "\n".join(
        "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def clean(text: str) -> str:
    """Return foreign text without anything that could move a terminal's cursor or turn its direction."""
    return "".join(mark for mark in text if unicodedata.category(mark) not in ("Cc", "Cf"))


def width(text: str) -> int:
    """Return how many cells a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(mark) else 2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text
    )
