"""`python`: a function of a file in `.hz/jobs/`, in a child of its own; also how such files are read and polled.

Team code is imported here and nowhere else. Whatever it prints is output like a script's; whatever it raises is told
with its own file and line.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

from hz_team import plugin, signature, workroom
from hz_team.allowlist import Allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from hz_team.model.job import Step
    from hz_team.ports import Command
    from hz_team.workroom import Workroom

MODULE = "hz_job"


class FileProblem(Exception):
    """What is wrong with a team's file: line, and words."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line, self.text = line, text


def command(step: Step, room: Workroom) -> Command:
    """Return the child that calls the function and leaves what it returns as drafts."""
    file, function = place(step.spec)
    path = os.path.join(room.root, file)
    request = {
        "action": "run",
        "file": path,
        "shown": file,
        "function": function,
        "variables": dict(room.variables),
        "facets": {name: dict(one) for name, one in room.facets.items()},
        "modules": list(room.modules),
        "params": dict(step.spec.get("params", {})),
    }
    told = room.put(f"step-{room.number}.json", json.dumps(request))
    return room.command(step, workroom.child("hz_team.steps.python", told, "-"), read=(path,))


def place(spec: Mapping[str, Any]) -> tuple[str, str]:
    """Return file below the root, and function, of `python: FILE:FUNCTION` or of {file, function}."""
    said = spec.get("python")
    if isinstance(said, dict):
        return str(said["file"]), str(said["function"])
    if said:
        file, _, function = str(said).rpartition(":")
        return (file if "/" in file else f".hz/jobs/{file}"), function
    return str(spec["file"]), str(spec["function"])


