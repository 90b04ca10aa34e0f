"""Settings compiled: hz.yaml, control.yaml and the policies, each key for itself where one of them is wrong."""

from __future__ import annotations

from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.config import source, trigger
from hz_team.config.source import Source
from hz_team.fingerprint import digest, short
from hz_team.model.config.publish import Approve as WrittenApprove
from hz_team.model.config.setting import ControlFile, PolicyEntry, SettingsFile
from hz_team.model.job import Approve, Finding, Policy, Settings
from hz_team.model.written import Fields, Items, line_of, natural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.config.job import Declaration, JobFile

NOTHING = ("hz_team",)
"""The module allowlist if hz.yaml has an error and does not say: the standard library, and what imports us."""
HZ, CONTROL, POLICIES = ".hz/hz.yaml", ".hz/control.yaml", ".hz/policies/auto-approve.yaml"


class Team(NamedTuple):
    """What jobs inherit, and what all of them are held to."""

    settings: Settings
    zone: str
    """The team's zone; "" if hz.yaml has an error and does not say."""
    approve: Approve | None
    """Who approves unless a job says; None if hz.yaml has an error and does not say."""
    ceilings: Mapping[str, int]
    """Job → usd_micros a day, from control.yaml."""
    hz: SettingsFile
    control: ControlFile
    sources: Mapping[str, Source]
    findings: tuple[Finding, ...] = ()


def compiled(files: Mapping[str, bytes | None]) -> Team:
    """Return the effective settings and all that is wrong with their files."""
    sources = {path: source.parse(path, files[path]) for path in (HZ, CONTROL, POLICIES) if path in files}
    hz, said, wrong = _checked(sources.get(HZ), SettingsFile)
    control, told, stopped = _checked(sources.get(CONTROL), ControlFile)
    if stopped and "paused" not in told:
        line = stopped[0].line
        stopped += (Finding(CONTROL, line, "an off switch that cannot be read counts as off: everything is paused"),)
        control = control.model_copy(update={"paused": True})
    zone = hz.timezone if _is_certain("timezone", sources.get(HZ), said) else ""
    policies, refused = _policies(sources.get(POLICIES), zone or "UTC")
    dollars = [usd for usd in (hz.budget.usd_per_day, control.cost.usd_per_day) if usd is not None]
    settings = Settings(
        timezone=zone or "UTC",
        paused=control.paused,
        disabled=control.disabled,
        drafts_per_tick=hz.limits.drafts_per_tick,
        parallel=hz.limits.parallel,
        usd_micros_per_day=min(dollars, default=None),
        hosts=hz.publish.hosts,
        repositories=hz.publish.repositories,
        modules=hz.modules if _is_certain("modules", sources.get(HZ), said) else NOTHING,
        teams=dict(hz.teams),
        state=hz.state.repository,
        policies=policies,
    )
    team = Team(
        settings=settings,
        zone=zone,
        approve=approval(hz.approve) if _is_certain("approve", sources.get(HZ), said) else None,
        ceilings=dict(control.cost.jobs),
        hz=hz,
        control=control,
        sources=sources,
    )
    return team._replace(findings=(*wrong, *stopped, *refused, *_later(team, sources)))


def approval(written: WrittenApprove) -> Approve:
    """Return who may say yes, compiled."""
    return Approve(
        by=written.by,
        need=written.need,
        not_author=written.not_ == "author",
        from_page=written.from_ == "page",
        expires=written.expires,
        hold=written.hold,
    )


def ceiling(job: str, own: int | None, team: Team) -> int | None:
    """Return what a job may cost a day: the lower of its own and control.yaml's."""
    return min((usd for usd in (own, team.ceilings.get(job)) if usd is not None), default=None)


def inherited(job: JobFile | Declaration, team: Team) -> Approve | None:
    """Return who approves a job's drafts; None if it matters and nobody can tell."""
    if job.approve:
        return approval(job.approve)
    return team.approve if team.approve or job.publish.ceilings() else Approve()


def _checked(where: Source | None, shape: Any) -> tuple[Any, frozenset[str], tuple[Finding, ...]]:
    """Return the values that hold, the keys that were said and are right, and what is wrong."""
    if where is None or (where.document is None and not where.findings):
        return shape(), frozenset(), ()
    wrong = source.mapping(where, "settings")
    if wrong:
        return shape(), frozenset(), wrong
    whole, wrong = source.check(where, shape)
    if whole is not None:
        return whole, frozenset(where.document), ()
    right = Fields(1)
    for name in where.document:
        alone = Fields(1)
        alone[name] = where.document[name]
        if not source.check(Source(where.file, alone), shape)[1]:
            right[name] = where.document[name]
    return source.check(Source(where.file, right), shape)[0], frozenset(right), wrong


def _is_certain(key: str, where: Source | None, said: frozenset[str]) -> bool:
    """Whether a setting is known: said and right, or not said, not even misspelt, in a file that can be read."""
    if where is None or key in said or (where.document is None and not where.findings):
        return True
    if not isinstance(where.document, Fields) or key in where.document:
        return False
    known = tuple(SettingsFile.model_fields)
    return all(get_close_matches(name, known, n=1) != [key] for name in where.document if name not in known)


def _policies(where: Source | None, zone: str) -> tuple[tuple[Policy, ...], tuple[Finding, ...]]:
    if where is None or where.findings or where.document is None:
        return (), where.findings if where else ()
    if not isinstance(where.document, Items):
        return (), (Finding(where.file, 1, "policies are a list of {owner, job, kind, target, until}"),)
    policies: list[Policy] = []
    findings: list[Finding] = []
    for place, entry in enumerate(where.document):
        checked, wrong = source.check(where, PolicyEntry, at=(place,))
        findings.extend(wrong)
        if checked is not None:
            fields = natural(entry)
            until = _until(checked.until, zone)
            name = short(digest({key: str(item) for key, item in fields.items()}))
            policies.append(Policy(checked.owner, checked.job, checked.kind, checked.target, until, name))
    return tuple(policies), tuple(findings)


def _until(text: str, zone: str) -> int:
    """Return the first second at which a policy no longer counts: after that day, or at that moment."""
    if ":" in text:
        return trigger.instant(text, zone)
    after = datetime.fromisoformat(text) + timedelta(days=1)
    return trigger.instant(after.isoformat(), zone)


def _later(team: Team, sources: Mapping[str, Source]) -> tuple[Finding, ...]:
    found: list[Finding] = []
    where = sources.get(HZ)
    if where and team.hz.budget.minutes is not None:
        line = line_of(where.document, ("budget", "minutes"))
        found.append(Finding(HZ, line, "`budget.minutes`", "pending"))
    if where and team.approve:
        found.extend(
            Finding(HZ, line_of(where.document, ("approve",)), text, "pending") for text in late(team.approve, team)
        )
    return tuple(found)


def late(approve: Approve, team: Team) -> tuple[str, ...]:
    """Name what an approval says that has no behaviour yet."""
    return (*unknown_teams("approver", approve.by, team), *(("`approve.hold`",) if approve.hold else ()))


def unknown_teams(role: str, people: tuple[str, ...], team: Team) -> tuple[str, ...]:
    """Name the `org/team` entries that nobody here can look into."""
    teams = (one for one in people if "/" in one and one not in team.settings.teams)
    return tuple(
        f"{role} `{one}` (the built-in token cannot ask who is in it; list it under `teams` in {HZ})" for one in teams
    )
