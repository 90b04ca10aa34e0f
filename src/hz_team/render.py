"""Templates: jinja2 in its sandbox, strict. Runs in a child process only (`hz_team.steps.template`).

In Markdown every value is made inert as it is filled in, while the template's own text stays what it is. jinja2's own
autoescaping decides which is which, with Markdown's rules in the place of HTML's: text of the template, macros and
blocks is `Text`, everything else is foreign, `|safe` or not.
"""

from __future__ import annotations

import os
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import markdown
from hz_team.errors import HzError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from jinja2.sandbox import SandboxedEnvironment

_LOADED = "template "
"""Begins the file name, in tracebacks, of a template that another one names."""
LARGEST = 1_000_000
"""Characters of a rendered template."""


class TemplateProblem(HzError):
    """A template that cannot be rendered; says where, what, and what to do."""


class Rendered(NamedTuple):
    """What a template became."""

    fields: Mapping[str, Any]
    """Its front matter, with every text rendered as plain text."""
    body: str


def render(
    name: str,
    folder: str,
    variables: Mapping[str, Any],
    *,
    front_matter: Callable[[str], tuple[Mapping[str, Any], str]],
    source: str | None = None,
) -> Rendered:
    """Render a template of the folder, or the text `source`; front matter is read before anything foreign is filled in.

    Raises TemplateProblem.
    """
    source = _source(name, folder) if source is None else source
    fields, body = front_matter(source) if source.startswith("---") else ({}, source)
    line = source[: len(source) - len(body)].count("\n")
    filled = {key: _field(value, variables, f"{name}: {key}") for key, value in fields.items()}
    environment = _environment(folder)
    return Rendered(filled, _render(environment, "\n" * line + body, name, variables)[line:])


def text(source: str, variables: Mapping[str, Any], *, name: str = "template", title: bool = False) -> str:
    """Render one line that is no Markdown: a branch, a path; in a title values are inert. Raises TemplateProblem."""
    if "{" not in source:
        return source
    inert = markdown.one_line if title else markdown.plain
    return " ".join(_render(_environment("", inert=inert), source, name, variables).split())


def _field(value: Any, variables: Mapping[str, Any], name: str) -> Any:
    if isinstance(value, str):
        return text(value, variables, name=name, title=name.endswith(": title"))
    if isinstance(value, list):
        return [_field(item, variables, name) for item in value]
    if isinstance(value, dict):
        return {key: _field(item, variables, name) for key, item in value.items()}
    return value


def _source(name: str, folder: str) -> str:
    """Read a template. Raises TemplateProblem if it lies elsewhere, by its name or through a link."""
    path = os.path.realpath(os.path.join(folder, name))
    if os.path.isabs(name) or not path.startswith(os.path.realpath(folder) + os.sep):
        raise TemplateProblem(f"{name}: a template lies below {os.path.basename(folder)}/; this one does not")
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read(LARGEST + 1)
    except FileNotFoundError as error:
        there = ", ".join(sorted(os.listdir(folder))) if os.path.isdir(folder) else "no folder at all"
        raise TemplateProblem(f"{name}: there is no such template in .hz/templates; there is {there}") from error
    except (OSError, ValueError) as error:
        raise TemplateProblem(f"{name}: cannot be read as UTF-8 text ({error})") from error


def _environment(folder: str, *, inert: Callable[[str], str] | None = None) -> SandboxedEnvironment:
    """Return jinja2 for Markdown; with `inert`, for a line of plain text whose values go through that."""
    from jinja2 import BaseLoader, FunctionLoader, StrictUndefined, pass_context, runtime
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from markupsafe import Markup

    class Text(Markup):
        """Text of the template, or a value that was made inert: joining it with anything else makes that inert."""

        __slots__ = ()

        @classmethod
        def escape(cls, s: Any, /) -> Text:
            return s if type(s) is Text else cls(_inert(s))

    @pass_context  # with a context, constants are not filled in ahead of time, behind our back
    def fill_in(_: object, value: Any) -> str:
        if isinstance(value, runtime.Undefined):
            str(value)  # raises, and names what is missing
        return inert(_shown(value)) if inert else Text.escape(value)

    class Environment(ImmutableSandboxedEnvironment):
        """Fields of an item come before the methods of a mapping: `item.items` is the item's."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            return obj[attribute] if isinstance(obj, dict) and attribute in obj else super().getattr(obj, attribute)

    # Macros, blocks and joined text are built by jinja2's run time from this class. The process is ours alone.
    setattr(runtime, "Markup", Text)  # noqa: B010  (a class, which mypy rightly does not want assigned)
    environment = Environment(
        autoescape=inert is None,
        undefined=StrictUndefined,
        finalize=fill_in,
        loader=FunctionLoader(lambda name: (_source(name, folder), f"{_LOADED}{name}", lambda: True))
        if folder
        else BaseLoader(),
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["date"] = _date
    environment.filters["url"] = lambda value: Text(markdown.url(str(value)))
    environment.filters["block"] = lambda value: Text(markdown.literal_block(str(value)))
    environment.filters["e"] = environment.filters["escape"] = Text.escape
    del environment.filters["safe"]
    return environment


def _render(environment: SandboxedEnvironment, source: str, name: str, variables: Mapping[str, Any]) -> str:
    from jinja2 import TemplateError, TemplateSyntaxError, UndefinedError
    from jinja2.exceptions import SecurityError, TemplateNotFound

    try:
        template = environment.from_string(source)
        return _joined(template.generate(variables), name)
    except TemplateSyntaxError as error:
        raise TemplateProblem(f"{error.name or name}:{error.lineno}: {error.message}") from error
    except TemplateNotFound as error:
        raise TemplateProblem(f"{_place(error, name)}: there is no template {error.name} in .hz/templates") from error
    except SecurityError as error:
        raise TemplateProblem(f"{_place(error, name)}: not allowed in a template: {error}") from error
    except UndefinedError as error:
        known = ", ".join(sorted(variables))
        raise TemplateProblem(f"{_place(error, name)}: {error}; this template knows {known}") from error
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise TemplateProblem(f"{_place(error, name)}: {error}") from error


def _joined(pieces: Iterable[str], name: str) -> str:
    found, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > LARGEST:
            raise TemplateProblem(f"{name}: becomes longer than {LARGEST:,} characters")
        found.append(piece)
    return "".join(found)


def _place(error: BaseException, name: str) -> str:
    """Return template:line: jinja2 writes both into the traceback."""
    place, trace = name, error.__traceback__
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if file == "<template>" or file.startswith(_LOADED):
            place = f"{name if file == '<template>' else file.removeprefix(_LOADED)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _inert(value: Any) -> str:
    return _shown(value) if isinstance(value, int | float | date) else markdown.value(_shown(value))


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def _date(value: Any, form: str = "%d %B %Y", zone: str = "") -> str:
    """Write an ISO 8601 date or time otherwise: `{{ item.published|date("%d %b") }}`."""
    from zoneinfo import ZoneInfo

    when = value if isinstance(value, date) else datetime.fromisoformat(str(value))
    if zone and isinstance(when, datetime) and when.tzinfo:
        when = when.astimezone(ZoneInfo(zone))
    return when.strftime(form)
