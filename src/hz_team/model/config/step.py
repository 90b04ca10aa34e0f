"""`steps:`, how a job drafts."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from hz_team.model.config.value import (
    Count,
    Flag,
    Free,
    Misfit,
    Shape,
    Span,
    Word,
    a_function,
    asked,
    kind_of,
    names,
    nothing,
    text_of,
)
from hz_team.model.written import natural

TAG = "step:"
"""Marks the union's branch in the place of an error, so that it is not taken for a key."""
BY_KEY = {"run": "shell", "template": "template", "python": "python", "tool": "tool", "file": "file"}
"""The key that makes a step what it is, when `type` is not written."""


class Retries(Shape):
    """How often to try again, and how long to wait before."""

    max: Count = 3
    backoff: Span = 300


def retries(value: Any) -> Any:
    """Take a number alone for `max`."""
    return value if isinstance(value, dict) else {"max": value}


Again = Annotated[Retries, BeforeValidator(retries, json_schema_input_type=int | Retries)]


def variables(value: Any) -> tuple[str, ...]:
    """Take names of variables; of a mapping the names (validate reports that its values are not passed yet)."""
    listed = tuple(value) if isinstance(value, dict) else names(value)
    for one in listed:
        if not one.isidentifier() or not one.isascii():
            raise Misfit(f"`{one}` is no name of a variable; `env` takes names only, values stay outside the file")
    return tuple(str(one) for one in listed)


Variables = Annotated[
    tuple[str, ...],
    BeforeValidator(variables, json_schema_input_type=str | list[str] | dict[str, Any]),
]


class Step(Shape):
    """What every step may say."""

    type: Word = ""
    """Known by the step's key if left out."""
    name: Word | None = None
    """For people."""
    id: Word | None = None
    """For people."""
    env: Variables = ()
    """Names of variables that are passed on; nothing else is."""
    place: Literal["scratch", "repo"] = Field(default="scratch", alias="in")
    """scratch: an empty folder; repo: a throw-away checkout of the default branch."""
    timeout: Span | None = None
    """At most the job's."""
    retries: Again = Retries(max=0, backoff=1)
    """Within one run."""

    def spec(self) -> dict[str, Any]:
        """Return the kind's own fields as JSON values, by the names of the file."""
        own = self.model_dump(by_alias=True, exclude=set(Step.model_fields), exclude_none=True, exclude_defaults=True)
        return {key: natural(value) for key, value in own.items()}


class Shell(Step):
    """`run`: a script for `bash --noprofile --norc -eo pipefail`."""

    type: Literal["shell"] = "shell"
    run: Word
    """The script; nothing is ever filled into it."""
    prompt: Word | None = None
    """Text for its standard input, byte for byte."""


class Template(Step):
    """`template`: Markdown filled with what the watches saw."""

    type: Literal["template"] = "template"
    template: Annotated[Word, asked("template")]
    """A file in `.hz/templates`; or, with a line break in it, the template itself."""


class Python(Step):
    """`python`: a function of a file in `.hz/jobs`."""

    type: Literal["python"] = "python"
    python: Annotated[Word, AfterValidator(a_function), asked("python")]
    """`FILE.py:FUNCTION`."""
    params: dict[str, Free] = Field(default_factory=dict)
    """Settings of the function."""


class File(Step):
    """`file`: write one file of the working folder."""

    type: Literal["file"] = "file"
    file: Free = None
    """Its path, or a mapping with path, and content or from."""
    path: Word | None = None
    """The same as `file`."""
    content: Word | None = None
    """New text."""
    source: Word | None = Field(default=None, alias="from")
    """Another file of the working folder to copy."""
    append: Flag = False
    """Add to the end instead of replacing."""

    @model_validator(mode="after")
    def _has_a_path(self) -> File:
        inner = self.file if isinstance(self.file, dict) else {"path": self.file}
        odd = sorted(set(inner) - {"path", "content", "from", "append"})
        if odd:
            raise Misfit(f"`{odd[0]}` is no key of a file step; there are path, content, from and append")
        if not isinstance(inner.get("path") or self.path, str):
            raise Misfit("a file step says where: `file: PATH`")
        if (inner.get("content") or self.content) and (inner.get("from") or self.source):
            raise Misfit("a file step has `content` or `from`, not both")
        return self


class Tool(Step):
    """`tool`: a reusable step type. Accepted, not run yet."""

    model_config = ConfigDict(extra="allow")

    type: Literal["tool"] = "tool"
    tool: Word
    """Name of a file in `.hz/tools`."""
    prompt: Word | None = None
    """What the tool is asked."""
    tools: Free = None
    """What the tool may use."""


class Other(Step):
    """A step type that this version does not know. Accepted, not run yet."""

    model_config = ConfigDict(extra="allow")

    type: Annotated[Word, Field(json_schema_extra={"not": {"enum": [*BY_KEY.values()]}})]
    env: Free = None
    place: Free = Field(default=None, alias="in")
    timeout: Free = None
    retries: Free = None


KNOWN: dict[str, type[Step]] = {"shell": Shell, "template": Template, "python": Python, "file": File, "tool": Tool}


def kind(value: Any) -> str:
    """Return which kind of step a mapping is; "" if it does not say."""
    said = text_of(value["type"]) if nothing(value.get("type")) is not None else ""
    return said or next((kind for key, kind in BY_KEY.items() if key in value), "")


def check(value: Any) -> Any:
    """Refuse what is no step, and types that look like a slip."""
    if not isinstance(value, dict):
        raise Misfit(f"a step is a mapping such as `- run: …`, not {kind_of(value)}")
    said = kind(value)
    if not said:
        near = [match for key in value for match in get_close_matches(key, BY_KEY, n=1)]
        hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(BY_KEY)}"
        raise Misfit(f"this step does not say what it does{hint}")
    if said not in KNOWN:
        near = get_close_matches(said, KNOWN, n=1, cutoff=0.75)
        if near:
            raise Misfit(f"there is no step type `{said}`; did you mean `{near[0]}`?")
    return value


def _tag(value: Any) -> str:
    if isinstance(value, Step):
        return TAG + next((name for name, shape in KNOWN.items() if type(value) is shape), "other")
    said = kind(value)
    return TAG + (said if said in KNOWN else "other")


_Any = (
    Annotated[Shell, Tag("step:shell")]
    | Annotated[Template, Tag("step:template")]
    | Annotated[Python, Tag("step:python")]
    | Annotated[File, Tag("step:file")]
    | Annotated[Tool, Tag("step:tool")]
    | Annotated[Other, Tag("step:other")]
)
AnyStep = Annotated[Annotated[_Any, Discriminator(_tag)], BeforeValidator(check)]


def steps(value: Any) -> Any:
    """Take nothing for no steps."""
    return [] if nothing(value) is None else value


Steps = Annotated[tuple[AnyStep, ...], BeforeValidator(steps)]


class Phase(Shape):
    """`init`, `resume` or `end`: steps in order, stopping at the first that fails."""

    steps: Steps = ()
