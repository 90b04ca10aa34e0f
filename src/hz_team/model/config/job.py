"""`.hz/jobs/*.yaml`: one duty. Orchestration task files are read by the same shape."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, model_validator

from hz_team.model.config.publish import Approval, Publish, Publishes, published
from hz_team.model.config.step import Again, Phase, Retries, Steps, Variables
from hz_team.model.config.trigger import On, Schedule
from hz_team.model.config.value import (
    Amount,
    Count,
    Flag,
    Free,
    Id,
    Misfit,
    Name,
    Names,
    People,
    Shape,
    Span,
    Usd,
    Word,
    names,
)
from hz_team.model.config.watch import Watches
from hz_team.model.config.zone import Zone
from hz_team.model.written import INTEGER


class Input(Shape):
    """One input that a poke may carry: typed and bounded, never template, never shell text."""

    type: Literal["string", "number", "boolean", "choice"] = "string"
    pattern: Word = ""
    """Regular expression for the whole text."""
    default: Free = None
    required: Flag = False
    options: Names = ()
    """Values of a choice."""
    description: Word = ""

    @model_validator(mode="after")
    def _fits(self) -> Input:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise Misfit(f"`pattern: {self.pattern}` is no regular expression: {error}") from None
        if (self.type == "choice") != bool(self.options):
            raise Misfit("`options` and `type: choice` belong together; write both or neither")
        if self.default is not None and not self._takes(self.default):
            raise Misfit(f"the default `{self.default}` does not fit `type: {self.type}`")
        return self

    def _takes(self, value: Any) -> bool:
        if self.type == "boolean":
            return isinstance(value, bool)
        if self.type == "number":
            return not isinstance(value, bool) and INTEGER.fullmatch(str(value)) is not None
        if self.type == "choice":
            return str(value) in self.options
        return not isinstance(value, dict | list) and (not self.pattern or value == "" or self._matches(str(value)))

    def _matches(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None

    def value(self) -> Any:
        """Return the default in the input's type."""
        if self.default is None or self.type == "boolean":
            return self.default
        if isinstance(self.default, bool):
            return "true" if self.default else "false"
        return int(self.default) if self.type == "number" else str(self.default)


class Cost(Shape):
    """Ceilings; reaching one holds the job until the next day."""

    usd_per_day: Usd | None = None


class JobFile(Shape):
    """One job: when it wakes, what it watches, how it drafts, who approves, where it is published."""

    name: Name | None = None
    """Free text for people; default: the id."""
    id: Id | None = None
    """Default: the file's name without its ending. Another id is a new job."""
    enabled: Flag = True
    owner: People = ()
    """Who is told once when the job parks."""
    scope: Literal["team", "personal"] = "team"
    """Who runs it: the team's workflow, or one person's machine."""
    share: Flag = False
    """Personal jobs: drafts may leave the machine. Accepted, not run yet."""
    on: On | None = None
    """When it wakes; without it, whenever one of its watches changed."""
    schedule: Schedule = None
    """Timestamps: the same as `on: {once: […]}`."""
    inputs: dict[Word, Input] = Field(default_factory=dict)
    """What a poke may carry."""
    watch: Watches = Field(default_factory=dict)
    """Names of shared watches, or watches of this job alone."""
    steps: Steps | None = None
    """How it drafts; short for `init: {steps: […]}`."""
    init: Phase = Phase()
    resume: Phase = Phase()
    """Accepted, not run yet."""
    end: Phase = Phase()
    """Accepted, not run yet."""
    environment: Word = ""
    """GitHub environment whose secrets the draft may see."""
    publish: Publishes = Publish()
    """The ceiling: kinds, and what they fix. Without it drafts are kept, not proposed."""
    approve: Approval | None = None
    """Default: `approve` of hz.yaml."""
    fresh_for: Span | None = None
    """Draft again after this even if nothing changed."""
    retries: Again = Retries()
    """On later ticks, each after twice the wait of the one before, until the job is parked."""
    timeout: Span = 900
    concurrency: Amount = 1
    cost: Cost = Cost()
    ttl: Span | None = None
    """How long a run's workspace is kept. Accepted, not run yet."""
    access_control: Free = None
    """Accepted, not run yet."""

    @model_validator(mode="after")
    def _drafts_somehow(self) -> JobFile:
        if self.steps is not None and self.init.steps:
            raise Misfit("`steps` and `init.steps` are the same; keep one")
        if not self.drafting:
            raise Misfit("the job has no steps; write `steps:` with at least one")
        return self

    @property
    def drafting(self) -> Steps:
        """The steps that draft."""
        return self.steps if self.steps is not None else self.init.steps


class Declaration(Shape):
    """A job that a Python file declares: what its decorator and its signature say."""

    name: Name
    function: Word
    doc: Word = ""
    line: Count = 1
    id: Id | None = None
    enabled: Flag = True
    owner: People = ()
    scope: Literal["team", "personal"] = "team"
    share: Flag = False
    schedule: Names = ()
    """Cron lines or timestamps."""
    on: Free = None
    timezone: Zone | None = None
    catch_up: Literal["latest", "all", "skip"] | None = None
    max_late: Word | None = None
    watch: Names = ()
    inputs: dict[Word, Input] = Field(default_factory=dict)
    env: Variables = ()
    environment: Word = ""
    publish: Publishes = Publish()
    publishes: Names = ()
    """Kinds that fix nothing."""
    approve: Approval | None = None
    fresh_for: Span | None = None
    retries: Again = Retries()
    timeout: Span = 900
    concurrency: Amount = 1
    cost: Cost = Cost()
    idempotency: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _publishes(cls, said: dict[str, Any]) -> dict[str, Any]:
        """Take `publishes` for kinds of `publish` that fix nothing."""
        kinds = names(said.get("publishes"))
        fixed = published(said.get("publish") or {})
        return (
            {**said, "publish": {**{kind: {} for kind in kinds}, **fixed}}
            if kinds and isinstance(fixed, dict)
            else said
        )
