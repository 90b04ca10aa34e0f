"""What a decorated function says and takes: declarations as JSON values, arguments by type and name."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from hz_team.plugin import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hz_team.plugin import Declaration


def describe(declaration: Declaration) -> dict[str, Any]:
    """Return one declaration as JSON values; durations and schedules stay as they were written."""
    function, options = declaration.function, declaration.options
    common = {
        "name": options.get("name") or function.__name__,
        "function": function.__name__,
        "doc": inspect.getdoc(function) or "",
        "line": function.__code__.co_firstlineno,
    }
    if declaration.kind == "watch":
        parameters = inspect.signature(function).parameters.values()
        return {
            **common,
            "every": options["every"],
            "params": {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty},
        }
    plain = {name: _plain(value) for name, value in options.items() if name not in ("publishes", "publish", "name")}
    plain["idempotency"] = "idempotency" in options
    publishes = sorted(options.get("publishes") or ())
    return {**plain, **common, "publish": _ceilings(options), "publishes": publishes, "watch": watches(function)}


def _ceilings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return `publish` as a mapping; `publish=["issue"]` and `publishes={"issue"}` leave everything open.

    An action of `publishes` that is no kind (`newsletter.send`) is left to the reader of the declaration.
    """
    publish = options.get("publish") or {}
    if isinstance(publish, str):
        publish = [publish]
    ceilings = dict(publish) if isinstance(publish, dict) else {kind: {} for kind in sorted(publish)}
    kinds = (kind for kind in sorted(options.get("publishes") or ()) if "." not in kind)
    return {**{kind: {} for kind in kinds}, **ceilings}


def watches(function: Callable[..., Any]) -> list[str]:
    """Return the parameters of a job function that are watches."""
    return [one.name for one in inspect.signature(function).parameters.values() if _role(one) == "watch"]


def arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what to call a function with. `given`: watches, inputs, slot, note, cursor, params.

    Raises TypeError for a parameter that nothing fits.
    """
    chosen: dict[str, Any] = {}
    for one in inspect.signature(function).parameters.values():
        role = _role(one)
        if role == "watch" and one.name in given["watches"]:
            chosen[one.name] = given["watches"][one.name]
        elif role in ("inputs", "slot", "note", "cursor"):
            chosen[one.name] = given[role]
        elif one.name in given["params"]:
            chosen[one.name] = given["params"][one.name]
        elif one.default is inspect.Parameter.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise TypeError(f"nothing fits the parameter {one.name} of {function.__name__}: there is no such watch")
    return chosen


def _role(parameter: inspect.Parameter) -> str:
    """Return what a parameter stands for, by its type and else by its name."""
    annotation = parameter.annotation
    named = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    role = {"Facets": "watch", "Inputs": "inputs", "Cursor": "cursor"}.get(named.rpartition(".")[2], "")
    if role:
        return role
    if parameter.name in ("inputs", "slot", "note", "cursor"):
        return parameter.name
    if parameter.default is not inspect.Parameter.empty or parameter.kind in (
        parameter.VAR_POSITIONAL,
        parameter.VAR_KEYWORD,
    ):
        return "setting"
    return "watch"


def _plain(value: Any) -> Any:
    if isinstance(value, Retry):
        return value._asdict()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if callable(value):
        return True
    return value
