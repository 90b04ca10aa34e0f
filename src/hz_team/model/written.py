"""Values as a person wrote them: exact text that knows its line, in mappings and lists that know theirs."""

from __future__ import annotations

import re
from typing import Any, Self

INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
"""Short enough to be exact in every JSON reader; a longer one, `007` or `3.10` stays text."""
NULL = ("", "~", "null", "Null", "NULL")
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Text(str):
    """A scalar, exactly as written."""

    __slots__ = ("line", "plain")
    line: int
    """Where it begins, counted from 1."""
    plain: bool
    """Written without quotes and not as a block: only such text may mean true, false, null or a number."""

    def __new__(cls, value: str, line: int = 0, *, plain: bool = False) -> Self:
        """Keep the value and where it stood."""
        text = super().__new__(cls, value)
        text.line, text.plain = line, plain
        return text


class Fields(dict[str, Any]):
    """A mapping; `lines` holds the line of every key."""

    def __init__(self, line: int = 0) -> None:
        """Start empty at a line."""
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Items(list[Any]):
    """A list; `lines` holds the line of every entry."""

    def __init__(self, line: int = 0) -> None:
        """Start empty at a line."""
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def is_null(value: Any) -> bool:
    """Whether nothing was written: None, or an empty, `~` or `null` scalar without quotes."""
    return value is None or (isinstance(value, Text) and value.plain and value in NULL)


def natural(value: Any) -> Any:
    """Return the value as JSON would have it: true, false, null and whole numbers without quotes are what they say.

    Fractions stay text (`3.10` is a version more often than a number, and digests take no floats).
    """
    if isinstance(value, dict):
        return {str(key): natural(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [natural(item) for item in value]
    if not isinstance(value, Text):
        return value
    if is_null(value):
        return None
    if value.plain and value in TRUTH:
        return TRUTH[value]
    return int(value) if value.plain and INTEGER.fullmatch(value) else str(value)


def line_of(document: Any, path: tuple[int | str, ...]) -> int:
    """Return the line of the value at a path; steps that the document does not have are passed over."""
    line = getattr(document, "line", 0) or 1
    for step in path:
        if isinstance(document, Fields) and step in document:
            line, document = document.lines.get(str(step), line), document[str(step)]
        elif isinstance(document, Items) and isinstance(step, int) and step < len(document):
            line, document = document.lines[step], document[step]
    return line
