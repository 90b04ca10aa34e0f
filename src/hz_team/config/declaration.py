"""Jobs and watches that a Python file declares, compiled. The file itself was read in a child process."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.config import contract, job, pending, setting, source, trigger, watch
from hz_team.config.job import Built, Desk
from hz_team.config.source import Source
from hz_team.config.trigger import Entry, Frame
from hz_team.errors import HzError
from hz_team.model.config import Declaration
from hz_team.model.config.trigger import On
from hz_team.model.config.trigger import Trigger as WrittenTrigger
from hz_team.model.config.value import a_duration, an_id, slug
from hz_team.model.config.watch import a_watch_name
from hz_team.model.job import Finding, Job, Step, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hz_team.model.job import Approve

_HEADER = re.compile(r"^# /// script\r?\n((?:#(?: .*)?\r?\n)+?)# ///\r?$", re.MULTILINE)
_DECORATED = re.compile(r"^@(?:\w+\.)*job\b[\s\S]*?^(?:async )?def (\w+)", re.MULTILINE)
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ].*")
POLICY = ("timezone", "catch_up", "max_late")


class Said(NamedTuple):
    """What one Python file declares, or why nobody knows."""

    file: str
    jobs: tuple[dict[str, Any], ...] = ()
    watches: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()


def ask(
    file: str,
    content: bytes | None,
    declare: Callable[[str, tuple[str, ...]], dict[str, Any] | Finding],
    modules: tuple[str, ...] = (),
) -> Said:
    """Read the declarations of one file, which may import `modules`."""
    if content is None:
        return Said(file, findings=(Finding(file, 1, "this file cannot be read; check its permissions"),))
    try:
        said = declare(file, modules)
    except HzError as error:
        return Said(file, findings=(Finding(file, 1, str(error)),))
    if isinstance(said, Finding):
        return Said(file, findings=(said._replace(file=file),))
    wrong = tuple(Finding(file, int(error["line"]), str(error["text"])) for error in said.get("errors") or ())
    if wrong:
        return Said(file, findings=wrong)
    return Said(file, tuple(said["jobs"]), tuple(said["watches"]))


def watches(said: Said, files: Mapping[str, bytes | None]) -> tuple[tuple[Watch, ...], tuple[Finding, ...]]:
    """Return the watches that a file declares."""
    found: list[Watch] = []
    findings: list[Finding] = []
    for one in said.watches:
        line = int(one.get("line") or 1)
        try:
            name, every = a_watch_name(str(one["name"])), a_duration(one.get("every") or "1h")
        except ValueError as error:
            findings.append(Finding(said.file, line, f"watch {one.get('name')}: {error}"))
            continue
        bare = Watch(name, "python", every, watch.spec_of(one, said.file), "", said.file, line)
        found.append(watch.made(bare, files))
    return tuple(found), tuple(findings)


def jobs(said: Said, desk: Desk) -> Built:
    """Return the jobs that a file declares; one that is wrong does not take the others with it."""
    if said.findings:
        return Built(findings=said.findings, broken=_presumed(said.file, desk.files.get(said.file)))
    built = [_job(one, said.file, desk) for one in said.jobs]
    findings = [finding for one in built for finding in one.findings]
    findings.extend(_requirements(said.file, desk.files))
    if not said.jobs and not said.watches:
        text = "this file declares nothing; decorate a function with @job or @watch, or move the file out of .hz/jobs"
        findings.append(Finding(said.file, 1, text, "warning"))
    return Built(
        tuple(made for one in built for made in one.jobs),
        (),
        tuple(findings),
        tuple(name for one in built for name in one.broken),
    )


def _presumed(file: str, content: bytes | None) -> tuple[str, ...]:
    names = _DECORATED.findall((content or b"").decode("utf-8", "replace"))
    return tuple(dict.fromkeys(slug_of(name) for name in (*names, job.stem(file))))


def slug_of(name: str) -> str:
    """Return a function's name as an id: as it is where it can be one."""
    try:
        return an_id(name)
    except ValueError:
        return slug(name)


def _job(one: dict[str, Any], file: str, desk: Desk) -> Built:
    line = int(one.get("line") or 1)
    where = Source(file, {key: value for key, value in one.items() if value is not None})
    checked, wrong = source.check(where, Declaration)
    presumed = str(one.get("id") or one["function"])
    wrong = tuple(finding._replace(line=line, text=f"job {presumed}: {finding.text}") for finding in wrong)
    wrong += tuple(
        Finding(file, line, f"job {presumed}: parameter `{name}`: {watch.unknown(name, desk.shared)}")
        for name in one.get("watch") or ()
        if name not in desk.shared
    )
    if checked is None or wrong:
        return Built(findings=wrong, broken=(presumed,))
    try:
        id_ = checked.id or an_id(checked.function)
        entries = _entries(checked, line)
    except ValueError as error:
        return Built(findings=(Finding(file, line, f"job {presumed}: {_plain(error)}"),), broken=(presumed,))
    return _compiled(checked, id_, file, entries, desk)


