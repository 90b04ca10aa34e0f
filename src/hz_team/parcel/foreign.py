"""Foreign JSON as values of this package: every name and every type is checked before anything in it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hz_team.beneath import WorkroomError, read_beneath
from hz_team.errors import UsageError

if TYPE_CHECKING:
    from pydantic import ValidationError

Value = TypeVar("Value")
SAID = 200
"""Characters of a complaint that are passed on."""


class ForeignError(UsageError):
    """A document that another process handed over cannot be taken; says which and why."""


def content(folder: str, name: str, *, largest: int) -> bytes | None:
    """Return a plain file of a folder, None if there is none. Raises ForeignError for a link or too many bytes."""
    try:
        return read_beneath(folder, (name,), largest=largest)
    except WorkroomError as error:
        raise ForeignError(f"{folder}: {error}") from error


def value(kind: type[Value], raw: bytes, place: str) -> Value:
    """Read a named tuple as `plain` writes it: no field more, none of another type. Raises ForeignError."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    reader = TypeAdapter(kind, config=ConfigDict(strict=True, defer_build=True))
    reader.rebuild(_types_namespace=_names(kind))
    try:
        return reader.validate_json(raw)
    except ValidationError as error:
        raise ForeignError(f"{place} cannot be read: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    """Return the first complaint in one line, without what was found there."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in found["loc"])
    return " ".join(f"{place}: {found['msg']}".removeprefix(": ").split())[:SAID]


def _names(kind: type[Any]) -> dict[str, Any]:
    """Return what annotations of the model mean: its modules name most of it for type checkers only."""
    import sys
    from collections.abc import Mapping

    from hz_team import ports
    from hz_team.model import draft, facet, observation, order, receipt, state, wake

    modules = (draft, facet, observation, order, receipt, state, wake, ports, sys.modules[kind.__module__])
    known = {name: one for module in modules for name, one in vars(module).items() if isinstance(one, type)}
    return {**known, "Any": Any, "Mapping": Mapping}
