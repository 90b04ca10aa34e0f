"""GraphQL by the name of the operation: there is no parser, a table says what each name answers.

An answer may hold more fields than were asked for. Add an operation with `@operation("Name")`: it gets the call (who
asks) and the variables, and returns the `data`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from hz_team.testing.github.call import Answer, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hz_team.testing.github.call import Call

OPERATIONS: dict[str, Callable[[Call, Mapping[str, Any]], Mapping[str, Any]]] = {}
_Operation = TypeVar("_Operation", bound="Callable[[Call, Mapping[str, Any]], Mapping[str, Any]]")
_NAME = re.compile(r"\b(?:query|mutation)\s+(\w+)")


class Failed(Exception):
    """A field could not be given: `errors` holds the sentence, `data` the rest."""

    def __init__(self, kind: str, message: str, *, data: Mapping[str, Any] | None = None) -> None:
        """`kind`: NOT_FOUND, FORBIDDEN, UNPROCESSABLE, …; `data`: what could be given."""
        super().__init__(message)
        self.kind, self.data = kind, data


def operation(name: str) -> Callable[[_Operation], _Operation]:
    """Enter a function into the table."""

    def enter(function: _Operation) -> _Operation:
        OPERATIONS[name] = function
        return function

    return enter


def name(document: Mapping[str, Any]) -> str:
    """Return the operation that a request's document means: as it says, else the first one in its query."""
    found = _NAME.search(str(document.get("query") or ""))
    return str(document.get("operationName") or (found[1] if found else ""))


def answer(call: Call) -> Answer:
    """Answer one query or mutation: 200 with `data`, or with `errors` for what failed."""
    if call.token is None:
        raise Refused(401, "This endpoint requires you to be authenticated.")
    words = call.words()
    asked = name(words)
    if asked not in OPERATIONS:
        return Answer(200, _errors("undefinedField", f"The double does not know the operation {asked!r}", None))
    try:
        return Answer(200, {"data": OPERATIONS[asked](call, words.get("variables") or {})})
    except Failed as failed:
        return Answer(200, _errors(failed.kind, str(failed), failed.data))


def _errors(kind: str, message: str, data: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"data": data, "errors": [{"type": kind, "message": message, "locations": [{"line": 1, "column": 1}]}]}
