"""Types of single fields: each converts exact text, and says in a sentence what it takes."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema

from hz_team.model.written import INTEGER, TRUTH, Fields, Text, is_null, natural

ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:[0-9]{1,6}[wdhms])+")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?")
_TEAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[a-z0-9][a-z0-9._-]*")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
ROLES = ("write", "maintain", "admin")


class Misfit(ValueError):
    """A value that is not what its field takes: a ValueError, since pydantic reports those as errors of the file."""


class Shape(BaseModel):
    """What every file's model has in common: frozen, no unknown keys, docstrings become the schema's descriptions."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)


def slug(text: str) -> str:
    """Return the nearest id to any text; `job` if nothing of it can stay."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:63].strip("-")
    return made or "job"


def an_id(value: Any) -> str:
    """Check an id; suggest the nearest one."""
    text = text_of(value)
    if not ID.fullmatch(text):
        raise Misfit(
            f"`{text[:80]}` cannot be an id; ids are up to 63 of a-z, 0-9, - and _: write `id: {slug(text)}` "
            "and keep the words in `name`"
        )
    return text


def text_of(value: Any) -> str:
    """Take text as it stands; numbers of Python declarations as their digits."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Misfit(f"text is needed here, not {kind_of(value)}")
    return str(value)


def kind_of(value: Any) -> str:
    """Name a value's kind for a message."""
    if is_null(value):
        return "nothing"
    kinds = {bool: "true or false", dict: "a mapping", Fields: "a mapping", str: "text", Text: "text", int: "a number"}
    return kinds.get(type(value), "a list" if isinstance(value, list | tuple) else type(value).__name__)


def a_name(value: Any) -> str:
    """Take free text of one line, composed (NFC), so that two spellings of one accent are one name."""
    name = unicodedata.normalize("NFC", text_of(value)).strip()
    if not name:
        raise Misfit("a name is needed; leave the key out to use the id")
    if not all(char.isprintable() for char in name):
        raise Misfit("a name is one line without control characters")
    return name


def a_flag(value: Any) -> bool:
    """Take true or false and nothing that looks like it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Text) and value.plain and value in TRUTH:
        return TRUTH[value]
    raise Misfit(f"`{value}` is text here; write true or false, without quotes")


def a_count(value: Any) -> int:
    """Take a whole number, 0 or more."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and INTEGER.fullmatch(value) and not value.startswith("-"):
        return int(value)
    raise Misfit(f"a whole number, 0 or more, is needed here, not `{value}`")


def an_amount(value: Any) -> int:
    """Take a count that is 1 or more."""
    count = a_count(value)
    if count == 0:
        raise Misfit("0 would never do anything here; write 1 or more")
    return count


