"""Jobs of YAML files compiled."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import schedule
from hz_team.config import contract, pending, setting, source, trigger, watch
from hz_team.config.trigger import Entry, Frame
from hz_team.model.config import JobFile
from hz_team.model.config import step as written_step
from hz_team.model.config.trigger import Trigger as WrittenTrigger
from hz_team.model.config.value import ID, an_id, slug
from hz_team.model.job import Approve, Finding, Input, Job, Step, Watch
from hz_team.model.written import Fields, line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hz_team.config.setting import Team
    from hz_team.config.source import Source
    from hz_team.model.config import Declaration
    from hz_team.model.config.job import Input as WrittenInput


class Desk(NamedTuple):
    """What every job is compiled against."""

    files: Mapping[str, bytes | None]
    shared: Mapping[str, Watch]
    team: Team
    now: int


class Built(NamedTuple):
    """What came of one file: jobs with the watches that are theirs alone, or the ids that are broken now."""

    jobs: tuple[Job, ...] = ()
    watches: tuple[Watch, ...] = ()
    findings: tuple[Finding, ...] = ()
    broken: tuple[str, ...] = ()


def stem(file: str) -> str:
    """Return a file's name without its ending."""
    return os.path.basename(file).rpartition(".")[0]


def compiled(where: Source, desk: Desk) -> Built:
    """Return the job of a file, or why there is none."""
    wrong = source.mapping(where, "a job")
    if wrong:
        return Built(findings=wrong, broken=(_presumed(where),))
    checked, wrong = source.check(where, JobFile, context=_looks(where, desk))
    named, misnamed = _identified(where)
    if checked is None or misnamed:
        return Built(findings=(*wrong, *misnamed), broken=(_presumed(where),))
    return _job(where, checked, named, desk)


def _presumed(where: Source) -> str:
    """Return the id of a file that is wrong somewhere."""
    said = where.document.get("id") if isinstance(where.document, Fields) else None
    return str(said) if isinstance(said, str) and ID.fullmatch(said) else stem(where.file)


def _identified(where: Source) -> tuple[str, tuple[Finding, ...]]:
    if "id" in where.document:
        return str(where.document["id"]), ()
    try:
        return an_id(stem(where.file)), ()
    except ValueError:
        text = f"the file's name cannot be the job's id; write `id: {slug(stem(where.file))}`, or rename the file"
        return "", (Finding(where.file, 1, text),)


def _job(where: Source, checked: JobFile, id_: str, desk: Desk) -> Built:
    inline = {
        name: watch.compiled(
            f"{id_}.{name}", one, desk.files, file=where.file, line=line_of(where.document, ("watch", name))
        )
        for name, one in checked.watch.items()
        if not isinstance(one, str)
    }
    names = {name: (inline[name].id if name in inline else str(one)) for name, one in checked.watch.items()}
    entries = tuple(_entries(where, checked))
    for entry in entries:
        if entry.written.watch and entry.written.watch not in names:
            names[entry.written.watch] = entry.written.watch
    known = {**desk.shared, **{one.id: one for one in inline.values()}}
    frame = Frame(id_, where.file, desk.team.zone, desk.now)
    triggers, doubts = trigger.compiled(entries, frame)
    steps = tuple(_steps(where, checked))
    approve = setting.inherited(checked, desk.team)
    findings = (
        *doubts,
        *(finding for one in inline.values() for finding in watch.doubts(one, desk.files)),
        *_undecided(where, approve),
    )
    broken = tuple(finding for finding in findings if finding.level == "error")
    if broken or approve is None:
        return Built(findings=findings, broken=(id_,))
    triggers = tuple(one._replace(name=names[one.name]) if one.kind == "watch" else one for one in triggers)
    kinds = {name: known[name].kind for name in names.values() if name in known}
    triggers, findings = trigger.sighted(triggers, kinds), (*findings, *trigger.blind(entries, kinds, where.file))
    later = tuple(pending.phrases(where, checked, approve, desk.team))
    job = Job(
        id=id_,
        name=checked.name or id_,
        file=where.file,
        line=where.document.line,
        triggers=triggers if entries or checked.on is not None else trigger.watched(tuple(names.values())),
        watches=names,
        steps=steps,
        approve=approve,
        pending=tuple(text for text, _ in later),
    )
    job = as_said(job, checked, desk)
    job = job._replace(contract=contract.contract(job, known, desk.files))
    unready = tuple(Finding(where.file, line, text, "pending") for text, line in later)
    return Built((job,), tuple(inline.values()), (*findings, *unready, *idle(job)))