def main() -> int:
    """Do what the request file (first word) says; the answer goes to the file named second, drafts to $HZ_DRAFT(S)."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        request: dict[str, Any] = json.load(stream)
    action = {"call": _call, "declare": _declare, "poll": _poll, "run": _run}[request["action"]]
    try:
        answer = action(request)
    except FileProblem as problem:
        sys.stderr.write(f"{request['shown']}:{problem.line}: {problem.text}\n")
        return 1
    if sys.argv[2] != "-":
        with open(sys.argv[2], "w", encoding="utf-8") as stream:
            json.dump(answer, stream)
    return 0


def load(path: str, modules: Sequence[str] = ()) -> ModuleType:
    """Import a team's file. Raises FileProblem for whatever goes wrong there."""
    if modules:
        sys.meta_path.insert(0, Allowed(path, (*modules, MODULE)))
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if not spec or not spec.loader:
        raise FileProblem(1, "cannot be read as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module  # `typing.get_type_hints`, dataclasses and pickles look there
    sys.dont_write_bytecode = True
    _safely(path, spec.loader.exec_module, module)
    return module


def _safely(path: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call team code; whatever it raises, SystemExit included, becomes a FileProblem with the file's own line."""
    try:
        return function(*arguments, **named)
    except SyntaxError as error:
        raise FileProblem(error.lineno or 1, f"is no valid Python: {error.msg}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        traceback.print_exception(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
        what = f"it exits (code {error.code})" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        raise FileProblem(_line(path, error), what) from error


def _line(path: str, error: BaseException) -> int:
    """Return the innermost line of the file that led to the error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return (lines[-1] or 1) if lines else 1


def _declare(request: dict[str, Any]) -> dict[str, Any]:
    try:
        load(request["file"], request.get("modules", ()))
        said = [(one.kind, signature.describe(one)) for one in plugin.DECLARED]
        json.dumps(said)
    except FileProblem as problem:
        return {"jobs": [], "watches": [], "errors": [{"line": problem.line, "text": problem.text}]}
    except (TypeError, ValueError) as error:
        text = f"a decorator was given something that no job file can say: {error}"
        return {"jobs": [], "watches": [], "errors": [{"line": 1, "text": text}]}
    return {
        "jobs": [one for kind, one in said if kind == "job"],
        "watches": [one for kind, one in said if kind == "watch"],
        "errors": [],
    }


def _function(request: dict[str, Any]) -> Callable[..., Any]:
    module = load(request["file"], request.get("modules", ()))
    function = getattr(module, request["function"], None)
    if not callable(function):
        raise FileProblem(1, f"there is no function {request['function']}")
    found: Callable[..., Any] = function
    return found


def _called(request: dict[str, Any], given: dict[str, Any]) -> Any:
    function = _function(request)
    try:
        chosen = signature.arguments(function, given)
    except TypeError as error:
        raise FileProblem(function.__code__.co_firstlineno, str(error)) from error
    return _safely(request["file"], function, **chosen)


def _poll(request: dict[str, Any]) -> dict[str, Any]:
    """Call a watch function; return its items and its next cursor."""
    cursor = plugin.Cursor(request["cursor"])
    saw = _called(
        request,
        {
            "watches": {},
            "inputs": plugin.Inputs(),
            "slot": None,
            "note": "",
            "cursor": cursor,
            "params": request["params"],
        },
    )
    if isinstance(saw, list | tuple) and all(isinstance(item, dict) for item in saw):
        saw = plugin.Facets(saw)
    if not isinstance(saw, plugin.Facets):
        raise FileProblem(
            1, f"{request['function']} returned {type(saw).__name__}; a watch returns Facets, or a list of dict"
        )
    try:
        return json.loads(json.dumps({"items": list(saw.all), "cursor": saw.cursor}, default=_iso))  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise FileProblem(1, f"{request['function']} returned what is no JSON: {error}") from error


def _iso(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise TypeError(f"{type(value).__name__} {value!r}")


def _run(request: dict[str, Any]) -> None:
    """Call a job function and write what it returns, one draft a proposal."""
    drafts = [_draft(one) for one in _proposals(request)]
    for number, draft in enumerate(drafts, 1):
        name = os.environ["HZ_DRAFT"] if len(drafts) == 1 else os.path.join(os.environ["HZ_DRAFTS"], f"{number:03}.md")
        with open(name, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(draft)


def _call(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Call a job function and return its proposals, for a unit test."""
    return [one._asdict() for one in _proposals(request)]


def _proposals(request: dict[str, Any]) -> list[plugin.Proposal]:
    from datetime import datetime

    told = request["variables"]
    iso = told.get("slot", {}).get("iso")
    given = {
        "watches": {name: _facets(value) for name, value in request["facets"].items()},
        "inputs": plugin.Inputs(told.get("inputs", {})),
        "slot": datetime.fromisoformat(iso) if iso else None,
        "note": told.get("note", ""),
        "cursor": plugin.Cursor(),
        "params": request.get("params", {}),
    }
    function = request["function"]
    found = [_proposal(one, function) for one in _listed(_called(request, given))]
    if len(found) > workroom.DRAFTS:
        raise FileProblem(1, f"{function} returned {len(found)} proposals; at most {workroom.DRAFTS} are taken")
    return found


def _facets(value: dict[str, Any]) -> plugin.Facets:
    return plugin.Facets(value["all"], **{part: value[part] for part in ("added", "changed", "removed")})


def _listed(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(result) if isinstance(result, list | tuple) and not isinstance(result, plugin.Proposal) else [result]


def _proposal(one: Any, function: str) -> plugin.Proposal:
    if isinstance(one, str):
        return plugin.Proposal(body=one)
    if isinstance(one, dict):
        try:
            one = plugin.Proposal(**one)
        except TypeError as error:
            raise FileProblem(1, f"{function} returned a mapping that is no Proposal: {error}") from error
    if not isinstance(one, plugin.Proposal):
        raise FileProblem(
            1, f"{function} returned {type(one).__name__}; a job returns Proposal(…), a list of them, or text"
        )
    return one._replace(labels=[str(label) for label in one.labels], files=dict(one.files))


def _draft(one: plugin.Proposal) -> str:
    fields = {name: value for name, value in one._asdict().items() if name != "body"}
    return workroom.document(fields, one.body)


if __name__ == "__main__":
    sys.exit(main())
