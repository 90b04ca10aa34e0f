"""Watches: what is looked at."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, RootModel, Tag, model_validator

from hz_team.model.config.value import (
    Amount,
    Duration,
    Free,
    Misfit,
    Names,
    Shape,
    Span,
    Word,
    a_function,
    added,
    asked,
    kind_of,
    slug,
    text_of,
)
from hz_team.model.written import natural

TAG = "watch:"
NAME = re.compile(r"[a-z0-9_][a-z0-9_-]{0,62}")
TAKEN = ("slot", "job", "inputs", "note", "draft", "outputs")
"""What templates and functions know under these names already."""
GITHUB = (
    "github.releases",
    "github.pulls",
    "github.issues",
    "github.runs",
    "github.commits",
    "github.discussions",
    "github.notifications",
)
"""Accepted, not run yet."""


class Watch(Shape):
    """What every watch may say."""

    type: Word
    """feed, files, python or github.*"""
    every: Duration | None = None
    """How long to wait between two looks; a job that is due looks in any case."""
    ignore: Names = ()
    """Fields of items whose changes do not count."""

    def spec(self) -> dict[str, Any]:
        """Return the kind's own fields as JSON values."""
        said = self.model_dump(by_alias=True, exclude={"type", "every"}, exclude_none=True, exclude_defaults=True)
        return {key: natural(value) for key, value in said.items()}


class Feed(Watch):
    """RSS, Atom or JSON feeds."""

    type: Literal["feed"]
    urls: Names = ()
    """Addresses, http or https."""
    url: Word | None = Field(default=None)
    """One address."""
    newest: Amount | None = None
    """How many items a snapshot keeps; default: 500."""

    @model_validator(mode="after")
    def _has_addresses(self) -> Feed:
        found = (*self.urls, *((self.url,) if self.url else ()))
        if not found:
            raise Misfit('a feed watch needs `urls: ["https://…"]`')
        for one in found:
            parts = urlsplit(one)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise Misfit(f"`{one}` is no address of a feed; write https://…")
            if parts.username or parts.password:
                raise Misfit(f"the address of {parts.hostname} holds a password; files in Git are no place for it")
        return self

    def spec(self) -> dict[str, Any]:
        """Return `urls` alone, however they were written."""
        said = super().spec()
        said.pop("url", None)
        return {**said, "urls": [*self.urls, *((self.url,) if self.url else ())]}


class Files(Watch):
    """Files of the checkout, by glob."""

    type: Literal["files"]
    paths: Names
    """Patterns below the repository's root, `**` through folders."""

    @model_validator(mode="after")
    def _stays_inside(self) -> Files:
        for one in self.paths:
            if one.startswith("/") or ".." in one.split("/") or "\\" in one or not one:
                raise Misfit(f"`{one}` leaves the repository; write a pattern below its root, with /")
        if not self.paths:
            raise Misfit('a files watch needs `paths: ["docs/**/*.md"]`')
        return self


class Python(Watch):
    """A function of a file in `.hz/jobs`."""

    type: Literal["python"]
    python: Annotated[Word, AfterValidator(a_function), asked("python")]
    """`FILE.py:FUNCTION`."""
    params: dict[str, Free] = Field(default_factory=dict)
    """Settings of the function."""
    timeout: Span | None = None
    """Of one call; default: 2m."""

    def spec(self) -> dict[str, Any]:
        """Return file below the root, function, settings and time-out."""
        file, _, function = self.python.rpartition(":")
        return {
            "file": file if "/" in file else f".hz/jobs/{file}",
            "function": function,
            "params": natural(self.params),
        }


class Other(Watch):
    """What GitHub knows (accepted, not run yet), or a kind that an installed package adds."""

    model_config = ConfigDict(extra="allow")

    type: Annotated[Word, Field(json_schema_extra={"not": {"enum": ["feed", "files", "python"]}})]


KNOWN: dict[str, type[Watch]] = {"feed": Feed, "files": Files, "python": Python}


def check(value: Any) -> Any:
    """Refuse what is no watch."""
    if not isinstance(value, dict):
        raise Misfit(f"a watch is a mapping such as `{{type: feed, urls: […]}}`, not {kind_of(value)}")
    if "type" not in value:
        raise Misfit(f"a watch says its `type`: {', '.join(KNOWN)} or github.*")
    said = text_of(value["type"])
    if said not in KNOWN and said not in GITHUB and said not in added("watches"):
        near = get_close_matches(said, [*KNOWN, *GITHUB], n=1)
        hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join((*KNOWN, *GITHUB))}"
        raise Misfit(f"there is no watch type `{said}`{hint}")
    return value


def _tag(value: Any) -> str:
    said = value.type if isinstance(value, Watch) else str(value.get("type"))
    return TAG + (said if said in KNOWN else "other")


_Any = (
    Annotated[Feed, Tag("watch:feed")]
    | Annotated[Files, Tag("watch:files")]
    | Annotated[Python, Tag("watch:python")]
    | Annotated[Other, Tag("watch:other")]
)
AnyWatch = Annotated[Annotated[_Any, Discriminator(_tag)], BeforeValidator(check)]


def a_watch_name(value: Any) -> str:
    """Check a watch's name."""
    text = text_of(value)
    if not NAME.fullmatch(text):
        raise Misfit(f"`{text[:80]}` cannot be a watch's name; write `{slug(text).replace('-', '_')}`")
    if text in TAKEN:
        raise Misfit(f"`{text}` cannot be a watch's name: templates and functions know something else by it; rename it")
    return text


WatchName = Annotated[str, BeforeValidator(a_watch_name, json_schema_input_type=str)]


def inputs(value: Any) -> Any:
    """Take a name, a list of names or of mappings, or a mapping; return name → definition or shared name."""
    if isinstance(value, str):
        return {value: value}
    if isinstance(value, dict):
        return value
    if not isinstance(value, list | tuple):
        raise Misfit(f"watches are names, or a mapping of name to watch, not {kind_of(value)}")
    merged: dict[str, Any] = {}
    for one in value:
        if not isinstance(one, dict | str):
            raise Misfit(f"a watch is a name or a mapping, not {kind_of(one)}")
        for name, item in {one: one}.items() if isinstance(one, str) else one.items():
            if name in merged:
                raise Misfit(f"the watch `{name}` stands twice; keep one")
            merged[name] = item
    return merged


def _which(value: Any) -> str:
    return "watch:name" if isinstance(value, str) else "watch:inline"


_One = Annotated[
    Annotated[WatchName, asked("shared"), Tag("watch:name")] | Annotated[AnyWatch, Tag("watch:inline")],
    Discriminator(_which),
]
Watches = Annotated[
    dict[WatchName, _One],
    BeforeValidator(inputs, json_schema_input_type=str | list[str | dict[str, _Any]] | dict[str, str | _Any]),
]


class WatchesFile(RootModel[dict[WatchName, AnyWatch]]):
    """`.hz/watches.yaml`: watches that several jobs share, by name."""