def given(written: WrittenInput) -> Input:
    """Return a declared input, compiled."""
    return Input(
        type=written.type,
        pattern=written.pattern,
        default=written.value(),
        required=written.required,
        options=written.options,
        description=written.description,
    )


def idle(job: Job) -> tuple[Finding, ...]:
    """Say so if nothing but a person ever wakes a job."""
    if job.triggers or not job.enabled:
        return ()
    text = "nothing wakes this job but a person's run-now; write `on`, or `watch`, if that is not meant"
    return (Finding(job.file, job.line, text, "warning"),)


def as_said(made: Job, checked: JobFile | Declaration, desk: Desk) -> Job:
    """Return the job with what a file and a decorator say in the same words."""
    return made._replace(
        scope=checked.scope,
        enabled=checked.enabled,
        owner=checked.owner,
        publish=checked.publish.ceilings(),
        inputs={name: given(one) for name, one in checked.inputs.items()},
        fresh_for=checked.fresh_for,
        retries=checked.retries.max,
        backoff=checked.retries.backoff,
        timeout=checked.timeout,
        concurrency=checked.concurrency,
        usd_micros_per_day=setting.ceiling(made.id, checked.cost.usd_per_day, desk.team),
        environment=checked.environment,
    )


def _entries(where: Source, checked: JobFile) -> Iterator[Entry]:
    document = where.document
    for place, written in enumerate(checked.on or ()):
        yield Entry(written, line_of(document, ("on", place)))
    if checked.schedule:
        yield Entry(WrittenTrigger(once=checked.schedule), line_of(document, ("schedule",)))


def _phase(where: Source) -> tuple[str, ...]:
    return ("steps",) if "steps" in where.document else ("init", "steps")


def _steps(where: Source, checked: JobFile) -> Iterator[Step]:
    for place, written in enumerate(checked.drafting):
        line = line_of(where.document, (*_phase(where), place))
        if isinstance(written, written_step.Other):
            yield Step(written.type, written.spec(), line=line)
            continue
        again = written.retries
        yield Step(
            kind=written.type,
            spec=written.spec(),
            env=written.env,
            place=written.place,
            timeout=written.timeout,
            retries=again.max,
            backoff=again.backoff,
            line=line,
        )


def _looks(where: Source, desk: Desk) -> dict[str, Any]:
    """Return what checks values against the rest of the configuration; each raises ValueError."""
    said = where.document.get("watch")
    inline = {name for part in (said if isinstance(said, list) else [said]) if isinstance(part, dict) for name in part}

    def look_up(names: set[str]) -> Callable[[str], None]:
        def look(name: str) -> None:
            if name not in names:
                raise ValueError(watch.unknown(name, names))

        return look

    return {
        "cron": lambda text: schedule.parse(text, _presumed(where)),
        "watch": look_up({*desk.shared, *inline}),
        "shared": look_up({*desk.shared}),
        "template": lambda name: _template(name, desk.files),
        "python": lambda name: present(contract.python_file({"python": name}), contract.JOBS, desk.files),
    }


def _template(name: str, files: Mapping[str, bytes | None]) -> None:
    """Check that a named template is there; one with a line break is none's name. Raises ValueError."""
    if contract.is_inline(name):
        return
    if "{{" in name or "{%" in name:
        raise ValueError("this is a template and no file's name; write `template: |`, and the text on the lines below")
    present(contract.template_file(name), contract.TEMPLATES, files)


def present(path: str, folder: str, files: Mapping[str, bytes | None]) -> None:
    """Check that a named file is there. Raises ValueError."""
    if files.get(path) is not None:
        return
    there = sorted(name.removeprefix(f"{folder}/") for name in files if name.startswith(f"{folder}/"))
    near = get_close_matches(path.removeprefix(f"{folder}/"), there, n=1)
    if near:
        raise ValueError(f"there is no file {path}; did you mean `{near[0]}`?")
    hint = f", or name one of {', '.join(there)}" if there else ""
    raise ValueError(f"there is no file {path}; a name is looked up in {folder}/: write the file{hint}")


def _undecided(where: Source, approve: Approve | None) -> Iterator[Finding]:
    if approve is None:
        text = "who approves comes from .hz/hz.yaml, which has an error; mend it, or write `approve` here"
        yield Finding(where.file, 1, text)
