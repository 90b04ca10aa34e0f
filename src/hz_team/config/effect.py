"""What holds, and where it comes from: the rows of `hz-team config`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.config.setting import CONTROL, HZ
from hz_team.model.written import Fields, line_of
from hz_team.moment import iso

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.config.catalog import Catalog
    from hz_team.model.job import Approve, Job, Trigger

Row = tuple[str, Any, str]
UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def rows(catalog: Catalog) -> tuple[Row, ...]:
    """Return key, value and origin of every setting, then of every job, then of every watch."""
    return (
        *_settings(catalog),
        *(row for job in catalog.compiled.jobs for row in _job(catalog, job)),
        *_watches(catalog),
    )


def _settings(catalog: Catalog) -> Iterator[Row]:
    team, settings = catalog.team, catalog.compiled.settings

    def origin(file: str, *path: str) -> str:
        return _origin(team.sources[file].document, file, path) if file in team.sources else "default"

    yield "timezone", settings.timezone, origin(HZ, "timezone")
    yield "approve", _approval(team.approve), origin(HZ, "approve")
    yield "budget.minutes", team.hz.budget.minutes, origin(HZ, "budget", "minutes")
    yield "budget.usd_per_day", _usd(team.hz.budget.usd_per_day), origin(HZ, "budget", "usd_per_day")
    yield "teams", {name: list(people) for name, people in settings.teams.items()}, origin(HZ, "teams")
    yield "publish.repositories", list(settings.repositories), origin(HZ, "publish", "repositories")
    yield "publish.hosts", list(settings.hosts), origin(HZ, "publish", "hosts")
    yield "state.repository", settings.state, origin(HZ, "state", "repository")
    yield "limits.drafts_per_tick", settings.drafts_per_tick, origin(HZ, "limits", "drafts_per_tick")
    yield "limits.parallel", settings.parallel, origin(HZ, "limits", "parallel")
    yield "modules", list(settings.modules), origin(HZ, "modules")
    yield "paused", settings.paused, origin(CONTROL, "paused")
    yield "disabled", list(settings.disabled), origin(CONTROL, "disabled")
    yield "cost.usd_per_day", _usd(team.control.cost.usd_per_day), origin(CONTROL, "cost", "usd_per_day")


def _job(catalog: Catalog, job: Job) -> Iterator[Row]:
    def origin(*path: str) -> str:
        if job.id in catalog.declared:
            return f"{job.file}:{job.line}" if catalog.declared[job.id].get(path[0]) is not None else "default"
        return _origin(catalog.sources[job.file].document, job.file, path)

    name = f"jobs.{job.id}"
    inherited = _origin(_document(catalog, HZ), HZ, ("approve",))
    approve = origin("approve")
    yield f"{name}.name", job.name, origin("name")
    yield f"{name}.enabled", job.enabled, origin("enabled")
    yield f"{name}.scope", job.scope, origin("scope")
    yield f"{name}.owner", list(job.owner), origin("owner")
    yield f"{name}.on", [_trigger(one) for one in job.triggers], _first(origin("on"), origin("schedule"))
    yield (
        f"{name}.inputs",
        {key: {"type": one.type, "default": one.default} for key, one in job.inputs.items()},
        origin("inputs"),
    )
    yield f"{name}.watch", dict(job.watches), origin("watch")
    yield f"{name}.steps", [step.kind for step in job.steps], _first(origin("steps"), origin("init", "steps"))
    yield f"{name}.publish", {kind: dict(fixed) for kind, fixed in job.publish.items()}, origin("publish")
    yield f"{name}.approve", _approval(job.approve), approve if approve != "default" else inherited
    yield f"{name}.fresh_for", _time(job.fresh_for), origin("fresh_for")
    yield f"{name}.retries", job.retries, origin("retries")
    yield f"{name}.backoff", _time(job.backoff), origin("retries", "backoff")
    yield f"{name}.timeout", _time(job.timeout), origin("timeout")
    yield f"{name}.concurrency", job.concurrency, origin("concurrency")
    yield f"{name}.cost.usd_per_day", _usd(job.usd_micros_per_day), _cost(catalog, job, origin("cost", "usd_per_day"))
    yield f"{name}.environment", job.environment, origin("environment")


def _watches(catalog: Catalog) -> Iterator[Row]:
    for watch in catalog.compiled.watches:
        where = f"{watch.file}:{watch.line}"
        yield f"watches.{watch.id}", {"type": watch.kind, **watch.spec}, where
        yield f"watches.{watch.id}.every", _time(watch.every), where


def _document(catalog: Catalog, file: str) -> Any:
    return catalog.team.sources[file].document if file in catalog.team.sources else None


def _origin(document: Any, file: str, path: tuple[str, ...]) -> str:
    at = document
    for step in path:
        if not isinstance(at, Fields) or step not in at:
            return "default"
        at = at[step]
    return f"{file}:{line_of(document, path)}"


def _first(*origins: str) -> str:
    return next((origin for origin in origins if origin != "default"), "default")


def _cost(catalog: Catalog, job: Job, own: str) -> str:
    if catalog.team.ceilings.get(job.id) != job.usd_micros_per_day or job.usd_micros_per_day is None:
        return own
    return _origin(_document(catalog, CONTROL), CONTROL, ("cost", "jobs", job.id))


def _approval(approve: Approve | None) -> dict[str, Any] | None:
    if approve is None:
        return None
    return {
        "by": list(approve.by),
        "need": approve.need,
        "not": "author" if approve.not_author else "",
        "from": "page" if approve.from_page else "dashboard",
        "expires": _time(approve.expires),
        **({"hold": _time(approve.hold)} if approve.hold else {}),
    }


def _trigger(trigger: Trigger) -> str:
    if trigger.kind == "cron":
        return f"{trigger.cron} {trigger.zone}"
    if trigger.kind == "once":
        return "once " + ", ".join(iso(time) for time in trigger.times)
    return f"{trigger.kind} {trigger.name}".strip()


def _time(seconds: int | None) -> str:
    """Return a duration as files write it: 1h30m."""
    if seconds is None:
        return ""
    words = ""
    for unit, size in UNITS:
        count, seconds = divmod(seconds, size)
        words += f"{count}{unit}" if count else ""
    return words or "0s"


def _usd(micros: int | None) -> str:
    return "" if micros is None else f"{micros // 1_000_000}.{micros % 1_000_000 // 10_000:02d}"
