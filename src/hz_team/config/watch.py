"""Watches compiled: shared ones by name, inline ones as `job.name`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from hz_team.config import contract, source
from hz_team.fingerprint import digest, short
from hz_team.model.config import watch as written
from hz_team.model.job import Finding, Watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hz_team.config.source import Source

FILE = ".hz/watches.yaml"
EVERY = {"files": 0}
"""Seconds between two looks unless the file says; looking at the checkout costs nothing."""
HOUR = 3600


def shared(where: Source, files: Mapping[str, bytes | None]) -> tuple[tuple[Watch, ...], tuple[Finding, ...]]:
    """Return the watches of watches.yaml; a wrong one does not take the others with it."""
    wrong = source.mapping(where, "a watch by its name")
    if wrong:
        return (), wrong
    found: list[Watch] = []
    findings: list[Finding] = []
    for name in where.document:
        checked, problems = source.check(where, written.AnyWatch, at=(name,))
        line = where.document.lines[name]
        try:
            written.a_watch_name(name)
        except ValueError as error:
            problems = (*problems, Finding(where.file, line, str(error)))
        if checked is not None and not problems:
            made = compiled(name, checked, files, file=where.file, line=line)
            found.append(made)
            problems = tuple(doubts(made, files))
        findings.extend(problems)
    return tuple(found), tuple(findings)


def compiled(
    name: str,
    checked: written.Watch,
    files: Mapping[str, bytes | None],
    *,
    file: str,
    line: int,
) -> Watch:
    """Return one watch under its id."""
    every = EVERY.get(checked.type, HOUR) if checked.every is None else checked.every
    return made(Watch(name, checked.type, every, checked.spec(), "", file, line), files)


def made(watch: Watch, files: Mapping[str, bytes | None]) -> Watch:
    """Return the watch with its key: kind, definition, and the text of a Python watch's file."""
    code = contract.content_of(files.get(contract.python_file(watch.spec))) if watch.kind == "python" else None
    return watch._replace(key=short(digest([watch.kind, dict(watch.spec), code])))


def doubts(watch: Watch, files: Mapping[str, bytes | None]) -> Iterable[Finding]:
    """Yield what is to be said about a watch that can be read."""
    if watch.kind.startswith("github."):
        yield Finding(watch.file, watch.line, f"watch type `{watch.kind}`", "pending")
    if watch.kind == "python" and files.get(contract.python_file(watch.spec)) is None:
        yield Finding(watch.file, watch.line, f"there is no file {contract.python_file(watch.spec)}; write its path")


def unknown(name: str, names: Iterable[str]) -> str:
    """Say that nobody defines a watch."""
    known = sorted(names)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"there is no watch `{name}`; did you mean `{near[0]}`?"
    there = f"there are {', '.join(known)}" if known else "none is defined"
    return f"there is no watch `{name}`; {there}; define it in {FILE}, or write it out below `watch`"


def spec_of(declared: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Return the definition of a watch that a Python file declares."""
    return {"file": file, "function": str(declared["function"]), "params": dict(declared.get("params") or {})}
