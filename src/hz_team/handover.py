"""What steps leave behind, read: drafts with their front matter, outputs, cost. All of it is foreign data. Pure."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.ceiling import Asked
from hz_team.errors import HzError
from hz_team.model.draft import Cost, Refusal
from hz_team.model.written import is_null

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FIELDS = ("kind", "title", "target", "labels", "files", "cost", "each")
PART_FIELDS = ("target", "title", "body", "labels")
MOST_USD = Decimal(1_000_000)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)(<<|=)(.*)")


class HandoverError(HzError):
    """What a step wrote cannot be understood; says where and what to write."""


class Manuscript(NamedTuple):
    """One file that a step left as a draft."""

    asked: tuple[Asked, ...] = ()
    """One, or one an entry of `each`."""
    refused: tuple[Refusal, ...] = ()
    cost: Cost = Cost()


def manuscript(name: str, content: bytes) -> Manuscript:
    """Read one draft file: Markdown, with or without front matter. Raises HandoverError."""
    text = content.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    fields, body = _split(text)
    unknown = sorted(str(key) for key in fields if key not in FIELDS)
    if unknown:
        title = _word(fields.get("title"))
        return Manuscript(refused=(Refusal(", ".join(unknown), f"front matter with {', '.join(FIELDS)}", title),))
    return Manuscript(tuple(_asked(name, fields, body)), cost=cost_of(fields.get("cost") or {}))


def redacted(read: Manuscript, mask: Callable[[str], str]) -> Manuscript:
    """Return a manuscript with every text masked; before its front matter is read a mask could break it."""
    asked = tuple(
        one._replace(
            body=mask(one.body),
            title=mask(one.title),
            target=mask(one.target),
            labels=tuple(mask(label) for label in one.labels),
            files={mask(path): mask(text) if isinstance(text, str) else text for path, text in one.files.items()},
        )
        for one in read.asked
    )
    refused = tuple(Refusal(mask(one.asked), one.ceiling, mask(one.title)) for one in read.refused)
    return read._replace(asked=asked, refused=refused)


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    if not text.startswith("---"):
        return {}, text
    from hz_team import yaml  # its library is only paid for where there is front matter

    return yaml.front_matter(text)


def _asked(name: str, fields: Mapping[str, Any], body: str) -> Iterator[Asked]:
    common = Asked(
        body=body,
        kind=_word(fields.get("kind")),
        title=_word(fields.get("title")),
        target=_word(fields.get("target")),
        labels=_labels(name, fields.get("labels")),
        files=_files(name, fields.get("files")),
    )
    if "each" not in fields:
        yield common
        return
    if not isinstance(fields["each"], list):
        raise HandoverError(f"{name}: `each` is a list of {', '.join(PART_FIELDS)}")
    for part in fields["each"]:
        if not isinstance(part, dict) or not set(part) <= set(PART_FIELDS):
            raise HandoverError(f"{name}: an entry of `each` has {', '.join(PART_FIELDS)}, and nothing else")
        said: dict[str, Any] = {key: _word(value) for key, value in part.items() if key != "labels"}
        labels = _labels(name, part["labels"]) if "labels" in part else common.labels
        yield common._replace(**said, labels=labels)


def _word(value: Any) -> str:
    return "" if is_null(value) else str(value)


def _labels(name: str, value: Any) -> tuple[str, ...]:
    if not value:
        return ()
    if isinstance(value, str):
        return tuple(label.strip() for label in value.split(","))
    if isinstance(value, list) and all(isinstance(label, str) for label in value):
        return tuple(str(label) for label in value)
    raise HandoverError(f"{name}: `labels` is a list of words, such as [bug, docs]")


def _files(name: str, value: Any) -> dict[str, Any]:
    if not value:
        return {}
    if isinstance(value, dict) and all(isinstance(text, str) or text is None for text in value.values()):
        return {str(path): None if is_null(text) else str(text) for path, text in value.items()}
    raise HandoverError(f"{name}: `files` is a mapping from path to text")


def cost(content: bytes | None) -> Cost:
    """Read $HZ_COST: JSON objects {usd, tokens}, one a line. Raises HandoverError."""
    total = Cost()
    for number, line in enumerate((content or b"").decode("utf-8", "backslashreplace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            total = added(total, cost_of(json.loads(line)))
        except ValueError as error:
            raise HandoverError(f'$HZ_COST line {number}: write {{"usd": 0.01, "tokens": 1200}}') from error
    return total


def added(one: Cost, other: Cost) -> Cost:
    """Return the sum of two costs."""
    return Cost(*(first + second for first, second in zip(one, other, strict=True)))


def cost_of(value: Any) -> Cost:
    """Read {usd, tokens}; dollars become whole micro-dollars, rounded up. Raises HandoverError."""
    try:
        usd, tokens = (Decimal(str(value.get(name) or 0)) for name in ("usd", "tokens"))
    except (AttributeError, InvalidOperation) as error:
        raise HandoverError(f"cost: {value!r} is none; write {{usd: 0.01, tokens: 1200}}") from error
    if not (usd.is_finite() and tokens.is_finite() and 0 <= usd <= MOST_USD and 0 <= tokens <= MOST_USD * 1_000_000):
        raise HandoverError(f"cost: {value!r} is out of all bounds; write {{usd: 0.01, tokens: 1200}}")
    return Cost(0, int(tokens), ceil(usd * 1_000_000))


def outputs(text: str) -> dict[str, str]:
    """Read what a step wrote to $HZ_OUTPUT: `name=value` lines and `name<<END` blocks; names in capitals.

    Raises HandoverError with the line.
    """
    found: dict[str, str] = {}
    lines = iter(enumerate(text.split("\n"), 1))
    for number, line in lines:
        if not line.strip():
            continue
        found_line = _ASSIGNMENT.fullmatch(line)
        if not found_line:
            raise HandoverError(f"$HZ_OUTPUT line {number}: write name=value, or name<<END … END")
        name, operator, rest = found_line.groups()
        value = rest if operator == "=" else "\n".join(_block(lines, rest, number))
        found[name.upper().replace("-", "_")] = value
    return found


def _block(lines: Iterator[tuple[int, str]], end: str, number: int) -> Iterator[str]:
    for _, line in lines:
        if line == end:
            return
        yield line
    raise HandoverError(f"$HZ_OUTPUT line {number}: the block that ends with {end!r} does not end")
