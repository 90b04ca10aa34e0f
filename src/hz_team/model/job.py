"""The configuration as a tick decides on it: compiled, plain and frozen.

`hz_team.config` reads the files of `.hz/` through the pydantic shapes of `model.config` and compiles them to these.
They survive JSON (`plain` and `index_from`), so that the next tick reads one cached file instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]


class Window(NamedTuple):
    """Slots of a trigger that were enumerated ahead: every slot s with start < s <= end, ascending."""

    start: int
    end: int
    slots: tuple[int, ...]


class Trigger(NamedTuple):
    """One `on:` entry of a job."""

    kind: str
    """cron, once, watch, poke, dispatch or event."""
    identity: str = ""
    """16 hex digits over the normalised cron or timestamps and the zone, not place or policy; "" if it has no slots."""
    cron: str = ""
    """Five normalised fields; "" unless kind is cron."""
    zone: str = "UTC"
    """IANA name, exact case."""
    times: tuple[int, ...] = ()
    """The timestamps of a once trigger, ascending."""
    catch_up: str = "latest"
    """latest, all or skip."""
    max_late: int | None = None
    """Seconds after which a slot is passed over; None: never too late. once: 86400 unless said."""
    name: str = ""
    """The watch's id, the dispatch type or the event's name."""
    types: tuple[str, ...] = ()
    """Event activity types; empty: any."""
    window: Window | None = None


class Watch(NamedTuple):
    """A standing look at a source, shared (`releases`) or inline in one job (`changelog.merged`)."""

    id: str
    kind: str
    """feed, files, python, github.*"""
    every: int
    spec: Mapping[str, Any]
    """The definition's own fields, as JSON values (urls, paths, ignore, …)."""
    key: str
    """12 hex digits over kind and spec (and the file's bytes for a Python watch): the name of its cursor file."""
    file: str = ""
    line: int = 0


class Approve(NamedTuple):
    """Who may say yes, and how many must."""

    by: tuple[str, ...] = ("write",)
    """`write` (same as role:write), `role:write|maintain|admin`, logins, `org/team`."""
    need: int = 1
    not_author: bool = False
    """`not: author`: whoever poked or edited the draft may not approve it."""
    from_page: bool = False
    """Only on the page that shows the draft."""
    expires: int = 14 * 86400
    hold: int = 0
    """Accepted, not run yet."""


class Step(NamedTuple):
    """One step of `init.steps`."""

    kind: str
    """template, shell, file, python (or one that is accepted and not run yet: tool)."""
    spec: Mapping[str, Any]
    """The kind's own fields as JSON values, e.g. {"run": "..."} or {"template": "digest.md.j2"}."""
    env: tuple[str, ...] = ()
    """Names of environment variables passed on."""
    place: str = "scratch"
    """`in:` scratch or repo."""
    timeout: int | None = None
    retries: int = 0
    backoff: int = 0
    line: int = 0


class Input(NamedTuple):
    """One declared poke input: bounded, never template, never shell text."""

    type: str = "string"
    """string, number, boolean or choice."""
    pattern: str = ""
    default: Any = None
    required: bool = False
    options: tuple[str, ...] = ()
    description: str = ""


