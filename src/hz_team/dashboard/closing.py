"""A decision's page when nothing is left to decide: what became of it first, the draft as it was, no boxes. Pure."""

from __future__ import annotations

import re

from hz_team.dashboard.phrase import sentence
from hz_team.markdown import normal

NOTHING = "There is nothing left to decide here; the ledger says what became of it"
_MARKER = re.compile(r"<!-- hz:proposal \S+ [0-9a-f]+ -->")
_ROW = re.compile(r"\s*(?:[-*+]|[0-9]+[.)])\s+\[[ xX]\]\s+<!-- hz:")
_RULE = "---"


def closed(text: str, words: str) -> str:
    """Return the page with `words` (one of our sentences) in place of everything that asked for an answer."""
    lines = normal(text).split("\n")
    rules = [at for at, line in enumerate(lines) if line == _RULE]
    marker = [line for line in lines[:1] if _MARKER.fullmatch(line)]
    first, last = (rules[0], rules[-1]) if len(rules) > 1 else (0, len(lines) - 1)
    draft = [line for line in lines[first : last + 1] if line not in marker and not _ROW.match(line)]
    origin = _folded(lines[last + 1 :])
    head = "\n".join((*marker, f"**{sentence(words or NOTHING)}**"))
    return "\n\n".join(part for part in (head, "\n".join(draft), "\n".join(origin)) if part.strip()) + "\n"


def _folded(lines: list[str]) -> list[str]:
    """Return where the draft came from: what is folded away behind it, without rows."""
    starts = [at for at, line in enumerate(lines) if line.startswith("<details>")]
    ends = [at for at, line in enumerate(lines) if line == "</details>"]
    if not starts or not ends or ends[-1] < starts[0]:
        return []
    return [line for line in lines[starts[0] : ends[-1] + 1] if not _ROW.match(line)]