def _plain(error: ValueError) -> str:
    """Return a pydantic error's own sentences, or the message as it is."""
    details = getattr(error, "errors", None)
    return "; ".join(item["msg"].removeprefix("Value error, ") for item in details()) if details else str(error)


def _compiled(checked: Declaration, id_: str, file: str, entries: tuple[Entry, ...], desk: Desk) -> Built:
    names = {name: name for name in checked.watch}
    names.update((entry.written.watch, entry.written.watch) for entry in entries if entry.written.watch)
    frame = Frame(id_, file, desk.team.zone, desk.now)
    triggers, findings = trigger.compiled(entries, frame)
    line = checked.line or 1
    approve = setting.inherited(checked, desk.team)
    findings += tuple(
        Finding(file, line, f"job {id_}: `on`: {watch.unknown(name, desk.shared)}")
        for name in names
        if name not in desk.shared
    )
    if approve is None:
        text = "who approves comes from .hz/hz.yaml, which has an error; mend it, or say `approve=` here"
        findings += (Finding(file, line, text),)
    if approve is None or any(finding.level == "error" for finding in findings):
        return Built(findings=findings, broken=(id_,))
    kinds = {name: desk.shared[name].kind for name in names}
    triggers, findings = trigger.sighted(triggers, kinds), (*findings, *trigger.blind(entries, kinds, file))
    later = tuple(_pending(checked, approve, desk))
    made = Job(
        id=id_,
        name=checked.name,
        file=file,
        line=line,
        triggers=triggers if entries else trigger.watched(tuple(names)),
        watches=names,
        steps=(Step("python", {"file": file, "function": checked.function}, env=checked.env, line=line),),
        approve=approve,
        pending=later,
    )
    made = job.as_said(made, checked, desk)
    made = made._replace(contract=contract.contract(made, desk.shared, desk.files))
    unready = tuple(Finding(file, line, text, "pending") for text in later)
    return Built((made,), (), (*findings, *unready, *job.idle(made)))


def _entries(checked: Declaration, line: int) -> tuple[Entry, ...]:
    """Return `schedule=` and `on=` as entries. Raises ValueError."""
    policy = {name: getattr(checked, name) for name in POLICY if getattr(checked, name) is not None}
    crons = [one for one in checked.schedule if not _STAMP.fullmatch(one)]
    stamps = [one for one in checked.schedule if _STAMP.fullmatch(one)]
    written = [WrittenTrigger.model_validate({"cron": one, **policy}) for one in crons]
    if stamps:
        written.append(WrittenTrigger.model_validate({"once": stamps, **policy}))
    from pydantic import TypeAdapter

    said = checked.on if isinstance(checked.on, list) else [checked.on] if checked.on else []
    listed = [{"watch": one} if isinstance(one, str) and one != "poke" else one for one in said]
    written.extend(TypeAdapter(On).validate_python(listed) if listed else ())
    return tuple(Entry(one, line) for one in written)


def _pending(checked: Declaration, approve: Approve, desk: Desk) -> Iterator[str]:
    if checked.idempotency:
        yield "`idempotency=`"
    if checked.environment:
        yield pending.ENVIRONMENT
    if checked.share:
        yield "`share`"
    yield from (setting.late(approve, desk.team) if checked.approve else ())
    yield from setting.unknown_teams("owner", checked.owner, desk.team)
    yield from pending.publishers(checked.publish.ceilings())


def _requirements(file: str, files: Mapping[str, bytes | None]) -> Iterator[Finding]:
    text = (files.get(file) or b"").decode("utf-8", "replace")
    header = _HEADER.search(text)
    if not header:
        return
    line = text[: header.start()].count("\n") + 1
    lines = [one.removeprefix("#").removeprefix(" ") for one in header[1].splitlines()]
    try:
        wanted = tomllib.loads("\n".join(lines)).get("dependencies") or []
    except tomllib.TOMLDecodeError as error:
        yield Finding(file, line, f"the `# /// script` block is no TOML: {error}")
        return
    if wanted:
        yield Finding(file, line, "requirements inside a Python file", "pending")
    if wanted and f"{file}.lock" not in files:
        yield Finding(file, line, f"its requirements are not locked; `uv lock --script {file}` does it", "warning")
