"""All files of `.hz/` put together: the index of what is valid, and every finding of every file."""

from __future__ import annotations

import posixpath
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.config import declaration, job, setting, source, watch
from hz_team.config.job import Built, Desk
from hz_team.model.job import Finding, Index, Job, Watch
from hz_team.model.written import line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from hz_team.config.setting import Team
    from hz_team.config.source import Source

JOBS, TOOLS = ".hz/jobs", ".hz/tools"
SINGLE = (setting.HZ, setting.CONTROL, setting.POLICIES, watch.FILE, ".hz/hooks.yaml", ".hz/workflows/registry.yaml")
LATER = (".hz/hooks.yaml", ".hz/workflows/registry.yaml")
FREE = (".hz/templates", ".hz/policies", ".hz/workflows", TOOLS, JOBS)

INSTALLABLE = re.compile(r"there is no (watch|step) type|unknown key `publish\.|no kind of publisher")
"""Errors that go away when a package with further kinds is installed, though no file changes."""


class Catalog(NamedTuple):
    """The compiled configuration and what it was compiled from."""

    compiled: Index
    team: Team
    sources: Mapping[str, Source]
    """The documents of job files, for where a value comes from."""
    declared: Mapping[str, dict[str, Any]]
    """Job id → what its Python file declares."""
    collisions: tuple[Finding, ...] = ()
    lasting: bool = True
    """Whether reading the same files again would give the same: a child that failed may succeed next time."""


def build(
    files: Mapping[str, bytes | None],
    *,
    key: str,
    declare: Callable[[str, tuple[str, ...]], dict[str, Any] | Finding],
    now: int,
) -> Catalog:
    """Compile all files; what is wrong with one of them is a finding and stops no other."""
    team = setting.compiled(files)
    modules = team.settings.modules
    python = [declaration.ask(path, files[path], declare, modules) for path in _jobs(files, ".py")]
    shared, problems = _shared(files, python)
    desk = Desk(files, {one.id: one for one in shared}, team, now)
    sources = {path: source.parse(path, files[path]) for path in _jobs(files, ".yaml", ".yml")}
    built = [job.compiled(one, desk) for one in sources.values()]
    built.extend(declaration.jobs(said, desk) for said in python)
    found = [made for one in built for made in one.jobs]
    collisions = tuple(_collisions(found))
    twice = {made.id for made in found if sum(other.id == made.id for other in found) > 1}
    jobs = tuple(sorted((made for made in found if made.id not in twice), key=lambda made: made.id))
    findings = (
        *team.findings,
        *problems,
        *(finding for one in built for finding in one.findings),
        *collisions,
        *_odd(files),
        *_strangers(team, built, jobs),
    )
    watches = (*shared, *(one for part in built for one in part.watches))
    index = Index(
        key=key,
        compiled_at=now,
        jobs=jobs,
        watches=tuple(sorted((_guarded(one, team) for one in watches), key=lambda one: one.id)),
        settings=team.settings,
        findings=tuple(sorted(dict.fromkeys(findings), key=lambda one: (one.file, one.line))),
        broken=tuple(sorted({name for one in built for name in one.broken} - {made.id for made in jobs})),
    )
    declared = {str(one.get("id") or one["function"]): one for said in python for one in said.jobs}
    lasting = not any(said.findings for said in python) and not any(INSTALLABLE.search(one.text) for one in findings)
    return Catalog(index, team, sources, declared, collisions, lasting)


def _jobs(files: Mapping[str, bytes | None], *endings: str) -> list[str]:
    return [path for path in files if posixpath.dirname(path) == JOBS and path.endswith(endings)]


def _shared(
    files: Mapping[str, bytes | None],
    python: Iterable[declaration.Said],
) -> tuple[tuple[Watch, ...], tuple[Finding, ...]]:
    """Return the watches that every job may name; of two with one name the first stays."""
    parts = [watch.shared(source.parse(watch.FILE, files[watch.FILE]), files)] if watch.FILE in files else []
    parts.extend(declaration.watches(said, files) for said in python)
    kept: dict[str, Watch] = {}
    findings = [finding for _, problems in parts for finding in problems]
    for one in (one for found, _ in parts for one in found):
        first = kept.setdefault(one.id, one)
        if first is not one:
            text = f"a watch `{one.id}` is defined at {first.file}:{first.line} already; give one of them another name"
            findings.append(Finding(one.file, one.line, text))
    return tuple(kept.values()), tuple(findings)


def _guarded(one: Watch, team: Team) -> Watch:
    """Tell a Python watch what its file may import; that does not enter its key."""
    if one.kind != "python" or not team.settings.modules:
        return one
    return one._replace(spec={**one.spec, "modules": list(team.settings.modules)})


def _collisions(found: Iterable[Job]) -> Iterator[Finding]:
    first: dict[str, Job] = {}
    for made in found:
        other = first.setdefault(made.id, made)
        if other is not made:
            text = (
                f"two jobs have the id `{made.id}`: {other.file}:{other.line} and {made.file}:{made.line}; "
                "give one of them another `id` (nothing runs until then)"
            )
            yield Finding(made.file, made.line, text)


def _odd(files: Mapping[str, bytes | None]) -> Iterator[Finding]:
    """Yield the files that are accepted and not run yet, and those that nothing reads."""
    for path in files:
        folder, name = posixpath.split(path)
        if path in LATER or (folder == TOOLS and name.endswith((".yaml", ".yml"))):
            where = source.parse(path, files[path])
            yield from where.findings
            if not where.findings and where.document is not None:
                yield Finding(path, 1, "this file", "pending")
        elif folder == JOBS and name.endswith(".prose.md"):
            yield Finding(path, 1, "jobs written as prose", "pending")
        elif path.endswith((".yaml", ".yml")) and path not in SINGLE and folder not in (JOBS, TOOLS):
            yield Finding(path, 1, f"nothing reads this file{_meant(path, folder)}", "warning")


def _meant(path: str, folder: str) -> str:
    if folder.startswith(f"{JOBS}/"):
        return f"; jobs lie in {JOBS}/ itself, move it there"
    near = get_close_matches(path, SINGLE, n=1, cutoff=0.8)
    return f"; did you mean {near[0]}?" if near else "; move it, or remove it"


def _strangers(team: Team, built: Iterable[Built], jobs: Iterable[Job]) -> Iterator[Finding]:
    """Yield switches and policies that name jobs nobody has."""
    known = {made.id for made in jobs} | {name for one in built for name in one.broken}
    named = [
        *((setting.CONTROL, ("disabled", place), name) for place, name in enumerate(team.control.disabled)),
        *((setting.CONTROL, ("cost", "jobs", name), name) for name in team.control.cost.jobs),
        *((setting.POLICIES, (_entry(team, one.job),), one.job) for one in team.settings.policies),
    ]
    for file, path, name in named:
        if name not in known:
            near = get_close_matches(name, sorted(known), n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            line = line_of(team.sources[file].document, path)
            yield Finding(file, line, f"there is no job `{name}`{hint}", "warning")


def _entry(team: Team, name: str) -> int:
    """Return where in the list of policies a job is named first."""
    entries = team.sources[setting.POLICIES].document
    return next(place for place, one in enumerate(entries) if isinstance(one, dict) and one.get("job") == name)
