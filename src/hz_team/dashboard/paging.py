"""What stands on the first page and what does not: whole rows only, and none pushes out another part's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIMIT = 60_000
"""Characters of a page; GitHub takes 65,536."""
DECISIONS = 25
"""Decisions on the first page."""
_ROOM = {"waiting": 24_000, "parked": 12_000, "findings": 4_000, "helpers": 6_000, "run": 6_000}
"""Characters that each part of the first page may take, so that none can push out another."""
HEADINGS = {
    "waiting": "## Waiting for a yes",
    "parked": "## Parked",
    "run": "## Controls",
}


class Part(NamedTuple):
    """Whole rows that stand on the first page, and those that do not."""

    kept: tuple[str, ...]
    rest: tuple[str, ...]


def take(section: str, drawn: Iterable[str], most: int | None = None) -> Part:
    """Return the rows that fit into a section's room on the first page, at most `most`, and the rest."""
    every, kept, room = tuple(drawn), 0, _ROOM[section]
    while kept < len(every) and (most is None or kept < most) and (room := room - len(every[kept]) - 2) >= 0:
        kept += 1
    return Part(every[:kept], every[kept:])


def further(rest: dict[str, tuple[str, ...]]) -> Iterable[str]:
    """Yield the texts of the further pages: whole rows, each section under its heading again."""
    lines: list[str] = []
    size = 0
    for section, rows in rest.items():
        heading = f"{HEADINGS[section]}, continued\n"
        lines.append(heading)
        for text in rows:
            if size + len(text) > LIMIT - 1_000 and len(lines) > 1:
                yield "\n".join(lines)
                lines, size = [heading], 0
            lines.append(text)
            size += len(text) + 1
        lines.append("")
    if lines:
        yield "\n".join(lines).rstrip()


def shortened(lines: Sequence[str], section: str, where: str) -> str:
    """Return the lines that fit, and how many do not; only for lines without a box."""
    part = take(section, lines)
    more = f"\n\nand {len(part.rest):,} more: {where}" if part.rest else ""
    return "\n".join(part.kept) + more
