"""The one YAML loader: every scalar stays the exact text with its line; the model's field type converts it later.

So `on`, `no`, `10:30`, `3.10` and commit ids survive. Refused with file and line, because they are mistakes more often
than meant: duplicate keys, tabs as indent, tags, merge keys, several documents, alias bombs, a byte order mark inside,
and text that ` #` cuts directly before a letter or digit. LF and CRLF give equal content.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from hz_team.errors import HzError
from hz_team.model.written import Fields, Items, Text, natural

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Fields", "Items", "Text", "YamlError", "front_matter", "load", "natural", "read"]

LONGEST = 1_000_000
"""Bytes of one file."""
NODES = 10_000
"""Values of one document, every use of an alias counted as what it stands for."""
DEPTH = 50
BOM = "\ufeff"
_BARE_SIGIL = re.compile(r"([\w-]+)\s*:\s+([*@%`&!|>][^,}#\n]*)")
_SCHEDULE = re.compile(r"\*[/ \d]|@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)\b")
_FENCE = re.compile(r"---[ \t]*\n(?:(.*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


class YamlError(HzError):
    """A document that cannot be taken as written."""

    def __init__(self, line: int, text: str) -> None:
        """`line` counts from 1; `text` says what, and what to do."""
        super().__init__(f"line {line}: {text}")
        self.line = line
        self.text = text


def load(source: bytes | str) -> Any:
    """Return the document as Fields, Items or Text; None if it is empty. Raises YamlError."""
    return _Builder(read(source)).document()


def read(source: bytes | str) -> str:
    """Return the text with LF line ends and without a leading byte order mark. Raises YamlError."""
    if len(source) > LONGEST:
        raise YamlError(1, f"the file is longer than {LONGEST:,} bytes; move long text into a file of its own")
    text = _decoded(source) if isinstance(source, bytes) else source
    text = text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")
    if BOM in text:
        line = text[: text.index(BOM)].count("\n") + 1
        raise YamlError(line, "an invisible byte order mark (U+FEFF) stands in the middle of the file; delete it")
    return text


def _decoded(source: bytes) -> str:
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        raise YamlError(line, "this is not UTF-8 text; save the file as UTF-8") from None


def front_matter(source: bytes | str) -> tuple[Fields, str]:
    """Split a draft into the fields between its `---` lines and its body; without them all of it is body.

    Raises YamlError if what stands between the lines is not a mapping.
    """
    text = read(source)
    fence = _FENCE.match(text)
    if not fence:
        return Fields(1), text
    fields = load("\n" + (fence[1] or ""))
    if fields is None:
        fields = Fields(1)
    if not isinstance(fields, Fields):
        raise YamlError(2, "front matter must be `key: value` lines; put a blank line before a `---` that is a rule")
    return fields, text[fence.end() :]


class _Builder:
    """Turns parser events into values, counting as it goes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.anchors: dict[str, tuple[Any, int] | None] = {}
        self.count = 0
        self.end = 0
        """Index after the last event: what lies between it and the next value may be a comment that cut text."""

    def document(self) -> Any:
        """Return the only document's value."""
        events = self._events()
        value = None
        for event in events:
            name = type(event).__name__
            if name == "DocumentStartEvent" and value is not None:
                raise YamlError(
                    _line(event), "a second document begins here; one file holds one document, remove `---`"
                )
            if name.startswith(("Stream", "Document")):
                self.end = event.end_mark.index
                continue
            value = self._value(event, events, 1)
        return None if isinstance(value, Text) and value.plain and not value else value

    def _events(self) -> Iterator[Any]:
        """Yield the parser's events, its errors translated."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        try:
            yield from YAML(typ="safe", pure=True).parse(self.text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._refuse(mark.line + 1 if mark else 1, str(error.problem or error.context or "cannot be read"))
        except YAMLError as error:
            place = getattr(error, "position", 0)
            line = self.text[:place].count("\n") + 1
            raise YamlError(line, "a control character that YAML does not allow stands here; delete it") from None

    def _refuse(self, number: int, problem: str) -> NoReturn:
        """Say what a parser's complaint about a line most likely means."""
        line = self.lines[min(number, len(self.lines)) - 1]
        indent = line[: len(line) - len(line.lstrip())]
        if "\t" in indent:
            raise YamlError(number, "a tab is used as indent; YAML takes only spaces, write two instead") from None
        sigil = _BARE_SIGIL.search(line)
        if sigil and _SCHEDULE.match(sigil[2]):
            value = sigil[2].strip()
            raise YamlError(number, f'quote the schedule: `{sigil[1]}: "{value}"`') from None
        if sigil and sigil[2][0] in "*@%`&!":
            value = sigil[2].strip()
            message = f'a value that begins with `{value[0]}` needs quotes: `{sigil[1]}: "{value}"`'
            raise YamlError(number, message) from None
        if "mapping values" in problem:
            message = "a second `: ` stands in this line, or its indent is wrong; quote a value that holds `: `"
            raise YamlError(number, message) from None
        raise YamlError(number, f"this is not YAML: {problem}") from None

    def _value(self, event: Any, events: Iterator[Any], depth: int) -> Any:
        self.count += 1
        line = _line(event)
        if self.count > NODES or depth > DEPTH:
            text = f"more than {NODES:,} values, aliases counted as what they stand for, or {DEPTH} levels; write less"
            raise YamlError(line, text)
        name = type(event).__name__
        if name == "AliasEvent":
            return self._alias(event, line)
        if event.tag is not None and str(event.tag) != "!":
            raise YamlError(line, "tags such as `!!int` are not read; the field decides what a value means")
        if event.anchor:
            self.anchors[event.anchor] = None
        before = self.count
        if name == "ScalarEvent":
            value: Any = self._scalar(event, line)
            return self._named(event, value, before)
        self.end = max(self.end, event.start_mark.index)
        if name == "MappingStartEvent":
            value = self._mapping(events, line, depth)
        else:
            value = self._sequence(events, line, depth)
        return self._named(event, value, before)

    def _named(self, event: Any, value: Any, before: int) -> Any:
        """Remember what an anchor names, and how many values that is."""
        if event.anchor:
            self.anchors[event.anchor] = (value, self.count - before + 1)
        return value

    def _alias(self, event: Any, line: int) -> Any:
        self.end = event.end_mark.index
        known = self.anchors.get(event.anchor)
        if known is None:
            if event.anchor in self.anchors:
                raise YamlError(line, f"`*{event.anchor}` stands inside of what it names; write the value out")
            self._refuse(line, f"nothing is named `&{event.anchor}`")
        self.count += known[1] - 1
        if self.count > NODES:
            raise YamlError(line, f"aliases make more than {NODES:,} values of this file; write less")
        return known[0]

    def _scalar(self, event: Any, line: int) -> Text:
        plain = event.style is None
        value = Text(event.value, line, plain=plain)
        if plain:
            self._check_cut(event, line)
        if event.style not in ("|", ">"):
            inside = self.text[event.start_mark.index : event.end_mark.index]
            if re.search(r"\n *\t", inside):
                raise YamlError(line, "a tab is used as indent in the lines of this value; YAML takes only spaces")
        self.end = event.end_mark.index
        return value

    def _check_cut(self, event: Any, line: int) -> None:
        """Refuse text that ` #` ended directly before a letter or digit."""
        if event.value:
            rest = self.text[event.end_mark.index :].partition("\n")[0]
            cut = re.match(r"[ \t]+(#\w\S*)", rest)
        else:
            line, cut = self._all_cut(event.start_mark.index)
        if cut:
            raise YamlError(
                line,
                f"the text ends before `{cut[1]}`, because ` #` begins a comment; "
                "quote the whole value, or put a blank after # if it is a comment",
            )

    def _all_cut(self, start: int) -> tuple[int, re.Match[str] | None]:
        """Look for a comment that swallowed a whole value, and its line: `colour: #fff`."""
        if self.text[start - 1 : start] == "-":  # an empty entry of a list begins right after its dash
            start = (self.text + "\n").index("\n", start)
        line = self.text.count("\n", 0, self.end) + 1
        for number, between in enumerate(self.text[self.end : start].split("\n"), line):
            cut = re.match(r"[^#]*[:\-?][ \t]+(#\w\S*)", between)
            if cut:
                return number, cut
        return line, None

    def _mapping(self, events: Iterator[Any], line: int, depth: int) -> Fields:
        fields = Fields(line)
        for event in events:
            if type(event).__name__ == "MappingEndEvent":
                self.end = event.end_mark.index
                return fields
            key = self._value(event, events, depth + 1)
            place = _line(event)
            if not isinstance(key, Text):
                raise YamlError(place, "a key must be text")
            if key == "<<":
                raise YamlError(place, "merge keys (`<<`) are not read; write the keys out")
            if key in fields:
                raise YamlError(
                    place, f"the key `{key}` stands twice, in lines {fields.lines[key]} and {place}; keep one"
                )
            fields.lines[str(key)] = place
            fields[str(key)] = self._value(next(events), events, depth + 1)
        return fields

    def _sequence(self, events: Iterator[Any], line: int, depth: int) -> Items:
        items = Items(line)
        for event in events:
            if type(event).__name__ == "SequenceEndEvent":
                self.end = event.end_mark.index
                break
            items.lines.append(_line(event))
            items.append(self._value(event, events, depth + 1))
        return items


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
