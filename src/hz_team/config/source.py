"""One file of `.hz/`: parsed, checked against its shape, and its problems as sentences with a line."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from hz_team.model.config import step, watch
from hz_team.model.config.value import kind_of
from hz_team.model.job import Finding
from hz_team.model.written import Fields, Items, Text, is_null, line_of
from hz_team.yaml import YamlError, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic_core import ErrorDetails

Path = tuple[int | str, ...]
SHAPES: dict[str, type[BaseModel]] = {
    **{step.TAG + name: shape for name, shape in step.KNOWN.items()},
    **{watch.TAG + name: shape for name, shape in watch.KNOWN.items()},
}
ELSEWHERE = {
    "cron": 'write it below `on`: `on: {cron: "…"}`',
    "timezone": "write it in the entry of `on` that it belongs to, or in .hz/hz.yaml for all jobs",
    "catch_up": "write it in the entry of `on` that it belongs to",
    "max_late": "write it in the entry of `on` that it belongs to",
    "trigger": "write `on`",
    "triggers": "write `on`",
    "run": "write it as a step: `steps: [{run: …}]`",
    "template": "write it as a step: `steps: [{template: …}]`",
    "tool": "write it as a step: `steps: [{tool: …}]`",
    "title": "write it below `publish`: `publish: {issue: {title: …}}`",
    "labels": "write them below `publish`: `publish: {issue: {labels: […]}}`",
    "timeout-minutes": "write `timeout: 15m`",
}
"""Keys of a job that people look for in another place."""
NEEDED = {
    "dict_type": "a mapping (`key: value`)",
    "model_type": "a mapping (`key: value`)",
    "model_attributes_type": "a mapping (`key: value`)",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "text",
}


class Source(NamedTuple):
    """A file's text and the document in it."""

    file: str
    document: Any
    findings: tuple[Finding, ...] = ()
    """Why there is no document."""


def parse(file: str, content: bytes | None) -> Source:
    """Read a YAML file."""
    if content is None:
        text = "this file cannot be read; check its permissions, or where it links to"
        return Source(file, None, (Finding(file, 1, text),))
    try:
        return Source(file, load(content))
    except YamlError as error:
        return Source(file, None, (Finding(file, error.line, error.text),))


def check(
    source: Source,
    shape: Any,
    *,
    at: Path = (),
    context: Mapping[str, Any] | None = None,
) -> tuple[Any, tuple[Finding, ...]]:
    """Return the value at a path as its shape, or None with one finding for each thing that is wrong.

    `context`: functions that look at cron lines and at names of watches and files (`value.asked`).
    """
    value = source.document
    for part in at:
        value = value[part]
    try:
        return _adapter(shape).validate_python(value, context=context), ()
    except ValidationError as error:
        return None, tuple(_finding(source, shape, details, at) for details in error.errors(include_url=False))


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def mapping(source: Source, what: str) -> tuple[Finding, ...]:
    """Return a finding if the document is no mapping."""
    if source.findings or isinstance(source.document, Fields):
        return source.findings
    if source.document is None:
        return (Finding(source.file, 1, f"the file is empty; write {what}, or remove the file"),)
    return (Finding(source.file, 1, f"the file holds {kind_of(source.document)}; {what} is a mapping (`key: value`)"),)


def _finding(source: Source, shape: Any, error: ErrorDetails, at: Path) -> Finding:
    raw = error["loc"]
    place = (*at, *(part for part in raw if not _is_mark(part)))
    shown = _shown(source.document, place)
    keys = _keys(shape, raw[:-1]) if error["type"] == "extra_forbidden" else ()
    text = _sentence(error, shown, keys, top=len(place) == 1)
    return Finding(source.file, line_of(source.document, place), text)


def _is_mark(part: int | str) -> bool:
    return isinstance(part, str) and (part.startswith((step.TAG, watch.TAG)) or part == "[key]")


def _sentence(error: ErrorDetails, shown: str, keys: Iterable[str], *, top: bool) -> str:
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        return _unknown(str(error["loc"][-1]), shown, tuple(keys), top=top)
    if kind == "missing":
        return f"`{shown}` is missing; write it"
    said = str(error["ctx"]["error"]) if kind == "value_error" else error["msg"]
    if isinstance(value, Text) and is_null(value) and "time zone" not in said:
        return f"nothing is written after `{shown}`; write a value, or remove the key"
    if kind == "literal_error":
        near = get_close_matches(str(value), _expected(error), n=1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        return f"`{shown}` is {error['ctx']['expected'].replace(chr(39), '`')}, not `{value}`{hint}"
    if kind in NEEDED:
        return f"`{shown}` takes {NEEDED[kind]}, not {kind_of(value)}"
    return f"`{shown}`: {said}" if shown else said


def _expected(error: ErrorDetails) -> list[str]:
    return str(error["ctx"]["expected"]).replace("'", "").replace(" or ", ", ").split(", ")


def _unknown(key: str, shown: str, keys: tuple[str, ...], *, top: bool) -> str:
    near = get_close_matches(key.lower().replace("-", "_"), keys, n=1)
    if top and key in ELSEWHERE and "publish" in keys and not (near and near[0] == key):
        return f"unknown key `{shown}`; {ELSEWHERE[key]}"
    if near:
        return f"unknown key `{shown}`; did you mean `{near[0]}`?"
    return f"unknown key `{shown}`; there are {', '.join(sorted(keys))}"


def _shown(document: Any, place: Path) -> str:
    """Return a path as a person would write it, without steps that only our shapes have."""
    words: list[str] = []
    for part in place:
        if isinstance(part, int):
            if isinstance(document, Items) and part < len(document):
                words.append(f"[{part + 1}]")
                document = document[part]
            continue
        words.append(f".{part}" if words else part)
        document = document.get(part) if isinstance(document, dict) else document
    return "".join(words)


def _keys(shape: Any, place: Path) -> tuple[str, ...]:
    """Return the keys that are known at a place of a shape."""
    known = _model(shape)
    for part in place:
        if isinstance(part, str) and part in SHAPES:
            known = SHAPES[part]
        elif known and isinstance(part, str):
            fields = {field.alias or name: field.annotation for name, field in known.model_fields.items()}
            known = _model(fields[part]) or known if part in fields else known
    fields_of: Mapping[str, Any] = known.model_fields if known else {}
    return tuple(field.alias or name for name, field in fields_of.items())


def _model(annotation: Any) -> type[BaseModel] | None:
    """Return the first shape in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        root = annotation.model_fields.get("root")
        return _model(root.annotation) if root else annotation
    return next((found for part in get_args(annotation) if (found := _model(part))), None)