def a_duration(value: Any) -> int:
    """Take `90s`, `15m`, `1h30m`, `2d` as seconds; anything that could be read in two ways is refused."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value  # seconds, from code; files have text
    text = text_of(value).replace(" ", "")
    if re.fullmatch(r"[0-9]+(?::[0-9]+)+", text):
        first, second = text.split(":")[:2]
        raise Misfit(f"`{text}` is unclear; write `{int(first)}h{int(second)}m` or `{int(first)}m{int(second)}s`")
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text):
        raise Misfit(f"`{text}` has no unit; write `{text}s`, `{text}m`, `{text}h` or `{text}d`")
    parts = re.findall(r"([0-9]+)([wdhms])", text)
    units = [unit for _, unit in parts]
    if not _DURATION.fullmatch(text) or units != sorted(set(units), key="wdhms".index):
        raise Misfit(f"`{text}` is no duration; write 90s, 15m, 1h30m or 2d")
    return sum(int(number) * UNITS[unit] for number, unit in parts)


def a_span(value: Any) -> int:
    """Take a duration that is not 0."""
    seconds = a_duration(value)
    if not seconds:
        raise Misfit(f"`{value}` is no time at all; write 1s or more")
    return seconds


def money(value: Any) -> int:
    """Take US dollars as millionths."""
    try:
        amount = Decimal(str(value)) * 1_000_000
    except InvalidOperation:
        raise Misfit(f"`{value}` is no amount of US dollars; write 2 or 0.50") from None
    if isinstance(value, bool) or not amount.is_finite() or amount < 0 or amount != int(amount):
        raise Misfit(f"`{value}` is no amount of US dollars; write 2 or 0.50")
    return int(amount)


def names(value: Any) -> tuple[str, ...]:
    """Take one word or a list of words."""
    if is_null(value):
        return ()
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple(text_of(one) for one in listed)


def people(value: Any) -> tuple[str, ...]:
    """Take logins and `org/team`."""
    listed = names(value)
    for one in listed:
        if not (_LOGIN.fullmatch(one) or _TEAM.fullmatch(one)):
            raise Misfit(f"`{one}` is neither a login nor `org/team`{_bare(one)}")
    return listed


def approvers(value: Any) -> tuple[str, ...]:
    """Take `write`, `role:write|maintain|admin`, logins and `org/team`."""
    listed = names(value)
    if not listed:
        raise Misfit("nobody may approve; write `write`, or logins")
    for one in listed:
        role = one.removeprefix("role:")
        if one in ROLES[1:]:
            raise Misfit(f"`{one}` could be a login; write `role:{one}`")
        if one.startswith("role:") and role not in ROLES:
            raise Misfit(f"`{one}` is not a role that may approve; there are role:{', role:'.join(ROLES)}")
        if one != "write" and not one.startswith("role:"):
            people(one)
    return listed


def a_function(text: str) -> str:
    """Check `FILE.py:FUNCTION`."""
    file, _, function = text.rpartition(":")
    if not file.endswith(".py") or not function.isidentifier():
        raise Misfit(f"`{text}` names no function; write FILE.py:FUNCTION")
    return text


def a_repository(value: Any) -> str:
    """Take owner/name."""
    text = text_of(value)
    if not _REPOSITORY.fullmatch(text):
        raise Misfit(f"`{text}` is no repository; write owner/name")
    return text


def _bare(one: str) -> str:
    return f"; write `{one[1:]}`" if one.startswith("@") else ""


def added(group: str) -> frozenset[str]:
    """Return the kinds that installed packages add: `watches`, `steps` or `publishers` (`hz_team.registry`)."""
    from importlib.metadata import entry_points

    return frozenset(entry.name for entry in entry_points(group=f"hz_team.{group}"))


def nothing(value: Any) -> Any:
    """Turn an empty value into None, so that `key:` is the same as no key."""
    return None if is_null(value) else value


def asked(name: str) -> AfterValidator:
    """Let the validation context look at a value: `context={name: function}`; the function raises ValueError."""

    def ask(value: Any, info: ValidationInfo) -> Any:
        look = (info.context or {}).get(name)
        if look:
            look(value)
        return value

    return AfterValidator(ask)


def _schema(validator: Any, shape: Any) -> Any:
    return BeforeValidator(validator, json_schema_input_type=shape)


_WORDS = str | list[str]
_TIME = Annotated[str, Field(pattern=r"^([0-9]+[wdhms])+$", examples=["15m", "1h30m"])]
Id = Annotated[str, _schema(an_id, Annotated[str, Field(pattern=f"^{ID.pattern}$")])]
Name = Annotated[str, _schema(a_name, str)]
Word = Annotated[str, _schema(text_of, str)]
Flag = Annotated[bool, _schema(a_flag, bool)]
Count = Annotated[int, _schema(a_count, Annotated[int, Field(ge=0)])]
Amount = Annotated[int, _schema(an_amount, Annotated[int, Field(ge=1)])]
Duration = Annotated[int, _schema(a_duration, _TIME)]
Span = Annotated[int, _schema(a_span, _TIME)]
Usd = Annotated[int, _schema(money, Annotated[float, Field(ge=0)])]
Names = Annotated[tuple[str, ...], _schema(names, _WORDS)]
People = Annotated[tuple[str, ...], _schema(people, _WORDS)]
Approvers = Annotated[tuple[str, ...], _schema(approvers, _WORDS)]
Repository = Annotated[str, _schema(a_repository, str)]
Free = Annotated[Any, AfterValidator(natural), WithJsonSchema({})]
"""Any value, taken as JSON has it."""