class Job(NamedTuple):
    """One duty: when it wakes, what it watches, how it drafts, who approves, where it is published."""

    id: str
    name: str
    file: str
    """Path below the root, with forward slashes: `.hz/jobs/weekly-digest.yaml`."""
    line: int = 1
    scope: str = "team"
    enabled: bool = True
    owner: tuple[str, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    watches: Mapping[str, str] = {}
    """Name inside the job → watch id."""
    steps: tuple[Step, ...] = ()
    publish: Mapping[str, Mapping[str, Any]] = {}
    """Kind → ceiling as written (titles may be templates). Empty: drafts are kept, not proposed."""
    approve: Approve = Approve()
    inputs: Mapping[str, Input] = {}
    contract: str = ""
    """64 hex digits: what decides the draft (glossary)."""
    fresh_for: int | None = None
    retries: int = 3
    """How often a failed run is tried again on later ticks before the job is parked."""
    backoff: int = 300
    """Seconds before the first of these tries; each later one waits twice as long."""
    timeout: int = 900
    concurrency: int = 1
    usd_micros_per_day: int | None = None
    environment: str = ""
    pending: tuple[str, ...] = ()
    """What the file says that is accepted and not run yet, one phrase each."""


class Policy(NamedTuple):
    """One entry of `.hz/policies/auto-approve.yaml`."""

    owner: str
    job: str
    kind: str
    target: str
    until: int
    """First second at which it no longer counts."""
    id: str = ""
    """12 hex digits over the entry."""


class Settings(NamedTuple):
    """`.hz/hz.yaml` and `.hz/control.yaml`, effective."""

    timezone: str = "UTC"
    paused: bool = False
    """control.yaml `paused: true`."""
    disabled: tuple[str, ...] = ()
    """Job ids switched off in control.yaml."""
    drafts_per_tick: int = 10
    parallel: int = 4
    usd_micros_per_day: int | None = None
    """All jobs together."""
    hosts: tuple[str, ...] = ()
    """Webhook hosts allowed (`publish.hosts`), `host` or `host:port`."""
    repositories: tuple[str, ...] = ()
    """Other repositories that drafts may be published to."""
    repository: str = ""
    """owner/name of this team's repository, or "local"."""
    modules: tuple[str, ...] = ()
    """Module allowlist for unattended Python jobs; empty: anything in the environment."""
    teams: Mapping[str, tuple[str, ...]] = {}
    state: str = ""
    """`state.repository`: a Git URL, or "" for the embedded default."""
    policies: tuple[Policy, ...] = ()


class Finding(NamedTuple):
    """Something to say about a file: an error, a warning, or a thing that is accepted and not run yet."""

    file: str
    line: int
    text: str
    """What, and what to do."""
    level: str = "error"
    """error, warning or pending."""

    def __str__(self) -> str:
        """`file:line: what, and what to do`."""
        return f"{self.file}:{self.line}: {self.text}"


class Index(NamedTuple):
    """Everything a tick decides on, of the valid files."""

    key: str
    """SHA-256 over program version, path and bytes of every file below `.hz/` but `local/`."""
    compiled_at: int
    jobs: tuple[Job, ...] = ()
    """Sorted by id."""
    watches: tuple[Watch, ...] = ()
    settings: Settings = Settings()
    findings: tuple[Finding, ...] = ()
    broken: tuple[str, ...] = ()
    """Ids of jobs whose file is invalid now (by file stem): their proposals take answers but publish nothing."""
    doubt: str = ""
    """The surroundings in which a file could not be read for reasons outside `.hz/`; "" if nothing else decided."""


def plain(value: Any) -> Any:
    """Turn values of this package into what `json.dumps` takes: named tuples become objects, tuples arrays."""
    if isinstance(value, tuple):
        fields: tuple[str, ...] | None = getattr(value, "_fields", None)
        if fields is not None:
            return {name: plain(item) for name, item in zip(fields, value, strict=True)}
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def index_from(data: Json) -> Index:
    """Read back what `plain` wrote of an Index."""
    return Index(
        key=data["key"],
        compiled_at=data["compiled_at"],
        jobs=tuple(_job(job) for job in data["jobs"]),
        watches=tuple(Watch(**watch) for watch in data["watches"]),
        settings=_settings(data["settings"]),
        findings=tuple(Finding(**finding) for finding in data["findings"]),
        broken=tuple(data["broken"]),
        doubt=data["doubt"],
    )


def _job(data: Json) -> Job:
    return Job(
        **{
            **data,
            "owner": tuple(data["owner"]),
            "triggers": tuple(_trigger(trigger) for trigger in data["triggers"]),
            "steps": tuple(Step(**{**step, "env": tuple(step["env"])}) for step in data["steps"]),
            "approve": Approve(**{**data["approve"], "by": tuple(data["approve"]["by"])}),
            "inputs": {n: Input(**{**i, "options": tuple(i["options"])}) for n, i in data["inputs"].items()},
            "pending": tuple(data["pending"]),
        },
    )


def _trigger(data: Json) -> Trigger:
    window = data["window"]
    return Trigger(
        **{
            **data,
            "times": tuple(data["times"]),
            "types": tuple(data["types"]),
            "window": Window(window["start"], window["end"], tuple(window["slots"])) if window else None,
        },
    )


def _settings(data: Json) -> Settings:
    names = ("disabled", "hosts", "repositories", "modules")
    return Settings(
        **{
            **data,
            **{name: tuple(data[name]) for name in names},
            "teams": {team: tuple(people) for team, people in data["teams"].items()},
            "policies": tuple(Policy(**policy) for policy in data["policies"]),
        },
    )
