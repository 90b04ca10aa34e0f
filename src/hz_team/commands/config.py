"""`hz-team config`: every effective value and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team import config
from hz_team.commands import assembly, document, option
from hz_team.commands.table import columns

if TYPE_CHECKING:
    from argparse import Namespace


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    return option.parser("config", __doc__ or "").parse_args(words)


def run(options: Namespace) -> int:
    """Print one line a value."""
    root = option.root_of(options)
    rows = config.effective(root, declare=assembly.declare(root), now=option.now_of(options))
    if options.json:
        document.show([{"key": key, "value": value, "from": source} for key, value, source in rows])
        return 0
    print(columns(("key", "value", "from"), [(key, words(value), source) for key, value, source in rows]))
    return 0


def words(value: Any) -> str:
    """Return a value as a person would write it; what is not set is a dash."""
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(_entry(name, item) for name, item in value.items() if words(item) != "–" or item == {}) or "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(f"({words(item)})" if isinstance(item, dict) else words(item) for item in value)
    return str(value)


def _entry(name: str, item: Any) -> str:
    return f"{name}: {words(item)}" if item != {} else name
