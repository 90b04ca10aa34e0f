"""Foreign text as inert Markdown: the same visible words, and nothing in them that acts.

`literal` is for one value, `value` for what a template fills in, `neutralise` for a whole body that keeps its
formatting, `one_line` for places that are no Markdown (titles, commit messages), `plain` for a terminal.
"""

from __future__ import annotations

from hz_team.markdown.address import url
from hz_team.markdown.block import fence, normal, same, sealed, strip_markers
from hz_team.markdown.body import neutralise
from hz_team.markdown.text import clean, code, literal, literal_block, one_line, plain, value

__all__ = [
    "clean",
    "code",
    "fence",
    "literal",
    "literal_block",
    "neutralise",
    "normal",
    "one_line",
    "plain",
    "same",
    "sealed",
    "strip_markers",
    "url",
    "value",
]
