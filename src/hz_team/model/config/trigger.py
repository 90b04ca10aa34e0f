"""`on:`, when a job wakes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from hz_team.model.config.value import Duration, Flag, Free, Misfit, Names, Shape, Word, asked, kind_of, nothing
from hz_team.model.config.zone import Zone
from hz_team.model.written import is_null

KINDS = ("cron", "once", "watch", "poke", "dispatch", "event", "lark_bot")
CLOCKS = ("cron", "once")


def _moments(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    for one in listed:
        if not isinstance(one, str):
            raise Misfit(f'timestamps are needed here, not {kind_of(one)}; a cron line is written `cron: "…"`')
        try:
            datetime.fromisoformat(one.strip() if ":" in one else "")
        except ValueError:
            raise Misfit(f"`{one}` is no timestamp; write 2026-11-30T09:00, with +01:00 or Z if needed") from None
    if not listed:
        raise Misfit("no timestamp is written; write one such as 2026-11-30T09:00, or remove the key")
    return tuple(str(one) for one in listed)


Moments = Annotated[tuple[str, ...], BeforeValidator(_moments, json_schema_input_type=str | list[str])]


class Trigger(Shape):
    """One entry: exactly one of cron, once, watch, poke, dispatch, event."""

    cron: Annotated[Word, asked("cron")] | None = None
    """Five fields or @daily and the like, always in quotes."""
    once: Moments | None = None
    """Timestamps; without an offset they are local to the zone. `schedule:` is the same."""
    watch: Annotated[Word, asked("watch")] | None = None
    """A watch's name: the job wakes when what it sees changed."""
    poke: Flag | None = None
    """Somebody asks: the run-now box, `/hz run`, `hz-team run`, repository_dispatch hz-poke."""
    dispatch: Word | None = None
    """Somebody asks: a repository_dispatch of this type; what it carries under the names of `inputs` is taken."""
    event: Word | None = None
    """A GitHub event, such as issues: the job looks at its watches at once and wakes when one that shows it changed."""
    types: Names = ()
    """Activity types of the event that make it look at once; none: any."""
    lark_bot: Free = None
    """A Lark message. Accepted, not run yet."""
    timezone: Zone | None = None
    """IANA name; default: the team's."""
    catch_up: Literal["latest", "all", "skip"] = "latest"
    """What happens to slots that nobody was there for."""
    max_late: Duration | None = None
    """After this a slot is passed over; once: 1d unless said."""
    mode: Literal["create_new", "resume"] = "create_new"
    """`resume` is accepted, not run yet."""
    workspace_key: Word | None = None
    """Accepted, not run yet."""
    enabled: Flag = True
    """false: this entry does not wake the job."""

    @property
    def kind(self) -> str:
        """Which of the six it is."""
        return next(kind for kind in KINDS if self._says(kind))

    def _says(self, kind: str) -> bool:
        return getattr(self, kind) is not None

    @model_validator(mode="after")
    def _is_one(self) -> Trigger:
        said = [kind for kind in KINDS if self._says(kind)]
        if len(said) != 1:
            known = ", ".join(KINDS[:-1])
            raise Misfit(f"an entry of `on` says one of {known}; this one says {' and '.join(said) or 'none'}")
        if said[0] not in CLOCKS:
            odd = sorted(self.model_fields_set & {"timezone", "catch_up", "max_late"})
            if odd:
                raise Misfit(f"`{odd[0]}` belongs to cron and once; remove it from this {said[0]} entry")
        if self.types and self.event is None:
            raise Misfit("`types` belongs to an event; remove it here")
        if self.workspace_key and self.mode != "resume":
            raise Misfit("`workspace_key` belongs to `mode: resume`; add that or remove the key")
        return self


def entry(value: Any) -> Any:
    """Take the words that stand for a whole entry, and `schedule:` for `once:`."""
    if isinstance(value, str):
        if value == "poke":
            return {"poke": True}
        raise Misfit(f'`{value}` does not say when; write `poke`, `{{cron: "…"}}` or `{{watch: {value}}}`')
    if not isinstance(value, dict):
        raise Misfit(f"an entry of `on` is a mapping or `poke`, not {kind_of(value)}")
    shown: dict[str, Any] = {("once" if key == "schedule" else key): item for key, item in value.items()}
    if len(shown) != len(value):
        raise Misfit("`once` and `schedule` are the same; keep one")
    if "poke" in shown and is_null(shown["poke"]):
        shown["poke"] = True
    return shown


def entries(value: Any) -> list[Any]:
    """Take one entry or a list of them."""
    if is_null(value):
        raise Misfit("nothing is written after `on`; remove the key, or say when the job wakes")
    return list(value) if isinstance(value, list | tuple) else [value]


class TriggerText(Trigger):
    """One entry as files may write it."""

    schedule: Moments | None = Field(default=None)
    """The same as `once`."""


Entry = Annotated[Trigger, BeforeValidator(entry, json_schema_input_type=Literal["poke"] | TriggerText)]
_Entry = Literal["poke"] | TriggerText
On = Annotated[tuple[Entry, ...], BeforeValidator(entries, json_schema_input_type=_Entry | list[_Entry])]
Schedule = Annotated[Moments | None, BeforeValidator(nothing, json_schema_input_type=str | list[str] | None)]
